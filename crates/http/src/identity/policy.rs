//! The sign-on policy (docs/protocol/identity.md §9).

use crate::{App, Call, Problem, body, body::Json};
use axum::{extract::State, response::Response};
use serde_json::json;
use stoa_identity::policy::PolicyChange;

/// `GET /v1/sign-on-policies`.
pub(crate) async fn get(State(app): State<App>, call: Call) -> Result<Response, Problem> {
    let policy = app.identity.policy_get(&call.site, &call.caller).await?;
    Ok(body::ok(&json!({ "signOnPolicy": policy })))
}

/// `PATCH /v1/sign-on-policies`.
pub(crate) async fn update(State(app): State<App>, call: Call, Json(body): Json) -> Result<Response, Problem> {
    let change = PolicyChange::parse(&body)?;
    let policy = app.identity.policy_update(&call.site, &call.caller, change).await?;
    Ok(body::ok(&json!({ "signOnPolicy": policy })))
}
