//! Badges, in both of their versions, and who has them.

use super::{PAGE, cursors, cursors_of, offsets, page};
use crate::{
    App, body,
    identity::{
        api_call::{Answer, ApiCall, answer, done, invalid},
        cursor::FilteredPage,
        filter::{FieldType, Listed},
        member_wire::without_nulls,
    },
};
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::community::{Assignable, Entity, EntityField, Position, kind::BADGE};
use stoa_kernel::{Code, Fault};

/// A badge as the version of the called route has it: its icon is an address up to version 3, an object since.
fn view(call: &ApiCall, badge: &Entity) -> Value {
    let mut view = badge.to_json();
    let is_address = call.route.starts_with("/members/v3/");
    let icon = match (&view["icon"], is_address) {
        (Value::Object(icon), true) => icon.get("url").cloned().unwrap_or_default(),
        (Value::String(url), false) => json!({ "url": url }),
        _ => return view,
    };
    view["icon"] = icon;
    without_nulls(view)
}

fn views<'a>(call: &ApiCall, badges: impl IntoIterator<Item = &'a Entity>) -> Vec<Value> {
    badges.into_iter().map(|it| view(call, it)).collect()
}

/// `POST /badges`.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    let made = app.identity.definition_create(&call.site, &call.caller, &BADGE, &call.data["badge"]).await?;
    answer(BADGE.wire, view(&call, &made))
}

/// `GET /badges/{id}`.
pub(crate) async fn get(State(app): State<App>, call: ApiCall) -> Answer {
    let found = app.identity.definition_get(&call.site, &call.caller, &BADGE, &call.id).await?;
    answer(BADGE.wire, view(&call, &found))
}

/// `PATCH /badges/{id}`.
pub(crate) async fn update(State(app): State<App>, call: ApiCall) -> Answer {
    let sent = &call.data["badge"];
    let changed = app.identity.definition_update(&call.site, &call.caller, &BADGE, &call.id, sent).await?;
    answer(BADGE.wire, view(&call, &changed))
}

/// `DELETE /badges/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.definition_delete(&call.site, &call.caller, &BADGE, &call.id, None).await?;
    done()
}

const BADGES: Listed<EntityField> = Listed {
    things: "badges",
    fields: &[
        ("id", EntityField::Id, FieldType::Text),
        ("_id", EntityField::Id, FieldType::Text),
        ("title", EntityField::Text("title"), FieldType::Text),
        ("description", EntityField::Text("description"), FieldType::Text),
        ("slug", EntityField::Text("slug"), FieldType::Text),
        ("backgroundColor", EntityField::Text("backgroundColor"), FieldType::Text),
        ("textColor", EntityField::Text("textColor"), FieldType::Text),
        ("permissionsEnabled", EntityField::Flag("permissionsEnabled"), FieldType::Flag),
        ("createdDate", EntityField::Created, FieldType::Date),
        ("_createdDate", EntityField::Created, FieldType::Date),
        ("updatedDate", EntityField::Updated, FieldType::Date),
        ("_updatedDate", EntityField::Updated, FieldType::Date),
    ],
};

/// `GET /badges` and `POST /badges/query`.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    let (asked, filter) = FilteredPage::of(&call, PAGE, &BADGES)?;
    let (limit, offset) = match call.wants_cursor() {
        false => call.page(PAGE)?,
        true if asked.cursor.is_empty() => (asked.limit, 0),
        true => (asked.limit, asked.cursor.parse().map_err(|_| Fault::new(Code::CursorInvalid))?),
    };
    let all = app.identity.definition_list(&call.site, &call.caller, &BADGE, &filter).await?;
    let badges = page(&all, (limit, offset));
    let end = offset as usize + badges.len();
    let next = asked.next((end < all.len()).then(|| end.to_string()).as_deref());
    Ok(body::ok(&json!({
        "badges": views(&call, badges), "metadata": offsets(badges.len(), offset, all.len()),
        "pagingMetadata": cursors(badges.len(), next.as_deref()),
    })))
}

/// `PATCH /badges/order` and `POST /badges/order`.
pub(crate) async fn order(State(app): State<App>, call: ApiCall) -> Answer {
    let ids = call.strings(if call.data.get("badgeIds").is_some() { "badgeIds" } else { "ids" })?;
    let ordered = app.identity.definition_order(&call.site, &call.caller, &BADGE, ids).await?;
    answer("badges", views(&call, &ordered))
}

/// `POST /badges/{id}/move`.
pub(crate) async fn move_to(State(app): State<App>, call: ApiCall) -> Answer {
    let to = match call.text("position") {
        "" | "LAST" => Position::Last,
        "FIRST" => Position::First,
        "AFTER" => Position::After(call.text("moveAfterBadgeId").to_owned()),
        _ => return Err(invalid("position", "FIRST, LAST or AFTER is expected").into()),
    };
    app.identity.definition_move(&call.site, &call.caller, &BADGE, &call.id, to).await?;
    done()
}

/// `POST /badges/{id}/members`.
pub(crate) async fn assign(State(app): State<App>, call: ApiCall) -> Answer {
    let ids = call.strings("memberIds")?;
    app.identity.assign(&call.site, &call.caller, Assignable::Badge, &call.id, &ids).await?;
    answer("memberIds", ids)
}

/// `DELETE /badges/{id}/members`.
pub(crate) async fn unassign(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.unassign(&call.site, &call.caller, Assignable::Badge, &call.id, &call.strings("memberIds")?).await?;
    done()
}

/// `GET /badges/{id}/members`.
pub(crate) async fn members(State(app): State<App>, call: ApiCall) -> Answer {
    let page = call.cursor_page(PAGE)?;
    let relations = app.identity.assignee_list(&call.site, &call.caller, Assignable::Badge, &call.id, page).await?;
    let ids: Vec<&str> = relations.items.iter().map(|it| it.holder.as_str()).collect();
    let metadata = json!({ "count": ids.len(), "offset": 0, "tooManyToCount": false });
    Ok(body::ok(&json!({ "memberIds": ids, "metadata": metadata, "pagingMetadata": cursors_of(&relations) })))
}

/// `POST /badges/members`: the badges of each of these members.
pub(crate) async fn of_members(State(app): State<App>, call: ApiCall) -> Answer {
    let ids = call.strings("memberIds")?;
    let all = app.identity.assignments_of(&call.site, &call.caller, Assignable::Badge, ids, "memberIds").await?;
    let view = |(id, badges)| json!({ "memberId": id, "badgeIds": badges });
    answer("memberBadgeIds", all.into_iter().map(view).collect::<Value>())
}

/// `GET /badges/members/count`.
pub(crate) async fn counts(State(app): State<App>, call: ApiCall) -> Answer {
    let counts = app.identity.assignment_counts(&call.site, &call.caller, Assignable::Badge).await?;
    let view = |(id, count)| json!({ "badgeId": id, "memberCount": count });
    answer("badgeMemberCounts", counts.into_iter().map(view).collect::<Value>())
}
