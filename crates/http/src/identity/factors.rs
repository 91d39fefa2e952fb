//! Second factors: the one that a sign-in asks for (docs/protocol/identity.md §6, MFA verify), and a member's own, for which
//! the public packages have no calls.
//!
//! `POST /v2/{factorType}/verify`: [`verify`]. `/_api/identity/v1/factors`: [`list`], [`begin`]; below it [`confirm`],
//! [`rename`], [`remove`]. `/_api/identity/v1/recovery-codes`: [`renew_codes`]. `/_api/identity/v1/remembered-browsers`: [`forget`].
//! `/_api/identity/v1/proof`: [`prove`]. `/_api/identity/v1/members/{id}/factors`: [`reset`].

use super::{
    api_call::{Answer, ApiCall, done},
    authentication::{answered, origin},
    browser::hints,
    factor_view::{begun, enrolled, secret, view},
    passkeys::{self, WebauthnData, presented, relying_party},
    push::{self, PushData},
    verification::Fields,
};
use crate::{App, Call, Problem, RequestInfo, body, body::Json, extract::text};
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};
use serde_json::{Value, json};
use stoa_identity::{
    defence::Attempt,
    factor::{FactorList, FactorType, Proof, ProofAsked, RelyingParty, SentEnrolment, Shown},
    sign_in::{CallOrigin, SubmittedFactor},
};
use stoa_kernel::{Code, Fault, MemberId, Result, Secret, Violation, date::iso_from_millis};

/// Characters of a code.
const LONGEST: usize = 100;
/// Characters of a number as it was typed.
const LONGEST_NUMBER: usize = 40;

/// `POST /v2/{factorType}/verify`.
pub(crate) async fn verify(
    State(app): State<App>,
    path: Result<Path<String>, PathRejection>,
    call: Call,
    info: RequestInfo,
    headers: HeaderMap,
    Json(body): Json,
) -> Result<Response, Problem> {
    let named = path.map(|Path(name)| name).map_err(|it| Fault::new(Code::NotFound).logged(it))?;
    let mut fields = Fields::of(&body);
    let kinds = app.identity.factor_kinds();
    let factor = factor_type(&named, &kinds, &body, &mut fields.violations);
    let state_token = fields.text("stateToken", None);
    let remembers = match &body["rememberThisDevice"] {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        _ => {
            fields.violations.push(Violation::new("rememberThisDevice", "FORMAT", "true or false is expected"));
            false
        }
    };
    let at = relying_party(&app, &info).await?;
    let mut shown = None;
    for known in kinds.iter().copied() {
        let given = shown_of(&body, known, at.as_ref(), &mut fields.violations);
        match given {
            Some(_) if factor != Some(known) => {
                let why = "it does not go with the factor of the path";
                fields.violations.push(Violation::new(known.data_name(), "FIELD_NOT_ALLOWED", why));
            }
            given => shown = shown.or(given),
        }
    }
    refuse_others(&body, &kinds, &mut fields.violations);
    fields.done()?;
    let Some(factor) = factor else { return Err(Fault::internal("a factor was not looked at").into()) };
    let submitted = SubmittedFactor { factor, shown, remembers };
    let from = CallOrigin { user_agent: text(&headers, "user-agent"), ..origin(&call.caller, &info) };
    let outcome = app.identity.factor_verify(&call.site, state_token, submitted, from).await?;
    answered(&app, &call.site, &info, outcome).await
}

/// `GET /_api/identity/v1/factors`: what the caller has.
pub(crate) async fn list(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let found = app.identity.factor_list(&call.site, &call.caller).await?;
    let FactorList { policy, mut addable, factors, recovery_codes_left, remembered_browsers, proved_until } = found;
    // Pages without a secure origin have neither.
    let is_secure = relying_party(&app, &info).await?.is_some();
    if !is_secure {
        addable.retain(|it| !matches!(it, FactorType::Webauthn | FactorType::Push));
    }
    let push_key = match addable.contains(&FactorType::Push) {
        true => app.identity.push_key(&call.site).await,
        false => None,
    };
    if push_key.is_none() {
        addable.retain(|it| *it != FactorType::Push);
    }
    let mut view = json!({
        "policy": policy.name(),
        "addable": addable.into_iter().map(FactorType::name).collect::<Vec<_>>(),
        "factors": factors.iter().map(view).collect::<Vec<_>>(),
        "recoveryCodesLeft": recovery_codes_left,
        "rememberedBrowsers": remembered_browsers,
    });
    if let Some(key) = push_key {
        view["pushKey"] = json!(key);
    }
    if let Some(until) = proved_until {
        view["provedUntil"] = json!(iso_from_millis(until));
    }
    secret(&view)
}

/// `POST /_api/identity/v1/factors` `{type?, name?, phone?, subscription?}`: an authenticator, codes that are sent, or a browser, that
/// wait for the first code; or the question for a passkey.
pub(crate) async fn begin(State(app): State<App>, info: RequestInfo, headers: HeaderMap, call: ApiCall) -> Answer {
    let Wanted { factor, name, phone } = wanted(&call.data, &app.identity.factor_kinds())?;
    if factor == FactorType::Webauthn {
        return passkeys::begin(&app, &info, &call).await;
    }
    if factor == FactorType::Password {
        return enrolled(app.identity.factor_add_password(&call.site, &call.caller, info.address).await?);
    }
    if factor == FactorType::Push {
        return push::begin(&app, &info, text(&headers, "user-agent"), name, &call).await;
    }
    if factor.is_sent() {
        let (site, caller) = (&call.site, &call.caller);
        let begun = match phone {
            Some(number) => app.identity.factor_begin_phone(site, caller, (factor, number), info.address).await?,
            None => app.identity.factor_begin_email(site, caller, info.address).await?,
        };
        let SentEnrolment { id, name, sent_to, expires } = begun;
        return secret(&json!({
            "factor": { "id": id, "type": factor.name(), "name": name },
            "sentTo": sent_to,
            "expiresDate": iso_from_millis(expires),
        }));
    }
    begun(app.identity.factor_begin(&call.site, &call.caller, name).await?)
}

/// `POST /_api/identity/v1/factors/{id}/confirm` `{code}`: its first code; of a passkey `{credential, name?}`.
pub(crate) async fn confirm(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    if passkeys::is_confirmed_by(&call.data) {
        return passkeys::confirm(&app, &info, &call).await;
    }
    let code = first_code(&call.data)?;
    enrolled(app.identity.factor_confirm(&call.site, &call.caller, &call.id, &code, info.address).await?)
}

/// `PATCH /_api/identity/v1/factors/{id}` `{name}`: an authenticator, a passkey or a browser.
pub(crate) async fn rename(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let mut fields = Fields::of(&call.data);
    let name = fields.text("name", None);
    fields.done()?;
    let factor = app.identity.factor_rename(&call.site, &call.caller, (&call.id, name), info.address).await?;
    secret(&json!({ "factor": view(&factor) }))
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

/// `POST /_api/identity/v1/proof` `{password}`, or the object of a second factor: who the caller is, once more. That of one whose
/// codes are sent has one sent where it has no code, that of `PUSH` without a transaction has the member's browsers asked, and that of a
/// passkey without one is answered the question.
pub(crate) async fn prove(State(app): State<App>, info: RequestInfo, headers: HeaderMap, mut call: ApiCall) -> Answer {
    let attempt =
        Attempt { address: info.address, visitor: None, client: None, hints: hints(&headers, &info), captcha: None };
    let at = relying_party(&app, &info).await?;
    let mut kinds = app.identity.factor_kinds();
    // It has a member of its own here.
    kinds.retain(|it| *it != FactorType::Password);
    let proof = match proof(&call.data, &kinds, at.as_ref())? {
        Asked::Proof(proof) => *proof,
        Asked::Code(FactorType::Webauthn) => {
            let request = app.identity.member_prove_request(&call.site, &call.caller, at.as_ref()).await?;
            return secret(&json!({ "webauthnData": request.to_webauthn_data() }));
        }
        Asked::Code(factor) => {
            let asked = app.identity.member_prove_send(&call.site, &call.caller, factor, &attempt).await?;
            return match asked {
                ProofAsked::SentTo(sent_to) => secret(&json!({ "sentTo": sent_to })),
                ProofAsked::Question(question) => secret(&push::asked(&question)),
            };
        }
    };
    if let Proof::Factor(Shown::Push { transaction }) = &proof
        && let Some(waits) = app.identity.member_prove_waits(&call.site, &call.caller, transaction).await?
    {
        return secret(&push::asked(&waits));
    }
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

/// The first code of a factor.
///
/// # Errors
/// [`Code::Validation`].
pub(super) fn first_code(data: &Value) -> Result<Secret> {
    let mut violations = Vec::new();
    if !data["name"].is_null() {
        let why = "it was named when it was begun";
        violations.push(Violation::new("name", "FIELD_NOT_ALLOWED", why));
    }
    match code_at(data, "code", "code", &mut violations) {
        Some(code) if violations.is_empty() => Ok(code),
        None if violations.is_empty() => {
            Err(Fault::invalid(vec![Violation::new("code", "REQUIRED_FIELD", "is required")]))
        }
        _ => Err(Fault::invalid(violations)),
    }
}

/// A factor that is to be added.
pub(super) struct Wanted<'a> {
    pub factor: FactorType,
    /// Of an authenticator, as its member calls it.
    pub name: Option<&'a str>,
    /// Where the codes go of those that go to a number.
    phone: Option<&'a str>,
}

/// Reads what is to be added, of the kinds that there are.
///
/// # Errors
/// [`Code::Validation`].
pub(super) fn wanted<'a>(data: &'a Value, kinds: &[FactorType]) -> Result<Wanted<'a>> {
    let mut violations = Vec::new();
    let mut addable = kinds.iter().copied().filter(|it| *it != FactorType::RecoveryCode);
    let factor = match &data["type"] {
        Value::Null => FactorType::Totp,
        named => addable.find(|it| *named == it.name()).unwrap_or_else(|| {
            let kinds = kinds.iter().copied().filter(|it| *it != FactorType::RecoveryCode);
            let why = format!("{} can be added", names(kinds));
            violations.push(Violation::new("type", "INVALID_ENUM_VALUE", why));
            FactorType::Totp
        }),
    };
    let goes_to_phone = matches!(factor, FactorType::Sms | FactorType::Call);
    let name = match &data["name"] {
        Value::Null => None,
        Value::String(_) if factor.is_sent() => {
            violations.push(Violation::new("name", "FIELD_NOT_ALLOWED", "codes that are sent have no name"));
            None
        }
        Value::String(_) if factor == FactorType::Password => {
            violations.push(Violation::new("name", "FIELD_NOT_ALLOWED", "the password has no name"));
            None
        }
        Value::String(_) if factor == FactorType::Webauthn => {
            let why = "a passkey gets its name when it is confirmed";
            violations.push(Violation::new("name", "FIELD_NOT_ALLOWED", why));
            None
        }
        Value::String(name) => Some(name.as_str()),
        _ => {
            violations.push(Violation::new("name", "FORMAT", "text is expected"));
            None
        }
    };
    let phone = match &data["phone"] {
        Value::Null => {
            if goes_to_phone {
                violations.push(Violation::new("phone", "REQUIRED_FIELD", "is required"));
            }
            None
        }
        Value::String(_) if !goes_to_phone => {
            violations.push(Violation::new("phone", "FIELD_NOT_ALLOWED", "it goes with SMS and CALL"));
            None
        }
        Value::String(number) if number.chars().count() <= LONGEST_NUMBER => Some(number.as_str()),
        Value::String(_) => {
            let why = format!("must be at most {LONGEST_NUMBER} characters");
            violations.push(Violation::new("phone", "MAX_LENGTH", why));
            None
        }
        _ => {
            violations.push(Violation::new("phone", "FORMAT", "text is expected"));
            None
        }
    };
    if factor != FactorType::Push && !data["subscription"].is_null() {
        violations.push(Violation::new("subscription", "FIELD_NOT_ALLOWED", "it goes with PUSH"));
    }
    if violations.is_empty() { Ok(Wanted { factor, name, phone }) } else { Err(Fault::invalid(violations)) }
}

/// Names of factors, for a sentence.
fn names(factors: impl Iterator<Item = FactorType>) -> String {
    factors.map(FactorType::name).collect::<Vec<_>>().join(", ")
}

/// The factor that a path names, which the body may repeat.
fn factor_type(named: &str, kinds: &[FactorType], body: &Value, violations: &mut Vec<Violation>) -> Option<FactorType> {
    let found = kinds.iter().copied().find(|it| it.name() == named);
    if found.is_none() {
        let why = format!("the server has {}", names(kinds.iter().copied()));
        violations.push(Violation::new("factorType", "INVALID_ENUM_VALUE", why));
    } else if !body["factorType"].is_null() && body["factorType"] != named {
        violations.push(Violation::new("factorType", "VALIDATION", "it is not the one of the path"));
    }
    found
}

/// Refuses the objects of factors that the server doesn't have.
fn refuse_others(body: &Value, kinds: &[FactorType], violations: &mut Vec<Violation>) {
    let off = FactorType::ALL.into_iter().filter(|it| !kinds.contains(it)).map(FactorType::data_name);
    for name in off.filter(|name| !body[*name].is_null()) {
        violations.push(Violation::new(name, "FIELD_NOT_ALLOWED", "this factor is not built"));
    }
}

/// What a proof comes to.
pub(super) enum Asked {
    Proof(Box<Proof>),
    /// That a code of this factor is sent first, that browsers are asked, or what a passkey is asked.
    Code(FactorType),
}

/// Reads what is shown as proof, of the kinds that there are, to a server that is reached as `at`.
///
/// # Errors
/// [`Code::Validation`].
pub(super) fn proof(data: &Value, kinds: &[FactorType], at: Option<&RelyingParty>) -> Result<Asked> {
    let mut violations = Vec::new();
    let mut asked = Vec::new();
    match &data["password"] {
        Value::Null => {}
        Value::String(password) => asked.push(Asked::Proof(Box::new(Proof::Password(Secret::new(password.as_str()))))),
        _ => violations.push(Violation::new("password", "FORMAT", "text is expected")),
    }
    for factor in kinds.iter().copied() {
        let can_be_asked = factor.is_sent() || matches!(factor, FactorType::Webauthn | FactorType::Push);
        match shown_of(data, factor, at, &mut violations) {
            Some(shown) => asked.push(Asked::Proof(Box::new(Proof::Factor(shown)))),
            None if can_be_asked && data[factor.data_name()].is_object() => asked.push(Asked::Code(factor)),
            None => {}
        }
    }
    refuse_others(data, kinds, &mut violations);
    let given = FactorType::ALL.into_iter().map(FactorType::data_name).chain(["password"]);
    let given = given.filter(|it| !data[*it].is_null()).count();
    if (given != 1 || asked.is_empty()) && violations.is_empty() {
        let why = format!("one of password, {} is expected", data_names(kinds));
        violations.push(Violation::new("password", "REQUIRED_ONE_OF_FIELD", why));
    }
    match asked.pop() {
        Some(asked) if violations.is_empty() => Ok(asked),
        _ => Err(Fault::invalid(violations)),
    }
}

fn data_names(kinds: &[FactorType]) -> String {
    kinds.iter().map(|it| it.data_name()).collect::<Vec<_>>().join(", ")
}

/// What the object of a factor shows, to a server that is reached as `at`; nothing where there is none, or one without anything.
fn shown_of(
    body: &Value,
    factor: FactorType,
    at: Option<&RelyingParty>,
    violations: &mut Vec<Violation>,
) -> Option<Shown> {
    match factor {
        FactorType::Webauthn => match WebauthnData::read(body, violations)? {
            WebauthnData::Question => None,
            WebauthnData::Answer { challenge_id, credential } => {
                Some(Shown::Passkey(presented(&challenge_id, &credential, at)))
            }
        },
        FactorType::Push => match PushData::read(body, violations)? {
            PushData::Question => None,
            PushData::Answer { transaction } => Some(Shown::Push { transaction }),
        },
        factor => code_of(body, factor, violations).map(|code| Shown::Code { factor, code }),
    }
}

/// The code in the object of a factor; nothing where there is none of either.
fn code_of(body: &Value, factor: FactorType, violations: &mut Vec<Violation>) -> Option<Secret> {
    let name = factor.data_name();
    match &body[name] {
        Value::Null => None,
        data @ Value::Object(_) if factor == FactorType::Sms => {
            refuse_other_ways(data, violations);
            code_at(data, "code", &format!("{name}.code"), violations)
        }
        data @ Value::Object(_) if factor == FactorType::Password => {
            code_at(data, "password", &format!("{name}.password"), violations)
        }
        data @ Value::Object(_) => code_at(data, "code", &format!("{name}.code"), violations),
        _ => {
            violations.push(Violation::new(name, "FORMAT", "an object is expected"));
            None
        }
    }
}

/// Messages go as SMS, in the words of the server.
fn refuse_other_ways(data: &Value, violations: &mut Vec<Violation>) {
    if !data["deliveryMethod"].is_null() && data["deliveryMethod"] != "SMS" {
        violations.push(Violation::new("smsData.deliveryMethod", "INVALID_ENUM_VALUE", "must be SMS"));
    }
    if !data["templateId"].is_null() {
        let why = "messages have no templates";
        violations.push(Violation::new("smsData.templateId", "FIELD_NOT_ALLOWED", why));
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
