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
//! fields that differ, `ids` are the deleted ones. Delivery (protocol/content.md 16) makes events of it.

use crate::Collection;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use stoa_kernel::{Caller, Result, SiteId, clock::Millis};
use stoa_sql::{json::quoted, params};
use stoa_store::Tx;

/// Who did it, and when: the same for all rows of a call.
#[derive(Clone)]
pub(crate) struct Author {
    site: SiteId,
    /// `"collection":"…","identity":{…}`.
    head: String,
    now: Millis,
}

impl Author {
    pub(crate) fn new(site: &SiteId, collection: &Collection, caller: &Caller, now: Millis) -> Self {
        let id = match caller {
            Caller::Visitor { id, .. } => id.as_str(),
            Caller::Member { id, .. } => id.as_str(),
            Caller::User { id, .. } => id.as_str(),
            Caller::App { id } => id.as_str(),
        };
        let (kind, name) = (caller.identity_type(), &collection.texts.quoted_id);
        let head = format!("\"collection\":{name},\"identity\":{{\"type\":\"{kind}\",\"id\":{}}}", quoted(id));
        Self { site: site.clone(), head, now }
    }

    pub(crate) async fn created<'d>(&self, tx: &mut Tx<'_>, docs: impl Iterator<Item = &'d str>) -> Result<()> {
        self.write(tx, "data_item_created", &[("items", &list(docs))]).await
    }

    pub(crate) async fn updated(&self, tx: &mut Tx<'_>, items: &[(String, Vec<String>)]) -> Result<()> {
        let modified: Vec<String> = items.iter().map(|(_, it)| list(it.iter().map(String::as_str))).collect();
        let modified = list(modified.iter().map(String::as_str));
        let items = list(items.iter().map(|(doc, _)| doc.as_str()));
        self.write(tx, "data_item_updated", &[("items", &items), ("modified", &modified)]).await
    }

    pub(crate) async fn deleted(&self, tx: &mut Tx<'_>, ids: &[String]) -> Result<()> {
        let ids: Vec<String> = ids.iter().map(|it| quoted(it)).collect();
        self.write(tx, "data_item_deleted", &[("ids", &list(ids.iter().map(String::as_str)))]).await
    }

    async fn write(&self, tx: &mut Tx<'_>, kind: &str, parts: &[(&str, &str)]) -> Result<()> {
        let size = parts.iter().map(|it| it.1.len() + 20).sum::<usize>() + self.head.len();
        let mut payload = String::with_capacity(size);
        payload.push('{');
        payload.push_str(&self.head);
        for (name, text) in parts {
            payload.extend([",\"", name, "\":", text]);
        }
        payload.push('}');
        let sql = "insert into stoa.outbox (site, kind, payload, created) values ($1, $2, $3, $4)";
        tx.execute(sql, &params![&self.site, kind, payload, self.now]).await?;
        Ok(())
    }
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut list = String::from("[");
    for it in texts {
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(it);
    }
    list.push(']');
    list
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
