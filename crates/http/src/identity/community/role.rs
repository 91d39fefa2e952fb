//! Roles: their definitions, and those of members.

use super::named_members;
use crate::{
    App,
    identity::{
        api_call::{Answer, ApiCall, answer, done, strings},
        filter::{FieldType, Listed},
    },
};
use axum::extract::State;
use serde_json::{Map, Value, json};
use stoa_identity::community::{Assignable, AssignedRole, Entity, EntityField, EntityFilter, kind::ROLE};

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
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    let data = &call.data;
    let role = json!({ "roleKey": data["roleKey"], "title": data["roleTitle"], "blockable": data["blockable"] });
    answer("role", view(&app.identity.definition_create(&call.site, &call.caller, &ROLE, &role).await?))
}

/// `GET /roles/definitions`.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    let roles = app.identity.definition_list(&call.site, &call.caller, &ROLE, &EntityFilter::default()).await?;
    answer("roles", roles.iter().map(view).collect::<Value>())
}

/// `GET /roles/definitions/{key}`.
pub(crate) async fn get(State(app): State<App>, call: ApiCall) -> Answer {
    answer("role", view(&app.identity.definition_get(&call.site, &call.caller, &ROLE, &call.id).await?))
}

/// `PATCH /roles/definitions/{key}`.
pub(crate) async fn update(State(app): State<App>, call: ApiCall) -> Answer {
    let mut change = json!({ "revision": call.data["revision"] });
    for (name, sent) in [("title", "roleTitle"), ("blockable", "blockable")] {
        if let Some(value) = call.data.get(sent) {
            change[name] = value.clone();
        }
    }
    answer("role", view(&app.identity.definition_update(&call.site, &call.caller, &ROLE, &call.id, &change).await?))
}

/// `DELETE /roles/definitions/{key}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.definition_delete(&call.site, &call.caller, &ROLE, &call.id, None).await?;
    done()
}

/// `POST /roles/members/{id}`.
pub(crate) async fn assign(State(app): State<App>, call: ApiCall) -> Answer {
    let (key, who) = (call.text("roleKey"), std::slice::from_ref(&call.id));
    app.identity.assign(&call.site, &call.caller, Assignable::Role, key, who).await?;
    answer("roleKey", key)
}

/// `DELETE /roles/members/{id}`.
pub(crate) async fn unassign(State(app): State<App>, call: ApiCall) -> Answer {
    let (key, who) = (call.text("roleKey"), std::slice::from_ref(&call.id));
    app.identity.unassign(&call.site, &call.caller, Assignable::Role, key, who).await?;
    answer("roleKey", key)
}

/// `GET /roles/members/{id}`.
pub(crate) async fn of_member(State(app): State<App>, call: ApiCall) -> Answer {
    let roles = app.identity.member_roles(&call.site, &call.caller, &call.id).await?;
    answer("roles", roles.iter().map(held).collect::<Value>())
}

const MEMBERS: Listed<EntityField> = Listed {
    things: "roles",
    fields: &[("memberId", EntityField::Id, FieldType::Text), ("memberIds", EntityField::Id, FieldType::Text)],
};

/// `POST /roles/members/query`: of the members that the filter names, also by a mere list.
pub(crate) async fn query(State(app): State<App>, call: ApiCall) -> Answer {
    let mut filter = call.filter().clone();
    for name in ["memberId", "memberIds"] {
        if let Some(list) = filter.get_mut(name).filter(|it| it.is_array()) {
            *list = json!({ "$in": list.take() });
        }
    }
    let mut ids = strings(&call.data["memberIds"], "memberIds")?;
    match named_members(&MEMBERS, &filter)? {
        Some(named) if call.data["memberIds"].is_null() => ids = named,
        Some(named) => ids.retain(|it| named.contains(it)),
        None => {}
    }
    let all = app.identity.roles_of(&call.site, &call.caller, ids, "query.filter").await?;
    let roles = |roles: Vec<AssignedRole>| json!({ "roles": roles.iter().map(held).collect::<Value>() });
    answer("rolesByMemberId", all.into_iter().map(|(id, it)| (id, roles(it))).collect::<Map<_, _>>())
}

fn held(role: &AssignedRole) -> Value {
    json!({ "roleKey": role.key, "title": role.title })
}
