//! Passkeys as requests name them: the `webauthnData` of a sign-in or a proof, and a member's own, which `/_api/identity/v1/factors` has
//! beside other second factors: [`begin`], [`confirm`].

use super::{
    api_call::{Answer, ApiCall},
    factor_view::{enrolled, passkey_begun},
};
use crate::{App, RequestInfo};
use serde_json::Value;
use stoa_identity::factor::{
    RelyingParty,
    passkey::{LONGEST_ASSERTION, LONGEST_ATTESTATION, Presented, PresentedNew},
};
use stoa_kernel::{Fault, Result, Secret, Violation};
use url::Url;

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
    Ok((!is_at_sites_host(app, info).await?).then_some(at))
}

/// Whether a request came to a host that a site has for itself while the account pages are at another.
pub(super) async fn is_at_sites_host(app: &App, info: &RequestInfo) -> Result<bool> {
    let own = Url::parse(&info.base_url).ok();
    let is_own = own.is_some_and(|it| it.host_str().is_some_and(|own| own.eq_ignore_ascii_case(&info.host)));
    // A proxy may ask under a name of its own, which no site was given.
    Ok(!is_own && app.store.site_of_host(&info.host).await?.is_some())
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

/// What the browser brought to these pages; nothing when it is none of theirs.
pub(super) fn presented(challenge_id: &str, credential: &Secret, at: Option<&RelyingParty>) -> Option<Presented> {
    Presented::read(challenge_id, credential, at?)
}

/// What a browser is asked that adds a passkey; the id of the factor is that of the challenge.
pub(super) async fn begin(app: &App, info: &RequestInfo, call: &ApiCall) -> Answer {
    let at = relying_party(app, info).await?;
    passkey_begun(&app.identity.passkey_begin(&call.site, &call.caller, at.as_ref()).await?)
}

/// Whether a confirmation is that of a passkey, and not of a code.
pub(super) fn is_confirmed_by(body: &Value) -> bool {
    !body["credential"].is_null()
}

/// `{credential, name?}`: the answer to the challenge that the path names.
pub(super) async fn confirm(app: &App, info: &RequestInfo, call: &ApiCall) -> Answer {
    let (presented, name) = presented_new(app, info, &call.id, &call.data).await?;
    let (site, caller) = (&call.site, &call.caller);
    enrolled(app.identity.passkey_confirm(site, caller, (presented.as_ref(), name), info.address).await?)
}

/// What a browser brought that made a passkey, and its name; nothing for what has another form or was made elsewhere.
///
/// # Errors
/// [`Code::Validation`].
pub(super) async fn presented_new<'a>(
    app: &App,
    info: &RequestInfo,
    id: &str,
    data: &'a Value,
) -> Result<(Option<PresentedNew>, Option<&'a str>)> {
    let mut violations = Vec::new();
    if !data["code"].is_null() {
        violations.push(Violation::new("code", "FIELD_NOT_ALLOWED", "a passkey has no code"));
    }
    let credential = text(&data["credential"], "credential", LONGEST_ATTESTATION, &mut violations);
    let name = text(&data["name"], "name", LONGEST_NAME, &mut violations);
    let (Ok(Some(credential)), Ok(name)) = (credential, name) else { return Err(Fault::invalid(violations)) };
    if !violations.is_empty() {
        return Err(Fault::invalid(violations));
    }
    let credential = Secret::new(credential);
    let at = relying_party(app, info).await?;
    Ok((at.and_then(|at| PresentedNew::read(id, &credential, &at)), name))
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
