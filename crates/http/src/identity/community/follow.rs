//! Followers.

use super::{PAGE, cursors_of};
use crate::{
    App, body,
    identity::ask::{Answer, Ask, answer, done},
};
use axum::extract::State;
use serde_json::{Map, Value, json};
use stoa_identity::community::{Bond, Side, Tie};

/// `POST /followers/{id}`.
pub(crate) async fn create(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.bond_make(&ask.site, &ask.caller, Bond::Follow, &ask.id, Map::new()).await?;
    done()
}

/// `DELETE /followers/{id}`.
pub(crate) async fn delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.bond_drop(&ask.site, &ask.caller, Bond::Follow, &ask.id).await?;
    done()
}

/// `GET /followers/my` and `GET /followers/{id}`.
pub(crate) async fn followers(State(app): State<App>, ask: Ask) -> Answer {
    list(&app, &ask, Side::To, |it| &it.holder).await
}

/// `GET /followers/my/following` and `GET /followers/{id}/following`.
pub(crate) async fn following(State(app): State<App>, ask: Ask) -> Answer {
    list(&app, &ask, Side::Of, |it| &it.target).await
}

async fn list(app: &App, ask: &Ask, side: Side, other: fn(&Tie) -> &String) -> Answer {
    let page = ask.cursor_page(PAGE)?;
    let ties = app.identity.bond_list(&ask.site, &ask.caller, (Bond::Follow, side), whose(ask), page).await?;
    let ids: Vec<&String> = ties.ties.iter().map(other).collect();
    Ok(body::ok(&json!({ "memberIds": ids, "pagingMetadata": cursors_of(&ties) })))
}

/// The member of the path; the calling one where it names none.
fn whose(ask: &Ask) -> Option<&str> {
    Some(ask.id.as_str()).filter(|it| !it.is_empty())
}

/// `POST /followers/my/connections` and `POST /followers/{id}/connections`.
pub(crate) async fn connections(State(app): State<App>, ask: Ask) -> Answer {
    let others = ask.texts("connectedMemberIds")?;
    let (following, followers) = app.identity.connections(&ask.site, &ask.caller, whose(&ask), &others).await?;
    let view = |id: &String| {
        let (is_followed, follows) = (following.contains(id), followers.contains(id));
        json!({ "connectedMemberId": id, "followedByMember": is_followed, "followingMember": follows })
    };
    answer("connectedMembers", others.iter().map(view).collect::<Value>())
}
