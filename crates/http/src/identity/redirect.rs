//! Redirect sessions (identity.md 5.1, 5.2).
//!
//! `POST /v1/redirect-session`: [`create`].

use crate::{App, Call, Problem, RequestInfo, body, body::Json};
use axum::{extract::State, response::Response};
use serde_json::json;
use stoa_identity::redirect::Asking;

/// `POST /v1/redirect-session`.
pub(crate) async fn create(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    let (origin, base_url) = (info.origin.as_deref(), info.base_url.as_str());
    let asking = Asking { caller: &call.caller, address: info.address, origin, base_url };
    let session = app.identity.redirect_session_create(&call.site, asking, &body).await?;
    Ok(body::ok(&json!({ "redirectSession": session.to_json() })))
}
