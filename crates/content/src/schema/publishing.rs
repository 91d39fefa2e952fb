//! Which items of a collection are published, and who says so: the plugin PUBLISH (docs/protocol/content.md §3.7).
//!
//! An item says it itself, in [`PUBLISH_STATUS`]. One that is made without a status gets the plugin's default, and one that
//! is replaced without a status keeps what it has. Items from before the plugin have none and count as the default says.
//! A status other than that is for those who may publish: otherwise a draft that waits to be looked at could publish itself.

use crate::{
    fault::invalid,
    schema::plugin::{Plugin, publishes_unmarked},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{CanonicalItem, plan::PUBLISH_STATUS};

/// What the plugin PUBLISH of a collection asks of its items.
pub(crate) struct Publishing {
    default: &'static str,
}

impl Publishing {
    /// Nothing if the plugin is another one.
    pub(crate) fn of(plugin: &Plugin) -> Option<Self> {
        let is_publish = plugin.get("type").is_some_and(|it| it == "PUBLISH");
        let unmarked = publishes_unmarked(plugin).filter(|_| is_publish)?;
        Some(Self { default: if unmarked { "PUBLISHED" } else { "DRAFT" } })
    }

    /// A new item with its status, if that makes it another.
    ///
    /// # Errors
    /// WDE0075 for a status that is none, WDE0027 for one that isn't the caller's to give.
    pub(crate) fn mark_new(&self, item: &CanonicalItem, may_publish: bool) -> Result<Option<CanonicalItem>> {
        match status(&item.data())? {
            None => mark(item, self.default.into()).map(Some),
            Some(it) => self.check(&it, self.default, may_publish).map(|()| None),
        }
    }

    /// An item that takes the place of another, with the status that it keeps, if that makes it another. A patch that
    /// removes the status asks for the default.
    ///
    /// # Errors
    /// As for [`Publishing::mark_new`].
    pub(crate) fn mark_changed(
        &self,
        item: &CanonicalItem,
        is_patch: bool,
        old: &str,
        may_publish: bool,
    ) -> Result<Option<CanonicalItem>> {
        let (old, new) = (status(old)?, status(&item.data())?);
        let before = old.as_ref().and_then(Value::as_str).unwrap_or(self.default);
        match (&old, &new) {
            (Some(old), None) if !is_patch => mark(item, old.clone()).map(Some),
            (Some(_), None) => {
                let default = Value::from(self.default);
                self.check(&default, before, may_publish)?;
                mark(item, default).map(Some)
            }
            (_, Some(it)) if new != old => self.check(it, before, may_publish).map(|()| None),
            _ => Ok(None),
        }
    }

    fn check(&self, new: &Value, before: &str, may_publish: bool) -> Result<()> {
        match new.as_str() {
            Some(it) if it == before => Ok(()),
            Some("PUBLISHED" | "DRAFT") if may_publish => Ok(()),
            Some("PUBLISHED" | "DRAFT") => Err(Fault::because(
                Code::PermissionDenied,
                format!("The current user does not have permissions to set {PUBLISH_STATUS}."),
            )),
            _ => Err(invalid(PUBLISH_STATUS, "must be PUBLISHED or DRAFT")),
        }
    }
}

#[derive(Deserialize)]
struct Marked {
    #[serde(rename = "_publishStatus")]
    status: Option<Value>,
}

/// The status that a document has; null counts as none.
fn status(document: &str) -> Result<Option<Value>> {
    serde_json::from_str(document).map(|it: Marked| it.status).map_err(Fault::internal)
}

fn mark(item: &CanonicalItem, status: Value) -> Result<CanonicalItem> {
    item.with(&Map::from_iter([(PUBLISH_STATUS.to_owned(), status)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use stoa_query::QueryLimits;

    fn publishing(default: &str) -> Publishing {
        let plugin = json!({ "type": "PUBLISH", "publishOptions": { "defaultStatus": default } });
        Publishing::of(plugin.as_object().expect("an object")).expect("a plugin")
    }

    fn item(value: &Value) -> CanonicalItem {
        CanonicalItem::empty(QueryLimits::default().item())
            .with(value.as_object().expect("an object"))
            .expect("an item")
    }

    /// The status after an attempt, or the code of the refusal.
    fn new(default: &str, value: &Value, may_publish: bool) -> String {
        let item = item(value);
        match publishing(default).mark_new(&item, may_publish) {
            Ok(it) => {
                status(&it.unwrap_or(item).data()).expect("a document").map_or("none".into(), |it| it.to_string())
            }
            Err(fault) => fault.code().name().to_owned(),
        }
    }

    fn changed(value: &Value, is_patch: bool, old: &Value, may_publish: bool) -> String {
        let item = item(value);
        match publishing("DRAFT").mark_changed(&item, is_patch, &old.to_string(), may_publish) {
            Ok(it) => {
                status(&it.unwrap_or(item).data()).expect("a document").map_or("none".into(), |it| it.to_string())
            }
            Err(fault) => fault.code().name().to_owned(),
        }
    }

    #[test]
    fn new_items_have_the_default_and_only_publishers_choose() {
        for may_publish in [true, false] {
            assert_eq!(new("DRAFT", &json!({ "a": 1 }), may_publish), "\"DRAFT\"");
            assert_eq!(new("PUBLISHED", &json!({}), may_publish), "\"PUBLISHED\"");
            assert_eq!(new("DRAFT", &json!({ "_publishStatus": "DRAFT" }), may_publish), "\"DRAFT\"");
            assert_eq!(new("DRAFT", &json!({ "_publishStatus": "LATER" }), may_publish), "WDE0075");
        }
        assert_eq!(new("DRAFT", &json!({ "_publishStatus": "PUBLISHED" }), true), "\"PUBLISHED\"");
        assert_eq!(new("DRAFT", &json!({ "_publishStatus": "PUBLISHED" }), false), "WDE0027");
    }

    #[test]
    fn changed_items_keep_their_status_and_only_publishers_change_it() {
        let (published, draft) = (json!({ "_publishStatus": "PUBLISHED" }), json!({ "_publishStatus": "DRAFT" }));
        for may_publish in [true, false] {
            assert_eq!(changed(&json!({}), false, &published, may_publish), "\"PUBLISHED\"");
            assert_eq!(changed(&json!({}), false, &json!({}), may_publish), "none", "as before the plugin");
            assert_eq!(changed(&draft, true, &json!({}), may_publish), "\"DRAFT\"", "what it counts as");
            assert_eq!(
                changed(&json!({ "_publishStatus": 7 }), true, &json!({ "_publishStatus": 7 }), may_publish),
                "7"
            );
            assert_eq!(changed(&json!({ "_publishStatus": 7 }), true, &draft, may_publish), "WDE0075");
        }
        assert_eq!(changed(&json!({}), true, &published, true), "\"DRAFT\"");
        assert_eq!(changed(&json!({}), true, &published, false), "WDE0027");
        assert_eq!(changed(&published, false, &draft, true), "\"PUBLISHED\"");
        assert_eq!(changed(&published, false, &draft, false), "WDE0027");
        assert_eq!(changed(&published, false, &json!({}), false), "WDE0027");
    }
}
