//! The wire object of a collection, as a caller is shown it (docs/protocol/content.md §6.3).

use crate::{
    collection::Collection,
    limits::ContentLimits,
    schema::{
        definition::Definition,
        field::{self, Field},
        level::Access,
        plugin,
    },
};
use serde_json::{Value, json};
use stoa_kernel::{Caller, date::iso_from_millis};

/// The operations on items that this server has; the list grows with it.
const DATA_OPERATIONS: &[&str] = &[
    "FIND",
    "GET",
    "COUNT",
    "DISTINCT",
    "INSERT",
    "UPDATE",
    "SAVE",
    "PATCH",
    "REMOVE",
    "BULK_INSERT",
    "BULK_UPDATE",
    "BULK_SAVE",
    "BULK_PATCH",
    "TRUNCATE",
    "BULK_REMOVE",
    "INSERT_REFERENCE",
    "REMOVE_REFERENCE",
    "REPLACE_REFERENCES",
    "IS_REFERENCED",
    "QUERY_REFERENCED",
];

/// The collection as the caller may read it: those who don't manage collections get a reduced form.
pub(crate) fn view(collection: &Collection, caller: &Caller, with_allowed: bool, limits: &ContentLimits) -> Value {
    let definition = &collection.definition;
    let access = collection.access(caller);
    let is_reduced = !access.may_define(caller);
    let mut view = json!({ "id": collection.id });
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            view[name] = value;
        }
    };
    set("displayName", json!(definition.display_name));
    set("displayField", json!(display_field(definition)));
    let shows_drafts = !is_reduced || collection.may_know_drafts(caller);
    let plugins = definition.plugins.iter().filter(|it| shows_drafts || !plugin::is_drafts(it));
    set("plugins", plugins.map(plugin::view).collect());
    let fields = definition.fields.iter().map(if is_reduced { field::reduced_view } else { field::view });
    set("fields", fields.chain(field::system_views(is_reduced)).collect());
    if with_allowed {
        set("allowedDataPermissions", allowed(&access, caller));
    }
    if is_reduced {
        return view;
    }
    let levels = collection.levels();
    set("collectionType", json!("NATIVE"));
    set("description", json!(definition.description));
    set("maxPageSize", json!(limits.query.query_limit));
    set("defaultDisplayOrder", json!({ "fieldKey": "_createdDate", "direction": "DESC" }));
    set("revision", json!(collection.revision.to_string()));
    set("strictMode", json!(definition.strict_mode));
    set("cacheSeconds", json!(definition.cache_seconds()));
    set("logOldValues", json!(definition.log_old_values.then_some(true)));
    set("realtime", json!(definition.realtime.then_some(true)));
    set("search", json!(definition.search_off.then_some(false)));
    set("realtimeWithoutHooks", json!(definition.realtime_without_hooks.then_some(true)));
    set("pagingModes", json!(["OFFSET", "CURSOR"]));
    set("createdDate", json!(iso_from_millis(collection.created)));
    set("updatedDate", json!(iso_from_millis(collection.updated)));
    set("dataPermissions", json!(levels));
    set(
        "permissions",
        json!({
            "insert": levels.item_insert.older_name(), "update": levels.item_update.older_name(),
            "remove": levels.item_remove.older_name(), "read": levels.item_read.older_name(),
        }),
    );
    let (regular, unique) = (limits.regular_indexes, limits.unique_indexes);
    set(
        "capabilities",
        json!({
            "dataOperations": DATA_OPERATIONS, "collectionOperations": ["UPDATE", "REMOVE"],
            "indexLimits": { "regular": regular, "unique": unique, "total": regular + unique },
            "indexQuotaLimits": {
                "regular1Field": 0, "regular3Field": regular, "unique1Field": unique, "total": regular + unique,
            },
        }),
    );
    view
}

/// What the caller may do, as booleans (docs/protocol/content.md §8, getMyPermissions).
pub(crate) fn allowed(access: &Access, caller: &Caller) -> Value {
    use crate::schema::level::Operation::{Insert, Read, Remove, Update};
    json!({
        "itemRead": access.allow(caller, Read), "itemInsert": access.allow(caller, Insert),
        "itemUpdate": access.allow(caller, Update), "itemRemove": access.allow(caller, Remove),
    })
}

/// The field that stands for an item in lists: the definition's choice, or the first text that all readers see.
fn display_field(definition: &Definition) -> Option<&str> {
    let is_shown_text = |it: &Field| field::kind(it) == "TEXT" && !field::is_encrypted(it);
    definition
        .display_field
        .as_deref()
        .or_else(|| definition.fields.iter().find(|it| is_shown_text(it)).map(field::key))
}
