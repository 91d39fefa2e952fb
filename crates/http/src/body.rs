//! Bodies in and out: read within a bound, JSON both ways.

use crate::{
    App, Problem,
    traffic::{InFlight, off_runtime},
};
use axum::{
    body::{Body, BodyDataStream, Bytes},
    extract::{FromRequest, Request},
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::BytesMut;
use futures_util::{Stream, StreamExt};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use stoa_kernel::{
    Code, Fault,
    json::{self, Budget},
};

/// The raw body of a call of content, of as many bytes as [`crate::HttpLimits`] say; more is refused with 413 and
/// WDE0109.
pub struct Raw {
    bytes: Bytes,
    /// Bytes that the call may have.
    most: usize,
    in_flight: Arc<InFlight>,
}

/// The raw body of a call about members, sign-in or tokens, which are shorter.
pub struct IdentityRaw(Raw);

/// The raw body of a call that opens a stream. It is as short as one of identity, because what is made of it stays for as
/// long as the stream.
pub struct StreamRaw(Raw);

/// How much of a body that is too large is read and thrown away, so that the client, which is still
/// sending, gets to read the answer instead of a broken connection.
const DRAINED: usize = 64 * 1024 * 1024;
const DRAINED_FOR: Duration = Duration::from_secs(5);

/// A body that takes longer than this is given up: a sender that falls silent must not hold memory.
const READ_FOR: Duration = Duration::from_secs(30);
/// Room made for a body on the sender's word alone, and taken at once for one that tells no size.
const RESERVED: usize = 64 * 1024;
/// A body of more bytes is parsed where it delays no one: so many take half a millisecond.
const PARSED_HERE: usize = 64 * 1024;

impl FromRequest<App> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        Ok(receive(request, app.settings.limits.body_bytes).await?)
    }
}

impl FromRequest<App> for IdentityRaw {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let raw = receive(request, app.settings.limits.identity_body_bytes).await?;
        // It is parsed next.
        raw.in_flight.room_to_parse().await?;
        Ok(Self(raw))
    }
}

impl FromRequest<App> for StreamRaw {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        Ok(Self(receive(request, app.settings.limits.identity_body_bytes).await?))
    }
}

async fn receive(request: Request, most: usize) -> Result<Raw, Fault> {
    let in_flight = match request.extensions().get::<Arc<InFlight>>() {
        Some(it) => it.clone(),
        None => return Err(Fault::internal("the request was not counted")),
    };
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    let chunks = request.into_body().into_data_stream();
    if announced.is_some_and(|it| it > most as u64) {
        // The answer doesn't wait for what is thrown away.
        drain(chunks);
        return Err(Fault::new(Code::PayloadTooLarge));
    }
    let announced = announced.and_then(|it| usize::try_from(it).ok());
    match tokio::time::timeout(READ_FOR, read(chunks, announced, most, &in_flight)).await {
        Ok(bytes) => Ok(Raw { bytes: bytes?, most, in_flight }),
        Err(_) => Err(Fault::because(Code::MalformedJson, "the request body took too long")),
    }
}

async fn read(
    mut chunks: BodyDataStream,
    announced: Option<usize>,
    most: usize,
    in_flight: &InFlight,
) -> Result<Bytes, Fault> {
    let mut body = BytesMut::new();
    let mut held = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|it| Fault::because(Code::MalformedJson, "the request body ended early").logged(it))?;
        let length = body.len() + chunk.len();
        if length > most {
            drain(chunks);
            return Err(Fault::new(Code::PayloadTooLarge));
        }
        if length > held {
            // All of it at once if it is known, so that two halves don't wait for one another.
            let more = announced.filter(|_| held == 0).unwrap_or(0).max(length - held).max(chunk.len());
            let more = if announced.is_none() { more.max(RESERVED.min(most)) } else { more };
            in_flight.hold_body(more).await?;
            held += more;
            body.reserve(more.min(RESERVED).max(chunk.len()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Reads on for a while what isn't wanted.
fn drain(mut chunks: BodyDataStream) {
    let draining = async move {
        let mut left = DRAINED;
        while let Some(Ok(chunk)) = chunks.next().await {
            match left.checked_sub(chunk.len()) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    tokio::spawn(tokio::time::timeout(DRAINED_FOR, draining));
}

impl Raw {
    /// What `read` makes of the body, with the budget of values that it has. It waits for room in memory, which many
    /// small ones fill as well, and a large one for its turn.
    ///
    /// # Errors
    /// What `read` answers, but WDE0109 when it gave up for too many values; where there is no room,
    /// `THROTTLED_FEATURE` and `UNAVAILABLE`.
    pub async fn parse<'b, T>(&'b self, read: impl FnOnce(&'b [u8], &Budget) -> Result<T, Fault>) -> Result<T, Fault> {
        self.in_flight.room_to_parse().await?;
        if self.bytes.len() <= PARSED_HERE {
            return self.parse_now(read);
        }
        let turn = loop {
            let turn = self.in_flight.turn().await;
            if self.in_flight.has_room_to_parse() {
                break turn;
            }
            // Those before it took the room. Its turn is another's while it waits.
            drop(turn);
            self.in_flight.room_to_parse().await?;
        };
        let result = off_runtime(|| self.parse_now(read));
        if result.is_err() {
            // What was refused cost as much as what is taken. A network that goes on sending such bodies gets less.
            turn.rest();
        }
        result
    }

    fn parse_now<'b, T>(&'b self, read: impl FnOnce(&'b [u8], &Budget) -> Result<T, Fault>) -> Result<T, Fault> {
        let budget = Budget::of_bytes(self.most);
        let result = read(&self.bytes, &budget);
        if budget.is_exceeded() {
            let text = format!("The request has more than {} JSON values.", budget.most());
            return Err(Fault::because(Code::PayloadTooLarge, text));
        }
        if result.is_ok() {
            self.in_flight.hold_values(budget.used());
        }
        result
    }
}

impl StreamRaw {
    /// The body as a value, as calls of content read theirs.
    ///
    /// # Errors
    /// As for [`Raw::parse`].
    pub async fn value(&self) -> Result<Value, Fault> {
        self.0.parse(stoa_content::json).await
    }

    /// Server-sent events as they come. No cache keeps them, and no proxy collects them before it sends them on.
    pub fn answer(self, events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
        const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
        let mut response = Response::new(self.0.in_flight.open_stream().body(events));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(BUFFERING, HeaderValue::from_static("no"));
        response
    }
}

impl IdentityRaw {
    /// The body as a value.
    ///
    /// # Errors
    /// MALFORMED_JSON with line and column; WDE0109 for too many values.
    pub fn value(&self) -> Result<Value, Fault> {
        self.0.parse_now(parse)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// A JSON body of a call about members, sign-in or tokens. An empty one counts as `{}`: several clients send none.
pub struct Json(pub Value);

impl FromRequest<App> for Json {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        Ok(Self(IdentityRaw::from_request(request, app).await?.value()?))
    }
}

/// Parses a body; errors name line and column.
fn parse(bytes: &[u8], budget: &Budget) -> Result<Value, Fault> {
    if bytes.is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    json::parse(bytes, budget)
        .map_err(|it| Fault::because(Code::MalformedJson, format!("the request body is not valid JSON: {it}")))
}

/// 200 with a JSON value: the only success that clients know.
pub fn ok(value: &impl serde::Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(bytes) => ok_bytes(bytes),
        Err(error) => Problem(Fault::internal(error)).into_response(),
    }
}

/// 200 with JSON text that is ready as it stands.
pub fn ok_bytes(bytes: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(bytes.into()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HttpLimits, Settings, traffic::Traffic};
    use std::net::IpAddr;

    /// As many bodies with the same text, of requests of one network that may hold 1 MB.
    fn bodies(count: usize, text: &str) -> Vec<Raw> {
        let limits = HttpLimits { network_bodies_bytes: 1_048_576, room_time: 1_000, ..HttpLimits::default() };
        let (traffic, settings) = (Arc::<Traffic>::default(), Arc::new(Settings { limits, ..Settings::default() }));
        (0..count).map(|_| body(&traffic, &settings, 1, text)).collect()
    }

    /// A body that the host of this number sent.
    fn body(traffic: &Arc<Traffic>, settings: &Arc<Settings>, host: u8, text: &str) -> Raw {
        let parts = Request::new(Body::empty()).into_parts().0;
        let sender = || IpAddr::from([192, 0, 2, host]);
        let in_flight = InFlight::begin(traffic, settings, &parts, sender).expect("begun");
        Raw { bytes: Bytes::copy_from_slice(text.as_bytes()), most: 4_194_304, in_flight }
    }

    async fn codes(bodies: &[Raw]) -> Vec<Option<Code>> {
        let mut codes = Vec::new();
        for it in bodies {
            codes.push(it.parse(parse).await.err().map(|it| it.code()));
        }
        codes
    }

    #[tokio::test]
    async fn refused_bodies_delay_their_own_network_only() {
        let (traffic, settings) = (Arc::<Traffic>::default(), Arc::<Settings>::default());
        let many = format!("[{}0]", "{\"\":0},".repeat(200_000));
        let is_refused = async |host| body(&traffic, &settings, host, &many).parse(parse).await.is_err();
        // As many as a network has turns, and one more that has to wait for the rest of one.
        let turns = std::thread::available_parallelism().map_or(1, |it| it.get() / 2).max(1);
        for _ in 0..turns {
            assert!(is_refused(1).await);
        }
        tokio::select! {
            biased;
            _ = is_refused(1) => panic!("the next one waits"),
            refused = is_refused(2) => assert!(refused, "another network's doesn't"),
        }
        assert!(is_refused(1).await, "there is an end to it");
    }

    #[tokio::test]
    async fn bodies_are_parsed_where_there_is_room_small_ones_too() {
        let mut small = bodies(2, &format!("[{}0]", "{\"\":0},".repeat(9_000)));
        assert!(small[0].bytes.len() <= PARSED_HERE);
        assert_eq!(codes(&small).await, [None, Some(Code::Throttled)]);
        small.remove(0);
        assert_eq!(codes(&small).await, [None], "what was parsed of the other is gone");
        let large = bodies(2, &format!("[{}0]", "{\"\":0},".repeat(20_000)));
        assert_eq!(codes(&large).await, [None, Some(Code::Throttled)]);
    }
}
