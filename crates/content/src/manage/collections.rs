//! Collections made, changed, deleted and restored by those who run the site (protocol/content.md 6.2).
//!
//! Each call is one transaction over the definition; a table of items is made with its collection. The
//! node that changes a definition forgets what it knew of it before it answers.

use crate::{
    Collection, Content, Level, Levels, Limits,
    collection::{Stored, cache, live, missing, vault},
    item::{
        truncate,
        write::{self, Target},
    },
    manage::{
        permissions::Specials,
        relations::{self, Place},
    },
    schema::{
        definition::{self, Definition},
        encrypted, field, level,
        rules::Rules,
    },
    wire::shape::unfit,
};
use serde_json::{Map, Value};
use std::{collections::HashSet, sync::Arc, time::Duration};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId};
use stoa_sql::{Table, params};
use stoa_store::{Site, Tx, boxed};

const INSERT: &str = "insert into stoa.collection (site, number, id, definition, revision, created, updated) \
                      values ($1, $2, $3, $4, 1, $5, $6) on conflict do nothing";
const UPDATE: &str = "update stoa.collection set definition = $1, revision = $2, updated = $3 \
                      where site = $4 and number = $5";

impl Content {
    /// Makes a collection from its wire object and answers the whole of it.
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, WDE0104 when the id is taken, WDE0075, WDE0134 and
    /// WDE0147 when the object isn't valid.
    pub async fn collection_create(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        level::may_manage(caller)?;
        let id = definition::parse_id(object, self.limits())?.to_owned();
        let definition = Definition::parse(object, None, self.limits())?;
        definition.check_levels(None, caller)?;
        Rules::check(&definition, self.limits())?;
        let now = self.world().now();
        let (place, name, content, asker) = (site.clone(), id.clone(), self.clone(), caller.clone());
        let (made, settled) = site
            .write(move |tx| {
                let (content, caller) = (content.clone(), asker.clone());
                let (site, id, mut definition) = (place.clone(), name.clone(), definition.clone());
                boxed!({
                    if live(tx, &site.id, &id).await?.is_some() {
                        return Err(taken(&id));
                    }
                    check_room(tx, &site.id, content.limits()).await?;
                    let sql = "select coalesce(max(number), 0) + 1 from stoa.collection where site = $1";
                    let number: i64 = tx.row(sql, &params![&site.id], |row| row.get(0)).await?.unwrap_or(1);
                    let place = Place { site: &site.id, number, id: &id, now, limits: content.limits() };
                    let settled = relations::settle(tx, &place, &[], &mut definition).await?;
                    let row = params![&site.id, number, &id, print(&definition)?, now, now];
                    if tx.execute(INSERT, &row).await? == 0 {
                        return Err(taken(&id));
                    }
                    let table = Table { site: site.number, number };
                    for statement in tx.dialect().create_items_table(table) {
                        tx.batch(&statement).await?;
                    }
                    let single = definition.single_item().map(str::to_owned);
                    let (specials, indexes) = (Specials::default(), Vec::new());
                    let stored =
                        Stored { number, id, definition, revision: 1, created: now, updated: now, specials, indexes };
                    let made = Arc::new(Collection::new(&site, stored));
                    let vault = vault::vault_within(tx, content.world(), &site.id, &made).await?;
                    if let Some(single) = single {
                        let target = Target::new(&content, &site, made.clone(), &caller, vault);
                        write::single_insert(tx, &target, &single).await?;
                    }
                    Ok((made, settled))
                })
            })
            .await?;
        self.cache().forget(&site.id, &id);
        self.after_settling(site, &settled).await?;
        Ok(definition::view(&made, caller, false, self.limits()))
    }

    /// Puts a new definition in the place of the old one. The object names the revision it was made from.
    ///
    /// # Errors
    /// As for create, and WDE0178 when the revision isn't the current one, WDE0025.
    pub async fn collection_update(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        let id = definition::parse_id(object, self.limits())?.to_owned();
        let revision = parse_revision(object)?;
        if revision.is_none() {
            return Err(unfit("collection.revision", "is missing"));
        }
        let object = object.clone();
        if object.get("fields").is_none_or(Value::is_null) {
            return Err(unfit("collection.fields", "is missing"));
        }
        let content = self.clone();
        let make = move |before: &Definition| Definition::parse(&object, Some(before), content.limits());
        self.change(site, caller, id, revision, make).await
    }

    /// Changes the members that the object has. A revision is checked if it is there.
    ///
    /// # Errors
    /// As for update.
    pub async fn collection_patch(&self, site: &Arc<Site>, caller: &Caller, object: &Value) -> Result<Value> {
        let id = definition::parse_id(object, self.limits())?.to_owned();
        let revision = parse_revision(object)?;
        let object = object.clone();
        let content = self.clone();
        let make = move |before: &Definition| before.patched(&object, content.limits());
        self.change(site, caller, id, revision, make).await
    }

    /// Deletes a collection. It can be restored, with its items, until its id is used again.
    ///
    /// # Errors
    /// WDE0027, WDE0025.
    pub async fn collection_delete(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<()> {
        level::may_manage(caller)?;
        let levels = *self.collection_known(site, id).await?.levels();
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
        if changed == 0 { Err(missing(id)) } else { Ok(()) }
    }

    /// Brings back the collection that was last deleted under this id.
    ///
    /// # Errors
    /// WDE0027, WDE0025 when none was, WDE0104 when the id is in use, WDE0080 when the site has as many
    /// collections as it may have.
    pub async fn collection_restore(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        level::may_manage(caller)?;
        if id.contains('\0') {
            return Err(missing(id));
        }
        let (place, name, content) = (site.clone(), id.to_owned(), self.clone());
        site.write(move |tx| {
            let (site, id, content) = (place.clone(), name.clone(), content.clone());
            boxed!({
                if live(tx, &site.id, &id).await?.is_some() {
                    return Err(taken(&id));
                }
                check_room(tx, &site.id, content.limits()).await?;
                let sql = "update stoa.collection set deleted = null where site = $1 and number = \
                           (select max(number) from stoa.collection where site = $1 and id = $2)";
                match tx.execute(sql, &params![&site.id, &id]).await? {
                    0 => Err(missing(&id)),
                    _ => Ok(()),
                }
            })
        })
        .await?;
        self.cache().forget(&site.id, id);
        self.collection_get(site, caller, id, &[], false).await
    }

    /// Adds a field.
    ///
    /// # Errors
    /// As for update, and WDE0123 when there is a field with this key.
    pub async fn field_create(&self, site: &Arc<Site>, caller: &Caller, id: &str, field: &Value) -> Result<Value> {
        let (field, content) = (field::parse(field, "field", self.limits())?, self.clone());
        self.change(site, caller, id.to_owned(), None, move |before| {
            let (mut after, key) = (before.clone(), field::key(&field));
            if field::is_system(key) || after.fields.iter().any(|it| field::key(it) == key) {
                let text = format!("The field {key} already exists.");
                return Err(Fault::because(Code::UniqueConflict, text).with("propertyName", key));
            }
            after.fields.push(field.clone());
            field::check_count(after.fields.len(), "collection.fields", content.limits())?;
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
        let (sent, content) = (field.clone(), self.clone());
        self.change(site, caller, id.to_owned(), None, move |before| {
            let key = sent.get("key").and_then(Value::as_str).ok_or_else(|| unfit("field.key", "is missing"))?;
            let mut after = before.clone();
            let old = after.fields.iter_mut().find(|it| field::key(it) == key).ok_or_else(|| no_field(key))?;
            let mut whole = if is_patch { old.clone() } else { Map::new() };
            whole.extend(sent.as_object().cloned().unwrap_or_default());
            *old = field::parse(&Value::Object(whole), "field", content.limits())?;
            Ok(after)
        })
        .await
    }

    /// Takes a field out of the definition, and its values out of the items ([`crate::item::truncate`]): before the
    /// answer when that takes seconds, else after it. Until it is done no field can have the key.
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

    /// Replaces the definition with what `make` makes of it, in one transaction.
    pub(crate) async fn change(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: String,
        revision: Option<i64>,
        make: impl Fn(&Definition) -> Result<Definition> + Send + Sync + 'static,
    ) -> Result<Value> {
        let changed = self.change_definition(site, caller, id, revision, make).await?;
        Ok(definition::view(&changed, caller, false, self.limits()))
    }

    /// The same, answering the collection as it is then.
    pub(crate) async fn change_definition(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: String,
        revision: Option<i64>,
        make: impl Fn(&Definition) -> Result<Definition> + Send + Sync + 'static,
    ) -> Result<Arc<Collection>> {
        level::may_manage(caller)?;
        if id.contains('\0') {
            return Err(missing(&id));
        }
        // What is wrong with the change itself is told by the transaction.
        if let Ok(known) = self.collection(site, &id).await
            && let Ok(after) = make(&known.definition)
        {
            self.refuse_clear(site, &known, &after).await?;
        }
        let now = self.world().now();
        let make = Arc::new(make);
        let (place, asker, name) = (site.clone(), caller.clone(), id.clone());
        let (content, sweep) = (self.clone(), self.world().uuid());
        let (changed, settled, has_removed, has_sealed) = site
            .write(move |tx| {
                let (content, sweep) = (content.clone(), sweep.clone());
                let (site, caller, id, make) = (place.clone(), asker.clone(), name.clone(), make.clone());
                boxed!({
                    let Some(mut stored) = live(tx, &site.id, &id).await? else {
                        return Err(missing(&id));
                    };
                    if let Some(wrong) = revision.filter(|it| *it != stored.revision) {
                        let text = format!("Revision {wrong} is not the current one.");
                        return Err(Fault::because(Code::RevisionWrong, text)
                            .with("currentRevision", stored.revision.to_string()));
                    }
                    let mut after = make(&stored.definition)?;
                    after.check_levels(Some(&stored.definition), &caller)?;
                    Rules::check(&after, content.limits())?;
                    encrypted::check(&stored.definition, &after, &stored.indexes)?;
                    let place = Place { site: &site.id, number: stored.number, id: &id, now, limits: content.limits() };
                    let fields = &stored.definition.fields;
                    let settled = relations::settle(tx, &place, fields, &mut after).await?;
                    let table = Table { site: site.number, number: stored.number };
                    let removed = gone(&stored.definition, &after);
                    for (n, key) in removed.iter().enumerate() {
                        truncate::begin(tx, &site, table, format!("{sweep}-{n}"), Some(key), now, None).await?;
                    }
                    let added = gone(&after, &stored.definition);
                    if !added.is_empty() {
                        let leaving = truncate::fields(tx, &site.id, stored.number).await?;
                        if let Some(key) = added.iter().find(|it| leaving.iter().any(|key| key == *it)) {
                            let text = format!("The values of the deleted field {key} are still being removed.");
                            return Err(Fault::because(Code::FieldDeleted, text).with("propertyName", *key));
                        }
                    }
                    let has_removed = !removed.is_empty();
                    let has_sealed = encrypted::added(&stored.definition, &after).next().is_some();
                    let single = after.single_item().filter(|it| stored.definition.single_item() != Some(it));
                    let single = single.map(str::to_owned);
                    stored.revision += 1;
                    stored.updated = now;
                    let row = params![print(&after)?, stored.revision, now, &site.id, stored.number];
                    tx.send(UPDATE, row).await?;
                    stored.definition = after;
                    let changed = Arc::new(Collection::new(&site, stored));
                    let vault = vault::vault_within(tx, content.world(), &site.id, &changed).await?;
                    if let Some(single) = single {
                        let target = Target::new(&content, &site, changed.clone(), &caller, vault);
                        write::single_insert(tx, &target, &single).await?;
                    }
                    Ok((changed, settled, has_removed, has_sealed))
                })
            })
            .await?;
        self.cache().forget(&site.id, &id);
        self.after_settling(site, &settled).await?;
        if has_sealed && site.is_shared() {
            // For so long another node may not know of it, and would store the field's values as they come.
            tokio::time::sleep(Duration::from_millis(cache::LIFE.unsigned_abs())).await;
        }
        if has_removed {
            // It goes on by itself if it takes longer, and is taken up again if it fails.
            let sweep = tokio::time::timeout(SWEEP, self.sweep(site, changed.table)).await;
            if let Ok(Err(fault)) = sweep {
                tracing::warn!(site = %site.id, "the values of a deleted field remain for now: {fault:?}");
            }
        }
        Ok(changed)
    }
}

/// How long a call waits for the values of a deleted field to go.
const SWEEP: Duration = Duration::from_secs(5);

/// The keys of fields with values that the first definition has and the second doesn't.
fn gone<'d>(before: &'d Definition, after: &Definition) -> Vec<&'d str> {
    let keys: HashSet<&str> = after.fields.iter().map(field::key).collect();
    let valued = before.fields.iter().filter(|it| field::kind(it) != "MULTI_REFERENCE").map(field::key);
    valued.filter(|it| !keys.contains(it)).collect()
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

/// Refuses one more collection than the site may have.
async fn check_room(tx: &mut Tx<'_>, site: &SiteId, limits: &Limits) -> Result<()> {
    let sql = "select count(*) from stoa.collection where site = $1 and deleted is null";
    let count: i64 = tx.row(sql, &params![site], |row| row.get(0)).await?.unwrap_or(0);
    match count < limits.collections as i64 {
        true => Ok(()),
        false => {
            Err(Fault::because(Code::BadRequest, format!("A site has at most {} collections.", limits.collections)))
        }
    }
}

fn taken(id: &str) -> Fault {
    Fault::because(Code::CollectionExists, format!("The {id} collection already exists.")).with("collectionName", id)
}

fn no_field(key: &str) -> Fault {
    Fault::because(Code::FieldInvalid, format!("The field {key} does not exist.")).with("propertyName", key)
}
