//! Answers without an end, which are sent piece by piece for as long as their reader stays.
//!
//! None of them counts as a request in progress, or ordinary calls of the same network would have no place left; who
//! makes such answers counts them. Here is only what keeps their connection open while they last, and what ends them when
//! a reader takes nothing: the connection where it is the reader's own, the answer alone where others may share it.

use super::{
    connection::Connection,
    unread::{CutOff, Unread},
};
use axum::body::{Body, Bytes};
use futures_util::{Stream, StreamExt};
use std::{
    sync::Arc,
    task::{Context, Poll},
};

/// Counts with its connection until it is dropped.
pub(crate) struct OpenStream {
    unread: Arc<Unread>,
    /// Nothing where there is no socket.
    connection: Option<Arc<Connection>>,
}

impl OpenStream {
    pub(super) fn of(connection: Option<Arc<Connection>>) -> Self {
        let unread = Arc::<Unread>::default();
        if let Some(it) = &connection {
            it.stream_begins(unread.clone());
        }
        Self { unread, connection }
    }

    /// The pieces as the body of an answer.
    pub(crate) fn body(self, pieces: impl Stream<Item = Bytes> + Send + 'static) -> Body {
        self.unread.put(pieces.boxed());
        Body::from_stream(futures_util::stream::poll_fn(move |context| self.poll(context)))
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutOff>>> {
        let polled = self.unread.poll(context);
        if let Some(it) = &self.connection {
            match polled {
                Poll::Ready(_) => self.unread.waits(it.now(), it.written()),
                Poll::Pending => self.unread.is_awaited(),
            }
        }
        polled
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if let Some(it) = &self.connection {
            it.stream_ends(&self.unread);
        }
    }
}
