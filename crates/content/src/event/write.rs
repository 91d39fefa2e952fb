//! What others must hear of items: one row of the outbox a statement, in the transaction that caused it.
//!
//! Payload, for `data_item_created`, `data_item_updated` and `data_item_deleted`:
//!
//! ```json
//! {"collection":"cars","identity":{"type":"MEMBER","id":"…"},"items":[{"_id":"…",…}],
//!  "modified":[["color"]],"ids":["…"],"rids":[7],"old":[{"color":"red"}]}
//! ```
//!
//! `items` are the documents of created and updated items, `modified` names for each updated one the
//! fields that differ, page links as they are calculated among both, `ids` are the deleted ones and `rids` their rows, by which an index knows them that reads the log
//! when the items are gone ([`crate::search`]). Encrypted fields are named, and in no document. The rows
//! of an import hold the `ids` of its items instead of `items` and `modified`: written twice, a large file
//! would fill the disk twice.
//!
//! A collection with `logOldValues` or `realtime` has `old` besides: for each updated item the values that the modified
//! fields had (none for one that wasn't there) and the date of its last update, for each deleted one the document. Such
//! rows are cut where they would pass [`ROW_BYTES`]. Where `old` is absent nothing is known of what was before: in rows
//! of imports, and in those that were written before the collection asked.
//! [`crate::event::read`] makes events of it (docs/protocol/content.md §16).
//!
//! An emptied collection is one row of the kind `data_items_truncated`, `{"collection","identity","truncated":true}`,
//! written when its last item is gone: a row with a million ids would be of no use. One with `logOldValues`, or on a site
//! where a reader asks for it ([`outbox::Asked`]), has rows of `data_item_deleted` before that, with the same members and
//! `ids`, one for each piece of the work. Not with the documents: a large collection would be written twice.
//!
//! `data_item_references_changed` tells of links, where one of their two collections has `logOldValues`:
//! `{"collection","identity","field","target","removed":[["source","target"]],"added":[…]}`, for an import with the
//! `ids` of the items whose links were put in place of others. `target` is the collection that the field leads to.

use crate::{
    collection::Collection,
    document::quoted_id,
    log,
    schema::{encrypted::EncryptedFields, page_link::PageLinks},
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::BTreeMap};
use stoa_kernel::{Caller, EntryKind, EventActor, Fault, MemberId, Result, SiteId, clock::Millis};
use stoa_sql::json::quoted;
use stoa_store::{Tx, outbox};

/// Bytes of the items of a row with old values. Readers take 4 MB at a time, with what stands around them.
pub(crate) const ROW_BYTES: usize = 4_000_000;

/// Writes the rows of one call: who did it, and when, is the same for all of them.
#[derive(Clone)]
pub(crate) struct EventWriter {
    site: SiteId,
    /// `"collection":"…","identity":{…}`.
    head: String,
    /// What no event holds: the values of encrypted fields.
    hidden: EncryptedFields,
    /// What events hold beside what is stored.
    links: PageLinks,
    now: Millis,
    /// An import: the rows name items instead of holding them.
    names_only: bool,
    /// Whether the collection asks for old values, and the rows hold some.
    keeps_old: bool,
}

/// An item that was updated.
pub(crate) struct UpdatedItem {
    pub doc: String,
    /// The names, as JSON strings, of the fields that differ.
    pub modified: Vec<String>,
    /// What these fields were before, as a JSON object, if the rows hold that.
    pub old: Option<String>,
}

/// An item that was deleted, with the document that was stored if that is told.
pub(crate) struct DeletedItem {
    pub id: String,
    /// The number of its row.
    pub rid: i64,
    pub doc: String,
}

/// A change of links of one field.
#[derive(Clone, Copy)]
pub(crate) struct LinkedField<'f> {
    pub key: &'f str,
    /// The id of the collection that it leads to.
    pub target: &'f str,
}

impl EventWriter {
    pub(crate) fn new(site: &SiteId, collection: &Collection, caller: &Caller, now: Millis) -> Self {
        Self::of(site, collection, &EventActor::of(caller), now)
    }

    /// For what is done in the name of a member who made no request.
    pub(crate) fn of_member(site: &SiteId, collection: &Collection, member: &MemberId, now: Millis) -> Self {
        Self::of(site, collection, &EventActor::member(member), now)
    }

    fn of(site: &SiteId, collection: &Collection, actor: &EventActor, now: Millis) -> Self {
        Self {
            site: site.clone(),
            head: log::head(&collection.statements.quoted_id, actor),
            hidden: collection.encrypted.clone(),
            links: collection.page_links.clone(),
            now,
            names_only: false,
            keeps_old: collection.definition.keeps_old_values(),
        }
    }

    /// The same for an import.
    pub(crate) fn for_import(self) -> Self {
        Self { names_only: true, keeps_old: false, ..self }
    }

    /// Whether rows hold what items were before.
    pub(crate) fn keeps_old(&self) -> bool {
        self.keeps_old
    }

    pub(crate) async fn created<'d>(&self, tx: &mut Tx<'_>, docs: impl Iterator<Item = &'d str> + Clone) -> Result<()> {
        if self.names_only {
            return self.named(tx, EntryKind::ItemCreated, docs.map(quoted_id)).await;
        }
        self.creation(docs).put(tx).await
    }

    /// The events of new items, to be written with them.
    pub(crate) fn creation<'d>(&self, docs: impl Iterator<Item = &'d str> + Clone) -> outbox::PendingEntry {
        let mut payload = self.begin(docs.clone().map(|it| it.len() + 1).sum());
        list("items", docs.map(|it| self.told(it)), &mut payload);
        payload.push('}');
        outbox::PendingEntry { site: self.site.clone(), kind: EntryKind::ItemCreated.name(), payload, now: self.now }
    }

    /// What an update does to an item, by the documents that are stored before and after it.
    pub(crate) fn update(&self, before: &str, after: &str) -> UpdatedItem {
        let [was, is] = [before, after].map(|it| self.links.put(it));
        let (modified, old) = differences(&was, &is, self.keeps_old.then_some(&self.hidden));
        UpdatedItem { doc: after.to_owned(), modified, old }
    }

    /// A stored document as events have it.
    fn told<'d>(&self, document: &'d str) -> Cow<'d, str> {
        self.links.put(self.hidden.hide(document))
    }

    pub(crate) async fn updated(&self, tx: &mut Tx<'_>, items: &[UpdatedItem]) -> Result<()> {
        if self.names_only {
            return self.named(tx, EntryKind::ItemUpdated, items.iter().map(|it| quoted_id(&it.doc))).await;
        }
        for items in self.rows(items, UpdatedItem::size) {
            let mut payload = self.begin(items.iter().map(UpdatedItem::size).sum());
            list("items", items.iter().map(|it| self.told(&it.doc)), &mut payload);
            let modified: Vec<String> = items.iter().map(|it| format!("[{}]", it.modified.join(","))).collect();
            list("modified", modified.iter(), &mut payload);
            if self.keeps_old {
                list("old", items.iter().map(|it| it.old.as_deref().unwrap_or("{}")), &mut payload);
            }
            self.write(tx, EntryKind::ItemUpdated, payload).await?;
        }
        Ok(())
    }

    /// With what the items were, where the rows hold that.
    pub(crate) async fn deleted(&self, tx: &mut Tx<'_>, items: &[DeletedItem]) -> Result<()> {
        let size = |it: &DeletedItem| it.id.len() + it.doc.len() + 16;
        for items in self.rows(items, size) {
            let mut payload = self.begin(items.iter().map(size).sum());
            list("ids", items.iter().map(|it| quoted(&it.id)), &mut payload);
            list("rids", items.iter().map(|it| it.rid.to_string()), &mut payload);
            if self.keeps_old {
                list("old", items.iter().map(|it| self.told(&it.doc)), &mut payload);
            }
            self.write(tx, EntryKind::ItemDeleted, payload).await?;
        }
        Ok(())
    }

    /// Links of a field that went and came, as pairs of the ids of their items.
    pub(crate) async fn references_changed<E: Serialize>(
        &self,
        tx: &mut Tx<'_>,
        field: LinkedField<'_>,
        (removed, added): (&[E], &[E]),
    ) -> Result<()> {
        if removed.is_empty() && added.is_empty() {
            return Ok(());
        }
        let mut payload = self.begin_links(field);
        for (name, edges) in [("removed", removed), ("added", added)] {
            payload.push_str(&format!(",\"{name}\":{}", serde_json::to_string(edges).map_err(Fault::internal)?));
        }
        self.write(tx, EntryKind::ReferencesChanged, payload).await
    }

    /// The same of an import, which names the items whose links were put in the place of others.
    pub(crate) async fn references_put<'i>(
        &self,
        tx: &mut Tx<'_>,
        field: LinkedField<'_>,
        ids: impl Iterator<Item = &'i str>,
    ) -> Result<()> {
        let mut payload = self.begin_links(field);
        list("ids", ids.map(quoted), &mut payload);
        self.write(tx, EntryKind::ReferencesChanged, payload).await
    }

    /// The payload for a collection that was emptied.
    pub(crate) fn truncated(&self) -> String {
        format!("{{{},\"truncated\":true}}", self.head)
    }

    /// A row with the ids, as JSON strings, of its items.
    async fn named<'d>(
        &self,
        tx: &mut Tx<'_>,
        kind: EntryKind,
        ids: impl Iterator<Item = &'d str> + Clone,
    ) -> Result<()> {
        let mut payload = self.begin(ids.clone().map(|it| it.len() + 1).sum());
        list("ids", ids, &mut payload);
        self.write(tx, kind, payload).await
    }

    /// The items of each row: all in one, unless what they were before makes it too long.
    fn rows<'i, T>(&self, items: &'i [T], size: impl Fn(&T) -> usize) -> Vec<&'i [T]> {
        match self.keeps_old {
            true => pieces(items, size),
            false => vec![items],
        }
    }

    /// A payload of about this size: a call may bring a thousand items, so it is made in one piece.
    fn begin(&self, size: usize) -> String {
        let mut payload = String::with_capacity(self.head.len() + size + 40);
        payload.push('{');
        payload.push_str(&self.head);
        payload
    }

    fn begin_links(&self, field: LinkedField<'_>) -> String {
        let mut payload = self.begin(200);
        payload.extend([",\"field\":", &quoted(field.key), ",\"target\":", &quoted(field.target)]);
        payload
    }

    async fn write(&self, tx: &mut Tx<'_>, kind: EntryKind, mut payload: String) -> Result<()> {
        payload.push('}');
        outbox::put(tx, &self.site, kind.name(), payload, self.now).await
    }
}

impl UpdatedItem {
    /// Bytes that it takes in a row, at most.
    fn size(&self) -> usize {
        let modified: usize = self.modified.iter().map(|it| it.len() + 1).sum();
        self.doc.len() + modified + self.old.as_ref().map_or(0, String::len) + 6
    }
}

/// The payload for a piece of a truncate, out of that of the whole.
pub(crate) fn truncated_piece(whole: &str, ids: &[String]) -> Option<String> {
    let mut payload = whole.strip_suffix('}')?.to_owned();
    list("ids", ids.iter().map(|it| quoted(it)), &mut payload);
    payload.push('}');
    Some(payload)
}

/// Items side by side that have at most [`ROW_BYTES`] together, or are one.
pub(crate) fn pieces<T>(items: &[T], size: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut pieces, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (n, it) in items.iter().enumerate() {
        let size = size(it);
        if n > start && bytes + size > ROW_BYTES {
            pieces.push(&items[start..n]);
            (start, bytes) = (n, 0);
        }
        bytes += size;
    }
    pieces.extend(Some(&items[start..]).filter(|it| !it.is_empty()));
    pieces
}

/// Appends `,"name":[…]`.
fn list(name: &str, texts: impl Iterator<Item = impl AsRef<str>>, out: &mut String) {
    out.extend([",\"", name, "\":["]);
    for (n, it) in texts.enumerate() {
        out.extend([if n > 0 { "," } else { "" }, it.as_ref()]);
    }
    out.push(']');
}

/// The date of an item's last update.
const UPDATED: &str = "_updatedDate";

/// The names, as JSON strings, of the fields in which two documents differ, dates of writing apart.
pub(crate) fn modified(before: &str, after: &str) -> Vec<String> {
    differences(before, after, None).0
}

/// The same, and what the first document has in these fields, as a JSON object without what is hidden; that only where
/// it is said what is.
fn differences(before: &str, after: &str, hidden: Option<&EncryptedFields>) -> (Vec<String>, Option<String>) {
    type Members<'a> = BTreeMap<String, &'a RawValue>;
    let read = |it| serde_json::from_str::<Members<'_>>(it).unwrap_or_default();
    let (before, after) = (read(before), read(after));
    let differs = |name: &&String| {
        name.as_str() != UPDATED && before.get(*name).map(|it| it.get()) != after.get(*name).map(|it| it.get())
    };
    let gone = before.keys().filter(|it| !after.contains_key(*it));
    let names: Vec<&String> = after.keys().filter(differs).chain(gone).collect();
    let modified: Vec<String> = names.iter().map(|it| quoted(it)).collect();
    let old = hidden.map(|hidden| {
        let shown = names.iter().zip(&modified).filter(|(_, quoted)| !hidden.has(quoted));
        let members = shown.filter_map(|(name, quoted)| Some(format!("{quoted}:{}", before.get(*name)?.get())));
        // No modified field, and yet what a filter may ask of the item that was.
        let updated = before.get(UPDATED).filter(|it| after.get(UPDATED).map(|it| it.get()) != Some(it.get()));
        let members = members.chain(updated.map(|it| format!("\"{UPDATED}\":{}", it.get())));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    });
    (modified, old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::field::Field;
    use serde_json::json;

    #[test]
    fn modified_fields_are_those_that_differ() {
        let before = r#"{"_id":"1","_updatedDate":{"$date":"a"},"a":1,"b":[1,2],"c":"x"}"#;
        let after = r#"{"_id":"1","_updatedDate":{"$date":"b"},"a":1,"b":[2,1],"d":null}"#;
        assert_eq!(modified(before, after), ["\"b\"", "\"d\"", "\"c\""]);
        assert!(modified(before, before).is_empty());
    }

    #[test]
    fn old_values_are_those_of_modified_fields_and_never_hidden_ones() {
        let field =
            |key: &str| Field::from_iter([("key".to_owned(), json!(key)), ("encrypted".to_owned(), true.into())]);
        let hidden = EncryptedFields::of(&[field("pin"), field("q\"")]);
        let before = r#"{"_id":"1","_owner":"v","a":1,"b":{"x":[1]},"pin":"sealed:1:x","q\"":"sealed:1:y"}"#;
        let after = r#"{"_id":"1","_owner":"m","a":1,"d":null,"pin":"sealed:1:z"}"#;
        let (modified, old) = differences(before, after, Some(&hidden));
        assert_eq!(modified, ["\"_owner\"", "\"d\"", "\"pin\"", "\"b\"", "\"q\\\"\""]);
        assert_eq!(old.as_deref(), Some(r#"{"_owner":"v","b":{"x":[1]}}"#));
        assert_eq!(differences(before, before, Some(&hidden)), (Vec::new(), Some("{}".to_owned())));
        let dated = |date: &str| format!(r#"{{"_id":"1","_updatedDate":{{"$date":"{date}"}}}}"#);
        let (modified, old) = differences(&dated("a"), &dated("b"), Some(&hidden));
        assert_eq!((modified.len(), old.as_deref()), (0, Some(r#"{"_updatedDate":{"$date":"a"}}"#)));
    }

    #[test]
    fn rows_are_cut_before_they_are_too_long() {
        let sizes = [1, ROW_BYTES - 1, 1, ROW_BYTES + 1, 2, 3];
        let cut: Vec<Vec<usize>> = pieces(&sizes, |it| *it).into_iter().map(<[usize]>::to_vec).collect();
        assert_eq!(cut, [vec![1, ROW_BYTES - 1], vec![1], vec![ROW_BYTES + 1], vec![2, 3]]);
        assert!(pieces(&[0_usize; 0], |it| *it).is_empty());
    }

    #[test]
    fn piece_of_a_truncate_tells_what_the_whole_does() {
        let whole = r#"{"collection":"c","identity":{"type":"APP","id":"k"},"truncated":true}"#;
        let piece = truncated_piece(whole, &["a".to_owned(), "b\"".to_owned()]).expect("a payload");
        let piece: serde_json::Value = serde_json::from_str(&piece).expect("JSON");
        assert_eq!((&piece["truncated"], &piece["ids"]), (&json!(true), &json!(["a", "b\""])));
        assert_eq!(piece["identity"], json!({ "type": "APP", "id": "k" }));
        assert_eq!(truncated_piece("", &[]), None);
    }
}
