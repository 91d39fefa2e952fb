//! Queries over items: `/v2/items/query`, `/count`, `/query-distinct-values`, `/aggregate`, `/aggregate-pipeline`,
//! `/search`.

use super::{
    cache::Address,
    environment::{with_members, with_request},
    items, params,
};
use crate::{App, Call, Problem, body};
use axum::{extract::State, http::Uri, response::Response};
use serde_json::json;
use stoa_content::Page;

/// `POST /v2/items/query`.
pub(crate) async fn query(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let page = app.content.item_query(&call.site, &call.caller, call.origin(), &request.members).await?;
    Ok(answer("dataItems", page))
}

/// `GET /v2/items/query`: the same, sent in the query string when it is short (docs/protocol/content.md §1.5); or
/// the item whose id is `query`.
pub(crate) async fn query_get(
    State(app): State<App>,
    call: Call,
    address: Address,
    uri: Uri,
) -> Result<Response, Problem> {
    let mut members = params::members(&uri)?;
    if members.contains_key("dataItemId") {
        return items::get(State(app), call, address, uri).await;
    }
    let call = with_members(&app, call, &mut members).await?;
    let page = app.content.item_query(&call.site, &call.caller, call.origin(), &members).await?;
    let seconds = page.cache_seconds;
    Ok(address.share(&app, &call, &members, seconds, answer("dataItems", page)).await)
}

/// `POST /v2/items/count`.
pub(crate) async fn count(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let count = app.content.item_count(&call.site, &call.caller, call.origin(), &request.members).await?;
    Ok(body::ok(&json!({ "totalCount": count })))
}

/// `POST /v2/items/query-distinct-values`.
pub(crate) async fn distinct(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let page = app.content.item_distinct(&call.site, &call.caller, call.origin(), &request.members).await?;
    Ok(answer("distinctValues", page))
}

/// `POST /v2/items/aggregate`.
pub(crate) async fn aggregate(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let page = app.content.item_aggregate(&call.site, &call.caller, call.origin(), &request.members).await?;
    Ok(answer("results", page))
}

/// `POST /v2/items/aggregate-pipeline`.
pub(crate) async fn aggregate_pipeline(
    State(app): State<App>,
    call: Call,
    body: body::Raw,
) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let page = app.content.item_aggregate_pipeline(&call.site, &call.caller, call.origin(), &request.members).await?;
    Ok(answer("results", page))
}

/// `POST /v2/items/search`.
pub(crate) async fn search(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    let page = app.content.item_search(&call.site, &call.caller, call.origin(), &request.members).await?;
    Ok(answer("dataItems", page))
}

/// `GET /_api/search/v1/lag`.
pub(crate) async fn search_lag(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = params::members(&uri)?;
    let site = app.content.environment_of_all(&app.store, &call.site, &call.caller, &members).await?;
    let lag = app.content.search_lag(&site).await?;
    let mut answer = json!({ "isCurrent": lag.is_none(), "lagMilliseconds": lag.waited });
    // Rows of the log are about members as well, and collections may be hidden.
    if call.caller.bare().is_editor() {
        answer["pendingEntries"] = lag.rows.into();
        answer["unbuiltCollections"] = lag.unbuilt.into();
    }
    Ok(body::ok(&answer))
}

pub(super) fn answer(name: &str, mut page: Page) -> Response {
    // The elements are most of the answer, and are not copied for what stands around them.
    let mut text = std::mem::take(&mut page.elements);
    text.insert_str(0, &format!("{{\"{name}\":["));
    text.push_str("],\"pagingMetadata\":{");
    page.print_metadata(&mut text);
    text.push('}');
    if let Some(it) = &page.suggestions {
        text.extend([",\"suggestions\":", it]);
    }
    text.push('}');
    body::ok_bytes(text)
}
