//! What members write about themselves.

use super::{PAGE, many, named_members, offsets, one};
use crate::{
    App, body,
    identity::{
        api_call::{Answer, ApiCall, done, invalid},
        filter::{FieldType, Listed},
        members,
    },
};
use axum::extract::State;
use serde_json::json;
use stoa_identity::community::{EntityField, kind::ABOUT};

/// `POST /abouts`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    one(&ABOUT, &app.identity.about_write(&call.site, &call.caller, None, &call.data["memberAbout"]).await?)
}

/// `PATCH /abouts/{id}`.
pub(crate) async fn update(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["memberAbout"];
    one(&ABOUT, &app.identity.about_write(&call.site, &call.caller, Some(&call.id), sent).await?)
}

/// `DELETE /abouts/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.about_delete(&call.site, &call.caller, &call.id).await?;
    done()
}

/// `GET /abouts/my` and `GET /abouts/{id}`.
pub(crate) async fn get(State(app): State<App>, call: ApiCall) -> Answer {
    let id = if call.id.is_empty() { members::own(&call)?.as_str().to_owned() } else { call.id.clone() };
    one(&ABOUT, &app.identity.about_get(&call.site, &call.caller, &id).await?)
}

const ABOUTS: Listed<EntityField> = Listed {
    things: "abouts",
    fields: &[
        ("memberId", EntityField::Id, FieldType::Text),
        ("id", EntityField::Id, FieldType::Text),
        ("_id", EntityField::Id, FieldType::Text),
    ],
};

/// `POST /abouts/query`: of the members that the filter names, or one's own.
pub(crate) async fn query(State(app): State<App>, call: ApiCall) -> Answer {
    let ids = match named_members(&ABOUTS, call.filter())? {
        Some(ids) if ids.len() > PAGE as usize => {
            return Err(invalid("query.filter", &format!("at most {PAGE} members are expected")).into());
        }
        Some(ids) => ids,
        None => members::own(&call).ok().into_iter().map(|it| it.as_str().to_owned()).collect(),
    };
    let found = app.identity.about_list(&call.site, &call.caller, &ids).await?;
    let count = found.len();
    let paging = json!({ "count": count, "hasNext": false, "cursors": {} });
    Ok(body::ok(&json!({
        "memberAbouts": many(&found), "pagingMetadata": paging, "metadata": offsets(count, 0, count),
    })))
}
