//! What others must hear of: one row of the outbox a statement, in the transaction that caused it.
//!
//! Payload, for `data_item_created`, `data_item_updated` and `data_item_deleted`:
//!
//! ```json
//! {"collection":"cars","identity":{"type":"MEMBER","id":"…"},"items":[{"_id":"…",…}],
//!  "modified":[["color"]],"ids":["…"]}
//! ```
//!
//! `items` are the documents of created and updated items, `modified` names for each updated one the
//! fields that differ, `ids` are the deleted ones. Encrypted fields are named, and in no document. The rows
//! of an import hold the `ids` of its items instead of `items` and `modified`: written twice, a large file
//! would fill the disk twice.
//! [`crate::event::read`] makes events of it (docs/protocol/content.md §16).
//!
//! An emptied collection is one row of the kind `data_items_truncated`, `{"collection","identity","truncated":true}`,
//! written when its last item is gone: a row with a million ids would be of no use.

use crate::{collection::Collection, document::quoted_id, schema::encrypted::EncryptedFields};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use stoa_kernel::{Caller, MemberId, Result, SiteId, clock::Millis};
use stoa_sql::json::quoted;
use stoa_store::{Tx, outbox};

/// Writes the rows of one call: who did it, and when, is the same for all of them.
#[derive(Clone)]
pub(crate) struct EventWriter {
    site: SiteId,
    /// `"collection":"…","identity":{…}`.
    head: String,
    /// What no event holds: the values of encrypted fields.
    hidden: EncryptedFields,
    now: Millis,
    /// An import: the rows name items instead of holding them.
    names_only: bool,
}

/// Who did it, as the payload tells.
struct Identity<'i> {
    kind: &'static str,
    id: &'i str,
}

/// An item that was updated.
pub(crate) struct UpdatedItem {
    pub doc: String,
    /// The names, as JSON strings, of the fields that differ.
    pub modified: Vec<String>,
}

impl EventWriter {
    pub(crate) fn new(site: &SiteId, collection: &Collection, caller: &Caller, now: Millis) -> Self {
        Self::of(site, collection, Identity { kind: caller.identity_type(), id: caller.id() }, now)
    }

    /// For what is done in the name of a member who made no request.
    pub(crate) fn of_member(site: &SiteId, collection: &Collection, member: &MemberId, now: Millis) -> Self {
        Self::of(site, collection, Identity { kind: "MEMBER", id: member.as_str() }, now)
    }

    fn of(site: &SiteId, collection: &Collection, identity: Identity<'_>, now: Millis) -> Self {
        let (name, Identity { kind, id }) = (&collection.statements.quoted_id, identity);
        let head = format!("\"collection\":{name},\"identity\":{{\"type\":\"{kind}\",\"id\":{}}}", quoted(id));
        Self { site: site.clone(), head, hidden: collection.encrypted.clone(), now, names_only: false }
    }

    /// The same for an import.
    pub(crate) fn for_import(self) -> Self {
        Self { names_only: true, ..self }
    }

    pub(crate) async fn created<'d>(&self, tx: &mut Tx<'_>, docs: impl Iterator<Item = &'d str> + Clone) -> Result<()> {
        if self.names_only {
            return self.named(tx, "data_item_created", docs.map(quoted_id)).await;
        }
        self.creation(docs).put(tx).await
    }

    /// The events of new items, to be written with them.
    pub(crate) fn creation<'d>(&self, docs: impl Iterator<Item = &'d str> + Clone) -> outbox::PendingEntry {
        let mut payload = self.begin(docs.clone().map(|it| it.len() + 1).sum());
        list("items", docs.map(|it| self.hidden.hide(it)), &mut payload);
        payload.push('}');
        outbox::PendingEntry { site: self.site.clone(), kind: "data_item_created", payload, now: self.now }
    }

    pub(crate) async fn updated(&self, tx: &mut Tx<'_>, items: &[UpdatedItem]) -> Result<()> {
        if self.names_only {
            return self.named(tx, "data_item_updated", items.iter().map(|it| quoted_id(&it.doc))).await;
        }
        let mut payload = self.begin(items.iter().map(|it| it.doc.len() + 20).sum());
        list("items", items.iter().map(|it| self.hidden.hide(it.doc.as_str())), &mut payload);
        let modified: Vec<String> = items.iter().map(|it| format!("[{}]", it.modified.join(","))).collect();
        list("modified", modified.iter(), &mut payload);
        self.write(tx, "data_item_updated", payload).await
    }

    pub(crate) async fn deleted(&self, tx: &mut Tx<'_>, ids: &[String]) -> Result<()> {
        let ids: Vec<String> = ids.iter().map(|it| quoted(it)).collect();
        self.named(tx, "data_item_deleted", ids.iter().map(String::as_str)).await
    }

    /// The payload for a collection that was emptied.
    pub(crate) fn truncated(&self) -> String {
        format!("{{{},\"truncated\":true}}", self.head)
    }

    /// A row with the ids, as JSON strings, of its items.
    async fn named<'d>(&self, tx: &mut Tx<'_>, kind: &str, ids: impl Iterator<Item = &'d str> + Clone) -> Result<()> {
        let mut payload = self.begin(ids.clone().map(|it| it.len() + 1).sum());
        list("ids", ids, &mut payload);
        self.write(tx, kind, payload).await
    }

    /// A payload of about this size: a call may bring a thousand items, so it is made in one piece.
    fn begin(&self, size: usize) -> String {
        let mut payload = String::with_capacity(self.head.len() + size + 40);
        payload.push('{');
        payload.push_str(&self.head);
        payload
    }

    async fn write(&self, tx: &mut Tx<'_>, kind: &str, mut payload: String) -> Result<()> {
        payload.push('}');
        outbox::put(tx, &self.site, kind, payload, self.now).await
    }
}

/// Appends `,"name":[…]`.
fn list(name: &str, texts: impl Iterator<Item = impl AsRef<str>>, out: &mut String) {
    out.extend([",\"", name, "\":["]);
    for (n, it) in texts.enumerate() {
        out.extend([if n > 0 { "," } else { "" }, it.as_ref()]);
    }
    out.push(']');
}

/// The names, as JSON strings, of the fields in which two documents differ, dates of writing apart.
pub(crate) fn modified(before: &str, after: &str) -> Vec<String> {
    type Members<'a> = BTreeMap<String, &'a RawValue>;
    let read = |it| serde_json::from_str::<Members<'_>>(it).unwrap_or_default();
    let (before, after) = (read(before), read(after));
    let differs = |name: &&String| {
        name.as_str() != "_updatedDate" && before.get(*name).map(|it| it.get()) != after.get(*name).map(|it| it.get())
    };
    let gone = before.keys().filter(|it| !after.contains_key(*it));
    after.keys().filter(differs).chain(gone).map(|it| quoted(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modified_fields_are_those_that_differ() {
        let before = r#"{"_id":"1","_updatedDate":{"$date":"a"},"a":1,"b":[1,2],"c":"x"}"#;
        let after = r#"{"_id":"1","_updatedDate":{"$date":"b"},"a":1,"b":[2,1],"d":null}"#;
        assert_eq!(modified(before, after), ["\"b\"", "\"d\"", "\"c\""]);
        assert!(modified(before, before).is_empty());
    }
}
