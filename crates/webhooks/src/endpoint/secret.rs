//! Secrets of endpoints: `whsec_` and 32 random bytes in base64, as Standard Webhooks has them. One signs; while another
//! follows it, both do.

use crate::Core;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use stoa_kernel::{EndpointId, Fault, Millis, Result, Secret, SiteId, World};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

const PREFIX: &str = "whsec_";

/// A secret of an endpoint, shown when it is made and never again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSecret(Secret);

impl EndpointSecret {
    /// A new one.
    pub fn make(world: &World) -> Self {
        Self(Secret::new(format!("{PREFIX}{}", STANDARD.encode(world.bytes::<32>()))))
    }

    /// `whsec_…`, for the one who may know it.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// One that was shown before.
    pub fn parse(text: &str) -> Option<Self> {
        let secret = Self(Secret::new(text));
        secret.key().is_ok().then_some(secret)
    }

    /// The value of `webhook-signature` for a body with this id and timestamp, for who sends it by themselves.
    ///
    /// # Errors
    /// None that a caller can mend.
    pub fn signature(&self, id: &str, timestamp: &str, body: &str) -> Result<String> {
        Ok(signature(&self.key()?, id, timestamp, body))
    }

    /// What it signs with.
    pub(crate) fn key(&self) -> Result<hmac::Key> {
        let bytes = self.0.expose().strip_prefix(PREFIX).and_then(|it| STANDARD.decode(it).ok());
        let bytes = bytes.ok_or_else(|| Fault::internal("a secret of an endpoint has another form"))?;
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
    }
}

/// The signature of a body with this id and timestamp by one key, as Standard Webhooks has it.
pub(crate) fn signature(key: &hmac::Key, id: &str, timestamp: &str, body: &str) -> String {
    let tag = hmac::sign(key, format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

/// A secret as it is stored.
pub(super) struct Sealed {
    id: String,
    sealed: Vec<u8>,
    created: Millis,
}

/// A new secret of an endpoint, to be stored.
pub(super) fn make(core: &Core, site: &SiteId, endpoint: &EndpointId) -> Result<(EndpointSecret, Sealed)> {
    let (secret, id) = (EndpointSecret::make(&core.world), core.world.uuid());
    let sealed = core.identity.webhook_secret_seal(site, endpoint, &id, &secret.0)?;
    Ok((secret, Sealed { id, sealed, created: core.world.now() }))
}

pub(super) async fn insert(tx: &mut Tx<'_>, site: &SiteId, endpoint: &EndpointId, secret: &Sealed) -> Result<()> {
    let sql = "insert into stoa.webhook_secret (site, id, endpoint, sealed, created) values ($1, $2, $3, $4, $5)";
    tx.execute(sql, &params![site, &secret.id, endpoint, secret.sealed.clone(), secret.created]).await?;
    Ok(())
}

/// Lets the current secret sign until a time, and takes away the one before it.
pub(super) async fn retire(tx: &mut Tx<'_>, site: &SiteId, endpoint: &EndpointId, until: Millis) -> Result<()> {
    let sql = "delete from stoa.webhook_secret where site = $1 and endpoint = $2 and expires is not null";
    tx.execute(sql, &params![site, endpoint]).await?;
    let sql = "update stoa.webhook_secret set expires = $1 where site = $2 and endpoint = $3";
    tx.execute(sql, &params![until, site, endpoint]).await?;
    Ok(())
}

/// The keys that sign for an endpoint, the newest first, and when the first of them ceases to.
pub(crate) async fn keys(core: &Core, site: &Site, endpoint: &EndpointId) -> Result<Vec<(hmac::Key, Option<Millis>)>> {
    let (site_id, id, now) = (site.id.clone(), endpoint.clone(), core.world.now());
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select id, sealed, expires from stoa.webhook_secret where site = $1 and endpoint = $2 \
                       and (expires is null or expires > $3) order by created desc, id desc";
            let each = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            Ok(tx.rows(sql, &params![&site_id, &id, now], each).await?)
        })
    });
    let stored: Vec<(String, Vec<u8>, Option<Millis>)> = read.await?;
    let mut keys = Vec::with_capacity(stored.len());
    for (id, sealed, expires) in stored {
        let secret = core.identity.webhook_secret_open(&site.id, endpoint, &id, &sealed).await?;
        keys.push((EndpointSecret(secret).key()?, expires));
    }
    Ok(keys)
}
