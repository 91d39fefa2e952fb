//! What one of our own pages sends: the browser that asks, and the JSON that it sent.

use super::browser::Visit;
use crate::{App, Problem, body::IdentityRaw, extract::text};
use axum::extract::{FromRequest, FromRequestParts, Request};
use serde::de::DeserializeOwned;
use stoa_kernel::{Code, Fault};

/// A call of an account page with a body. Nothing of the body is read unless a page of this server sent it, as JSON
/// that says it is: a form of another page can't send this type without being asked.
pub(crate) struct PageCall<T> {
    pub(crate) visit: Visit,
    pub(crate) body: T,
}

impl<T: DeserializeOwned> FromRequest<App> for PageCall<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let visit = Visit::from_request_parts(&mut parts, app).await?;
        visit.require_same_origin()?;
        let kind = text(&parts.headers, "content-type").unwrap_or_default();
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            let why = "the request must have the content type application/json";
            return Err(Fault::because(Code::MalformedJson, why).into());
        }
        let raw = IdentityRaw::from_request(Request::from_parts(parts, body), app).await?;
        raw.value()?;
        let body = serde_json::from_slice(raw.bytes()).map_err(|it| {
            Fault::because(Code::MalformedJson, "the request does not have the expected members").logged(it)
        })?;
        Ok(Self { visit, body })
    }
}
