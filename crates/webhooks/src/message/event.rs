//! An event on its way to an endpoint.

use serde_json::json;
use stoa_kernel::{DomainEvent, EntryKind, Fault, Millis, Result};

/// An event, with its parts printed: a window holds many.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub id: String,
    /// The number of the row of the log, and the place in it.
    pub sequence: i64,
    pub place: usize,
    pub kind: EntryKind,
    pub event_type: &'static str,
    /// What it tells of, as [`entity_key`] prints it: one event of an entity is on its way at a time.
    pub entity: String,
    /// When it happened.
    pub time: Millis,
    /// Who did it, as JSON.
    pub identity: String,
    /// The domain event as JSON; for a type that is none, the data.
    pub body: String,
}

impl Event {
    pub(crate) fn of(
        kind: EntryKind,
        collection: Option<&str>,
        (sequence, time): (i64, Millis),
        event: &DomainEvent,
    ) -> Result<Self> {
        Ok(Self {
            id: event.id.clone(),
            sequence,
            place: event.place,
            kind,
            event_type: event.event_type,
            entity: entity_key(event, collection),
            time,
            identity: event.identity.to_string(),
            body: serde_json::to_string(&event.body).map_err(Fault::internal)?,
        })
    }

    /// Bytes that it takes, about.
    pub(crate) fn size(&self) -> usize {
        self.body.len() + self.identity.len() + self.entity.len() + 200
    }
}

/// What an event tells of: `["fqdn","id"]`, of an item or an index `["fqdn","id","collection"]`. Events of one type that
/// are no domain events are about one thing, so that they stay in order.
fn entity_key(event: &DomainEvent, collection: Option<&str>) -> String {
    let fqdn = event.body.get("entityFqdn").and_then(|it| it.as_str()).unwrap_or(event.event_type);
    match collection {
        Some(collection) => json!([fqdn, event.entity_id, collection]).to_string(),
        None => json!([fqdn, event.entity_id]).to_string(),
    }
}

/// The id and the collection of an entity, of its key.
pub(crate) fn entity_of(key: &str) -> (String, Option<String>) {
    let mut parts: Vec<String> = serde_json::from_str(key).unwrap_or_default();
    let collection = if parts.len() > 2 { parts.pop() } else { None };
    (parts.pop().unwrap_or_default(), collection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_of_an_entity_is_read_again() {
        for (key, id, collection) in [
            (r#"["wix.data.v2.data_item","a\"b","c/d"]"#, "a\"b", Some("c/d")),
            (r#"["wix.members.v1.member","m"]"#, "m", None),
        ] {
            assert_eq!(entity_of(key), (id.to_owned(), collection.map(str::to_owned)));
        }
    }
}
