//! Reports on members.

use super::{PAGE, cursors, filtered_cursors};
use crate::{
    App, body,
    identity::{
        api_call::{Answer, ApiCall, answer, done},
        cursor::FilteredPage,
        filter::{FieldType, Listed},
    },
};
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::community::{Relation, RelationField, RelationFilter, ReportedMember};

/// `POST /member-reports`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["memberReport"];
    let other = sent["reportedMemberId"].as_str().unwrap_or_default();
    let made = app.identity.member_report(&call.site, &call.caller, other, &sent["reason"]).await?;
    answer("memberReport", made.report_json())
}

const REPORTS: Listed<RelationField> = Listed {
    things: "reports",
    fields: &[
        ("id", RelationField::Id, FieldType::Text),
        ("_id", RelationField::Id, FieldType::Text),
        ("reportedMemberId", RelationField::Target, FieldType::Text),
        ("reportingMemberId", RelationField::Holder, FieldType::Text),
        ("createdDate", RelationField::Created, FieldType::Date),
        ("_createdDate", RelationField::Created, FieldType::Date),
    ],
};

/// `POST /member-reports/query`.
pub(crate) async fn query(State(app): State<App>, call: ApiCall) -> Answer {
    let (asked, filter) = FilteredPage::of(&call, PAGE, &REPORTS)?;
    let (filter, page) = (RelationFilter::matching(filter), (asked.limit, asked.cursor.as_str()));
    let relations = app.identity.report_list(&call.site, &call.caller, &filter, page).await?;
    let found: Vec<Value> = relations.items.iter().map(Relation::report_json).collect();
    Ok(body::ok(&json!({ "memberReports": found, "pagingMetadata": filtered_cursors(&asked, &relations) })))
}

const REPORTED: Listed<RelationField> =
    Listed { things: "reported members", fields: &[("reportedMemberId", RelationField::Target, FieldType::Text)] };

/// `GET /member-reports/members` and `POST /member-reports/members/query`.
pub(crate) async fn members(State(app): State<App>, call: ApiCall) -> Answer {
    let (asked, filter) = FilteredPage::of(&call, PAGE, &REPORTED)?;
    let (filter, page) = (RelationFilter::matching(filter), (asked.limit, asked.cursor.as_str()));
    let found = app.identity.reported_members(&call.site, &call.caller, &filter, page).await?;
    let next = asked.next(found.last().filter(|_| found.len() == asked.limit as usize).map(|it| it.id.as_str()));
    let all: Vec<Value> = found.iter().map(ReportedMember::to_json).collect();
    Ok(body::ok(&json!({ "reportedMembers": all, "pagingMetadata": cursors(found.len(), next.as_deref()) })))
}

/// `DELETE /member-reports/members/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.reports_delete(&call.site, &call.caller, &call.id).await?;
    done()
}
