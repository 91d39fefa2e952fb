//! The members package's own registration and sign-in (docs/protocol/identity.md §17, `authentication`): the
//! calls of docs/protocol/identity.md §6 in their older form.

use super::{
    api_call::{Answer, ApiCall, answer, done, invalid},
    authentication::captcha,
    browser::hints,
    member_wire::without_nulls,
};
use crate::{App, RequestInfo, body};
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use serde_json::{Value, json};
use stoa_identity::{
    DeviceHints,
    defence::Attempt,
    member::{Member, Move},
    sign_in::{Outcome, Registration},
};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Secret, Violation, date::iso_from_millis};

/// A call and where it comes from.
pub(crate) struct ClientCall {
    call: ApiCall,
    info: RequestInfo,
    hints: DeviceHints,
}

impl FromRequest<App> for ClientCall {
    type Rejection = crate::Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, crate::Problem> {
        let (mut parts, body) = request.into_parts();
        let info = RequestInfo::from_request_parts(&mut parts, app).await?;
        let hints = hints(&parts.headers, &info);
        Ok(Self { call: ApiCall::from_request(Request::from_parts(parts, body), app).await?, info, hints })
    }
}

impl ClientCall {
    fn attempt(&self) -> Attempt {
        let (visitor, client) = match &self.call.caller {
            Caller::Visitor { id, client } => (Some(id.clone()), client.clone()),
            _ => (None, None),
        };
        Attempt {
            address: self.info.address,
            visitor,
            client,
            hints: self.hints.clone(),
            captcha: captcha(&self.call.data),
        }
    }
}

/// `POST …/api/v1/auth/register`.
pub(crate) async fn register(State(app): State<App>, mut request: ClientCall) -> Answer {
    let data = &request.call.data;
    let contact = &data["contactInfo"];
    let mut profile = json!({});
    for name in ["firstName", "lastName", "picture", "emails", "phones", "labels"] {
        profile[name] = contact[name].clone();
    }
    profile["privacyStatus"] = match data["profilePrivacyStatus"].as_str() {
        Some(it @ ("PUBLIC" | "PRIVATE")) => it.into(),
        _ => Value::Null,
    };
    let fields = contact["customFields"].as_array().into_iter().flatten().map(|field| {
        let mut value = field.clone();
        let name = value.as_object_mut().and_then(|it| it.remove("name")).unwrap_or_default();
        json!({ "name": name, "value": value })
    });
    profile["customFields"] = fields.collect();
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    let registration =
        Registration { email: text("email").to_owned(), password: Secret::new(text("password")), profile };
    let attempt = request.attempt();
    request.call.forget_data();
    let registered = app.identity.member_register(&request.call.site, &attempt, &registration).await;
    signed(&app, &request.call, registered.map_err(with_legacy_names)?).await
}

/// What is wrong with a registration, by the names that stand in this request.
fn with_legacy_names(fault: Fault) -> Fault {
    let path = |field: &str| match field {
        "loginId.email" => "email".to_owned(),
        "profile.privacyStatus" => "profilePrivacyStatus".to_owned(),
        _ => match field.strip_prefix("profile") {
            // Values stand beside their field's name.
            Some(rest) if rest.starts_with(".customFields[") => {
                format!("contactInfo{}", rest.replacen("].value", "]", 1))
            }
            Some(rest) => format!("contactInfo{rest}"),
            None => field.to_owned(),
        },
    };
    let violations = fault.violations().iter().map(|it| Violation { field: path(&it.field), ..it.clone() });
    let violations = violations.collect();
    fault.violating(violations)
}

/// `POST …/api/v1/auth/login`.
pub(crate) async fn login(State(app): State<App>, mut request: ClientCall) -> Answer {
    let (email, password) = (request.call.text("email").to_owned(), Secret::new(request.call.text("password")));
    let attempt = request.attempt();
    request.call.forget_data();
    let outcome = app.identity.member_login(&request.call.site, &attempt, &email, &password).await?;
    signed(&app, &request.call, outcome).await
}

/// `POST …/v1/auth/members/send-set-password-email`: answers alike whether or not the address is known.
pub(crate) async fn send_set_password_email(State(app): State<App>, request: ClientCall) -> Answer {
    let (site, info) = (&request.call.site, &request.info);
    let sent = json!({ "email": request.call.data["email"] });
    app.identity.recovery_send(site, &request.call.caller, info.address, &sent).await?;
    answer("accepted", true)
}

/// `PATCH …/api/v1/members/{id}/change-login-email`.
pub(crate) async fn change_login_email(State(app): State<App>, call: ApiCall) -> Answer {
    let id = MemberId::from(call.id.as_str());
    let member = app.identity.member_change_email(&call.site, &call.caller, &id, call.text("newEmail")).await?;
    answer("member", view(&member))
}

/// `POST …/api/v1/members/approve`: by id, address or the token that came with the registration.
pub(crate) async fn approve(State(app): State<App>, call: ApiCall) -> Answer {
    if call.text("token").is_empty() {
        let id = named(&app, &call).await?;
        app.identity.member_move(&call.site, &call.caller, &id, Move::Approve).await?;
    } else {
        app.identity.approval_by_token(&call.site, &call.caller, call.text("token")).await?;
    }
    answer("session", json!({}))
}

/// `POST …/api/v1/members/block`.
pub(crate) async fn block(State(app): State<App>, call: ApiCall) -> Answer {
    let id = named(&app, &call).await?;
    app.identity.member_move(&call.site, &call.caller, &id, Move::Block).await?;
    done()
}

async fn named(app: &App, call: &ApiCall) -> Result<MemberId, Fault> {
    if !call.caller.is_privileged() {
        return Err(Fault::new(Code::Forbidden));
    }
    match (call.text("id"), call.text("email")) {
        ("", "") => Err(invalid("id", "an id or an email address is expected")),
        ("", email) => {
            let email = Email::parse(email).ok_or_else(|| invalid("email", "the email address is not valid"))?;
            let found = app.identity.member_by_email(&call.site, &email).await?;
            found.map(|it| it.id).ok_or_else(|| Fault::new(Code::NotFound))
        }
        (id, _) => Ok(MemberId::from(id)),
    }
}

async fn signed(app: &App, call: &ApiCall, outcome: Outcome) -> Answer {
    match outcome {
        Outcome::Success { member, session_token } => {
            let session = json!({ "token": session_token.expose() });
            Ok(body::ok(&json!({ "session": session, "member": view(&member) })))
        }
        Outcome::RequireEmailVerification { state_token, .. } => {
            Err(Fault::new(Code::VerificationRequired).with("verificationId", state_token.expose()).into())
        }
        Outcome::RequireOwnerApproval { member } => {
            let token = app.identity.approval_token(&call.site, &member.id).await?;
            Ok(body::ok(&json!({ "member": view(&member), "approvalToken": token.expose() })))
        }
        Outcome::RequireMissingFields { member, .. } | Outcome::StatusCheck { member } => {
            answer("member", view(&member))
        }
        // Their answer has no place for a challenge.
        Outcome::MfaChallenge { .. } => Err(Fault::new(Code::FactorNeeded).into()),
        Outcome::RequireEnrolment { url, .. } => Err(Fault::new(Code::FactorNeeded).with("signInUrl", url).into()),
        Outcome::RequireFirstFactor { .. } => Err(Fault::internal("a password was not looked at").into()),
    }
}

fn view(member: &Member) -> Value {
    let profile = member.profile.to_json();
    let text = |name: &str| member.profile.text(name);
    let list = |name: &str| profile[name].as_array().cloned().unwrap_or_default();
    // As registrations have them: the value beside the name.
    let fields = list("customFields").into_iter().map(|mut custom_field| {
        let mut field = custom_field["value"].take().as_object().cloned().unwrap_or_default();
        field.insert("name".to_owned(), custom_field["name"].take());
        Value::Object(field)
    });
    without_nulls(json!({
        "id": member.id,
        "contactId": member.id,
        "loginEmail": member.email,
        "emailVerified": member.email_verified,
        "firstName": text("firstName"),
        "lastName": text("lastName"),
        "nickname": text("nickname"),
        "slug": text("slug"),
        "profilePrivacyStatus": if member.is_public { "PUBLIC" } else { "PRIVATE" },
        "status": member.shown_status(),
        "role": "MEMBER",
        "creationDate": iso_from_millis(member.created),
        "lastUpdateDate": iso_from_millis(member.updated),
        "lastLoginDate": member.last_login.map(iso_from_millis),
        "emails": list("emails"),
        "phones": list("phones"),
        "addresses": member.contact()["addresses"],
        "labels": list("labels"),
        "customFields": fields.collect::<Vec<_>>(),
        "groups": [],
    }))
}
