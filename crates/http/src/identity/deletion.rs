//! Members who want to be deleted, or to keep an account that is to be deleted, or a copy of what is known of them.
//!
//! `POST /_api/identity/v1/deletion`: [`ask`]. `GET /_api/identity/v1/export`: [`export`].
//! `POST /_api/account/v1/deletions`: [`get`]; below it `undo`: [`undo`]. Both take the token of the link in the body; nothing
//! happens on GET, because mail programs open links. `POST /_api/identity/v1/members/{id}/keep`: [`keep`].

use super::{
    api_call::{Answer, ApiCall, done},
    approval::LinkBody,
    members,
    page_call::PageCall,
};
use crate::{App, RequestInfo, body};
use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_identity::{
    manage::Wish,
    member::{Member, without_nulls},
    token::Kind,
};
use stoa_kernel::{Code, Fault, Millis, Result, Violation, date::iso_from_millis};
use stoa_store::Site;

/// `POST /_api/identity/v1/deletion` `{deletionDays}`: the calling member's account is deleted after the days of the policy,
/// unless the member was told others.
pub(crate) async fn ask(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let told = told_days(&call.data)?;
    let wish = app.identity.deletion_ask(&call.site, &call.caller, info.address, told).await?;
    Ok(private(&match wish {
        Wish::Waits(due) => json!({ "isDeleted": false, "deletionDate": iso_from_millis(due) }),
        Wish::Gone => json!({ "isDeleted": true }),
    }))
}

/// The days that the member was told; nothing when the call doesn't say.
///
/// # Errors
/// [`Code::Validation`].
fn told_days(data: &Value) -> Result<Option<u64>> {
    let why = || Fault::invalid(vec![Violation::new("deletionDays", "FORMAT", "a whole number of days is expected")]);
    match &data["deletionDays"] {
        Value::Null => Ok(None),
        sent => sent.as_u64().map(Some).ok_or_else(why),
    }
}

/// `GET /_api/identity/v1/export`: what is known of the calling member, as a file.
pub(crate) async fn export(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let mut response = private(&app.identity.member_export(&call.site, &call.caller, info.address).await?);
    let name = HeaderValue::from_static("attachment; filename=\"my-data.json\"");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

/// `POST /_api/account/v1/deletions` `{token}`: which account is to be deleted, and when.
pub(crate) async fn get(State(app): State<App>, PageCall { body: link, .. }: PageCall<LinkBody>) -> Answer {
    let site = site_of(&app, Kind::Keep, &link.token).await?;
    let (member, deletion) = app.identity.deletion_get(&site, &link.token).await?;
    shown(&app, &site, &member, Some(deletion.due)).await
}

/// `POST /_api/account/v1/deletions/undo` `{token}`: it stays.
pub(crate) async fn undo(
    State(app): State<App>,
    info: RequestInfo,
    PageCall { body: link, .. }: PageCall<LinkBody>,
) -> Answer {
    let site = site_of(&app, Kind::Keep, &link.token).await?;
    let member = app.identity.deletion_undo(&site, &link.token, info.address).await?;
    shown(&app, &site, &member, None).await
}

/// `POST /_api/identity/v1/members/{id}/keep`: those who run the site keep an account that is to be deleted.
pub(crate) async fn keep(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.deletion_undo_for(&call.site, &call.caller, &members::id(&call)).await?;
    done()
}

/// The site that the token of a link names.
///
/// # Errors
/// [`Code::LinkInvalid`].
pub(super) async fn site_of(app: &App, kind: Kind, token: &str) -> Result<Arc<Site>> {
    app.identity.site_of(kind, token).await.map_err(|it| match it.code() {
        Code::SiteUnknown => Fault::new(Code::LinkInvalid),
        _ => it,
    })
}

async fn shown(app: &App, site: &Arc<Site>, member: &Member, due: Option<Millis>) -> Answer {
    let site = app.identity.site_face(site).await?;
    let view = json!({ "email": member.email, "deletionDate": due.map(iso_from_millis) });
    let mut view = without_nulls(view);
    view["site"] = json!(site);
    Ok(private(&view))
}

/// An answer that no cache keeps.
pub(super) fn private(value: &Value) -> Response {
    let mut response = body::ok(value);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
