//! Single items: `/v2/items…`.

use super::{
    cache::Address,
    environment::{with_members, with_request},
    params,
};
use crate::{App, Call, Problem, body};
use axum::{extract::State, http::Uri, response::Response};
use serde_json::Value;
use stoa_content::{GetRequest, Item, Request};

const PREFIX: &str = "/v2/items/";

/// `GET /v2/items/{*id}`.
pub(crate) async fn get(State(app): State<App>, call: Call, address: Address, uri: Uri) -> Result<Response, Problem> {
    let mut members = params::members(&uri)?;
    params::default_from_path(&mut members, "dataItemId", &uri, PREFIX);
    let call = with_members(&app, call, &mut members).await?;
    let request = GetRequest::parse(&members, app.content.limits())?;
    let item = app.content.item_get(&call.site, &call.caller, &request).await?;
    Ok(address.share(&app, &call, &members, item.cache_seconds, answer(&item)).await)
}

/// `POST /v2/items`.
pub(crate) async fn insert(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_insert(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/items/update` and `PUT /v2/items/{*id}`.
pub(crate) async fn update(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_update(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/items/patch`.
pub(crate) async fn patch(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_patch(&call.site, &call.caller, &request).await?))
}

/// `PATCH /v2/items/{*id}`: the id in the path counts when the patch has none.
pub(crate) async fn patch_at(
    State(app): State<App>,
    call: Call,
    uri: Uri,
    body: body::Raw,
) -> Result<Response, Problem> {
    let (call, mut request) = with_request(&app, call, &body).await?;
    if let Some(patch) = request.members.get_mut("patch").and_then(Value::as_object_mut) {
        params::default_from_path(patch, "dataItemId", &uri, PREFIX);
    }
    Ok(answer(&app.content.item_patch(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/items/save`.
pub(crate) async fn save(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let saved = app.content.item_save(&call.site, &call.caller, &request).await?;
    let action = if saved.is_new { "INSERTED" } else { "UPDATED" };
    let mut text = format!("{{\"action\":\"{action}\",\"dataItem\":");
    saved.item.print(&mut text);
    text.push('}');
    Ok(body::ok_bytes(text))
}

/// `POST /v2/items/truncate`.
pub(crate) async fn truncate(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    app.content.item_truncate(&call.site, &call.caller, &request).await?;
    Ok(body::ok_bytes("{}"))
}

/// `POST /v2/items/remove`.
pub(crate) async fn remove(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    remove_item(&app, &call, &request).await
}

/// `POST /v2/items/create-draft`.
pub(crate) async fn create_draft(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_draft_create(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/items/publish-draft`.
pub(crate) async fn publish_draft(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_draft_publish(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/items/unpublish`.
pub(crate) async fn unpublish(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let draft = app.content.item_unpublish(&call.site, &call.caller, &request).await?;
    Ok(draft.as_ref().map_or_else(|| body::ok_bytes("{}"), answer))
}

/// `DELETE /v2/items/{*id}`.
pub(crate) async fn delete(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let mut members = params::members(&uri)?;
    params::default_from_path(&mut members, "dataItemId", &uri, PREFIX);
    let call = with_members(&app, call, &mut members).await?;
    remove_item(&app, &call, &Request::of(members)).await
}

async fn remove_item(app: &App, call: &Call, request: &Request<'_>) -> Result<Response, Problem> {
    let removed = app.content.item_remove(&call.site, &call.caller, request).await?;
    Ok(removed.as_ref().map_or_else(|| body::ok_bytes("{}"), answer))
}

fn answer(item: &Item) -> Response {
    let mut text = String::with_capacity(item.doc.len() + 160);
    text.push_str("{\"dataItem\":");
    item.print(&mut text);
    text.push('}');
    body::ok_bytes(text)
}
