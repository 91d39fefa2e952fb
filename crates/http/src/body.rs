//! Bodies in and out: read within a bound, JSON both ways.

use crate::{App, Problem};
use axum::{
    body::{Body, BodyDataStream, Bytes},
    extract::{FromRequest, Request},
    http::header,
    response::{IntoResponse, Response},
};
use bytes::BytesMut;
use futures_util::StreamExt;
use serde_json::Value;
use std::time::Duration;
use stoa_kernel::{Code, Fault};

/// The raw body, of as many bytes as [`crate::HttpLimits`] say; more is refused with 413 and WDE0109.
pub struct Raw(pub Bytes);

/// How much of a body that is too large is read and thrown away, so that the client, which is still
/// sending, gets to read the answer instead of a broken connection.
const DRAINED: usize = 64 * 1024 * 1024;
const DRAINED_FOR: Duration = Duration::from_secs(5);

/// A body that takes longer than this is given up: a sender that falls silent must not hold memory.
const READ_FOR: Duration = Duration::from_secs(30);
/// Room made for a body on the sender's word alone.
const RESERVED: usize = 512 * 1024;

impl FromRequest<App> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        match tokio::time::timeout(READ_FOR, read(request, app.settings.limits.body_bytes)).await {
            Ok(body) => Ok(Self(body?)),
            Err(_) => Err(Fault::because(Code::MalformedJson, "the request body took too long").into()),
        }
    }
}

async fn read(request: Request, most: usize) -> Result<Bytes, Fault> {
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
    let mut chunks = request.into_body().into_data_stream();
    let mut body = BytesMut::with_capacity(announced.unwrap_or(0).min(RESERVED));
    while let Some(chunk) = chunks.next().await {
        let chunk =
            chunk.map_err(|it| Fault::because(Code::MalformedJson, "the request body ended early").logged(it))?;
        if body.len() + chunk.len() > most {
            let _ = tokio::time::timeout(DRAINED_FOR, drain(chunks)).await;
            return Err(Fault::new(Code::PayloadTooLarge));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

async fn drain(mut chunks: BodyDataStream) {
    let mut left = DRAINED;
    while let Some(Ok(chunk)) = chunks.next().await {
        match left.checked_sub(chunk.len()) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// A JSON body. An empty one counts as `{}`: several clients send none.
pub struct Json(pub Value);

impl FromRequest<App> for Json {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let Raw(bytes) = Raw::from_request(request, app).await?;
        Ok(Self(parse(&bytes)?))
    }
}

/// Parses a body; errors name line and column.
pub fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    if bytes.is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_slice(bytes)
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
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    response
}
