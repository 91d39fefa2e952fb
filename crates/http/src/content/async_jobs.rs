//! Jobs on the items that a filter finds: `/v2/bulk/items/async-…-by-filter`, `/v2/async-jobs/…`.

use super::{environment::with_request, params};
use crate::{App, Call, Problem, body};
use axum::{extract::State, http::Uri, response::Response};
use serde_json::json;
use stoa_kernel::{Code, Fault};

const PREFIX: &str = "/v2/async-jobs/";

/// `POST /v2/bulk/items/async-patch-by-filter`.
pub(crate) async fn patch(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(begun(&app.content.item_patch_by_filter(&call.site, call.credential(), &request).await?))
}

/// `POST /v2/bulk/items/async-remove-by-filter`.
pub(crate) async fn remove(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(begun(&app.content.item_remove_by_filter(&call.site, call.credential(), &request).await?))
}

/// `GET /v2/async-jobs/{id}/status`: the id in the query counts, as everywhere.
pub(crate) async fn status(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let mut members = params::members(&uri)?;
    params::default_from_path(&mut members, "jobId", &uri, PREFIX);
    let id = params::text(&members, "jobId", Code::BadRequest)?;
    if id.is_empty() {
        return Err(Fault::because(Code::NameEmpty, "jobId must not be empty.").into());
    }
    // Where the path alone has it, the word behind the id belongs to the call.
    let id = id.strip_suffix("/status").unwrap_or(id);
    Ok(body::ok(&app.content.async_job_status_anywhere(&app.store, &call.site, &call.caller, id).await?))
}

fn begun(id: &str) -> Response {
    body::ok(&json!({ "jobId": id }))
}
