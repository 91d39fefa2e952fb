//! Where a member is signed in. Ours alone: the public packages have no such calls.
//!
//! `GET /_api/identity/v1/sessions`: [`list`]. `DELETE` there: [`end_others`], below it: [`end`].

use super::api_call::{Answer, ApiCall, answer, done};
use crate::App;
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::session::Ending;
use stoa_kernel::date::iso_from_millis;

/// `GET /_api/identity/v1/sessions`: the caller's own, or those of `memberId` for operators of the site.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    let sessions = app.identity.session_list(&call.site, &call.caller, member(&call)).await?;
    let view = sessions.into_iter().map(|session| {
        json!({
            "id": session.id,
            "createdDate": iso_from_millis(session.created),
            "lastUsedDate": iso_from_millis(session.used),
            "clientIds": session.clients,
            "isCurrent": session.is_current,
        })
    });
    answer("sessions", view.collect::<Value>())
}

/// `DELETE /_api/identity/v1/sessions/{id}`.
pub(crate) async fn end(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.session_list_end(&call.site, &call.caller, member(&call), Ending::One(&call.id)).await?;
    done()
}

/// `DELETE /_api/identity/v1/sessions`: all but the one that asks.
pub(crate) async fn end_others(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.session_list_end(&call.site, &call.caller, member(&call), Ending::Others).await?;
    done()
}

fn member(call: &ApiCall) -> Option<&str> {
    Some(call.text("memberId")).filter(|it| !it.is_empty() && !it.contains('\0'))
}
