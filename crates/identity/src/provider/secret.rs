//! Secrets of clients at providers, encrypted at rest with a key of their own (decision 26).

use crate::Core;
use stoa_kernel::{Fault, Result, Secret, SiteId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, boxed};

/// Encrypts the secret of a connection, given as its id and issuer: for its issuer, so that write access to the tables is not enough
/// to have it sent elsewhere.
pub(super) fn seal(core: &Core, site: &SiteId, (id, issuer): (&str, &str), secret: &Secret) -> Result<Vec<u8>> {
    core.ciphers.provider.encrypt(core.world(), &associated_data(site, id, issuer), secret.expose())
}

/// The secret of a connection, given as its id and issuer.
///
/// # Errors
/// What the engine answers; [`stoa_kernel::Code::Internal`] when the key that encrypted it is gone.
pub(super) async fn open(core: &Core, site: &Site, (id, issuer): (&str, &str)) -> Result<Secret> {
    let all = stored(site).await?;
    let sealed = all.into_iter().find(|it| it.id == id).map(|it| it.sealed).unwrap_or_default();
    let about = associated_data(&site.id, id, issuer);
    let opened = core.ciphers.provider.open(core.store().catalog(), &about, &sealed).await?;
    let lost = || Fault::internal(format!("site {}: the secret of connection {id} doesn't open", site.id));
    opened.map(Secret::new).ok_or_else(lost)
}

/// A secret as it is stored.
struct Stored {
    id: String,
    issuer: String,
    sealed: Vec<u8>,
}

/// Puts the secrets of a site under the current key, and answers how many were under others.
pub(crate) async fn reseal(core: &Core, site: &Site) -> Result<u64> {
    let (cipher, mut count) = (&core.ciphers.provider, 0);
    for Stored { id, issuer, sealed } in stored(site).await? {
        let about = associated_data(&site.id, &id, &issuer);
        let Some(secret) = cipher.decrypt(&about, &sealed).filter(|_| !cipher.is_current(&sealed)) else { continue };
        let new = cipher.encrypt(core.world(), &about, &secret)?;
        let put = site.append_with((site.id.clone(), id, sealed, new), |tx, (site, id, old, new)| {
            boxed!({
                let sql = "update stoa.provider set sealed = $1 where site = $2 and id = $3 and sealed = $4";
                Ok(tx.execute(sql, &params![new.clone(), &*site, id.as_str(), old.clone()]).await?)
            })
        });
        count += put.await?;
    }
    Ok(count)
}

/// How many secrets of a site are under older keys.
pub(crate) async fn left(core: &Core, site: &Site) -> Result<u64> {
    let cipher = &core.ciphers.provider;
    Ok(stored(site).await?.iter().filter(|it| !cipher.is_current(&it.sealed)).count() as u64)
}

/// Of a site there are ten at most.
async fn stored(site: &Site) -> Result<Vec<Stored>> {
    let id = site.id.clone();
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select id, issuer, sealed from stoa.provider where site = $1 order by id";
            let each = |row: &Row<'_>| Ok(Stored { id: row.get(0)?, issuer: row.get(1)?, sealed: row.get(2)? });
            Ok(tx.rows(sql, &params![&id], each).await?)
        })
    });
    read.await
}

/// What a secret is encrypted for.
fn associated_data(site: &SiteId, id: &str, issuer: &str) -> String {
    serde_json::json!(["provider secret", site, id, issuer]).to_string()
}
