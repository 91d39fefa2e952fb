//! Answers that shared caches may keep, because the collection's owner says so.
//!
//! Such a cache asks again by address alone: not with the token that the first caller brought. So an answer is only
//! given to it where the address leads to the same site without a token, and where everybody reads the same.

use super::params::flag;
use crate::{App, Call, RequestInfo};
use axum::{
    extract::FromRequestParts,
    http::{HeaderValue, header, request::Parts},
    response::Response,
};
use serde_json::{Map, Value};
use std::convert::Infallible;

/// A header whose value the edge sends back. No cache tells by it, and a client that gets one keeps it for ever.
const ECHOED: &str = "x-wix-consistent";

/// What a request's address says; nothing where it has a host name that is not ours, or where its sender is told what
/// no one else may be.
pub(crate) struct Address(Option<RequestInfo>);

impl FromRequestParts<App> for Address {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self::of(parts, app))
    }
}

impl Address {
    pub(super) fn of(parts: &Parts, app: &App) -> Self {
        let is_echoed = parts.headers.contains_key(ECHOED);
        Self(RequestInfo::of(parts, app).ok().filter(|_| !is_echoed))
    }

    /// The answer to a request with these members, which shared caches may keep for so many seconds if it is one for
    /// everybody. A request for what is stored at this moment (`consistentRead`) is none, and one that is answered from
    /// another environment to others is none.
    pub(super) async fn share(
        &self,
        app: &App,
        call: &Call,
        members: &Map<String, Value>,
        seconds: Option<u32>,
        mut response: Response,
    ) -> Response {
        let is_live = members.get("environment").is_none_or(|it| it.is_null() || *it == "LIVE");
        let is_for_all = is_live && !flag(members, "consistentRead");
        let (Some(seconds), Self(Some(address)), true) = (seconds, self, is_for_all) else {
            return response;
        };
        let is_found_without_token = address.find_site(app).await.is_ok_and(|it| it.id == call.site.id);
        if let (true, Ok(caching)) =
            (is_found_without_token, HeaderValue::try_from(format!("public, max-age={seconds}")))
        {
            response.headers_mut().insert(header::CACHE_CONTROL, caching);
            response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        }
        response
    }
}
