//! Links between items: `/v2/bulk/items/…-references`, `/v2/items/replace-references`, `/is-referenced`,
//! `/query-referenced`.

use super::{environment::with_request, read};
use crate::{App, Call, Problem, body};
use axum::{extract::State, response::Response};
use serde_json::{Value, json};
use stoa_content::ItemReference;

/// `POST /v2/bulk/items/insert-references`.
pub(crate) async fn insert(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let linked = app.content.references_insert(&call.site, &call.caller, &request).await?;
    Ok(bulk("INSERT", &linked))
}

/// `POST /v2/bulk/items/remove-references`.
pub(crate) async fn remove(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let removed = app.content.references_remove(&call.site, &call.caller, &request).await?;
    Ok(bulk("DELETE", &removed))
}

/// `POST /v2/items/replace-references`.
pub(crate) async fn replace(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let linked = app.content.references_replace(&call.site, &call.caller, &request).await?;
    Ok(body::ok(&json!({ "dataItemReferences": linked.iter().map(ItemReference::view).collect::<Vec<_>>() })))
}

/// `POST /v2/items/is-referenced`.
pub(crate) async fn is_referenced(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let is_referenced = app.content.is_referenced(&call.site, &call.caller, &request.members).await?;
    Ok(body::ok(&json!({ "isReferenced": is_referenced })))
}

/// `POST /v2/items/query-referenced`.
pub(crate) async fn query(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let page = app.content.references_query(&call.site, &call.caller, call.origin(), &request.members).await?;
    Ok(read::answer("results", page))
}

fn bulk(action: &str, references: &[ItemReference]) -> Response {
    let result = |(index, it): (usize, &ItemReference)| {
        json!({
            "action": action, "referenceMetadata": { "originalIndex": index, "success": true },
            "dataItemReference": it.view(),
        })
    };
    let results: Vec<Value> = references.iter().enumerate().map(result).collect();
    let metadata = json!({ "totalSuccesses": results.len(), "totalFailures": 0, "undetailedFailures": 0 });
    body::ok(&json!({ "results": results, "bulkActionMetadata": metadata }))
}
