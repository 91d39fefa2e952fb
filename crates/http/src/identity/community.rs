//! What members have beside their account (identity.md 17): roles, badges, custom fields, followers,
//! blocks, reports, abouts and privacy.

use super::{
    ask::{Answer, Ask, answer, done, invalid, texts},
    member_wire::without_nulls,
    members::bulk,
};
use crate::{App, body};
use axum::extract::State;
use serde_json::{Map, Value, json};
use stoa_identity::community::{
    Kind, Noun, NounFilter, Place, Tie, TieFilter, TieKind, Ties, kind,
    noun::{self, revision_in},
    relation::Retag,
};
use stoa_kernel::{Code, Fault, Result, clock::iso_from_millis};

const PAGE: u32 = 100;

fn one(kind: &Kind, noun: &Noun) -> Answer {
    answer(kind.wire, noun.to_json())
}

fn many(nouns: &[Noun]) -> Value {
    nouns.iter().map(Noun::to_json).collect()
}

/// What a role is called on the wire: its key is its id.
fn role_view(noun: &Noun) -> Value {
    let title = noun.text("title").unwrap_or(&noun.id);
    let blockable = noun.doc.get("blockable").cloned().unwrap_or(json!(false));
    json!({
        "id": noun.id, "roleKey": noun.id, "title": title, "blockable": blockable,
        "revision": noun.revision.to_string(),
    })
}

// Role definitions.

/// `POST /roles/definitions`.
pub(crate) async fn role_create(State(app): State<App>, ask: Ask) -> Answer {
    let data = &ask.data;
    let role = json!({ "roleKey": data["roleKey"], "title": data["roleTitle"], "blockable": data["blockable"] });
    answer("role", role_view(&app.identity.definition_create(&ask.site, &ask.caller, &kind::ROLE, &role).await?))
}

/// `GET /roles/definitions`.
pub(crate) async fn role_list(State(app): State<App>, ask: Ask) -> Answer {
    let (roles, _) = app.identity.noun_list(&ask.site, &kind::ROLE, &NounFilter::default(), noun::PAGE, 0).await?;
    answer("roles", roles.iter().map(role_view).collect::<Value>())
}

/// `GET /roles/definitions/{key}`.
pub(crate) async fn role_get(State(app): State<App>, ask: Ask) -> Answer {
    answer("role", role_view(&app.identity.noun_get(&ask.site, &kind::ROLE, &ask.id).await?))
}

/// `PATCH /roles/definitions/{key}`.
pub(crate) async fn role_update(State(app): State<App>, ask: Ask) -> Answer {
    let mut change = json!({ "revision": ask.data["revision"] });
    for (name, sent) in [("title", "roleTitle"), ("blockable", "blockable")] {
        if let Some(value) = ask.data.get(sent) {
            change[name] = value.clone();
        }
    }
    let role = app.identity.definition_update(&ask.site, &ask.caller, &kind::ROLE, &ask.id, &change).await?;
    answer("role", role_view(&role))
}

/// `DELETE /roles/definitions/{key}`.
pub(crate) async fn role_delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.definition_delete(&ask.site, &ask.caller, &kind::ROLE, &ask.id, None).await?;
    done()
}

// Roles of members.

/// `POST /roles/members/{id}`.
pub(crate) async fn role_assign(State(app): State<App>, ask: Ask) -> Answer {
    let (key, who) = (ask.text("roleKey"), [ask.id.clone()]);
    app.identity.grant(&ask.site, &ask.caller, TieKind::Role, key, &who, Map::new()).await?;
    answer("roleKey", key)
}

/// `DELETE /roles/members/{id}`.
pub(crate) async fn role_unassign(State(app): State<App>, ask: Ask) -> Answer {
    let (key, who) = (ask.text("roleKey"), [ask.id.clone()]);
    app.identity.withdraw(&ask.site, &ask.caller, TieKind::Role, key, &who).await?;
    answer("roleKey", key)
}

/// `GET /roles/members/{id}`: one's own, or anybody's for those who run the site.
pub(crate) async fn role_of(State(app): State<App>, ask: Ask) -> Answer {
    let ties = app.identity.member_roles(&ask.site, &ask.caller, &ask.id).await?;
    let roles = roles(&app, &ask).await?;
    answer("roles", ties.iter().map(|it| role_named(&roles, it)).collect::<Value>())
}

/// `POST /roles/members/query`.
pub(crate) async fn role_query(State(app): State<App>, ask: Ask) -> Answer {
    staff(&ask)?;
    let filter = &ask.data["query"]["filter"];
    let places = [&ask.data["memberIds"], &filter["memberIds"], &filter["memberId"]["$in"], &filter["memberId"]];
    let ids =
        texts(places.into_iter().find(|it| it.is_array() || it.is_string()).unwrap_or(&Value::Null), "memberIds")?;
    if ids.len() > PAGE as usize {
        return Err(invalid("query.filter", "at most 100 members are expected").into());
    }
    let roles = roles(&app, &ask).await?;
    let ties = app.identity.tie_all(&ask.site, TieKind::Role, &TieFilter::of(ids.clone())).await?;
    let of = |id: &str| ties.iter().filter(|it| it.holder == id).map(|it| role_named(&roles, it)).collect::<Value>();
    let by_member: Map<String, Value> = ids.into_iter().map(|id| (id.clone(), json!({ "roles": of(&id) }))).collect();
    answer("rolesByMemberId", by_member)
}

async fn roles(app: &App, ask: &Ask) -> Result<Vec<Noun>> {
    Ok(app.identity.noun_list(&ask.site, &kind::ROLE, &NounFilter::default(), noun::PAGE, 0).await?.0)
}

fn role_named(roles: &[Noun], tie: &Tie) -> Value {
    let title = roles.iter().find(|it| it.id == tie.target).and_then(|it| it.text("title"));
    json!({ "roleKey": tie.target, "title": title.unwrap_or(&tie.target) })
}

fn staff(ask: &Ask) -> Result<()> {
    if ask.caller.is_editor() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

// Badges, in both of their versions.

/// `POST /badges`.
pub(crate) async fn badge_create(State(app): State<App>, ask: Ask) -> Answer {
    let made = app.identity.definition_create(&ask.site, &ask.caller, &kind::BADGE, &ask.data["badge"]).await?;
    one(&kind::BADGE, &made)
}

/// `GET /badges/{id}`.
pub(crate) async fn badge_get(State(app): State<App>, ask: Ask) -> Answer {
    one(&kind::BADGE, &app.identity.noun_get(&ask.site, &kind::BADGE, &ask.id).await?)
}

/// `PATCH /badges/{id}`.
pub(crate) async fn badge_update(State(app): State<App>, ask: Ask) -> Answer {
    let (identity, badge) = (&app.identity, &ask.data["badge"]);
    one(&kind::BADGE, &identity.definition_update(&ask.site, &ask.caller, &kind::BADGE, &ask.id, badge).await?)
}

/// `DELETE /badges/{id}`.
pub(crate) async fn badge_delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.definition_delete(&ask.site, &ask.caller, &kind::BADGE, &ask.id, None).await?;
    done()
}

/// `GET /badges` and `POST /badges/query`.
pub(crate) async fn badge_list(State(app): State<App>, ask: Ask) -> Answer {
    let by_cursor = ask.wants_cursor();
    let (limit, offset) = match by_cursor {
        false => ask.page(PAGE)?,
        true => {
            let (limit, cursor) = ask.cursor_page(PAGE)?;
            (limit, if cursor.is_empty() { 0 } else { cursor.parse().map_err(|_| Fault::new(Code::CursorInvalid))? })
        }
    };
    let filter = [&ask.data["query"]["filter"], &ask.data["filter"]].into_iter().find(|it| it.is_object());
    let filter = NounFilter::parse(filter.unwrap_or(&Value::Null));
    let (badges, total) = app.identity.noun_list(&ask.site, &kind::BADGE, &filter, limit, offset).await?;
    let end = i64::from(offset) + badges.len() as i64;
    let next = (end < total).then(|| end.to_string());
    let offset_metadata = json!({ "count": badges.len(), "offset": offset, "total": total, "tooManyToCount": false });
    let cursor_metadata = json!({ "count": badges.len(), "hasNext": next.is_some(), "cursors": { "next": next } });
    Ok(body::ok(&json!({ "badges": many(&badges), "metadata": offset_metadata, "pagingMetadata": cursor_metadata })))
}

/// `PATCH /badges/order` and `POST /badges/order`.
pub(crate) async fn badge_order(State(app): State<App>, ask: Ask) -> Answer {
    let ids = ask.texts(if ask.data.get("badgeIds").is_some() { "badgeIds" } else { "ids" })?;
    answer("badges", many(&app.identity.definition_order(&ask.site, &ask.caller, &kind::BADGE, ids).await?))
}

/// `POST /badges/{id}/move`.
pub(crate) async fn badge_move(State(app): State<App>, ask: Ask) -> Answer {
    let to = match ask.text("position") {
        "" | "LAST" => Place::Last,
        "FIRST" => Place::First,
        "AFTER" => Place::After(ask.text("moveAfterBadgeId").to_owned()),
        _ => return Err(invalid("position", "FIRST, LAST or AFTER is expected").into()),
    };
    app.identity.definition_move(&ask.site, &ask.caller, &kind::BADGE, &ask.id, to).await?;
    done()
}

/// `POST /badges/{id}/members`.
pub(crate) async fn badge_assign(State(app): State<App>, ask: Ask) -> Answer {
    let ids = ask.texts("memberIds")?;
    app.identity.grant(&ask.site, &ask.caller, TieKind::Badge, &ask.id, &ids, Map::new()).await?;
    answer("memberIds", ids)
}

/// `DELETE /badges/{id}/members`.
pub(crate) async fn badge_unassign(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.withdraw(&ask.site, &ask.caller, TieKind::Badge, &ask.id, &ask.texts("memberIds")?).await?;
    done()
}

/// `GET /badges/{id}/members`.
pub(crate) async fn badge_members(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.audience(&ask.site, &ask.caller).await?;
    app.identity.noun_get(&ask.site, &kind::BADGE, &ask.id).await?;
    let (limit, cursor) = ask.cursor_page(PAGE)?;
    let ties =
        app.identity.tie_list(&ask.site, TieKind::Badge, &TieFilter::to(vec![ask.id.clone()]), limit, cursor).await?;
    let ids: Vec<&str> = ties.ties.iter().map(|it| it.holder.as_str()).collect();
    let metadata = json!({ "count": ids.len(), "offset": 0, "tooManyToCount": false });
    Ok(body::ok(&json!({ "memberIds": ids, "metadata": metadata, "pagingMetadata": cursors(&ties) })))
}

/// `POST /badges/members`: the badges of each of these members.
pub(crate) async fn badge_of_members(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.audience(&ask.site, &ask.caller).await?;
    let ids = ask.texts("memberIds")?;
    if ids.len() > PAGE as usize {
        return Err(invalid("memberIds", "at most 100 members are expected").into());
    }
    let ties = app.identity.tie_all(&ask.site, TieKind::Badge, &TieFilter::of(ids.clone())).await?;
    let of = |id: &str| ties.iter().filter(|it| it.holder == id).map(|it| it.target.clone()).collect::<Vec<_>>();
    let all: Vec<Value> = ids.iter().map(|it| json!({ "memberId": it, "badgeIds": of(it) })).collect();
    answer("memberBadgeIds", all)
}

/// `GET /badges/members/count`.
pub(crate) async fn badge_counts(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.audience(&ask.site, &ask.caller).await?;
    let (badges, _) = app.identity.noun_list(&ask.site, &kind::BADGE, &NounFilter::default(), noun::PAGE, 0).await?;
    let counts = app.identity.tie_counts(&ask.site, TieKind::Badge, &badges).await?;
    let counts: Vec<Value> = counts.into_iter().map(|(id, n)| json!({ "badgeId": id, "memberCount": n })).collect();
    answer("badgeMemberCounts", counts)
}

// Assignments of badges.

fn assignment(tie: &Tie) -> Value {
    let mut view = json!({
        "id": tie.id, "badgeId": tie.target, "memberId": tie.holder,
        "createdDate": iso_from_millis(tie.created), "updatedDate": iso_from_millis(tie.created),
    });
    for (name, value) in &tie.doc {
        view[name.as_str()] = value.clone();
    }
    view
}

fn tags_of(object: &Value) -> Map<String, Value> {
    let tags = object.get("tags").filter(|it| it.is_object() && it.to_string().len() <= 8_192);
    tags.map(|it| ("tags".to_owned(), it.clone())).into_iter().collect()
}

/// `POST /badges/v4/assignments`.
pub(crate) async fn assignment_create(State(app): State<App>, ask: Ask) -> Answer {
    let tie = assign(&app, &ask, &ask.data["badgeAssignment"]).await?;
    answer("badgeAssignment", assignment(&tie))
}

async fn assign(app: &App, ask: &Ask, object: &Value) -> Result<Tie> {
    let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
    let (badge, member) = (text("badgeId"), text("memberId"));
    let made = app.identity.grant(&ask.site, &ask.caller, TieKind::Badge, &badge, &[member], tags_of(object)).await?;
    made.into_iter().next().ok_or_else(|| Fault::new(Code::AlreadyExists))
}

/// `POST /badges/v4/bulk/assignments/create`.
pub(crate) async fn assignment_bulk_create(State(app): State<App>, ask: Ask) -> Answer {
    let sent = ask.data["badgeAssignments"].as_array().filter(|it| !it.is_empty() && it.len() <= 100);
    let sent = sent.ok_or_else(|| invalid("badgeAssignments", "1 to 100 are expected"))?;
    let mut results = Vec::with_capacity(sent.len());
    for object in sent {
        results.push(match assign(&app, &ask, object).await {
            Ok(tie) => (tie.id, None),
            Err(fault) if fault.code().status() >= 500 || fault.code() == Code::Forbidden => return Err(fault.into()),
            Err(fault) => (String::new(), Some(fault)),
        });
    }
    Ok(bulk("itemMetadata", results))
}

/// `POST /badges/v4/assignments/query`.
pub(crate) async fn assignment_query(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.audience(&ask.site, &ask.caller).await?;
    let filter = &ask.data["query"]["filter"];
    let named = |name: &str| {
        let wanted = &filter[name];
        texts(wanted.get("$in").or(wanted.get("$eq")).unwrap_or(wanted), name)
    };
    let filter = assignments(named("memberId")?, named("badgeId")?);
    let (limit, cursor) = ask.cursor_page(PAGE)?;
    let ties = app.identity.tie_list(&ask.site, TieKind::Badge, &filter, limit, cursor).await?;
    let found: Vec<Value> = ties.ties.iter().map(assignment).collect();
    Ok(body::ok(&json!({ "badgeAssignments": found, "pagingMetadata": cursors(&ties) })))
}

/// A list of nobody or nothing stands for everybody or everything.
fn assignments(members: Vec<String>, badges: Vec<String>) -> TieFilter {
    let list = |it: Vec<String>| Some(it).filter(|it| !it.is_empty());
    TieFilter { holders: list(members), targets: list(badges) }
}

/// `DELETE /badges/v4/assignments/{id}`.
pub(crate) async fn assignment_delete(State(app): State<App>, ask: Ask) -> Answer {
    let gone = app.identity.tie_delete(&ask.site, &ask.caller, TieKind::Badge, std::slice::from_ref(&ask.id)).await?;
    if gone == [true] { done() } else { Err(Fault::new(Code::NotFound).into()) }
}

/// `POST /badges/v4/bulk/assignments/delete`.
pub(crate) async fn assignment_bulk_delete(State(app): State<App>, ask: Ask) -> Answer {
    let ids = ask.texts("badgeAssignmentIds")?;
    let gone = app.identity.tie_delete(&ask.site, &ask.caller, TieKind::Badge, &ids).await?;
    Ok(found_or_not(ids, gone))
}

/// `POST /badges/v4/bulk/assignments/bulk-update-tags`.
pub(crate) async fn assignment_tags(State(app): State<App>, ask: Ask) -> Answer {
    let ids = ask.texts("ids")?;
    if ids.is_empty() || ids.len() > 100 {
        return Err(invalid("ids", "1 to 100 ids are expected").into());
    }
    let found = app.identity.retag(&ask.site, &ask.caller, &ids, &Retag::parse(&ask.data)).await?;
    Ok(found_or_not(ids, found))
}

/// `POST /badges/v4/bulk/assignments/update-tags-by-filter`: done when the answer comes.
pub(crate) async fn assignment_tags_by_filter(State(app): State<App>, ask: Ask) -> Answer {
    let filter = &ask.data["filter"];
    let named = |name: &str| texts(filter[name].get("$in").unwrap_or(&filter[name]), name);
    let filter = assignments(named("memberId")?, named("badgeId")?);
    app.identity.retag_all(&ask.site, &ask.caller, &filter, &Retag::parse(&ask.data)).await?;
    answer("jobId", app.world.uuid())
}

fn found_or_not(ids: Vec<String>, found: Vec<bool>) -> axum::response::Response {
    let result = |(id, found): (String, bool)| (id, (!found).then(|| Fault::new(Code::NotFound)));
    bulk("itemMetadata", ids.into_iter().zip(found).map(result).collect())
}

fn cursors(ties: &Ties) -> Value {
    json!({ "count": ties.ties.len(), "hasNext": ties.next.is_some(), "cursors": { "next": ties.next } })
}

// Custom fields.

/// `POST /custom-fields`.
pub(crate) async fn field_create(State(app): State<App>, ask: Ask) -> Answer {
    one(&kind::FIELD, &app.identity.definition_create(&ask.site, &ask.caller, &kind::FIELD, &ask.data["field"]).await?)
}

/// `GET /custom-fields/{id}`.
pub(crate) async fn field_get(State(app): State<App>, ask: Ask) -> Answer {
    one(&kind::FIELD, &app.identity.noun_get(&ask.site, &kind::FIELD, &ask.id).await?)
}

/// `GET /custom-fields`.
pub(crate) async fn field_list(State(app): State<App>, ask: Ask) -> Answer {
    let (limit, offset) = ask.page(PAGE)?;
    let (fields, total) =
        app.identity.noun_list(&ask.site, &kind::FIELD, &NounFilter::default(), limit, offset).await?;
    let metadata = json!({ "count": fields.len(), "offset": offset, "total": total, "tooManyToCount": false });
    Ok(body::ok(&json!({ "fields": many(&fields), "metadata": metadata })))
}

/// `PATCH /custom-fields/{id}`.
pub(crate) async fn field_update(State(app): State<App>, ask: Ask) -> Answer {
    let (identity, field) = (&app.identity, &ask.data["field"]);
    one(&kind::FIELD, &identity.definition_update(&ask.site, &ask.caller, &kind::FIELD, &ask.id, field).await?)
}

/// `DELETE /custom-fields/{id}`.
pub(crate) async fn field_delete(State(app): State<App>, ask: Ask) -> Answer {
    let revision = revision_in(&ask.data)?;
    app.identity.definition_delete(&ask.site, &ask.caller, &kind::FIELD, &ask.id, revision).await?;
    done()
}

/// `POST /custom-fields/{id}/hide`.
pub(crate) async fn field_hide(State(app): State<App>, ask: Ask) -> Answer {
    let change = json!({ "hidden": true, "revision": ask.data["revision"] });
    app.identity.definition_update(&ask.site, &ask.caller, &kind::FIELD, &ask.id, &change).await?;
    done()
}

/// `POST /custom-fields/order`.
pub(crate) async fn field_order(State(app): State<App>, ask: Ask) -> Answer {
    let ids = ask.texts("fieldIds")?;
    let fields = app.identity.definition_order(&ask.site, &ask.caller, &kind::FIELD, ids).await?;
    Ok(body::ok(&without_nulls(json!({ "fields": many(&fields), "section": ask.data.get("section") }))))
}

/// `GET /custom-field-suggestions` and `POST …/query`: what sites usually ask for and this one doesn't yet.
pub(crate) async fn field_suggestions(State(app): State<App>, ask: Ask) -> Answer {
    const USUAL: [(&str, &str, &str); 12] = [
        ("Phone", "TEXT", "UNKNOWN"),
        ("Company", "TEXT", "UNKNOWN"),
        ("Position", "TEXT", "UNKNOWN"),
        ("Birthdate", "DATE", "UNKNOWN"),
        ("Website", "URL", "UNKNOWN"),
        ("Facebook", "SOCIAL", "FACEBOOK"),
        ("Instagram", "SOCIAL", "INSTAGRAM"),
        ("LinkedIn", "SOCIAL", "LINKEDIN"),
        ("Pinterest", "SOCIAL", "PINTEREST"),
        ("SoundCloud", "SOCIAL", "SOUNDCLOUD"),
        ("TikTok", "SOCIAL", "TIKTOK"),
        ("YouTube", "SOCIAL", "YOUTUBE"),
    ];
    staff(&ask)?;
    let (fields, _) = app.identity.noun_list(&ask.site, &kind::FIELD, &NounFilter::default(), noun::PAGE, 0).await?;
    let is_there = |name: &str| fields.iter().any(|it| it.text("name").is_some_and(|it| it.eq_ignore_ascii_case(name)));
    let filter = &ask.data["query"]["filter"];
    let fits = |name: &str, value: &str| {
        let wanted = &filter[name];
        wanted.is_null() || wanted.get("$eq").unwrap_or(wanted) == value
    };
    let (limit, offset) = ask.page(PAGE)?;
    let all = USUAL.iter().filter(|it| !is_there(it.0) && fits("name", it.0) && fits("fieldType", it.1));
    let all: Vec<Value> = all
        .map(|(name, kind, social)| {
            json!({
                "name": name, "fieldType": kind, "socialType": social, "fieldOrigin": "SYSTEM",
                "defaultPrivacy": "PRIVATE",
            })
        })
        .collect();
    let page: Vec<&Value> = all.iter().skip(offset as usize).take(limit as usize).collect();
    let metadata = json!({ "count": page.len(), "offset": offset, "total": all.len(), "tooManyToCount": false });
    Ok(body::ok(&json!({ "suggestions": page, "metadata": metadata })))
}

// To whom custom fields apply.

fn application_view(noun: &Noun) -> Value {
    let mut view = noun.to_json();
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
pub(crate) async fn application_create(State(app): State<App>, ask: Ask) -> Answer {
    let (identity, sent) = (&app.identity, &ask.data["application"]);
    let made = identity.definition_create(&ask.site, &ask.caller, &kind::APPLICATION, sent).await?;
    answer("application", application_view(&made))
}

/// `GET /custom-fields-applications/{id}`: for those who run the site, as it names members.
pub(crate) async fn application_get(State(app): State<App>, ask: Ask) -> Answer {
    staff(&ask)?;
    answer("application", application_view(&app.identity.noun_get(&ask.site, &kind::APPLICATION, &ask.id).await?))
}

/// `PATCH /custom-fields-applications/{id}`.
pub(crate) async fn application_update(State(app): State<App>, ask: Ask) -> Answer {
    let (identity, sent) = (&app.identity, &ask.data["application"]);
    let changed = identity.definition_update(&ask.site, &ask.caller, &kind::APPLICATION, &ask.id, sent).await?;
    answer("application", application_view(&changed))
}

/// `DELETE /custom-fields-applications/{id}`.
pub(crate) async fn application_delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.definition_delete(&ask.site, &ask.caller, &kind::APPLICATION, &ask.id, None).await?;
    done()
}

/// `POST /custom-fields-applications/applications`: as the one before.
pub(crate) async fn application_list(State(app): State<App>, ask: Ask) -> Answer {
    staff(&ask)?;
    let filter = NounFilter::ids(ask.texts("customFieldIds")?);
    let (found, _) = app.identity.noun_list(&ask.site, &kind::APPLICATION, &filter, noun::PAGE, 0).await?;
    answer("applications", found.iter().map(application_view).collect::<Value>())
}

/// `POST /custom-fields-applications/members`.
pub(crate) async fn application_of_members(State(app): State<App>, ask: Ask) -> Answer {
    let ids = named(&ask, "memberIds")?;
    let ties = app.identity.tie_all(&ask.site, TieKind::Role, &TieFilter::of(ids.clone())).await?;
    let holds = |id: &str| {
        let roles = ties.iter().filter(|it| it.holder == id).map(|it| ("ROLE", it.target.clone()));
        std::iter::once(("MEMBER", id.to_owned())).chain(roles).collect::<Vec<_>>()
    };
    applied(&app, &ask, "memberId", ids, holds).await
}

/// `POST /custom-fields-applications/roles`.
pub(crate) async fn application_of_roles(State(app): State<App>, ask: Ask) -> Answer {
    let ids = named(&ask, "roleIds")?;
    applied(&app, &ask, "roleId", ids, |id| vec![("ROLE", id.to_owned())]).await
}

/// The ids of a request of those who run the site.
fn named(ask: &Ask, name: &str) -> Result<Vec<String>> {
    staff(ask)?;
    let ids = ask.texts(name)?;
    if ids.len() > PAGE as usize {
        return Err(invalid(name, "at most 100 ids are expected"));
    }
    Ok(ids)
}

/// For each of the ids, which fields apply to somebody who holds what `holds` says.
async fn applied(
    app: &App,
    ask: &Ask,
    name: &str,
    ids: Vec<String>,
    holds: impl Fn(&str) -> Vec<(&'static str, String)>,
) -> Answer {
    let (fields, _) = app.identity.noun_list(&ask.site, &kind::FIELD, &NounFilter::default(), noun::PAGE, 0).await?;
    let (rules, _) =
        app.identity.noun_list(&ask.site, &kind::APPLICATION, &NounFilter::default(), noun::PAGE, 0).await?;
    let results = ids.iter().map(|id| {
        let held = holds(id);
        let names = |rule: &Noun, list: &str, kind: &str| {
            let items = rule.doc.get(list).and_then(|it| it["items"].as_array()).into_iter().flatten();
            items.into_iter().any(|it| held.iter().any(|(what, id)| it[kind] == *what && it["entityId"] == **id))
        };
        let applies = |field: &Noun| match rules.iter().find(|it| it.id == field.id) {
            Some(rule) => names(rule, "applications", "applicationType") && !names(rule, "exclusions", "exclusionType"),
            None => field.text("appliesTo") != Some("SELECTED_MEMBERS"),
        };
        let all = fields
            .iter()
            .map(|it| json!({ "customFieldKey": it.text("key"), "applies": applies(it), "customField": it.to_json() }));
        json!({ name: id, "applications": all.collect::<Vec<_>>() })
    });
    answer("results", results.collect::<Value>())
}

// Privacy.

/// `GET /default-privacy-status`.
pub(crate) async fn default_privacy(State(app): State<App>, ask: Ask) -> Answer {
    answer("defaultPrivacy", app.identity.privacy_get(&ask.site).await?)
}

/// `PATCH /default-privacy-status`.
pub(crate) async fn default_privacy_set(State(app): State<App>, ask: Ask) -> Answer {
    let sent = &ask.data["defaultPrivacy"];
    answer("defaultPrivacy", app.identity.privacy_set(&ask.site, &ask.caller, sent).await?)
}

/// `GET /privacy-settings`.
pub(crate) async fn privacy(State(app): State<App>, ask: Ask) -> Answer {
    answer("memberPrivacySettings", app.identity.privacy_get(&ask.site).await?)
}

/// `POST /privacy-settings`.
pub(crate) async fn privacy_set(State(app): State<App>, ask: Ask) -> Answer {
    let sent = &ask.data["memberPrivacySettings"];
    answer("memberPrivacySettings", app.identity.privacy_set(&ask.site, &ask.caller, sent).await?)
}

// Followers.

/// `POST /followers/{id}`.
pub(crate) async fn follow(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.member_tie(&ask.site, &ask.caller, TieKind::Follow, &ask.id, Map::new()).await?;
    done()
}

/// `DELETE /followers/{id}`.
pub(crate) async fn unfollow(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.member_untie(&ask.site, &ask.caller, TieKind::Follow, &ask.id).await?;
    done()
}

/// `GET /followers/my` and `GET /followers/{id}`.
pub(crate) async fn followers(State(app): State<App>, ask: Ask) -> Answer {
    follow_list(&app, &ask, TieFilter::to, |it| &it.holder).await
}

/// `GET /followers/my/following` and `GET /followers/{id}/following`.
pub(crate) async fn following(State(app): State<App>, ask: Ask) -> Answer {
    follow_list(&app, &ask, TieFilter::of, |it| &it.target).await
}

async fn follow_list(app: &App, ask: &Ask, side: fn(Vec<String>) -> TieFilter, other: fn(&Tie) -> &String) -> Answer {
    let whose = Some(ask.id.as_str()).filter(|it| !it.is_empty());
    let page = ask.cursor_page(PAGE)?;
    let ties = app.identity.member_ties(&ask.site, &ask.caller, TieKind::Follow, whose, side, page).await?;
    let ids: Vec<&String> = ties.ties.iter().map(other).collect();
    Ok(body::ok(&json!({ "memberIds": ids, "pagingMetadata": cursors(&ties) })))
}

/// `POST /followers/my/connections` and `POST /followers/{id}/connections`.
pub(crate) async fn connections(State(app): State<App>, ask: Ask) -> Answer {
    let whose = Some(ask.id.as_str()).filter(|it| !it.is_empty());
    let others = ask.texts("connectedMemberIds")?;
    if others.len() > PAGE as usize {
        return Err(invalid("connectedMemberIds", "at most 100 ids are expected").into());
    }
    let (following, followers) = app.identity.member_connections(&ask.site, &ask.caller, whose, &others).await?;
    let all = others.iter().map(|id| {
        json!({
            "connectedMemberId": id, "followedByMember": following.contains(id), "followingMember": followers.contains(id),
        })
    });
    answer("connectedMembers", all.collect::<Value>())
}

// Blocks between members.

/// `POST /member-to-member-blocks/members/my`.
pub(crate) async fn block(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.member_tie(&ask.site, &ask.caller, TieKind::Block, ask.text("memberId"), Map::new()).await?;
    done()
}

/// `DELETE /member-to-member-blocks/members/my/{id}`.
pub(crate) async fn unblock(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.member_untie(&ask.site, &ask.caller, TieKind::Block, &ask.id).await?;
    done()
}

/// `GET /member-to-member-blocks/members/my`.
pub(crate) async fn blocking(State(app): State<App>, ask: Ask) -> Answer {
    let page = ask.cursor_page(PAGE)?;
    let ties = app.identity.member_ties(&ask.site, &ask.caller, TieKind::Block, None, TieFilter::of, page).await?;
    let ids: Vec<&String> = ties.ties.iter().map(|it| &it.target).collect();
    Ok(body::ok(&json!({ "blockedMemberIds": ids, "pagingMetadata": cursors(&ties) })))
}

/// `GET /member-to-member-blocks/members/{id}`: whom a member blocks; who blocks them only those who run
/// the site are told.
pub(crate) async fn blocks(State(app): State<App>, ask: Ask) -> Answer {
    let page = ask.cursor_page(PAGE)?;
    let ties = app.identity.member_blocks(&ask.site, &ask.caller, &ask.id, page).await?;
    let view = |it: &Tie| match it.holder == ask.id {
        true => json!({ "memberId": it.target, "blockDirection": "BLOCKING" }),
        false => json!({ "memberId": it.holder, "blockDirection": "BLOCKED" }),
    };
    let all: Vec<Value> = ties.ties.iter().map(view).collect();
    Ok(body::ok(&json!({ "memberBlocks": all, "pagingMetadata": cursors(&ties) })))
}

// Reports on members.

fn report_view(tie: &Tie) -> Value {
    json!({
        "id": tie.id, "reportedMemberId": tie.target, "reportingMemberId": tie.holder,
        "reason": tie.doc.get("reason").cloned().unwrap_or_else(|| json!({ "category": "UNKNOWN" })),
        "createdDate": iso_from_millis(tie.created),
    })
}

/// `POST /member-reports`.
pub(crate) async fn report(State(app): State<App>, ask: Ask) -> Answer {
    let sent = &ask.data["memberReport"];
    let reason = &sent["reason"];
    let category = reason["category"].as_str().unwrap_or("UNKNOWN");
    if !["UNKNOWN", "SPAM", "IMPERSONATION", "HARASSMENT", "OTHER"].contains(&category) {
        return Err(invalid("memberReport.reason.category", "there is no such category").into());
    }
    let text = reason["description"].as_str().unwrap_or_default();
    if text.chars().count() > 1_000 || text.contains('\0') {
        return Err(invalid("memberReport.reason.description", "at most 1000 characters are expected").into());
    }
    let mut doc = Map::new();
    doc.insert("reason".to_owned(), json!({ "category": category, "description": text }));
    let other = sent["reportedMemberId"].as_str().unwrap_or_default();
    let tie = app.identity.member_tie(&ask.site, &ask.caller, TieKind::Report, other, doc).await?;
    answer("memberReport", tie.as_ref().map(report_view).unwrap_or_default())
}

/// `POST /member-reports/query`.
pub(crate) async fn report_query(State(app): State<App>, ask: Ask) -> Answer {
    staff(&ask)?;
    let wanted = &ask.data["query"]["filter"]["reportedMemberId"];
    let ids = texts(wanted.get("$in").or(wanted.get("$eq")).unwrap_or(wanted), "reportedMemberId")?;
    let filter = if ids.is_empty() { TieFilter::default() } else { TieFilter::to(ids) };
    let (limit, cursor) = ask.cursor_page(PAGE)?;
    let ties = app.identity.tie_list(&ask.site, TieKind::Report, &filter, limit, cursor).await?;
    let found: Vec<Value> = ties.ties.iter().map(report_view).collect();
    Ok(body::ok(&json!({ "memberReports": found, "pagingMetadata": cursors(&ties) })))
}

/// `GET /member-reports/members` and `POST /member-reports/members/query`.
pub(crate) async fn reported(State(app): State<App>, ask: Ask) -> Answer {
    let (limit, cursor) = ask.cursor_page(PAGE)?;
    if cursor.contains('\0') {
        return Err(Fault::new(Code::CursorInvalid).into());
    }
    let found = app.identity.reported_members(&ask.site, &ask.caller, cursor, limit).await?;
    let next = found.last().filter(|_| found.len() == limit as usize).map(|it| it.0.clone());
    let view = |(id, count, last): &(String, i64, i64)| {
        json!({
            "reportedMemberId": id, "reportCount": count.to_string(), "reviewed": false,
            "lastReportDate": iso_from_millis(*last),
        })
    };
    let metadata = json!({ "count": found.len(), "hasNext": next.is_some(), "cursors": { "next": next } });
    let found: Vec<Value> = found.iter().map(view).collect();
    Ok(body::ok(&json!({ "reportedMembers": found, "pagingMetadata": metadata })))
}

/// `DELETE /member-reports/members/{id}`.
pub(crate) async fn report_delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.reports_delete(&ask.site, &ask.caller, &ask.id).await?;
    done()
}

// What members tell of themselves.

/// `POST /abouts`.
pub(crate) async fn about_create(State(app): State<App>, ask: Ask) -> Answer {
    one(&kind::ABOUT, &app.identity.about_write(&ask.site, &ask.caller, None, &ask.data["memberAbout"]).await?)
}

/// `PATCH /abouts/{id}`.
pub(crate) async fn about_update(State(app): State<App>, ask: Ask) -> Answer {
    let (identity, sent) = (&app.identity, &ask.data["memberAbout"]);
    one(&kind::ABOUT, &identity.about_write(&ask.site, &ask.caller, Some(&ask.id), sent).await?)
}

/// `DELETE /abouts/{id}`.
pub(crate) async fn about_delete(State(app): State<App>, ask: Ask) -> Answer {
    app.identity.about_delete(&ask.site, &ask.caller, &ask.id).await?;
    done()
}

/// `GET /abouts/my` and `GET /abouts/{id}`.
pub(crate) async fn about_get(State(app): State<App>, ask: Ask) -> Answer {
    let id = if ask.id.is_empty() { super::members::own(&ask)?.as_str().to_owned() } else { ask.id.clone() };
    one(&kind::ABOUT, &app.identity.about_get(&ask.site, &ask.caller, &id).await?)
}

/// `POST /abouts/query`: of the members that `memberId` names.
pub(crate) async fn about_query(State(app): State<App>, ask: Ask) -> Answer {
    let wanted = &ask.data["query"]["filter"]["memberId"];
    let mut ids = texts(wanted.get("$in").or(wanted.get("$eq")).unwrap_or(wanted), "memberId")?;
    if ids.is_empty() {
        ids.extend(super::members::own(&ask).ok().map(|it| it.as_str().to_owned()));
    }
    ids.truncate(PAGE as usize);
    let found = many(&app.identity.about_list(&ask.site, &ask.caller, &ids).await?);
    let count = found.as_array().map_or(0, Vec::len);
    let metadata = json!({ "count": count, "hasNext": false, "cursors": {} });
    let offsets = json!({ "count": count, "offset": 0, "total": count, "tooManyToCount": false });
    Ok(body::ok(&json!({ "memberAbouts": found, "pagingMetadata": metadata, "metadata": offsets })))
}
