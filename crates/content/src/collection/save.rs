//! Rows of collections written: each takes the proof of a right to it.

use crate::collection::{access::ManageAccess, stored::StoredCollection};
use stoa_kernel::{Fault, Result, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::Tx;

/// Writes a new collection and answers whether its id was free.
pub(crate) async fn insert(
    tx: &mut Tx<'_>,
    site: &SiteId,
    stored: &StoredCollection,
    _access: &ManageAccess,
) -> Result<bool> {
    let StoredCollection { number, id, revision, created, updated, .. } = stored;
    let definition = serde_json::to_string(&stored.definition).map_err(Fault::internal)?;
    let sql = "insert into stoa.collection (site, number, id, definition, revision, created, updated) \
               values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing";
    let row = params![site, *number, id, definition, *revision, *created, *updated];
    Ok(tx.execute(sql, &row).await? > 0)
}

/// Writes a changed definition under its next revision.
pub(crate) async fn update(
    tx: &mut Tx<'_>,
    site: &SiteId,
    stored: &mut StoredCollection,
    now: Millis,
    _access: &ManageAccess,
) -> Result<()> {
    stored.revision += 1;
    let definition = serde_json::to_string(&stored.definition).map_err(Fault::internal)?;
    let sql = "update stoa.collection set definition = $1, revision = $2, updated = $3 where site = $4 and number = $5";
    tx.send(sql, params![definition, stored.revision, now, site, stored.number]).await?;
    Ok(())
}

/// Marks the collection that has this id as deleted, and answers whether there was one.
pub(crate) async fn delete(
    tx: &mut Tx<'_>,
    site: &SiteId,
    id: &str,
    now: Millis,
    _access: &ManageAccess,
) -> Result<bool> {
    let sql = "update stoa.collection set deleted = $1 where site = $2 and id = $3 and deleted is null";
    Ok(tx.execute(sql, &params![now.max(1), site, id]).await? > 0)
}

/// Brings back the collection that had this id last, and answers whether there was one.
pub(crate) async fn restore(tx: &mut Tx<'_>, site: &SiteId, id: &str, _access: &ManageAccess) -> Result<bool> {
    let sql = "update stoa.collection set deleted = null where site = $1 and number = \
               (select max(number) from stoa.collection where site = $1 and id = $2)";
    Ok(tx.execute(sql, &params![site, id]).await? > 0)
}
