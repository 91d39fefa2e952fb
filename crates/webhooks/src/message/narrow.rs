//! A row of the log as far as it tells of one event: what is kept of an event that waits apart. It says no more of people
//! than the log does, which names them by ids (decision 24).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use stoa_kernel::{EntryKind, Fault, Result};

/// The members of payloads. What else there is, such as old values, no event tells.
#[derive(Deserialize, Serialize)]
struct Payload<'p> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    collection: Option<&'p RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    identity: Option<&'p RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    items: Vec<&'p RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    modified: Vec<&'p RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<&'p RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    relations: Vec<&'p RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    index: Option<&'p RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    entity: Option<&'p RawValue>,
    #[serde(borrow, default, rename = "signOnPolicy", skip_serializing_if = "Option::is_none")]
    sign_on_policy: Option<&'p RawValue>,
}

/// A payload of which events are taken. It is read once: that of a bulk write has a thousand and is megabytes long.
pub(crate) struct Narrowing<'p> {
    payload: Payload<'p>,
    /// Types of event that tell of the same thing, one after another.
    types: usize,
}

impl<'p> Narrowing<'p> {
    pub(crate) fn of(kind: EntryKind, payload: &'p str) -> Result<Self> {
        let payload = serde_json::from_str(payload).map_err(Fault::internal)?;
        Ok(Self { payload, types: kind.events().len().max(1) })
    }

    /// The payload for the event at a place in the row.
    pub(crate) fn at(&self, place: usize) -> Result<String> {
        let Payload { collection, identity, items, modified, ids, relations, index, entity, sign_on_policy } =
            &self.payload;
        let (collection, identity, index) = (*collection, *identity, *index);
        let (entity, sign_on_policy) = (*entity, *sign_on_policy);
        let one = |list: &[&'p RawValue]| list.get(place / self.types).copied().into_iter().collect();
        let [items, modified, ids, relations] = [items, modified, ids, relations].map(|it| one(it));
        let narrowed = Payload { collection, identity, items, modified, ids, relations, index, entity, sign_on_policy };
        serde_json::to_string(&narrowed).map_err(Fault::internal)
    }
}

/// The payload of a row for the event at a place in it.
pub(crate) fn narrowed(kind: EntryKind, payload: &str, place: usize) -> Result<String> {
    Narrowing::of(kind, payload)?.at(place)
}

/// A narrowed payload without the document: it names the item, which is read when it is sent. For an event that was given
/// up, which is kept longer than the log keeps its rows.
pub(crate) fn without_document(payload: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Id<'d> {
        #[serde(borrow, rename = "_id")]
        id: &'d RawValue,
    }
    let mut payload: Payload<'_> = serde_json::from_str(payload).map_err(Fault::internal)?;
    let ids = payload.items.iter().map(|it| serde_json::from_str::<Id<'_>>(it.get()).map(|it| it.id));
    let ids = ids.collect::<Result<Vec<_>, _>>().map_err(Fault::internal)?;
    if !ids.is_empty() {
        (payload.ids, payload.items, payload.modified) = (ids, Vec::new(), Vec::new());
    }
    serde_json::to_string(&payload).map_err(Fault::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrowed_row_tells_of_one_event() {
        let items = r#"{"collection":"c","identity":{"type":"APP","id":"k"},"items":[{"_id":"a","n":1e21},{"_id":"b"}],
            "modified":[["n"],[]],"old":[{"n":2},{}]}"#;
        let one = narrowed(EntryKind::ItemUpdated, items, 0).expect("a payload");
        let expected = r#"{"collection":"c","identity":{"type":"APP","id":"k"},"items":[{"_id":"a","n":1e21}],"modified":[["n"]]}"#;
        let many = Narrowing::of(EntryKind::ItemUpdated, items).expect("a payload");
        let second = r#"{"collection":"c","identity":{"type":"APP","id":"k"},"items":[{"_id":"b"}],"modified":[[]]}"#;
        assert_eq!([0, 1, 0].map(|it| many.at(it).expect("a payload")), [expected, second, expected]);
        assert_eq!(one, expected, "numbers stay as they are, and old values aren't kept");
        let named = without_document(&one).expect("a payload");
        assert_eq!(named, r#"{"collection":"c","identity":{"type":"APP","id":"k"},"ids":["a"]}"#);
        assert_eq!(without_document(&named).expect("a payload"), named);
        let relations = r#"{"identity":{},"relations":[{"id":"1"},{"id":"2"}]}"#;
        let second = narrowed(EntryKind::BadgeAssigned, relations, 3).expect("a payload");
        assert_eq!(second, r#"{"identity":{},"relations":[{"id":"2"}]}"#, "two types of event each");
        let policy = r#"{"identity":{},"signOnPolicy":{"requireCaptcha":true}}"#;
        assert_eq!(narrowed(EntryKind::PolicyUpdated, policy, 0).expect("a payload"), policy);
        let job = r#"{"identity":{},"modified":[["status"]],"entity":{"id":"j","status":"COMPLETED"}}"#;
        assert_eq!(narrowed(EntryKind::MovementJobUpdated, job, 0).expect("a payload"), job);
    }
}
