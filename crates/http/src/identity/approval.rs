//! The page on which an owner decides about a new member.
//!
//! `POST /_api/account/v1/approvals`: [`look`]. `POST /_api/account/v1/approvals/decide`: [`decide`]. Both
//! take the link's token in the body. Nothing happens on GET: mail programs open links.

use super::{browser::Visit, flow::read};
use crate::{App, Problem, body, body::Raw};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use serde::Deserialize;
use std::sync::Arc;
use stoa_identity::{
    sign_in::approval::{Decision, Request},
    token::Kind,
};
use stoa_kernel::{Code, Fault, Result};
use stoa_store::Site;

#[derive(Deserialize)]
struct Asked {
    token: String,
}

#[derive(Deserialize)]
struct Decided {
    token: String,
    decision: Word,
}

#[derive(Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Word {
    Approve,
    Decline,
}

/// `POST /_api/account/v1/approvals` `{token}`: who waits.
pub(crate) async fn look(
    State(app): State<App>,
    visit: Visit,
    headers: HeaderMap,
    raw: Raw,
) -> Result<Response, Problem> {
    visit.require_same_origin()?;
    let asked: Asked = read(&headers, &raw)?;
    let site = site_of(&app, &asked.token).await?;
    Ok(shown(&app.identity.approval_look(&site, &asked.token).await?))
}

/// `POST /_api/account/v1/approvals/decide` `{token, decision: APPROVE | DECLINE}`.
pub(crate) async fn decide(
    State(app): State<App>,
    visit: Visit,
    headers: HeaderMap,
    raw: Raw,
) -> Result<Response, Problem> {
    visit.require_same_origin()?;
    let decided: Decided = read(&headers, &raw)?;
    let site = site_of(&app, &decided.token).await?;
    let decision = match decided.decision {
        Word::Approve => Decision::Approve,
        Word::Decline => Decision::Decline,
    };
    Ok(shown(&app.identity.approval_decide(&site, &decided.token, decision).await?))
}

async fn site_of(app: &App, token: &str) -> Result<Arc<Site>> {
    app.identity.site_of(Kind::Approval, token).await.map_err(|it| match it.code() {
        Code::SiteUnknown => Fault::new(Code::LinkInvalid),
        _ => it,
    })
}

fn shown(request: &Request) -> Response {
    let mut response = body::ok(&request.to_json());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
