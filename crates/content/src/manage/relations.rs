//! Multi-reference fields and their inverse fields: what a change of one definition does to the other
//! collection (protocol/content.md 6.2, 21.6; decisions/0010).
//!
//! Both sides change in the transaction of the call. A relation goes when either of its fields goes, or leads
//! to another collection. Deleting a collection leaves its relations as they are, so that restoring it brings
//! the links back; meanwhile the other side leads nowhere.

use crate::{
    Content,
    collection::stored::{self, StoredCollection},
    fault::{collection_not_found, invalid},
    limits::Limits,
    schema::{
        definition::Definition,
        field::{self, Field, is_multi, target_id},
        relation::{self, Relation},
    },
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Code, Fault, Result, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Links of dropped relations that one transaction removes.
const LINKS: i64 = 1000;

/// The collection whose definition changes.
pub(crate) struct Defined<'a> {
    pub site: &'a SiteId,
    pub number: i64,
    pub id: &'a str,
    pub now: Millis,
    pub limits: &'a Limits,
}

/// What a change did to other collections and to relations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reconciled {
    /// Ids of other collections whose definitions changed.
    pub touched: Vec<String>,
    /// Whether relations were dropped, whose links are to be removed.
    pub has_removed: bool,
}

/// Makes and drops the relations that a new definition asks for, and completes its fields.
///
/// # Errors
/// WDE0025 when a multi-reference field leads to a collection that isn't there, WDE0123 when the key for
/// its inverse is taken there, WDE0075 and the like when that key can't be one.
pub(crate) async fn reconcile(
    tx: &mut Tx<'_>,
    defined: &Defined<'_>,
    before: &[Field],
    after: &mut Definition,
) -> Result<Reconciled> {
    let mut reconciled = Reconciled::default();
    if !before.iter().chain(&after.fields).any(is_multi) {
        return Ok(reconciled);
    }
    let mut with_inverse: Vec<String> = Vec::new();
    for relation in relation::relations(tx, defined.site, defined.number).await? {
        if is_kept(&relation, defined.number, before, &after.fields) {
            with_inverse.extend(relation.ends(defined.number).map(|(_, end, _)| end.field.clone()));
        } else {
            remove(tx, defined, &relation, before, after, &mut reconciled).await?;
        }
    }
    for field in &mut after.fields {
        // Where a relation leads, and what the other side is called, was decided when it was made.
        if let (true, Some(old)) =
            (with_inverse.iter().any(|it| it == field::key(field)), find(before, field::key(field)))
        {
            field.insert("typeMetadata".to_owned(), old.get("typeMetadata").cloned().unwrap_or_default());
        }
    }
    let wanted = after.fields.iter().filter(|it| is_multi(it)).map(|it| field::key(it).to_owned());
    for key in wanted.collect::<Vec<_>>() {
        if !with_inverse.contains(&key) {
            with_inverse.extend(make(tx, defined, &key, after, &mut reconciled).await?);
        }
    }
    Ok(reconciled)
}

fn find<'f>(fields: &'f [Field], key: &str) -> Option<&'f Field> {
    fields.iter().find(|it| field::key(it) == key)
}

/// Whether all fields that a collection has in a relation are still there and lead where they led.
fn is_kept(relation: &Relation, number: i64, before: &[Field], after: &[Field]) -> bool {
    relation.ends(number).all(|(_, end, _)| {
        let (old, new) = (find(before, &end.field), find(after, &end.field));
        new.is_some_and(is_multi) && new.and_then(target_id) == old.and_then(target_id)
    })
}

/// Takes a relation away, and with it the fields that were there only for it.
async fn remove(
    tx: &mut Tx<'_>,
    defined: &Defined<'_>,
    relation: &Relation,
    before: &[Field],
    after: &mut Definition,
    reconciled: &mut Reconciled,
) -> Result<()> {
    drop_relation(tx, defined, relation).await?;
    reconciled.has_removed = true;
    for (_, end, other) in relation.ends(defined.number) {
        if other.collection != defined.number {
            drop_field(tx, defined, other.collection, &other.field, reconciled).await?;
        } else {
            // It refers to itself: what is left of the two fields goes, unless it was made something else.
            let old = find(before, &end.field).and_then(target_id).map(str::to_owned);
            let is_left = |it: &Field| field::key(it) == end.field && is_multi(it) && target_id(it) == old.as_deref();
            after.fields.retain(|it| !is_left(it));
        }
    }
    Ok(())
}

async fn drop_relation(tx: &mut Tx<'_>, defined: &Defined<'_>, relation: &Relation) -> Result<()> {
    let sql = "update stoa.relation set deleted = $1 where site = $2 and number = $3";
    tx.send(sql, params![defined.now.max(1), defined.site, relation.number]).await?;
    Ok(())
}

/// Takes a field out of another collection's definition, deleted or not.
async fn drop_field(
    tx: &mut Tx<'_>,
    defined: &Defined<'_>,
    number: i64,
    key: &str,
    reconciled: &mut Reconciled,
) -> Result<()> {
    let Some(mut other) = stored::by_number(tx, defined.site, number).await? else { return Ok(()) };
    other.definition.fields.retain(|it| field::key(it) != key);
    stored::update(tx, defined.site, &mut other, defined.now).await?;
    reconciled.touched.push(other.id);
    Ok(())
}

/// Makes the inverse of a field and answers the keys that have their inverse now in the collection at hand.
async fn make(
    tx: &mut Tx<'_>,
    defined: &Defined<'_>,
    key: &str,
    after: &mut Definition,
    reconciled: &mut Reconciled,
) -> Result<Vec<String>> {
    let display_name = after.display_name.clone();
    let Some(field) = after.fields.iter_mut().find(|it| field::key(it) == key) else { return Ok(Vec::new()) };
    let target = target_id(field).unwrap_or_default().to_owned();
    let sent = InverseNames::of(field);
    let name = sent.name.clone().unwrap_or_else(|| display_name.unwrap_or_else(|| defined.id.to_owned()));
    let own_name = field.get("displayName").and_then(Value::as_str).unwrap_or(key).to_owned();
    let make_inverse = |inverse_key: &str| {
        let metadata = json!({ "multiReference": {
            "referencedCollectionId": defined.id, "referencingFieldKey": key, "referencingDisplayName": own_name,
        } });
        json!({ "key": inverse_key, "displayName": name, "type": "MULTI_REFERENCE", "typeMetadata": metadata })
    };
    let path = "field.typeMetadata.multiReference";
    if target == defined.id {
        let inverse_key = match &sent.key {
            Some(it) if it == key => {
                return Err(invalid(&format!("{path}.referencingFieldKey"), "must differ from the field's own key"));
            }
            Some(it) => it.clone(),
            None => free_key(defined.id, key, &after.fields),
        };
        // Both fields of the relation may have been sent together.
        let is_its_inverse = |it: &Field| {
            is_multi(it) && target_id(it) == Some(defined.id) && InverseNames::of(it).key.as_deref() == Some(key)
        };
        match find(&after.fields, &inverse_key) {
            Some(it) if is_its_inverse(it) => {}
            Some(_) => return Err(taken(&inverse_key, &target)),
            None if field::is_system(&inverse_key) => return Err(taken(&inverse_key, &target)),
            None => {
                field::check_count(after.fields.len() + 1, path, defined.limits)?;
                after.fields.push(field::parse(&make_inverse(&inverse_key), path, defined.limits)?);
            }
        }
        complete(after, key, &inverse_key, &name);
        insert(tx, defined, key, defined.number, &inverse_key).await?;
        return Ok(vec![key.to_owned(), inverse_key]);
    }
    let Some(mut other) = stored::live(tx, defined.site, &target).await? else {
        return Err(collection_not_found(&target));
    };
    let inverse_key = sent.key.unwrap_or_else(|| free_key(defined.id, key, &other.definition.fields));
    if find(&other.definition.fields, &inverse_key).is_some() {
        free(tx, defined, &mut other, &inverse_key, reconciled).await?;
    }
    if field::is_system(&inverse_key) || find(&other.definition.fields, &inverse_key).is_some() {
        return Err(taken(&inverse_key, &target));
    }
    if other.definition.fields.len() >= defined.limits.fields {
        let text = format!("leads to a collection that has {} fields already", defined.limits.fields);
        return Err(invalid(path, &text));
    }
    other.definition.fields.push(field::parse(&make_inverse(&inverse_key), path, defined.limits)?);
    stored::update(tx, defined.site, &mut other, defined.now).await?;
    complete(after, key, &inverse_key, &name);
    insert(tx, defined, key, other.number, &inverse_key).await?;
    reconciled.touched.push(target);
    Ok(vec![key.to_owned()])
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
fn complete(after: &mut Definition, key: &str, inverse_key: &str, inverse_name: &str) {
    let field = after.fields.iter_mut().find(|it| field::key(it) == key);
    let metadata = field.and_then(|it| it.get_mut("typeMetadata")).and_then(|it| it.get_mut("multiReference"));
    if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
        let names = [("referencingFieldKey", inverse_key), ("referencingDisplayName", inverse_name)];
        metadata.extend(names.map(|(name, it)| (name.to_owned(), Value::from(it))).into_iter().collect::<Map<_, _>>());
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

/// Frees a key that is held by the inverse of a field on a deleted collection: a new collection of its id gets
/// the name, and the deleted one comes back, if it does, without the field.
async fn free(
    tx: &mut Tx<'_>,
    defined: &Defined<'_>,
    other: &mut StoredCollection,
    key: &str,
    reconciled: &mut Reconciled,
) -> Result<()> {
    for relation in relation::relations(tx, defined.site, other.number).await? {
        let Some((_, _, target)) = relation.ends(other.number).find(|(_, end, _)| end.field == key) else { continue };
        let is_deleted = "select number from stoa.collection where site = $1 and number = $2 and deleted is not null";
        let deleted = tx.row(is_deleted, &params![defined.site, target.collection], |row| row.get::<i64>(0)).await?;
        if deleted.is_some() {
            drop_relation(tx, defined, &relation).await?;
            reconciled.has_removed = true;
            drop_field(tx, defined, target.collection, &target.field, &mut Reconciled::default()).await?;
            other.definition.fields.retain(|it| field::key(it) != key);
        }
    }
    Ok(())
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

/// After a change: forgets what is known of the definitions it touched, and removes the links of
/// relations that are gone, a thousand in a transaction. Nothing reads such links, so it does no harm
/// if this ends early; the next change goes on.
pub(crate) async fn after_change(content: &Content, site: &Site, reconciled: &Reconciled) -> Result<()> {
    reconciled.touched.iter().for_each(|it| content.state.schema_cache.forget(&site.id, it));
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
