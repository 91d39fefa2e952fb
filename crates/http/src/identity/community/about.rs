//! What members tell of themselves.

use super::{PAGE, many, offsets, one, wanted};
use crate::{
    App, body,
    identity::{
        ask::{Answer, Ask, done},
        members,
    },
};
use axum::extract::State;
use serde_json::json;
use stoa_identity::community::kind::ABOUT;

/// `POST /abouts`.
pub(crate) async fn create(State(app): State<App>, ask: Ask) -> Answer {
    one(&ABOUT, &app.identity.about_write(&ask.site, &ask.caller, None, &ask.data["memberAbout"]).await?)
}

/// `PATCH /abouts/{id}`.
pub(crate) async fn update(State(app): State<App>, ask: Ask) -> Answer {
    let sent = &ask.data["memberAbout"];
    one(&ABOUT, &app.identity.about_write(&ask.site, &ask.caller, Some(&ask.id), sent).await?)
}

/// `DELETE /abouts/{id}`.
pub(crate) async fn delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.about_delete(&ask.site, &ask.caller, &ask.id).await?;
    done()
}

/// `GET /abouts/my` and `GET /abouts/{id}`.
pub(crate) async fn get(State(app): State<App>, ask: Ask) -> Answer {
    let id = if ask.id.is_empty() { members::own(&ask)?.as_str().to_owned() } else { ask.id.clone() };
    one(&ABOUT, &app.identity.about_get(&ask.site, &ask.caller, &id).await?)
}

/// `POST /abouts/query`: of the members that `memberId` names.
pub(crate) async fn query(State(app): State<App>, ask: Ask) -> Answer {
    let mut ids = wanted(&ask.data["query"]["filter"], "memberId")?;
    if ids.is_empty() {
        ids.extend(members::own(&ask).ok().map(|it| it.as_str().to_owned()));
    }
    ids.truncate(PAGE as usize);
    let found = app.identity.about_list(&ask.site, &ask.caller, &ids).await?;
    let count = found.len();
    let paging = json!({ "count": count, "hasNext": false, "cursors": {} });
    Ok(body::ok(&json!({
        "memberAbouts": many(&found), "pagingMetadata": paging, "metadata": offsets(count, 0, count),
    })))
}
