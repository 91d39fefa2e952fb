//! What one request holds, from its head to its answer.

use super::{
    Connection, Resource, Share, Shortage, Traffic,
    answer::HeldAnswer,
    stream::OpenStream,
    usage::{LARGE_ANSWER, Turn},
};
use crate::{
    Problem, Settings,
    encoding::{Encoding, LEAST, is_compressible},
    opening::Opening,
};
use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderMap, HeaderValue, StatusCode, Version, header, request::Parts},
    response::{IntoResponse, Response},
};
use std::{
    net::IpAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use stoa_kernel::{Fault, Network, Result, json::VALUE_BYTES};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::OwnedSemaphorePermit,
};

/// An answer up to so many bytes is handed over without being counted: a connection of HTTP/1 has one at a time.
const SMALL: usize = 64 * 1024;
/// An answer to a read from so many bytes on is refused where there is no room; smaller ones always find some.
const REFUSABLE: usize = 256 * 1024;

/// A request in progress. It is among the request's extensions, and gives back what it holds when it is dropped.
pub struct InFlight {
    pub(crate) settings: Arc<Settings>,
    share: Arc<Share>,
    connection: Option<Arc<Connection>>,
    is_http2: bool,
    /// Bytes of the body, with what is parsed of it.
    body: AtomicUsize,
    /// Bytes that were taken for the answer before there was one.
    expected: AtomicUsize,
    /// The route that answers, once it is known.
    pub(crate) route: OnceLock<Route>,
}

/// What a request is answered by.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// As it stands in the table of routes, with names in braces.
    pub path: &'static str,
    /// Whether the call changes nothing, so that its answer may be refused.
    pub is_read: bool,
    pub kind: Kind,
    /// Whom scopes let in.
    pub opening: Opening,
}

/// What a route is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answers may hold tokens, codes and secrets.
    Identity,
    Content,
    /// What anyone may know.
    Public,
}

impl InFlight {
    /// Counts a request. `sender` tells whose it is where a connection doesn't: behind a trusted proxy.
    ///
    /// # Errors
    /// `THROTTLED_FEATURE` when its network has as many in progress as it may.
    pub(crate) fn begin(
        traffic: &Arc<Traffic>,
        settings: &Arc<Settings>,
        parts: &Parts,
        sender: impl FnOnce() -> IpAddr,
    ) -> Result<Arc<Self>> {
        let connection = parts.extensions.get::<Arc<Connection>>().cloned();
        let share = match &connection {
            Some(connection) if !connection.is_trusted() => connection.share().clone(),
            _ => Arc::new(traffic.share(Network::of(sender()))),
        };
        share.take(Resource::Requests, 1, &settings.limits).map_err(|it| {
            share.usage.refuse(Resource::Requests);
            it.fault("requests")
        })?;
        let is_http2 = parts.version == Version::HTTP_2;
        if let Some(it) = &connection {
            it.request_begins(is_http2);
        }
        Ok(Arc::new(Self {
            settings: settings.clone(),
            share,
            connection,
            is_http2,
            body: AtomicUsize::new(0),
            expected: AtomicUsize::new(0),
            route: OnceLock::new(),
        }))
    }

    /// Takes room for so many bytes of the body, as soon as there is some.
    ///
    /// # Errors
    /// `THROTTLED_FEATURE` and `UNAVAILABLE`, after a while.
    pub(crate) async fn hold_body(&self, bytes: usize) -> Result<()> {
        let held = self.share.wait(Resource::Bodies, bytes, &self.settings.limits).await;
        held.map_err(|it| self.no_room_for_body(it))?;
        self.body.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Whether the bodies that are in memory are within their limits, or the network has none but this one.
    pub(crate) fn has_room_to_parse(&self) -> bool {
        let is_only = self.share.used(Resource::Bodies) == self.body.load(Relaxed);
        is_only || self.share.take(Resource::Bodies, 0, &self.settings.limits).is_ok()
    }

    /// Waits until [`InFlight::has_room_to_parse`].
    ///
    /// # Errors
    /// As for [`InFlight::hold_body`].
    pub(crate) async fn room_to_parse(&self) -> Result<()> {
        if self.has_room_to_parse() {
            return Ok(());
        }
        let room = self.share.wait(Resource::Bodies, 0, &self.settings.limits).await;
        room.map_err(|it| self.no_room_for_body(it))
    }

    /// Counts values that were parsed of the body.
    pub(crate) fn hold_values(&self, count: usize) {
        let bytes = count * VALUE_BYTES;
        self.share.force(Resource::Bodies, bytes);
        self.body.fetch_add(bytes, Relaxed);
    }

    /// Waits for a turn at work that keeps a thread.
    pub(crate) async fn turn(&self) -> Turn {
        self.share.turn().await
    }

    /// Whether a call may begin without asking for room for its answer. A write is never refused once it is done, so
    /// it doesn't begin either while its network leaves more answers unread than it may.
    pub(crate) fn has_room_for_answer(&self, is_read: bool) -> bool {
        let is_small = !is_read || self.share.expected_answer() < LARGE_ANSWER;
        is_small && !self.share.is_over(Resource::Answers, &self.settings.limits)
    }

    /// Takes room for the answer of a read, as much as the network's last large one had, and then waits for a turn,
    /// which lasts as long as the call; for that of a write waits until there is any room.
    ///
    /// # Errors
    /// As for [`InFlight::hold_body`].
    pub(crate) async fn expect_answer(&self, is_read: bool) -> Result<Option<OwnedSemaphorePermit>> {
        let expected = if is_read { self.share.expected_answer() } else { 0 };
        let room = self.share.wait(Resource::Answers, expected, &self.settings.limits).await;
        room.map_err(|it| self.no_room(it))?;
        self.expected.fetch_add(expected, Relaxed);
        Ok(if expected >= LARGE_ANSWER { self.share.read_turn().await } else { None })
    }

    /// Hands an answer over: what it has is counted until its reader takes it. A large one of a read is refused
    /// where there is no room.
    pub(crate) async fn hold_answer(&self, response: Response, encoding: Option<Encoding>) -> Response {
        self.give_expected();
        let size = size_of(&response);
        let encoding = encoding.filter(|_| size >= LEAST && may_be_encoded(response.headers()));
        if size == 0 || size <= SMALL && !self.is_http2 {
            return match encoding {
                Some(it) => encoded(response, it).await,
                None => response,
            };
        }
        if size >= LARGE_ANSWER {
            self.share.expect_answer(size);
        }
        let is_read = self.route.get().is_some_and(|it| it.is_read) && response.status() == StatusCode::OK;
        match self.share.take(Resource::Answers, size, &self.settings.limits) {
            Err(shortage) if is_read && size >= REFUSABLE => return Problem(self.no_room(shortage)).into_response(),
            Err(_) => self.share.force(Resource::Answers, size),
            Ok(()) => {}
        }
        let held = HeldAnswer::new(Bytes::new(), size, self.share.clone(), None);
        let response = match encoding {
            Some(it) if size <= SMALL => encoded(response, it).await,
            // Answers are sent as they are while others are compressed: who asks for many large ones delays no one.
            Some(it) => match self.share.usage.free_turn() {
                Some(_turn) => encoded(response, it).await,
                None => response,
            },
            None => response,
        };
        let (parts, body) = response.into_parts();
        // It is in memory as it stands: this takes no copy.
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
        let size = bytes.len();
        self.share.force(Resource::Answers, size);
        drop(held);
        let held = HeldAnswer::new(bytes, size, self.share.clone(), self.connection.clone());
        Response::from_parts(parts, Body::from(held.into_bytes()))
    }

    /// An answer without an end begins; the request itself is over once its head is sent.
    pub(crate) fn open_stream(&self) -> OpenStream {
        OpenStream::of(self.connection.clone())
    }

    fn no_room_for_body(&self, shortage: Shortage) -> Fault {
        self.share.usage.refuse(Resource::Bodies);
        shortage.fault("bodies")
    }

    fn no_room(&self, shortage: Shortage) -> Fault {
        self.share.usage.refuse(Resource::Answers);
        if shortage == Shortage::Server {
            self.share.usage.is_short.store(true, Relaxed);
        }
        shortage.fault("answers that were not read yet")
    }

    fn give_expected(&self) {
        let expected = self.expected.swap(0, Relaxed);
        if expected > 0 {
            self.share.give(Resource::Answers, expected);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.give_expected();
        let body = self.body.load(Relaxed);
        if body > 0 {
            self.share.give(Resource::Bodies, body);
        }
        self.share.give(Resource::Requests, 1);
        if let Some(it) = &self.connection {
            it.request_ends();
        }
    }
}

fn size_of(response: &Response) -> usize {
    response.body().size_hint().exact().and_then(|it| usize::try_from(it).ok()).unwrap_or(0)
}

fn may_be_encoded(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    media_type.is_some_and(is_compressible) && !headers.contains_key(header::CONTENT_ENCODING)
}

/// An answer that is in memory, in another encoding.
async fn encoded(response: Response, encoding: Encoding) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let encode = || encoding.encode(&bytes);
    let made = if bytes.len() > SMALL { off_runtime(encode) } else { encode() };
    let varies = |it: &HeaderValue| it == "accept-encoding";
    if !parts.headers.get_all(header::VARY).iter().any(varies) {
        parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    let Some(made) = made else { return Response::from_parts(parts, Body::from(bytes)) };
    parts.headers.insert(header::CONTENT_ENCODING, encoding.value());
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(made))
}

/// Does work that takes long while others take over what this thread had to do.
pub(crate) fn off_runtime<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}
