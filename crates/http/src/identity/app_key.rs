//! The public keys of applications, by which they know that what they are sent is from here (docs/keys.md).

use crate::{App, Problem, body, tag};
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use stoa_kernel::{ClientId, Code, Fault};

/// A key is shown before it signs, and for days after: a minute in caches leaves room on both sides, and one that is
/// removed because it leaked is gone soon.
const CACHING: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// `GET /_api/apps/v1/{id}/jwks`: as RFC 7517 writes them, for everyone.
pub(crate) async fn jwks(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = id.map(|Path(id)| id).map_err(|it| Fault::new(Code::NotFound).logged(it))?;
    let mut response = body::ok(&app.identity.app_jwks(&ClientId::from(id)).await?);
    response.headers_mut().insert(header::CACHE_CONTROL, CACHING);
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    Ok(tag::tagged(response, &tag::asked(&headers)).await)
}
