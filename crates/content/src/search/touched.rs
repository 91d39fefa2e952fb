//! What rows of the log say that the index must look at.
//!
//! The log tells that items were written, and which rows went; what they are now is read from their table. So a batch
//! that is read twice, or late, leaves the same index.

use serde::{Deserialize, de::IgnoredAny};
use std::collections::{BTreeMap, BTreeSet};
use stoa_kernel::{EntryKind, Fault, Result};
use stoa_store::outbox::{Entry, RESTORED};

/// The kinds of rows that are read.
pub(super) const KINDS: [&str; 11] = [
    EntryKind::ItemCreated.name(),
    EntryKind::ItemUpdated.name(),
    EntryKind::ItemDeleted.name(),
    EntryKind::ItemsTruncated.name(),
    EntryKind::FieldPurged.name(),
    EntryKind::SearchDamaged.name(),
    EntryKind::CollectionCreated.name(),
    EntryKind::CollectionUpdated.name(),
    EntryKind::CollectionDeleted.name(),
    EntryKind::CollectionRestored.name(),
    RESTORED,
];

/// What a batch of rows touches.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Touched {
    /// By the collections' ids at that time.
    pub items: BTreeMap<String, Items>,
    /// Collections that are to be built anew.
    pub anew: BTreeSet<String>,
    /// Collections were made, changed or deleted, or the state of an index was.
    pub has_definitions: bool,
    /// The data were replaced by a backup.
    pub is_restored: bool,
}

/// Items of a collection.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Items {
    /// Those that were written.
    pub ids: BTreeSet<String>,
    /// Rows of those that were deleted.
    pub rids: BTreeSet<i64>,
}

/// The payload of a row about items ([`crate::event::write`]), as far as it is looked at.
#[derive(Deserialize)]
struct Payload {
    collection: String,
    #[serde(default)]
    items: Vec<Named>,
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    rids: Vec<i64>,
    #[serde(default)]
    truncated: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Named {
    #[serde(rename = "_id")]
    id: String,
}

impl Touched {
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] for a payload that isn't one of its kind.
    pub(super) fn by(entries: &[Entry]) -> Result<Self> {
        let mut touched = Self::default();
        for entry in entries {
            match EntryKind::parse(&entry.kind) {
                Some(EntryKind::ItemCreated | EntryKind::ItemUpdated) => touched.written(read(entry)?),
                Some(EntryKind::ItemDeleted) => touched.deleted(read(entry)?),
                // A purge writes rows without telling of each, and the field may be there again by now.
                Some(EntryKind::ItemsTruncated | EntryKind::FieldPurged) => {
                    touched.anew.insert(read(entry)?.collection);
                }
                Some(_) => touched.has_definitions = true,
                None => touched.is_restored |= entry.kind == RESTORED,
            }
        }
        Ok(touched)
    }

    fn written(&mut self, row: Payload) {
        let ids = row.ids.into_iter().chain(row.items.into_iter().map(|it| it.id));
        self.items.entry(row.collection).or_default().ids.extend(ids);
    }

    fn deleted(&mut self, row: Payload) {
        // A piece of a truncate: its end has the index built anew.
        if row.truncated.is_some() {
            return;
        }
        // An earlier version of this program beside this one doesn't tell which rows went.
        if row.rids.len() < row.ids.len() {
            self.anew.insert(row.collection.clone());
        }
        let items = self.items.entry(row.collection).or_default();
        items.rids.extend(row.rids);
        // Some other item may have the id by now.
        items.ids.extend(row.ids);
    }
}

fn read(entry: &Entry) -> Result<Payload> {
    serde_json::from_str(&entry.payload).map_err(Fault::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::SiteId;

    fn entries(rows: &[(&str, &str)]) -> Vec<Entry> {
        let entry =
            |(kind, payload): &(&str, &str)| Entry::kept(SiteId::from("s"), 1, (*kind).into(), (*payload).into(), 0);
        rows.iter().map(entry).collect()
    }

    fn touched(rows: &[(&str, &str)]) -> Touched {
        Touched::by(&entries(rows)).expect("sound")
    }

    #[test]
    fn rows_name_items_in_one_way_or_another() {
        let touched = touched(&[
            ("data_item_created", r#"{"collection":"c","identity":{},"items":[{"_id":"a","n":1},{"_id":"b"}]}"#),
            ("data_item_updated", r#"{"collection":"c","identity":{},"ids":["c","a"]}"#),
            ("data_item_deleted", r#"{"collection":"d","identity":{},"ids":["x"],"rids":[7],"old":[{}]}"#),
        ]);
        let items = |ids: &[&str], rids: &[i64]| Items {
            ids: ids.iter().map(|it| (*it).to_owned()).collect(),
            rids: rids.iter().copied().collect(),
        };
        let expected = [("c".to_owned(), items(&["a", "b", "c"], &[])), ("d".to_owned(), items(&["x"], &[7]))];
        assert_eq!(touched, Touched { items: expected.into(), ..Touched::default() });
    }

    #[test]
    fn what_no_row_tells_is_built_anew() {
        let whole = touched(&[("data_items_truncated", r#"{"collection":"c","identity":{},"truncated":true}"#)]);
        assert_eq!(whole.anew, ["c".to_owned()].into());
        let purged = touched(&[("data_field_purged", r#"{"collection":"c","identity":{},"field":"f"}"#)]);
        assert_eq!(purged.anew, ["c".to_owned()].into());
        let piece = touched(&[("data_item_deleted", r#"{"collection":"c","truncated":true,"ids":["x"]}"#)]);
        assert_eq!(piece, Touched::default());
        let older = touched(&[("data_item_deleted", r#"{"collection":"c","ids":["x"]}"#)]);
        assert_eq!(older.anew, ["c".to_owned()].into());
        assert!(touched(&[("log_restored", r#"{"epoch":"e"}"#)]).is_restored);
        assert!(touched(&[("data_collection_updated", r#"{"collection":"c"}"#)]).has_definitions);
        assert!(Touched::by(&entries(&[("data_item_created", "{}")])).is_err());
    }
}
