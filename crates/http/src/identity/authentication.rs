//! Registration, login and what belongs to them (docs/protocol/identity.md §6).

use super::{
    api_call::{Answer, ApiCall, done},
    browser::hints,
    passkeys::relying_party,
};
use crate::{App, Call, Problem, RequestInfo, body, body::Json, extract};
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use serde_json::{Value, json};
use stoa_identity::{
    DeviceHints,
    defence::Attempt,
    sign_in::{CallOrigin, Outcome, Registration, Resumption, SignOn},
};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Secret, Violation};
use stoa_store::Site;

/// `POST /v2/register`.
pub(crate) async fn register(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(mut body): Json,
) -> Result<Response, Problem> {
    let registration = Registration {
        email: text(&body["loginId"]["email"]).to_owned(),
        password: Secret::new(text(&body["password"])),
        profile: taken(&mut body, "profile"),
    };
    let attempt = attempt(&call.caller, &info, DeviceHints::default(), &body);
    // Nothing of it is kept while this request waits for its hash.
    drop(body);
    let outcome = app.identity.member_register(&call.site, &attempt, &registration).await?;
    answered(&app, &call.site, &info, outcome).await
}

/// `POST /v2/login`: by address and password; with no password it says that one is needed; with a
/// `stateToken` it goes on where an earlier answer left off.
pub(crate) async fn login(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    headers: HeaderMap,
    Json(mut body): Json,
) -> Result<Response, Problem> {
    // Ways in that the packages declare for themselves (docs/protocol/identity.md §6): a password that stands beside them would sign in.
    for name in ["webauthn", "emailOtp"] {
        if !body[name].is_null() {
            let why =
                format!("{name} is not built: a passkey signs in on the account pages, or by /v2/WEBAUTHN/verify");
            return Err(Fault::because(Code::NotBuilt, why).into());
        }
    }
    let attempt = attempt(&call.caller, &info, hints(&headers, &info), &body);
    let email = text(&body["loginId"]["email"]).to_owned();
    let password = Some(&body["password"]).filter(|it| !it.is_null()).map(|it| Secret::new(text(it)));
    let state_token = body["stateToken"].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
    let profile = if state_token.is_some() { taken(&mut body, "profile") } else { Value::Null };
    drop(body);
    let identity = &app.identity;
    let outcome = match (&state_token, &password) {
        (Some(state_token), password) => {
            let email = Some(email.as_str()).filter(|it| !it.is_empty());
            let sent = Resumption { state_token, email, password: password.as_ref(), profile: &profile };
            identity.login_resume(&call.site, &attempt, sent).await?
        }
        (None, None) => identity.login_begin(&call.site, &email)?,
        (None, Some(password)) => identity.member_login(&call.site, &attempt, &email, password).await?,
    };
    answered(&app, &call.site, &info, outcome).await
}

/// The StateMachineResponse, to a server that was reached so: what is asked of passkeys depends on it.
///
/// # Errors
/// What the engine answers.
pub(super) async fn answered(
    app: &App,
    site: &Site,
    info: &RequestInfo,
    outcome: Outcome,
) -> Result<Response, Problem> {
    let at = relying_party(app, info).await?;
    let outcome = app.identity.outcome_at(site, outcome, at.as_ref()).await?;
    Ok(body::ok(&outcome.to_json()))
}

/// `POST /v2/sign-on`: an app vouches for a member.
pub(crate) async fn sign_on(State(app): State<App>, headers: HeaderMap, Json(body): Json) -> Result<Response, Problem> {
    let (authorization, hint) = (extract::text(&headers, "authorization"), extract::text(&headers, "wix-site-id"));
    let known = app.identity.authenticate(authorization, hint).await?;
    let site = app.store.site(&known.site).await?;
    let mut wrong = Vec::new();
    for name in ["mergeExistingContact", "verifyEmail"] {
        if !matches!(body[name], Value::Null | Value::Bool(_)) {
            wrong.push(Violation::new(name, "FORMAT", "true or false is expected"));
        }
    }
    if body["mergeExistingContact"] == Value::Bool(false) {
        let why = "there are no contacts beside members";
        wrong.push(Violation::new("mergeExistingContact", "FIELD_NOT_ALLOWED", why));
    }
    if !wrong.is_empty() {
        return Err(Fault::invalid(wrong).into());
    }
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
pub(crate) async fn change_password(
    State(app): State<App>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    let new = Secret::new(text(&body["newPassword"]));
    drop(body);
    app.identity.password_change(&call.site, &call.caller, info.address, &new).await?;
    Ok(body::ok(&json!({})))
}

/// `POST /v2/validate-email`: whether an address has the form of one.
pub(crate) async fn validate_email(_: Call, Json(body): Json) -> Result<Response, Problem> {
    let violation = |rule, why| Fault::invalid(vec![Violation::new("email", rule, why)]);
    let is_valid = match &body["email"] {
        Value::String(text) => Email::parse(text).is_some(),
        Value::Null => return Err(violation("REQUIRED_FIELD", "is required").into()),
        _ => return Err(violation("FORMAT", "text is expected").into()),
    };
    Ok(body::ok(&json!({ "valid": is_valid, "formatInvalid": !is_valid })))
}

/// `POST /_api/identity/v1/members/{id}/refuse-password`: a member must set another password before the
/// next sign-in.
pub(crate) async fn refuse_password(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.password_refuse(&call.site, &call.caller, &MemberId::from(call.id.as_str())).await?;
    done()
}

/// `GET /_api/account/v1/captcha`: a challenge, or the keys of the provider, of the site that the caller's
/// token or the host name says. At a host of another site the account pages draw no widget.
pub(crate) async fn captcha_challenge(
    State(app): State<App>,
    call: Result<Call, Problem>,
    info: RequestInfo,
) -> Result<Response, Problem> {
    let site = match call {
        Ok(call) => call.site,
        // The account pages have no token.
        Err(_) => info.find_site(&app).await?,
    };
    let mut needed = app.identity.captcha_challenge(&site).await?;
    if needed["widget"].is_string() && info.is_host_of_another(&app, &site.id).await? {
        for name in ["widget", "scriptUrl"] {
            needed[name] = Value::Null;
        }
    }
    let mut response = body::ok(&needed);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The captcha answer of a request: its one element may hold several kinds of token (docs/protocol/identity.md §6).
pub(super) fn captcha(body: &Value) -> Option<String> {
    let given = &body["captchaTokens"];
    let elements = given.as_array().map_or(std::slice::from_ref(given), Vec::as_slice);
    let tokens = elements.iter().flat_map(|element| {
        [
            &element["recaptchaForClientSiteKey"]["token"],
            &element["Recaptcha"],
            &element["InvisibleRecaptcha"],
            &element["NoCaptcha"],
        ]
    });
    tokens.filter_map(Value::as_str).find(|it| !it.is_empty()).map(str::to_owned)
}

pub(super) fn attempt(caller: &Caller, info: &RequestInfo, hints: DeviceHints, body: &Value) -> Attempt {
    let visitor = match caller {
        Caller::Visitor { id, .. } => Some(id.clone()),
        _ => None,
    };
    let CallOrigin { address, client, .. } = origin(caller, info);
    Attempt { address, visitor, client: client.cloned(), hints, captcha: captcha(body) }
}

/// Where a call comes from that goes on with a sign-in.
pub(super) fn origin<'a>(caller: &'a Caller, info: &RequestInfo) -> CallOrigin<'a> {
    let client = match caller {
        Caller::Visitor { client, .. } => client.as_ref(),
        _ => None,
    };
    CallOrigin { address: info.address, client, user_agent: None }
}

/// A member of an object, which then has none of this name.
fn taken(body: &mut Value, name: &str) -> Value {
    body.get_mut(name).map(Value::take).unwrap_or_default()
}

/// The text, or nothing when the value is missing or of another type: the operation says what is wrong.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
