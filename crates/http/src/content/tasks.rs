//! Tasks: work on many items in the background, some of it at a time that is set (docs/protocol/content.md §9).

use super::{
    Json,
    environment::with_members,
    params::{self, text, whole},
};
use crate::{App, Call, Problem, body};
use axum::{extract::State, http::Uri, response::Response};
use serde_json::{Value, json};
use stoa_content::TaskRequest;
use stoa_kernel::{Code, Fault, Result};

const PREFIX: &str = "/v1/tasks/";

/// Tasks of a page, unless another number is asked for (docs/protocol/content.md §9), and the most.
const PAGE: usize = 30;
const MOST: usize = 100;

/// `POST /v1/tasks`.
pub(crate) async fn create(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let mut request = TaskRequest::parse(&body.0, app.content.limits())?;
    let call = with_members(&app, call, &mut request.options).await?;
    Ok(answer(&app.content.task_create(&call.site, call.credential(), request).await?))
}

/// `GET /v1/tasks`.
pub(crate) async fn list(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = params::members(&uri)?;
    let offset = whole(&members, "paging.offset")?.unwrap_or(0);
    let limit = whole(&members, "paging.limit")?.unwrap_or(PAGE);
    if limit > MOST {
        return Err(Fault::because(Code::PagingInvalid, format!("paging.limit must be at most {MOST}.")).into());
    }
    let list = app.content.task_list_everywhere(&app.store, &call.site, &call.caller, (offset, limit)).await?;
    Ok(body::ok(&json!({
        "tasks": list.tasks,
        "metadata": { "count": list.tasks.len(), "offset": offset, "total": list.total, "tooManyToCount": false },
    })))
}

/// `GET /v1/tasks/{*id}`.
pub(crate) async fn get(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let id = task_id(&uri)?;
    let site = app.content.environment_of_job(&app.store, &call.site, &call.caller, &id).await?;
    Ok(answer(&app.content.task_get(&site, &call.caller, &id).await?))
}

/// `DELETE /v1/tasks/{*id}`.
pub(crate) async fn cancel(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let id = task_id(&uri)?;
    let site = app.content.environment_of_job(&app.store, &call.site, &call.caller, &id).await?;
    Ok(answer(&app.content.task_cancel(&site, &call.caller, &id).await?))
}

fn answer(task: &Value) -> Response {
    body::ok(&json!({ "task": task }))
}

fn task_id(uri: &Uri) -> Result<String> {
    let mut members = params::members(uri)?;
    params::default_from_path(&mut members, "taskId", uri, PREFIX);
    text(&members, "taskId", Code::BadRequest).map(str::to_owned)
}
