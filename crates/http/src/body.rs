//! Bodies in and out: read within a bound, JSON both ways.

use crate::Problem;
use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Request},
    http::header,
    response::{IntoResponse, Response},
};
use serde_json::Value;
use stoa_kernel::{Code, Fault};

/// The largest body that is read (protocol/content.md 19: bulk payload).
pub const LIMIT: usize = 4 * 1024 * 1024;

/// The raw body, at most [`LIMIT`] bytes; more is refused with 413 and WDE0109.
pub struct Raw(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse().ok());
        if announced.is_some_and(|it: usize| it > LIMIT) {
            return Err(Fault::new(Code::PayloadTooLarge).into());
        }
        match axum::body::to_bytes(request.into_body(), LIMIT).await {
            Ok(bytes) => Ok(Self(bytes)),
            Err(error) => Err(match std::error::Error::source(&error).is_some_and(|it| it.to_string().contains("limit")) {
                true => Fault::new(Code::PayloadTooLarge),
                false => Fault::because(Code::MalformedJson, "the request body ended early").logged(error),
            }
            .into()),
        }
    }
}

/// A JSON body. An empty one counts as `{}`: several clients send none.
pub struct Json(pub Value);

impl<S: Send + Sync> FromRequest<S> for Json {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let Raw(bytes) = Raw::from_request(request, state).await?;
        Ok(Self(parse(&bytes)?))
    }
}

/// Parses a body; what is wrong is told with line and column.
pub fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    if bytes.is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_slice(bytes).map_err(|it| Fault::because(Code::MalformedJson, format!("the request body is not valid JSON: {it}")))
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
