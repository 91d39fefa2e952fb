//! Events as they are sent to others, made from what a row of the log tells (docs/protocol/content.md §16).

use crate::{
    actor::EventActor,
    clock::Millis,
    date::iso_from_millis,
    kind::{EventType, Form},
};
use serde_json::{Map, Value, json};

/// One thing that happened to one entity.
#[derive(Debug, Clone, PartialEq)]
pub struct DomainEvent {
    /// The same however often the event is made: that of the row, and the place in it.
    pub id: String,
    /// Its place among the events of the row, which stays the same when others are gone.
    pub place: usize,
    /// Which entity it tells of.
    pub entity_id: String,
    /// For example `wix.data.v2.data_item_created`.
    pub event_type: &'static str,
    /// Who did it: `identityType` and an id.
    pub identity: Value,
    /// The domain event: `id`, `entityId`, `eventTime` and so on, and what became of the entity. For a type that is
    /// none, the data itself.
    pub body: Value,
}

/// The row of the log that an event comes from, and which of the things that it tells of is meant.
#[derive(Debug, Clone, Copy)]
pub struct EventSource<'e> {
    /// The row's id, the same however often it is read.
    pub row: &'e str,
    /// Counts the events of the row.
    pub index: usize,
    /// Of two changes of one entity the later has the higher number.
    pub sequence: i64,
    pub time: Millis,
    pub actor: &'e EventActor,
}

impl EventType {
    /// An event of this type. `change` is what its form has: the entity of one that was made, deleted or acted on, for
    /// an update `currentEntity` and, where it is known, `modifiedFields`. A deleted entity may be null.
    pub fn event(&self, source: EventSource<'_>, entity_id: &str, change: Value) -> DomainEvent {
        let EventSource { row, index, sequence, time, actor } = source;
        let identity = actor.to_json();
        let (id, entity_id) = (format!("{row}-{index}"), entity_id.to_owned());
        let wrapped = |name: &str| Value::Object(Map::from_iter([(name.to_owned(), change.clone())]));
        let (member, change) = match self.form {
            Form::Plain => {
                return DomainEvent { id, place: index, entity_id, event_type: self.name, identity, body: change };
            }
            Form::Created => ("createdEvent", wrapped("entity")),
            Form::Updated => ("updatedEvent", change),
            Form::Deleted if change.is_null() => ("deletedEvent", json!({})),
            Form::Deleted => ("deletedEvent", wrapped("deletedEntity")),
            Form::Action => ("actionEvent", wrapped("body")),
        };
        let mut body = json!({
            "id": id,
            "entityFqdn": self.fqdn,
            "slug": self.slug,
            "entityId": entity_id,
            "eventTime": iso_from_millis(time),
            "entityEventSequence": sequence.to_string(),
            "triggeredByAnonymizeRequest": false,
            "originatedFrom": null,
        });
        body[member] = change;
        DomainEvent { id, place: index, entity_id, event_type: self.name, identity, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::EntryKind;

    #[test]
    fn events_have_the_form_of_their_type() {
        let actor = EventActor::server();
        let source = EventSource { row: "s-7", index: 1, sequence: 7, time: 0, actor: &actor };
        let body = |kind: EntryKind, n: usize, change: Value| kind.events()[n].event(source, "e", change).body;
        let created = body(EntryKind::MemberCreated, 0, json!({ "id": "e" }));
        assert_eq!((&created["id"], &created["entityFqdn"]), (&json!("s-7-1"), &json!("wix.members.v1.member")));
        assert_eq!((&created["slug"], &created["entityEventSequence"]), (&json!("created"), &json!("7")));
        assert_eq!(created["eventTime"], "1970-01-01T00:00:00.000Z");
        assert_eq!(created["createdEvent"], json!({ "entity": { "id": "e" } }));
        let updated = body(EntryKind::MemberUpdated, 0, json!({ "currentEntity": 1 }));
        assert_eq!(updated["updatedEvent"], json!({ "currentEntity": 1 }));
        assert_eq!(body(EntryKind::MemberDeleted, 0, Value::Null)["deletedEvent"], json!({}));
        assert_eq!(body(EntryKind::BadgeUnassigned, 0, json!(2))["deletedEvent"], json!({ "deletedEntity": 2 }));
        assert_eq!(body(EntryKind::BadgeUnassigned, 1, json!(3))["actionEvent"], json!({ "body": 3 }));
        assert_eq!(body(EntryKind::AppInstalled, 0, json!({ "appId": "a" })), json!({ "appId": "a" }));
    }
}
