//! Collections: made, read, changed and deleted by those who run the site (protocol/content.md 6).

use crate::{
    Content, Level, Levels,
    definition::{self, Definition},
    field, rule,
    shape::unfit,
    texts::Texts,
};
use serde_json::{Map, Value, json};
use std::{cmp::Ordering, sync::Arc};
use stoa_kernel::{Caller, Code, CollectionId, Fault, Result, clock::Millis};
use stoa_query::schema::Schema;
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
    pub(crate) schema: Schema,
    pub(crate) texts: Texts,
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
struct Stored {
    number: i64,
    id: String,
    definition: Definition,
    revision: i64,
    created: Millis,
    updated: Millis,
    is_deleted: bool,
}

const COLUMNS: &str = "number, id, definition, revision, created, updated, coalesce(deleted, 0)";
const INSERT: &str = "insert into stoa.collection (site, number, id, definition, revision, created, updated) \
                      values ($1, $2, $3, $4, 1, $5, $6) on conflict do nothing";
const UPDATE: &str = "update stoa.collection set definition = $1, revision = $2, updated = $3 \
                      where site = $4 and number = $5";

impl Collection {
    pub fn levels(&self) -> &Levels {
        &self.definition.levels
    }

    fn new(site: &Site, stored: Stored) -> Self {
        let table = Table { site: site.number, number: stored.number };
        Self {
            texts: Texts::new(site.dialect(), table, &stored.id),
            table,
            schema: stored.definition.schema(),
            id: stored.id.into(),
            revision: stored.revision,
            created: stored.created,
            updated: stored.updated,
            definition: stored.definition,
        }
    }
}

impl Content {
    /// The collection that item operations work on, from memory as a rule.
    ///
    /// # Errors
    /// WDE0025 when there is none; WDE0026 to managers when there was one.
    pub async fn collection(&self, site: &Site, caller: &Caller, id: &str) -> Result<Arc<Collection>> {
        // No collection has such an id, and one engine can't even be asked.
        if id.is_empty() || id.contains('\0') {
            return Err(missing(id, false));
        }
        let now = self.world().now();
        if let Some(known) = self.cache().get(&site.id, id, now) {
            return Ok(known);
        }
        let ticket = self.cache().ticket();
        let (key, name) = (site.id.clone(), id.to_owned());
        let stored = site
            .read(Lane::Point, move |tx| {
                boxed!({
                    let sql = format!(
                        "select {COLUMNS} from stoa.collection where site = $1 and id = $2 \
                         order by coalesce(deleted, 0), number desc limit 1"
                    );
                    Ok(tx.row(&sql, &params![&key, name], read).await?)
                })
            })
            .await?;
        match stored {
            Some(it) if !it.is_deleted => {
                let collection = Arc::new(Collection::new(site, it));
                self.cache().keep(&ticket, &site.id, collection.clone(), now);
                Ok(collection)
            }
            it => Err(missing(id, it.is_some() && caller.is_editor())),
        }
    }

    /// Makes a collection from its wire object and answers the whole of it.
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, WDE0104 when the id is taken, WDE0075, WDE0134 and
    /// WDE0147 when the object isn't valid.
    pub async fn collection_create(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        rule::may_manage(caller)?;
        let id = definition::parse_id(object)?.to_owned();
        let definition = Definition::parse(object, None)?;
        definition.check_levels(None, caller)?;
        let (text, now, most) = (print(&definition)?, self.world().now(), self.limits().collections);
        let (place, name) = (site.clone(), id.clone());
        let number = site
            .write(move |tx| {
                let (site, id, text) = (place.clone(), name.clone(), text.clone());
                boxed!({
                    let sql = "select count(*) from stoa.collection where site = $1 and deleted is null";
                    let count: i64 = tx.row(sql, &params![&site.id], |row| row.get(0)).await?.unwrap_or(0);
                    if live(tx, &site, &id).await?.is_some() {
                        return Err(taken(&id));
                    }
                    if count >= most as i64 {
                        let text = format!("A site has at most {most} collections.");
                        return Err(Fault::because(Code::BadRequest, text));
                    }
                    let sql = "select coalesce(max(number), 0) + 1 from stoa.collection where site = $1";
                    let number: i64 = tx.row(sql, &params![&site.id], |row| row.get(0)).await?.unwrap_or(1);
                    let row = params![&site.id, number, &id, text, now, now];
                    if tx.execute(INSERT, &row).await? == 0 {
                        return Err(taken(&id));
                    }
                    let table = Table { site: site.number, number };
                    for statement in tx.dialect().create_items_table(table) {
                        tx.batch(&statement).await?;
                    }
                    Ok(number)
                })
            })
            .await?;
        self.cache().forget(&site.id, &id);
        let (revision, is_deleted) = (1, false);
        let stored = Stored { number, id, definition, revision, created: now, updated: now, is_deleted };
        Ok(definition::view(&Collection::new(site, stored), caller, false))
    }

    /// The wire object of a collection: all of it for managers, a reduced form for others.
    ///
    /// # Errors
    /// WDE0025 when there is none, or none that the caller may know of; WDE0026.
    pub async fn collection_get(
        &self,
        site: &Site,
        caller: &Caller,
        id: &str,
        fields: &[String],
        with_allowed: bool,
    ) -> Result<Value> {
        let collection = self.collection(site, caller, id).await?;
        if !rule::may_know(caller, collection.levels()) {
            return Err(missing(id, false));
        }
        Ok(only(definition::view(&collection, caller, with_allowed), fields))
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
                    Ok(tx.rows(&sql, &params![&key], read).await?)
                })
            })
            .await?;
        all.retain(|it| rule::may_know(caller, &it.definition.levels));
        if let Some(name) = &options.sort {
            let by = compare(name)?;
            all.sort_by(|a, b| if options.is_descending { by(b, a) } else { by(a, b) });
        }
        let total = all.len();
        let page = all.into_iter().skip(options.offset).take(options.limit.unwrap_or(100));
        let view = |it| only(definition::view(&Collection::new(site, it), caller, false), &options.fields);
        Ok(CollectionList { collections: page.map(view).collect(), offset: options.offset, total })
    }

    /// Puts a new definition in the place of the old one. The object names the revision it was made from.
    ///
    /// # Errors
    /// As for create, and WDE0178 when the revision isn't the current one, WDE0025.
    pub async fn collection_update(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        let id = definition::parse_id(object)?.to_owned();
        let revision = parse_revision(object)?;
        if revision.is_none() {
            return Err(unfit("collection.revision", "is missing"));
        }
        let object = object.clone();
        self.change(site, caller, id, revision, move |before| Definition::parse(&object, Some(before))).await
    }

    /// Changes the members that the object has. A revision is checked if it is there.
    ///
    /// # Errors
    /// As for update.
    pub async fn collection_patch(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        let id = definition::parse_id(object)?.to_owned();
        let revision = parse_revision(object)?;
        let object = object.clone();
        self.change(site, caller, id, revision, move |before| before.patched(&object)).await
    }

    /// Adds a field.
    ///
    /// # Errors
    /// As for update, and WDE0123 when there is a field with this key.
    pub async fn field_create(&self, site: &Arc<Site>, caller: &Caller, id: &str, field: &Value) -> Result<Value> {
        let field = field::parse(field, "field")?;
        self.change(site, caller, id.to_owned(), None, move |before| {
            let (mut after, key) = (before.clone(), field::key(&field));
            if field::is_system(key) || after.fields.iter().any(|it| field::key(it) == key) {
                let text = format!("The field {key} already exists.");
                return Err(Fault::because(Code::UniqueConflict, text).with("propertyName", key));
            }
            after.fields.push(field.clone());
            Ok(after)
        })
        .await
    }

    /// Puts a field's definition in the place of the one with its key; with `is_patch` only the members
    /// that are given.
    ///
    /// # Errors
    /// As for update, and WDE0147 when there is no such field.
    pub async fn field_update(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        field: &Value,
        is_patch: bool,
    ) -> Result<Value> {
        let sent = field.clone();
        self.change(site, caller, id.to_owned(), None, move |before| {
            let key = sent.get("key").and_then(Value::as_str).ok_or_else(|| unfit("field.key", "is missing"))?;
            let mut after = before.clone();
            let old = after.fields.iter_mut().find(|it| field::key(it) == key).ok_or_else(|| no_field(key))?;
            let mut whole = if is_patch { old.clone() } else { Map::new() };
            whole.extend(sent.as_object().cloned().unwrap_or_default());
            *old = field::parse(&Value::Object(whole), "field")?;
            Ok(after)
        })
        .await
    }

    /// Takes a field out of the definition. Values that items have under its key stay where they are.
    ///
    /// # Errors
    /// As for update, and WDE0147 when there is no such field.
    pub async fn field_delete(&self, site: &Arc<Site>, caller: &Caller, id: &str, key: &str) -> Result<Value> {
        let key = key.to_owned();
        self.change(site, caller, id.to_owned(), None, move |before| {
            let mut after = before.clone();
            after.fields.retain(|it| field::key(it) != key);
            if after.fields.len() == before.fields.len() { Err(no_field(&key)) } else { Ok(after) }
        })
        .await
    }

    /// Deletes a collection. It can be restored, with its items, until its id is used again.
    ///
    /// # Errors
    /// WDE0027, WDE0025, WDE0026.
    pub async fn collection_delete(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<()> {
        rule::may_manage(caller)?;
        let levels = *self.collection(site, caller, id).await?.levels();
        may_delete(caller, &levels)?;
        let (key, name, now) = (site.id.clone(), id.to_owned(), self.world().now());
        let changed = site
            .write(move |tx| {
                let (key, name) = (key.clone(), name.clone());
                boxed!({
                    let sql = "update stoa.collection set deleted = $1 where site = $2 and id = $3 and deleted is null";
                    Ok(tx.execute(sql, &params![now.max(1), &key, name]).await?)
                })
            })
            .await?;
        self.cache().forget(&site.id, id);
        if changed == 0 { Err(missing(id, true)) } else { Ok(()) }
    }

    /// Brings back the collection that was last deleted under this id.
    ///
    /// # Errors
    /// WDE0027, WDE0025 when none was, WDE0104 when the id is in use.
    pub async fn collection_restore(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        rule::may_manage(caller)?;
        if id.contains('\0') {
            return Err(missing(id, false));
        }
        let (place, name) = (site.clone(), id.to_owned());
        site.write(move |tx| {
            let (site, id) = (place.clone(), name.clone());
            boxed!({
                if live(tx, &site, &id).await?.is_some() {
                    return Err(taken(&id));
                }
                let sql = "update stoa.collection set deleted = null where site = $1 and number = \
                           (select max(number) from stoa.collection where site = $1 and id = $2)";
                match tx.execute(sql, &params![&site.id, &id]).await? {
                    0 => Err(missing(&id, false)),
                    _ => Ok(()),
                }
            })
        })
        .await?;
        self.cache().forget(&site.id, id);
        self.collection_get(site, caller, id, &[], false).await
    }

    /// Replaces the definition with what `make` makes of it, in one transaction.
    async fn change(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: String,
        revision: Option<i64>,
        make: impl Fn(&Definition) -> Result<Definition> + Send + Sync + 'static,
    ) -> Result<Value> {
        rule::may_manage(caller)?;
        if id.contains('\0') {
            return Err(missing(&id, false));
        }
        let now = self.world().now();
        let make = Arc::new(make);
        let (place, asker, name) = (site.clone(), caller.clone(), id.clone());
        let stored = site
            .write(move |tx| {
                let (site, caller, id, make) = (place.clone(), asker.clone(), name.clone(), make.clone());
                boxed!({
                    let Some(mut stored) = live(tx, &site, &id).await? else {
                        return Err(missing(&id, false));
                    };
                    if let Some(wrong) = revision.filter(|it| *it != stored.revision) {
                        let text = format!("Revision {wrong} is not the current one.");
                        return Err(Fault::because(Code::RevisionWrong, text)
                            .with("currentRevision", stored.revision.to_string()));
                    }
                    let after = make(&stored.definition)?;
                    after.check_levels(Some(&stored.definition), &caller)?;
                    stored.revision += 1;
                    stored.updated = now;
                    let row = params![print(&after)?, stored.revision, now, &site.id, stored.number];
                    tx.execute(UPDATE, &row).await?;
                    stored.definition = after;
                    Ok(stored)
                })
            })
            .await?;
        self.cache().forget(&site.id, &id);
        Ok(definition::view(&Collection::new(site, stored), caller, false))
    }
}

async fn live(tx: &mut Tx<'_>, site: &Site, id: &str) -> Result<Option<Stored>> {
    let sql = format!("select {COLUMNS} from stoa.collection where site = $1 and id = $2 and deleted is null");
    Ok(tx.row(&sql, &params![&site.id, id], read).await?)
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
        is_deleted: row.get::<i64>(6)? != 0,
    })
}

fn print(definition: &Definition) -> Result<String> {
    serde_json::to_string(definition).map_err(Fault::internal)
}

/// A revision travels as text.
fn parse_revision(object: &Value) -> Result<Option<i64>> {
    let revision = match object.get("revision") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(it)) => it.parse().ok(),
        Some(it) => it.as_i64(),
    };
    revision.map(Some).ok_or_else(|| unfit("collection.revision", "must be a whole number as a string"))
}

/// An editor doesn't delete what only owners and apps may read or change.
fn may_delete(caller: &Caller, levels: &Levels) -> Result<()> {
    let is_privileged = levels.item_read == Level::Privileged || levels.item_remove == Level::Privileged;
    match is_privileged && !caller.is_privileged() {
        true => Err(Fault::new(Code::PermissionDenied)),
        false => Ok(()),
    }
}

fn compare(name: &str) -> Result<fn(&Stored, &Stored) -> Ordering> {
    Ok(match name {
        "id" | "_id" => |a, b| a.id.cmp(&b.id),
        "displayName" => |a, b| a.definition.display_name.cmp(&b.definition.display_name).then(a.id.cmp(&b.id)),
        "createdDate" | "_createdDate" => |a, b| (a.created, a.number).cmp(&(b.created, b.number)),
        "updatedDate" | "_updatedDate" => |a, b| (a.updated, a.number).cmp(&(b.updated, b.number)),
        _ => return Err(Fault::because(Code::BadRequest, "Collections are sorted by id, displayName, createdDate or updatedDate.")),
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

fn missing(id: &str, was_deleted: bool) -> Fault {
    let fault = match was_deleted {
        true => Fault::because(Code::CollectionDeleted, format!("The {id} collection was deleted.")),
        false => Fault::because(Code::CollectionNotFound, format!("The {id} collection does not exist.")),
    };
    fault.with("collectionName", id)
}

fn taken(id: &str) -> Fault {
    Fault::because(Code::CollectionExists, format!("The {id} collection already exists.")).with("collectionName", json!(id))
}

fn no_field(key: &str) -> Fault {
    Fault::because(Code::FieldInvalid, format!("The field {key} does not exist.")).with("propertyName", key)
}
