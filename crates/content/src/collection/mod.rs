//! Collections as they are read (protocol/content.md 6). How they change is in [`crate::manage::collections`].

pub(crate) mod cache;
pub(crate) mod statements;
pub(crate) mod vault;

use crate::{
    Content, Levels,
    collection::{statements::Texts, vault::Fields},
    item::truncate,
    manage::permissions::{self, Specials},
    reference::{self, Link},
    schema::{
        definition::{self, Definition},
        index::{self, Index, Status},
        level::{self, Access},
        rules::Rules,
    },
};
use parking_lot::RwLock;
use serde_json::Value;
use std::{
    cmp::Ordering,
    collections::HashMap,
    sync::{Arc, OnceLock},
};
use stoa_kernel::{Caller, Code, CollectionId, Fault, Result, SiteId, clock::Millis};
use stoa_query::schema::{IndexSpec, Schema};
use stoa_sql::{Table, params};
use stoa_store::{Lane, Row, Site, Tx, boxed};

/// A collection as operations on its items need it.
pub struct Collection {
    pub id: CollectionId,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
    pub definition: Definition,
    pub(crate) table: Table,
    pub(crate) specials: Specials,
    pub(crate) indexes: Vec<Index>,
    pub(crate) schema: Schema,
    /// The fields whose values are stored encrypted.
    pub(crate) encrypted: Fields,
    pub(crate) texts: Texts,
    /// Where the multi-reference fields find their links.
    pub(crate) links: HashMap<String, Link>,
    /// Indexes by which a page met an item that they can't have in order, so that the next page by them
    /// doesn't try to do without those (`stoa_query::compile::find_even`).
    pub(crate) odd_indexes: RwLock<Vec<i64>>,
    rules: OnceLock<Rules>,
}

/// Which collections a list shows, and in which order.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// A member of the collection object: id, displayName, createdDate or updatedDate.
    pub sort: Option<String>,
    pub is_descending: bool,
    pub limit: Option<usize>,
    pub offset: usize,
    /// Members that are wanted; none for all.
    pub fields: Vec<String>,
}

/// One page of collections as wire objects.
pub struct CollectionList {
    pub collections: Vec<Value>,
    pub offset: usize,
    pub total: usize,
}

/// What a row of `stoa.collection` says.
pub(crate) struct Stored {
    pub number: i64,
    pub id: String,
    pub definition: Definition,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
    pub specials: Specials,
    pub indexes: Vec<Index>,
}

const COLUMNS: &str = "number, id, definition, revision, created, updated";
impl Collection {
    pub fn levels(&self) -> &Levels {
        &self.definition.levels
    }

    /// What decides on this caller's rights here.
    pub(crate) fn access(&self, caller: &Caller) -> Access {
        Access { levels: self.definition.levels, grants: self.specials.grants(caller) }
    }

    /// What items are held to, read from the definition when it is first needed.
    pub(crate) fn rules(&self) -> &Rules {
        self.rules.get_or_init(|| Rules::new(&self.definition))
    }

    pub(crate) fn new(site: &Site, stored: Stored) -> Self {
        let table = Table { site: site.number, number: stored.number };
        Self {
            texts: Texts::new(site.dialect(), table, &stored.id),
            table,
            schema: Schema { indexes: ready(&stored.indexes), ..stored.definition.schema() },
            encrypted: Fields::of(&stored.definition.fields),
            indexes: stored.indexes,
            specials: stored.specials,
            links: HashMap::new(),
            id: stored.id.into(),
            revision: stored.revision,
            created: stored.created,
            updated: stored.updated,
            definition: stored.definition,
            odd_indexes: RwLock::default(),
            rules: OnceLock::new(),
        }
    }
}

impl Content {
    /// The collection that item operations work on, from memory as a rule.
    ///
    /// # Errors
    /// WDE0025 when there is none, WDE0026 when it was deleted.
    pub async fn collection(&self, site: &Site, id: &str) -> Result<Arc<Collection>> {
        // No collection has such an id, and one engine can't even be asked.
        if id.is_empty() || id.contains('\0') {
            return Err(missing(id));
        }
        let now = self.world().now();
        if let Some(known) = self.cache().get(&site.id, id, now) {
            return Ok(known);
        }
        let ticket = self.cache().ticket();
        let (key, name) = (site.id.clone(), id.to_owned());
        let found = site.read(Lane::Point, move |tx| {
            boxed!({
                let Some(stored) = live(tx, &key, &name).await? else {
                    return if is_deleted(tx, &key, &name).await? { Err(deleted(&name)) } else { Ok(None) };
                };
                let links = reference::links(tx, &key, &stored).await?;
                let swept = truncate::touched(tx, &key, stored.number).await?;
                Ok(Some((stored, links, swept)))
            })
        });
        let (stored, links, swept) = found.await?.ok_or_else(|| missing(id))?;
        let collection = Arc::new(Collection { links, ..Collection::new(site, stored) });
        self.cache().keep(&ticket, &site.id, collection.clone(), now);
        if swept.is_some_and(|it| now - it > truncate::LEASE) {
            self.sweep_resume(site, collection.table);
        }
        Ok(collection)
    }

    /// The same for calls on the collection itself, to whom a deleted one is as good as none.
    pub(crate) async fn collection_known(&self, site: &Site, id: &str) -> Result<Arc<Collection>> {
        let found = self.collection(site, id).await;
        found.map_err(|it| if it.code() == Code::CollectionDeleted { missing(id) } else { it })
    }

    /// The wire object of a collection: all of it for managers, a reduced form for others.
    ///
    /// # Errors
    /// WDE0025 when there is none, or none that the caller may know of.
    pub async fn collection_get(
        &self,
        site: &Site,
        caller: &Caller,
        id: &str,
        fields: &[String],
        with_allowed: bool,
    ) -> Result<Value> {
        let collection = self.collection_known(site, id).await?;
        if !level::may_know(caller, &collection.access(caller)) {
            return Err(missing(id));
        }
        Ok(only(definition::view(&collection, caller, with_allowed, self.limits()), fields))
    }

    /// A page of the collections that the caller may know of, the oldest first unless sorted.
    ///
    /// # Errors
    /// WDE0080 for a sort by anything else than the four members.
    pub async fn collection_list(&self, site: &Site, caller: &Caller, options: &ListOptions) -> Result<CollectionList> {
        let key = site.id.clone();
        let mut all = site
            .read(Lane::Scan, move |tx| {
                boxed!({
                    let sql = format!(
                        "select {COLUMNS} from stoa.collection where site = $1 and deleted is null order by number"
                    );
                    let mut all = tx.rows(&sql, &params![&key], read).await?;
                    let mut specials = permissions::specials(tx, &key, None).await?;
                    for it in &mut all {
                        it.specials = specials.remove(&it.number).unwrap_or_default();
                    }
                    Ok(all)
                })
            })
            .await?;
        let access = |it: &Stored| Access { levels: it.definition.levels, grants: it.specials.grants(caller) };
        all.retain(|it| level::may_know(caller, &access(it)));
        if let Some(name) = &options.sort {
            let by = compare(name)?;
            all.sort_by(|a, b| if options.is_descending { by(b, a) } else { by(a, b) });
        }
        let total = all.len();
        let page = all.into_iter().skip(options.offset).take(options.limit.unwrap_or(100));
        let view =
            |it| only(definition::view(&Collection::new(site, it), caller, false, self.limits()), &options.fields);
        Ok(CollectionList { collections: page.map(view).collect(), offset: options.offset, total })
    }
}

/// The collection that has this id now.
pub(crate) async fn live(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<Option<Stored>> {
    let sql = format!("select {COLUMNS} from stoa.collection where site = $1 and id = $2 and deleted is null");
    match tx.row(&sql, &params![site, id], read).await? {
        None => Ok(None),
        Some(it) => Ok(Some(whole(tx, site, it).await?)),
    }
}

/// Whether there was a collection with this id.
async fn is_deleted(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<bool> {
    let sql = "select number from stoa.collection where site = $1 and id = $2 and deleted is not null limit 1";
    Ok(tx.row(sql, &params![site, id], |row| row.get::<i64>(0)).await?.is_some())
}

/// The collection with this number, deleted or not.
pub(crate) async fn by_number(tx: &mut Tx<'_>, site: &SiteId, number: i64) -> Result<Option<Stored>> {
    let sql = format!("select {COLUMNS} from stoa.collection where site = $1 and number = $2");
    match tx.row(&sql, &params![site, number], read).await? {
        None => Ok(None),
        Some(it) => Ok(Some(whole(tx, site, it).await?)),
    }
}

/// With what is kept in rows beside its own.
async fn whole(tx: &mut Tx<'_>, site: &SiteId, mut stored: Stored) -> Result<Stored> {
    let number = stored.number;
    stored.specials = permissions::specials(tx, site, Some(number)).await?.remove(&number).unwrap_or_default();
    stored.indexes = index::of_collection(tx, site, number).await?;
    Ok(stored)
}

/// The indexes that queries may be planned with.
fn ready(indexes: &[Index]) -> Arc<[IndexSpec]> {
    indexes.iter().filter(|it| it.status == Status::Active).map(Index::spec).collect()
}

fn read(row: &Row<'_>) -> Result<Stored, stoa_store::Error> {
    let definition = serde_json::from_str(row.text(2)?);
    Ok(Stored {
        number: row.get(0)?,
        id: row.get(1)?,
        definition: definition.map_err(|it| stoa_store::Error::Other(format!("definition of a collection: {it}")))?,
        revision: row.get(3)?,
        created: row.get(4)?,
        updated: row.get(5)?,
        specials: Specials::default(),
        indexes: Vec::new(),
    })
}

fn compare(name: &str) -> Result<fn(&Stored, &Stored) -> Ordering> {
    Ok(match name {
        "id" | "_id" => |a, b| a.id.cmp(&b.id),
        "displayName" => |a, b| a.definition.display_name.cmp(&b.definition.display_name).then(a.id.cmp(&b.id)),
        "createdDate" | "_createdDate" => |a, b| (a.created, a.number).cmp(&(b.created, b.number)),
        "updatedDate" | "_updatedDate" => |a, b| (a.updated, a.number).cmp(&(b.updated, b.number)),
        _ => {
            return Err(Fault::because(
                Code::BadRequest,
                "Collections are sorted by id, displayName, createdDate or updatedDate.",
            ));
        }
    })
}

/// The members that were asked for, and the id.
fn only(mut view: Value, fields: &[String]) -> Value {
    if let (false, Some(object)) = (fields.is_empty(), view.as_object_mut()) {
        let is_wanted = |name: &str| fields.iter().any(|it| it.split('.').next() == Some(name));
        object.retain(|name, _| name == "id" || is_wanted(name));
    }
    view
}

/// There is no such collection, or no longer, or none that the caller may know of.
pub(crate) fn missing(id: &str) -> Fault {
    let text = format!("The {id} collection does not exist.");
    Fault::because(Code::CollectionNotFound, text).with("collectionName", id)
}

/// It was deleted, and may be restored.
fn deleted(id: &str) -> Fault {
    Fault::because(Code::CollectionDeleted, format!("The {id} collection was deleted.")).with("collectionName", id)
}

/// Whether a fault says that there is no such collection, or no longer.
pub(crate) fn is_gone(fault: &Fault) -> bool {
    matches!(fault.code(), Code::CollectionNotFound | Code::CollectionDeleted)
}
