//! Rows of the log as followers of a collection need them.

use crate::event::read::{ContentChange, ContentEntry, ItemChange};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::borrow::Cow;
use stoa_kernel::{EntryKind, Fault, Result};
use stoa_sql::json::quoted;
use stoa_store::outbox::Entry;

/// The kinds of rows that followers read.
pub const KINDS: [&str; 10] = [
    EntryKind::ItemCreated.name(),
    EntryKind::ItemUpdated.name(),
    EntryKind::ItemDeleted.name(),
    EntryKind::ItemsTruncated.name(),
    EntryKind::FieldPurged.name(),
    EntryKind::CollectionUpdated.name(),
    EntryKind::CollectionAccessChanged.name(),
    EntryKind::CollectionCreated.name(),
    EntryKind::CollectionDeleted.name(),
    EntryKind::CollectionRestored.name(),
];

/// Those of them that change who may see what, or what it is: rows as rare as changes of definitions.
pub const RIGHTS: [&str; 5] = [
    EntryKind::CollectionUpdated.name(),
    EntryKind::CollectionAccessChanged.name(),
    EntryKind::CollectionCreated.name(),
    EntryKind::CollectionDeleted.name(),
    EntryKind::CollectionRestored.name(),
];

/// A row about a collection.
#[derive(Debug)]
pub struct FeedRow {
    /// The collection's id at that time.
    pub collection: String,
    pub change: FeedChange,
}

/// What it tells.
#[derive(Debug)]
pub enum FeedChange {
    /// Items, one by one.
    Items(Vec<FeedItem>),
    /// Items changed without being told one by one: they are to be read again.
    Interrupted(Interruption),
    /// The definition is another. What that means depends on what it was.
    Definition,
    /// Who may read is another, or whether there is a collection. Those who follow now are told by the withdrawal; who
    /// comes back learns it from here.
    Rights,
}

/// Why items must be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    Import,
    Truncated,
    /// The values of a deleted field have left all items.
    FieldPurged,
}

/// An item before and after a change.
#[derive(Debug)]
pub struct FeedItem {
    pub id: String,
    pub before: Before,
    /// Nothing for one that was deleted.
    pub(crate) after: Option<After>,
    /// The names, as JSON strings, of the fields that an update changed.
    pub(crate) modified: Vec<String>,
}

/// What an item was.
#[derive(Debug)]
pub enum Before {
    /// It wasn't there.
    Absent,
    Known(Value),
    /// The row doesn't tell, because its collection did not ask for it at that time.
    Unknown,
}

/// What an item is.
#[derive(Debug)]
pub(crate) struct After {
    pub document: Value,
    /// The same as it is stored, without encrypted fields.
    pub text: String,
}

/// The documents of a row, as they stand in it.
#[derive(Deserialize)]
struct Documents<'p> {
    #[serde(borrow, default)]
    items: Vec<&'p RawValue>,
}

/// The collection of a row.
#[derive(Deserialize)]
struct Head<'p> {
    #[serde(borrow)]
    collection: Cow<'p, str>,
}

impl FeedRow {
    /// Reads a row about this collection; nothing for one about another, at the cost of a look, and for one that tells
    /// followers nothing.
    ///
    /// # Errors
    /// As for [`FeedRow::parse`].
    pub fn parse_of(entry: &Entry, collection: &str) -> Result<Option<Self>> {
        let Head { collection: of } = serde_json::from_str(&entry.payload).map_err(Fault::internal)?;
        if of == collection { Self::parse(entry) } else { Ok(None) }
    }

    /// Reads a row; nothing for one that tells followers nothing.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] for a payload that isn't one of its kind.
    pub fn parse(entry: &Entry) -> Result<Option<Self>> {
        let Some(ContentEntry { kind, collection, change, .. }) = ContentEntry::parse(entry)? else { return Ok(None) };
        let change = match (kind, change) {
            (_, ContentChange::Items(items)) => FeedChange::Items(told(kind, items, &entry.payload)?),
            // Of a deletion only a truncate tells the ids alone.
            (EntryKind::ItemDeleted, ContentChange::Named(_)) | (_, ContentChange::Truncated) => {
                FeedChange::Interrupted(Interruption::Truncated)
            }
            (_, ContentChange::Named(_)) => FeedChange::Interrupted(Interruption::Import),
            (_, ContentChange::FieldPurged(_)) => FeedChange::Interrupted(Interruption::FieldPurged),
            (EntryKind::CollectionUpdated, ContentChange::Definition(_)) => FeedChange::Definition,
            (_, ContentChange::Definition(_)) => FeedChange::Rights,
            // Links stand beside the items and are in no document; an index changes no answer.
            (_, ContentChange::References(_) | ContentChange::Index(_)) => return Ok(None),
        };
        Ok(Some(Self { collection, change }))
    }
}

impl FeedItem {
    /// Whose it was and is, as far as that is known.
    pub fn owners(&self) -> impl Iterator<Item = &str> {
        let before = if let Before::Known(it) = &self.before { Some(it) } else { None };
        let documents = before.into_iter().chain(self.after.as_ref().map(|it| &it.document));
        documents.filter_map(|it| it.get("_owner")?.as_str())
    }
}

/// The items of a row, with the texts of their documents.
fn told(kind: EntryKind, items: Vec<ItemChange>, payload: &str) -> Result<Vec<FeedItem>> {
    let documents: Documents<'_> = serde_json::from_str(payload).map_err(Fault::internal)?;
    let mut texts = documents.items.into_iter().map(|it| it.get().to_owned());
    let mut told = Vec::with_capacity(items.len());
    for ItemChange { id, after, before, modified } in items {
        let after = match after {
            Some(document) => {
                let text = texts.next().ok_or_else(|| Fault::internal("a row has fewer documents than items"))?;
                Some(After { document: Value::Object(document), text })
            }
            None => None,
        };
        let before = match before {
            // A save of an item that wasn't there tells of it among others that were.
            Some(it) if !it.contains_key("_id") => Before::Absent,
            Some(it) => Before::Known(Value::Object(it)),
            None if kind == EntryKind::ItemCreated => Before::Absent,
            None => Before::Unknown,
        };
        let modified = modified.iter().map(|it| quoted(it)).collect();
        told.push(FeedItem { id, before, after, modified });
    }
    Ok(told)
}
