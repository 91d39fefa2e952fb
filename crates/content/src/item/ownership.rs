//! What a visitor owns passes to the member that the visitor becomes (hazards: Ownership from visitor to
//! member).
//!
//! A visitor's first item in a collection notes the pair (visitor, collection); with the member's first
//! session every noted collection is gone through by its index on the owner. From then on a tombstone
//! marks the visitor: what still arrives in its name is refused, because on a shared browser it may come
//! from somebody else. Both sides run SERIALIZABLE, so an item is either passed on or refused.

use crate::{Collection, Content, collection, event::Author, item::write::Target};
use quick_cache::sync::Cache;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result, SessionId, SiteId, VisitorId};
use stoa_sql::{Value, json::quoted, params};
use stoa_store::{Ownership, Site, Tx, TxFuture, boxed};

/// Items that are passed on in one transaction: a visitor may have written very many.
const AT_ONCE: i64 = 500;
/// Pairs that are known to be noted.
const NOTED: usize = 20_000;

/// Pairs that a committed transaction has noted.
pub(crate) struct Noted(Cache<(SiteId, VisitorId, i64), ()>);

impl Default for Noted {
    fn default() -> Self {
        Self(Cache::new(NOTED))
    }
}

impl Content {
    /// Inside a transaction that may write items of a visitor: refuses a visitor who has become a member
    /// and notes the pair once. Callers of other kinds cost nothing.
    ///
    /// # Errors
    /// WDE0027 for a visitor who has become a member.
    pub(crate) async fn visitor_writes(&self, tx: &mut Tx<'_>, target: &Target) -> Result<()> {
        let Caller::Visitor { id, .. } = &target.caller else { return Ok(()) };
        let sql = "select 1 from stoa.visitor_member where site = $1 and visitor = $2";
        if tx.row(sql, &params![&target.site, id], |_| Ok(())).await?.is_some() {
            let text = "This visitor has become a member; sign in, or begin as a new visitor.";
            return Err(Fault::because(Code::PermissionDenied, text));
        }
        let number = target.collection.table.number;
        if self.0.noted.0.get(&(target.site.clone(), id.clone(), number)).is_none() {
            let sql = "insert into stoa.visitor_collection (site, visitor, collection) values ($1, $2, $3) \
                       on conflict do nothing";
            tx.send(sql, params![&target.site, id, number]).await?;
        }
        Ok(())
    }

    /// After the commit: the pair need not be noted again.
    pub(crate) fn visitor_wrote(&self, target: &Target) {
        if let Caller::Visitor { id, .. } = &target.caller {
            self.0.noted.0.insert((target.site.clone(), id.clone(), target.collection.table.number), ());
        }
    }

    async fn pass_items(&self, tx: &mut Tx<'_>, site: &Site, visitor: &VisitorId, member: &MemberId) -> Result<bool> {
        let sql = "select collection from stoa.visitor_collection where site = $1 and visitor = $2 order by collection";
        let numbers: Vec<i64> = tx.rows(sql, &params![&site.id, visitor], |row| row.get(0)).await?;
        let mut left = AT_ONCE;
        for number in numbers {
            if let Some(stored) = collection::by_number(tx, &site.id, number).await? {
                let collection = Collection::new(site, stored);
                left -= self.pass_some(tx, site, &collection, (visitor, member), left).await?;
            }
            if left <= 0 {
                return Ok(true);
            }
            let sql = "delete from stoa.visitor_collection where site = $1 and visitor = $2 and collection = $3";
            tx.send(sql, params![&site.id, visitor, number]).await?;
        }
        Ok(false)
    }

    /// Passes on at most `most` items of one collection and answers how many they were.
    async fn pass_some(
        &self,
        tx: &mut Tx<'_>,
        site: &Site,
        collection: &Collection,
        (visitor, member): (&VisitorId, &MemberId),
        most: i64,
    ) -> Result<i64> {
        let table = &collection.texts.name;
        let sql = format!("select id, doc from {table} where owner = $1 limit $2");
        let items: Vec<(String, String)> =
            tx.rows(&sql, &params![visitor, most], |row| Ok((row.get(0)?, row.doc(1)?.into_owned()))).await?;
        if items.is_empty() {
            return Ok(0);
        }
        let before = format!(",\"_owner\":{}", quoted(visitor.as_str()));
        let after = format!(",\"_owner\":{}", quoted(member.as_str()));
        let sql = format!("update {table} set owner = $1, doc = {} where id = $3", tx.dialect().store_doc("$2"));
        let mut changed = Vec::with_capacity(items.len());
        for (id, doc) in items {
            // The four names that the server writes stand in front, and text inside a document has its
            // quotes escaped: the first match is the member itself.
            let doc = doc.replacen(&before, &after, 1);
            tx.execute(&sql, &[Value::from(member), doc.clone().into(), id.into()]).await?;
            changed.push((doc, vec!["\"_owner\"".to_owned()]));
        }
        let caller = Caller::Member { id: member.clone(), session: SessionId::from(""), client: None };
        Author::new(&site.id, collection, &caller, self.world().now()).updated(tx, &changed).await?;
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
        boxed!(self.pass_items(tx, site, visitor, member).await)
    }
}
