//! Multi-reference fields and their inverse fields: what a change of one definition does to the other
//! collection (docs/protocol/content.md §6.2, §21.6; decision 10).
//!
//! Both sides change in the transaction of the call. A relation goes when either of its fields goes, or leads
//! to another collection. Deleting a collection leaves its relations as they are, so that restoring it brings
//! the links back; meanwhile the other side leads nowhere.

use crate::{
    Content,
    collection::{
        access::Manager,
        cache, save,
        stored::{self, StoredCollection},
    },
    fault::{collection_not_found, invalid},
    limits::ContentLimits,
    schema::{
        definition::Definition,
        field::{self, Field, is_multi, target_id},
        relation::{self, End, Relation},
    },
};
use serde_json::{Value, json};
use stoa_kernel::{Code, Fault, Result, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Links of dropped relations that one transaction removes.
const LINKS: i64 = 1000;

/// The collection whose definition changes.
pub(crate) struct Defined<'a> {
    /// Who changes it.
    pub manager: &'a Manager,
    pub site: &'a SiteId,
    pub number: i64,
    pub id: &'a str,
    pub now: Millis,
    pub limits: &'a ContentLimits,
}

/// What a change did to other collections and to relations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reconciled {
    /// Ids of other collections whose definitions changed.
    pub touched: Vec<String>,
    /// Whether relations were dropped, whose links are to be removed.
    pub has_removed: bool,
}

/// A definition on its way, with what becomes of its relations.
struct Reconciliation<'c> {
    defined: &'c Defined<'c>,
    before: &'c [Field],
    after: &'c mut Definition,
    reconciled: Reconciled,
}

/// The path by which refusals name what a field says of its inverse.
const PATH: &str = "field.typeMetadata.multiReference";

/// Makes and drops the relations that a new definition asks for, and completes its fields.
///
/// # Errors
/// WDE0027 when the other collection's fields aren't the manager's to change; WDE0025 when a multi-reference field
/// leads to a collection that isn't there, WDE0123 when the key for
/// its inverse is taken there, WDE0075 and the like when that key can't be one.
pub(crate) async fn reconcile(
    tx: &mut Tx<'_>,
    defined: &Defined<'_>,
    before: &[Field],
    after: &mut Definition,
) -> Result<Reconciled> {
    if !before.iter().chain(&after.fields).any(is_multi) {
        return Ok(Reconciled::default());
    }
    let mut reconciliation = Reconciliation { defined, before, after, reconciled: Reconciled::default() };
    reconciliation.run(tx).await?;
    Ok(reconciliation.reconciled)
}

impl Reconciliation<'_> {
    async fn run(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        let mut with_inverse: Vec<String> = Vec::new();
        for relation in relation::relations(tx, self.defined.site, self.defined.number).await? {
            if self.keeps(&relation) {
                with_inverse.extend(relation.ends(self.defined.number).map(|(_, end, _)| end.field.clone()));
            } else {
                self.remove(tx, &relation).await?;
            }
        }
        for field in &mut self.after.fields {
            let key = field::key(field);
            // Where a relation leads, and what the other side is called, was decided when it was made.
            if let (true, Some(old)) = (with_inverse.iter().any(|it| it == key), find(self.before, key)) {
                field.insert("typeMetadata".to_owned(), old.get("typeMetadata").cloned().unwrap_or_default());
            }
        }
        let multis = self.after.fields.iter().filter(|it| is_multi(it)).map(|it| field::key(it).to_owned());
        for key in multis.collect::<Vec<_>>() {
            if !with_inverse.contains(&key) {
                with_inverse.extend(self.make_inverse(tx, &key).await?);
            }
        }
        Ok(())
    }

    /// Whether all fields that the collection has in a relation are still there and lead where they led.
    fn keeps(&self, relation: &Relation) -> bool {
        relation.ends(self.defined.number).all(|(_, end, _)| {
            let (old, new) = (find(self.before, &end.field), find(&self.after.fields, &end.field));
            new.is_some_and(is_multi) && new.and_then(target_id) == old.and_then(target_id)
        })
    }

    /// Takes a relation away, and with it the fields that were there only for it.
    async fn remove(&mut self, tx: &mut Tx<'_>, relation: &Relation) -> Result<()> {
        drop_relation(tx, self.defined, relation).await?;
        self.reconciled.has_removed = true;
        for (_, end, other) in relation.ends(self.defined.number) {
            if other.collection != self.defined.number {
                let touched = drop_field(tx, self.defined, other).await?;
                self.reconciled.touched.extend(touched);
                continue;
            }
            // It refers to itself: what is left of the two fields goes, unless it was made something else.
            let old = find(self.before, &end.field).and_then(target_id).map(str::to_owned);
            let is_left = |it: &Field| field::key(it) == end.field && is_multi(it) && target_id(it) == old.as_deref();
            self.after.fields.retain(|it| !is_left(it));
        }
        Ok(())
    }

    /// Makes the inverse of a field and answers the keys that have their inverse now in the collection at hand.
    async fn make_inverse(&mut self, tx: &mut Tx<'_>, key: &str) -> Result<Vec<String>> {
        let Some(field) = find(&self.after.fields, key) else { return Ok(Vec::new()) };
        let target = target_id(field).unwrap_or_default().to_owned();
        let names = InverseNames::of(field);
        let display_name = || self.after.display_name.clone().unwrap_or_else(|| self.defined.id.to_owned());
        let inverse = Inverse {
            of: key.to_owned(),
            own_name: field.get("displayName").and_then(Value::as_str).unwrap_or(key).to_owned(),
            name: names.name.unwrap_or_else(display_name),
        };
        match target == self.defined.id {
            true => self.make_own_inverse(tx, inverse, names.key).await,
            false => self.make_other_inverse(tx, inverse, (names.key, target)).await,
        }
    }

    /// The inverse of a field that leads to its own collection.
    async fn make_own_inverse(
        &mut self,
        tx: &mut Tx<'_>,
        inverse: Inverse,
        requested_key: Option<String>,
    ) -> Result<Vec<String>> {
        let (defined, key) = (self.defined, inverse.of.as_str());
        let inverse_key = match requested_key {
            Some(it) if it == key => {
                return Err(invalid(&format!("{PATH}.referencingFieldKey"), "must differ from the field's own key"));
            }
            Some(it) => it,
            None => free_key(defined.id, key, &self.after.fields),
        };
        // Both fields of the relation may have been sent together.
        let is_its_inverse = |it: &Field| {
            is_multi(it) && target_id(it) == Some(defined.id) && InverseNames::of(it).key.as_deref() == Some(key)
        };
        match find(&self.after.fields, &inverse_key) {
            Some(it) if is_its_inverse(it) => {}
            Some(_) => return Err(taken(&inverse_key, defined.id)),
            None if field::is_system(&inverse_key) => return Err(taken(&inverse_key, defined.id)),
            None => {
                field::check_count(self.after.fields.len() + 1, PATH, defined.limits)?;
                self.after.fields.push(inverse.field(&inverse_key, defined)?);
            }
        }
        complete(self.after, &inverse, &inverse_key);
        insert(tx, defined, key, defined.number, &inverse_key).await?;
        Ok(vec![inverse.of, inverse_key])
    }

    /// The inverse of a field that leads to another collection.
    async fn make_other_inverse(
        &mut self,
        tx: &mut Tx<'_>,
        inverse: Inverse,
        (requested_key, target): (Option<String>, String),
    ) -> Result<Vec<String>> {
        let (defined, key) = (self.defined, inverse.of.as_str());
        let Some(mut other) = stored::live(tx, defined.site, &target).await? else {
            return Err(collection_not_found(&target));
        };
        if other.definition.published_id().is_some() {
            return Err(invalid(PATH, "must not lead to a collection of drafts"));
        }
        let access = defined.manager.fields(&other.id, &other.definition)?;
        let inverse_key = requested_key.unwrap_or_else(|| free_key(defined.id, key, &other.definition.fields));
        if find(&other.definition.fields, &inverse_key).is_some() {
            self.free(tx, &mut other, &inverse_key).await?;
        }
        if field::is_system(&inverse_key) || find(&other.definition.fields, &inverse_key).is_some() {
            return Err(taken(&inverse_key, &target));
        }
        if other.definition.fields.len() >= defined.limits.fields {
            let text = format!("leads to a collection that has {} fields already", defined.limits.fields);
            return Err(invalid(PATH, &text));
        }
        other.definition.fields.push(inverse.field(&inverse_key, defined)?);
        save::update(tx, defined.site, &mut other, defined.now, &access).await?;
        complete(self.after, &inverse, &inverse_key);
        insert(tx, defined, key, other.number, &inverse_key).await?;
        self.reconciled.touched.push(target);
        Ok(vec![inverse.of])
    }

    /// Frees a key that is held by the inverse of a field on a deleted collection: a new collection of its id
    /// gets the name, and the deleted one comes back, if it does, without the field.
    async fn free(&mut self, tx: &mut Tx<'_>, other: &mut StoredCollection, key: &str) -> Result<()> {
        let defined = self.defined;
        for relation in relation::relations(tx, defined.site, other.number).await? {
            let held = relation.ends(other.number).find(|(_, end, _)| end.field == key);
            let Some((_, _, source)) = held else { continue };
            let sql = "select number from stoa.collection where site = $1 and number = $2 and deleted is not null";
            let deleted = tx.row(sql, &params![defined.site, source.collection], |row| row.get::<i64>(0)).await?;
            if deleted.is_some() {
                drop_relation(tx, defined, &relation).await?;
                self.reconciled.has_removed = true;
                drop_field(tx, defined, source).await?;
                other.definition.fields.retain(|it| field::key(it) != key);
            }
        }
        Ok(())
    }
}

fn find<'f>(fields: &'f [Field], key: &str) -> Option<&'f Field> {
    fields.iter().find(|it| field::key(it) == key)
}

async fn drop_relation(tx: &mut Tx<'_>, defined: &Defined<'_>, relation: &Relation) -> Result<()> {
    let sql = "update stoa.relation set deleted = $1 where site = $2 and number = $3";
    tx.send(sql, params![defined.now.max(1), defined.site, relation.number]).await?;
    Ok(())
}

/// Takes a field out of another collection's definition, deleted or not, and answers the collection's id.
async fn drop_field(tx: &mut Tx<'_>, defined: &Defined<'_>, end: &End) -> Result<Option<String>> {
    let Some(mut other) = stored::by_number(tx, defined.site, end.collection).await? else { return Ok(None) };
    let access = defined.manager.fields(&other.id, &other.definition)?;
    other.definition.fields.retain(|it| field::key(it) != end.field);
    save::update(tx, defined.site, &mut other, defined.now, &access).await?;
    Ok(Some(other.id))
}

/// An inverse field that is to be made.
struct Inverse {
    /// The key of the field that it is the inverse of, and that field's name.
    of: String,
    own_name: String,
    name: String,
}

impl Inverse {
    fn field(&self, key: &str, defined: &Defined<'_>) -> Result<Field> {
        let metadata = json!({ "multiReference": {
            "referencedCollectionId": defined.id, "referencingFieldKey": self.of,
            "referencingDisplayName": self.own_name,
        } });
        let field =
            json!({ "key": key, "displayName": self.name, "type": "MULTI_REFERENCE", "typeMetadata": metadata });
        field::parse(&field, PATH, defined.limits)
    }
}

/// What a field says of its inverse.
struct InverseNames {
    key: Option<String>,
    name: Option<String>,
}

impl InverseNames {
    fn of(field: &Field) -> Self {
        let metadata = field.get("typeMetadata").and_then(|it| it.get("multiReference"));
        let text = |name: &str| metadata?.get(name)?.as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        Self { key: text("referencingFieldKey"), name: text("referencingDisplayName") }
    }
}

/// Writes into a field what its inverse is called.
fn complete(after: &mut Definition, inverse: &Inverse, inverse_key: &str) {
    let field = after.fields.iter_mut().find(|it| field::key(it) == inverse.of);
    let metadata = field.and_then(|it| it.get_mut("typeMetadata")).and_then(|it| it.get_mut("multiReference"));
    if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
        metadata.insert("referencingFieldKey".to_owned(), inverse_key.into());
        metadata.insert("referencingDisplayName".to_owned(), inverse.name.as_str().into());
    }
}

/// A key for an inverse field that has no name: the collection and the field, and a number if that is taken.
fn free_key(collection: &str, key: &str, fields: &[Field]) -> String {
    let plain = format!("{collection}_{key}").replace('.', "_");
    let plain: String = plain.trim_start_matches('$').chars().take(900).collect();
    let numbered = (2..).map(|n| format!("{plain}_{n}"));
    let mut keys = std::iter::once(plain.clone()).chain(numbered);
    keys.find(|it| find(fields, it).is_none() && !field::is_system(it)).unwrap_or(plain)
}

async fn insert(tx: &mut Tx<'_>, defined: &Defined<'_>, key: &str, other: i64, inverse_key: &str) -> Result<()> {
    let sql = "insert into stoa.relation (site, number, referring, referring_field, referenced, referenced_field) \
               select $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5 from stoa.relation where site = $1";
    tx.send(sql, params![defined.site, defined.number, key, other, inverse_key]).await?;
    Ok(())
}

fn taken(key: &str, collection: &str) -> Fault {
    let text = format!("The field {key} already exists in the {collection} collection.");
    Fault::because(Code::UniqueConflict, text).with("propertyName", key).with("collectionName", collection)
}

/// After a change: forgets what nodes know of the definitions it touched, and removes the links of
/// relations that are gone, a thousand in a transaction. Nothing reads such links, so it does no harm
/// if this ends early; the next change goes on.
pub(crate) async fn after_change(content: &Content, site: &Site, reconciled: &Reconciled) -> Result<()> {
    cache::announce(content, site, reconciled.touched.iter().map(String::as_str)).await?;
    if reconciled.has_removed {
        while remove_links(site).await? >= LINKS as u64 {}
    }
    Ok(())
}

async fn remove_links(site: &Site) -> Result<u64> {
    let removed = site.write_with(site.id.clone(), |tx, site| {
        boxed!({
            let sql = "delete from stoa.item_link where seq in (select link.seq from stoa.item_link link \
                       join stoa.relation relation on relation.site = link.site and relation.number = link.relation \
                       where relation.site = $1 and relation.deleted is not null limit $2)";
            Ok(tx.execute(sql, &params![site, LINKS]).await?)
        })
    });
    removed.await
}
