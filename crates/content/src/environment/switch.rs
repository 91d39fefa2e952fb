//! The moment of a copy: what it filled takes the place of what was there, for all its collections in one transaction.

use super::{
    fence::{Fence, lost},
    owner, snapshot,
    stage::Staged,
    swap::{self, State, Swap},
};
use crate::{
    Content,
    collection::{
        access::{self, ManageAccess},
        cache, save,
        stored::{self, StoredCollection, hidden_id},
    },
    log::{CollectionEntry, keep_reason},
};
use serde_json::json;
use stoa_kernel::{Code, EntryKind, Fault, Millis, Result, SiteId};
use stoa_sql::{Table, params};
use stoa_store::{ReaderPool, Site, Tx, boxed, outbox};

/// Puts what a copy filled in the place of what its collections had.
///
/// # Errors
/// WDE0119 and UNAVAILABLE for a collection that can't be replaced any more, WDE0080 for more collections than a site may
/// have, UNAVAILABLE when another worker has the copy by now.
pub(super) async fn switch(content: &Content, fence: &Fence, staged: Vec<Staged>) -> Result<()> {
    let ids: Vec<String> = staged.iter().map(|it| it.swap.collection.clone()).collect();
    let (target, most) = (&fence.target, content.limits().collections);
    let input = Switch { fence: fence.clone(), staged, most, now: content.state.world.now() };
    target.write_alone_with(input, |tx, input| boxed!(input.run(tx).await)).await?;
    cache::announce(content, target, ids.iter().map(String::as_str)).await
}

struct Switch {
    fence: Fence,
    staged: Vec<Staged>,
    /// How many collections a site may have.
    most: usize,
    now: Millis,
}

impl Switch {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        self.fence.check(tx).await?;
        for it in &self.staged {
            self.one(tx, &it.swap).await?;
        }
        let sql = "select count(*) from stoa.collection where site = $1 and deleted is null";
        let count: i64 = tx.row(sql, &params![&self.fence.target.id], |row| row.get(0)).await?.unwrap_or(0);
        match count <= self.most as i64 {
            true => Ok(()),
            false => Err(Fault::because(Code::BadRequest, format!("A site has at most {} collections.", self.most))),
        }
    }

    async fn one(&self, tx: &mut Tx<'_>, swap: &Swap) -> Result<()> {
        let target = &self.fence.target;
        let (site, id, now) = (&target.id, &swap.collection, self.now);
        let old = stored::live(tx, site, id).await?;
        if let Some(old) = &old {
            snapshot::check_replaced(tx, site, old).await?;
            hide(tx, target, old, now).await?;
            move_rights(tx, site, old.number, swap.staged).await?;
        }
        let Some(new) = stored::by_number(tx, site, swap.staged).await? else { return Err(lost()) };
        let place = Place { site, id, now, access: access::server().restoration(id)? };
        place.show(tx, &new, old.as_ref()).await?;
        let next = Swap { state: State::Done, replaced: old.map(|it| it.number), changed: now, ..swap.clone() };
        match swap.replace(tx, site, &next).await? {
            true => Ok(()),
            false => Err(lost()),
        }
    }
}

/// Refuses collections that can't be replaced, before they are copied: it is looked at again in the end.
///
/// # Errors
/// As for [`switch`].
pub(super) async fn check(target: &Site, ids: &[String]) -> Result<()> {
    let (site, ids) = (target.id.clone(), ids.to_vec());
    let checked = target.read(ReaderPool::Scan, move |tx| {
        boxed!({
            for id in &ids {
                if let Some(old) = stored::live(tx, &site, id).await? {
                    snapshot::check_replaced(tx, &site, &old).await?;
                }
            }
            Ok(())
        })
    });
    checked.await
}

/// Takes a collection's table from it. What is still about to be written there is refused.
pub(super) async fn hide(tx: &mut Tx<'_>, site: &Site, stored: &StoredCollection, now: Millis) -> Result<()> {
    let access = access::server().deletion(&stored.id, &stored.definition.levels)?;
    save::delete(tx, &site.id, &stored.id, now, &access).await?;
    put_away(tx, &site.id, stored.number).await?;
    for statement in tx.dialect().close_items_table(Table { site: site.number, number: stored.number }) {
        tx.batch(&statement).await?;
    }
    Ok(())
}

/// Has a row that is deleted be that of no collection, so that none is restored from it.
pub(super) async fn put_away(tx: &mut Tx<'_>, site: &SiteId, number: i64) -> Result<()> {
    let sql = "update stoa.collection set id = $1 where site = $2 and number = $3 and deleted is not null";
    tx.execute(sql, &params![hidden_id(number), site, number]).await?;
    Ok(())
}

/// Rights of single people and what visitors own follow the collection to its other table.
pub(super) async fn move_rights(tx: &mut Tx<'_>, site: &SiteId, from: i64, to: i64) -> Result<()> {
    let sql = "update stoa.special_permission set collection = $1 where site = $2 and collection = $3";
    tx.execute(sql, &params![to, site, from]).await?;
    owner::take_over(tx, site, from, to).await
}

/// The collection that gets another table.
pub(super) struct Place<'p> {
    pub site: &'p SiteId,
    /// The collection's id.
    pub id: &'p str,
    pub now: Millis,
    pub access: ManageAccess,
}

impl Place<'_> {
    /// Gives the collection a table, in the place of what it had: as a newer revision of itself.
    pub(super) async fn show(
        &self,
        tx: &mut Tx<'_>,
        new: &StoredCollection,
        old: Option<&StoredCollection>,
    ) -> Result<()> {
        let Self { site, id, now, access } = self;
        let (created, revision) = old.map_or((new.created, new.revision), |it| (it.created, it.revision + 1));
        let sql = "update stoa.collection set id = $1, deleted = null, created = $2, revision = $3, updated = $4 \
                   where site = $5 and number = $6";
        tx.execute(sql, &params![*id, created, revision, *now, *site, new.number]).await?;
        if new.definition.keeps_old_values() {
            outbox::keep(tx, site, &keep_reason(id)).await?;
        }
        let entry = |kind| CollectionEntry { kind, collection: id, actor: save::actor(access), now: *now };
        let kind = if old.is_some() {
            // It was told before that it is gone. Who follows it reads all of it again once its definition has changed.
            entry(EntryKind::CollectionRestored).put(tx, site).await?;
            EntryKind::CollectionUpdated
        } else {
            EntryKind::CollectionCreated
        };
        entry(kind).put_with(tx, site, &[("revision", json!(revision.to_string()))]).await
    }
}

/// The rows of a copy whose collections have what it filled.
pub(super) async fn done(site: &Site, copy: &str) -> Result<Vec<Swap>> {
    let all = swap::read(site, Some(copy)).await?;
    Ok(all.into_iter().filter(|it| it.state == State::Done).collect())
}
