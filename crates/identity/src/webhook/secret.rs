//! Secrets of webhook endpoints, encrypted at rest. `stoa_webhooks` makes and uses them; here are the key and its
//! rotation, beside all else that is sealed.

use crate::{Core, Identity};
use stoa_kernel::{EndpointId, Fault, Result, Secret, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, boxed};

impl Identity {
    /// Encrypts the secret with this id of an endpoint.
    ///
    /// # Errors
    /// None that a caller can mend.
    pub fn webhook_secret_seal(
        &self,
        site: &SiteId,
        endpoint: &EndpointId,
        id: &str,
        secret: &Secret,
    ) -> Result<Vec<u8>> {
        let core = &self.core;
        core.ciphers.webhook.encrypt(core.world(), &associated_data(site, endpoint, id), secret.expose())
    }

    /// Decrypts it.
    ///
    /// # Errors
    /// What the catalogue answers; [`stoa_kernel::Code::Internal`] when the key that encrypted it is gone.
    pub async fn webhook_secret_open(
        &self,
        site: &SiteId,
        endpoint: &EndpointId,
        id: &str,
        sealed: &[u8],
    ) -> Result<Secret> {
        let core = &self.core;
        let about = associated_data(site, endpoint, id);
        let opened = core.ciphers.webhook.open(core.store().catalog(), &about, sealed).await?;
        let lost = || Fault::internal(format!("site {site}: the secret {id} of endpoint {endpoint} doesn't open"));
        opened.map(Secret::new).ok_or_else(lost)
    }
}

/// A secret as it is stored.
struct Stored {
    id: String,
    endpoint: EndpointId,
    sealed: Vec<u8>,
}

/// Puts the secrets of a site under the current key, and answers how many were under others.
pub(crate) async fn reseal(core: &Core, site: &Site) -> Result<u64> {
    let cipher = &core.ciphers.webhook;
    let mut count = 0;
    for Stored { id, endpoint, sealed } in others(core, site).await? {
        let about = associated_data(&site.id, &endpoint, &id);
        let Some(secret) = cipher.decrypt(&about, &sealed) else { continue };
        let new = cipher.encrypt(core.world(), &about, &secret)?;
        let put = site.append_with((site.id.clone(), id, sealed, new), |tx, (site, id, old, new)| {
            boxed!({
                let sql = "update stoa.webhook_secret set sealed = $1 where site = $2 and id = $3 and sealed = $4";
                Ok(tx.execute(sql, &params![new.clone(), site, id, old.clone()]).await?)
            })
        });
        count += put.await?;
    }
    Ok(count)
}

/// How many secrets of a site are under older keys.
pub(crate) async fn left(core: &Core, site: &Site) -> Result<u64> {
    Ok(others(core, site).await?.len() as u64)
}

/// The secrets that are under older keys: of a site there are a few dozen at most.
async fn others(core: &Core, site: &Site) -> Result<Vec<Stored>> {
    let id = site.id.clone();
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select id, endpoint, sealed from stoa.webhook_secret where site = $1 order by id";
            let each = |row: &Row<'_>| {
                Ok(Stored { id: row.get(0)?, endpoint: EndpointId::from(row.text(1)?), sealed: row.get(2)? })
            };
            Ok(tx.rows(sql, &params![&id], each).await?)
        })
    });
    Ok(read.await?.into_iter().filter(|it| !core.ciphers.webhook.is_current(&it.sealed)).collect())
}

/// What a secret is encrypted for.
fn associated_data(site: &SiteId, endpoint: &EndpointId, id: &str) -> String {
    serde_json::json!(["webhook secret", site, endpoint, id]).to_string()
}
