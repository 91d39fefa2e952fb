//! Connections: accepted, counted, served, and ended.
//!
//! How many there may be, and when one is closed, is decided in [`stoa_http::traffic`]; here are sockets.

mod certificate;
mod descriptors;
mod socket;

pub use certificate::Certificates;
pub use descriptors::fit_to_descriptors;

use axum::{extract::ConnectInfo, http::Request, response::Response};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use socket::Watched;
use std::{
    convert::Infallible,
    fmt::Display,
    io::ErrorKind,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};
use stoa_http::{
    Settings,
    traffic::{Connection, End, OpenConnection, TICK, Traffic},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;
use tower::Service;

/// How long requests in progress may go on once the server is told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long nothing is accepted when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(100);
/// HTTP/2 asks a silent client so often whether it is still there.
const PING: Duration = Duration::from_secs(30);
/// Requests at the same time on a connection of HTTP/2: as many as its standard asks for.
const STREAMS: u32 = 100;
/// Bytes that a connection keeps of a head, and of an answer that is being written.
const BUFFER: usize = 64 * 1024;
/// Bytes that a client of HTTP/2 may send of a body, and of all bodies together, before they are read.
const STREAM_WINDOW: u32 = 128 * 1024;
const CONNECTION_WINDOW: u32 = 256 * 1024;

/// With what a connection of HTTP/2 begins.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The name of HTTP/1 in TLS.
const HTTP1: &[u8] = b"http/1.1";

/// What connections are served with.
pub struct Listener<S> {
    pub socket: TcpListener,
    pub certificates: Option<Arc<Certificates>>,
    pub service: S,
    pub traffic: Arc<Traffic>,
    pub settings: Arc<Settings>,
}

impl<S> Listener<S>
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    /// Serves until `stop` is over, then for as long as requests in progress last, at most [`GRACE`].
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let reaping = tokio::spawn(reap(self.traffic.clone(), self.settings.clone()));
        let tls = self.certificates.as_ref().map(|it| TlsAcceptor::from(it.server_config()));
        let renewing = self.certificates.clone().map(|it| tokio::spawn(async move { it.keep_up_to_date().await }));
        let mut stop = pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // One that has no room is closed by being dropped.
                    if let Some(connection) = self.traffic.open(peer, &self.settings) {
                        // An answer leaves when it is written, not when the one before it was received.
                        let _ = stream.set_nodelay(true);
                        let service = self.service.clone();
                        match &tls {
                            None => tokio::spawn(serve_plain(stream, connection, service)),
                            Some(tls) => tokio::spawn(serve_tls(stream, connection, tls.clone(), service)),
                        };
                    }
                }
                // Who hung up before being accepted.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => {}
                Err(error) => {
                    tracing::warn!("can't accept connections: {error}");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
        // No others are accepted; the system tells those who try.
        let Self { socket, traffic, .. } = self;
        drop(socket);
        let over = async {
            while traffic.end_all(End::Gracefully) > 0 {
                tokio::time::sleep(TICK / 5).await;
            }
        };
        if tokio::time::timeout(GRACE, over).await.is_err() {
            let left = traffic.end_all(End::Now);
            tracing::warn!("{left} connections were closed before their requests were answered");
        }
        reaping.abort();
        if let Some(it) = renewing {
            it.abort();
        }
    }
}

async fn reap(traffic: Arc<Traffic>, settings: Arc<Settings>) {
    // Ticks that were missed are made up for: they are the clock of all times.
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
        traffic.reap(&settings.limits);
    }
}

async fn serve_tls<S>(stream: TcpStream, connection: OpenConnection, tls: TlsAcceptor, service: S)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    // In a place of its own: a connection that is open for hours needs it for a moment only.
    let accepted = tokio::select! {
        accepted = Box::pin(tls.accept(stream)) => accepted,
        _ = connection.ended(End::Gracefully) => return,
    };
    match accepted {
        Ok(stream) if stream.get_ref().1.alpn_protocol() == Some(HTTP1) => {
            Box::pin(serve_http1(stream, connection, service)).await;
        }
        Ok(stream) => Box::pin(serve_any(stream, connection, service)).await,
        Err(error) => tracing::debug!(peer = %connection.peer, "no TLS: {error}"),
    }
}

/// A connection without TLS, whose first bytes tell HTTP/1 from HTTP/2. They are left where they are: what is read apart
/// from the rest makes HTTP/1 take twice as large a buffer for a head, and keep it.
async fn serve_plain<S>(stream: TcpStream, connection: OpenConnection, service: S)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let mut first = [0; PREFACE.len()];
    let read = tokio::select! {
        read = stream.peek(&mut first) => read.unwrap_or(0),
        _ = connection.ended(End::Gracefully) => return,
    };
    match PREFACE.starts_with(&first[..read]) {
        false => serve_http1(stream, connection, service).await,
        // As rare as large.
        true => Box::pin(serve_any(stream, connection, service)).await,
    }
}

async fn serve_http1<S, T>(stream: T, connection: OpenConnection, service: S)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = TokioIo::new(Watched::new(stream, (*connection).clone()));
    let mut builder = http1::Builder::new();
    builder.header_read_timeout(None).max_buf_size(BUFFER);
    let served = pin!(builder.serve_connection(stream, requests(&connection, service)));
    keep(served, &connection, |it| it.graceful_shutdown()).await;
}

/// HTTP/1 or HTTP/2, whichever it turns out to be.
async fn serve_any<S, T>(stream: T, connection: OpenConnection, service: S)
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = TokioIo::new(Watched::new(stream, (*connection).clone()));
    let builder = builder();
    let served = pin!(builder.serve_connection(stream, requests(&connection, service)));
    keep(served, &connection, |it| it.graceful_shutdown()).await;
}

/// The service for the requests of a connection, which they name.
fn requests<S>(
    connection: &Arc<Connection>,
    service: S,
) -> impl hyper::service::Service<Request<Incoming>, Response = Response, Error = Infallible, Future = Pin<Box<S::Future>>>
+ Send
+ use<S>
where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    let this = connection.clone();
    hyper::service::service_fn(move |mut request: Request<Incoming>| {
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo(this.peer));
        extensions.insert(this.clone());
        // A connection keeps room for such a future from its first request on; what is in it goes with the request.
        Box::pin(service.clone().call(request))
    })
}

/// Serves until the connection is over, or is to be ended. `stop` lets requests in progress finish.
async fn keep<C, E>(mut served: Pin<&mut C>, connection: &OpenConnection, stop: impl Fn(Pin<&mut C>))
where
    C: Future<Output = Result<(), E>>,
    E: Display,
{
    let mut least = End::Gracefully;
    loop {
        tokio::select! {
            result = &mut served => {
                if let Err(error) = result {
                    tracing::debug!(peer = %connection.peer, "a connection broke: {error}");
                }
                return;
            }
            end = connection.ended(least) => match end {
                End::Gracefully => {
                    stop(served.as_mut());
                    least = End::Now;
                }
                End::Now => return,
            }
        }
    }
}

/// How HTTP is spoken where it may be HTTP/2. Nothing has a timer but the pings: see [`stoa_http::traffic`].
fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().header_read_timeout(None).max_buf_size(BUFFER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .max_concurrent_streams(STREAMS)
        .max_send_buf_size(BUFFER)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    builder
}
