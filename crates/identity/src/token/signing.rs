//! Keys, and the compact JWS (RFC 7515) they sign.
//!
//! Access tokens are signed with Ed25519, so that anyone can check them ([`Keys::jwks`]). All others come
//! back to us alone and carry a MAC, which costs far less.
//!
//! A token's header is one of a few fixed strings, compared byte for byte: no algorithm, key id or
//! address that a client writes is ever followed. Each purpose has keys and a `typ` of its own, so a
//! token made for one purpose can't pass for another. What the claims mean is in `token`.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{Signature, Signer as _, SigningKey};
use ring::hmac;
use serde_json::{Value, json};
use stoa_kernel::{Fault, Result, World};
use stoa_sql::params;
use stoa_store::{Database, boxed};

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
    const ALL: [Self; 5] = [Self::Access, Self::Visitor, Self::PendingAuthentication, Self::Captcha, Self::Instance];

    fn name(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Visitor => "visitor",
            Self::PendingAuthentication => "stage",
            Self::Captcha => "captcha",
            Self::Instance => "instance",
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

/// All signing keys of the installation.
pub struct Keys(Vec<Key>);

struct Key {
    id: String,
    purpose: Purpose,
    signer: Signer,
    is_retired: bool,
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
        let rows = catalog
            .write_with(world.clone(), move |tx, world| {
                boxed!({
                    for purpose in Purpose::ALL {
                        let sql = "select 1 from stoa.signing_key where purpose = $1 and retired is null";
                        if tx.row(sql, &params![purpose.name()], |_| Ok(())).await?.is_none() {
                            let (id, seed) = (world.uuid(), world.bytes::<32>());
                            let pair = key_pair(&seed)?;
                            let public = pair.verifying_key().to_bytes().to_vec();
                            let sql = "insert into stoa.signing_key (id, purpose, private, public, created) \
                                       values ($1, $2, $3, $4, $5)";
                            let row = params![id, purpose.name(), seed.to_vec(), public, world.now()];
                            tx.send(sql, row).await?;
                        }
                    }
                    let sql = "select id, purpose, private, retired from stoa.signing_key order by created, id";
                    let rows = tx.rows(sql, &[], |row| {
                        let retired: Option<i64> = row.get(3)?;
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?, retired.is_some()))
                    });
                    Ok(rows.await?)
                })
            })
            .await?;
        let mut keys = Vec::new();
        for (id, purpose, seed, is_retired) in rows {
            let (id, purpose, seed): (String, String, Vec<u8>) = (id, purpose, seed);
            let Some(purpose) = Purpose::ALL.into_iter().find(|it| it.name() == purpose) else {
                continue;
            };
            let pair = Signer::Pair(key_pair(&seed)?);
            if purpose == Purpose::Access {
                keys.push(Key::new(id, purpose, pair, is_retired));
                continue;
            }
            // Once these were signed as well, and visitors live long.
            keys.push(Key::new(id.clone(), purpose, pair, true));
            keys.push(Key::new(id, purpose, Signer::mac(&seed), is_retired));
        }
        Ok(Self(keys))
    }

    /// `header.claims.signature`, with the newest key of the purpose.
    pub(crate) fn sign(&self, purpose: Purpose, claims: &impl serde::Serialize) -> Result<String> {
        let newest = self.0.iter().rev().find(|it| it.purpose == purpose && !it.is_retired);
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

    /// The claims' bytes, when the token was signed here for this purpose.
    pub(crate) fn verify(&self, purpose: Purpose, token: &str) -> Option<Vec<u8>> {
        if token.len() > LONGEST {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let key = self.0.iter().find(|it| it.purpose == purpose && it.header == header)?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        match key.signer.has_signed(signed.as_bytes(), &signature) {
            true => URL_SAFE_NO_PAD.decode(claims).ok(),
            false => None,
        }
    }

    /// The public keys that check access tokens, as RFC 7517 writes them (docs/protocol/identity.md §4.8).
    pub fn jwks(&self) -> Value {
        let access = self.0.iter().filter(|it| it.purpose == Purpose::Access);
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
    fn new(id: String, purpose: Purpose, signer: Signer, is_retired: bool) -> Self {
        let algorithm = if matches!(signer, Signer::Pair(_)) { "EdDSA" } else { "HS256" };
        let header = json!({ "alg": algorithm, "kid": id, "typ": purpose.typ() });
        let header = URL_SAFE_NO_PAD.encode(header.to_string());
        Self { id, purpose, signer, is_retired, header }
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

    fn keys() -> Keys {
        let seed = [7; 32];
        let of = |purpose, signer| Key::new("k".to_owned(), purpose, signer, false);
        let mut old = of(Purpose::Visitor, Signer::Pair(key_pair(&seed).expect("a pair")));
        old.is_retired = true;
        Keys(vec![
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
                let claims = keys.verify(other, &token);
                assert_eq!(claims.is_some(), other == purpose, "{purpose:?} as {other:?}");
            }
            // One character of the signature, of the claims and of the header.
            for at in [token.len() - 10, token.find('.').expect("a dot") + 3, 3] {
                let mut forged = token.clone().into_bytes();
                forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
                let forged = String::from_utf8(forged).expect("text");
                assert!(keys.verify(purpose, &forged).is_none(), "{forged}");
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
        assert!(keys.verify(Purpose::Visitor, &token).is_some());
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
                assert!([Purpose::Access, Purpose::Visitor].iter().all(|it| keys.verify(*it, &token).is_none()));
            }
        }
    }
}
