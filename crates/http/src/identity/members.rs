//! Members as the members API shows them (identity.md 17): read, and what owners and apps decide.

use crate::{App, Call, Problem, body, body::Json};
use axum::{
    extract::{Path, RawQuery, State, rejection::PathRejection},
    response::Response,
};
use serde_json::{Value, json};
use stoa_identity::member::{Member, MemberFilter, Status};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Violation, clock::iso_from_millis};

/// Members on a page, at most.
const LIMIT: u32 = 100;

/// `GET /members/v1/members/my`: the calling member; anonymous callers get NOT_FOUND.
pub(crate) async fn my(State(app): State<App>, call: Call, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let Caller::Member { id, .. } = &call.caller else {
        return Err(Fault::new(Code::NotFound).into());
    };
    let member = app.identity.member_get(&call.site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
    Ok(body::ok(&json!({ "member": view(&member, Fieldset::in_query(query)) })))
}

/// `GET /members/v1/members/{id}`: all of it for the member, editors and apps; for others the public
/// part of a public profile.
pub(crate) async fn get(
    State(app): State<App>,
    call: Call,
    path: Id,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let found = app.identity.member_get(&call.site, &member_id(path)?).await?;
    let found = found.filter(|it| it.status != Status::Deleted);
    let member = found.ok_or_else(|| Fault::new(Code::NotFound))?;
    let is_self = matches!(&call.caller, Caller::Member { id, .. } if *id == member.id);
    let fieldset = match is_self || call.caller.is_editor() {
        true => Fieldset::in_query(query),
        false if is_public(&member) => Fieldset::Public,
        false => return Err(Fault::new(Code::NotFound).into()),
    };
    Ok(body::ok(&json!({ "member": view(&member, fieldset) })))
}

/// `POST /members/v1/members/query`: a page of members for editors and apps.
pub(crate) async fn query(State(app): State<App>, call: Call, Json(body): Json) -> Result<Response, Problem> {
    if !call.caller.is_editor() {
        return Err(Fault::new(Code::Forbidden).into());
    }
    let paging = &body["query"]["paging"];
    let number = |name: &str, usual: u32| match &paging[name] {
        Value::Null => Ok(usual),
        value => value.as_u64().and_then(|it| u32::try_from(it).ok()).ok_or_else(|| {
            let field = format!("query.paging.{name}");
            Fault::invalid(vec![Violation::new(field, "FORMAT", "a whole number is expected")])
        }),
    };
    let (limit, offset) = (number("limit", 50)?.min(LIMIT), number("offset", 0)?);
    let filter = filter(&body["query"]["filter"])?;
    let (members, total) = app.identity.member_list(&call.site, &filter, limit, offset).await?;
    let asked = body["fieldsets"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let fieldset = Fieldset::largest(asked);
    let count = members.len();
    let members: Vec<Value> = members.iter().map(|it| view(it, fieldset)).collect();
    let metadata = json!({ "count": count, "offset": offset, "total": total, "tooManyToCount": false });
    Ok(body::ok(&json!({ "members": members, "metadata": metadata })))
}

/// `POST /members/v1/members/{id}/approve`.
pub(crate) async fn approve(State(app): State<App>, call: Call, path: Id) -> Result<Response, Problem> {
    let member = app.identity.member_approve(&call.site, &call.caller, &member_id(path)?).await?;
    Ok(body::ok(&json!({ "member": view(&member, Fieldset::Full) })))
}

/// `POST /members/v1/members/{id}/block`.
pub(crate) async fn block(State(app): State<App>, call: Call, path: Id) -> Result<Response, Problem> {
    let member = app.identity.member_block(&call.site, &call.caller, &member_id(path)?).await?;
    Ok(body::ok(&json!({ "member": view(&member, Fieldset::Full) })))
}

/// `DELETE /members/v1/members/{id}`.
pub(crate) async fn delete(State(app): State<App>, call: Call, path: Id) -> Result<Response, Problem> {
    app.identity.member_delete(&call.site, &call.caller, &member_id(path)?).await?;
    Ok(body::ok(&json!({})))
}

/// How much of a member is shown; each contains the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fieldset {
    Public,
    Extended,
    Full,
}

impl Fieldset {
    /// The largest one asked for; PUBLIC when none is.
    fn largest<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let known = names.map(|it| match it {
            "FULL" => Self::Full,
            "EXTENDED" => Self::Extended,
            _ => Self::Public,
        });
        known.max().unwrap_or(Self::Public)
    }

    /// From `fieldsets=…`, which may stand several times.
    fn in_query(query: Option<String>) -> Self {
        let query = query.unwrap_or_default();
        let pairs: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).collect();
        Self::largest(pairs.iter().filter(|(name, _)| name == "fieldsets").map(|(_, value)| value.as_ref()))
    }
}

type Id = Result<Path<String>, PathRejection>;

/// The id in the path; one that isn't text names nobody.
fn member_id(path: Id) -> Result<MemberId, Fault> {
    path.map(|Path(id)| MemberId::from(id)).map_err(|it| Fault::new(Code::NotFound).logged(it))
}

fn is_public(member: &Member) -> bool {
    member.status == Status::Active && member.profile.text("privacyStatus") == Some("PUBLIC")
}

/// The status names of the members API.
fn status_name(status: Status) -> &'static str {
    match status {
        Status::Active => "APPROVED",
        Status::Deleted => "UNKNOWN",
        other => other.name(),
    }
}

/// Reads `{status, loginEmail, id}`, each a value or `{"$eq": value}`.
fn filter(sent: &Value) -> Result<MemberFilter, Fault> {
    let mut filter = MemberFilter::default();
    let wrong = |name: &str, rule, why| {
        let field = format!("query.filter.{name}");
        Fault::invalid(vec![Violation::new(field, rule, why)])
    };
    let members = match sent {
        Value::Null => return Ok(filter),
        Value::Object(members) => members,
        _ => return Err(Fault::invalid(vec![Violation::new("query.filter", "FORMAT", "an object is expected")])),
    };
    for (name, sent) in members {
        let value = sent.get("$eq").unwrap_or(sent).as_str();
        let value = value.ok_or_else(|| wrong(name, "FORMAT", "text or {$eq: text} is expected"))?;
        match name.as_str() {
            "status" => {
                let names = "PENDING, APPROVED, BLOCKED or OFFLINE is expected";
                filter.status = Some(status_of(value).ok_or_else(|| wrong(name, "INVALID_ENUM_VALUE", names))?);
            }
            "loginEmail" => {
                let why = "the email address is not valid";
                filter.email = Some(Email::parse(value).ok_or_else(|| wrong(name, "FORMAT", why))?);
            }
            "id" | "_id" => filter.id = Some(MemberId::from(value)),
            _ => return Err(Fault::because(Code::NotSupported, format!("members can't be filtered by {name}"))),
        }
    }
    Ok(filter)
}

fn status_of(name: &str) -> Option<Status> {
    match name {
        "PENDING" => Some(Status::Pending),
        "APPROVED" => Some(Status::Active),
        "BLOCKED" => Some(Status::Blocked),
        "OFFLINE" => Some(Status::Offline),
        _ => None,
    }
}

fn view(member: &Member, fieldset: Fieldset) -> Value {
    let is_extended = fieldset >= Fieldset::Extended;
    let text = |name: &str| member.profile.text(name);
    let given = [text("firstName"), text("lastName")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let nickname = text("nickname").map(str::to_owned).or_else(|| Some(given).filter(|it| !it.is_empty()));
    let mut view = json!({
        "id": member.id,
        "contactId": member.id,
        "profile": {
            "nickname": nickname,
            "slug": text("slug"),
            "photo": text("picture").map(|it| json!({ "url": it })),
        },
        "privacyStatus": text("privacyStatus").filter(|it| *it != "UNDEFINED").unwrap_or("PRIVATE"),
        "status": if is_extended { status_name(member.status) } else { "UNKNOWN" },
        "activityStatus": if is_extended { "ACTIVE" } else { "UNKNOWN" },
    });
    if is_extended {
        view["loginEmail"] = json!(member.email);
        view["loginEmailVerified"] = json!(member.email_verified);
        view["createdDate"] = json!(iso_from_millis(member.created));
        view["updatedDate"] = json!(iso_from_millis(member.updated));
        view["lastLoginDate"] = json!(member.last_login.map(iso_from_millis));
    }
    if fieldset == Fieldset::Full {
        view["contact"] = json!({
            "firstName": text("firstName"),
            "lastName": text("lastName"),
            "company": text("company"),
            "jobTitle": text("position"),
            "birthdate": text("birthdate"),
            "emails": [member.email],
        });
    }
    without_nulls(view)
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, it)| !it.is_null());
            Value::Object(kept.map(|(name, it)| (name, without_nulls(it))).collect())
        }
        other => other,
    }
}
