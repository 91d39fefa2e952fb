//! Members as the members API writes and reads them (docs/protocol/identity.md §17).

use super::api_call::{invalid, strings};
use serde_json::{Value, json};
use stoa_identity::{
    manage::MemberChange,
    member::{Member, MemberField as F, MemberFilter, MemberSort, Operand, Status},
};
use stoa_kernel::{Code, Email, Fault, Result, Violation, date, fold::fold};

/// Conditions of one filter, and how deep they may be nested.
const CONDITIONS: usize = 200;
const DEPTH: usize = 16;
/// Characters of a search, and fields that it names.
const EXPRESSION: usize = 100;
const SEARCHED: usize = 4;

/// How much of a member is shown; each contains the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fieldset {
    Public,
    Extended,
    Full,
}

impl Fieldset {
    /// The largest one asked for; PUBLIC when none is.
    ///
    /// # Errors
    /// [`Code::Validation`] for more than there are, and for others.
    pub(crate) fn of(asked: &Value) -> Result<Self> {
        let names = strings(asked, "fieldsets")?;
        let all = [("PUBLIC", Self::Public), ("EXTENDED", Self::Extended), ("FULL", Self::Full)];
        if names.len() > all.len() {
            let violation = Violation::new("fieldsets", "MAX_SIZE", "at most 3 are expected");
            return Err(Fault::invalid(vec![violation.with("threshold", all.len())]));
        }
        let known = |name: &String| all.iter().find(|it| it.0 == name).map(|it| it.1);
        let known: Option<Vec<Self>> = names.iter().map(known).collect();
        let known = known.ok_or_else(|| {
            let why = "PUBLIC, EXTENDED or FULL is expected";
            Fault::invalid(vec![Violation::new("fieldsets", "INVALID_ENUM_VALUE", why)])
        })?;
        Ok(known.into_iter().max().unwrap_or(Self::Public))
    }
}

/// The status names of the members API.
pub(crate) fn status_name(status: Status) -> &'static str {
    match status {
        Status::Active => "APPROVED",
        Status::Deleted => "UNKNOWN",
        other => other.name(),
    }
}

pub(crate) fn view(member: &Member, fieldset: Fieldset) -> Value {
    let is_extended = fieldset >= Fieldset::Extended;
    let mut view = json!({
        "id": member.id,
        "contactId": member.id,
        "profile": {
            "nickname": member.shown_name(),
            "slug": member.profile.text("slug"),
            "photo": member.shown_photo(),
            "cover": member.shown_cover(),
            "title": member.card.get("title"),
        },
        "privacyStatus": if member.is_public { "PUBLIC" } else { "PRIVATE" },
        "status": if is_extended { status_name(member.status) } else { "UNKNOWN" },
        "activityStatus": match (is_extended, member.muted) {
            (false, _) => "UNKNOWN",
            (true, false) => "ACTIVE",
            (true, true) => "MUTED",
        },
    });
    if is_extended {
        view["loginEmail"] = json!(member.email);
        view["loginEmailVerified"] = json!(member.email_verified);
        view["createdDate"] = json!(date::iso_from_millis(member.created));
        view["updatedDate"] = json!(date::iso_from_millis(member.updated));
        view["lastLoginDate"] = json!(member.last_login.map(date::iso_from_millis));
    }
    let mut view = without_nulls(view);
    if fieldset == Fieldset::Full {
        view["contact"] = member.contact();
    }
    view
}

/// Reads what a `member` of a request changes; what it does not name stays, null removes.
///
/// # Errors
/// [`Code::Validation`].
pub(crate) fn change(member: &Value) -> Result<MemberChange> {
    let mut change = MemberChange::default();
    if !member.is_object() {
        return Err(invalid("member", "an object is expected"));
    }
    let part = |name: &str| match &member[name] {
        Value::Null => Ok(None),
        Value::Object(part) => Ok(Some(part)),
        _ => Err(invalid(&format!("member.{name}"), "an object is expected")),
    };
    if let Some(profile) = part("profile")? {
        for (name, value) in profile {
            match name.as_str() {
                "nickname" | "slug" => drop(change.profile.insert(name.clone(), value.clone())),
                "photo" => {
                    let url = value.get("url").cloned().unwrap_or_default();
                    change.profile.insert("picture".to_owned(), url);
                    change.card.insert(name.clone(), image(value, name)?);
                }
                "cover" => drop(change.card.insert(name.clone(), image(value, name)?)),
                "title" if value.is_null() || value.is_string() => {
                    change.card.insert(name.clone(), value.clone());
                }
                "title" => return Err(invalid("member.profile.title", "text is expected")),
                _ => {}
            }
        }
    }
    for (name, value) in part("contact")?.into_iter().flatten() {
        match name.as_str() {
            "firstName" | "lastName" | "company" | "birthdate" => change.profile.insert(name.clone(), value.clone()),
            "jobTitle" => change.profile.insert("position".to_owned(), value.clone()),
            "phones" | "emails" | "addresses" | "customFields" => change.contact.insert(name.clone(), value.clone()),
            _ => None,
        };
    }
    match &member["privacyStatus"] {
        Value::Null => {}
        Value::String(it) if it == "UNKNOWN" => {}
        Value::String(it) if it == "PUBLIC" || it == "PRIVATE" => {
            change.profile.insert("privacyStatus".to_owned(), it.as_str().into());
        }
        _ => {
            let why = "PUBLIC or PRIVATE is expected";
            return Err(Fault::invalid(vec![Violation::new("member.privacyStatus", "INVALID_ENUM_VALUE", why)]));
        }
    }
    Ok(change)
}

fn image(value: &Value, name: &str) -> Result<Value> {
    match value {
        Value::Null | Value::Object(_) => Ok(value.clone()),
        _ => Err(invalid(&format!("member.profile.{name}"), "an object is expected")),
    }
}

/// Reads a filter: members of the member by their path, each a value or operators, with `$and`, `$or`
/// and `$not`.
///
/// # Errors
/// [`Code::Validation`]; [`Code::NotSupported`] for what has no index.
pub(crate) fn filter(sent: &Value, is_staff: bool) -> Result<MemberFilter> {
    let mut left = CONDITIONS;
    part(sent, is_staff, 0, &mut left)
}

fn part(sent: &Value, is_staff: bool, depth: usize, left: &mut usize) -> Result<MemberFilter> {
    let members = match sent {
        Value::Null => return Ok(MemberFilter::default()),
        Value::Object(members) => members,
        _ => return Err(invalid("query.filter", "an object is expected")),
    };
    if depth > DEPTH {
        return Err(Fault::new(Code::FilterTooDeep));
    }
    let mut all = Vec::with_capacity(members.len());
    for (name, value) in members {
        *left = left.checked_sub(1).ok_or_else(|| invalid("query.filter", "there are too many conditions"))?;
        let mut inner = || match value {
            Value::Array(list) => list.iter().map(|it| part(it, is_staff, depth + 1, left)).collect::<Result<Vec<_>>>(),
            other => Ok(vec![part(other, is_staff, depth + 1, left)?]),
        };
        match name.as_str() {
            "$and" => all.push(MemberFilter::All(inner()?)),
            "$or" => all.push(MemberFilter::Any(inner()?)),
            "$not" => all.push(MemberFilter::Not(Box::new(MemberFilter::All(inner()?)))),
            _ => {
                let field = field(name, is_staff)?;
                match value {
                    Value::Object(operators) => {
                        for (operator, operand) in operators {
                            all.push(test(field, name, operator, operand)?);
                        }
                    }
                    value => all.push(test(field, name, "$eq", value)?),
                }
            }
        }
    }
    Ok(MemberFilter::All(all))
}

fn field(name: &str, is_staff: bool) -> Result<F> {
    let field = match name {
        "id" | "_id" | "contactId" => F::Id,
        "profile.nickname" | "nickname" => F::Nickname,
        "profile.slug" | "slug" => F::Slug,
        "loginEmail" if is_staff => F::Email,
        "status" if is_staff => F::Status,
        "privacyStatus" => F::Privacy,
        "activityStatus" if is_staff => F::Muted,
        "createdDate" | "_createdDate" if is_staff => F::Created,
        "updatedDate" | "_updatedDate" if is_staff => F::Updated,
        "lastLoginDate" if is_staff => F::LastLogin,
        _ => return Err(Fault::because(Code::NotSupported, format!("members can't be filtered by {name}"))),
    };
    Ok(field)
}

fn test(field: F, name: &str, operator: &str, operand: &Value) -> Result<MemberFilter> {
    let path = format!("query.filter.{name}");
    let is = |symbol: &'static str, operand: &Value| Ok(MemberFilter::Is(field, symbol, value(field, operand, &path)?));
    // Nothing of ours holds U+0000, and one engine refuses to look for it.
    let is_nothing = operand.as_str().is_some_and(|it| it.contains('\0'));
    match operator {
        "$eq" if is_nothing => Ok(MemberFilter::Any(Vec::new())),
        "$eq" => is("=", operand),
        "$ne" => Ok(MemberFilter::Not(Box::new(is("=", operand)?))),
        "$gt" => is(">", operand),
        "$gte" | "$ge" => is(">=", operand),
        "$lt" => is("<", operand),
        "$lte" | "$le" => is("<=", operand),
        "$in" | "$hasSome" | "$nin" => {
            let list = operand.as_array().filter(|it| it.len() <= 100);
            let list = list.ok_or_else(|| invalid(&path, "a list of at most 100 is expected"))?;
            let any = MemberFilter::Any(list.iter().map(|it| is("=", it)).collect::<Result<Vec<_>>>()?);
            Ok(if operator == "$nin" { MemberFilter::Not(Box::new(any)) } else { any })
        }
        "$startsWith" if matches!(field, F::Nickname | F::Slug | F::Email | F::Id) => match operand.as_str() {
            Some(text) if !text.contains('\0') => Ok(MemberFilter::Prefix(field, folded(field, text))),
            _ => Err(invalid(&path, "text is expected")),
        },
        _ => Err(Fault::because(Code::NotSupported, format!("members can't be filtered by {name} with {operator}"))),
    }
}

fn folded(field: F, text: &str) -> String {
    match field {
        F::Id => text.to_owned(),
        F::Email => Email::fold(text),
        _ => fold(text.trim()).into_owned(),
    }
}

fn value(field: F, sent: &Value, path: &str) -> Result<Operand> {
    let named = |it: &str| Operand::Text(it.to_owned());
    let text = || sent.as_str().filter(|it| !it.contains('\0')).ok_or_else(|| invalid(path, "text is expected"));
    let unknown = || Fault::invalid(vec![Violation::new(path, "INVALID_ENUM_VALUE", "there is no such name")]);
    Ok(match field {
        F::Id | F::Nickname | F::Slug | F::Email => Operand::Text(folded(field, text()?)),
        F::Status => match text()? {
            "APPROVED" | "ACTIVE" => named("ACTIVE"),
            it @ ("PENDING" | "BLOCKED" | "OFFLINE") => named(it),
            _ => return Err(unknown()),
        },
        F::Privacy => match text()? {
            it @ ("PUBLIC" | "PRIVATE") => named(it),
            _ => return Err(unknown()),
        },
        F::Muted => match text()? {
            "ACTIVE" => Operand::Number(0),
            "MUTED" => Operand::Number(1),
            _ => return Err(unknown()),
        },
        F::Created | F::Updated | F::LastLogin => {
            let date = sent.get("$date").unwrap_or(sent);
            let millis = date.as_i64().or_else(|| date::parse(date.as_str()?));
            Operand::Number(millis.ok_or_else(|| invalid(path, "a date is expected"))?)
        }
    })
}

/// Reads an order: one member of the member. Who may not see a member's address or last sign-in can't learn
/// them by comparing places in a list either.
///
/// # Errors
/// [`Code::NotSupported`]; [`Code::Validation`] for a direction that is none.
pub(crate) fn sort(sent: &Value, is_staff: bool) -> Result<(MemberSort, bool)> {
    let first = match sent.as_array().map(Vec::as_slice) {
        None | Some([]) => return Ok((MemberSort::Created, false)),
        Some([first]) => first,
        Some(_) => return Err(Fault::because(Code::NotSupported, "members can't be sorted by more than one field")),
    };
    let sort = match first["fieldName"].as_str().unwrap_or_default() {
        "createdDate" | "_createdDate" => MemberSort::Created,
        "lastLoginDate" if is_staff => MemberSort::LastLogin,
        "nickname" | "profile.nickname" => MemberSort::Nickname,
        "loginEmail" if is_staff => MemberSort::Email,
        name => return Err(Fault::because(Code::NotSupported, format!("members can't be sorted by {name}"))),
    };
    let order = &first["order"];
    let is = |name: &str| order.as_str().is_some_and(|it| it.eq_ignore_ascii_case(name));
    if !order.is_null() && !is("ASC") && !is("DESC") {
        let violation = Violation::new("query.sort[0].order", "INVALID_ENUM_VALUE", "ASC or DESC is expected");
        return Err(Fault::invalid(vec![violation]));
    }
    Ok((sort, !is("DESC")))
}

/// Reads a search: what a member begins with, in one of the fields that are named.
///
/// # Errors
/// [`Code::Validation`]; [`Code::NotSupported`] for fields that are not searched.
pub(crate) fn search(sent: &Value, is_staff: bool) -> Result<MemberFilter> {
    let wrong = |name: &str, rule, why: &str, most: usize| {
        Fault::invalid(vec![Violation::new(format!("search.{name}"), rule, why).with("threshold", most)])
    };
    let expression = match &sent["expression"] {
        Value::Null => return Ok(MemberFilter::default()),
        Value::String(it) if it.is_empty() => return Ok(MemberFilter::default()),
        Value::String(it) if it.chars().count() <= EXPRESSION => it,
        Value::String(_) => return Err(wrong("expression", "MAX_LENGTH", "at most 100 characters", EXPRESSION)),
        _ => return Err(invalid("search.expression", "text is expected")),
    };
    let mut names = strings(&sent["fields"], "search.fields")?;
    if names.len() > SEARCHED {
        return Err(wrong("fields", "MAX_SIZE", "at most 4 fields", SEARCHED));
    }
    if names.is_empty() {
        names
            .extend(["profile.nickname", "loginEmail"].iter().take(1 + usize::from(is_staff)).map(|&it| it.to_owned()));
    }
    let any = names.iter().map(|it| filter(&json!({ it: { "$startsWith": expression } }), is_staff));
    Ok(MemberFilter::Any(any.collect::<Result<_>>()?))
}

pub(crate) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(_, it)| !it.is_null());
            Value::Object(kept.map(|(name, it)| (name, without_nulls(it))).collect())
        }
        other => other,
    }
}
