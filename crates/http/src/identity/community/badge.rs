//! Badges, in both of their versions, and who has them.

use super::{PAGE, cursors, cursors_of, many, offsets, one, page};
use crate::{
    App, body,
    identity::ask::{Answer, Ask, answer, done, invalid},
};
use axum::extract::State;
use serde_json::{Value, json};
use stoa_identity::community::{Assignable, EntityFilter, Position, kind::BADGE};
use stoa_kernel::{Code, Fault};

/// `POST /badges`.
pub(crate) async fn create(State(app): State<App>, ask: Ask) -> Answer {
    one(&BADGE, &app.identity.definition_create(&ask.site, &ask.caller, &BADGE, &ask.data["badge"]).await?)
}

/// `GET /badges/{id}`.
pub(crate) async fn get(State(app): State<App>, ask: Ask) -> Answer {
    one(&BADGE, &app.identity.definition_get(&ask.site, &ask.caller, &BADGE, &ask.id).await?)
}

/// `PATCH /badges/{id}`.
pub(crate) async fn update(State(app): State<App>, ask: Ask) -> Answer {
    let sent = &ask.data["badge"];
    one(&BADGE, &app.identity.definition_update(&ask.site, &ask.caller, &BADGE, &ask.id, sent).await?)
}

/// `DELETE /badges/{id}`.
pub(crate) async fn delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.definition_delete(&ask.site, &ask.caller, &BADGE, &ask.id, None).await?;
    done()
}

/// `GET /badges` and `POST /badges/query`.
pub(crate) async fn list(State(app): State<App>, ask: Ask) -> Answer {
    let (limit, offset) = match ask.wants_cursor() {
        false => ask.page(PAGE)?,
        true => {
            let (limit, cursor) = ask.cursor_page(PAGE)?;
            (limit, if cursor.is_empty() { 0 } else { cursor.parse().map_err(|_| Fault::new(Code::CursorInvalid))? })
        }
    };
    let filter = [&ask.data["query"]["filter"], &ask.data["filter"]].into_iter().find(|it| it.is_object());
    let filter = EntityFilter::parse(filter.unwrap_or(&Value::Null));
    let all = app.identity.definition_list(&ask.site, &ask.caller, &BADGE, &filter).await?;
    let badges = page(&all, (limit, offset));
    let end = offset as usize + badges.len();
    let next = (end < all.len()).then(|| end.to_string());
    Ok(body::ok(&json!({
        "badges": many(badges), "metadata": offsets(badges.len(), offset, all.len()),
        "pagingMetadata": cursors(badges.len(), next.as_deref()),
    })))
}

/// `PATCH /badges/order` and `POST /badges/order`.
pub(crate) async fn order(State(app): State<App>, ask: Ask) -> Answer {
    let ids = ask.texts(if ask.data.get("badgeIds").is_some() { "badgeIds" } else { "ids" })?;
    answer("badges", many(&app.identity.definition_order(&ask.site, &ask.caller, &BADGE, ids).await?))
}

/// `POST /badges/{id}/move`.
pub(crate) async fn move_to(State(app): State<App>, ask: Ask) -> Answer {
    let to = match ask.text("position") {
        "" | "LAST" => Position::Last,
        "FIRST" => Position::First,
        "AFTER" => Position::After(ask.text("moveAfterBadgeId").to_owned()),
        _ => return Err(invalid("position", "FIRST, LAST or AFTER is expected").into()),
    };
    app.identity.definition_move(&ask.site, &ask.caller, &BADGE, &ask.id, to).await?;
    done()
}

/// `POST /badges/{id}/members`.
pub(crate) async fn assign(State(app): State<App>, ask: Ask) -> Answer {
    let ids = ask.texts("memberIds")?;
    app.identity.assign(&ask.site, &ask.caller, Assignable::Badge, &ask.id, &ids).await?;
    answer("memberIds", ids)
}

/// `DELETE /badges/{id}/members`.
pub(crate) async fn unassign(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.unassign(&ask.site, &ask.caller, Assignable::Badge, &ask.id, &ask.texts("memberIds")?).await?;
    done()
}

/// `GET /badges/{id}/members`.
pub(crate) async fn members(State(app): State<App>, ask: Ask) -> Answer {
    let page = ask.cursor_page(PAGE)?;
    let relations = app.identity.assignee_list(&ask.site, &ask.caller, Assignable::Badge, &ask.id, page).await?;
    let ids: Vec<&str> = relations.items.iter().map(|it| it.holder.as_str()).collect();
    let metadata = json!({ "count": ids.len(), "offset": 0, "tooManyToCount": false });
    Ok(body::ok(&json!({ "memberIds": ids, "metadata": metadata, "pagingMetadata": cursors_of(&relations) })))
}

/// `POST /badges/members`: the badges of each of these members.
pub(crate) async fn of_members(State(app): State<App>, ask: Ask) -> Answer {
    let ids = ask.texts("memberIds")?;
    let all = app.identity.assignments_of(&ask.site, &ask.caller, Assignable::Badge, ids, "memberIds").await?;
    let view = |(id, badges)| json!({ "memberId": id, "badgeIds": badges });
    answer("memberBadgeIds", all.into_iter().map(view).collect::<Value>())
}

/// `GET /badges/members/count`.
pub(crate) async fn counts(State(app): State<App>, ask: Ask) -> Answer {
    let counts = app.identity.assignment_counts(&ask.site, &ask.caller, Assignable::Badge).await?;
    let view = |(id, count)| json!({ "badgeId": id, "memberCount": count });
    answer("badgeMemberCounts", counts.into_iter().map(view).collect::<Value>())
}
