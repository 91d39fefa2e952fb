//! The key pair by which a site says to push services who it is (VAPID, RFC 8292). A browser subscribes with the public key, and its
//! push service takes messages of the private one alone. It is made at its first use, sealed among the site's settings, and stays:
//! with another one no browser could be written to.

use super::random;
use crate::Core;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use quick_cache::sync::Cache;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use std::{fmt, sync::Arc};
use stoa_kernel::{Fault, Millis, Result, Secret, SiteId};
use stoa_outbound::Target;
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed, setting};

const SETTING: &str = "push key";
/// Life of a signature; 24 hours is the most (RFC 8292 section 2).
const LIFE: Millis = 12 * 60 * 60_000;
/// Sites whose keys are kept in memory.
const KNOWN: usize = 4096;

/// A site's key pair.
pub(crate) struct VapidKey {
    pair: EcdsaKeyPair,
    public: String,
}

impl fmt::Debug for VapidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.public)
    }
}

/// The keys that this process has opened.
pub(crate) struct KeyCache(Cache<SiteId, Arc<VapidKey>>);

impl KeyCache {
    pub(crate) fn new() -> Self {
        Self(Cache::new(KNOWN))
    }
}

impl VapidKey {
    fn draw() -> Option<Vec<u8>> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random::source());
        made.ok().map(|it| it.as_ref().to_vec())
    }

    fn of(pkcs8: &[u8]) -> Option<Self> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random::source()).ok()?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
        Some(Self { pair, public })
    }

    /// The public key as browsers subscribe with it: an uncompressed point in base64url.
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    /// The value of `Authorization` for the push service of a browser. `contact` is where its operator finds who sends.
    ///
    /// # Errors
    /// An internal fault when the key doesn't sign.
    pub(crate) fn authorization(&self, target: &Target, contact: &str, now: Millis) -> Result<Secret> {
        let header = json!({ "typ": "JWT", "alg": "ES256" });
        let claims = json!({ "aud": target.to_string(), "exp": (now + LIFE) / 1_000, "sub": contact });
        let [header, claims] = [header, claims].map(|it| URL_SAFE_NO_PAD.encode(it.to_string()));
        let signed = format!("{header}.{claims}");
        let signature = self.pair.sign(&random::source(), signed.as_bytes());
        let signature = signature.map_err(|_| Fault::internal("a push key doesn't sign"))?;
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        Ok(Secret::new(format!("vapid t={signed}.{signature}, k={}", self.public)))
    }
}

/// The key pair of a site, made if there is none.
///
/// # Errors
/// What the engine answers; an internal fault when the key under which it was sealed is gone.
pub(crate) async fn of_site(core: &Core, site: &Site) -> Result<Arc<VapidKey>> {
    if let Some(known) = core.push.keys.0.get(&site.id) {
        return Ok(known);
    }
    let stored = match read(site).await? {
        Some(stored) => stored,
        None => make(core, site).await?,
    };
    let lost = || Fault::internal(format!("site {}: the push key doesn't open", site.id));
    let sealed = sealed(&stored).ok_or_else(lost)?;
    let opened = core.ciphers.factor.open(core.store().catalog(), &associated_data(&site.id), &sealed).await?;
    let pkcs8 = opened.and_then(|it| URL_SAFE_NO_PAD.decode(it).ok());
    let key = Arc::new(pkcs8.and_then(|it| VapidKey::of(&it)).ok_or_else(lost)?);
    core.push.keys.0.insert(site.id.clone(), key.clone());
    Ok(key)
}

async fn read(site: &Site) -> Result<Option<String>> {
    let id = site.id.clone();
    site.read(ReaderPool::Point, move |tx| boxed!(Ok(setting::get(tx, &id, SETTING).await?))).await
}

/// Keeps a new one, unless another request was quicker: then that one.
async fn make(core: &Core, site: &Site) -> Result<String> {
    let pkcs8 = VapidKey::draw().ok_or_else(|| Fault::internal("no push key could be made"))?;
    let text = stored(core, &site.id, &URL_SAFE_NO_PAD.encode(pkcs8))?;
    let kept = site.write_with((site.id.clone(), text), |tx, (site, text)| {
        boxed!(Ok(setting::put_first(tx, site, SETTING, text.clone()).await?))
    });
    kept.await
}

/// Puts the key of a site under the current sealing key: how many there were under others.
pub(crate) async fn reseal(core: &Core, site: &Site) -> Result<u64> {
    let Some(old) = read(site).await? else { return Ok(0) };
    let cipher = &core.ciphers.factor;
    let opened = sealed(&old).filter(|it| !cipher.is_current(it));
    let Some(key) = opened.and_then(|it| cipher.decrypt(&associated_data(&site.id), &it)) else { return Ok(0) };
    let new = stored(core, &site.id, &key)?;
    let put = site.append_with((site.id.clone(), old, new), |tx, (site, old, new)| {
        boxed!({
            let sql = "update stoa.setting set value = $1 where site = $2 and name = $3 and value = $4";
            Ok(tx.execute(sql, &params![new.as_str(), site, SETTING, old.as_str()]).await?)
        })
    });
    put.await
}

/// How many keys of a site are under older sealing keys: one at most.
pub(crate) async fn left(core: &Core, site: &Site) -> Result<u64> {
    let sealed = read(site).await?.as_deref().and_then(sealed);
    Ok(u64::from(sealed.is_some_and(|it| !core.ciphers.factor.is_current(&it))))
}

fn stored(core: &Core, site: &SiteId, key: &str) -> Result<String> {
    let sealed = core.ciphers.factor.encrypt(core.world(), &associated_data(site), key)?;
    Ok(Value::from(URL_SAFE_NO_PAD.encode(sealed)).to_string())
}

/// What [`stored`] has encrypted.
fn sealed(stored: &str) -> Option<Vec<u8>> {
    let text: String = serde_json::from_str(stored).ok()?;
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// What the key is encrypted for.
fn associated_data(site: &SiteId) -> String {
    json!(["push key", site]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    #[test]
    fn push_service_is_told_who_sends() {
        let key = VapidKey::of(&VapidKey::draw().unwrap()).unwrap();
        let target = Target::parse("https://push.example.org:8443/secret").unwrap();
        let header = key.authorization(&target, "https://www.example.org", 1_000).unwrap();
        let (token, public) = header.expose().strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let public = URL_SAFE_NO_PAD.decode(public).unwrap();
        assert_eq!((public.len(), public[0]), (65, 4));
        let peer = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public);
        peer.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.').unwrap().1).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        let expected =
            json!({ "aud": "https://push.example.org:8443", "exp": 43_201, "sub": "https://www.example.org" });
        assert_eq!(claims, expected);
    }
}
