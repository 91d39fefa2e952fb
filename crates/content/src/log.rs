//! Rows of the log that tell of collections and their indexes (decision 24): what a reader must know to follow. Those
//! of items are made in [`crate::event::write`].
//!
//! ```json
//! {"collection":"cars","identity":{"type":"WIX_USER","id":"…"},"revision":"3"}
//! ```
//!
//! A row of a collection has the revision of its definition, that of an index the `index` as lists show it.

use serde_json::{Map, Value, json};
use stoa_kernel::{EntryKind, EventActor, Result, SiteId, clock::Millis};
use stoa_sql::json::quoted;
use stoa_store::{Tx, outbox};

/// A row that is to be written.
pub(crate) struct CollectionEntry<'e> {
    pub kind: EntryKind,
    /// The collection's id.
    pub collection: &'e str,
    pub actor: EventActor,
    pub now: Millis,
}

impl CollectionEntry<'_> {
    /// Writes it in the transaction that it tells of.
    pub(crate) async fn put(self, tx: &mut Tx<'_>, site: &SiteId) -> Result<()> {
        self.put_with(tx, site, &[]).await
    }

    /// The same with further members.
    pub(crate) async fn put_with(self, tx: &mut Tx<'_>, site: &SiteId, members: &[(&str, Value)]) -> Result<()> {
        outbox::put(tx, site, self.kind.name(), payload(self.collection, &self.actor, members), self.now).await
    }
}

/// What a row of a collection holds.
pub(crate) fn payload(collection: &str, actor: &EventActor, members: &[(&str, Value)]) -> String {
    let own = [("collection", json!(collection)), ("identity", json!(actor))];
    let all = own.iter().chain(members).map(|(name, value)| ((*name).to_owned(), value.clone()));
    Value::Object(all.collect::<Map<_, _>>()).to_string()
}

/// The beginning of a payload, `"collection":"…","identity":{…}`. The id of the collection is a JSON string.
pub(crate) fn head(quoted_collection: &str, actor: &EventActor) -> String {
    let EventActor { kind, id, impersonator } = actor;
    let by = impersonator.as_ref().map(|it| format!(",\"impersonator\":{}", quoted(it))).unwrap_or_default();
    format!("\"collection\":{quoted_collection},\"identity\":{{\"type\":{},\"id\":{}{by}}}", quoted(kind), quoted(id))
}

/// Why the rows of a site stay for readers that resume: a collection asks for old values.
pub(crate) fn keep_reason(collection: &str) -> String {
    format!("collection:{collection}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_begin_alike_however_they_are_made() {
        for impersonator in [None, Some("u\"v".to_owned())] {
            let actor = EventActor { kind: "MEMBER".to_owned(), id: "a\"b".to_owned(), impersonator };
            let payload = payload("c\"d", &actor, &[("revision", json!("2"))]);
            let head = head(&quoted("c\"d"), &actor);
            let whole: Value = serde_json::from_str(&format!("{{{head},\"revision\":\"2\"}}")).expect("JSON");
            assert_eq!(serde_json::from_str::<Value>(&payload).expect("JSON"), whole);
        }
    }
}
