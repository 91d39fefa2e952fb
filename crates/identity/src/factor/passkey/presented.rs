//! What browsers bring: `AuthenticationResponseJSON` and `RegistrationResponseJSON`, as `PublicKeyCredential.toJSON` makes them.

use super::{
    authenticator_data::LONGEST_ID,
    challenge::Challenge,
    client_data::{self, Ceremony},
    transport::Transport,
};
use crate::browser::RelyingParty;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, de::Error as _};
use stoa_kernel::Secret;

/// Characters of the JSON text of a passkey that is shown.
pub const LONGEST_ASSERTION: usize = 3_000;
/// Characters of that of a new one: authenticators may attest with certificates what they are.
pub const LONGEST_ATTESTATION: usize = 16_000;

/// Bytes in base64url without padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bytes(pub Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        URL_SAFE_NO_PAD.decode(text).map(Self).map_err(D::Error::custom)
    }
}

/// What is not looked at may be there: browsers add to it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credential<R> {
    id: Bytes,
    #[serde(default)]
    raw_id: Option<Bytes>,
    #[serde(rename = "type")]
    kind: String,
    response: R,
}

impl<R: for<'de> Deserialize<'de>> Credential<R> {
    fn read(json: &Secret, longest: usize) -> Option<Self> {
        let json = json.expose();
        // As many bytes as characters: all of it that counts is ASCII.
        let read: Self = if json.len() <= longest { serde_json::from_str(json).ok()? } else { return None };
        let is_sound = read.kind == "public-key"
            && (1..=LONGEST_ID).contains(&read.id.0.len())
            && read.raw_id.as_ref().is_none_or(|it| *it == read.id);
        is_sound.then_some(read)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssertionResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes,
    authenticator_data: Bytes,
    signature: Bytes,
    #[serde(default)]
    user_handle: Option<Bytes>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttestationResponse {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes,
    attestation_object: Bytes,
    #[serde(default)]
    transports: Vec<String>,
}

/// A passkey that somebody shows; whether it is one, `verify` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presented {
    pub(super) credential: Vec<u8>,
    pub(super) challenge: Challenge,
    pub(super) relying_party: RelyingParty,
    pub(super) client_data: Vec<u8>,
    pub(super) authenticator_data: Vec<u8>,
    pub(super) signature: Vec<u8>,
    pub(super) user_handle: Option<Vec<u8>>,
}

impl Presented {
    /// What answers the challenge with this id on these pages; nothing when it has another form, answers another challenge or was
    /// made on other pages.
    pub fn read(challenge_id: &str, credential: &Secret, at: &RelyingParty) -> Option<Self> {
        let Credential { id, response, .. } = Credential::<AssertionResponse>::read(credential, LONGEST_ASSERTION)?;
        let challenge = answered(challenge_id, &response.client_data, Ceremony::Get, at)?;
        Some(Self {
            credential: id.0,
            challenge,
            relying_party: at.clone(),
            client_data: response.client_data.0,
            authenticator_data: response.authenticator_data.0,
            signature: response.signature.0,
            // Some browsers write an empty one where there is none.
            user_handle: response.user_handle.map(|it| it.0).filter(|it| !it.is_empty()),
        })
    }
}

/// A new passkey that somebody brings; whether it is one, `verify_new` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentedNew {
    pub(super) credential: Vec<u8>,
    pub(super) challenge: Challenge,
    pub(super) relying_party: RelyingParty,
    pub(super) attestation: Vec<u8>,
    pub(super) transports: Vec<Transport>,
}

impl PresentedNew {
    /// As [`Presented::read`].
    pub fn read(challenge_id: &str, credential: &Secret, at: &RelyingParty) -> Option<Self> {
        let Credential { id, response, .. } = Credential::<AttestationResponse>::read(credential, LONGEST_ATTESTATION)?;
        let challenge = answered(challenge_id, &response.client_data, Ceremony::Create, at)?;
        let mut transports: Vec<_> = response.transports.iter().filter_map(|it| Transport::named(it)).collect();
        let mut known = Vec::new();
        transports.retain(|it| {
            let is_new = !known.contains(it);
            known.push(*it);
            is_new
        });
        Some(Self {
            credential: id.0,
            challenge,
            relying_party: at.clone(),
            attestation: response.attestation_object.0,
            transports,
        })
    }
}

fn answered(challenge_id: &str, client_data: &Bytes, ceremony: Ceremony, at: &RelyingParty) -> Option<Challenge> {
    client_data::challenge(&client_data.0, ceremony, at).filter(|it| it.id().eq_ignore_ascii_case(challenge_id))
}
