//! A stream that notes what goes through it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use stoa_http::traffic::Connection;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream whose reads and writes its [`Connection`] hears of.
pub struct Watched<T> {
    stream: T,
    connection: Arc<Connection>,
}

impl<T> Watched<T> {
    pub fn new(stream: T, connection: Arc<Connection>) -> Self {
        Self { stream, connection }
    }

    fn note(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.connection.was_blocked(),
            Poll::Ready(Ok(bytes)) => self.connection.was_written(*bytes),
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<T> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, to);
        if to.filled().len() > before {
            self.connection.was_read();
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Watched<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.note(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        match &flushed {
            Poll::Pending => self.connection.was_blocked(),
            // TLS may have been blocked here, and writes nothing more when it is over.
            Poll::Ready(Ok(())) => self.connection.was_flushed(),
            Poll::Ready(Err(_)) => {}
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        collections::VecDeque,
        net::{Ipv4Addr, SocketAddr},
        task::Waker,
    };
    use stoa_http::{HttpLimits, Settings, traffic::Traffic};

    /// A stream whose flushes end so.
    struct Flushed(VecDeque<Poll<io::Result<()>>>);

    impl AsyncWrite for Flushed {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.0.pop_front().unwrap_or(Poll::Pending)
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Whether a connection whose flushes end so is kept when nothing more is written for five seconds.
    fn is_kept(flushes: [Poll<io::Result<()>>; 2]) -> bool {
        let (traffic, settings) = (Arc::<Traffic>::default(), Settings::default());
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let open = traffic.open(peer, &settings).expect("there is room");
        let mut stream = Watched::new(Flushed(flushes.into()), (*open).clone());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..2 {
            let _ = Pin::new(&mut stream).poll_flush(&mut context);
        }
        let limits = HttpLimits { write_time: 2_000, ..HttpLimits::default() };
        for _ in 0..20 {
            traffic.reap(&limits);
        }
        open.end_of_life().is_none()
    }

    #[test]
    fn connection_is_not_blocked_once_it_is_flushed() {
        assert!(is_kept([Poll::Pending, Poll::Ready(Ok(()))]));
        assert!(!is_kept([Poll::Pending, Poll::Pending]));
    }
}
