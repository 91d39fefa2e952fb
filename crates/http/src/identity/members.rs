//! The members of a site (docs/protocol/identity.md §17): read, made, changed, and what those who run it decide.

use super::{
    api_call::{Answer, ApiCall, answer, done, invalid},
    cursor::FilteredPage,
    filter::{self, unsupported},
    member_wire::{self, Fieldset, Members, view},
};
use crate::{App, body, extract};
use axum::{extract::State, response::Response};
use serde_json::{Value, json};
use stoa_identity::{
    audit::AuditQuery,
    member::{Audience, Member, MemberFilter, MemberQuery, Move, Paging, slug_fits},
};
use stoa_kernel::{Caller, Code, Fault, Faults, MemberId, Result};

/// Members on a page, at most.
const LIMIT: u32 = 100;

/// `GET /my`: the calling member; anonymous callers get NOT_FOUND.
pub(crate) async fn my(State(app): State<App>, call: ApiCall) -> Answer {
    let Caller::Member { id, .. } = &call.caller else {
        return Err(Fault::new(Code::NotFound).into());
    };
    let member = app.identity.member_get(&call.site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
    let mut answer = json!({ "member": view(&member, Fieldset::of(&call.data["fieldsets"])?) });
    extract::mark(&mut answer, call.impersonator.as_ref());
    Ok(body::ok(&answer))
}

/// `GET /{id}`: all of it for the member, editors and apps; for others the public part of a public profile.
pub(crate) async fn get(State(app): State<App>, call: ApiCall) -> Answer {
    let (member, seen) = app.identity.member_see(&call.site, &call.caller, &id(&call)).await?;
    answer("member", view(&member, fieldset(&call, seen)?))
}

/// As much of members as is asked for, and as the caller may see.
fn fieldset(call: &ApiCall, audience: Audience) -> Result<Fieldset> {
    let most = if audience == Audience::Staff { Fieldset::Full } else { Fieldset::Public };
    Fieldset::of(&call.data["fieldsets"]).map(|it| it.min(most))
}

/// `GET /members`: a page of members.
pub(crate) async fn list(State(app): State<App>, call: ApiCall) -> Answer {
    page(&app, &call, Ok(MemberFilter::default())).await
}

/// `POST /query`: a page of the members that a filter finds.
pub(crate) async fn query(State(app): State<App>, call: ApiCall) -> Answer {
    let is_staff = app.identity.audience(&call.site, &call.caller).await? == Audience::Staff;
    let filter = filter::read(&Members::seen(is_staff), call.filter(), "query.filter");
    let search = member_wire::search(&call.data["search"], is_staff);
    let filter = Faults::both(filter, search).map(|(filter, search)| MemberFilter::All(vec![filter, search]));
    page(&app, &call, filter).await
}

/// A page, unless something is wrong with the filter or with what else is asked: then all of it is told.
async fn page(app: &App, call: &ApiCall, filter: Result<MemberFilter>) -> Answer {
    let audience = app.identity.audience(&call.site, &call.caller).await?;
    let query = &call.data["query"];
    let orders = [&query["sort"], &query["sorting"], &call.data["sorting"]];
    let order = orders.into_iter().find(|it| it.is_array()).unwrap_or(&Value::Null);
    let sort = member_wire::sort(order, audience == Audience::Staff);
    let paging = match call.wants_cursor() {
        true => call.cursor_page(LIMIT).map(|(limit, cursor)| (limit, Paging::After(cursor.to_owned()))),
        false => call.page(LIMIT).map(|(limit, offset)| (limit, Paging::Offset(offset))),
    };
    let asked = Faults::both(filter, Faults::both(sort, Faults::both(paging, fieldset(call, audience))))?;
    let (filter, ((sort, is_ascending), ((limit, paging), fieldset))) = asked;
    let query = MemberQuery { filter, sort, is_ascending, limit, paging, viewer: own(call).ok() };
    let page = app.identity.member_query(&call.site, audience, &query).await?;
    let members: Vec<Value> = page.members.iter().map(|it| view(it, fieldset)).collect();
    let mut metadata = json!({ "count": members.len() });
    match query.paging {
        Paging::After(_) => {
            metadata["hasNext"] = json!(page.next.is_some());
            metadata["cursors"] = json!({ "next": page.next });
        }
        Paging::Offset(offset) => {
            metadata["offset"] = json!(offset);
            metadata["total"] = json!(page.total);
            metadata["tooManyToCount"] = json!(page.is_more_than_counted);
        }
    }
    Ok(body::ok(&json!({ "members": members, "metadata": metadata })))
}

/// `POST /members`: an account that an app or owner makes.
pub(crate) async fn create(State(app): State<App>, call: ApiCall) -> Answer {
    let member = &call.data["member"];
    let email = member["loginEmail"].as_str().unwrap_or_default();
    let member = app.identity.member_create(&call.site, &call.caller, email, member_wire::change(member)).await?;
    whole(&member)
}

/// `PATCH /{id}`.
pub(crate) async fn update(State(app): State<App>, call: ApiCall) -> Answer {
    let change = member_wire::change(&call.data["member"]);
    whole(&app.identity.member_change(&call.site, &call.caller, &id(&call), change).await?)
}

/// `POST /{id}/slug`.
pub(crate) async fn slug(State(app): State<App>, call: ApiCall) -> Answer {
    rename(&app, &call, &id(&call)).await
}

/// `POST /my/slug`.
pub(crate) async fn my_slug(State(app): State<App>, call: ApiCall) -> Answer {
    rename(&app, &call, &own(&call)?).await
}

async fn rename(app: &App, call: &ApiCall, id: &MemberId) -> Answer {
    if !slug_fits(call.text("slug")) {
        return Err(invalid("slug", "letters, digits, dots, hyphens and underscores are expected").into());
    }
    let change = member_wire::change(&json!({ "profile": { "slug": call.text("slug") } }));
    whole(&app.identity.member_change(&call.site, &call.caller, id, change).await?)
}

/// `POST /join-community`.
pub(crate) async fn join(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_show(&call.site, &call.caller, true).await?)
}

/// `POST /leave-community`.
pub(crate) async fn leave(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_show(&call.site, &call.caller, false).await?)
}

/// `POST /{id}/mute`.
pub(crate) async fn mute(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_mute(&call.site, &call.caller, &id(&call), true).await?)
}

/// `POST /{id}/unmute`.
pub(crate) async fn unmute(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_mute(&call.site, &call.caller, &id(&call), false).await?)
}

/// `POST /{id}/approve`.
pub(crate) async fn approve(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_move(&call.site, &call.caller, &id(&call), Move::Approve).await?)
}

/// `POST /{id}/block`.
pub(crate) async fn block(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_move(&call.site, &call.caller, &id(&call), Move::Block).await?)
}

/// `POST /{id}/disconnect`.
pub(crate) async fn disconnect(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_move(&call.site, &call.caller, &id(&call), Move::Disconnect).await?)
}

/// `DELETE /{id}`.
pub(crate) async fn delete(State(app): State<App>, call: ApiCall) -> Answer {
    app.identity.member_delete(&call.site, &call.caller, &id(&call)).await?;
    done()
}

/// `DELETE /my`.
pub(crate) async fn delete_my(State(app): State<App>, call: ApiCall) -> Answer {
    keeps_content(&call)?;
    app.identity.member_delete(&call.site, &call.caller, &own(&call)?).await?;
    done()
}

/// `POST /bulk/delete`: each with an answer of its own. Who may not delete one of them deletes none.
pub(crate) async fn bulk_delete(State(app): State<App>, call: ApiCall) -> Answer {
    let ids = call.strings("memberIds")?;
    if ids.is_empty() || ids.len() > LIMIT as usize {
        return Err(invalid("memberIds", "1 to 100 ids are expected").into());
    }
    let own = own(&call).ok();
    if !call.caller.is_privileged() && ids.iter().any(|it| own.as_ref().is_none_or(|own| own.as_str() != it)) {
        return Err(Fault::new(Code::Forbidden).into());
    }
    let mut results = Vec::with_capacity(ids.len());
    for id in &ids {
        results.push(match app.identity.member_delete(&call.site, &call.caller, &MemberId::from(id.as_str())).await {
            Ok(()) => (id.clone(), None),
            Err(fault) if fault.code().status() >= 500 || fault.code() == Code::Forbidden => return Err(fault.into()),
            Err(fault) => (id.clone(), Some(fault)),
        });
    }
    Ok(bulk("itemMetadata", results))
}

/// The answer of a bulk call.
pub(crate) fn bulk(name: &str, results: Vec<(String, Option<Fault>)>) -> Response {
    let failures = results.iter().filter(|it| it.1.is_some()).count();
    let successes = results.len() - failures;
    let results = results.into_iter().enumerate().map(|(n, (id, fault))| {
        let mut item = json!({ "id": id, "originalIndex": n, "success": fault.is_none() });
        if let Some(fault) = fault {
            item["error"] =
                json!({ "code": fault.code().name(), "description": fault.message(), "data": fault.data() });
            if !fault.violations().is_empty() {
                item["error"]["data"]["fieldViolations"] = json!(fault.violations());
            }
        }
        json!({ name: item })
    });
    let results: Vec<Value> = results.collect();
    let totals = json!({ "totalSuccesses": successes, "totalFailures": failures, "undetailedFailures": 0 });
    body::ok(&json!({ "results": results, "bulkActionMetadata": totals }))
}

/// `POST /bulk/approve-by-filter`: done when the answer comes.
pub(crate) async fn approve_many(State(app): State<App>, call: ApiCall) -> Answer {
    many(&app, &call, Move::Approve).await
}

/// `POST /bulk/block-by-filter`.
pub(crate) async fn block_many(State(app): State<App>, call: ApiCall) -> Answer {
    many(&app, &call, Move::Block).await
}

/// `POST /bulk/delete-by-filter`.
pub(crate) async fn delete_many(State(app): State<App>, call: ApiCall) -> Answer {
    many(&app, &call, Move::Delete).await
}

/// One step for those whom filter and search find: never for more than were asked for, so a search without an expression
/// is refused here.
async fn many(app: &App, call: &ApiCall, step: Move) -> Answer {
    let filter = match &call.data["filter"] {
        filter @ Value::Object(_) => filter::read(&Members::seen(true), filter, "filter"),
        _ => Err(invalid("filter", "an object is expected")),
    };
    let search = match &call.data["search"] {
        Value::Null => Ok(MemberFilter::default()),
        search => member_wire::search(search, true).and_then(|found| match found == MemberFilter::default() {
            true => Err(invalid("search.expression", "1 to 100 characters are expected")),
            false => Ok(found),
        }),
    };
    let ((filter, search), ()) = Faults::both(Faults::both(filter, search), keeps_content(call))?;
    let filter = MemberFilter::All(vec![filter, search]);
    app.identity.members_move(&call.site, &call.caller, filter, step).await?;
    answer("jobId", app.world.uuid())
}

/// Refuses to hand on what a deleted member wrote, which isn't built.
fn keeps_content(call: &ApiCall) -> Result<()> {
    match &call.data["contentAssigneeId"] {
        Value::Null => Ok(()),
        _ => Err(unsupported("contentAssigneeId", "content can't be handed on to another member".to_owned())),
    }
}

/// `DELETE /{id}/phones`.
pub(crate) async fn clear_phones(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_clear(&call.site, &call.caller, &id(&call), &["phones", "phonesV2"]).await?)
}

/// `DELETE /{id}/emails`.
pub(crate) async fn clear_emails(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_clear(&call.site, &call.caller, &id(&call), &["emails", "secondaryEmails"]).await?)
}

/// `DELETE /{id}/addresses`.
pub(crate) async fn clear_addresses(State(app): State<App>, call: ApiCall) -> Answer {
    whole(&app.identity.member_clear(&call.site, &call.caller, &id(&call), &["addresses"]).await?)
}

/// `POST /user-members/query`: people as members, for operators of the site.
pub(crate) async fn user_members(State(app): State<App>, call: ApiCall) -> Answer {
    if !call.caller.is_editor() {
        return Err(Fault::new(Code::Forbidden).into());
    }
    let (asked, filter) = FilteredPage::of(&call, LIMIT, &Members::of_users())?;
    let paging = Paging::After(asked.cursor.clone());
    let query = MemberQuery { filter, limit: asked.limit, paging, ..Default::default() };
    let page = app.identity.member_query(&call.site, Audience::Staff, &query).await?;
    let users = page.members.iter().map(|member| {
        let seen = view(member, Fieldset::Extended);
        member_wire::without_nulls(json!({
            "memberId": member.id,
            "userId": member.id,
            "contactId": member.id,
            "siteMembersInstanceId": call.site.id,
            "metaSiteId": call.site.id,
            "nickname": seen["profile"]["nickname"],
            "photo": seen["profile"]["photo"],
            "privacyStatus": seen["privacyStatus"],
            "status": seen["status"],
            "activityStatus": seen["activityStatus"],
            "createdDate": seen["createdDate"],
            "updatedDate": seen["updatedDate"],
        }))
    });
    let users: Vec<Value> = users.collect();
    let next = asked.next(page.next.as_deref());
    let metadata = json!({ "count": users.len(), "hasNext": next.is_some(), "cursors": { "next": next } });
    Ok(body::ok(&json!({ "userMembers": users, "metadata": metadata })))
}

/// `GET /_api/identity/v1/audit`: what happened, for operators of the site.
pub(crate) async fn audit(State(app): State<App>, call: ApiCall) -> Answer {
    let (limit, _) = call.page(1_000)?;
    let text = |name: &str| Some(call.text(name)).filter(|it| !it.is_empty() && !it.contains('\0')).map(str::to_owned);
    let time = |name: &str| call.text(name).parse().ok();
    let (member, event) = (text("member"), text("event"));
    let query = AuditQuery { member, event, since: time("since"), before: time("before"), limit };
    let entries = app.identity.audit_list(&call.site, &call.caller, query).await?;
    answer("entries", json!(entries))
}

fn whole(member: &Member) -> Answer {
    answer("member", view(member, Fieldset::Full))
}

/// The member that path or request names.
pub(crate) fn id(call: &ApiCall) -> MemberId {
    MemberId::from(call.id.as_str())
}

pub(crate) fn own(call: &ApiCall) -> Result<MemberId> {
    match &call.caller {
        Caller::Member { id, .. } => Ok(id.clone()),
        _ => Err(Fault::new(Code::Forbidden)),
    }
}
