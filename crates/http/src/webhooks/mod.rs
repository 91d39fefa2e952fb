//! Webhooks (docs/webhooks.md): their endpoints, and messages for who listens without one.
//!
//! Paths begin with `/_api/webhooks/v1/`. Ours alone: the public packages have no such calls.

pub(crate) mod waiting;

use crate::{
    App, body,
    identity::api_call::{Answer, ApiCall, answer, done, invalid},
};
use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use serde_json::{Value, json};
use stoa_kernel::{Code, EndpointId, EventType, Faults, Result};
use stoa_webhooks::{
    Endpoint, EndpointChange, EndpointSecret, EndpointWish, EventQuery, EventState, Pull, Replay, Resumption,
};

/// `GET event-types`: what an endpoint can name, each once.
pub(crate) async fn event_types(State(app): State<App>, call: ApiCall) -> Answer {
    let types = app.webhooks.event_types(&call.caller)?;
    let view = |it: EventType| json!({ "type": it.name, "entityFqdn": it.fqdn, "slug": it.slug });
    answer("eventTypes", types.into_iter().map(view).collect::<Value>())
}

/// `GET endpoints`.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    let endpoints = app.webhooks.endpoint_list(&call.site, &call.caller).await?;
    answer("endpoints", endpoints.iter().map(|it| it.to_json()).collect::<Value>())
}

/// `POST endpoints`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    let wish = EndpointWish::parse(&call.data)?;
    let (endpoint, secret) = app.webhooks.endpoint_create(&call.site, &call.caller, wish).await?;
    Ok(secretly(&json!({ "endpoint": status(&app, &call, &endpoint).await?, "secret": secret.expose() })))
}

/// `GET endpoints/{id}`.
pub(crate) async fn get(State(app): State<App>, call: ApiCall) -> Answer {
    answer("endpoint", app.webhooks.endpoint_get(&call.site, &call.caller, &id(&call)).await?.to_json())
}

/// `PATCH endpoints/{id}`.
pub(crate) async fn update(State(app): State<App>, call: ApiCall) -> Answer {
    let change = EndpointChange::parse(&call.data)?;
    let endpoint = app.webhooks.endpoint_update(&call.site, &call.caller, &id(&call), change).await?;
    answer("endpoint", status(&app, &call, &endpoint).await?)
}

/// `DELETE endpoints/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.webhooks.endpoint_delete(&call.site, &call.caller, &id(&call)).await?;
    done()
}

/// `POST endpoints/{id}/pause`.
pub(crate) async fn pause(State(app): State<App>, call: ApiCall) -> Answer {
    let endpoint = app.webhooks.endpoint_pause(&call.site, &call.caller, &id(&call)).await?;
    answer("endpoint", status(&app, &call, &endpoint).await?)
}

/// `POST endpoints/{id}/resume` `{fromNow?}`.
pub(crate) async fn resume(State(app): State<App>, call: ApiCall) -> Answer {
    let resumption = Resumption::parse(&call.data)?;
    let endpoint = app.webhooks.endpoint_resume(&call.site, &call.caller, &id(&call), resumption).await?;
    answer("endpoint", status(&app, &call, &endpoint).await?)
}

/// `POST endpoints/{id}/test`.
pub(crate) async fn test(State(app): State<App>, call: ApiCall) -> Answer {
    Ok(body::ok(&app.webhooks.test(&call.site, &call.caller, &id(&call)).await?.to_json()))
}

/// `POST endpoints/{id}/replay` `{since, types?, entityId?} | {event} | {dead: true}`.
pub(crate) async fn replay(State(app): State<App>, call: ApiCall) -> Answer {
    let replay = Replay::parse(&call.data)?;
    Ok(body::ok(&app.webhooks.replay(&call.site, &call.caller, &id(&call), replay).await?.to_json()))
}

/// `POST endpoints/{id}/rotate-secret`.
pub(crate) async fn rotate_secret(State(app): State<App>, call: ApiCall) -> Answer {
    let secret: EndpointSecret = app.webhooks.endpoint_secret_rotate(&call.site, &call.caller, &id(&call)).await?;
    Ok(secretly(&json!({ "secret": secret.expose() })))
}

/// `GET endpoints/{id}/events`.
pub(crate) async fn events(State(app): State<App>, call: ApiCall) -> Answer {
    let query = event_query(&call)?;
    Ok(body::ok(&app.webhooks.event_list(&call.site, &call.caller, &id(&call), query).await?.to_json()))
}

/// `POST pull`: waits for messages, at most 20 s.
pub(crate) async fn pull(State(app): State<App>, call: ApiCall) -> Answer {
    let pull = Pull::parse(&call.data)?;
    let _waiting = app.waiting.enter(&call.site.id, call.network, app.settings.limits.webhook_pulls)?;
    let pulled = app.webhooks.pull(&call.site, &call.caller, pull).await?;
    Ok(secretly(&pulled.to_json()))
}

/// An endpoint that was just written, and how it stands.
async fn status(app: &App, call: &ApiCall, written: &Endpoint) -> Result<Value> {
    match app.webhooks.endpoint_get(&call.site, &call.caller, &written.id).await {
        Ok(status) => Ok(status.to_json()),
        // It was deleted meanwhile; what was asked for was done.
        Err(fault) if fault.code() == Code::NotFound => Ok(written.to_json()),
        Err(fault) => Err(fault),
    }
}

/// Which events a query asks for.
fn event_query(call: &ApiCall) -> Result<EventQuery> {
    let usual = EventQuery::default();
    let state = match call.text("state") {
        "" => Ok(usual.state),
        name => EventState::parse(name).ok_or_else(|| invalid("state", "PARKED, HELD or DEAD is expected")),
    };
    let limit = match &call.data["limit"] {
        Value::Null => Ok(usual.limit),
        Value::String(text) => text.parse().map_err(|_| invalid("limit", "a whole number is expected")),
        _ => Err(invalid("limit", "a whole number is expected")),
    };
    let (state, limit) = Faults::both(state, limit)?;
    Ok(EventQuery { state, limit, after: Some(call.text("after").to_owned()).filter(|it| !it.is_empty()) })
}

fn id(call: &ApiCall) -> EndpointId {
    EndpointId::from(call.id.as_str())
}

/// An answer that no cache keeps.
fn secretly(value: &Value) -> Response {
    let mut response = body::ok(value);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
