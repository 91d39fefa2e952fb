//! Indexes: `/v2/indexes…` (docs/protocol/content.md §7).

use super::{
    Json,
    params::{self, text, whole},
};
use crate::{App, Call, Problem, body};
use axum::{extract::State, http::Uri, response::Response};
use serde_json::{Value, json};
use stoa_kernel::{Code, Fault};

/// `POST /v2/indexes`.
pub(crate) async fn create(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let id = body.0.get("dataCollectionId").and_then(Value::as_str);
    let id = id.ok_or_else(|| Fault::new(Code::CollectionNotText))?;
    let wrong = || Fault::because(Code::RequestInvalid, "index must be an object.");
    let object = body.0.get("index").filter(|it| it.is_object()).ok_or_else(wrong)?;
    let index = app.content.index_create(&call.site, &call.caller, id, object).await?;
    Ok(body::ok(&json!({ "index": index })))
}

/// `GET /v2/indexes`.
pub(crate) async fn list(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = params::members(&uri)?;
    let id = text(&members, "dataCollectionId", Code::CollectionNotText)?;
    let (offset, limit) = (whole(&members, "paging.offset")?.unwrap_or(0), whole(&members, "paging.limit")?);
    let list = app.content.index_list(&call.site, &call.caller, id, offset, limit).await?;
    Ok(body::ok(&json!({
        "pagingMetadata": {
            "count": list.indexes.len(), "offset": list.offset, "total": list.total, "tooManyToCount": false,
        },
        "indexes": list.indexes,
    })))
}

/// `GET /v2/indexes/available`.
pub(crate) async fn available(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = params::members(&uri)?;
    let id = text(&members, "dataCollectionId", Code::CollectionNotText)?;
    Ok(body::ok(&app.content.index_available(&call.site, &call.caller, id).await?))
}

/// `DELETE /v2/indexes`.
pub(crate) async fn drop(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = params::members(&uri)?;
    let id = text(&members, "dataCollectionId", Code::CollectionNotText)?;
    let name = text(&members, "indexName", Code::RequestInvalid)?;
    app.content.index_drop(&call.site, &call.caller, id, name).await?;
    Ok(body::ok(&json!({})))
}
