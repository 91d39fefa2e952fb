//! Blocks between members.

use super::{PAGE, cursors_of};
use crate::{
    App, body,
    identity::api_call::{Answer, ApiCall, done},
};
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::community::{Interaction, Relation, Side};

/// `POST /member-to-member-blocks/members/my`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.interaction_create(&call.site, &call.caller, Interaction::Block, call.text("memberId")).await?;
    done()
}

/// `DELETE /member-to-member-blocks/members/my/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.interaction_delete(&call.site, &call.caller, Interaction::Block, &call.id).await?;
    done()
}

/// `GET /member-to-member-blocks/members/my`.
pub(crate) async fn my(State(app): State<App>, call: ApiCall) -> Answer {
    let (page, side) = (call.cursor_page(PAGE)?, (Interaction::Block, Side::Of));
    let relations = app.identity.interaction_list(&call.site, &call.caller, side, None, page).await?;
    let ids: Vec<&String> = relations.items.iter().map(|it| &it.target).collect();
    Ok(body::ok(&json!({ "blockedMemberIds": ids, "pagingMetadata": cursors_of(&relations) })))
}

/// `GET /member-to-member-blocks/members/{id}`: whom a member blocks, and who blocks them.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    let relations = app.identity.block_list(&call.site, &call.caller, &call.id, call.cursor_page(PAGE)?).await?;
    let view = |it: &Relation| match it.holder == call.id {
        true => json!({ "memberId": it.target, "blockDirection": "BLOCKING" }),
        false => json!({ "memberId": it.holder, "blockDirection": "BLOCKED" }),
    };
    let all: Vec<Value> = relations.items.iter().map(view).collect();
    Ok(body::ok(&json!({ "memberBlocks": all, "pagingMetadata": cursors_of(&relations) })))
}
