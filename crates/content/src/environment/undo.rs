//! A copy taken back: its collections get what they had before. What was written to them since goes with it.

use super::{
    fence::Fence,
    owner, snapshot,
    swap::{self, State, Swap},
    switch::{self, Place, done, hide, move_rights, put_away},
};
use crate::{
    Content,
    collection::{Collection, access, cache, stored},
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Millis, Result};
use stoa_sql::{Table, params};
use stoa_store::{Site, Tx, boxed};

/// Undoes a copy of so many collections.
///
/// # Errors
/// NOT_FOUND when what it replaced isn't kept any more, ALREADY_EXISTS for a collection that was made anew since; WDE0119
/// and UNAVAILABLE for one that has by now what no copy carries, or that a background job works on; UNAVAILABLE when another
/// worker has the copy by now.
pub(super) async fn undo(content: &Content, fence: &Fence, copy: &str, count: usize) -> Result<()> {
    let target = &fence.target;
    let swaps = done(target, copy).await?;
    if swaps.len() != count {
        return Err(gone());
    }
    let ids: Vec<String> = swaps.iter().map(|it| it.collection.clone()).collect();
    switch::check(target, &ids).await?;
    for swap in &swaps {
        reopen(fence, swap).await?;
    }
    let now = content.state.world.now();
    let taken_back = target.write_alone_with((fence.clone(), swaps), move |tx, (fence, swaps)| {
        boxed!({
            fence.check(tx).await?;
            for swap in swaps {
                take_back(tx, &fence.target, swap, now).await?;
            }
            Ok(())
        })
    });
    taken_back.await?;
    cache::announce(content, target, ids.iter().map(String::as_str)).await
}

fn gone() -> Fault {
    Fault::because(Code::NotFound, "What the copy replaced is not kept any more.")
}

/// Whether a copy has been undone as far as its environment knows: as long as that hasn't ended. What isn't kept any more
/// wasn't undone.
pub(super) async fn is_undone(target: &Site, copy: &str) -> Result<bool> {
    Ok(swap::read(target, Some(copy)).await?.iter().any(|it| it.state == State::Undone))
}

/// Lets the table be written to that a collection had before, and settles whose its items are.
async fn reopen(fence: &Fence, swap: &Swap) -> Result<()> {
    let Some(number) = swap.replaced else { return Ok(()) };
    let target = &fence.target;
    let opened = target.write_alone_with(fence.clone(), move |tx, fence| {
        boxed!({
            fence.check(tx).await?;
            let site = &fence.target;
            for statement in tx.dialect().open_items_table(Table { site: site.number, number }) {
                tx.batch(&statement).await?;
            }
            stored::by_number(tx, &site.id, number).await
        })
    });
    let stored = opened.await?.ok_or_else(gone)?;
    owner::settle(target, &Arc::new(Collection::new(target, stored)), swap).await
}

async fn take_back(tx: &mut Tx<'_>, target: &Arc<Site>, swap: &Swap, now: Millis) -> Result<()> {
    let (site, id) = (&target.id, &swap.collection);
    let live = stored::live(tx, site, id).await?;
    match &live {
        Some(it) if it.number == swap.staged => {
            snapshot::check_replaced(tx, site, it).await?;
            hide(tx, target, it, now).await?;
        }
        // It was deleted since.
        None => put_away(tx, site, swap.staged).await?,
        Some(_) => {
            let text = format!("The collection {id} was deleted and made anew since the copy.");
            return Err(Fault::because(Code::AlreadyExists, text).with("collectionName", id.as_str()));
        }
    }
    if let Some(number) = swap.replaced {
        move_rights(tx, site, swap.staged, number).await?;
        // A job that was begun on it since was refused, and told so; there was none when it was replaced.
        let sql = "delete from stoa.sweep where site = $1 and collection = $2";
        tx.execute(sql, &params![site, number]).await?;
        let Some(before) = stored::by_number(tx, site, number).await? else { return Err(gone()) };
        let place = Place { site, id, now, access: access::server().restoration(id)? };
        let newest = match live {
            Some(it) => Some(it),
            None => stored::by_number(tx, site, swap.staged).await?,
        };
        place.show(tx, &before, newest.as_ref()).await?;
    }
    let next = Swap { state: State::Undone, replaced: None, changed: now, ..swap.clone() };
    match swap.replace(tx, site, &next).await? {
        true => Ok(()),
        false => Err(gone()),
    }
}
