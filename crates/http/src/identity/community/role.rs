//! Roles: their definitions, and those of members.

use crate::{
    App,
    identity::ask::{Answer, Ask, answer, done, texts},
};
use axum::extract::State;
use serde_json::{Map, Value, json};
use stoa_identity::community::{Assignable, AssignedRole, Entity, EntityFilter, kind::ROLE};

/// What a role is called on the wire: its key is its id.
fn view(entity: &Entity) -> Value {
    let title = entity.text("title").unwrap_or(&entity.id);
    let blockable = entity.doc.get("blockable").cloned().unwrap_or(json!(false));
    json!({
        "id": entity.id, "roleKey": entity.id, "title": title, "blockable": blockable,
        "revision": entity.revision.to_string(),
    })
}

/// `POST /roles/definitions`.
pub(crate) async fn create(State(app): State<App>, ask: Ask) -> Answer {
    let data = &ask.data;
    let role = json!({ "roleKey": data["roleKey"], "title": data["roleTitle"], "blockable": data["blockable"] });
    answer("role", view(&app.identity.definition_create(&ask.site, &ask.caller, &ROLE, &role).await?))
}

/// `GET /roles/definitions`.
pub(crate) async fn list(State(app): State<App>, ask: Ask) -> Answer {
    let roles = app.identity.definition_list(&ask.site, &ask.caller, &ROLE, &EntityFilter::default()).await?;
    answer("roles", roles.iter().map(view).collect::<Value>())
}

/// `GET /roles/definitions/{key}`.
pub(crate) async fn get(State(app): State<App>, ask: Ask) -> Answer {
    answer("role", view(&app.identity.definition_get(&ask.site, &ask.caller, &ROLE, &ask.id).await?))
}

/// `PATCH /roles/definitions/{key}`.
pub(crate) async fn update(State(app): State<App>, ask: Ask) -> Answer {
    let mut change = json!({ "revision": ask.data["revision"] });
    for (name, sent) in [("title", "roleTitle"), ("blockable", "blockable")] {
        if let Some(value) = ask.data.get(sent) {
            change[name] = value.clone();
        }
    }
    answer("role", view(&app.identity.definition_update(&ask.site, &ask.caller, &ROLE, &ask.id, &change).await?))
}

/// `DELETE /roles/definitions/{key}`.
pub(crate) async fn delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.definition_delete(&ask.site, &ask.caller, &ROLE, &ask.id, None).await?;
    done()
}

/// `POST /roles/members/{id}`.
pub(crate) async fn assign(State(app): State<App>, ask: Ask) -> Answer {
    let (key, who) = (ask.text("roleKey"), std::slice::from_ref(&ask.id));
    app.identity.assign(&ask.site, &ask.caller, Assignable::Role, key, who).await?;
    answer("roleKey", key)
}

/// `DELETE /roles/members/{id}`.
pub(crate) async fn unassign(State(app): State<App>, ask: Ask) -> Answer {
    let (key, who) = (ask.text("roleKey"), std::slice::from_ref(&ask.id));
    app.identity.unassign(&ask.site, &ask.caller, Assignable::Role, key, who).await?;
    answer("roleKey", key)
}

/// `GET /roles/members/{id}`.
pub(crate) async fn of_member(State(app): State<App>, ask: Ask) -> Answer {
    let roles = app.identity.member_roles(&ask.site, &ask.caller, &ask.id).await?;
    answer("roles", roles.iter().map(held).collect::<Value>())
}

/// `POST /roles/members/query`.
pub(crate) async fn query(State(app): State<App>, ask: Ask) -> Answer {
    let filter = &ask.data["query"]["filter"];
    let places = [&ask.data["memberIds"], &filter["memberIds"], &filter["memberId"]["$in"], &filter["memberId"]];
    let named = places.into_iter().find(|it| it.is_array() || it.is_string()).unwrap_or(&Value::Null);
    let ids = texts(named, "memberIds")?;
    let all = app.identity.roles_of(&ask.site, &ask.caller, ids, "query.filter").await?;
    let roles = |roles: Vec<AssignedRole>| json!({ "roles": roles.iter().map(held).collect::<Value>() });
    answer("rolesByMemberId", all.into_iter().map(|(id, it)| (id, roles(it))).collect::<Map<_, _>>())
}

fn held(role: &AssignedRole) -> Value {
    json!({ "roleKey": role.key, "title": role.title })
}
