//! Followers.

use super::{PAGE, cursors_of};
use crate::{
    App, body,
    identity::api_call::{Answer, ApiCall, answer, done},
};
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::community::{Interaction, Relation, Side};

/// `POST /followers/{id}`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.interaction_create(&call.site, &call.caller, Interaction::Follow, &call.id).await?;
    done()
}

/// `DELETE /followers/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.interaction_delete(&call.site, &call.caller, Interaction::Follow, &call.id).await?;
    done()
}

/// `GET /followers/my` and `GET /followers/{id}`.
pub(crate) async fn followers(State(app): State<App>, call: ApiCall) -> Answer {
    list(&app, &call, Side::To, |it| &it.holder).await
}

/// `GET /followers/my/following` and `GET /followers/{id}/following`.
pub(crate) async fn following(State(app): State<App>, call: ApiCall) -> Answer {
    list(&app, &call, Side::Of, |it| &it.target).await
}

async fn list(app: &App, call: &ApiCall, side: Side, other: fn(&Relation) -> &String) -> Answer {
    let page = call.cursor_page(PAGE)?;
    let relations =
        app.identity.interaction_list(&call.site, &call.caller, (Interaction::Follow, side), whose(call), page).await?;
    let ids: Vec<&String> = relations.items.iter().map(other).collect();
    Ok(body::ok(&json!({ "memberIds": ids, "pagingMetadata": cursors_of(&relations) })))
}

/// The member of the path; the calling one where it names none.
fn whose(call: &ApiCall) -> Option<&str> {
    Some(call.id.as_str()).filter(|it| !it.is_empty())
}

/// `POST /followers/my/connections` and `POST /followers/{id}/connections`.
pub(crate) async fn connections(State(app): State<App>, call: ApiCall) -> Answer {
    let others = call.strings("connectedMemberIds")?;
    let found = app.identity.connections(&call.site, &call.caller, whose(&call), &others).await?;
    let view = |id: &String| {
        let (is_followed, follows) = (found.targets.contains(id), found.holders.contains(id));
        json!({ "connectedMemberId": id, "followedByMember": is_followed, "followingMember": follows })
    };
    answer("connectedMembers", others.iter().map(view).collect::<Value>())
}
