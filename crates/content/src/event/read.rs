//! Events of items as they are sent to others (docs/protocol/content.md §16), made from rows of the outbox.

use crate::{Content, collection, document::quoted_id, fault};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use std::collections::HashMap;
use stoa_kernel::{Fault, Result, date::iso_from_millis};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed, outbox::Entry};

/// The kinds of rows that tell of items.
pub const KINDS: [&str; 3] = ["data_item_created", "data_item_updated", "data_item_deleted"];

/// One thing that happened to one item.
#[derive(Debug)]
pub struct ItemEvent {
    /// For example `wix.data.v2.data_item_created`.
    pub event_type: String,
    /// Who did it: `identityType` and an id.
    pub identity: Value,
    /// The domain event: `id`, `entityId`, `eventTime` and so on, and what became of the item.
    pub body: Value,
}

/// The payload of a row ([`crate::event::write`]).
#[derive(Deserialize)]
struct Payload<'p> {
    collection: String,
    identity: Identity,
    #[serde(borrow, default)]
    items: Vec<&'p RawValue>,
    #[serde(default)]
    modified: Vec<Vec<String>>,
    #[serde(default)]
    ids: Vec<String>,
}

#[derive(Deserialize)]
struct Identity {
    #[serde(rename = "type")]
    kind: String,
    id: String,
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
        let Some(slug) = entry.kind.strip_prefix("data_item_") else { return Ok(Vec::new()) };
        let payload: Payload<'_> = serde_json::from_str(&entry.payload).map_err(Fault::internal)?;
        let builder = EventBuilder { entry, slug, payload: &payload };
        if slug == "deleted" {
            return Ok(payload.ids.iter().enumerate().map(|(n, id)| builder.deleted_event(n, id)).collect());
        }
        let now_there = documents(self, site, &payload).await?;
        let docs: Vec<&str> = match payload.items.is_empty() {
            false => payload.items.iter().map(|it| it.get()).collect(),
            true => payload.ids.iter().filter_map(|id| now_there.get(id)).map(String::as_str).collect(),
        };
        docs.into_iter().enumerate().map(|(n, doc)| builder.written_event(n, doc)).collect()
    }
}

/// The documents of the items that a row only names.
async fn documents(content: &Content, site: &Site, payload: &Payload<'_>) -> Result<HashMap<String, String>> {
    if payload.ids.is_empty() {
        return Ok(HashMap::new());
    }
    let collection = match collection::load(content, site, &payload.collection).await {
        Err(fault) if fault::is_collection_gone(&fault) => return Ok(HashMap::new()),
        it => it?,
    };
    let ids = payload.ids.clone();
    site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let hidden = &collection.encrypted;
            let document = |row: &stoa_store::Row<'_>| Ok((row.get(0)?, hidden.hide(row.doc(3)?).into_owned()));
            Ok(tx.rows(&collection.statements.some, &params![ids], document).await?.into_iter().collect())
        })
    })
    .await
}

/// What the events of one row have in common.
struct EventBuilder<'r> {
    entry: &'r Entry,
    slug: &'r str,
    payload: &'r Payload<'r>,
}

impl EventBuilder<'_> {
    fn written_event(&self, n: usize, doc: &str) -> Result<ItemEvent> {
        let id: String = serde_json::from_str(quoted_id(doc)).map_err(Fault::internal)?;
        let data: Map<String, Value> = serde_json::from_str(doc).map_err(Fault::internal)?;
        let modified = self.payload.modified.get(n).map(|names| {
            let value = |name: &String| (name.clone(), data.get(name).cloned().unwrap_or(Value::Null));
            names.iter().map(value).collect::<Map<_, _>>()
        });
        let entity = json!({ "id": id, "dataCollectionId": self.payload.collection, "data": data });
        let (member, change) = match (self.slug, modified) {
            ("created", _) => ("createdEvent", json!({ "entity": entity })),
            (_, None) => ("updatedEvent", json!({ "currentEntity": entity })),
            (_, Some(fields)) => ("updatedEvent", json!({ "currentEntity": entity, "modifiedFields": fields })),
        };
        Ok(self.event(n, &id, member, change))
    }

    fn deleted_event(&self, n: usize, id: &str) -> ItemEvent {
        let entity = json!({ "id": id, "dataCollectionId": self.payload.collection });
        self.event(n, id, "deletedEvent", json!({ "deletedEntity": entity }))
    }

    fn event(&self, n: usize, id: &str, member: &str, change: Value) -> ItemEvent {
        let mut body = json!({
            "id": format!("{}-{n}", self.entry.id()),
            "entityFqdn": "wix.data.v2.data_item",
            "slug": self.slug,
            "entityId": id,
            "eventTime": iso_from_millis(self.entry.created),
            "entityEventSequence": self.entry.sequence.to_string(),
            "triggeredByAnonymizeRequest": false,
            "originatedFrom": null,
        });
        body[member] = change;
        let Identity { kind, id } = &self.payload.identity;
        let name = match kind.as_str() {
            "MEMBER" => "memberId",
            "ANONYMOUS_VISITOR" => "anonymousVisitorId",
            "WIX_USER" => "wixUserId",
            _ => "appId",
        };
        let event_type = format!("wix.data.v2.data_item_{}", self.slug);
        ItemEvent { event_type, identity: json!({ "identityType": kind, name: id }), body }
    }
}
