//! Ed25519 keys and the compact JWS they sign.
//!
//! A token's header is one of a few fixed texts, compared byte for byte: no algorithm, key id or
//! address that a client writes is ever followed. Each purpose has keys and a `typ` of its own, so a
//! token made for one purpose can't pass for another. What the claims mean is in `token`.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde_json::{Value, json};
use stoa_kernel::{Fault, Result, World};
use stoa_sql::params;
use stoa_store::{Database, boxed};

/// Tokens longer than this were not made here.
const LONGEST: usize = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Access tokens of every kind of caller.
    Access,
    /// Refresh tokens of visitors; their keys verify for as long as a visitor lives.
    Visitor,
    /// Where a sign-in stands.
    Stage,
    /// Challenges of the captcha.
    Captcha,
    /// Refresh tokens of applications.
    Instance,
}

impl Purpose {
    const ALL: [Self; 5] = [Self::Access, Self::Visitor, Self::Stage, Self::Captcha, Self::Instance];

    fn name(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Visitor => "visitor",
            Self::Stage => "stage",
            Self::Captcha => "captcha",
            Self::Instance => "instance",
        }
    }

    fn typ(self) -> &'static str {
        match self {
            Self::Access => "at+jwt",
            Self::Visitor => "vr+jwt",
            Self::Stage => "st+jwt",
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
    pair: Ed25519KeyPair,
    is_retired: bool,
    /// The first segment of every token that this key signed.
    header: String,
}

impl Keys {
    /// Reads the keys and makes those that are missing; several nodes may do so at once.
    pub(crate) async fn load(catalog: &Database, world: &World) -> Result<Self> {
        let world = world.clone();
        let rows = catalog
            .write(move |tx| {
                let world = world.clone();
                boxed!({
                    for purpose in Purpose::ALL {
                        let sql = "select 1 from stoa.signing_key where purpose = $1 and retired is null";
                        if tx.row(sql, &params![purpose.name()], |_| Ok(())).await?.is_none() {
                            let (id, seed) = (world.uuid(), world.bytes::<32>());
                            let pair = pair(&seed)?;
                            let public = pair.public_key().as_ref().to_vec();
                            let sql = "insert into stoa.signing_key (id, purpose, private, public, created) \
                                       values ($1, $2, $3, $4, $5)";
                            let row = params![id, purpose.name(), seed.to_vec(), public, world.now()];
                            tx.execute(sql, &row).await?;
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
            let header = json!({ "alg": "EdDSA", "kid": id, "typ": purpose.typ() });
            let header = URL_SAFE_NO_PAD.encode(header.to_string());
            keys.push(Key { id, purpose, pair: pair(&seed)?, is_retired, header });
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
        let signature = key.pair.sign(token.as_bytes());
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature.as_ref(), &mut token);
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
        let public = UnparsedPublicKey::new(&ED25519, key.pair.public_key().as_ref());
        public.verify(signed.as_bytes(), &signature).ok()?;
        URL_SAFE_NO_PAD.decode(claims).ok()
    }

    /// The public keys that check access tokens, as RFC 7517 writes them (identity.md 4.8).
    pub fn jwks(&self) -> Value {
        let access = self.0.iter().filter(|it| it.purpose == Purpose::Access);
        let keys: Vec<Value> = access
            .map(|it| {
                let x = URL_SAFE_NO_PAD.encode(it.pair.public_key().as_ref());
                json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": it.id, "x": x })
            })
            .collect();
        json!({ "keys": keys })
    }
}

fn pair(seed: &[u8]) -> Result<Ed25519KeyPair> {
    Ed25519KeyPair::from_seed_unchecked(seed).map_err(Fault::internal)
}
