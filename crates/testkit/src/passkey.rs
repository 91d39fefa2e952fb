//! An authenticator for tests: makes passkeys and shows them as a browser would, or as one wouldn't (Web Authentication Level 3).
//!
//! What it writes is written here by hand, not by what the server reads it with.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};

/// How a ceremony goes. [`Ceremony::at`] is that of an honest browser.
#[derive(Debug, Clone)]
pub struct Ceremony {
    /// The page that asks.
    pub origin: String,
    /// What the authenticator takes for the relying party; the one of the options without.
    pub relying_party: Option<String>,
    /// Whether a person touches it, and shows who they are.
    pub is_present: bool,
    pub is_verified: bool,
    /// Whether the page stands in a frame of others.
    pub is_framed: bool,
    /// The `type` of the client data; the one of the ceremony without.
    pub kind: Option<&'static str>,
    /// Whether the user handle is sent.
    pub tells_user: bool,
}

impl Ceremony {
    pub fn at(origin: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            relying_party: None,
            is_present: true,
            is_verified: true,
            is_framed: false,
            kind: None,
            tells_user: true,
        }
    }

    fn client_data(&self, kind: &str, challenge: &Value) -> Vec<u8> {
        let data = json!({
            "type": self.kind.unwrap_or(kind),
            "challenge": challenge,
            "origin": self.origin,
            "crossOrigin": self.is_framed,
        });
        data.to_string().into_bytes()
    }
}

/// The algorithm of a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Es256,
    Ed25519,
}

/// A pair with what it is made of again.
enum Key {
    Es256(EcdsaKeyPair, Vec<u8>),
    Ed25519(Ed25519KeyPair, [u8; 32]),
}

/// A passkey on an authenticator.
pub struct Passkey {
    pub id: Vec<u8>,
    key: Key,
    relying_party: String,
    pub user_handle: Vec<u8>,
    /// Grows with each use, unless it is 0.
    pub counter: u32,
    /// Whether it may be copied, and whether it was.
    pub backup: (bool, bool),
}

impl Passkey {
    /// Makes one by `PublicKeyCredentialCreationOptionsJSON`, and what the browser sends of it.
    pub fn create(options: &Value, ceremony: &Ceremony) -> (Self, String) {
        Self::create_with(options, ceremony, Algorithm::Es256, (1, (false, false)))
    }

    /// The same of another kind: what it has counted, and whether it may be copied and was.
    pub fn create_with(
        options: &Value,
        ceremony: &Ceremony,
        algorithm: Algorithm,
        (counter, backup): (u32, (bool, bool)),
    ) -> (Self, String) {
        let passkey = Self {
            id: random::<32>().to_vec(),
            key: Key::new(algorithm),
            relying_party: text(&options["rp"]["id"]),
            user_handle: URL_SAFE_NO_PAD.decode(text(&options["user"]["id"])).unwrap(),
            counter,
            backup,
        };
        let credential = passkey.attest(options, ceremony);
        (passkey, credential)
    }

    /// What the browser sends of it when it is new.
    pub fn attest(&self, options: &Value, ceremony: &Ceremony) -> String {
        let mut data = self.data(ceremony, 0x40);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        data.extend(&self.id);
        data.extend(self.key.cose());
        let object = [
            vec![0xa3],
            cbor_text("fmt"),
            cbor_text("none"),
            cbor_text("attStmt"),
            vec![0xa0],
            cbor_text("authData"),
            cbor_bytes(&data),
        ];
        let response = json!({
            "clientDataJSON": URL_SAFE_NO_PAD.encode(ceremony.client_data("webauthn.create", &options["challenge"])),
            "attestationObject": URL_SAFE_NO_PAD.encode(object.concat()),
            "authenticatorData": URL_SAFE_NO_PAD.encode(&data),
            "transports": ["internal", "hybrid"],
        });
        self.credential(&response)
    }

    /// Shows it by `PublicKeyCredentialRequestOptionsJSON`: what the browser sends.
    pub fn get(&mut self, options: &Value, ceremony: &Ceremony) -> String {
        if self.counter > 0 {
            self.counter += 1;
        }
        let client_data = ceremony.client_data("webauthn.get", &options["challenge"]);
        let data = self.data(ceremony, 0);
        let signed = [data.as_slice(), digest(&SHA256, &client_data).as_ref()].concat();
        let mut response = json!({
            "clientDataJSON": URL_SAFE_NO_PAD.encode(&client_data),
            "authenticatorData": URL_SAFE_NO_PAD.encode(&data),
            "signature": URL_SAFE_NO_PAD.encode(self.key.sign(&signed)),
        });
        if ceremony.tells_user {
            response["userHandle"] = json!(URL_SAFE_NO_PAD.encode(&self.user_handle));
        }
        self.credential(&response)
    }

    /// A copy of it, as a thief makes one who has the device in hand.
    pub fn copy(&self) -> Self {
        let key = self.key.copy();
        let (id, relying_party, user_handle) = (self.id.clone(), self.relying_party.clone(), self.user_handle.clone());
        Self { id, key, relying_party, user_handle, counter: self.counter, backup: self.backup }
    }

    /// Its public key, in the form in which signatures of its kind are checked.
    pub fn public_key(&self) -> &[u8] {
        self.key.public()
    }

    fn credential(&self, response: &Value) -> String {
        let id = URL_SAFE_NO_PAD.encode(&self.id);
        let credential = json!({
            "id": id,
            "rawId": id,
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": response,
        });
        credential.to_string()
    }

    fn data(&self, ceremony: &Ceremony, more: u8) -> Vec<u8> {
        let relying_party = ceremony.relying_party.as_deref().unwrap_or(&self.relying_party);
        let (may_be_copied, was_copied) = self.backup;
        let flags =
            [(ceremony.is_present, 0x01), (ceremony.is_verified, 0x04), (may_be_copied, 0x08), (was_copied, 0x10)];
        let flags = flags.into_iter().filter(|it| it.0).fold(more, |all, it| all | it.1);
        let hash = digest(&SHA256, relying_party.as_bytes());
        [hash.as_ref(), &[flags], &self.counter.to_be_bytes()].concat()
    }
}

impl Key {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Es256 => {
                let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &chance()).unwrap();
                Self::es256(pkcs8.as_ref())
            }
            Algorithm::Ed25519 => Self::ed25519(random()),
        }
    }

    fn es256(pkcs8: &[u8]) -> Self {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8, &chance()).unwrap();
        Self::Es256(pair, pkcs8.to_vec())
    }

    fn ed25519(seed: [u8; 32]) -> Self {
        Self::Ed25519(Ed25519KeyPair::from_seed_unchecked(&seed).unwrap(), seed)
    }

    fn copy(&self) -> Self {
        match self {
            Self::Es256(_, pkcs8) => Self::es256(pkcs8),
            Self::Ed25519(_, seed) => Self::ed25519(*seed),
        }
    }

    fn public(&self) -> &[u8] {
        match self {
            Self::Es256(pair, _) => pair.public_key().as_ref(),
            Self::Ed25519(pair, _) => pair.public_key().as_ref(),
        }
    }

    fn cose(&self) -> Vec<u8> {
        let public = self.public();
        match self {
            // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
            Self::Es256(..) => {
                let head = vec![0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21];
                [head, cbor_bytes(&public[1..33]), vec![0x22], cbor_bytes(&public[33..])].concat()
            }
            // {1: 1, 3: -8, -1: 6, -2: x}
            Self::Ed25519(..) => [vec![0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21], cbor_bytes(public)].concat(),
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Es256(pair, _) => pair.sign(&chance(), message).unwrap().as_ref().to_vec(),
            Self::Ed25519(pair, _) => pair.sign(message).as_ref().to_vec(),
        }
    }
}

fn cbor_text(text: &str) -> Vec<u8> {
    [[0x60 | u8::try_from(text.len()).unwrap()].as_slice(), text.as_bytes()].concat()
}

fn cbor_bytes(bytes: &[u8]) -> Vec<u8> {
    let head = match u8::try_from(bytes.len()) {
        Ok(length @ 0..=23) => vec![0x40 | length],
        Ok(length) => vec![0x58, length],
        Err(_) => [vec![0x59], u16::try_from(bytes.len()).unwrap().to_be_bytes().to_vec()].concat(),
    };
    [head.as_slice(), bytes].concat()
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    chance().fill(&mut bytes).unwrap();
    bytes
}

#[expect(
    clippy::disallowed_methods,
    reason = "an authenticator is outside of the server and has randomness of its own"
)]
fn chance() -> SystemRandom {
    SystemRandom::new()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
