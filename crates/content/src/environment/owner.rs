//! Owners of copied items: a visitor may have become a member since the items were copied the other way.

use super::swap::Swap;
use crate::collection::Collection;
use std::sync::Arc;
use stoa_kernel::{Result, SiteId};
use stoa_sql::{json::quoted, params};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Items that are passed on in one transaction.
const PIECE: i64 = 500;

/// Has the visitors who own items of a table be known there, so that what they become owns the items from then on
/// ([`crate::item::ownership`]); then passes on the items of those who have become members.
pub(super) async fn settle(site: &Site, collection: &Arc<Collection>, swap: &Swap) -> Result<()> {
    if site.is_sandbox() {
        return Ok(());
    }
    let recorded = site.write_with((site.id.clone(), collection.clone()), |tx, (site, collection)| {
        boxed!({
            let sql = format!(
                "insert into stoa.visitor_collection (collection, site, visitor) \
                 select $1, site, visitor from stoa.visitor_collection v \
                 where site = $2 and exists (select 1 from {} c where c.owner = v.visitor) on conflict do nothing",
                collection.statements.name
            );
            tx.execute(&sql, &params![collection.table.number, site]).await?;
            Ok(())
        })
    });
    recorded.await?;
    while pass_some(site, collection, swap).await? {}
    Ok(())
}

/// Makes items of visitors who became members those of the members, and answers whether there were any.
async fn pass_some(site: &Site, collection: &Arc<Collection>, swap: &Swap) -> Result<bool> {
    let found = of_members(site, collection).await?;
    if found.is_empty() {
        return Ok(false);
    }
    let passing = Passing { site: site.id.clone(), collection: collection.clone(), swap: swap.clone(), found };
    site.write_with(passing, |tx, passing| boxed!(passing.run(tx).await)).await?;
    Ok(true)
}

/// Some items whose owners became members: the item's id, the visitor and the member.
async fn of_members(site: &Site, collection: &Collection) -> Result<Vec<(String, String, String)>> {
    let (site_id, table) = (site.id.clone(), collection.statements.name.clone());
    let found = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            // In this order: most owners are members from the beginning.
            let sql = format!(
                "select c.id, m.visitor, m.member from stoa.visitor_member m cross join {table} c \
                 where m.site = $1 and c.owner = m.visitor limit $2"
            );
            let each = |row: &stoa_store::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            Ok(tx.rows(&sql, &params![&site_id, PIECE], each).await?)
        })
    });
    found.await
}

struct Passing {
    site: SiteId,
    collection: Arc<Collection>,
    swap: Swap,
    found: Vec<(String, String, String)>,
}

impl Passing {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        if !self.swap.is_there(tx, &self.site).await? {
            return Ok(());
        }
        let (statements, dialect) = (&self.collection.statements, tx.dialect());
        let sql = format!("update {} set owner = $1, doc = {} where id = $3", statements.name, dialect.store_doc("$2"));
        for (id, visitor, member) in &self.found {
            let owned = params![id, visitor];
            let doc = tx.row(&statements.get_owned, &owned, |row| Ok(row.doc(0)?.into_owned())).await?;
            let Some(doc) = doc else { continue };
            // As in `item::ownership`: the first match is the member itself.
            let (before, after) = (quoted(visitor), quoted(member));
            let doc = doc.replacen(&format!(",\"_owner\":{before}"), &format!(",\"_owner\":{after}"), 1);
            tx.execute(&sql, &params![member, doc, id]).await?;
        }
        Ok(())
    }
}

/// In the transaction that puts one table in the place of another: visitors who are known to own something in the one are
/// known in the other instead.
pub(super) async fn take_over(tx: &mut Tx<'_>, site: &SiteId, from: i64, to: i64) -> Result<()> {
    let sql = "insert into stoa.visitor_collection (collection, site, visitor) \
               select $1, site, visitor from stoa.visitor_collection where site = $2 and collection = $3 \
               on conflict do nothing";
    tx.execute(sql, &params![to, site, from]).await?;
    let sql = "delete from stoa.visitor_collection where site = $1 and collection = $2";
    tx.execute(sql, &params![site, from]).await?;
    Ok(())
}
