//! Registration, login and what belongs to them (identity.md 6).

use super::browser::marks;
use crate::{App, Call, Problem, RequestInfo, body, body::Json, extract};
use axum::{extract::State, http::HeaderMap, response::Response};
use serde_json::{Value, json};
use stoa_identity::{
    Marks,
    member::{Attempt, Registration, SignOn},
};
use stoa_kernel::{Caller, Email, Secret};

/// `POST /v2/register`.
pub(crate) async fn register(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    let registration = Registration {
        email: text(&body["loginId"]["email"]).to_owned(),
        password: Secret::new(text(&body["password"])),
        profile: body["profile"].clone(),
    };
    let attempt = attempt(&call.caller, &info, Marks::default());
    let outcome = app.identity.member_register(&call.site, &attempt, &registration).await?;
    Ok(body::ok(&outcome.to_json()))
}

/// `POST /v2/login`.
pub(crate) async fn login(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    headers: HeaderMap,
    Json(body): Json,
) -> Result<Response, Problem> {
    let (email, password) = (text(&body["loginId"]["email"]), Secret::new(text(&body["password"])));
    let attempt = attempt(&call.caller, &info, marks(&headers, &info));
    let outcome = app.identity.member_login(&call.site, &attempt, email, &password).await?;
    Ok(body::ok(&outcome.to_json()))
}

/// `POST /v2/sign-on`: an app vouches for a member.
pub(crate) async fn sign_on(State(app): State<App>, headers: HeaderMap, Json(body): Json) -> Result<Response, Problem> {
    let (authorization, hint) = (extract::text(&headers, "authorization"), extract::text(&headers, "wix-site-id"));
    let known = app.identity.authenticate(authorization, hint).await?;
    let site = app.store.site(&known.site).await?;
    let sign_on = SignOn {
        email: text(&body["loginId"]["email"]).to_owned(),
        profile: body["profile"].clone(),
        verify_email: body["verifyEmail"] == Value::Bool(true),
    };
    let (member, session_token) =
        app.identity.member_sign_on(&site, &known.caller, known.visitor.as_ref(), &sign_on).await?;
    Ok(body::ok(&json!({ "sessionToken": session_token.expose(), "identity": member.to_json() })))
}

/// `POST /v2/change-password`: the calling member's own.
pub(crate) async fn change_password(State(app): State<App>, call: Call, Json(body): Json) -> Result<Response, Problem> {
    let new = Secret::new(text(&body["newPassword"]));
    app.identity.password_change(&call.site, &call.caller, &new).await?;
    Ok(body::ok(&json!({})))
}

/// `POST /v2/validate-email`: whether an address has the form of one.
pub(crate) async fn validate_email(_: Call, Json(body): Json) -> Result<Response, Problem> {
    let is_valid = Email::parse(text(&body["email"])).is_some();
    Ok(body::ok(&json!({ "valid": is_valid, "formatInvalid": !is_valid })))
}

fn attempt(caller: &Caller, info: &RequestInfo, marks: Marks) -> Attempt {
    let visitor = match caller {
        Caller::Visitor { id, .. } => Some(id.clone()),
        _ => None,
    };
    Attempt { address: info.address, visitor, marks }
}

/// The text, or nothing when the value is missing or of another type: the operation says what is wrong.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
