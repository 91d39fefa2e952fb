//! Owners who act as members (decision 54). Ours alone: the public packages have no such calls.
//!
//! `POST /_api/identity/v1/members/{id}/impersonation`: [`start`]. `DELETE` there: [`end`].

use super::{
    api_call::{Answer, ApiCall, answer},
    browser::hints,
    deletion::private,
    members,
};
use crate::{App, RequestInfo};
use axum::{extract::State, http::HeaderMap};
use serde_json::json;
use stoa_identity::{defence::Attempt, manage::ImpersonationRequest};
use stoa_kernel::{Fault, Result, Secret, Violation, date::iso_from_millis};

/// `POST …` `{reason, password, access?}`: a token with which the calling owner sees what the member sees, or with `WRITE`
/// changes items as well.
pub(crate) async fn start(State(app): State<App>, info: RequestInfo, headers: HeaderMap, mut call: ApiCall) -> Answer {
    let request = ImpersonationRequest::parse(&call.data)?;
    let password = password(&call)?;
    // Nothing of it is kept while this request waits for its hash.
    call.forget_data();
    let hints = hints(&headers, &info);
    let attempt = Attempt { address: info.address, visitor: None, client: None, hints, captcha: None };
    let (identity, id) = (&app.identity, members::id(&call));
    let started = identity.impersonation_start(&call.site, &call.caller, &attempt, &password, &id, request).await?;
    Ok(private(&json!({
        "accessToken": started.token.token,
        "expiresIn": started.token.expires_in,
        "expiresDate": iso_from_millis(started.expires),
        "sessionId": started.session,
        "memberId": started.member,
        "access": started.access.name(),
    })))
}

/// `DELETE …`: no owner acts as the member any more.
pub(crate) async fn end(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let from = Some(info.address);
    let ended = app.identity.impersonation_end(&call.site, &call.caller, &members::id(&call), from).await?;
    answer("ended", ended)
}

/// The owner's own password.
fn password(call: &ApiCall) -> Result<Secret> {
    let (rule, why) = match call.data["password"].as_str() {
        Some(password) if !password.is_empty() => return Ok(Secret::new(password)),
        None if !call.data["password"].is_null() => ("FORMAT", "text is expected"),
        _ => ("REQUIRED_FIELD", "your own password is required"),
    };
    Err(Fault::invalid(vec![Violation::new("password", rule, why)]))
}
