//! Rows of collections written: each takes the proof of a right to it, and tells the outbox.

use crate::{
    collection::{access::ManageAccess, stored::StoredCollection},
    log::{CollectionEntry, keep_reason},
};
use serde_json::json;
use stoa_kernel::{EntryKind, EventActor, Fault, Result, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::{Tx, outbox};

/// Writes a new collection and answers whether its id was free.
pub(crate) async fn insert(
    tx: &mut Tx<'_>,
    site: &SiteId,
    stored: &StoredCollection,
    access: &ManageAccess,
) -> Result<bool> {
    let StoredCollection { number, id, revision, created, updated, .. } = stored;
    let definition = serde_json::to_string(&stored.definition).map_err(Fault::internal)?;
    let sql = "insert into stoa.collection (site, number, id, definition, revision, created, updated) \
               values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing";
    let row = params![site, *number, id, definition, *revision, *created, *updated];
    if tx.execute(sql, &row).await? == 0 {
        return Ok(false);
    }
    if stored.definition.keeps_old_values() {
        outbox::keep(tx, site, &keep_reason(id)).await?;
    }
    let entry = entry(EntryKind::CollectionCreated, id, *created, access);
    entry.put_with(tx, site, &[("revision", json!(revision.to_string()))]).await?;
    Ok(true)
}

/// Writes a changed definition under its next revision.
pub(crate) async fn update(
    tx: &mut Tx<'_>,
    site: &SiteId,
    stored: &mut StoredCollection,
    now: Millis,
    access: &ManageAccess,
) -> Result<()> {
    stored.revision += 1;
    let definition = serde_json::to_string(&stored.definition).map_err(Fault::internal)?;
    let sql = "update stoa.collection set definition = $1, revision = $2, updated = $3 where site = $4 and number = $5";
    tx.send(sql, params![definition, stored.revision, now, site, stored.number]).await?;
    let entry = entry(EntryKind::CollectionUpdated, &stored.id, now, access);
    entry.put_with(tx, site, &[("revision", json!(stored.revision.to_string()))]).await
}

/// Marks the collection that has this id as deleted, and answers whether there was one.
pub(crate) async fn delete(
    tx: &mut Tx<'_>,
    site: &SiteId,
    id: &str,
    now: Millis,
    access: &ManageAccess,
) -> Result<bool> {
    let sql = "update stoa.collection set deleted = $1 where site = $2 and id = $3 and deleted is null";
    if tx.execute(sql, &params![now.max(1), site, id]).await? == 0 {
        return Ok(false);
    }
    outbox::keep_no_longer(tx, site, &keep_reason(id)).await?;
    entry(EntryKind::CollectionDeleted, id, now, access).put(tx, site).await?;
    Ok(true)
}

/// Brings back the collection that had this id last, and answers whether there was one.
pub(crate) async fn restore(
    tx: &mut Tx<'_>,
    site: &SiteId,
    id: &str,
    now: Millis,
    access: &ManageAccess,
) -> Result<bool> {
    let sql = "update stoa.collection set deleted = null where site = $1 and number = \
               (select max(number) from stoa.collection where site = $1 and id = $2)";
    if tx.execute(sql, &params![site, id]).await? == 0 {
        return Ok(false);
    }
    entry(EntryKind::CollectionRestored, id, now, access).put(tx, site).await?;
    Ok(true)
}

/// Tells that others may see, or do, other things in a collection from here on.
pub(crate) async fn tell_access(
    tx: &mut Tx<'_>,
    site: &SiteId,
    id: &str,
    now: Millis,
    access: &ManageAccess,
) -> Result<()> {
    entry(EntryKind::CollectionAccessChanged, id, now, access).put(tx, site).await
}

fn entry<'e>(kind: EntryKind, collection: &'e str, now: Millis, access: &ManageAccess) -> CollectionEntry<'e> {
    CollectionEntry { kind, collection, actor: actor(access), now }
}

/// Who makes a change; the server itself, if no caller does.
pub(crate) fn actor(access: &ManageAccess) -> EventActor {
    access.caller().map_or_else(EventActor::server, EventActor::of)
}
