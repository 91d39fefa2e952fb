//! Redirect sessions (docs/protocol/identity.md §5.1, §5.2).
//!
//! `POST /v1/redirect-session`: [`create`].

use crate::{App, Call, Problem, RequestInfo, body, body::Json};
use axum::{extract::State, response::Response};
use serde_json::json;
use stoa_identity::redirect::{Pages, RequestContext};

/// `POST /v1/redirect-session`.
pub(crate) async fn create(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    let (origin, base_url) = (info.origin.as_deref(), info.base_url.as_str());
    let context = RequestContext { caller: &call.caller, address: info.address, origin, base_url };
    let session = app.identity.redirect_session_create(&call.site, context, &body).await?;
    Ok(body::ok(&json!({ "redirectSession": session.to_json() })))
}

/// `GET /_api/site/v1/pages`: the site's own pages by intent.
pub(crate) async fn pages(State(app): State<App>, call: Call) -> Result<Response, Problem> {
    let pages = app.identity.pages_get(&call.site, &call.caller).await?;
    Ok(body::ok(&json!({ "pages": pages.to_json() })))
}

/// `PUT /_api/site/v1/pages`.
pub(crate) async fn pages_set(State(app): State<App>, call: Call, Json(body): Json) -> Result<Response, Problem> {
    let pages = app.identity.pages_set(&call.site, &call.caller, Pages::parse(&body["pages"])?).await?;
    Ok(body::ok(&json!({ "pages": pages.to_json() })))
}
