//! The page on which an owner decides about a new member.
//!
//! `POST /_api/account/v1/approvals`: [`get`]. `POST /_api/account/v1/approvals/decide`: [`decide`]. Both
//! take the link's token in the body. Nothing happens on GET: mail programs open links.

use super::page_call::PageCall;
use crate::{App, Problem, body};
use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use stoa_identity::{
    face::SiteFace,
    sign_in::approval::{ApprovalRequest, Decision},
    token::Kind,
};
use stoa_kernel::{Code, Fault, Result};
use stoa_store::Site;

#[derive(Deserialize)]
pub(crate) struct LinkBody {
    pub(super) token: String,
}

#[derive(Deserialize)]
pub(crate) struct DecisionBody {
    token: String,
    decision: DecisionName,
}

#[derive(Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum DecisionName {
    Approve,
    Decline,
}

/// `POST /_api/account/v1/approvals` `{token}`: who waits.
pub(crate) async fn get(
    State(app): State<App>,
    PageCall { body: link, .. }: PageCall<LinkBody>,
) -> Result<Response, Problem> {
    let site = site_of(&app, &link.token).await?;
    let request = app.identity.approval_get(&site, &link.token).await?;
    Ok(shown(&app.identity.site_face(&site).await?, &request))
}

/// `POST /_api/account/v1/approvals/decide` `{token, decision: APPROVE | DECLINE}`.
pub(crate) async fn decide(
    State(app): State<App>,
    PageCall { body: given, .. }: PageCall<DecisionBody>,
) -> Result<Response, Problem> {
    let site = site_of(&app, &given.token).await?;
    let decision = match given.decision {
        DecisionName::Approve => Decision::Approve,
        DecisionName::Decline => Decision::Decline,
    };
    let request = app.identity.approval_decide(&site, &given.token, decision).await?;
    Ok(shown(&app.identity.site_face(&site).await?, &request))
}

async fn site_of(app: &App, token: &str) -> Result<Arc<Site>> {
    app.identity.site_of(Kind::Approval, token).await.map_err(|it| match it.code() {
        Code::SiteUnknown => Fault::new(Code::LinkInvalid),
        _ => it,
    })
}

fn shown(site: &SiteFace, request: &ApprovalRequest) -> Response {
    let mut shown = request.to_json();
    shown["site"] = json!(site);
    let mut response = body::ok(&shown);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
