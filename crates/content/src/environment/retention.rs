//! How long what a copy replaced is kept, and how it goes: in pieces, then the empty table.
//!
//! A table that a collection had is left alone for a while first. Requests that found it before read on in it, and would
//! see fewer and fewer items.
//!
//! The table of a deleted collection goes the same way once another has its id: from then on nothing restores it, and no call
//! would ever reach what people wrote there. So it is with drafts whose collection keeps none any more.

use super::{
    fence::Fence,
    swap::{self, State, Swap},
    switch::put_away,
};
use crate::{Content, collection::stored, item::truncate::chunk_end};
use std::{collections::HashSet, sync::Arc};
use stoa_kernel::{Fault, Millis, Result, SiteId};
use stoa_sql::{Table, params};
use stoa_store::{ReaderPool, Site, Store, Tx, boxed};

/// How long a copy can be undone, unless there is another one to the same environment before, in milliseconds: 7 days.
pub const UNDO_KEPT: Millis = 7 * 24 * 60 * 60 * 1000;

/// How long a table is left alone after a collection had it, in milliseconds: longer than any read takes.
pub const READ_OUT: Millis = 60 * 1000;

/// Deleted collections that one look finds.
const PIECE: i64 = 100;
/// Links that one transaction removes.
const LINKS: i64 = 1000;

impl Content {
    /// Removes from an environment of a site what copies left there and nobody needs: what was cut off, and what was
    /// replaced too long ago; and collections that were deleted and that nothing restores. To be called now and then.
    ///
    /// # Errors
    /// When the database can't be asked or written; the rest is removed the next time.
    pub async fn environment_tend(&self, store: &Store, site: &Arc<Site>) -> Result<()> {
        give_up_unreachable(site, self.state.world.now()).await?;
        let swaps = swap::read(site, None).await?;
        if swaps.is_empty() {
            return Ok(());
        }
        let open: HashSet<String> = store.copies_open().await?.into_iter().map(|it| it.id).collect();
        let now = self.state.world.now();
        for it in swaps.into_iter().filter(|it| !open.contains(&it.copy)) {
            match it.state {
                State::Done if it.changed <= now - UNDO_KEPT => expire(site, &it.copy, now).await?,
                State::Staged => discard(site, it, now).await?,
                State::Undone | State::Going if it.changed <= now - READ_OUT => discard(site, it, now).await?,
                State::Done | State::Undone | State::Going => {}
            }
        }
        Ok(())
    }
}

/// Has collections go that were deleted and can't be restored: a later one has or had the id, or they have drafts of one that
/// keeps none.
async fn give_up_unreachable(site: &Arc<Site>, now: Millis) -> Result<()> {
    if !has_unreachable(site, now).await? {
        return Ok(());
    }
    let given_up = site.write_with(site.id.clone(), move |tx, site| {
        boxed!({
            for (staged, collection) in unreachable(tx, site, now).await? {
                put_away(tx, site, staged).await?;
                let copy = format!("deleted-{staged}");
                let going = Swap { copy, collection, state: State::Going, staged, replaced: None, changed: now };
                going.insert(tx, site).await?;
            }
            Ok(())
        })
    });
    given_up.await
}

async fn has_unreachable(site: &Site, now: Millis) -> Result<bool> {
    let id = site.id.clone();
    let found = site.read(ReaderPool::Point, move |tx| boxed!(unreachable(tx, &id, now).await));
    Ok(!found.await?.is_empty())
}

/// Numbers and ids of some of them.
async fn unreachable(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Vec<(i64, String)>> {
    let sql = "select number, id from stoa.collection earlier where site = $1 and deleted <= $2 and exists \
               (select 1 from stoa.collection later where later.site = earlier.site and later.id = earlier.id \
               and later.number > earlier.number) and not exists (select 1 from stoa.environment_swap swap \
               where swap.site = earlier.site and (swap.staged = earlier.number or swap.replaced = earlier.number)) \
               order by number limit $3";
    let mut found: Vec<(i64, String)> =
        tx.rows(sql, &params![site, now - READ_OUT, PIECE], |row| Ok((row.get(0)?, row.get(1)?))).await?;
    for it in deleted_drafts(tx, site, now).await? {
        if !found.contains(&it) && is_without_published(tx, site, &it).await? {
            found.push(it);
        }
    }
    Ok(found)
}

/// Numbers and ids of deleted collections that may have drafts of others.
async fn deleted_drafts(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Vec<(i64, String)>> {
    let sql = "select number, id from stoa.collection drafts where site = $1 and deleted <= $2 \
               and substr(id, length(id) - 7) = '__drafts' and not exists (select 1 from stoa.environment_swap swap \
               where swap.site = drafts.site and (swap.staged = drafts.number or swap.replaced = drafts.number)) \
               order by number";
    Ok(tx.rows(sql, &params![site, now - READ_OUT], |row| Ok((row.get(0)?, row.get(1)?))).await?)
}

/// Whether the last collection of the id whose drafts these are keeps none: they are restored with it alone.
async fn is_without_published(tx: &mut Tx<'_>, site: &SiteId, drafts: &(i64, String)) -> Result<bool> {
    let (number, id) = drafts;
    let Some(stored) = stored::by_number(tx, site, *number).await? else { return Ok(false) };
    let Some(published) = stored.definition.published_id() else { return Ok(false) };
    let sql = "select number from stoa.collection where site = $1 and id = $2 order by number desc limit 1";
    let Some(last) = tx.row(sql, &params![site, published], |row| row.get::<i64>(0)).await? else { return Ok(true) };
    let last = stored::by_number(tx, site, last).await?;
    Ok(last.is_none_or(|it| it.definition.drafts_id() != Some(id.as_str())))
}

/// Has what a copy replaced go: it can't be undone any more.
async fn expire(site: &Site, copy: &str, now: Millis) -> Result<()> {
    let written = site.write_with((site.id.clone(), copy.to_owned()), move |tx, (site, copy)| {
        boxed!({
            for it in swap::of_copy(tx, site, copy).await?.iter().filter(|it| it.state == State::Done) {
                expire_one(tx, site, it, now).await?;
            }
            Ok(())
        })
    });
    written.await
}

/// Has what other copies replaced in the same environment go. While this one is open none of them can be undone.
///
/// # Errors
/// UNAVAILABLE when another worker has the copy by now.
pub(super) async fn expire_others(fence: &Fence, copy: &str, now: Millis) -> Result<()> {
    let written = fence.target.write_with((fence.clone(), copy.to_owned()), move |tx, (fence, copy)| {
        boxed!({
            fence.check(tx).await?;
            let site = &fence.target.id;
            let is_other = |it: &&Swap| it.copy != *copy && it.state == State::Done;
            for it in swap::all(tx, site).await?.iter().filter(is_other) {
                expire_one(tx, site, it, now).await?;
            }
            Ok(())
        })
    });
    written.await
}

async fn expire_one(tx: &mut Tx<'_>, site: &SiteId, swap: &Swap, now: Millis) -> Result<()> {
    let Some(staged) = swap.replaced else { return Ok(swap.remove(tx, site).await?) };
    let next = Swap { state: State::Going, staged, replaced: None, changed: now, ..swap.clone() };
    swap.replace(tx, site, &next).await?;
    Ok(())
}

/// Has the tables go that a copy filled, unless their collections have them by now.
///
/// # Errors
/// UNAVAILABLE when another worker has the copy by now.
pub(super) async fn abandon(fence: &Fence, copy: &str, now: Millis) -> Result<()> {
    let written = fence.target.write_with((fence.clone(), copy.to_owned()), move |tx, (fence, copy)| {
        boxed!({
            fence.check(tx).await?;
            let site = &fence.target.id;
            for it in swap::of_copy(tx, site, copy).await?.into_iter().filter(|it| it.state == State::Staged) {
                let going = Swap { state: State::Going, changed: now, ..it.clone() };
                it.replace(tx, site, &going).await?;
            }
            Ok(())
        })
    });
    written.await
}

/// Removes links of items that are gone, and answers how many those were.
async fn remove_links(site: &Arc<Site>, going: &Swap) -> Result<u64> {
    let removed = site.write_with((site.id.clone(), going.clone()), |tx, (site, going)| {
        boxed!({
            if !going.is_there(tx, site).await? {
                return Ok(0);
            }
            let sql = "delete from stoa.item_link where seq in (select link.seq from stoa.item_link link \
                       join stoa.relation relation on relation.site = link.site and relation.number = link.relation \
                       where relation.site = $1 and (relation.referring = $2 or relation.referenced = $2) limit $3)";
            Ok(tx.execute(sql, &params![site, going.staged, LINKS]).await?)
        })
    });
    removed.await
}

/// Removes a table that no collection has; one that a collection has stays.
pub(super) async fn discard(site: &Arc<Site>, swap: Swap, now: Millis) -> Result<()> {
    if swap.state == State::Done {
        return Ok(());
    }
    let going = Swap { state: State::Going, changed: now, ..swap.clone() };
    let begun = site.write_alone_with((site.clone(), swap, going.clone()), |tx, (site, swap, going)| {
        boxed!({
            if !swap.replace(tx, &site.id, going).await? {
                return Ok(false);
            }
            for statement in tx.dialect().open_items_table(Table { site: site.number, number: swap.staged }) {
                tx.batch(&statement).await?;
            }
            Ok(true)
        })
    });
    if !begun.await? {
        return Ok(());
    }
    loop {
        let piece = site.write_with((site.clone(), going.clone()), |tx, (site, going)| {
            boxed!({
                if !going.is_there(tx, &site.id).await? {
                    return Ok(false);
                }
                let name = tx.dialect().table(Table { site: site.number, number: going.staged });
                let Some(last) = chunk_end(tx, &name, 0, i64::MAX).await? else { return Ok(false) };
                tx.execute(&format!("delete from {name} where rid <= $1"), &params![last]).await?;
                Ok(true)
            })
        });
        if !piece.await? {
            break;
        }
    }
    while remove_links(site, &going).await? >= LINKS as u64 {}
    let removed = site.write_alone_with((site.clone(), going), |tx, (site, going)| {
        boxed!({
            if !going.is_there(tx, &site.id).await? {
                return Ok(());
            }
            let (id, number) = (&site.id, going.staged);
            for statement in tx.dialect().drop_items_table(Table { site: site.number, number }) {
                tx.batch(&statement).await?;
            }
            for table in ["content_index", "special_permission", "visitor_collection", "sweep", "item_translation"] {
                let sql = format!("delete from stoa.{table} where site = $1 and collection = $2");
                tx.execute(&sql, &params![id, number]).await?;
            }
            // The row stays, so that the number is never given to another table.
            if let Some(mut stored) = stored::by_number(tx, id, number).await? {
                stored.definition.fields.clear();
                stored.definition.plugins.clear();
                let definition = serde_json::to_string(&stored.definition).map_err(Fault::internal)?;
                let sql = "update stoa.collection set definition = $1 where site = $2 and number = $3";
                tx.execute(sql, &params![definition, id, number]).await?;
            }
            going.remove(tx, id).await?;
            Ok(())
        })
    });
    removed.await
}
