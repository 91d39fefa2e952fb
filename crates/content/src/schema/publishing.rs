//! Which items of a collection are published, and who says so: the plugin PUBLISH (docs/protocol/content.md §3.7).
//!
//! An item says it itself, in [`PUBLISH_STATUS`]. One that is made without a status gets the plugin's default, and one that
//! is replaced without a status keeps what it has. Items from before the plugin have none and count as the default says.
//! A status other than that is for those who may publish: otherwise a draft that waits to be looked at could publish itself.
//!
//! When an item is to be published or taken back it says as well ([`Schedule`]), and only the tasks that do it write that:
//! what is sent for these members counts for nothing, as what is sent for `_createdDate` does, and a write that changes the
//! status as it was to be changed has done it.

use crate::{
    document::member,
    fault::invalid,
    schema::plugin::{Plugin, publishes_unmarked},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use stoa_kernel::{Code, Fault, Result};
use stoa_query::{CanonicalItem, item::Edit, plan::PUBLISH_STATUS};

/// A change of status that is to be made at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schedule {
    Publish,
    Draft,
}

impl Schedule {
    pub(crate) const ALL: [Self; 2] = [Self::Publish, Self::Draft];

    /// The status that it sets.
    pub(crate) fn status(self) -> &'static str {
        match self {
            Self::Publish => "PUBLISHED",
            Self::Draft => "DRAFT",
        }
    }

    /// The member of an item that says when.
    pub(crate) fn date_field(self) -> &'static str {
        match self {
            Self::Publish => "_publishDate",
            Self::Draft => "_draftDate",
        }
    }

    /// The member that names the task which does it.
    pub(crate) fn task_field(self) -> &'static str {
        match self {
            Self::Publish => "_publishTask",
            Self::Draft => "_draftTask",
        }
    }

    fn fields(self) -> [&'static str; 2] {
        [self.date_field(), self.task_field()]
    }
}

/// Who writes an item, as far as its schedule goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A call, which can't.
    Call,
    /// A patch or a hook of one that names a member of the schedule, which is refused.
    Names(Schedule),
    /// A task, which does.
    Task,
}

impl Writer {
    /// A change that names these fields.
    pub(crate) fn naming<'f>(mut fields: impl Iterator<Item = &'f str>) -> Self {
        let named = |field: &str| Schedule::ALL.into_iter().find(|it| it.fields().contains(&field));
        fields.find_map(named).map_or(Self::Call, Self::Names)
    }
}

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

    /// A new item with its status and no schedule, if that makes it another.
    ///
    /// # Errors
    /// WDE0075 for a status that is none, WDE0027 for one that isn't the caller's to give.
    pub(crate) fn mark_new(&self, item: &CanonicalItem, may_publish: bool) -> Result<Option<CanonicalItem>> {
        let marked = match status(&item.data())? {
            None => mark(item, self.default.into()).map(Some),
            Some(it) => self.check(&it, self.default, may_publish).map(|()| None),
        }?;
        let unscheduled = scheduled(marked.as_ref().unwrap_or(item), "{}", None)?;
        Ok(unscheduled.or(marked))
    }

    /// An item that takes the place of another, with the status and the schedule that it keeps, if that makes it another.
    /// A patch that removes the status asks for the default.
    ///
    /// # Errors
    /// As for [`Publishing::mark_new`]; WDE0075 for a patch that names a member of the schedule.
    pub(crate) fn mark_changed(
        &self,
        item: &CanonicalItem,
        is_patch: bool,
        old: &str,
        (writer, may_publish): (Writer, bool),
    ) -> Result<Option<CanonicalItem>> {
        let marked = self.with_status(item, is_patch, old, may_publish)?;
        let item = marked.as_ref().unwrap_or(item);
        match writer {
            Writer::Task => return Ok(marked),
            Writer::Names(it) => {
                return Err(invalid(it.date_field(), "is set by tasks of the type UPDATE_PUBLISH_STATUS alone"));
            }
            Writer::Call => {}
        }
        let effective = |document: &str| -> Result<Value> {
            Ok(status(document)?.filter(Value::is_string).unwrap_or_else(|| self.default.into()))
        };
        let (before, after) = (effective(old)?, effective(&item.data())?);
        let done = Schedule::ALL.into_iter().find(|it| before != after && after == it.status());
        Ok(scheduled(item, old, done)?.or(marked))
    }

    fn with_status(
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

/// An item with the schedule of a document, but for what is done by now; nothing if that is how it is.
fn scheduled(item: &CanonicalItem, old: &str, done: Option<Schedule>) -> Result<Option<CanonicalItem>> {
    let data = item.data();
    let (mut kept, mut is_other) = (Map::new(), false);
    for schedule in Schedule::ALL {
        for field in schedule.fields() {
            let quoted = format!("\"{field}\"");
            let before = member(old, &quoted).filter(|_| done != Some(schedule));
            is_other |= member(&data, &quoted) != before;
            if let Some(it) = before {
                kept.insert(field.to_owned(), serde_json::from_str(it).map_err(Fault::internal)?);
            }
        }
    }
    if !is_other {
        return Ok(None);
    }
    let mut item = item.clone();
    let is_schedule =
        |name: &str| Schedule::ALL.iter().flat_map(|it| it.fields()).any(|it| name.trim_matches('"') == it);
    item.edit(|name, _| Ok(if is_schedule(name) { Edit::Drop } else { Edit::Keep }))?;
    if kept.is_empty() { Ok(Some(item)) } else { item.with(&kept).map(Some) }
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
        match publishing("DRAFT").mark_changed(&item, is_patch, &old.to_string(), (Writer::Call, may_publish)) {
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

    /// The schedule after a change by a caller, as text.
    fn kept(value: &Value, old: &Value) -> String {
        let item = item(value);
        let changed = publishing("DRAFT").mark_changed(&item, false, &old.to_string(), (Writer::Call, true));
        let data = changed.expect("a change").unwrap_or(item).data();
        let fields = Schedule::ALL.into_iter().flat_map(Schedule::fields);
        let found = fields.filter(|it| member(&data, &format!("\"{it}\"")).is_some());
        found.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn schedules_are_no_callers_to_write() {
        let at = json!({ "$date": "2030-01-01T00:00:00.000Z" });
        let sent = json!({ "a": 1, "_publishDate": at, "_draftTask": "t" });
        let new = publishing("DRAFT").mark_new(&item(&sent), true).expect("a new item").expect("another");
        assert_eq!(new.data(), r#"{"a":1,"_publishStatus":"DRAFT"}"#);
        let both = json!({ "_publishStatus": "DRAFT", "_publishDate": at, "_publishTask": "t", "_draftDate": at, "_draftTask": "u" });
        let (publish, draft) = ("_publishDate _publishTask", "_draftDate _draftTask");
        assert_eq!(kept(&json!({ "a": 2 }), &both), format!("{publish} {draft}"));
        assert_eq!(kept(&sent, &json!({})), "");
        assert_eq!(kept(&json!({ "_publishStatus": "PUBLISHED" }), &both), draft, "it is published now");
        let mut published = both.clone();
        published["_publishStatus"] = "PUBLISHED".into();
        assert_eq!(kept(&json!({ "_publishStatus": "DRAFT" }), &published), publish, "it is taken back now");
        assert_eq!(kept(&json!({ "_publishStatus": "PUBLISHED" }), &published), format!("{publish} {draft}"));
        let names = Writer::naming(["a", "_draftTask"].into_iter());
        let refused = publishing("DRAFT").mark_changed(&item(&json!({})), true, "{}", (names, true));
        assert_eq!(refused.expect_err("refused").code(), Code::RequestInvalid);
        assert_eq!(Writer::naming(["a"].into_iter()), Writer::Call);
    }
}
