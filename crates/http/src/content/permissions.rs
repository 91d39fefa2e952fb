//! Permissions: `/v1/permissions…` (docs/protocol/content.md §8).

use super::{
    Json,
    params::{self, text},
};
use crate::{App, Call, Problem, body};
use axum::{extract::State, http::Uri, response::Response};
use serde_json::{Map, Value, json};
use stoa_kernel::{Code, Fault, Result};

const SPECIAL: &str = "/v1/permissions/special/";

/// `GET /v1/permissions`.
pub(crate) async fn get(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = params::members(&uri)?;
    let id = text(&members, "dataCollectionId", Code::CollectionNotText)?;
    let permissions = app.content.permissions_get(&call.site, &call.caller, id).await?;
    Ok(body::ok(&json!({ "dataPermissions": permissions })))
}

/// `POST /v1/permissions`.
pub(crate) async fn update(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let object = object(&body, "dataPermissions")?;
    let permissions = app.content.permissions_update(&call.site, &call.caller, object).await?;
    Ok(body::ok(&json!({ "dataPermissions": permissions })))
}

/// `GET /v1/permissions/current`.
pub(crate) async fn mine(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = params::members(&uri)?;
    let id = text(&members, "dataCollectionId", Code::CollectionNotText)?;
    Ok(body::ok(&app.content.permissions_mine(&call.site, &call.caller, id).await?))
}

/// `POST /v1/permissions/special`.
pub(crate) async fn add(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let id = body.0.get("dataCollectionId").and_then(Value::as_str);
    let id = id.ok_or_else(|| Fault::new(Code::CollectionNotText))?;
    let object = object(&body, "specialPermissions")?;
    let special = app.content.special_add(&call.site, &call.caller, id, object).await?;
    Ok(body::ok(&json!({ "specialPermissions": special })))
}

/// `POST /v1/permissions/special/{*id}`.
pub(crate) async fn change(State(app): State<App>, call: Call, uri: Uri, body: Json) -> Result<Response, Problem> {
    let object = object(&body, "specialPermissions")?;
    let mut members: Map<String, Value> = object.as_object().cloned().unwrap_or_default();
    params::default_from_path(&mut members, "id", &uri, SPECIAL);
    let id = text(&members, "id", Code::RequestInvalid)?;
    let special = app.content.special_update(&call.site, &call.caller, id, object).await?;
    Ok(body::ok(&json!({ "specialPermissions": special })))
}

/// `DELETE /v1/permissions/special/{*id}`.
pub(crate) async fn remove(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let mut members = params::members(&uri)?;
    params::default_from_path(&mut members, "specialPermissionsId", &uri, SPECIAL);
    let id = text(&members, "specialPermissionsId", Code::RequestInvalid)?;
    app.content.special_remove(&call.site, &call.caller, id).await?;
    Ok(body::ok(&json!({})))
}

fn object<'b>(body: &'b Json, name: &str) -> Result<&'b Value> {
    let wrong = || Fault::because(Code::RequestInvalid, format!("{name} must be an object."));
    body.0.get(name).filter(|it| it.is_object()).ok_or_else(wrong)
}
