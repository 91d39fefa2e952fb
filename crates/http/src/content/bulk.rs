//! Many items in one call: `/v2/bulk/items/…`. Refusals of single items stand inside a 200.

use super::environment::with_request;
use crate::{App, Call, Problem, body, problem};
use axum::{extract::State, response::Response};
use stoa_content::Outcome;
use stoa_kernel::Fault;

/// `POST /v2/bulk/items/insert`.
pub(crate) async fn insert(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_bulk_insert(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/bulk/items/update`.
pub(crate) async fn update(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_bulk_update(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/bulk/items/save`.
pub(crate) async fn save(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_bulk_save(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/bulk/items/patch`.
pub(crate) async fn patch(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_bulk_patch(&call.site, &call.caller, &request).await?))
}

/// `POST /v2/bulk/items/remove`.
pub(crate) async fn remove(State(app): State<App>, call: Call, body: body::Raw) -> Result<Response, Problem> {
    let (call, request) = with_request(&app, call, &body).await?;
    Ok(answer(&app.content.item_bulk_remove(&call.site, &call.caller, &request).await?))
}

fn answer(outcomes: &[Outcome]) -> Response {
    let mut text = String::with_capacity(outcomes.len() * 128 + 100);
    text.push_str("{\"results\":[");
    for (index, it) in outcomes.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        it.print(index, &mut text, error);
    }
    let failures = outcomes.iter().filter(|it| it.fault.is_some()).count();
    let successes = outcomes.len() - failures;
    text.push_str(&format!(
        "],\"bulkActionMetadata\":{{\"totalSuccesses\":{successes},\"totalFailures\":{failures},\"undetailedFailures\":0}}}}"
    ));
    body::ok_bytes(text)
}

/// `{"code","description","data"}` of one item.
fn error(fault: &Fault) -> String {
    problem::log(fault);
    problem::body(fault)
        .pointer("/details/applicationError")
        .map(ToString::to_string)
        .unwrap_or_else(|| "{}".to_owned())
}
