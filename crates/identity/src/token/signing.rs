//! Keys, and the compact JWS (RFC 7515) they sign.
//!
//! Access tokens are signed with Ed25519, so that anyone can check them ([`Keys::jwks`]). All others come
//! back to us alone and carry a MAC, which costs far less.
//!
//! A token's header is one of a few fixed strings, compared byte for byte: no algorithm, key id or
//! address that a client writes is ever followed. Each purpose has keys and a `typ` of its own, so a
//! token made for one purpose can't pass for another. What the claims mean is in `token`.

use crate::limits::{PAST_KEYS, PAST_VISITOR_KEYS};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, Signer as _, SigningKey};
use parking_lot::RwLock;
use ring::hmac;
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use stoa_kernel::{Fault, Millis, Result, World};
use stoa_sql::params;
use stoa_store::{Database, ReaderPool, Row, Tx, boxed};

/// Tokens longer than this were not made here: what they are held to takes most of the longest.
const LONGEST: usize = 8192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Access tokens of every kind of caller.
    Access,
    /// Refresh tokens of visitors; their keys verify for as long as a visitor lives.
    Visitor,
    /// Where a sign-in stands.
    PendingAuthentication,
    /// Challenges of the captcha.
    Captcha,
    /// Refresh tokens of applications.
    Instance,
}

impl Purpose {
    pub(crate) const ALL: [Self; 5] =
        [Self::Access, Self::Visitor, Self::PendingAuthentication, Self::Captcha, Self::Instance];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Visitor => "visitor",
            Self::PendingAuthentication => "stage",
            Self::Captcha => "captcha",
            Self::Instance => "instance",
        }
    }

    /// How long a key verifies once it is retired: until nothing lives that it has signed. What applications refresh with
    /// has no end.
    fn past(self) -> Option<Millis> {
        match self {
            Self::Access | Self::PendingAuthentication | Self::Captcha => Some(PAST_KEYS),
            Self::Visitor => Some(PAST_VISITOR_KEYS),
            Self::Instance => None,
        }
    }

    fn typ(self) -> &'static str {
        match self {
            Self::Access => "at+jwt",
            Self::Visitor => "vr+jwt",
            Self::PendingAuthentication => "st+jwt",
            Self::Captcha => "ca+jwt",
            Self::Instance => "ir+jwt",
        }
    }
}

/// All signing keys of the installation, as this node has read them last.
pub struct Keys {
    list: RwLock<Arc<KeyList>>,
    /// Goes up whenever they are read again.
    generation: AtomicU64,
    world: World,
}

/// In the order of their making.
struct KeyList(Vec<Key>);

struct Key {
    id: String,
    purpose: Purpose,
    signer: Signer,
    signs: bool,
    /// From when on it doesn't verify any more, whether its row is there or not.
    ends: Option<Millis>,
    /// The first segment of every token that this key signed.
    header: String,
}

enum Signer {
    Pair(SigningKey),
    Mac(hmac::Key),
}

impl Keys {
    /// Reads the keys and makes those that are missing; several nodes may do so at once.
    pub(crate) async fn load(catalog: &Database, world: &World) -> Result<Self> {
        let stored = catalog
            .write_with(world.clone(), move |tx, world| {
                boxed!({
                    for purpose in Purpose::ALL {
                        let sql = "select 1 from stoa.signing_key where purpose = $1 and retired is null";
                        if tx.row(sql, &params![purpose.name()], |_| Ok(())).await?.is_none() {
                            insert(tx, world, purpose, None).await?;
                        }
                    }
                    read(tx).await
                })
            })
            .await?;
        let list = RwLock::new(Arc::new(KeyList::of(stored)?));
        Ok(Self { list, generation: AtomicU64::new(0), world: world.clone() })
    }

    /// Reads the keys again. One at a time: a later reading would otherwise be overtaken
    /// ([`super::revocation::read_signing_keys`]).
    pub(crate) async fn reload(&self, catalog: &Database) -> Result<()> {
        let stored = catalog.read(ReaderPool::Point, |tx| boxed!(read(tx).await)).await?;
        *self.list.write() = Arc::new(KeyList::of(stored)?);
        self.generation.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// A number that changes when other keys may count: taken before what is verified is remembered.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// `header.claims.signature`, with the newest key of the purpose.
    pub(crate) fn sign(&self, purpose: Purpose, claims: &impl serde::Serialize) -> Result<String> {
        self.list().sign(purpose, claims)
    }

    /// The claims' bytes, when the token was signed here for this purpose.
    pub(crate) fn verify(&self, purpose: Purpose, token: &str) -> Option<Vec<u8>> {
        self.verify_until(purpose, token).map(|(claims, _)| claims)
    }

    /// The same, with when the key ends that signed it, in UTC milliseconds.
    pub(crate) fn verify_until(&self, purpose: Purpose, token: &str) -> Option<(Vec<u8>, Millis)> {
        self.list().verify(purpose, token, self.world.now())
    }

    /// The public keys that check access tokens, as RFC 7517 writes them (docs/protocol/identity.md §4.8).
    pub fn jwks(&self) -> Value {
        self.list().jwks(self.world.now())
    }

    fn list(&self) -> Arc<KeyList> {
        self.list.read().clone()
    }
}

/// A key as the catalogue has it.
struct StoredKey {
    id: String,
    purpose: String,
    seed: Vec<u8>,
    retired: Option<Millis>,
}

async fn read(tx: &mut Tx<'_>) -> Result<Vec<StoredKey>> {
    let sql = "select id, purpose, private, retired from stoa.signing_key order by created, id";
    let each = |row: &Row<'_>| {
        Ok(StoredKey { id: row.get(0)?, purpose: row.get(1)?, seed: row.get(2)?, retired: row.get(3)? })
    };
    Ok(tx.rows(sql, &[], each).await?)
}

/// Makes a key, and answers its id. One that is retired signs nothing; it was retired when it was made for as long as it
/// has never signed.
pub(super) async fn insert(
    tx: &mut Tx<'_>,
    world: &World,
    purpose: Purpose,
    retired: Option<Millis>,
) -> Result<String> {
    let (id, seed) = (world.uuid(), world.bytes::<32>());
    let public = key_pair(&seed)?.verifying_key().to_bytes().to_vec();
    let sql = "insert into stoa.signing_key (id, purpose, private, public, created, retired) \
               values ($1, $2, $3, $4, $5, $6)";
    let created = retired.unwrap_or_else(|| world.now());
    tx.send(sql, params![&id, purpose.name(), seed.to_vec(), public, created, retired]).await?;
    Ok(id)
}

impl KeyList {
    fn of(stored: Vec<StoredKey>) -> Result<Self> {
        let mut keys = Vec::new();
        for StoredKey { id, purpose, seed, retired } in stored {
            let Some(purpose) = Purpose::ALL.into_iter().find(|it| it.name() == purpose) else {
                continue;
            };
            let ends = retired.zip(purpose.past()).map(|(retired, past)| retired.saturating_add(past));
            let key = |signer, signs| Key::new(id.clone(), purpose, signer, signs, ends);
            let pair = Signer::Pair(key_pair(&seed)?);
            if purpose == Purpose::Access {
                keys.push(key(pair, retired.is_none()));
                continue;
            }
            // Once these were signed as well, and visitors live long.
            keys.push(key(pair, false));
            keys.push(key(Signer::mac(&seed), retired.is_none()));
        }
        Ok(Self(keys))
    }

    fn sign(&self, purpose: Purpose, claims: &impl serde::Serialize) -> Result<String> {
        let newest = self.0.iter().rev().find(|it| it.purpose == purpose && it.signs);
        let key = newest.ok_or_else(|| Fault::internal("there is no signing key"))?;
        let claims = serde_json::to_vec(claims).map_err(Fault::internal)?;
        let mut token = String::with_capacity(key.header.len() + claims.len() * 4 / 3 + 92);
        token.push_str(&key.header);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = key.signer.sign(token.as_bytes());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }

    fn verify(&self, purpose: Purpose, token: &str, now: Millis) -> Option<(Vec<u8>, Millis)> {
        if token.len() > LONGEST {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let key = self.0.iter().find(|it| it.purpose == purpose && it.header == header && it.counts(now))?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        match key.signer.has_signed(signed.as_bytes(), &signature) {
            true => Some((URL_SAFE_NO_PAD.decode(claims).ok()?, key.ends.unwrap_or(Millis::MAX))),
            false => None,
        }
    }

    fn jwks(&self, now: Millis) -> Value {
        let access = self.0.iter().filter(|it| it.purpose == Purpose::Access && it.counts(now));
        let public = access.filter_map(|it| match &it.signer {
            Signer::Pair(pair) => Some((&it.id, pair.verifying_key().to_bytes())),
            Signer::Mac(_) => None,
        });
        let keys: Vec<Value> = public
            .map(|(id, key)| {
                let x = URL_SAFE_NO_PAD.encode(key);
                json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": id, "x": x })
            })
            .collect();
        json!({ "keys": keys })
    }
}

impl Key {
    fn new(id: String, purpose: Purpose, signer: Signer, signs: bool, ends: Option<Millis>) -> Self {
        let algorithm = if matches!(signer, Signer::Pair(_)) { "EdDSA" } else { "HS256" };
        let header = json!({ "alg": algorithm, "kid": id, "typ": purpose.typ() });
        let header = URL_SAFE_NO_PAD.encode(header.to_string());
        Self { id, purpose, signer, signs, ends, header }
    }

    fn counts(&self, now: Millis) -> bool {
        self.ends.is_none_or(|it| now < it)
    }
}

impl Signer {
    /// The key of a MAC is nothing that a pair from the same seed shows.
    fn mac(seed: &[u8]) -> Self {
        let seed = hmac::Key::new(hmac::HMAC_SHA256, seed);
        Self::Mac(hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&seed, b"stoa token mac").as_ref()))
    }

    fn sign(&self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Pair(pair) => pair.sign(text).to_bytes().to_vec(),
            Self::Mac(key) => hmac::sign(key, text).as_ref().to_vec(),
        }
    }

    /// In constant time. A signature counts in one form only (RFC 8032, 5.1.7): what was signed here has no
    /// second text that is as good.
    fn has_signed(&self, text: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Pair(pair) => {
                let signature = Signature::from_slice(signature);
                signature.is_ok_and(|it| pair.verifying_key().verify_strict(text, &it).is_ok())
            }
            Self::Mac(key) => hmac::verify(key, text, signature).is_ok(),
        }
    }
}

fn key_pair(seed: &[u8]) -> Result<SigningKey> {
    seed.try_into().map(|it| SigningKey::from_bytes(&it)).map_err(Fault::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> KeyList {
        let seed = [7; 32];
        let of = |purpose, signer| Key::new("k".to_owned(), purpose, signer, true, None);
        let mut old = of(Purpose::Visitor, Signer::Pair(key_pair(&seed).expect("a pair")));
        old.signs = false;
        KeyList(vec![
            of(Purpose::Access, Signer::Pair(key_pair(&seed).expect("a pair"))),
            old,
            of(Purpose::Visitor, Signer::mac(&seed)),
            of(Purpose::PendingAuthentication, Signer::mac(&seed)),
        ])
    }

    #[test]
    fn token_is_good_for_its_purpose_alone() {
        let keys = keys();
        for purpose in [Purpose::Access, Purpose::Visitor, Purpose::PendingAuthentication] {
            let token = keys.sign(purpose, &json!({ "sub": "x" })).expect("signed");
            for other in Purpose::ALL {
                let claims = keys.verify(other, &token, 0);
                assert_eq!(claims.is_some(), other == purpose, "{purpose:?} as {other:?}");
            }
            // One character of the signature, of the claims and of the header.
            for at in [token.len() - 10, token.find('.').expect("a dot") + 3, 3] {
                let mut forged = token.clone().into_bytes();
                forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
                let forged = String::from_utf8(forged).expect("text");
                assert!(keys.verify(purpose, &forged, 0).is_none(), "{forged}");
            }
        }
    }

    /// RFC 8032, 7.1, second test.
    #[test]
    fn signature_is_that_of_the_standard() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|it| u8::from_str_radix(&text[it..it + 2], 16).expect("hex")).collect()
        };
        let seed = hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
        let pair = key_pair(&seed).expect("a pair");
        let public = hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
        assert_eq!(pair.verifying_key().to_bytes().to_vec(), public);
        let signer = Signer::Pair(pair);
        let mut signature = hex(concat!(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ));
        assert_eq!(signer.sign(&[0x72]), signature);
        assert!(signer.has_signed(&[0x72], &signature));
        // The same number with the order of the group added to it.
        let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
        let mut carry = 0;
        for (byte, more) in signature[32..].iter_mut().zip(order) {
            let sum = u16::from(*byte) + u16::from(more) + carry;
            (*byte, carry) = ((sum & 0xff) as u8, sum >> 8);
        }
        assert!(!signer.has_signed(&[0x72], &signature));
        assert!(!signer.has_signed(&[0x72], &signature[..63]));
    }

    #[test]
    fn old_visitor_tokens_are_still_accepted() {
        let keys = keys();
        let old = &keys.0[1];
        let text = format!("{}.{}", old.header, URL_SAFE_NO_PAD.encode(br#"{"sub":"x"}"#));
        let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(old.signer.sign(text.as_bytes())));
        assert!(keys.verify(Purpose::Visitor, &token, 0).is_some());
        assert!(keys.sign(Purpose::Visitor, &json!({})).expect("signed").starts_with(&keys.0[2].header));
    }

    /// What is public of a pair must not be a key: neither as it is, nor under the other algorithm's name.
    #[test]
    fn public_key_makes_no_mac() {
        let keys = keys();
        let Signer::Pair(pair) = &keys.0[0].signer else { panic!("a pair") };
        for key in [&pair.verifying_key().to_bytes(), &[7; 32]] {
            for header in [&keys.0[0].header, &keys.0[1].header, &keys.0[2].header] {
                let text = format!("{header}.{}", URL_SAFE_NO_PAD.encode(br#"{"sub":"x"}"#));
                let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes());
                let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(mac.as_ref()));
                assert!([Purpose::Access, Purpose::Visitor].iter().all(|it| keys.verify(*it, &token, 0).is_none()));
            }
        }
    }
}
