//! What the pages on which members look after their account begin with. Everything else there are members' own calls, with
//! the token that this one gives.
//!
//! `POST /_api/account/v1/member`: [`open`]. `POST /_api/identity/v1/password`: [`replace_password`].

use super::{
    api_call::{Answer, ApiCall, done},
    browser::hints,
    page_call::PageCall,
    verification::Fields,
};
use crate::{App, RequestInfo, body};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
};
use serde_json::{Value, json};
use stoa_identity::{defence::Attempt, password};
use stoa_kernel::{Code, Fault, Secret};

/// `POST /_api/account/v1/member` `{}`: who is signed in at the site in this browser, and an access token of theirs.
pub(crate) async fn open(State(app): State<App>, PageCall { visit, .. }: PageCall<Value>) -> Answer {
    let (site, session) = visit.member(&app).await?;
    let member = app.identity.member_get(&site, &session.member).await?;
    let member = member.ok_or_else(|| Fault::new(Code::Unauthenticated))?;
    let access = app.identity.session_access(&site, &session).await?;
    let mut response = body::ok(&json!({
        "site": app.identity.site_face(&site).await?,
        "access_token": access.token,
        "expires_in": access.expires_in,
        "memberId": member.id,
        "email": member.email,
        "emailVerified": member.email_verified,
        "hasPassword": member.has_password(),
        "passwordMinLength": password::MIN_CHARS,
        "deletionDays": app.identity.policy(&site).await?.deletion_days(),
    }));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// `POST /_api/identity/v1/password` `{oldPassword, newPassword}`: all other sessions end.
pub(crate) async fn replace_password(
    State(app): State<App>,
    info: RequestInfo,
    headers: HeaderMap,
    mut call: ApiCall,
) -> Answer {
    let mut fields = Fields::of(&call.data);
    let [old, new] = ["oldPassword", "newPassword"].map(|it| Secret::new(fields.text(it, None)));
    fields.done()?;
    // Nothing of it is kept while this request waits for its hash.
    call.forget_data();
    let hints = hints(&headers, &info);
    let attempt = Attempt { address: info.address, visitor: None, client: None, hints, captcha: None };
    app.identity.password_replace(&call.site, &call.caller, &attempt, &old, &new).await?;
    done()
}
