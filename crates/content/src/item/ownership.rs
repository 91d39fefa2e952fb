//! What a visitor owns is transferred to the member that the visitor becomes
//! (docs/hazards.md §Ownership from visitor to member).
//!
//! A visitor's first item in a collection records the pair (visitor, collection); with the member's first
//! session every recorded collection is gone through by its index on the owner. From then on a tombstone
//! marks the visitor: what still arrives in its name is refused, because on a shared browser it may come
//! from another user. Both sides run SERIALIZABLE, so an item is either transferred or refused.

use crate::{
    Content,
    collection::{
        Collection,
        access::{self, Handover},
        stored,
    },
    event::write::{EventWriter, UpdatedItem},
    item::row::WriteContext,
};
use quick_cache::sync::Cache;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result, SiteId, VisitorId, clock::Millis};
use stoa_sql::{Value, json::quoted, params};
use stoa_store::{Ownership, Site, Tx, TxFuture, boxed};

/// Items that are transferred in one transaction: a visitor may have written very many.
const AT_ONCE: i64 = 500;
/// Pairs that are known to be recorded.
const RECORDED: usize = 20_000;

/// Pairs of a visitor and a collection that a committed transaction has recorded.
pub(crate) struct RecordedVisitors(Cache<(SiteId, VisitorId, i64), ()>);

impl Default for RecordedVisitors {
    fn default() -> Self {
        Self(Cache::new(RECORDED))
    }
}

/// Inside a transaction that may write items of a visitor: refuses a visitor who has become a member
/// and records the pair once. Callers of other kinds cost nothing.
///
/// # Errors
/// WDE0027 for a visitor who has become a member.
pub(crate) async fn visitor_writes(tx: &mut Tx<'_>, context: &WriteContext) -> Result<()> {
    let Caller::Visitor { id, .. } = context.caller().bare() else { return Ok(()) };
    let sql = "select 1 from stoa.visitor_member where site = $1 and visitor = $2";
    if tx.row(sql, &params![&context.site, id], |_| Ok(())).await?.is_some() {
        let text = "This visitor has become a member; sign in, or begin as a new visitor.";
        return Err(Fault::because(Code::PermissionDenied, text));
    }
    let number = context.collection().table.number;
    if context.content.state.recorded_visitors.0.get(&(context.site.clone(), id.clone(), number)).is_none() {
        let sql = "insert into stoa.visitor_collection (site, visitor, collection) values ($1, $2, $3) \
                   on conflict do nothing";
        tx.send(sql, params![&context.site, id, number]).await?;
    }
    Ok(())
}

/// Inside a transaction that puts an item of an owner into another collection: where that is a visitor, it goes to the member
/// that the visitor becomes from there as well.
pub(crate) async fn moves(tx: &mut Tx<'_>, context: &WriteContext, source: &Collection, owner: &str) -> Result<()> {
    let sql = "insert into stoa.visitor_collection (collection, site, visitor) \
               select $1, site, visitor from stoa.visitor_collection \
               where site = $2 and visitor = $3 and collection = $4 on conflict do nothing";
    let (from, to) = (source.table.number, context.collection().table.number);
    tx.send(sql, params![to, &context.site, owner, from]).await?;
    Ok(())
}

/// After the commit: the pair need not be recorded again.
pub(crate) fn visitor_wrote(context: &WriteContext) {
    if let Caller::Visitor { id, .. } = context.caller().bare() {
        context
            .content
            .state
            .recorded_visitors
            .0
            .insert((context.site.clone(), id.clone(), context.collection().table.number), ());
    }
}

/// A visitor who becomes a member.
#[derive(Clone, Copy)]
struct Transfer<'t> {
    site: &'t Site,
    visitor: &'t VisitorId,
    member: &'t MemberId,
    now: Millis,
}

impl Transfer<'_> {
    /// Transfers some of the visitor's items and answers whether more are left.
    async fn run(&self, tx: &mut Tx<'_>, access: &Handover) -> Result<bool> {
        let Self { site, visitor, .. } = *self;
        let sql = "select collection from stoa.visitor_collection where site = $1 and visitor = $2 order by collection";
        let numbers: Vec<i64> = tx.rows(sql, &params![&site.id, visitor], |row| row.get(0)).await?;
        let mut left = AT_ONCE;
        for number in numbers {
            if let Some(stored) = stored::by_number(tx, &site.id, number).await? {
                left -= self.transfer_some(tx, &Collection::new(site, stored), left, access).await?;
            }
            if left <= 0 {
                return Ok(true);
            }
            let sql = "delete from stoa.visitor_collection where site = $1 and visitor = $2 and collection = $3";
            tx.send(sql, params![&site.id, visitor, number]).await?;
        }
        Ok(false)
    }

    /// Transfers at most `most` items of one collection and answers how many they were.
    async fn transfer_some(
        &self,
        tx: &mut Tx<'_>,
        collection: &Collection,
        most: i64,
        _access: &Handover,
    ) -> Result<i64> {
        let Self { site, visitor, member, now } = *self;
        let table = &collection.statements.name;
        let sql = format!("select id, doc from {table} where owner = $1 limit $2");
        let mut items: Vec<(String, String)> =
            tx.rows(&sql, &params![visitor, most], |row| Ok((row.get(0)?, row.doc(1)?.into_owned()))).await?;
        // As other writers do: so none waits for another in a circle.
        items.sort_unstable();
        if items.is_empty() {
            return Ok(0);
        }
        let before = format!(",\"_owner\":{}", quoted(visitor.as_str()));
        let after = format!(",\"_owner\":{}", quoted(member.as_str()));
        let sql = format!("update {table} set owner = $1, doc = {} where id = $3", tx.dialect().store_doc("$2"));
        let events = EventWriter::of_member(&site.id, collection, member, now);
        let old = events.keeps_old().then(|| format!("{{\"_owner\":{}}}", quoted(visitor.as_str())));
        let mut changed = Vec::with_capacity(items.len());
        for (id, doc) in items {
            // The four names that the server writes stand in front, and text inside a document has its
            // quotes escaped: the first match is the member itself.
            let doc = doc.replacen(&before, &after, 1);
            tx.execute(&sql, &[Value::from(member), doc.clone().into(), id.into()]).await?;
            changed.push(UpdatedItem { doc, modified: vec!["\"_owner\"".to_owned()], old: old.clone() });
        }
        if !stored::is_hidden(collection.id.as_str()) {
            events.updated(tx, &changed).await?;
        }
        Ok(changed.len() as i64)
    }
}

impl Ownership for Content {
    fn pass<'t>(
        &'t self,
        tx: &'t mut Tx<'_>,
        site: &'t Site,
        visitor: &'t VisitorId,
        member: &'t MemberId,
    ) -> TxFuture<'t, bool> {
        let transfer = Transfer { site, visitor, member, now: self.state.world.now() };
        boxed!(transfer.run(tx, &access::handover()).await)
    }
}
