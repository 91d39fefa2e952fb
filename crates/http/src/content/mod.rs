//! Content over HTTP: one file a noun, each handler a few lines that extract, call and answer.

pub(crate) mod bulk;
pub(crate) mod collections;
pub(crate) mod indexes;
pub(crate) mod items;
mod params;
pub(crate) mod permissions;
pub(crate) mod read;
pub(crate) mod references;

use crate::{App, Call, Problem, body::Raw};
use axum::{
    extract::{FromRequest, FromRequestParts, Request, State},
    http::{Method, Uri},
    response::{IntoResponse, Response},
};
use serde_json::Value;
use stoa_kernel::{Code, Fault};

/// The body of a call that has no items.
pub(crate) struct Json(pub Value);

impl FromRequest<App> for Json {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let Raw(bytes) = Raw::from_request(request, app).await?;
        Ok(Self(stoa_content::json(&bytes)?))
    }
}

/// Calls of content that this server does not have yet: WDE0119 in the documented shape, to known callers.
pub(crate) async fn not_supported(_: Call) -> Problem {
    Problem(Fault::new(Code::NotSupported))
}

/// Whether this is a get whose path was lost on the way: clients put ids into paths as they are, and an
/// id with `..` in it makes another path of them. The query string still says what is meant.
pub(crate) fn is_lost(method: &Method, uri: &Uri) -> bool {
    *method == Method::GET && query_has(uri, "dataCollectionId")
}

/// Answers such a get.
pub(crate) async fn lost(app: App, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let answer = match Call::from_request_parts(&mut parts, &app).await {
        Ok(call) if query_has(&parts.uri, "dataItemId") => items::get(State(app), call, parts.uri).await,
        Ok(call) => collections::get(State(app), call, parts.uri).await,
        Err(problem) => Err(problem),
    };
    answer.into_response()
}

fn query_has(uri: &Uri, name: &str) -> bool {
    let mut pairs = uri.query().unwrap_or_default().split('&');
    pairs.any(|it| it.split_once('=').is_some_and(|(key, _)| key == name))
}
