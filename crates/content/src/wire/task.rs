//! Tasks as clients ask for them (docs/protocol/content.md §9).

use crate::{
    fault::{invalid, missing},
    limits::ContentLimits,
    wire::{
        options::present,
        validator::{Validator, check},
    },
};
use serde_json::{Map, Value};
use stoa_kernel::{Result, clock::Millis, date};

/// What a task does, with what it is told beside collection, filter and drafts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TaskKind {
    Delete,
    Copy {
        source: String,
        target: String,
    },
    /// The field, and `operations`.
    Edit {
        field: String,
        operations: Map<String, Value>,
    },
    Status(StatusOperation),
}

/// What becomes of the status of items. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusOperation {
    SetPublished,
    SetDraft,
    SchedulePublished(Millis),
    ScheduleDraft(Millis),
    CancelScheduling,
}

/// A task that is asked for.
#[derive(Debug, Clone)]
pub struct TaskRequest {
    pub(crate) kind: TaskKind,
    /// Its options, which name collection, environment and filter as the members of other calls do.
    pub options: Map<String, Value>,
    /// Type and options as they are told again.
    pub(crate) shown: Value,
}

const KEY: Validator = Validator::Text(1, 255);
const AT: Validator = Validator::Object(&[("date", Validator::Time)]);

/// The two that a request must have for one of the operations.
const PUBLISH_AT: &str = "schedulePublishedStatusOptions";
const DRAFT_AT: &str = "scheduleDraftStatusOptions";

static PAIR: Validator = Validator::Object(&[("from", Validator::Any), ("to", Validator::Any)]);
static VALUE: Validator = Validator::Any;
static DRAFTS: Validator = Validator::Object(&[("includeDraftItems", Validator::Flag)]);

/// Each type, the member with its options, and what these are beside those of other calls.
const TYPES: &[(&str, &str, Validator)] = &[
    ("DELETE_BY_QUERY", "deleteByQueryOptions", Validator::Object(&[])),
    ("COPY_FIELD_DATA", "copyFieldDataOptions", Validator::Object(&[("sourceFieldKey", KEY), ("targetFieldKey", KEY)])),
    (
        "EDIT_FIELD_DATA",
        "editFieldDataOptions",
        Validator::Object(&[
            ("fieldKey", KEY),
            (
                "operations",
                Validator::Object(&[
                    ("addItems", Validator::List(64, &VALUE)),
                    ("removeItems", Validator::List(64, &VALUE)),
                    ("replaceItems", Validator::List(64, &PAIR)),
                    ("removeDuplicates", Validator::Flag),
                ]),
            ),
        ]),
    ),
    (
        "UPDATE_PUBLISH_STATUS",
        "updatePublishStatusOptions",
        Validator::Object(&[
            (
                "operation",
                Validator::OneOf(&[
                    "SET_PUBLISHED_STATUS",
                    "SET_DRAFT_STATUS",
                    "SCHEDULE_PUBLISHED_STATUS",
                    "SCHEDULE_DRAFT_STATUS",
                    "CANCEL_SCHEDULING",
                ]),
            ),
            (PUBLISH_AT, AT),
            (DRAFT_AT, AT),
        ]),
    ),
];

impl TaskRequest {
    /// Reads the body of a call that asks for a task.
    ///
    /// # Errors
    /// WDE0075 with the path of what is wrong. What a filter and the other options are is looked at later.
    pub fn parse(body: &Value, limits: &ContentLimits) -> Result<Self> {
        let task = body.get("task").filter(|it| !it.is_null()).ok_or_else(|| missing("task"))?;
        let task = task.as_object().ok_or_else(|| invalid("task", "must be an object"))?;
        let name = present(task, "type").ok_or_else(|| missing("task.type"))?;
        let Some((name, own, validator)) = TYPES.iter().find(|it| name == it.0) else {
            let names: Vec<_> = TYPES.iter().map(|it| it.0).collect();
            return Err(invalid("task.type", &format!("must be one of {}", names.join(", "))));
        };
        for (_, member, _) in TYPES {
            if member != own && present(task, member).is_some() {
                return Err(invalid(
                    &format!("task.{member}"),
                    &format!("doesn't belong to a task of the type {name}"),
                ));
            }
        }
        let path = format!("task.{own}");
        let options = present(task, own).ok_or_else(|| missing(&path))?;
        check(options, validator, &path, limits)?;
        let Some(options) = options.as_object() else { return Err(invalid(&path, "must be an object")) };
        let mut options = options.clone();
        options.retain(|_, it| !it.is_null());
        let kind = kind(own, &options, &path)?;
        let shown = documented(own, validator, &options);
        let shown = Map::from_iter([("type".to_owned(), (*name).into()), ((*own).to_owned(), shown.into())]);
        let foreign: &[&str] = match kind {
            TaskKind::Delete => &[],
            TaskKind::Copy { .. } => &["filter", "publishPluginOptions"],
            TaskKind::Edit { .. } | TaskKind::Status(_) => &["publishPluginOptions"],
        };
        // Passed over, they would have items changed that were not meant.
        if let Some(it) = foreign.iter().find(|it| options.contains_key(**it)) {
            return Err(invalid(&format!("{path}.{it}"), &format!("doesn't belong to a task of the type {name}")));
        }
        // Without a filter all items are meant.
        options.entry("filter").or_insert_with(|| Map::new().into());
        if kind != TaskKind::Delete {
            // These are about all that the caller sees and have no word for it.
            options.insert("publishPluginOptions".to_owned(), serde_json::json!({ "includeDraftItems": true }));
        }
        Ok(Self { kind, options, shown: shown.into() })
    }

    /// What a task is told as once its filter and the values of an edit are of no use any more.
    pub(crate) fn without_values(mut shown: Value) -> Value {
        for options in shown.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
            options.remove("filter");
            options.remove("operations");
        }
        shown
    }
}

/// The members of the options that there are: what else was sent is not kept.
fn documented(own: &str, validator: &Validator, options: &Map<String, Value>) -> Map<String, Value> {
    let common = [("dataCollectionId", &VALUE), ("environment", &VALUE), ("filter", &VALUE)];
    let mut members = Vec::from(common);
    if own == "deleteByQueryOptions" {
        members.push(("publishPluginOptions", &DRAFTS));
    }
    if let Validator::Object(own) = validator {
        members.extend(own.iter().map(|it| (it.0, &it.1)));
    }
    let shown =
        |(name, validator): &(&str, &Validator)| Some(((*name).to_owned(), known(validator, options.get(*name)?)));
    members.iter().filter_map(shown).collect()
}

/// A value without the members that objects of its kind don't have.
fn known(validator: &Validator, value: &Value) -> Value {
    match (validator, value) {
        (Validator::Object(members), Value::Object(sent)) => {
            let kept = |it: &(&str, Validator)| Some((it.0.to_owned(), known(&it.1, sent.get(it.0)?)));
            Value::Object(members.iter().filter_map(kept).collect())
        }
        (Validator::List(_, of), Value::Array(sent)) => sent.iter().map(|it| known(of, it)).collect(),
        _ => value.clone(),
    }
}

fn kind(own: &str, options: &Map<String, Value>, path: &str) -> Result<TaskKind> {
    let needed = |name: &str| present(options, name).ok_or_else(|| missing(&format!("{path}.{name}")));
    let text = |name: &str| needed(name).map(|it| it.as_str().unwrap_or_default().to_owned());
    let key = |name: &str| match text(name)? {
        it if it.contains('.') => Err(invalid(&format!("{path}.{name}"), "must be the key of a field")),
        it => Ok(it),
    };
    Ok(match own {
        "deleteByQueryOptions" => TaskKind::Delete,
        "copyFieldDataOptions" => {
            let (source, target) = (key("sourceFieldKey")?, key("targetFieldKey")?);
            if source == target {
                return Err(invalid(&format!("{path}.targetFieldKey"), "must be another field"));
            }
            TaskKind::Copy { source, target }
        }
        "editFieldDataOptions" => {
            let operations = needed("operations")?.as_object().cloned().unwrap_or_default();
            TaskKind::Edit { field: key("fieldKey")?, operations }
        }
        _ => TaskKind::Status(status_operation(options, &text("operation")?, path)?),
    })
}

fn status_operation(options: &Map<String, Value>, operation: &str, path: &str) -> Result<StatusOperation> {
    let at = |name: &str| {
        let time = present(options, name).and_then(|it| it.get("date")).and_then(Value::as_str).and_then(date::parse);
        time.ok_or_else(|| missing(&format!("{path}.{name}.date")))
    };
    let (read, own) = match operation {
        "SET_PUBLISHED_STATUS" => (StatusOperation::SetPublished, ""),
        "SET_DRAFT_STATUS" => (StatusOperation::SetDraft, ""),
        "SCHEDULE_PUBLISHED_STATUS" => (StatusOperation::SchedulePublished(at(PUBLISH_AT)?), PUBLISH_AT),
        "SCHEDULE_DRAFT_STATUS" => (StatusOperation::ScheduleDraft(at(DRAFT_AT)?), DRAFT_AT),
        _ => (StatusOperation::CancelScheduling, ""),
    };
    match [PUBLISH_AT, DRAFT_AT].into_iter().find(|it| *it != own && present(options, it).is_some()) {
        Some(it) => Err(invalid(&format!("{path}.{it}"), &format!("doesn't belong to the operation {operation}"))),
        None => Ok(read),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(task: Value) -> Result<TaskRequest> {
        TaskRequest::parse(&json!({ "task": task }), &ContentLimits::default())
    }

    #[test]
    fn tasks_are_read() {
        let delete = read(
            json!({ "type": "DELETE_BY_QUERY", "deleteByQueryOptions": { "dataCollectionId": "c" }, "status": "NEW" }),
        );
        let delete = delete.expect("a task");
        assert_eq!((delete.kind, &delete.options["filter"]), (TaskKind::Delete, &json!({})), "all items are meant");
        assert_eq!(
            delete.shown,
            json!({ "type": "DELETE_BY_QUERY", "deleteByQueryOptions": { "dataCollectionId": "c" } })
        );
        let status = |operation: &str, more: Value| {
            let mut options = json!({ "dataCollectionId": "c", "filter": { "a": 1 }, "operation": operation });
            options.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
            read(json!({ "type": "UPDATE_PUBLISH_STATUS", "updatePublishStatusOptions": options }))
        };
        let at = json!({ "date": "2030-01-01T00:00:00Z" });
        let scheduled = status("SCHEDULE_DRAFT_STATUS", json!({ "scheduleDraftStatusOptions": at })).expect("a task");
        assert_eq!(scheduled.kind, TaskKind::Status(StatusOperation::ScheduleDraft(1_893_456_000_000)));
        let told = TaskRequest::without_values(scheduled.shown);
        assert_eq!(
            told["updatePublishStatusOptions"],
            json!({ "dataCollectionId": "c", "operation": "SCHEDULE_DRAFT_STATUS", "scheduleDraftStatusOptions": at })
        );
        for (operation, more) in [
            ("SCHEDULE_PUBLISHED_STATUS", json!({})),
            ("SCHEDULE_PUBLISHED_STATUS", json!({ "scheduleDraftStatusOptions": at })),
            (
                "SCHEDULE_PUBLISHED_STATUS",
                json!({ "schedulePublishedStatusOptions": at, "scheduleDraftStatusOptions": at }),
            ),
            ("SCHEDULE_PUBLISHED_STATUS", json!({ "schedulePublishedStatusOptions": { "date": "soon" } })),
            ("SET_DRAFT_STATUS", json!({ "scheduleDraftStatusOptions": at })),
            ("UNDEFINED", json!({})),
        ] {
            assert_eq!(
                status(operation, more.clone()).expect_err(operation).code().name(),
                "WDE0075",
                "{operation} {more}"
            );
        }
    }

    #[test]
    fn what_no_task_has_is_not_told_again() {
        let sent = json!({
            "dataCollectionId": "c", "filter": { "n": 1 }, "x": "y".repeat(100_000), "appOptions": { "a": 1 },
            "publishPluginOptions": { "includeDraftItems": true, "x": 1 },
        });
        let task = read(json!({ "type": "DELETE_BY_QUERY", "deleteByQueryOptions": sent })).expect("a task");
        let told = json!({
            "dataCollectionId": "c", "filter": { "n": 1 }, "publishPluginOptions": { "includeDraftItems": true },
        });
        assert_eq!(task.shown["deleteByQueryOptions"], told);
        let pair = json!({ "from": 1, "to": { "x": 2 } });
        let mut sent = json!({ "fieldKey": "a", "operations": { "replaceItems": [pair.clone()] } });
        let told = sent.clone();
        sent["operations"]["replaceItems"][0]["x"] = 1.into();
        sent["operations"]["x"] = 1.into();
        let task = read(json!({ "type": "EDIT_FIELD_DATA", "editFieldDataOptions": sent })).expect("a task");
        assert_eq!(task.shown["editFieldDataOptions"], told);
        assert_eq!(TaskRequest::without_values(task.shown)["editFieldDataOptions"], json!({ "fieldKey": "a" }));
    }

    #[test]
    fn what_is_no_task_is_refused() {
        let copy = json!({ "dataCollectionId": "c", "sourceFieldKey": "a", "targetFieldKey": "a" });
        for bad in [
            json!(null),
            json!(7),
            json!({}),
            json!({ "type": "LATER" }),
            json!({ "type": "DELETE_BY_QUERY" }),
            json!({ "type": "DELETE_BY_QUERY", "deleteByQueryOptions": [] }),
            json!({ "type": "DELETE_BY_QUERY", "deleteByQueryOptions": {}, "copyFieldDataOptions": {} }),
            json!({ "type": "COPY_FIELD_DATA", "copyFieldDataOptions": copy }),
            json!({ "type": "COPY_FIELD_DATA", "copyFieldDataOptions": { "sourceFieldKey": "a" } }),
            json!({ "type": "COPY_FIELD_DATA", "copyFieldDataOptions": { "sourceFieldKey": "a", "targetFieldKey": "b", "filter": {} } }),
            json!({ "type": "EDIT_FIELD_DATA", "editFieldDataOptions": { "fieldKey": "a", "operations": { "addItems": [1] }, "publishPluginOptions": { "includeDraftItems": false } } }),
            json!({ "type": "EDIT_FIELD_DATA", "editFieldDataOptions": { "fieldKey": "a" } }),
            json!({ "type": "EDIT_FIELD_DATA", "editFieldDataOptions": { "fieldKey": "a", "operations": { "addItems": vec![1; 65] } } }),
        ] {
            assert_eq!(read(bad.clone()).expect_err("no task").code().name(), "WDE0075", "{bad}");
        }
    }
}
