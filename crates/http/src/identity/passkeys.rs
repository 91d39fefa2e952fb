//! Passkeys as requests name them: the `webauthnData` of a sign-in or a proof, and a member's own, which `/_api/identity/v1/factors` has
//! beside other second factors: [`begin`], [`confirm`].

use super::{
    api_call::{Answer, ApiCall},
    factor_view::{enrolled, secret},
};
use crate::{App, RequestInfo};
use serde_json::{Value, json};
use stoa_identity::factor::{
    FactorType, PASSKEY_NAME, RelyingParty,
    passkey::{LONGEST_ASSERTION, LONGEST_ATTESTATION, Presented, PresentedNew},
};
use stoa_kernel::{Code, Fault, Result, Secret, Violation, date::iso_from_millis};

/// The name of the object.
const NAME: &str = "webauthnData";
/// Characters of a name that is read; how many it may have is for the factor.
const LONGEST_NAME: usize = 1_000;
/// Characters of a UUID.
const ID: usize = 36;

/// Whose passkeys the pages take that a request is for. None where a site was given the host that was asked and the host of
/// `public_url` is another one: browsers there have no passkeys of the latter.
///
/// # Errors
/// What the engine answers.
pub(super) async fn relying_party(app: &App, info: &RequestInfo) -> Result<Option<RelyingParty>> {
    let Some(at) = RelyingParty::of(&info.base_url) else { return Ok(None) };
    // A proxy may ask under a name of its own, which no site was given.
    let is_elsewhere = !at.is_host(&info.host) && app.store.site_of_host(&info.host).await?.is_some();
    Ok((!is_elsewhere).then_some(at))
}

/// What `webauthnData` holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WebauthnData {
    /// Nothing: the question is asked for.
    Question,
    /// What the browser brought, as JSON text.
    Answer { challenge_id: String, credential: Secret },
}

impl WebauthnData {
    /// Reads the object of a body, where there is one.
    pub(super) fn read(body: &Value, violations: &mut Vec<Violation>) -> Option<Self> {
        let data = match &body[NAME] {
            Value::Null => return None,
            data @ Value::Object(_) => data,
            _ => {
                violations.push(Violation::new(NAME, "FORMAT", "an object is expected"));
                return None;
            }
        };
        let [id, credential] = [("challengeId", ID), ("credential", LONGEST_ASSERTION)]
            .map(|(name, longest)| text(&data[name], &format!("{NAME}.{name}"), longest, violations));
        match (id, credential) {
            (Ok(None), Ok(None)) => Some(Self::Question),
            (Ok(Some(id)), Ok(Some(credential))) => {
                Some(Self::Answer { challenge_id: id.to_owned(), credential: Secret::new(credential) })
            }
            (Ok(id), Ok(_)) => {
                let missing = if id.is_none() { "challengeId" } else { "credential" };
                violations.push(Violation::new(format!("{NAME}.{missing}"), "REQUIRED_FIELD", "is required"));
                None
            }
            _ => None,
        }
    }
}

/// What the browser brought to these pages.
///
/// # Errors
/// [`Code::VerificationFailed`] when it is none of theirs.
pub(super) fn presented(challenge_id: &str, credential: &Secret, at: Option<&RelyingParty>) -> Result<Presented> {
    let presented = at.and_then(|at| Presented::read(challenge_id, credential, at));
    presented.ok_or_else(|| Fault::new(Code::VerificationFailed))
}

/// What a browser is asked that adds a passkey; the id of the factor is that of the challenge.
pub(super) async fn begin(app: &App, info: &RequestInfo, call: &ApiCall) -> Answer {
    let at = relying_party(app, info).await?;
    let begun = app.identity.passkey_begin(&call.site, &call.caller, at.as_ref()).await?;
    secret(&json!({
        "factor": { "id": begun.id(), "type": FactorType::Webauthn.name(), "name": PASSKEY_NAME },
        "options": begun.options(),
        "expiresDate": iso_from_millis(begun.expires()),
    }))
}

/// Whether a confirmation is that of a passkey, and not of a code.
pub(super) fn is_confirmed_by(body: &Value) -> bool {
    !body["credential"].is_null()
}

/// `{credential, name?}`: the answer to the challenge that the path names.
pub(super) async fn confirm(app: &App, info: &RequestInfo, call: &ApiCall) -> Answer {
    let mut violations = Vec::new();
    if !call.data["code"].is_null() {
        violations.push(Violation::new("code", "FIELD_NOT_ALLOWED", "a passkey has no code"));
    }
    let credential = text(&call.data["credential"], "credential", LONGEST_ATTESTATION, &mut violations);
    let name = text(&call.data["name"], "name", LONGEST_NAME, &mut violations);
    let (Ok(Some(credential)), Ok(name)) = (credential, name) else { return Err(Fault::invalid(violations).into()) };
    if !violations.is_empty() {
        return Err(Fault::invalid(violations).into());
    }
    let credential = Secret::new(credential);
    let at = relying_party(app, info).await?;
    let presented = at.and_then(|at| PresentedNew::read(&call.id, &credential, &at));
    let (site, caller) = (&call.site, &call.caller);
    enrolled(app.identity.passkey_confirm(site, caller, (presented.as_ref(), name), info.address).await?)
}

/// A text of a member of a request; nothing where there is none. The error has been noted.
fn text<'a>(
    value: &'a Value,
    path: &str,
    longest: usize,
    violations: &mut Vec<Violation>,
) -> std::result::Result<Option<&'a str>, ()> {
    let (rule, why) = match value {
        Value::Null => return Ok(None),
        Value::String(text) if text.chars().count() > longest => {
            ("MAX_LENGTH", format!("must be at most {longest} characters"))
        }
        Value::String(text) => return Ok(Some(text)),
        _ => ("FORMAT", "must be a string".to_owned()),
    };
    violations.push(Violation::new(path, rule, why));
    Err(())
}
