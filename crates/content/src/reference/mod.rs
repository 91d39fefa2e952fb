//! Reference fields: what they lead to, and the calls about it (docs/protocol/content.md §3.6, §21.6; decision 10).
//!
//! A single reference is an id in the document. A multi-reference is one side of a relation
//! ([`crate::schema::relation`]), whose links are kept beside the items.
//!
//! The collection that has a field, and its items, are the source; what it leads to is the target.

pub(crate) mod calls;
pub(crate) mod filter;
pub(crate) mod include;
pub(crate) mod link;
pub(crate) mod query;

use crate::{
    Content,
    collection::{self, Collection},
    fault,
    schema::{
        field::{self, is_multi, target_id},
        relation::Link,
    },
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{Scope, compile};
use stoa_sql::Writer;
use stoa_store::Site;

/// Longer than any id of an item.
pub(crate) const MAX_ID: usize = 4096;

/// How a field leads to items of another collection.
#[derive(Clone)]
pub(crate) enum Reference {
    /// By the id of one item, in the document.
    Single,
    Multi(Link),
}

/// What a reference field leads to.
#[derive(Clone)]
pub(crate) struct ReferenceTarget {
    pub reference: Reference,
    /// Nothing when the collection was deleted.
    pub collection: Option<Arc<Collection>>,
    /// What was declared, for refusals.
    pub collection_id: String,
}

/// What a field of a collection leads to; nothing if it isn't a reference.
pub(crate) async fn target(
    content: &Content,
    site: &Site,
    source: &Collection,
    key: &str,
) -> Result<Option<ReferenceTarget>> {
    let Some(field) = source.definition.fields.iter().find(|it| field::key(it) == key) else {
        return Ok(None);
    };
    let Some(collection_id) = target_id(field).map(str::to_owned) else { return Ok(None) };
    let found = match collection::load(content, site, &collection_id).await {
        Ok(it) => Some(it),
        Err(fault) if fault::is_collection_gone(&fault) => None,
        Err(fault) => return Err(fault),
    };
    Ok(match (is_multi(field), source.links.get(key)) {
        (false, _) => Some(ReferenceTarget { reference: Reference::Single, collection: found, collection_id }),
        (true, Some(link)) => {
            let found = found.filter(|it| it.table.number == link.other);
            Some(ReferenceTarget { reference: Reference::Multi(*link), collection: found, collection_id })
        }
        (true, None) => None,
    })
}

impl ReferenceTarget {
    /// The collection that the field leads to.
    ///
    /// # Errors
    /// WDE0025 when it was deleted.
    pub(crate) fn existing(&self) -> Result<&Arc<Collection>> {
        self.collection.as_ref().ok_or_else(|| fault::collection_not_found(&self.collection_id))
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

/// The name of a reference field in a request.
///
/// # Errors
/// WDE0094 when it is empty, WDE0003 when it isn't text.
pub(crate) fn field_name(members: &Map<String, Value>, name: &str) -> Result<String> {
    match members.get(name) {
        Some(Value::String(it)) if it.is_empty() => {
            Err(Fault::because(Code::NameEmpty, format!("{name} must not be empty.")))
        }
        Some(Value::String(it)) => Ok(it.clone()),
        _ => Err(Fault::because(Code::FieldNotText, format!("{name} must be a string."))),
    }
}

/// A scope as a condition on a table of items that a statement knows by this name; its text begins with
/// `and`, and nothing is said of everything.
pub(crate) fn and_scope(sql: &mut Writer<'_>, name: &str, scope: &Scope) {
    match scope {
        Scope::Everything => {}
        Scope::OwnedBy(owner) => drop(sql.push(&format!(" and {name}.owner = ")).bind(owner)),
        // Nothing else in these statements has the columns of a document.
        Scope::Published { .. } => {
            sql.push(" and ");
            compile::condition(sql, &scope.filter());
        }
        Scope::Nothing => drop(sql.push(" and false")),
    }
}
