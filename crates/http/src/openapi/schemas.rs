//! The JSON Schemas, one file a subject: each an object of schemas by name.

use serde_json::{Map, Value};

/// The files by their names.
pub(super) const FILES: &[(&str, &str)] = &[
    ("common", include_str!("schemas/common.json")),
    ("items", include_str!("schemas/items.json")),
    ("tasks", include_str!("schemas/tasks.json")),
    ("references", include_str!("schemas/references.json")),
    ("collections", include_str!("schemas/collections.json")),
    ("indexes", include_str!("schemas/indexes.json")),
    ("permissions", include_str!("schemas/permissions.json")),
    ("realtime", include_str!("schemas/realtime.json")),
    ("graphql", include_str!("schemas/graphql.json")),
    ("hooks", include_str!("schemas/hooks.json")),
    ("tokens", include_str!("schemas/tokens.json")),
    ("sign_in", include_str!("schemas/sign_in.json")),
    ("redirects", include_str!("schemas/redirects.json")),
    ("verification", include_str!("schemas/verification.json")),
    ("sessions", include_str!("schemas/sessions.json")),
    ("deletion", include_str!("schemas/deletion.json")),
    ("email_change", include_str!("schemas/email_change.json")),
    ("factors", include_str!("schemas/factors.json")),
    ("providers", include_str!("schemas/providers.json")),
    ("members", include_str!("schemas/members.json")),
    ("roles", include_str!("schemas/roles.json")),
    ("badges", include_str!("schemas/badges.json")),
    ("fields", include_str!("schemas/fields.json")),
    ("relations", include_str!("schemas/relations.json")),
    ("settings", include_str!("schemas/settings.json")),
    ("apps", include_str!("schemas/apps.json")),
    ("webhooks", include_str!("schemas/webhooks.json")),
    ("pages", include_str!("schemas/pages.json")),
    ("operators", include_str!("schemas/operators.json")),
    ("server", include_str!("schemas/server.json")),
];

/// What an item holds: anything, or in the document of a site one of the types of its collections. It is printed last.
pub(super) const ITEM_DATA: &str = "ItemData";

/// Schemas that let anything be in answers, and why. In the files they carry the reason as `x-free-form`.
#[cfg(test)]
pub(super) const FREE_FORM: &[&str] = &[
    "AggregateKey",
    "AggregateResult",
    "AppOptions",
    "CustomFieldValue",
    "ErrorData",
    "FieldMetadata",
    "FieldValue",
    "Filter",
    "GraphqlValues",
    ITEM_DATA,
    "Json",
    "OpenApiDocument",
    "PipelineResult",
    "PluginOptions",
    "TaskOptions",
    "WebhookEvent",
];

/// All of them by name, [`ITEM_DATA`] excepted.
pub(super) fn all() -> Map<String, Value> {
    let files = FILES.iter().filter_map(|(_, text)| serde_json::from_str::<Map<String, Value>>(text).ok());
    let mut all: Map<String, Value> = files.flatten().collect();
    all.shift_remove(ITEM_DATA);
    all
}

/// The schema of what an item holds.
pub(super) fn item_data() -> Value {
    let items = FILES.iter().filter_map(|(_, text)| serde_json::from_str::<Value>(text).ok());
    items.into_iter().find_map(|mut it| it.get_mut(ITEM_DATA).map(Value::take)).unwrap_or(Value::Bool(true))
}
