//! Members who give their account another address, or take the one before back (decision 58).
//!
//! `POST /_api/identity/v1/email`: [`begin`]; below it `confirm`: [`confirm`]. `POST /_api/account/v1/email-changes`: [`get`]; below
//! it `undo`: [`undo`]. Those two take the token of the link in the body; nothing happens on GET, because mail programs open links.

use super::{
    api_call::{Answer, ApiCall},
    approval::LinkBody,
    deletion::{private, site_of},
    page_call::PageCall,
    verification::Fields,
};
use crate::{App, RequestInfo};
use axum::extract::State;
use serde_json::json;
use std::sync::Arc;
use stoa_identity::token::Kind;
use stoa_kernel::{Secret, date::iso_from_millis};
use stoa_store::Site;

/// `POST /_api/identity/v1/email` `{email}`: a code goes there.
pub(crate) async fn begin(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let mut fields = Fields::of(&call.data);
    let email = fields.text("email", None);
    fields.done()?;
    let until = app.identity.email_change_begin(&call.site, &call.caller, email, info.address).await?;
    Ok(private(&json!({ "expiresDate": iso_from_millis(until) })))
}

/// `POST /_api/identity/v1/email/confirm` `{code}`: the account has the address to which the code went.
pub(crate) async fn confirm(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let mut fields = Fields::of(&call.data);
    let code = Secret::new(fields.text("code", None));
    fields.done()?;
    let member = app.identity.email_change_confirm(&call.site, &call.caller, &code, info.address).await?;
    Ok(private(&json!({ "email": member.email })))
}

/// `POST /_api/account/v1/email-changes` `{token}`: the address that the account can have again.
pub(crate) async fn get(State(app): State<App>, PageCall { body: link, .. }: PageCall<LinkBody>) -> Answer {
    let site = site_of(&app, Kind::Undo, &link.token).await?;
    let email = app.identity.email_change_get(&site, &link.token).await?;
    shown(&app, &site, &email, false).await
}

/// `POST /_api/account/v1/email-changes/undo` `{token}`: it has it again.
pub(crate) async fn undo(
    State(app): State<App>,
    info: RequestInfo,
    PageCall { body: link, .. }: PageCall<LinkBody>,
) -> Answer {
    let site = site_of(&app, Kind::Undo, &link.token).await?;
    let member = app.identity.email_change_undo(&site, &link.token, info.address).await?;
    shown(&app, &site, &member.email, true).await
}

async fn shown(app: &App, site: &Arc<Site>, email: &str, is_undone: bool) -> Answer {
    let site = app.identity.site_face(site).await?;
    Ok(private(&json!({ "site": site, "email": email, "isUndone": is_undone })))
}
