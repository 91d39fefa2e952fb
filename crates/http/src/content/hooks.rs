//! A site's own code beside its items (docs/hooks.md): deployed, switched between, tried.
//!
//! Paths begin with `/_api/hooks/v1/`. Ours alone: the public packages have no such calls.

use super::{Json, params};
use crate::{App, Call, Problem, body};
use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::Uri,
    response::Response,
};
use serde_json::{Map, Value, json};
use stoa_content::{HookLogEntry, HookTrial, HookVersion, HookWish};
use stoa_kernel::{Code, Fault, Result, Violation, date::iso_from_millis};

/// `POST versions` `{source}` or `{plugin}`.
pub(crate) async fn deploy(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let wish = HookWish::parse(object(&body.0)?)?;
    let version = app.content.hooks_deploy(&call.site, &call.caller, wish).await?;
    Ok(body::ok(&json!({ "version": view(&version) })))
}

/// `GET versions`.
pub(crate) async fn list(State(app): State<App>, call: Call) -> Result<Response, Problem> {
    let versions = app.content.hooks_list(&call.site, &call.caller).await?;
    Ok(body::ok(&json!({ "versions": versions.iter().map(view).collect::<Value>() })))
}

/// `POST versions/{number}/activate`.
pub(crate) async fn activate(
    State(app): State<App>,
    call: Call,
    number: Result<Path<String>, PathRejection>,
    body: Json,
) -> Result<Response, Problem> {
    object(&body.0)?;
    let none = || Fault::because(Code::NotFound, "Versions of hooks have whole numbers.");
    let number = number.ok().and_then(|Path(it)| it.parse().ok()).ok_or_else(none)?;
    app.content.hooks_activate(&call.site, &call.caller, number).await?;
    Ok(body::ok(&json!({})))
}

/// `GET log`: the entries after one, or the newest.
pub(crate) async fn log(State(app): State<App>, call: Call, uri: Uri) -> Result<Response, Problem> {
    let members = params::members(&uri)?;
    let limit = match members.get("limit") {
        None => Some(100),
        Some(Value::String(it)) => it.parse().ok(),
        Some(it) => it.as_i64(),
    };
    let limit = limit.filter(|it| (1..=1_000).contains(it)).ok_or_else(|| {
        Fault::invalid(vec![Violation::new("limit", "FORMAT", "a number from 1 to 1000 is expected")])
    })?;
    let after = match members.get("after") {
        None => None,
        Some(Value::String(it)) if !it.contains('\0') => Some(it.as_str()),
        Some(_) => return Err(Fault::invalid(vec![Violation::new("after", "FORMAT", "an id is expected")]).into()),
    };
    let entries = app.content.hook_log_list(&call.site, &call.caller, after, limit).await?;
    Ok(body::ok(&json!({ "entries": entries.iter().map(HookLogEntry::to_json).collect::<Value>() })))
}

/// `POST resume`.
pub(crate) async fn resume(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    object(&body.0)?;
    app.content.hooks_resume(&call.site, &call.caller)?;
    Ok(body::ok(&json!({})))
}

/// `POST try` `{collectionId, hook, argument, currentItem?, source?}`.
pub(crate) async fn run(State(app): State<App>, call: Call, body: Json) -> Result<Response, Problem> {
    let trial = HookTrial::parse(object(&body.0)?)?;
    Ok(body::ok(&app.content.hook_try(&call.site, &call.caller, trial).await?))
}

fn view(it: &HookVersion) -> Value {
    let mut view = json!({
        "number": it.number, "active": it.is_active, "exports": it.exports, "author": it.author,
        "createdDate": iso_from_millis(it.created),
    });
    if let Some(plugin) = &it.plugin {
        view["plugin"] = json!(plugin);
    }
    view
}

fn object(body: &Value) -> Result<&Map<String, Value>> {
    let wrong = || Fault::invalid(vec![Violation::new("", "FORMAT", "an object is expected")]);
    body.as_object().ok_or_else(wrong)
}
