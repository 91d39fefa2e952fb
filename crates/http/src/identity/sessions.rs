//! Where a member is signed in. Ours alone: the public packages have no such calls.
//!
//! `GET /_api/identity/v1/sessions`: [`list`]. `DELETE` there: [`end_others`], below it: [`end`]. `GET
//! /_api/identity/v1/applications`: [`applications`]; `DELETE` below it: [`end_application`].

use super::{
    api_call::{Answer, ApiCall, answer, done},
    browser::first_language,
    member_wire::without_nulls,
};
use crate::{App, RequestInfo};
use axum::{extract::State, http::HeaderMap};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use stoa_identity::session::Ending;
use stoa_kernel::{ClientId, date::iso_from_millis};

/// `GET /_api/identity/v1/sessions`: the caller's own, or those of `memberId` for operators of the site. Places are named in the
/// first language of `Accept-Language`.
pub(crate) async fn list(State(app): State<App>, headers: HeaderMap, call: ApiCall) -> Answer {
    let language = first_language(&headers);
    let sessions = app.identity.session_list(&call.site, &call.caller, member(&call)).await?;
    // Nothing for those that are gone, so that each is asked for once.
    let mut names: BTreeMap<ClientId, Option<String>> = BTreeMap::new();
    for id in sessions.iter().flat_map(|it| &it.clients) {
        if !names.contains_key(id) {
            let client = app.identity.client_get(id).await;
            names.insert(id.clone(), client.ok().map(|it| it.name.clone()));
        }
    }
    let view = sessions.into_iter().map(|session| {
        without_nulls(json!({
            "id": session.id,
            "createdDate": iso_from_millis(session.created),
            "lastUsedDate": iso_from_millis(session.used),
            "clientNames": session.clients.iter().filter_map(|it| names.get(it)?.as_ref()).collect::<Vec<_>>(),
            "clientIds": session.clients,
            "device": session.device.filter(|it| it != "?"),
            "place": app.identity.place_of(session.address.as_deref(), language.as_deref()),
            "address": session.address,
            "isCurrent": session.is_current,
            "impersonation": session.impersonation.map(|it| it.to_json()),
        }))
    });
    answer("sessions", view.collect::<Value>())
}

/// `DELETE /_api/identity/v1/sessions/{id}`.
pub(crate) async fn end(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let ending = Ending::One(&call.id);
    app.identity.session_list_end(&call.site, &call.caller, member(&call), ending, info.address).await?;
    done()
}

/// `DELETE /_api/identity/v1/sessions`: all but the one that asks.
pub(crate) async fn end_others(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    app.identity.session_list_end(&call.site, &call.caller, member(&call), Ending::Others, info.address).await?;
    done()
}

/// `GET /_api/identity/v1/applications`: those of others in which the caller is signed on.
pub(crate) async fn applications(State(app): State<App>, call: ApiCall) -> Answer {
    let found = app.identity.application_list(&call.site, &call.caller).await?;
    let view = found.into_iter().map(|it| {
        without_nulls(json!({
            "id": it.id,
            "name": it.name,
            "home": it.home,
            "scopes": it.scopes,
            "createdDate": iso_from_millis(it.created),
            "lastUsedDate": iso_from_millis(it.used),
        }))
    });
    answer("applications", view.collect::<Value>())
}

/// `DELETE /_api/identity/v1/applications/{id}`: its sessions with the caller end.
pub(crate) async fn end_application(State(app): State<App>, info: RequestInfo, call: ApiCall) -> Answer {
    let id = ClientId::from(call.id.as_str());
    app.identity.application_end(&call.site, &call.caller, &id, info.address).await?;
    done()
}

fn member(call: &ApiCall) -> Option<&str> {
    Some(call.text("memberId")).filter(|it| !it.is_empty() && !it.contains('\0'))
}
