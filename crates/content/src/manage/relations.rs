//! Multi-reference fields come in pairs: what a change of one definition does to the other collection
//! (protocol/content.md 6.2, 21.6; decisions/0010).
//!
//! Both sides change in the transaction of the call. A pair goes when either of its fields goes, or leads
//! elsewhere. Deleting a collection leaves its pairs as they are, so that restoring it brings the links
//! back; meanwhile the other side leads nowhere.

use crate::{
    Content, Limits,
    collection::{self, Stored},
    reference::{self, Relation, is_multi, target_id},
    schema::{
        definition::Definition,
        field::{self, Field},
    },
    wire::shape::unfit,
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Code, Fault, Result, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Links that one transaction of [`Content::links_sweep`] removes.
const SWEPT: i64 = 1000;

/// The collection whose definition changes.
pub(crate) struct Place<'a> {
    pub site: &'a SiteId,
    pub number: i64,
    pub id: &'a str,
    pub now: Millis,
    pub limits: &'a Limits,
}

/// What else a change came to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settled {
    /// Ids of other collections whose definitions changed.
    pub touched: Vec<String>,
    /// Whether relations went, whose links are to be swept away.
    pub has_removed: bool,
}

/// Makes and removes the pairs that a new definition asks for, and completes its fields.
///
/// # Errors
/// WDE0025 when a multi-reference field leads to a collection that isn't there, WDE0123 when the key for
/// its pair is taken there, WDE0075 and the like when that key can't be one.
pub(crate) async fn settle(
    tx: &mut Tx<'_>,
    place: &Place<'_>,
    before: &[Field],
    after: &mut Definition,
) -> Result<Settled> {
    let mut settled = Settled::default();
    if !before.iter().chain(&after.fields).any(is_multi) {
        return Ok(settled);
    }
    let mut paired: Vec<String> = Vec::new();
    for relation in reference::relations(tx, place.site, place.number).await? {
        if is_kept(&relation, place.number, before, &after.fields) {
            paired.extend(relation.ends(place.number).map(|(_, end, _)| end.field.clone()));
        } else {
            remove(tx, place, &relation, before, after, &mut settled).await?;
        }
    }
    for field in &mut after.fields {
        // Where a pair leads, and what the other side is called, was settled when it was made.
        if let (true, Some(old)) = (paired.iter().any(|it| it == field::key(field)), find(before, field::key(field))) {
            field.insert("typeMetadata".to_owned(), old.get("typeMetadata").cloned().unwrap_or_default());
        }
    }
    let wanted = after.fields.iter().filter(|it| is_multi(it)).map(|it| field::key(it).to_owned());
    for key in wanted.collect::<Vec<_>>() {
        if !paired.contains(&key) {
            paired.extend(make(tx, place, &key, after, &mut settled).await?);
        }
    }
    Ok(settled)
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
    place: &Place<'_>,
    relation: &Relation,
    before: &[Field],
    after: &mut Definition,
    settled: &mut Settled,
) -> Result<()> {
    retire(tx, place, relation).await?;
    settled.has_removed = true;
    for (_, end, other) in relation.ends(place.number) {
        if other.collection != place.number {
            drop_field(tx, place, other.collection, &other.field, settled).await?;
        } else {
            // It refers to itself: what is left of the pair goes, unless it was made something else.
            let old = find(before, &end.field).and_then(target_id).map(str::to_owned);
            let is_left = |it: &Field| field::key(it) == end.field && is_multi(it) && target_id(it) == old.as_deref();
            after.fields.retain(|it| !is_left(it));
        }
    }
    Ok(())
}

async fn retire(tx: &mut Tx<'_>, place: &Place<'_>, relation: &Relation) -> Result<()> {
    let sql = "update stoa.relation set deleted = $1 where site = $2 and number = $3";
    tx.send(sql, params![place.now.max(1), place.site, relation.number]).await?;
    Ok(())
}

/// Takes a field out of another collection's definition, deleted or not.
async fn drop_field(tx: &mut Tx<'_>, place: &Place<'_>, number: i64, key: &str, settled: &mut Settled) -> Result<()> {
    let Some(mut other) = collection::by_number(tx, place.site, number).await? else { return Ok(()) };
    other.definition.fields.retain(|it| field::key(it) != key);
    store(tx, place, &mut other).await?;
    settled.touched.push(other.id);
    Ok(())
}

async fn store(tx: &mut Tx<'_>, place: &Place<'_>, other: &mut Stored) -> Result<()> {
    other.revision += 1;
    let text = serde_json::to_string(&other.definition).map_err(Fault::internal)?;
    let sql = "update stoa.collection set definition = $1, revision = $2, updated = $3 where site = $4 and number = $5";
    tx.send(sql, params![text, other.revision, place.now, place.site, other.number]).await?;
    Ok(())
}

/// Makes the pair of a field and answers the keys that are paired now in the collection at hand.
async fn make(
    tx: &mut Tx<'_>,
    place: &Place<'_>,
    key: &str,
    after: &mut Definition,
    settled: &mut Settled,
) -> Result<Vec<String>> {
    let display_name = after.display_name.clone();
    let Some(field) = after.fields.iter_mut().find(|it| field::key(it) == key) else { return Ok(Vec::new()) };
    let target = target_id(field).unwrap_or_default().to_owned();
    let sent = Sent::of(field);
    let name = sent.name.clone().unwrap_or_else(|| display_name.unwrap_or_else(|| place.id.to_owned()));
    let own_name = field.get("displayName").and_then(Value::as_str).unwrap_or(key).to_owned();
    let make_pair = |pair_key: &str| {
        let metadata = json!({ "multiReference": {
            "referencedCollectionId": place.id, "referencingFieldKey": key, "referencingDisplayName": own_name,
        } });
        json!({ "key": pair_key, "displayName": name, "type": "MULTI_REFERENCE", "typeMetadata": metadata })
    };
    let path = "field.typeMetadata.multiReference";
    if target == place.id {
        let pair_key = match &sent.key {
            Some(it) if it == key => {
                return Err(unfit(&format!("{path}.referencingFieldKey"), "must differ from the field's own key"));
            }
            Some(it) => it.clone(),
            None => free_key(place.id, key, &after.fields),
        };
        // Both fields of the pair may have been sent together.
        let is_its_pair =
            |it: &Field| is_multi(it) && target_id(it) == Some(place.id) && Sent::of(it).key.as_deref() == Some(key);
        match find(&after.fields, &pair_key) {
            Some(it) if is_its_pair(it) => {}
            Some(_) => return Err(taken(&pair_key, &target)),
            None if field::is_system(&pair_key) => return Err(taken(&pair_key, &target)),
            None => {
                field::check_count(after.fields.len() + 1, path, place.limits)?;
                after.fields.push(field::parse(&make_pair(&pair_key), path, place.limits)?);
            }
        }
        complete(after, key, &pair_key, &name);
        insert(tx, place, key, place.number, &pair_key).await?;
        return Ok(vec![key.to_owned(), pair_key]);
    }
    let Some(mut other) = collection::live(tx, place.site, &target).await? else {
        return Err(collection::missing(&target));
    };
    let pair_key = sent.key.unwrap_or_else(|| free_key(place.id, key, &other.definition.fields));
    if find(&other.definition.fields, &pair_key).is_some() {
        free(tx, place, &mut other, &pair_key, settled).await?;
    }
    if field::is_system(&pair_key) || find(&other.definition.fields, &pair_key).is_some() {
        return Err(taken(&pair_key, &target));
    }
    if other.definition.fields.len() >= place.limits.fields {
        let text = format!("leads to a collection that has {} fields already", place.limits.fields);
        return Err(unfit(path, &text));
    }
    other.definition.fields.push(field::parse(&make_pair(&pair_key), path, place.limits)?);
    store(tx, place, &mut other).await?;
    complete(after, key, &pair_key, &name);
    insert(tx, place, key, other.number, &pair_key).await?;
    settled.touched.push(target);
    Ok(vec![key.to_owned()])
}

/// What a field says of its pair.
struct Sent {
    key: Option<String>,
    name: Option<String>,
}

impl Sent {
    fn of(field: &Field) -> Self {
        let metadata = field.get("typeMetadata").and_then(|it| it.get("multiReference"));
        let text = |name: &str| metadata?.get(name)?.as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        Self { key: text("referencingFieldKey"), name: text("referencingDisplayName") }
    }
}

/// Writes into a field what its pair is called.
fn complete(after: &mut Definition, key: &str, pair_key: &str, pair_name: &str) {
    let field = after.fields.iter_mut().find(|it| field::key(it) == key);
    let metadata = field.and_then(|it| it.get_mut("typeMetadata")).and_then(|it| it.get_mut("multiReference"));
    if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
        let names = [("referencingFieldKey", pair_key), ("referencingDisplayName", pair_name)];
        metadata.extend(names.map(|(name, it)| (name.to_owned(), Value::from(it))).into_iter().collect::<Map<_, _>>());
    }
}

/// A key for a pair that nobody named: the collection and the field, and a number if that is taken.
fn free_key(collection: &str, key: &str, fields: &[Field]) -> String {
    let plain = format!("{collection}_{key}").replace('.', "_");
    let plain: String = plain.trim_start_matches('$').chars().take(900).collect();
    let numbered = (2..).map(|n| format!("{plain}_{n}"));
    let mut keys = std::iter::once(plain.clone()).chain(numbered);
    keys.find(|it| find(fields, it).is_none() && !field::is_system(it)).unwrap_or(plain)
}

/// Frees a key that is held by the pair of a field on a deleted collection: whoever makes such a
/// collection anew gets its name back, and the deleted one comes back, if it does, without the field.
async fn free(tx: &mut Tx<'_>, place: &Place<'_>, other: &mut Stored, key: &str, settled: &mut Settled) -> Result<()> {
    for relation in reference::relations(tx, place.site, other.number).await? {
        let Some((_, _, far)) = relation.ends(other.number).find(|(_, end, _)| end.field == key) else { continue };
        let is_deleted = "select number from stoa.collection where site = $1 and number = $2 and deleted is not null";
        let dead = tx.row(is_deleted, &params![place.site, far.collection], |row| row.get::<i64>(0)).await?;
        if dead.is_some() {
            retire(tx, place, &relation).await?;
            settled.has_removed = true;
            drop_field(tx, place, far.collection, &far.field, &mut Settled::default()).await?;
            other.definition.fields.retain(|it| field::key(it) != key);
        }
    }
    Ok(())
}

async fn insert(tx: &mut Tx<'_>, place: &Place<'_>, key: &str, other: i64, pair_key: &str) -> Result<()> {
    let sql = "insert into stoa.relation (site, number, referring, referring_field, referenced, referenced_field) \
               select $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5 from stoa.relation where site = $1";
    tx.send(sql, params![place.site, place.number, key, other, pair_key]).await?;
    Ok(())
}

fn taken(key: &str, collection: &str) -> Fault {
    let text = format!("The field {key} already exists in the {collection} collection.");
    Fault::because(Code::UniqueConflict, text).with("propertyName", key).with("collectionName", collection)
}

impl Content {
    /// After a change: forgets what is known of the definitions it touched, and removes the links of
    /// relations that are gone, a thousand in a transaction. Nothing reads such links, so it does no harm
    /// if this ends early; the next sweep goes on.
    pub(crate) async fn after_settling(&self, site: &Site, settled: &Settled) -> Result<()> {
        settled.touched.iter().for_each(|it| self.cache().forget(&site.id, it));
        if settled.has_removed {
            while links_sweep(site).await? >= SWEPT as u64 {}
        }
        Ok(())
    }
}

async fn links_sweep(site: &Site) -> Result<u64> {
    let id = site.id.clone();
    site.write(move |tx| {
        let id = id.clone();
        boxed!({
            let sql = "delete from stoa.item_link where seq in (select link.seq from stoa.item_link link \
                       join stoa.relation relation on relation.site = link.site and relation.number = link.relation \
                       where relation.site = $1 and relation.deleted is not null limit $2)";
            Ok(tx.execute(sql, &params![&id, SWEPT]).await?)
        })
    })
    .await
}
