//! What browsers are asked: for a passkey of somebody, or for a new one. In the form that they read themselves
//! (`PublicKeyCredential.parseRequestOptionsFromJSON` and `parseCreationOptionsFromJSON`).

use super::{
    challenge::{Challenge, LIFE, Use},
    cose::{EDDSA, ES256, RS256},
    row::{self, Passkey},
    transport::Transport,
    user_handle::user_handle,
};
use crate::{Core, browser::RelyingParty, factor::realm::Realm};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};
use stoa_kernel::{MemberId, Millis, Result, SiteId};
use stoa_store::{ReaderPool, Tx, boxed};

/// A passkey that may answer, or that is there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Descriptor {
    id: Vec<u8>,
    transports: Vec<Transport>,
}

impl Descriptor {
    fn transports(&self) -> Vec<&'static str> {
        self.transports.iter().map(|it| it.name()).collect()
    }

    fn options(&self) -> Value {
        let mut options = json!({ "type": "public-key", "id": URL_SAFE_NO_PAD.encode(&self.id) });
        if !self.transports.is_empty() {
            options["transports"] = json!(self.transports());
        }
        options
    }
}

impl From<Passkey> for Descriptor {
    fn from(passkey: Passkey) -> Self {
        Self { id: passkey.credential, transports: passkey.transports }
    }
}

/// The passkeys of a member that were made on these pages.
pub(crate) async fn descriptors(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    at: &RelyingParty,
) -> Result<Vec<Descriptor>> {
    let passkeys = row::of_member(tx, site, member).await?.into_iter();
    Ok(passkeys.filter(|it| it.relying_party == at.id()).map(Descriptor::from).collect())
}

/// The question for a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    challenge: Challenge,
    relying_party: String,
    allowed: Vec<Descriptor>,
}

/// Asks for one of these passkeys; for any that the authenticator has of these pages where there are none, so that nothing tells which
/// accounts there are.
pub(crate) fn request(
    core: &Core,
    site: &SiteId,
    at: &RelyingParty,
    for_use: Use<'_>,
    allowed: Vec<Descriptor>,
) -> Request {
    Request { challenge: Challenge::issue(core, site, for_use), relying_party: at.id().to_owned(), allowed }
}

/// Asks for one of the passkeys that a member has of these pages. None where there are none.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn request_of(
    core: &Core,
    realm: &Realm<'_>,
    at: &RelyingParty,
    for_use: Use<'_>,
    member: &MemberId,
) -> Result<Option<Request>> {
    let (id, of, pages) = (realm.id.clone(), member.clone(), at.clone());
    let read = realm.database.read(ReaderPool::Point, move |tx| boxed!(descriptors(tx, &id, &of, &pages).await));
    let allowed = read.await?;
    // With an empty list any passkey could answer.
    Ok((!allowed.is_empty()).then(|| request(core, &realm.id, at, for_use, allowed)))
}

impl Request {
    /// The id of its challenge, a UUID.
    pub fn id(&self) -> String {
        self.challenge.id()
    }

    /// Until when it can be answered, UTC milliseconds.
    pub fn expires(&self) -> Millis {
        self.challenge.expires()
    }

    /// `PublicKeyCredentialRequestOptionsJSON`.
    pub fn options(&self) -> Value {
        json!({
            "challenge": self.challenge.base64url(),
            "timeout": LIFE,
            "rpId": self.relying_party,
            "allowCredentials": self.allowed.iter().map(Descriptor::options).collect::<Vec<_>>(),
            "userVerification": "required",
        })
    }

    /// The `webauthnData` of an answer, in the form of the newest clients and in that of those before
    /// (docs/protocol/identity.md §10.1).
    pub fn to_webauthn_data(&self) -> Value {
        let allowed = |it: &Descriptor| json!({ "id": STANDARD.encode(&it.id), "transports": it.transports() });
        json!({
            "challengeId": self.id(),
            "publicKeyCredentialRequestOptionsJson": self.options().to_string(),
            "challenge": STANDARD.encode(self.challenge.bytes()),
            "timeoutMs": LIFE,
            "allowCredentials": self.allowed.iter().map(allowed).collect::<Vec<_>>(),
            "userVerification": "USER_VERIFICATION_REQUIRED",
        })
    }
}

/// The question for a new passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creation {
    challenge: Challenge,
    relying_party: String,
    site_name: String,
    user_handle: Vec<u8>,
    email: String,
    present: Vec<Descriptor>,
}

/// For whom a passkey is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account<'a> {
    /// The id of the realm.
    pub realm: &'a SiteId,
    pub site_name: &'a str,
    pub id: &'a MemberId,
    pub email: &'a str,
}

/// Asks for a new passkey of an account, on another authenticator than those of the ones that are there.
pub(crate) fn creation(
    core: &Core,
    at: &RelyingParty,
    for_use: Use<'_>,
    account: Account<'_>,
    present: Vec<Descriptor>,
) -> Creation {
    Creation {
        challenge: Challenge::issue(core, account.realm, for_use),
        relying_party: at.id().to_owned(),
        site_name: account.site_name.to_owned(),
        user_handle: user_handle(account.realm, account.id),
        email: account.email.to_owned(),
        present,
    }
}

impl Creation {
    /// The id of its challenge, a UUID.
    pub fn id(&self) -> String {
        self.challenge.id()
    }

    /// Until when it can be answered, UTC milliseconds.
    pub fn expires(&self) -> Millis {
        self.challenge.expires()
    }

    /// `PublicKeyCredentialCreationOptionsJSON`.
    pub fn options(&self) -> Value {
        let kinds = [ES256, EDDSA, RS256].map(|it| json!({ "type": "public-key", "alg": it }));
        json!({
            "rp": { "id": self.relying_party, "name": self.site_name },
            "user": {
                "id": URL_SAFE_NO_PAD.encode(&self.user_handle),
                "name": self.email,
                "displayName": self.email,
            },
            "challenge": self.challenge.base64url(),
            "pubKeyCredParams": kinds,
            "timeout": LIFE,
            "excludeCredentials": self.present.iter().map(Descriptor::options).collect::<Vec<_>>(),
            "authenticatorSelection": {
                "residentKey": "required",
                "requireResidentKey": true,
                "userVerification": "required",
            },
            "attestation": "none",
        })
    }
}
