//! What a copy would change: the definition of each collection, its indexes, and its items.

use super::copy::{Places, definition};
use crate::{
    collection::stored::{self, StoredCollection},
    fault,
    schema::{
        definition::Definition,
        field::{self, Field},
        index::Source,
    },
};
use serde_json::{Value, json};
use std::{cmp::Ordering, collections::HashSet, sync::Arc};
use stoa_kernel::Result;
use stoa_sql::{Table, params};
use stoa_store::{ReaderPool, Site, boxed};

/// Items of one read of each side: their documents are compared in memory.
const PIECE: i64 = 100;

/// What would become of a collection, with at most so many ids of items of each kind.
///
/// # Errors
/// WDE0025 when it is gone.
pub(super) async fn of_collection(places: &Places, id: &str, most: usize) -> Result<Value> {
    let from = definition(&places.source, id).await?.ok_or_else(|| fault::collection_not_found(id))?;
    let to = definition(&places.target, id).await?;
    let items = items(places, &from, to.as_ref(), most).await?;
    let definition = to.as_ref().map(|it| definitions(&from, it));
    let is_same =
        items.is_same() && definition.as_ref().is_some_and(|it| it.as_object().is_some_and(|it| it.is_empty()));
    let change = match (&to, is_same) {
        (None, _) => "ADD",
        (Some(_), true) => "NONE",
        (Some(_), false) => "CHANGE",
    };
    Ok(json!({
        "collectionId": id, "change": change, "definition": definition.unwrap_or_else(|| json!({})),
        "items": items.view(),
    }))
}

/// The collections that only the environment has to which is copied: a copy leaves them as they are.
pub(super) async fn only_in_target(places: &Places) -> Result<Vec<String>> {
    let there: HashSet<String> = ids(&places.source).await?.into_iter().collect();
    Ok(ids(&places.target).await?.into_iter().filter(|it| !there.contains(it)).collect())
}

/// The ids of all collections, in alphabetical order.
pub(super) async fn ids(site: &Site) -> Result<Vec<String>> {
    let id = site.id.clone();
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let mut ids: Vec<String> = stored::all_live(tx, &id).await?.into_iter().map(|it| it.id).collect();
            ids.sort();
            Ok(ids)
        })
    });
    read.await
}

/// What is different in two definitions; nothing for what isn't.
fn definitions(from: &StoredCollection, to: &StoredCollection) -> Value {
    let mut difference = json!({});
    let (added, changed, removed) = fields(&from.definition, &to.definition);
    if !(added.is_empty() && changed.is_empty() && removed.is_empty()) {
        difference["fields"] = json!({ "added": added, "changed": changed, "removed": removed });
    }
    if !from.definition.has_same_access(&to.definition) {
        difference["permissions"] = json!("changed");
    }
    let plugins = |it: &StoredCollection| it.definition.plugins.iter().map(|it| json!(it)).collect::<Vec<_>>();
    if plugins(from) != plugins(to) {
        difference["plugins"] = json!("changed");
    }
    let rest = |it: &StoredCollection| {
        let mut rest = json!(it.definition);
        for name in ["fields", "plugins", "levels"] {
            rest.as_object_mut().and_then(|it| it.remove(name));
        }
        rest
    };
    if rest(from) != rest(to) {
        difference["settings"] = json!("changed");
    }
    let indexes = |it: &StoredCollection| {
        let managers = it.indexes.iter().filter(|it| it.source == Source::User);
        managers.map(|it| (it.name.clone(), it.definition.clone())).collect::<HashSet<_>>()
    };
    if indexes(from) != indexes(to) {
        difference["indexes"] = json!("changed");
    }
    difference
}

/// The keys of fields that would be added, changed and removed.
fn fields<'d>(from: &'d Definition, to: &'d Definition) -> (Vec<&'d str>, Vec<&'d str>, Vec<&'d str>) {
    let find = |among: &'d Definition, key: &str| among.fields.iter().find(|it| field::key(it) == key);
    let missing = |of: &'d Definition, among: &'d Definition| {
        of.fields.iter().map(field::key).filter(|it| find(among, it).is_none()).collect::<Vec<_>>()
    };
    let is_changed = |it: &&Field| find(to, field::key(it)).is_some_and(|other| other != *it);
    let changed = from.fields.iter().filter(is_changed).map(field::key).collect();
    (missing(from, to), changed, missing(to, from))
}

/// Items that would be added, changed and removed: how many, and the first of them.
#[derive(Default)]
struct Items {
    added: Kind,
    changed: Kind,
    removed: Kind,
    same: u64,
}

#[derive(Default)]
struct Kind {
    count: u64,
    ids: Vec<String>,
}

impl Kind {
    fn add(&mut self, id: String, most: usize) {
        self.count += 1;
        if self.ids.len() < most {
            self.ids.push(id);
        }
    }

    fn view(&self) -> Value {
        json!({ "count": self.count, "ids": self.ids })
    }
}

impl Items {
    fn is_same(&self) -> bool {
        [&self.added, &self.changed, &self.removed].iter().all(|it| it.count == 0)
    }

    fn view(&self) -> Value {
        json!({
            "add": self.added.view(), "change": self.changed.view(), "remove": self.removed.view(), "same": self.same,
        })
    }
}

/// Goes through the items of both sides in the order of their ids.
async fn items(places: &Places, from: &StoredCollection, to: Option<&StoredCollection>, most: usize) -> Result<Items> {
    let mut items = Items::default();
    let mut there = Side::new(&places.source, Some(from.number));
    let mut here = Side::new(&places.target, to.map(|it| it.number));
    loop {
        let order = match (there.peek().await?, here.peek().await?) {
            (None, None) => return Ok(items),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.cmp(&b),
        };
        match order {
            Ordering::Less => items.added.add(there.take().0, most),
            Ordering::Greater => items.removed.add(here.take().0, most),
            Ordering::Equal => {
                let ((id, doc), (_, other)) = (there.take(), here.take());
                if doc == other { items.same += 1 } else { items.changed.add(id, most) }
            }
        }
    }
}

/// The items of one environment, a piece after another.
struct Side<'s> {
    site: &'s Arc<Site>,
    /// Nothing at the end, and where there is no such collection.
    number: Option<i64>,
    after: String,
    /// The last ones come first.
    piece: Vec<(String, String)>,
}

impl<'s> Side<'s> {
    fn new(site: &'s Arc<Site>, number: Option<i64>) -> Self {
        Self { site, number, after: String::new(), piece: Vec::new() }
    }

    async fn peek(&mut self) -> Result<Option<String>> {
        if let (true, Some(number)) = (self.piece.is_empty(), self.number) {
            self.piece = read(self.site, number, self.after.clone()).await?;
            match self.piece.last() {
                Some((last, _)) => self.after.clone_from(last),
                None => self.number = None,
            }
            self.piece.reverse();
        }
        Ok(self.piece.last().map(|it| it.0.clone()))
    }

    fn take(&mut self) -> (String, String) {
        self.piece.pop().unwrap_or_default()
    }
}

async fn read(site: &Arc<Site>, number: i64, after: String) -> Result<Vec<(String, String)>> {
    let table = site.dialect().table(Table { site: site.number, number });
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = format!("select id, doc from {table} where id > $1 order by id limit $2");
            let each = |row: &stoa_store::Row<'_>| Ok((row.get(0)?, row.doc(1)?.into_owned()));
            Ok(tx.rows(&sql, &params![after, PIECE], each).await?)
        })
    });
    read.await
}
