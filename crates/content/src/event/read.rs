//! Rows of the outbox about items, collections and indexes, read: as what happened ([`ContentEntry`]), and as events as
//! they are sent to others (docs/protocol/content.md §16).

use crate::{Content, collection, document::quoted_id, fault};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use std::collections::HashMap;
use stoa_kernel::{DomainEvent, EntryKind, EventActor, EventSource, Fault, Result};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed, outbox::Entry};

/// The kinds of rows that tell of items.
pub const KINDS: [&str; 3] =
    [EntryKind::ItemCreated.name(), EntryKind::ItemUpdated.name(), EntryKind::ItemDeleted.name()];

/// What happened to an item, or to an index.
pub type ItemEvent = DomainEvent;

/// Events of items of a row, those from a place on.
#[derive(Debug)]
pub struct ItemEvents {
    pub events: Vec<ItemEvent>,
    /// The place behind the last item that was looked at.
    pub next: usize,
    /// Whether there are none behind it.
    pub is_last: bool,
}

/// Items that a row only names and that are read at once: they may be of the largest.
const READ_AT_ONCE: usize = 16;

/// What a row tells.
#[derive(Debug, Clone, PartialEq)]
pub struct ContentEntry {
    pub kind: EntryKind,
    /// The collection's id at that time.
    pub collection: String,
    /// Who did it.
    pub actor: EventActor,
    pub change: ContentChange,
}

/// What happened in a collection, or to it.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentChange {
    /// Items were created, updated or deleted, as the kind says.
    Items(Vec<ItemChange>),
    /// Items by their ids alone: those of an import, or those that a truncate removed. They are to be read as they are
    /// now, and who could see them before isn't known.
    Named(Vec<String>),
    /// Every item is gone that was there when it was asked for.
    Truncated,
    /// Links of a multi-reference field.
    References(LinkChanges),
    /// The values of this deleted field have left all items.
    FieldPurged(String),
    /// The collection itself: made, changed, deleted or brought back, or who may do what in it. The revision of its
    /// definition, where the row has one.
    Definition(Option<i64>),
    /// An index, as lists show it.
    Index(Value),
}

/// An item of a row. Values of encrypted fields are in none of its documents.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemChange {
    pub id: String,
    /// The item as it was written; nothing for one that was deleted.
    pub after: Option<Map<String, Value>>,
    /// The item as it was before. Nothing where it isn't known, and for one that wasn't there.
    pub before: Option<Map<String, Value>>,
    /// The fields that an update changed.
    pub modified: Vec<String>,
}

/// Links that went and came, each as the ids of the item that has the field and the one that it leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LinkChanges {
    /// The field's key in the row's collection.
    pub field: String,
    /// The collection that it leads to.
    pub target: String,
    pub removed: Vec<(String, String)>,
    pub added: Vec<(String, String)>,
    /// Of an import: the items whose links were put in the place of others.
    pub ids: Vec<String>,
}

/// The payload of a row ([`crate::event::write`]).
#[derive(Deserialize)]
struct Payload<'p> {
    collection: String,
    identity: EventActor,
    #[serde(borrow, default)]
    items: Vec<&'p RawValue>,
    #[serde(default)]
    modified: Vec<Vec<String>>,
    #[serde(default)]
    ids: Vec<String>,
    #[serde(borrow, default)]
    old: Option<Vec<&'p RawValue>>,
}

/// The payload of a row about a collection ([`crate::log`]).
#[derive(Deserialize)]
struct CollectionPayload {
    collection: String,
    identity: EventActor,
    #[serde(default)]
    revision: Option<String>,
    #[serde(default)]
    field: String,
    #[serde(default)]
    index: Value,
}

impl ContentEntry {
    /// Reads a row; nothing for one of another kind.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] for a payload that isn't one of its kind.
    pub fn parse(entry: &Entry) -> Result<Option<Self>> {
        let Some(kind) = EntryKind::parse(&entry.kind) else { return Ok(None) };
        let text = entry.payload.as_str();
        let (collection, actor, change) = match kind {
            EntryKind::ItemCreated | EntryKind::ItemUpdated | EntryKind::ItemDeleted => {
                let payload: Payload<'_> = read(text)?;
                let change = payload.change()?;
                (payload.collection, payload.identity, change)
            }
            EntryKind::ReferencesChanged => {
                let head: CollectionPayload = read(text)?;
                (head.collection, head.identity, ContentChange::References(read(text)?))
            }
            EntryKind::ItemsTruncated
            | EntryKind::FieldPurged
            | EntryKind::CollectionCreated
            | EntryKind::CollectionUpdated
            | EntryKind::CollectionDeleted
            | EntryKind::CollectionRestored
            | EntryKind::CollectionAccessChanged
            | EntryKind::IndexCreated
            | EntryKind::IndexChanged
            | EntryKind::IndexBuilt
            | EntryKind::IndexFailed
            | EntryKind::IndexRemoved => {
                let CollectionPayload { collection, identity, revision, field, index } = read(text)?;
                let change = match kind {
                    EntryKind::ItemsTruncated => ContentChange::Truncated,
                    EntryKind::FieldPurged => ContentChange::FieldPurged(field),
                    _ if !index.is_null() => ContentChange::Index(index),
                    _ => ContentChange::Definition(revision.and_then(|it| it.parse().ok())),
                };
                (collection, identity, change)
            }
            _ => return Ok(None),
        };
        Ok(Some(Self { kind, collection, actor, change }))
    }
}

impl Content {
    /// The events of a row, one for each item; none for a row of another kind.
    ///
    /// An import's rows only name their items, so these are read as they are now, and an item that is gone
    /// by then has no event but that of its removal.
    ///
    /// # Errors
    /// What reading the items answers.
    pub async fn item_events(&self, site: &Site, entry: &Entry) -> Result<Vec<ItemEvent>> {
        let (mut events, mut next) = (Vec::new(), 0);
        loop {
            let piece = self.item_events_from(site, entry, next, (usize::MAX, usize::MAX)).await?;
            events.extend(piece.events);
            next = piece.next;
            if piece.is_last {
                return Ok(events);
            }
        }
    }

    /// Those of the items of a row from a place on: at most so many items, and about so many bytes of documents, but at
    /// least one item.
    ///
    /// # Errors
    /// What reading the items answers.
    pub async fn item_events_from(
        &self,
        site: &Site,
        entry: &Entry,
        from: usize,
        (count, bytes): (usize, usize),
    ) -> Result<ItemEvents> {
        let kind = match EntryKind::parse(&entry.kind) {
            Some(it @ (EntryKind::ItemCreated | EntryKind::ItemUpdated | EntryKind::ItemDeleted)) => it,
            _ => return Ok(ItemEvents { events: Vec::new(), next: 0, is_last: true }),
        };
        let payload: Payload<'_> = read(&entry.payload)?;
        let builder = EventBuilder { entry, row: &entry.id(), kind, payload: &payload };
        let end = |all: usize, count: usize| from.saturating_add(count.max(1)).min(all).max(from);
        if kind == EntryKind::ItemDeleted || !payload.items.is_empty() {
            let all = payload.items.len().max(payload.ids.len());
            let (mut events, mut next, mut size) = (Vec::new(), from, 0);
            while next < end(all, count) && (size < bytes || next == from) {
                match payload.items.get(next) {
                    Some(doc) => {
                        size += doc.get().len();
                        events.push(builder.written_event(next, doc.get())?);
                    }
                    None => events.extend(payload.ids.get(next).map(|id| builder.deleted_event(next, id))),
                }
                next += 1;
            }
            return Ok(ItemEvents { events, next, is_last: next >= all });
        }
        let ids = payload.ids.get(from..end(payload.ids.len(), count.min(READ_AT_ONCE))).unwrap_or_default();
        let now_there = documents(self, site, &payload.collection, ids).await?;
        // The place in the row names an event, so that it stays the same when others are gone.
        let (mut events, mut next, mut size) = (Vec::new(), from, 0);
        for id in ids {
            if size >= bytes && next > from {
                break;
            }
            if let Some(doc) = now_there.get(id) {
                size += doc.len();
                events.push(builder.written_event(next, doc)?);
            }
            next += 1;
        }
        Ok(ItemEvents { events, next, is_last: next >= payload.ids.len() })
    }
}

/// The event of a row about an index; none for a row of another kind.
///
/// # Errors
/// [`stoa_kernel::Code::Internal`] for a payload that isn't one of its kind.
pub fn index_event(entry: &Entry) -> Result<Option<DomainEvent>> {
    let Some(ContentEntry { kind, actor, change: ContentChange::Index(index), .. }) = ContentEntry::parse(entry)?
    else {
        return Ok(None);
    };
    let Some(event_type) = kind.events().first() else { return Ok(None) };
    let source =
        EventSource { row: &entry.id(), index: 0, sequence: entry.sequence, time: entry.created, actor: &actor };
    let id = index["id"].as_str().unwrap_or_default().to_owned();
    let change = if kind == EntryKind::IndexChanged || kind == EntryKind::IndexBuilt || kind == EntryKind::IndexFailed {
        json!({ "currentEntity": index })
    } else {
        index
    };
    Ok(Some(event_type.event(source, &id, change)))
}

/// The payload of a row that has what it tells of whole: a backup, a restoration or a movement job.
#[derive(Deserialize)]
struct WholePayload {
    identity: EventActor,
    entity: Map<String, Value>,
    /// The members that an update changed, as one list in a list: of what else there is, a row tells of many.
    #[serde(default)]
    modified: Vec<Vec<String>>,
}

/// The event of a row about a backup, a restoration or a movement job; none for a row of another kind.
///
/// # Errors
/// [`stoa_kernel::Code::Internal`] for a payload that isn't one of its kind.
pub fn whole_event(entry: &Entry) -> Result<Option<DomainEvent>> {
    let Some(kind) = EntryKind::parse(&entry.kind) else { return Ok(None) };
    let (is_restoration, is_backup) =
        (kind == EntryKind::RestorationStateChanged, kind == EntryKind::BackupStateChanged);
    let is_job =
        matches!(kind, EntryKind::MovementJobCreated | EntryKind::MovementJobUpdated | EntryKind::MovementJobDeleted);
    if !is_restoration && !is_backup && !is_job {
        return Ok(None);
    }
    let WholePayload { identity, entity, modified } = read(&entry.payload)?;
    // Events of restorations are events of the backup that is restored.
    let of = if is_restoration { entity.get("backup").and_then(|it| it.get("id")) } else { entity.get("id") };
    let id = of.and_then(Value::as_str).ok_or_else(|| Fault::internal("a row tells of something without an id"))?;
    let id = id.to_owned();
    let change = match kind {
        EntryKind::BackupStateChanged => json!({ "backup": entity }),
        EntryKind::RestorationStateChanged => json!({ "restoration": entity }),
        EntryKind::MovementJobCreated => Value::Object(entity),
        EntryKind::MovementJobUpdated => {
            let value = |name: &String| (name.clone(), entity.get(name).cloned().unwrap_or(Value::Null));
            let fields: Map<_, _> = modified.iter().flatten().map(value).collect();
            json!({ "currentEntity": entity, "modifiedFields": fields })
        }
        _ => Value::Null,
    };
    let row = entry.id();
    let source = EventSource { row: &row, index: 0, sequence: entry.sequence, time: entry.created, actor: &identity };
    Ok(kind.events().first().map(|it| it.event(source, &id, change)))
}

/// The documents of the items that a row only names.
async fn documents(
    content: &Content,
    site: &Site,
    collection: &str,
    ids: &[String],
) -> Result<HashMap<String, String>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let collection = match collection::load(content, site, collection).await {
        Err(fault) if fault::is_collection_gone(&fault) => return Ok(HashMap::new()),
        it => it?,
    };
    let ids = ids.to_vec();
    site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let document = |row: &stoa_store::Row<'_>| {
                let stored = collection.encrypted.hide(row.doc(3)?);
                Ok((row.get(0)?, collection.page_links.put(stored).into_owned()))
            };
            Ok(tx.rows(&collection.statements.some, &params![ids], document).await?.into_iter().collect())
        })
    })
    .await
}

impl Payload<'_> {
    /// What it tells of items.
    fn change(&self) -> Result<ContentChange> {
        let old = |n: usize| self.old.as_ref().and_then(|it| it.get(n)).map(|it| read(it.get())).transpose();
        if self.items.is_empty() {
            if self.old.is_none() {
                return Ok(ContentChange::Named(self.ids.clone()));
            }
            let deleted = |(n, id): (usize, &String)| {
                Ok(ItemChange { id: id.clone(), after: None, before: old(n)?, modified: Vec::new() })
            };
            return self.ids.iter().enumerate().map(deleted).collect::<Result<_>>().map(ContentChange::Items);
        }
        let written = |(n, doc): (usize, &&RawValue)| {
            let after: Map<String, Value> = read(doc.get())?;
            let modified = self.modified.get(n).cloned().unwrap_or_default();
            let before = old(n)?.map(|old| before(&after, &modified, old));
            Ok(ItemChange { id: read(quoted_id(doc.get()))?, after: Some(after), before, modified })
        };
        self.items.iter().enumerate().map(written).collect::<Result<_>>().map(ContentChange::Items)
    }
}

/// What an item was, by what it is and what the fields that differ were.
fn before(after: &Map<String, Value>, modified: &[String], mut old: Map<String, Value>) -> Map<String, Value> {
    let mut before = after.clone();
    for name in modified {
        match old.remove(name) {
            Some(value) => before.insert(name.clone(), value),
            None => before.remove(name),
        };
    }
    // The date of the update before, which is no modified field.
    before.extend(old);
    before
}

fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T> {
    serde_json::from_str(text).map_err(Fault::internal)
}

/// What the events of one row have in common.
struct EventBuilder<'r> {
    entry: &'r Entry,
    /// The row's id.
    row: &'r str,
    kind: EntryKind,
    payload: &'r Payload<'r>,
}

impl EventBuilder<'_> {
    fn written_event(&self, n: usize, doc: &str) -> Result<ItemEvent> {
        let id: String = read(quoted_id(doc))?;
        let data: Map<String, Value> = read(doc)?;
        let modified = self.payload.modified.get(n).map(|names| {
            let value = |name: &String| (name.clone(), data.get(name).cloned().unwrap_or(Value::Null));
            names.iter().map(value).collect::<Map<_, _>>()
        });
        let entity = json!({ "id": id, "dataCollectionId": self.payload.collection, "data": data });
        let change = match (self.kind, modified) {
            (EntryKind::ItemCreated, _) => entity,
            (_, None) => json!({ "currentEntity": entity }),
            (_, Some(fields)) => json!({ "currentEntity": entity, "modifiedFields": fields }),
        };
        Ok(self.event(n, &id, change))
    }

    fn deleted_event(&self, n: usize, id: &str) -> ItemEvent {
        self.event(n, id, json!({ "id": id, "dataCollectionId": self.payload.collection }))
    }

    fn event(&self, n: usize, id: &str, change: Value) -> ItemEvent {
        let Self { entry, row, kind, payload } = self;
        let actor = &payload.identity;
        let source = EventSource { row, index: n, sequence: entry.sequence, time: entry.created, actor };
        kind.events()[0].event(source, id, change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_before_an_update_is_what_it_is_with_the_old_values() {
        let text = r#"{"collection":"c","identity":{"type":"APP","id":"k"},"items":[{"_id":"1","_owner":"m","a":1,"d":2}],
            "modified":[["_owner","d","b"]],"old":[{"_owner":"v","b":[1]}]}"#;
        let payload: Payload<'_> = read(text).expect("a payload");
        let ContentChange::Items(items) = payload.change().expect("a change") else { panic!("items") };
        let before = Value::Object(items[0].before.clone().expect("known"));
        assert_eq!(before, json!({ "_id": "1", "_owner": "v", "a": 1, "b": [1] }));
        let unknown = text.replace("\"old\"", "\"other\"");
        let payload: Payload<'_> = read(&unknown).expect("a payload");
        let ContentChange::Items(items) = payload.change().expect("a change") else { panic!("items") };
        assert_eq!((items[0].id.as_str(), &items[0].before), ("1", &None));
    }

    #[test]
    fn deleted_items_are_told_with_what_they_were_or_named() {
        let read_change = |text: &str| read::<Payload<'_>>(text).and_then(|it| it.change()).expect("a change");
        let head = r#""collection":"c","identity":{"type":"APP","id":"k"}"#;
        let named = read_change(&format!("{{{head},\"ids\":[\"a\",\"b\"]}}"));
        assert_eq!(named, ContentChange::Named(vec!["a".to_owned(), "b".to_owned()]));
        let told = read_change(&format!("{{{head},\"ids\":[\"a\"],\"old\":[{{\"_id\":\"a\",\"n\":1}}]}}"));
        let ContentChange::Items(items) = told else { panic!("items") };
        assert_eq!(items[0].before.as_ref().and_then(|it| it.get("n")), Some(&json!(1)));
        assert_eq!(items[0].after, None);
    }
}
