//! Reports on members.

use super::{PAGE, cursors, cursors_of, wanted};
use crate::{
    App, body,
    identity::api_call::{Answer, ApiCall, answer, done},
};
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::community::{Relation, ReportedMember};
use stoa_kernel::{Faults, date::iso_from_millis};

/// `POST /member-reports`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["memberReport"];
    let other = sent["reportedMemberId"].as_str().unwrap_or_default();
    let made = app.identity.member_report(&call.site, &call.caller, other, &sent["reason"]).await?;
    answer("memberReport", made.report_json())
}

/// `POST /member-reports/query`.
pub(crate) async fn query(State(app): State<App>, call: ApiCall) -> Answer {
    let (ids, page) = Faults::both(wanted(&call.data["query"]["filter"], "reportedMemberId"), call.cursor_page(PAGE))?;
    let relations = app.identity.report_list(&call.site, &call.caller, ids, page).await?;
    let found: Vec<Value> = relations.items.iter().map(Relation::report_json).collect();
    Ok(body::ok(&json!({ "memberReports": found, "pagingMetadata": cursors_of(&relations) })))
}

/// `GET /member-reports/members` and `POST /member-reports/members/query`.
pub(crate) async fn members(State(app): State<App>, call: ApiCall) -> Answer {
    let (limit, cursor) = call.cursor_page(PAGE)?;
    let found = app.identity.reported_members(&call.site, &call.caller, cursor, limit).await?;
    let next = found.last().filter(|_| found.len() == limit as usize).map(|it| it.id.as_str());
    let view = |it: &ReportedMember| {
        json!({
            "reportedMemberId": it.id, "reportCount": it.count.to_string(), "reviewed": false,
            "lastReportDate": iso_from_millis(it.last),
        })
    };
    let all: Vec<Value> = found.iter().map(view).collect();
    Ok(body::ok(&json!({ "reportedMembers": all, "pagingMetadata": cursors(found.len(), next) })))
}

/// `DELETE /member-reports/members/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.reports_delete(&call.site, &call.caller, &call.id).await?;
    done()
}
