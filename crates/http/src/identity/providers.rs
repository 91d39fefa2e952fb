//! Connections of a site to identity providers, for those who run it, and those by which a member signs in. Ours alone: the public packages
//! have no such calls.
//!
//! `/_api/identity/v1/idp-connections`: [`list`], [`create`]; below it [`get`], [`update`], [`remove`]. `GET
//! /_api/identity/v1/connections`: [`mine`]; `DELETE` below it: [`disconnect`].

use super::{
    api_call::{Answer, ApiCall, done},
    factor_view::secret,
    member_wire::without_nulls,
};
use crate::{App, RequestInfo, body};
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::provider::{CALLBACK, ConnectionChange, IdpConnection};
use stoa_kernel::date::iso_from_millis;

/// `GET /_api/identity/v1/idp-connections`.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    let all = app.identity.idp_connection_list(&call.site, &call.caller).await?;
    Ok(body::ok(&json!({ "idpConnections": all })))
}

/// `POST /_api/identity/v1/idp-connections` `{idpConnection: {name, issuer, clientId, clientSecret, …}}`.
pub(crate) async fn create(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    // Who may add none is told so first.
    app.identity.idp_connection_list(&call.site, &call.caller).await?;
    let change = ConnectionChange::parse(&call.data)?;
    let made = app.identity.idp_connection_create(&call.site, &call.caller, change).await?;
    shown(&info, &made)
}

/// `GET /_api/identity/v1/idp-connections/{id}`.
pub(crate) async fn get(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    shown(&info, &app.identity.idp_connection_get(&call.site, &call.caller, &call.id).await?)
}

/// `PATCH /_api/identity/v1/idp-connections/{id}` `{idpConnection}`.
pub(crate) async fn update(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    app.identity.idp_connection_get(&call.site, &call.caller, &call.id).await?;
    let change = ConnectionChange::parse(&call.data)?;
    shown(&info, &app.identity.idp_connection_update(&call.site, &call.caller, &call.id, change).await?)
}

/// `DELETE /_api/identity/v1/idp-connections/{id}`.
pub(crate) async fn remove(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.idp_connection_remove(&call.site, &call.caller, &call.id).await?;
    done()
}

/// `GET /_api/identity/v1/connections`: the providers by which the caller signs in.
pub(crate) async fn mine(State(app): State<App>, call: ApiCall) -> Answer {
    let found = app.identity.member_connection_list(&call.site, &call.caller).await?;
    let view = found.into_iter().map(|it| {
        without_nulls(json!({
            "idpConnectionId": it.id,
            "label": it.label,
            "idpUserId": it.subject,
            "email": it.email,
            "createdDate": iso_from_millis(it.created),
            "lastUsedDate": it.used.map(iso_from_millis),
        }))
    });
    secret(&json!({ "connections": view.collect::<Value>() }))
}

/// `DELETE /_api/identity/v1/connections/{id}`.
pub(crate) async fn disconnect(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    app.identity.member_connection_remove(&call.site, &call.caller, &call.id, info.address).await?;
    done()
}

/// With the address that is registered at the provider.
fn shown(info: &RequestInfo, connection: &IdpConnection) -> Answer {
    let callback = format!("{}{CALLBACK}", info.base_url);
    Ok(body::ok(&json!({ "idpConnection": connection, "callbackUrl": callback })))
}
