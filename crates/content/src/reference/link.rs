//! Links in a transaction: the statements that make, remove and look for them.
//!
//! Links travel as one list, so each function is one statement whatever their number. Nothing here
//! asks for rights; what writes takes the proof of one, and scopes come in with it.

use crate::{
    collection::{
        Collection,
        access::{ItemWrite, JobAccess, LinkWrite},
    },
    reference::and_scope,
    schema::relation::{self, Link},
};
use serde::Serialize;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use stoa_kernel::{Code, Fault, Result, SiteId};
use stoa_query::Scope;
use stoa_sql::{Table, Value, Writer, params};
use stoa_store::{Row, Site, Tx};

/// The links of one field.
#[derive(Clone)]
pub(crate) struct FieldLinks {
    site: SiteId,
    link: Link,
    /// The table of the items that the field leads to.
    target: Table,
    /// Whether one of the two collections asks for old values: then each change answers which links it made and
    /// removed, and else nothing.
    is_told: bool,
}

/// Links that one or more statements removed and made, as far as they are told.
#[derive(Debug, Default)]
pub(crate) struct LinkChange {
    pub removed: Vec<Edge>,
    pub added: Vec<Edge>,
}

/// One link of a field, by the ids of its items. It travels as `[source, target]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub source: String,
    pub target: String,
}

/// What an item is to be linked with, in order.
pub(crate) struct TargetList<'i> {
    pub source: &'i str,
    pub targets: Vec<String>,
}

impl Serialize for Edge {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.source, &self.target).serialize(to)
    }
}

impl FieldLinks {
    pub(crate) fn new(site: &Site, link: Link, source: &Collection, target: &Collection) -> Self {
        let is_told = source.definition.keeps_old_values() || target.definition.keeps_old_values();
        Self { site: site.id.clone(), link, target: target.table, is_told }
    }

    /// Runs a statement that removes or makes links, and answers which, in their order, if that is told.
    async fn change(&self, tx: &mut Tx<'_>, sql: String, params: Vec<Value>) -> Result<Vec<Edge>> {
        if !self.is_told {
            tx.send(&sql, params).await?;
            return Ok(Vec::new());
        }
        let (source, target) = (self.link.side.source_column(), self.link.side.target_column());
        let sql = format!("{sql} returning seq, {source}, {target}");
        let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, Edge { source: row.get(1)?, target: row.get(2)? }));
        let mut edges = tx.rows(&sql, &params, read).await?;
        edges.sort_unstable_by_key(|it| it.0);
        Ok(edges.into_iter().map(|it| it.1).collect())
    }

    /// Makes sure that the field has not been deleted meanwhile: memory may be a moment old.
    ///
    /// # Errors
    /// WDE0024.
    pub(crate) async fn check(&self, tx: &mut Tx<'_>) -> Result<()> {
        let sql = "select number from stoa.relation where site = $1 and number = $2 and deleted is null";
        match tx.row(sql, &params![&self.site, self.link.relation], |row| row.get::<i64>(0)).await? {
            Some(_) => Ok(()),
            None => Err(Fault::new(Code::FieldDeleted)),
        }
    }

    /// Makes links, in the order given, of those that lead to an item that is there; one that exists stays
    /// as it is. Answers those that are new, if that is told.
    pub(crate) async fn insert(&self, tx: &mut Tx<'_>, edges: &[Edge], _access: &LinkWrite) -> Result<Vec<Edge>> {
        if edges.is_empty() {
            return Ok(Vec::new());
        }
        let (source, target) = (self.link.side.source_column(), self.link.side.target_column());
        let (table, listed) = (tx.dialect().table(self.target), tx.dialect().listed("$3", 2));
        let sql = format!(
            "insert into stoa.item_link (site, relation, {source}, {target}) select $1, $2, k.c0, k.c1 from {listed} \
             where exists (select 1 from {table} t where t.id = k.c1) order by k.n on conflict do nothing"
        );
        let params = params![&self.site, self.link.relation, json!(edges).to_string()];
        self.change(tx, sql, params.into()).await
    }

    /// Where items lead, in the order in which the links were made; those that lead nowhere aren't in it.
    pub(crate) async fn of(&self, tx: &mut Tx<'_>, items: &[&str]) -> Result<HashMap<String, Vec<String>>> {
        let (source, target, listed) =
            (self.link.side.source_column(), self.link.side.target_column(), tx.dialect().listed("$1", 1));
        let sql = format!(
            "select link.{source}, link.{target} from {listed} cross join stoa.item_link link where link.site = $2 \
             and link.relation = $3 and link.{source} = k.c0 order by link.seq"
        );
        let items: Vec<[&str; 1]> = items.iter().map(|it| [*it]).collect();
        let mut links = HashMap::<String, Vec<String>>::new();
        let params = params![json!(items).to_string(), &self.site, self.link.relation];
        tx.rows(&sql, &params, |row| {
            links.entry(row.get(0)?).or_default().push(row.get(1)?);
            Ok(())
        })
        .await?;
        Ok(links)
    }

    /// Puts links in the place of all that these items have, in the order given. An item that has just
    /// these keeps them untouched, so that doing it again writes nothing.
    pub(crate) async fn put(
        &self,
        tx: &mut Tx<'_>,
        lists: &[TargetList<'_>],
        access: &LinkWrite,
    ) -> Result<LinkChange> {
        let sources: Vec<&str> = lists.iter().map(|it| it.source).collect();
        let there = self.of(tx, &sources).await?;
        let (mut cleared, mut edges) = (Vec::new(), Vec::new());
        for TargetList { source, targets } in lists {
            let old = there.get(*source).map_or(&[][..], Vec::as_slice);
            if old != targets.as_slice() {
                cleared.extend(Some((*source).to_owned()).filter(|_| !old.is_empty()));
                let edge = |target: &String| Edge { source: (*source).to_owned(), target: target.clone() };
                edges.extend(targets.iter().map(edge));
            }
        }
        let removed = match cleared.is_empty() {
            true => Vec::new(),
            false => self.clear(tx, &cleared, access).await?,
        };
        Ok(LinkChange { removed, added: self.insert(tx, &edges, access).await? })
    }

    /// The first of these links that is there.
    pub(crate) async fn first_of(&self, tx: &mut Tx<'_>, edges: &[Edge]) -> Result<Option<Edge>> {
        let (source, target, listed) =
            (self.link.side.source_column(), self.link.side.target_column(), tx.dialect().listed("$1", 2));
        let sql = format!(
            "select k.c0, k.c1 from {listed} cross join stoa.item_link link where link.site = $2 \
             and link.relation = $3 and link.{source} = k.c0 and link.{target} = k.c1 order by k.n limit 1"
        );
        let params = params![json!(edges).to_string(), &self.site, self.link.relation];
        Ok(tx.row(&sql, &params, |row| Ok(Edge { source: row.get(0)?, target: row.get(1)? })).await?)
    }

    /// Removes these links, as far as the right covers the items they lead to. Answers which, if that is told.
    pub(crate) async fn remove(&self, tx: &mut Tx<'_>, edges: &[Edge], access: &LinkWrite) -> Result<Vec<Edge>> {
        let (mut sql, scope) = (Writer::new(tx.dialect()), access.scope());
        let (source, target) = (self.link.side.source_column(), self.link.side.target_column());
        sql.push("delete from stoa.item_link where seq in (select link.seq from ");
        let list = sql.param(json!(edges).to_string());
        let listed = sql.dialect().listed(&list, 2);
        sql.push(&listed).push(" cross join stoa.item_link link");
        self.join_target(&mut sql, scope);
        self.push_condition(&mut sql, " where");
        sql.push(&format!(" and link.{source} = k.c0 and link.{target} = k.c1"));
        self.and_target(&mut sql, scope);
        sql.push(")");
        let (sql, params) = sql.finish();
        self.change(tx, sql, params).await
    }

    /// Removes all links of these items, as far as the right covers the items they lead to. Answers which, if that is
    /// told.
    pub(crate) async fn clear(&self, tx: &mut Tx<'_>, items: &[String], access: &LinkWrite) -> Result<Vec<Edge>> {
        let (mut sql, scope) = (Writer::new(tx.dialect()), access.scope());
        sql.push("delete from stoa.item_link where seq in (select link.seq from stoa.item_link link");
        self.join_target(&mut sql, scope);
        self.push_condition(&mut sql, " where");
        let list = sql.param(items.to_vec());
        let among = sql.dialect().any_of(&format!("link.{}", self.link.side.source_column()), &list);
        sql.push(" and ").push(&among);
        self.and_target(&mut sql, scope);
        sql.push(")");
        let (sql, params) = sql.finish();
        self.change(tx, sql, params).await
    }

    /// Appends the condition that a row of `link` is one of this field's.
    pub(crate) fn push_condition(&self, sql: &mut Writer<'_>, word: &str) {
        sql.push(word).push(" link.site = ").bind(&self.site);
        sql.push(" and link.relation = ").bind(self.link.relation);
    }

    /// Joins the items that links lead to as `target`, if the scope needs them.
    fn join_target(&self, sql: &mut Writer<'_>, scope: &Scope) {
        if *scope != Scope::Everything {
            let table = sql.dialect().table(self.target);
            sql.push(" cross join ").push(&table).push(" target");
        }
    }

    fn and_target(&self, sql: &mut Writer<'_>, scope: &Scope) {
        if *scope != Scope::Everything {
            sql.push(&format!(" and target.id = link.{}", self.link.side.target_column()));
            and_scope(sql, "target", scope);
        }
    }
}

/// Those of the ids whose items are there and covered by the scope.
pub(crate) async fn visible(
    tx: &mut Tx<'_>,
    collection: &Collection,
    scope: &Scope,
    ids: Vec<String>,
) -> Result<HashSet<String>> {
    let mut sql = Writer::new(tx.dialect());
    sql.push("select t.id from ").push(&collection.statements.name).push(" t where ");
    let list = sql.param(ids);
    let among = sql.dialect().any_of("t.id", &list);
    sql.push(&among);
    and_scope(&mut sql, "t", scope);
    let (sql, params) = sql.finish();
    Ok(tx.rows(&sql, &params, |row| row.get(0)).await?.into_iter().collect())
}

/// Removes at most so many of the links from and to items, and answers how many they were.
pub(crate) async fn some_removed(
    tx: &mut Tx<'_>,
    site: &SiteId,
    collection: i64,
    ids: &[String],
    most: u64,
    _access: &JobAccess,
) -> Result<u64> {
    let mut gone = 0;
    for relation in relation::relations(tx, site, collection).await? {
        for (side, ..) in relation.ends(collection) {
            let left = i64::try_from(most - gone).unwrap_or(i64::MAX);
            let among = tx.dialect().any_of(side.source_column(), "$3");
            let sql = format!(
                "delete from stoa.item_link where seq in (select seq from stoa.item_link \
                 where site = $1 and relation = $2 and {among} limit $4)"
            );
            gone += tx.execute(&sql, &params![site, relation.number, ids.to_vec(), left]).await?;
        }
    }
    Ok(gone)
}

/// How many of these items, counted from the first, have so many links from and to them together; one at least.
pub(crate) async fn items_within(
    tx: &mut Tx<'_>,
    site: &SiteId,
    collection: i64,
    ids: &[String],
    most: usize,
) -> Result<usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for relation in relation::relations(tx, site, collection).await? {
        for (side, ..) in relation.ends(collection) {
            let column = side.source_column();
            let among = tx.dialect().any_of(column, "$3");
            let sql = format!(
                "select {column}, count(*) from stoa.item_link where site = $1 and relation = $2 and {among} \
                 group by {column}"
            );
            let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?));
            for (id, count) in tx.rows(&sql, &params![site, relation.number, ids.to_vec()], read).await? {
                *counts.entry(id).or_default() += usize::try_from(count).unwrap_or(usize::MAX);
            }
        }
    }
    let mut links = 0;
    let within = ids.iter().take_while(|id| {
        links += counts.get(id.as_str()).copied().unwrap_or(0);
        links <= most
    });
    Ok(within.count().max(1))
}

/// Removes all links from and to items that go: a statement for each field of the collection that takes
/// part in a relation. To be called in the transaction that removes the items.
pub(crate) async fn items_removed(tx: &mut Tx<'_>, site: &SiteId, access: &ItemWrite, ids: &[String]) -> Result<()> {
    let collection = access.collection().table.number;
    for relation in relation::relations(tx, site, collection).await? {
        for (side, ..) in relation.ends(collection) {
            let among = tx.dialect().any_of(side.source_column(), "$3");
            let sql = format!("delete from stoa.item_link where site = $1 and relation = $2 and {among}");
            tx.send(&sql, params![site, relation.number, ids.to_vec()]).await?;
        }
    }
    Ok(())
}
