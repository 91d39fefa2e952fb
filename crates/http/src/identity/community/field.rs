//! Custom fields, and to whom they apply.

use super::{PAGE, many, offsets, one, page};
use crate::{
    App, body,
    identity::{
        api_call::{Answer, ApiCall, answer, done},
        filter::{self, FieldType, Listed},
        member_wire::without_nulls,
    },
};
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::community::{
    Applications, Entity, EntityField, EntityFilter,
    entity::revision_in,
    kind::{APPLICATION, FIELD},
};
use stoa_kernel::Faults;

/// `POST /custom-fields`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    one(&FIELD, &app.identity.definition_create(&call.site, &call.caller, &FIELD, &call.data["field"]).await?)
}

/// `GET /custom-fields/{id}`.
pub(crate) async fn get(State(app): State<App>, call: ApiCall) -> Answer {
    one(&FIELD, &app.identity.definition_get(&call.site, &call.caller, &FIELD, &call.id).await?)
}

/// `GET /custom-fields`.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    let (limit, offset) = call.page(PAGE)?;
    let all = app.identity.definition_list(&call.site, &call.caller, &FIELD, &EntityFilter::default()).await?;
    let fields = page(&all, (limit, offset));
    Ok(body::ok(&json!({ "fields": many(fields), "metadata": offsets(fields.len(), offset, all.len()) })))
}

/// `PATCH /custom-fields/{id}`.
pub(crate) async fn update(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["field"];
    one(&FIELD, &app.identity.definition_update(&call.site, &call.caller, &FIELD, &call.id, sent).await?)
}

/// `DELETE /custom-fields/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    let revision = revision_in(&call.data)?;
    app.identity.definition_delete(&call.site, &call.caller, &FIELD, &call.id, revision).await?;
    done()
}

/// `POST /custom-fields/{id}/hide`.
pub(crate) async fn hide(State(app): State<App>, call: ApiCall) -> Answer {
    let change = json!({ "hidden": true, "revision": call.data["revision"] });
    app.identity.definition_update(&call.site, &call.caller, &FIELD, &call.id, &change).await?;
    done()
}

/// `POST /custom-fields/order`.
pub(crate) async fn order(State(app): State<App>, call: ApiCall) -> Answer {
    let fields = app.identity.definition_order(&call.site, &call.caller, &FIELD, call.strings("fieldIds")?).await?;
    Ok(body::ok(&without_nulls(json!({ "fields": many(&fields), "section": call.data.get("section") }))))
}

const SUGGESTIONS: Listed<EntityField> = Listed {
    things: "suggestions",
    fields: &[
        ("name", EntityField::Text("name"), FieldType::Text),
        ("fieldType", EntityField::Text("fieldType"), FieldType::Text),
        ("socialType", EntityField::Text("socialType"), FieldType::Text),
    ],
};

/// `GET /custom-field-suggestions` and `POST …/query`: what sites usually ask for and this one doesn't yet.
pub(crate) async fn suggestions(State(app): State<App>, call: ApiCall) -> Answer {
    let filter = filter::read(&SUGGESTIONS, call.filter(), "query.filter");
    let (filter, (limit, offset)) = Faults::both(filter, call.page(PAGE))?;
    let all = app.identity.field_suggestions(&call.site, &call.caller, &filter).await?;
    let some = page(&all, (limit, offset));
    Ok(body::ok(&json!({ "suggestions": some, "metadata": offsets(some.len(), offset, all.len()) })))
}

fn application(entity: &Entity) -> Value {
    let mut view = entity.to_json();
    if let Value::Object(view) = &mut view {
        for name in ["id", "createdDate", "updatedDate"] {
            view.remove(name);
        }
        for name in ["applications", "exclusions"] {
            view.entry(name).or_insert_with(|| json!({ "items": [] }));
        }
    }
    view
}

/// `POST /custom-fields-applications`.
pub(crate) async fn application_create(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["application"];
    let made = app.identity.definition_create(&call.site, &call.caller, &APPLICATION, sent).await?;
    answer("application", application(&made))
}

/// `GET /custom-fields-applications/{id}`.
pub(crate) async fn application_get(State(app): State<App>, call: ApiCall) -> Answer {
    answer(
        "application",
        application(&app.identity.definition_get(&call.site, &call.caller, &APPLICATION, &call.id).await?),
    )
}

/// `PATCH /custom-fields-applications/{id}`.
pub(crate) async fn application_update(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["application"];
    let changed = app.identity.definition_update(&call.site, &call.caller, &APPLICATION, &call.id, sent).await?;
    answer("application", application(&changed))
}

/// `DELETE /custom-fields-applications/{id}`.
pub(crate) async fn application_delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.definition_delete(&call.site, &call.caller, &APPLICATION, &call.id, None).await?;
    done()
}

/// `POST /custom-fields-applications/applications`.
pub(crate) async fn application_list(State(app): State<App>, call: ApiCall) -> Answer {
    let filter = EntityFilter::ids(call.strings("customFieldIds")?);
    let found = app.identity.definition_list(&call.site, &call.caller, &APPLICATION, &filter).await?;
    answer("applications", found.iter().map(application).collect::<Value>())
}

/// `POST /custom-fields-applications/members`.
pub(crate) async fn of_members(State(app): State<App>, call: ApiCall) -> Answer {
    let found = app.identity.fields_of_members(&call.site, &call.caller, call.strings("memberIds")?).await?;
    applied("memberId", &found)
}

/// `POST /custom-fields-applications/roles`.
pub(crate) async fn of_roles(State(app): State<App>, call: ApiCall) -> Answer {
    let found = app.identity.fields_of_roles(&call.site, &call.caller, call.strings("roleIds")?).await?;
    applied("roleId", &found)
}

fn applied(name: &str, found: &Applications) -> Answer {
    let view = |(field, applies): (&Entity, &bool)| json!({ "customFieldKey": field.text("key"), "applies": applies, "customField": field.to_json() });
    let fields = |applies: &[bool]| found.fields.iter().zip(applies).map(view).collect::<Value>();
    let results = found.applies.iter().map(|(id, applies)| json!({ name: id, "applications": fields(applies) }));
    answer("results", results.collect::<Value>())
}
