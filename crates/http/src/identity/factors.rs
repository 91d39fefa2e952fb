//! Second factors: the one that a sign-in asks for (docs/protocol/identity.md §6, MFA verify), and a member's own, for which
//! the public packages have no calls.
//!
//! `POST /v2/{factorType}/verify`: [`verify`]. `/_api/identity/v1/factors`: [`list`], [`begin`]; below it [`confirm`],
//! [`remove`]. `/_api/identity/v1/recovery-codes`: [`renew_codes`]. `/_api/identity/v1/remembered-browsers`: [`forget`].
//! `/_api/identity/v1/proof`: [`prove`]. `/_api/identity/v1/members/{id}/factors`: [`reset`].

use super::{
    api_call::{Answer, ApiCall, done},
    authentication::origin,
    browser::hints,
    verification::Fields,
};
use crate::{App, Call, Problem, RequestInfo, body, body::Json};
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use serde_json::{Value, json};
use stoa_identity::{
    defence::Attempt,
    factor::{EmailEnrolment, Enrolled, Enrolment, FactorList, FactorType, MemberFactor, Proof, Shown},
    sign_in::SubmittedFactor,
};
use stoa_kernel::{Code, Email, Fault, MemberId, Result, Secret, Violation, date::iso_from_millis};

/// Characters of a code.
const LONGEST: usize = 100;
/// The objects of the factors that are not built (docs/protocol/identity.md §6).
const OTHERS: [&str; 5] = ["smsData", "callData", "pushData", "webauthnData", "passwordData"];

/// `POST /v2/{factorType}/verify`.
pub(crate) async fn verify(
    State(app): State<App>,
    path: Result<Path<String>, PathRejection>,
    call: Call,
    info: RequestInfo,
    Json(body): Json,
) -> Result<Response, Problem> {
    let named = path.map(|Path(name)| name).map_err(|it| Fault::new(Code::NotFound).logged(it))?;
    let mut fields = Fields::of(&body);
    let factor = factor_type(&named, &body, &mut fields.violations);
    let state_token = fields.text("stateToken", None);
    let remembers = match &body["rememberThisDevice"] {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        _ => {
            fields.violations.push(Violation::new("rememberThisDevice", "FORMAT", "true or false is expected"));
            false
        }
    };
    let mut code = None;
    for known in FactorType::ALL {
        let given = code_of(&body, known, &mut fields.violations);
        match given {
            Some(_) if factor != Some(known) => {
                let why = "it does not go with the factor of the path";
                fields.violations.push(Violation::new(data_name(known), "FIELD_NOT_ALLOWED", why));
            }
            given => code = code.or(given),
        }
    }
    for name in OTHERS.into_iter().filter(|name| !body[*name].is_null()) {
        fields.violations.push(Violation::new(name, "FIELD_NOT_ALLOWED", "this factor is not built"));
    }
    fields.done()?;
    let Some(factor) = factor else { return Err(Fault::internal("a factor was not looked at").into()) };
    let submitted = SubmittedFactor { factor, code, remembers };
    let outcome = app.identity.factor_verify(&call.site, state_token, submitted, origin(&call.caller, &info)).await?;
    Ok(body::ok(&outcome.to_json()))
}

/// `GET /_api/identity/v1/factors`: what the caller has.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    let found = app.identity.factor_list(&call.site, &call.caller).await?;
    let FactorList { policy, factors, recovery_codes_left, remembered_browsers, proved_until } = found;
    let mut view = json!({
        "policy": policy.name(),
        "factors": factors.iter().map(view).collect::<Vec<_>>(),
        "recoveryCodesLeft": recovery_codes_left,
        "rememberedBrowsers": remembered_browsers,
    });
    if let Some(until) = proved_until {
        view["provedUntil"] = json!(iso_from_millis(until));
    }
    secret(&view)
}

/// `POST /_api/identity/v1/factors` `{type?, name?}`: an authenticator, or codes by e-mail, that wait for the first code.
pub(crate) async fn begin(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let (factor, name) = wanted(&call.data)?;
    if factor == FactorType::Email {
        let EmailEnrolment { id, name, email, expires } =
            app.identity.factor_begin_email(&call.site, &call.caller, info.address).await?;
        return secret(&json!({
            "factor": { "id": id, "type": factor.name(), "name": name },
            "sentTo": hint(&email),
            "expiresDate": iso_from_millis(expires),
        }));
    }
    let Enrolment { id, name, secret: shared, uri, expires } =
        app.identity.factor_begin(&call.site, &call.caller, name).await?;
    secret(&json!({
        "factor": { "id": id, "type": FactorType::Totp.name(), "name": name },
        "secret": shared.expose(),
        "uri": uri.expose(),
        "expiresDate": iso_from_millis(expires),
    }))
}

/// `POST /_api/identity/v1/factors/{id}/confirm` `{code}`: its first code.
pub(crate) async fn confirm(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let mut violations = Vec::new();
    let code = code_at(&call.data, "code", "code", &mut violations);
    let code = match code {
        Some(code) if violations.is_empty() => code,
        None if violations.is_empty() => {
            return Err(Fault::invalid(vec![Violation::new("code", "REQUIRED_FIELD", "is required")]).into());
        }
        _ => return Err(Fault::invalid(violations).into()),
    };
    let Enrolled { factor, recovery_codes } =
        app.identity.factor_confirm(&call.site, &call.caller, &call.id, &code, info.address).await?;
    let mut answer = json!({ "factor": view(&factor) });
    if let Some(codes) = recovery_codes {
        answer["recoveryCodes"] = json!(codes);
    }
    secret(&answer)
}

/// `DELETE /_api/identity/v1/factors/{id}`.
pub(crate) async fn remove(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    app.identity.factor_remove(&call.site, &call.caller, &call.id, info.address).await?;
    done()
}

/// `POST /_api/identity/v1/recovery-codes`: new ones; those before end.
pub(crate) async fn renew_codes(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let codes = app.identity.recovery_codes_renew(&call.site, &call.caller, info.address).await?;
    secret(&json!({ "recoveryCodes": codes }))
}

/// `DELETE /_api/identity/v1/remembered-browsers`: all of them.
pub(crate) async fn forget(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    app.identity.remembered_browsers_forget(&call.site, &call.caller, info.address).await?;
    done()
}

/// `POST /_api/identity/v1/proof` `{password}`, `{totpData}`, `{emailData}` or `{recoveryCodeData}`: who the caller is, once more.
/// `emailData` without a code has one sent.
pub(crate) async fn prove(State(app): State<App>, info: RequestInfo, headers: HeaderMap, mut call: ApiCall) -> Answer {
    let attempt =
        Attempt { address: info.address, visitor: None, client: None, hints: hints(&headers, &info), captcha: None };
    let Some(proof) = proof(&call.data)? else {
        let email = app.identity.member_prove_send(&call.site, &call.caller, info.address).await?;
        return secret(&json!({ "sentTo": hint(&email) }));
    };
    // Nothing of it is kept while this request waits for its hash.
    call.forget_data();
    let until = app.identity.member_prove(&call.site, &call.caller, &attempt, &proof).await?;
    secret(&json!({ "provedUntil": iso_from_millis(until) }))
}

/// `DELETE /_api/identity/v1/members/{id}/factors`: all of a member who has lost them.
pub(crate) async fn reset(State(app): State<App>, call: ApiCall) -> Answer {
    let member = MemberId::from(call.id.as_str());
    let removed = app.identity.factors_reset(&call.site, &call.caller, &member).await?;
    Ok(body::ok(&json!({ "removed": removed })))
}

/// What kind of factor is to be added, and how it is called.
fn wanted(data: &Value) -> Result<(FactorType, Option<&str>)> {
    let mut violations = Vec::new();
    let factor = match &data["type"] {
        Value::Null => FactorType::Totp,
        it if *it == FactorType::Totp.name() => FactorType::Totp,
        it if *it == FactorType::Email.name() => FactorType::Email,
        _ => {
            violations.push(Violation::new("type", "INVALID_ENUM_VALUE", "members add TOTP and EMAIL"));
            FactorType::Totp
        }
    };
    let name = match &data["name"] {
        Value::Null => None,
        Value::String(_) if factor == FactorType::Email => {
            violations.push(Violation::new("name", "FIELD_NOT_ALLOWED", "codes by e-mail have no name"));
            None
        }
        Value::String(name) => Some(name.as_str()),
        _ => {
            violations.push(Violation::new("name", "FORMAT", "text is expected"));
            None
        }
    };
    if violations.is_empty() { Ok((factor, name)) } else { Err(Fault::invalid(violations)) }
}

/// An address as it is shown to who may have a stolen session alone.
fn hint(email: &str) -> String {
    Email::parse(email).map_or_else(|| "***".to_owned(), |it| it.hint())
}

fn view(factor: &MemberFactor) -> Value {
    let MemberFactor { id, factor, name, created, used } = factor;
    let mut view = json!({ "id": id, "type": factor.name(), "name": name,
        "createdDate": iso_from_millis(*created) });
    if let Some(used) = used {
        view["lastUsedDate"] = json!(iso_from_millis(*used));
    }
    view
}

/// The factor that a path names, which the body may repeat.
fn factor_type(named: &str, body: &Value, violations: &mut Vec<Violation>) -> Option<FactorType> {
    let found = FactorType::ALL.into_iter().find(|it| it.name() == named);
    if found.is_none() {
        let why = "the server has TOTP, EMAIL and RECOVERY_CODE";
        violations.push(Violation::new("factorType", "INVALID_ENUM_VALUE", why));
    } else if !body["factorType"].is_null() && body["factorType"] != named {
        violations.push(Violation::new("factorType", "VALIDATION", "it is not the one of the path"));
    }
    found
}

/// Nothing where a code by e-mail is to be sent first.
fn proof(data: &Value) -> Result<Option<Proof>> {
    let mut violations = Vec::new();
    let mut proofs = Vec::new();
    match &data["password"] {
        Value::Null => {}
        Value::String(password) => proofs.push(Proof::Password(Secret::new(password.as_str()))),
        _ => violations.push(Violation::new("password", "FORMAT", "text is expected")),
    }
    for factor in FactorType::ALL {
        let code = code_of(data, factor, &mut violations);
        proofs.extend(code.map(|code| Proof::Factor(Shown { factor, code })));
    }
    let names = FactorType::ALL.into_iter().map(data_name).chain(["password"]);
    let given = names.filter(|it| !data[*it].is_null()).count();
    let is_to_be_sent = data["emailData"].is_object();
    if (given != 1 || proofs.is_empty() && !is_to_be_sent) && violations.is_empty() {
        let why = "one of password, totpData.code, emailData and recoveryCodeData.code is expected";
        violations.push(Violation::new("password", "REQUIRED_ONE_OF_FIELD", why));
    }
    if violations.is_empty() { Ok(proofs.pop()) } else { Err(Fault::invalid(violations)) }
}

/// The member of a request that holds the code of a factor.
fn data_name(factor: FactorType) -> &'static str {
    match factor {
        FactorType::Totp => "totpData",
        FactorType::Email => "emailData",
        FactorType::RecoveryCode => "recoveryCodeData",
    }
}

/// The code in the object of a factor; nothing where there is none of either.
fn code_of(body: &Value, factor: FactorType, violations: &mut Vec<Violation>) -> Option<Secret> {
    let name = data_name(factor);
    match &body[name] {
        Value::Null => None,
        data @ Value::Object(_) => code_at(data, "code", &format!("{name}.code"), violations),
        _ => {
            violations.push(Violation::new(name, "FORMAT", "an object is expected"));
            None
        }
    }
}

fn code_at(data: &Value, name: &str, path: &str, violations: &mut Vec<Violation>) -> Option<Secret> {
    let (rule, why) = match &data[name] {
        Value::Null => return None,
        Value::String(code) if code.is_empty() => ("MIN_LENGTH", "must have a character".to_owned()),
        Value::String(code) if code.chars().count() > LONGEST => {
            ("MAX_LENGTH", format!("must be at most {LONGEST} characters"))
        }
        Value::String(code) => return Some(Secret::new(code.as_str())),
        _ => ("FORMAT", "must be a string".to_owned()),
    };
    violations.push(Violation::new(path, rule, why));
    None
}

/// An answer that no cache keeps.
fn secret(value: &Value) -> Answer {
    let mut response = body::ok(value);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
