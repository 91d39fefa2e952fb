//! Collections: `/v2/collections…` (docs/protocol/content.md §6.2).

use super::{
    Json,
    params::{self, flag, strings, text, whole},
};
use crate::{App, Call, Problem, body};
use axum::{extract::State, http::Uri, response::Response};
use serde_json::{Map, Value, json};
use stoa_content::ListOptions;
use stoa_kernel::{Code, Fault, Result};

const PREFIX: &str = "/v2/collections/";

/// `POST /v2/collections`.
pub(crate) async fn create(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let collection = app.content.collection_create(&call.site, &call.caller, member(&body, "collection")?).await?;
    Ok(body::ok(&json!({ "collection": collection })))
}

/// `GET /v2/collections/{*id}`.
pub(crate) async fn get(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = with_id(&uri)?;
    let id = text(&members, "dataCollectionId", Code::CollectionNotText)?;
    let (fields, with_allowed) = (strings(&members, "fields"), flag(&members, "includeAllowedDataPermissions"));
    let collection = app.content.collection_get(&call.site, &call.caller, id, &fields, with_allowed).await?;
    Ok(body::ok(&json!({ "collection": collection })))
}

/// `GET /v2/collections`.
pub(crate) async fn list(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let options = list_options(&params::members(&uri)?)?;
    let list = app.content.collection_list(&call.site, &call.caller, &options).await?;
    Ok(body::ok(&json!({
        "pagingMetadata": {
            "count": list.collections.len(), "offset": list.offset, "total": list.total, "tooManyToCount": false,
        },
        "collections": list.collections,
    })))
}

/// `PUT /v2/collections`.
pub(crate) async fn update(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let collection = app.content.collection_update(&call.site, &call.caller, member(&body, "collection")?).await?;
    Ok(body::ok(&json!({ "collection": collection })))
}

/// `PATCH /v2/collections/{*id}`, and `PATCH /v2/collections/{*id}/patch-field`: an id may have slashes.
pub(crate) async fn patch(State(app): State<App>, call: Call, uri: Uri, body: Json) -> Result<Response, Problem> {
    if uri.path().ends_with("/patch-field") {
        return patch_field(&app, &call, &body).await;
    }
    let object = member(&body, "dataCollection").or_else(|_| member(&body, "collection"))?;
    let collection = app.content.collection_patch(&call.site, &call.caller, object).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

/// `DELETE /v2/collections/{*id}`.
pub(crate) async fn delete(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = with_id(&uri)?;
    let id = text(&members, "dataCollectionId", Code::CollectionNotText)?;
    app.content.collection_delete(&call.site, &call.caller, id).await?;
    Ok(body::ok(&json!({})))
}

/// `POST /v2/collections/restore/{*id}`.
pub(crate) async fn restore(State(app): State<App>, call: Call, uri: Uri, body: Json) -> Result<Response, Problem> {
    let mut members = body.0.as_object().cloned().unwrap_or_default();
    params::default_from_path(&mut members, "dataCollectionId", &uri, "/v2/collections/restore/");
    let id = text(&members, "dataCollectionId", Code::CollectionNotText)?;
    let collection = app.content.collection_restore(&call.site, &call.caller, id).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

/// `POST /v2/collections/create-field`.
pub(crate) async fn create_field(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let (id, field) = (collection_id(&body)?, member(&body, "field")?);
    let collection = app.content.field_create(&call.site, &call.caller, id, field).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

/// `POST /v2/collections/update-field`.
pub(crate) async fn update_field(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let (id, field) = (collection_id(&body)?, member(&body, "field")?);
    let collection = app.content.field_update(&call.site, &call.caller, id, field, false).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

/// `POST /v2/collections/delete-field`.
pub(crate) async fn delete_field(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let wrong = || Fault::because(Code::RequestInvalid, "fieldKey must be a string.");
    let (id, key) = (collection_id(&body)?, body.0.get("fieldKey").and_then(Value::as_str).ok_or_else(wrong)?);
    let collection = app.content.field_delete(&call.site, &call.caller, id, key).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

/// `POST /v2/collections/add-plugin`.
pub(crate) async fn add_plugin(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let (id, plugin) = (collection_id(&body)?, member(&body, "plugin")?);
    let collection = app.content.plugin_add(&call.site, &call.caller, id, plugin, None).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

/// `POST /v2/collections/delete-plugin`.
pub(crate) async fn delete_plugin(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let wrong = || Fault::because(Code::RequestInvalid, "pluginType must be a string.");
    let kind = body.0.get("pluginType").and_then(Value::as_str).ok_or_else(wrong)?;
    remove(&app, &call, &body, kind).await
}

/// Types of plugin that have calls of their own: the word in the path, the type, the member with options.
const TYPED: [(&str, &str, &str); 6] = [
    ("publish", "PUBLISH", "publishOptions"),
    ("urlized", "URLIZED", "urlizedOptions"),
    ("multilingual", "MULTILINGUAL", "multilingualOptions"),
    ("cms", "CMS", "cmsOptions"),
    ("catalog", "CATALOG", "catalogOptions"),
    ("draft-items", "DRAFT_ITEMS", "draftItemsOptions"),
];

/// `POST /v2/collections/add-X-plugin`.
pub(crate) async fn add_typed_plugin(
    State(app): State<App>,
    call: Call,
    uri: Uri,
    body: Json,
) -> Result<Response, Problem> {
    let (kind, options) = typed(&uri, "add")?;
    let mut plugin = json!({ "type": kind });
    if let Some(it) = body.0.get(options) {
        plugin[options] = it.clone();
    }
    let conflict =
        body.0.get(if kind == "PUBLISH" { "draftItemsPluginConflictAction" } else { "publishPluginConflictAction" });
    let id = collection_id(&body)?;
    let collection = app.content.plugin_add(&call.site, &call.caller, id, &plugin, conflict).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

/// `POST /v2/collections/delete-X-plugin`.
pub(crate) async fn delete_typed_plugin(
    State(app): State<App>,
    call: Call,
    uri: Uri,
    body: Json,
) -> Result<Response, Problem> {
    remove(&app, &call, &body, typed(&uri, "delete")?.0).await
}

fn typed(uri: &Uri, verb: &str) -> Result<(&'static str, &'static str)> {
    let found = TYPED.into_iter().find(|(word, ..)| uri.path().ends_with(&format!("/{verb}-{word}-plugin")));
    found.map(|(_, kind, options)| (kind, options)).ok_or_else(|| Fault::new(Code::NotFound))
}

async fn remove(app: &App, call: &Call, body: &Json, kind: &str) -> Result<Response, Problem> {
    let action = body.0.get("draftItemsRemovalAction");
    let collection = app.content.plugin_delete(&call.site, &call.caller, collection_id(body)?, kind, action).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

async fn patch_field(app: &App, call: &Call, body: &Json) -> Result<Response, Problem> {
    let (id, field) = (collection_id(body)?, member(body, "field")?);
    let collection = app.content.field_update(&call.site, &call.caller, id, field, true).await?;
    Ok(body::ok(&json!({ "dataCollection": collection })))
}

fn member<'b>(body: &'b Json, name: &str) -> Result<&'b Value> {
    let wrong = || Fault::because(Code::RequestInvalid, format!("{name} must be an object."));
    body.0.get(name).filter(|it| it.is_object()).ok_or_else(wrong)
}

fn collection_id(body: &Json) -> Result<&str> {
    let id = body.0.get("dataCollectionId").and_then(Value::as_str);
    id.ok_or_else(|| Fault::new(Code::CollectionNotText))
}

fn with_id(uri: &Uri) -> Result<Map<String, Value>> {
    let mut members = params::members(uri)?;
    params::default_from_path(&mut members, "dataCollectionId", uri, PREFIX);
    Ok(members)
}

fn list_options(members: &Map<String, Value>) -> Result<ListOptions> {
    let sort = |name: &str| members.get("sort").and_then(|it| it.get(name)).and_then(Value::as_str);
    let limit = whole(members, "paging.limit")?;
    if limit.is_some_and(|it| it > 1000) {
        return Err(Fault::because(Code::PagingInvalid, "paging.limit must be at most 1000."));
    }
    Ok(ListOptions {
        sort: sort("fieldName").map(str::to_owned),
        is_descending: sort("order") == Some("DESC"),
        limit,
        offset: whole(members, "paging.offset")?.unwrap_or(0),
        fields: strings(members, "fields"),
    })
}
