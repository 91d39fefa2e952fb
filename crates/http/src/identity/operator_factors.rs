//! Second factors of those who run a site, and the proof that their changes ask for (decision 60). The pages call with the cookie of
//! the session; what is sent and answered is as for members (`factors`).
//!
//! Below `/_api/account/v1/operator`: `GET` and `POST …/factors`: [`list`], [`begin`]; `POST …/factors/{id}/confirm`: [`confirm`];
//! `PATCH` and `DELETE …/factors/{id}`: [`rename`], [`remove`]; `POST …/recovery-codes`: [`renew_codes`]; `POST …/proof`: [`prove`].

use super::{
    api_call::{Answer, done},
    browser::Visit,
    factor_view::{begun, enrolled, passkey_begun, secret, view},
    factors::{self, Asked, Wanted, first_code, wanted},
    page_call::PageCall,
    passkeys,
    verification::Fields,
};
use crate::App;
use axum::extract::{Path, State, rejection::PathRejection};
use serde_json::{Value, json};
use stoa_identity::{
    DeviceHints,
    defence::Attempt,
    factor::FactorType,
    sign_in::operator_factor::{KINDS, own::OperatorFactorList},
};
use stoa_kernel::{Code, Fault, Result, Violation, date::iso_from_millis};

type Id = Result<Path<String>, PathRejection>;

/// `GET …/factors`: what the person has.
pub(crate) async fn list(State(app): State<App>, visit: Visit) -> Answer {
    visit.require_same_origin()?;
    let session = visit.operator(&app).await?;
    let found = app.identity.operator_factor_list(&session).await?;
    let OperatorFactorList { policy, mut addable, factors, recovery_codes_left, proved_until } = found;
    if visit.browser.relying_party.is_none() {
        addable.retain(|it| *it != FactorType::Webauthn);
    }
    let mut shown = json!({
        "policy": policy.name(),
        "addable": addable.into_iter().map(FactorType::name).collect::<Vec<_>>(),
        "factors": factors.iter().map(view).collect::<Vec<_>>(),
        "recoveryCodesLeft": recovery_codes_left,
    });
    if let Some(until) = proved_until {
        shown["provedUntil"] = json!(iso_from_millis(until));
    }
    secret(&shown)
}

/// `POST …/factors` `{type?, name?}`: an authenticator that waits for its first code, or the question for a passkey.
pub(crate) async fn begin(State(app): State<App>, PageCall { visit, body }: PageCall<Value>) -> Answer {
    let session = visit.operator(&app).await?;
    let body = object(body)?;
    let Wanted { factor, name, .. } = wanted(&body, &KINDS)?;
    if factor == FactorType::Webauthn {
        let at = visit.browser.relying_party.as_ref();
        return passkey_begun(&app.identity.operator_passkey_begin(&session, at).await?);
    }
    begun(app.identity.operator_factor_begin(&session, name).await?)
}

/// `POST …/factors/{id}/confirm` `{code}`: its first code; of a passkey `{credential, name?}`.
pub(crate) async fn confirm(State(app): State<App>, id: Id, PageCall { visit, body }: PageCall<Value>) -> Answer {
    let session = visit.operator(&app).await?;
    let (id, body, from) = (read(id)?, object(body)?, visit.browser.address);
    if passkeys::is_confirmed_by(&body) {
        let (presented, name) = passkeys::presented_new(&app, &visit.info, &id, &body).await?;
        let presented = (presented.as_ref(), name);
        return enrolled(app.identity.operator_passkey_confirm(&session, presented, from).await?);
    }
    enrolled(app.identity.operator_factor_confirm(&session, &id, &first_code(&body)?, from).await?)
}

/// `PATCH …/factors/{id}` `{name}`.
pub(crate) async fn rename(State(app): State<App>, id: Id, PageCall { visit, body }: PageCall<Value>) -> Answer {
    let session = visit.operator(&app).await?;
    let (id, body) = (read(id)?, object(body)?);
    let mut fields = Fields::of(&body);
    let name = fields.text("name", None);
    fields.done()?;
    let factor = app.identity.operator_factor_rename(&session, (&id, name), visit.browser.address).await?;
    secret(&json!({ "factor": view(&factor) }))
}

/// `DELETE …/factors/{id}`.
pub(crate) async fn remove(State(app): State<App>, id: Id, visit: Visit) -> Answer {
    visit.require_same_origin()?;
    let session = visit.operator(&app).await?;
    app.identity.operator_factor_remove(&session, &read(id)?, visit.browser.address).await?;
    done()
}

/// `POST …/recovery-codes` `{}`: new ones; those before end.
pub(crate) async fn renew_codes(State(app): State<App>, PageCall { visit, .. }: PageCall<Value>) -> Answer {
    let session = visit.operator(&app).await?;
    let codes = app.identity.operator_recovery_codes_renew(&session, visit.browser.address).await?;
    secret(&json!({ "recoveryCodes": codes }))
}

/// `POST …/proof` `{password}`, or the object of a second factor: who the person is, once more. That of a passkey without anything is
/// answered the question.
pub(crate) async fn prove(State(app): State<App>, PageCall { visit, body }: PageCall<Value>) -> Answer {
    let session = visit.operator(&app).await?;
    let at = visit.browser.relying_party.as_ref();
    let proof = match factors::proof(&object(body)?, &KINDS, at)? {
        Asked::Proof(proof) => *proof,
        Asked::Code(_) => {
            let request = app.identity.operator_prove_request(&session, at).await?;
            return secret(&json!({ "webauthnData": request.to_webauthn_data() }));
        }
    };
    let browser = &visit.browser;
    let hints = DeviceHints { cookie: browser.device.clone(), user_agent: browser.user_agent.clone() };
    let attempt = Attempt { address: browser.address, visitor: None, client: None, hints, captcha: None };
    let until = app.identity.operator_prove(&session, &attempt, &proof).await?;
    secret(&json!({ "provedUntil": iso_from_millis(until) }))
}

/// What the path names.
fn read(id: Id) -> Result<String> {
    let id = id.map(|Path(id)| id).map_err(|it| Fault::new(Code::NotFound).logged(it))?;
    if id.contains('\0') { Err(Fault::because(Code::NotFound, "no id holds U+0000")) } else { Ok(id) }
}

/// A body has members.
fn object(body: Value) -> Result<Value> {
    match body {
        Value::Object(_) => Ok(body),
        _ => Err(Fault::invalid(vec![Violation::new("", "FORMAT", "an object is expected")])),
    }
}
