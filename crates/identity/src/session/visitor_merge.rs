//! From visitor to member: what happens once, with a member's first session.
//!
//! - Never to a pending member: registering issues no session.
//! - Only the first session takes anything along. Later ones may come from a browser that another person
//!   used before as a visitor.
//! - The visitor is the one whose signed token made the call or the redirect session; no browser state
//!   says it. Tokens name their site, so another site's visitor is unknown here.
//! - A visitor becomes one member, once: the tombstone decides among many at the same time.

use crate::{Core, Identity};
use std::sync::Arc;
use std::time::Duration;
use stoa_kernel::{MemberId, Result, VisitorId};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Visitors with something left to pass on that one run of the housekeeping handles.
const UNFINISHED: i64 = 100;

impl Identity {
    /// Passes on what was too much for one transaction, piece by piece. For the housekeeping; after a
    /// sign-in that left something it is also called at once.
    pub async fn visitor_merges_finish(&self, site: &Site) -> Result<()> {
        finish(&self.core, site).await
    }
}

/// Inside the transaction that issues a session: when it is the member's first, what the visitor
/// owns becomes the member's.
pub(crate) async fn merge(
    core: &Arc<Core>,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &MemberId,
    visitor: Option<&VisitorId>,
) -> Result<()> {
    let now = core.now();
    let sql = "update stoa.member set joined = $1 where site = $2 and id = $3 and joined is null";
    let is_first = tx.execute(sql, &params![now, &site.id, member]).await? == 1;
    let (true, Some(visitor)) = (is_first, visitor) else { return Ok(()) };
    let sql = "insert into stoa.visitor_member (site, visitor, member, created, unfinished) \
               values ($1, $2, $3, $4, 0) on conflict do nothing";
    if tx.execute(sql, &params![&site.id, visitor, member, now]).await? == 0 {
        // This visitor became another member before.
        return Ok(());
    }
    let Some(ownership) = core.ownership.get() else { return Ok(()) };
    if ownership.pass(tx, site, visitor, member).await? {
        let sql = "update stoa.visitor_member set unfinished = 1 where site = $1 and visitor = $2";
        tx.send(sql, params![&site.id, visitor]).await?;
        finish_later(core, site);
    }
    Ok(())
}

/// What [`Identity::visitor_merges_finish`] does.
pub(crate) async fn finish(core: &Core, site: &Site) -> Result<()> {
    let Some(ownership) = core.ownership.get().cloned() else { return Ok(()) };
    let id = site.id.clone();
    let sql = "select visitor, member from stoa.visitor_member where site = $1 and unfinished = 1 \
               order by created limit $2";
    let unfinished = site
        .read(stoa_store::ReaderPool::Point, move |tx| {
            boxed!({
                let read =
                    |row: &stoa_store::Row<'_>| Ok((VisitorId::from(row.text(0)?), MemberId::from(row.text(1)?)));
                Ok(tx.rows(sql, &params![&id, UNFINISHED], read).await?)
            })
        })
        .await?;
    let site = core.store.site(&site.id).await?;
    for (visitor, member) in unfinished {
        loop {
            let is_left = site
                .write_with(
                    (ownership.clone(), site.clone(), visitor.clone(), member.clone()),
                    |tx, (ownership, site, visitor, member)| {
                        boxed!({
                            let is_left = ownership.pass(tx, site, visitor, member).await?;
                            if !is_left {
                                let sql =
                                    "update stoa.visitor_member set unfinished = 0 where site = $1 and visitor = $2";
                                tx.send(sql, params![&site.id, visitor]).await?;
                            }
                            Ok(is_left)
                        })
                    },
                )
                .await?;
            if !is_left {
                break;
            }
        }
    }
    Ok(())
}

/// Finishes soon. What does not come to its end here, the housekeeping finds.
fn finish_later(core: &Arc<Core>, site: &Site) {
    let (core, id) = (core.clone(), site.id.clone());
    tokio::runtime::Handle::try_current().ok().map(|runtime| {
        runtime.spawn(async move {
            for wait in [50, 500, 5_000] {
                // The transaction that left something has not committed yet.
                tokio::time::sleep(Duration::from_millis(wait)).await;
                let done = match core.store.site(&id).await {
                    Ok(site) => finish(&core, &site).await,
                    Err(fault) => Err(fault),
                };
                if let Err(fault) = done {
                    tracing::warn!("what a visitor owned was not all passed on: {fault:?}");
                }
            }
        })
    });
}
