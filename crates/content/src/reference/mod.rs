//! Reference fields: what they lead to (protocol/content.md 3.6, 21.6; decisions/0010).
//!
//! A single reference is an id in the document. A multi-reference is one side of a *relation*: a pair of
//! fields on two collections (or on one) that read the same links, kept beside the items. Collections
//! stand in a relation by number, so a collection that takes a deleted one's id inherits nothing.

pub(crate) mod calls;
pub(crate) mod filter;
pub(crate) mod include;
pub(crate) mod link;
pub(crate) mod query;

use crate::{
    Collection, Content, collection,
    schema::field::{self, Field},
};
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};
use stoa_kernel::{Code, Fault, Result, SiteId};
use stoa_query::Scope;
use stoa_sql::params;
use stoa_store::{Row, Site, Tx};

/// Which of a relation's two fields is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// The field that somebody declared.
    Referring,
    /// The field that came with it on the other collection.
    Referenced,
}

/// A multi-reference field's side of its relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub relation: i64,
    pub side: Side,
    /// The number of the collection on the other side.
    pub other: i64,
}

/// A field at one end of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub collection: i64,
    pub field: String,
}

/// A row of `stoa.relation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    pub number: i64,
    pub referring: End,
    pub referenced: End,
}

/// A field that leads to items of another collection.
#[derive(Clone)]
pub(crate) enum Reference {
    /// The id of one item, in the document.
    Single,
    Multi(Link),
}

/// What a reference field leads to.
#[derive(Clone)]
pub(crate) struct Target {
    pub reference: Reference,
    /// Nothing when the collection was deleted.
    pub collection: Option<Arc<Collection>>,
    /// What was declared, for refusals.
    pub collection_id: String,
}

impl Side {
    /// The column with the ids of the items that have the field.
    pub(crate) fn near(self) -> &'static str {
        match self {
            Self::Referring => "referring",
            Self::Referenced => "referenced",
        }
    }

    /// The column with the ids of the items it leads to.
    pub(crate) fn far(self) -> &'static str {
        match self {
            Self::Referring => "referenced",
            Self::Referenced => "referring",
        }
    }
}

impl Relation {
    /// The ends that are fields of this collection: two when it refers to itself.
    pub(crate) fn ends(&self, collection: i64) -> impl Iterator<Item = (Side, &End, &End)> {
        let ends = [
            (Side::Referring, &self.referring, &self.referenced),
            (Side::Referenced, &self.referenced, &self.referring),
        ];
        ends.into_iter().filter(move |(_, end, _)| end.collection == collection)
    }
}

/// The relations that a collection is part of.
pub(crate) async fn relations(tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<Vec<Relation>> {
    let sql = "select number, referring, referring_field, referenced, referenced_field from stoa.relation \
               where site = $1 and (referring = $2 or referenced = $2) and deleted is null order by number";
    let read = |row: &Row<'_>| {
        Ok(Relation {
            number: row.get(0)?,
            referring: End { collection: row.get(1)?, field: row.get(2)? },
            referenced: End { collection: row.get(3)?, field: row.get(4)? },
        })
    };
    Ok(tx.rows(sql, &params![site, collection], read).await?)
}

/// The links of a collection's multi-reference fields, by key. A collection without such a field costs
/// no statement.
pub(crate) async fn links(
    tx: &mut Tx<'_>,
    site: &SiteId,
    stored: &collection::Stored,
) -> Result<HashMap<String, Link>> {
    if !stored.definition.fields.iter().any(is_multi) {
        return Ok(HashMap::new());
    }
    let relations = relations(tx, site, stored.number).await?;
    let links = relations.iter().flat_map(|relation| {
        let link = |(side, end, other): (Side, &End, &End)| {
            (end.field.clone(), Link { relation: relation.number, side, other: other.collection })
        };
        relation.ends(stored.number).map(link).collect::<Vec<_>>()
    });
    Ok(links.collect())
}

pub(crate) fn is_multi(field: &Field) -> bool {
    field::kind(field) == "MULTI_REFERENCE"
}

/// The collection that a reference field was declared to lead to.
pub(crate) fn target_id(field: &Field) -> Option<&str> {
    let metadata = match field::kind(field) {
        "REFERENCE" => "reference",
        "MULTI_REFERENCE" => "multiReference",
        _ => return None,
    };
    field.get("typeMetadata")?.get(metadata)?.get("referencedCollectionId")?.as_str()
}

impl Content {
    /// What a field of a collection leads to; nothing if it isn't a reference.
    pub(crate) async fn reference(&self, site: &Site, collection: &Collection, key: &str) -> Result<Option<Target>> {
        let Some(field) = collection.definition.fields.iter().find(|it| field::key(it) == key) else {
            return Ok(None);
        };
        let Some(collection_id) = target_id(field).map(str::to_owned) else { return Ok(None) };
        let found = match self.collection(site, &collection_id).await {
            Ok(it) => Some(it),
            Err(fault) if collection::is_gone(&fault) => None,
            Err(fault) => return Err(fault),
        };
        let target = match (is_multi(field), collection.links.get(key)) {
            (false, _) => Target { reference: Reference::Single, collection: found, collection_id },
            (true, Some(link)) => {
                let found = found.filter(|it| it.table.number == link.other);
                Target { reference: Reference::Multi(*link), collection: found, collection_id }
            }
            (true, None) => return Ok(None),
        };
        Ok(Some(target))
    }
}

impl Target {
    /// The collection that the field leads to.
    ///
    /// # Errors
    /// WDE0025 when it was deleted.
    pub(crate) fn existing(&self) -> Result<&Arc<Collection>> {
        self.collection.as_ref().ok_or_else(|| collection::missing(&self.collection_id))
    }
}

/// The id that a reference's value stands for: text, or a whole item with its `_id`.
pub(crate) fn id_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(it) => Some(it),
        Value::Object(it) => it.get("_id").and_then(Value::as_str),
        _ => None,
    }
}

/// A field that isn't what the call needs.
pub(crate) fn not_a_reference(collection: &Collection, key: &str, kind: &str) -> Fault {
    let text = format!("{key} is not a {kind} field of the {} collection.", collection.id);
    Fault::because(Code::NotMultiReference, text)
        .with("collectionName", collection.id.as_str())
        .with("propertyName", key)
}

/// A scope as a condition on a table of items that a statement knows by this name; its text begins with
/// `and`, and nothing is said of everything.
pub(crate) fn and_scope(sql: &mut stoa_sql::Writer<'_>, name: &str, scope: &Scope) {
    match scope {
        Scope::Everything => {}
        Scope::OwnedBy(owner) => drop(sql.push(&format!(" and {name}.owner = ")).bind(owner)),
        Scope::Nothing => drop(sql.push(" and false")),
    }
}
