//! Assignments of badges to members.

use super::{PAGE, filtered_cursors};
use crate::{
    App, body,
    identity::{
        api_call::{Answer, ApiCall, answer, done, invalid},
        cursor::FilteredPage,
        filter::{self, FieldType, Listed},
        members::bulk,
    },
};
use axum::{extract::State, response::Response};
use serde_json::{Value, json};
use stoa_identity::community::{Assignable, Relation, RelationField, RelationFilter, TagUpdate};
use stoa_kernel::{Code, Fault, Faults, Result};

/// `POST /badges/v4/assignments`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    answer("badgeAssignment", assign(&app, &call, &call.data["badgeAssignment"]).await?.assignment_json())
}

async fn assign(app: &App, call: &ApiCall, object: &Value) -> Result<Relation> {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let (badge, member) = (text("badgeId"), text("memberId"));
    app.identity.badge_assign(&call.site, &call.caller, badge, member, &object["tags"]).await
}

/// `POST /badges/v4/bulk/assignments/create`.
pub(crate) async fn bulk_create(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = call.data["badgeAssignments"].as_array().filter(|it| !it.is_empty() && it.len() <= 100);
    let sent = sent.ok_or_else(|| invalid("badgeAssignments", "1 to 100 are expected"))?;
    let mut results = Vec::with_capacity(sent.len());
    for object in sent {
        results.push(match assign(&app, &call, object).await {
            Ok(relation) => (relation.id, None),
            Err(fault) if fault.code().status() >= 500 || fault.code() == Code::Forbidden => return Err(fault.into()),
            Err(fault) => (String::new(), Some(fault)),
        });
    }
    Ok(bulk("itemMetadata", results))
}

const ASSIGNMENTS: Listed<RelationField> = Listed {
    things: "assignments of badges",
    fields: &[
        ("id", RelationField::Id, FieldType::Text),
        ("_id", RelationField::Id, FieldType::Text),
        ("memberId", RelationField::Holder, FieldType::Text),
        ("badgeId", RelationField::Target, FieldType::Text),
        ("createdDate", RelationField::Created, FieldType::Date),
        ("_createdDate", RelationField::Created, FieldType::Date),
    ],
};

/// `POST /badges/v4/assignments/query`.
pub(crate) async fn query(State(app): State<App>, call: ApiCall) -> Answer {
    let (asked, filter) = FilteredPage::of(&call, PAGE, &ASSIGNMENTS)?;
    let (filter, page) = (RelationFilter::matching(filter), (asked.limit, asked.cursor.as_str()));
    let relations = app.identity.assignment_list(&call.site, &call.caller, Assignable::Badge, &filter, page).await?;
    let found: Vec<Value> = relations.items.iter().map(Relation::assignment_json).collect();
    Ok(body::ok(&json!({ "badgeAssignments": found, "pagingMetadata": filtered_cursors(&asked, &relations) })))
}

/// `DELETE /badges/v4/assignments/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    let gone = app.identity.badge_unassign(&call.site, &call.caller, std::slice::from_ref(&call.id)).await?;
    if gone == [true] { done() } else { Err(Fault::new(Code::NotFound).into()) }
}

/// `POST /badges/v4/bulk/assignments/delete`.
pub(crate) async fn bulk_delete(State(app): State<App>, call: ApiCall) -> Answer {
    let ids = call.strings("badgeAssignmentIds")?;
    let gone = app.identity.badge_unassign(&call.site, &call.caller, &ids).await?;
    Ok(found_or_not(ids, gone))
}

/// `POST /badges/v4/bulk/assignments/bulk-update-tags`.
pub(crate) async fn tags(State(app): State<App>, call: ApiCall) -> Answer {
    let ids = call.strings("ids")?;
    let found = app.identity.tags_update(&call.site, &call.caller, &ids, &TagUpdate::parse(&call.data)?).await?;
    Ok(found_or_not(ids, found))
}

/// `POST /badges/v4/bulk/assignments/update-tags-by-filter`: done when the answer comes.
pub(crate) async fn tags_by_filter(State(app): State<App>, call: ApiCall) -> Answer {
    let filter = match &call.data["filter"] {
        filter @ Value::Object(_) => filter::read(&ASSIGNMENTS, filter, "filter"),
        _ => Err(invalid("filter", "an object is expected")),
    };
    let (filter, tags) = Faults::both(filter, TagUpdate::parse(&call.data))?;
    let filter = RelationFilter::matching(filter);
    app.identity.tags_update_all(&call.site, &call.caller, &filter, &tags).await?;
    answer("jobId", app.world.uuid())
}

fn found_or_not(ids: Vec<String>, found: Vec<bool>) -> Response {
    let result = |(id, found): (String, bool)| (id, (!found).then(|| Fault::new(Code::NotFound)));
    bulk("itemMetadata", ids.into_iter().zip(found).map(result).collect())
}
