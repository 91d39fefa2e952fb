//! Where a member is signed in. Ours alone: the public packages have no such calls.
//!
//! `GET /_api/identity/v1/sessions`: [`list`]. `DELETE` there: [`end_others`], below it: [`end`].

use super::ask::{Answer, Ask, answer, done};
use crate::App;
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::session::Ending;
use stoa_kernel::clock::iso_from_millis;

/// `GET /_api/identity/v1/sessions`: the caller's own, or those of `memberId` for those who run the site.
pub(crate) async fn list(State(app): State<App>, ask: Ask) -> Answer {
    let sessions = app.identity.session_list(&ask.site, &ask.caller, member(&ask)).await?;
    let view = sessions.into_iter().map(|it| {
        json!({
            "id": it.id,
            "createdDate": iso_from_millis(it.created),
            "lastUsedDate": iso_from_millis(it.used),
            "clientIds": it.clients,
            "isCurrent": it.is_current,
        })
    });
    answer("sessions", view.collect::<Value>())
}

/// `DELETE /_api/identity/v1/sessions/{id}`.
pub(crate) async fn end(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.session_list_end(&ask.site, &ask.caller, member(&ask), Ending::One(&ask.id)).await?;
    done()
}

/// `DELETE /_api/identity/v1/sessions`: all but the one that asks.
pub(crate) async fn end_others(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.session_list_end(&ask.site, &ask.caller, member(&ask), Ending::Others).await?;
    done()
}

fn member(ask: &Ask) -> Option<&str> {
    Some(ask.text("memberId")).filter(|it| !it.is_empty() && !it.contains('\0'))
}
