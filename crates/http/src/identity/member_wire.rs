//! Members as the members API writes and reads them (identity.md 17).

use super::ask::{invalid, texts};
use serde_json::{Map, Value, json};
use stoa_identity::member::{Member, MemberChange, MemberField as F, MemberFilter, MemberSort, Operand, Status};
use stoa_kernel::{
    Code, Fault, Result, Violation,
    clock::{iso_from_millis, millis_from_iso},
    fold::fold,
};

/// Conditions of one filter, and how deep they may be nested.
const CONDITIONS: usize = 200;
const DEPTH: usize = 16;

/// How much of a member is shown; each contains the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fieldset {
    Public,
    Extended,
    Full,
}

impl Fieldset {
    /// The largest one asked for; PUBLIC when none is.
    pub(crate) fn of(asked: &Value) -> Self {
        let names = texts(asked, "fieldsets").unwrap_or_default();
        let known = names.iter().map(|it| match it.as_str() {
            "FULL" => Self::Full,
            "EXTENDED" => Self::Extended,
            _ => Self::Public,
        });
        known.max().unwrap_or(Self::Public)
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
    let text = |name: &str| member.profile.text(name);
    let given = [text("firstName"), text("lastName")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let nickname = text("nickname").map(str::to_owned).or_else(|| Some(given).filter(|it| !it.is_empty()));
    let photo = member.card.get("photo").cloned().or_else(|| text("picture").map(|it| json!({ "url": it })));
    let mut view = json!({
        "id": member.id,
        "contactId": member.id,
        "profile": {
            "nickname": nickname,
            "slug": text("slug"),
            "photo": photo,
            "cover": member.card.get("cover"),
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
        view["createdDate"] = json!(iso_from_millis(member.created));
        view["updatedDate"] = json!(iso_from_millis(member.updated));
        view["lastLoginDate"] = json!(member.last_login.map(iso_from_millis));
    }
    let mut view = without_nulls(view);
    if fieldset == Fieldset::Full {
        view["contact"] = contact(member);
    }
    view
}

fn contact(member: &Member) -> Value {
    let profile = member.profile.to_json();
    let text = |name: &str| member.profile.text(name);
    let part = |list: &str, name: &str| -> Vec<Value> {
        profile[list].as_array().into_iter().flatten().map(|it| it[name].clone()).filter(|it| !it.is_null()).collect()
    };
    let phones = match profile["phones"].as_array() {
        Some(phones) => phones.clone(),
        None => part("phonesV2", "phone"),
    };
    let emails = match profile["emails"].as_array() {
        Some(emails) => emails.clone(),
        None => std::iter::once(json!(member.email)).chain(part("secondaryEmails", "email")).collect(),
    };
    let addresses: Vec<Value> = profile["addresses"].as_array().into_iter().flatten().map(address).collect();
    let mut fields = Map::new();
    for field in profile["customFields"].as_array().into_iter().flatten() {
        if let Some(name) = field["name"].as_str() {
            fields.insert(name.to_owned(), json!({ "name": name, "value": plain(&field["value"]) }));
        }
    }
    let mut contact = without_nulls(json!({
        "firstName": text("firstName"),
        "lastName": text("lastName"),
        "company": text("company"),
        "jobTitle": text("position"),
        "birthdate": text("birthdate"),
        "phones": phones,
        "emails": emails,
        "addresses": addresses,
    }));
    // A null in there is the member's own.
    contact["customFields"] = Value::Object(fields);
    contact
}

const ADDRESS: [&str; 7] =
    ["addressLine", "addressLine2", "city", "subdivision", "country", "postalCode", "streetAddress"];

fn address(kept: &Value) -> Value {
    let mut address = Map::new();
    address.extend(kept.get("id").map(|it| ("id".to_owned(), it.clone())));
    for name in ADDRESS {
        address.extend(kept["address"].get(name).map(|it| (name.to_owned(), it.clone())));
    }
    Value::Object(address)
}

/// The value inside a custom value (identity.md 10.3).
fn plain(value: &Value) -> Value {
    let Some((kind, inner)) = value.as_object().and_then(|it| it.iter().find(|it| !it.1.is_null())) else {
        return Value::Null;
    };
    match kind.as_str() {
        "listValue" => inner["value"].as_array().into_iter().flatten().map(plain).collect(),
        "mapValue" => {
            let members = inner["value"].as_object().into_iter().flatten();
            Value::Object(members.map(|(name, it)| (name.clone(), plain(it))).collect())
        }
        _ => inner.clone(),
    }
}

/// The custom value that holds a plain one; one without a kind is null.
fn custom(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(it) => json!({ "boolValue": it }),
        Value::Number(it) => json!({ "numValue": it }),
        Value::String(it) => json!({ "strValue": it }),
        Value::Array(list) => {
            json!({ "listValue": { "value": list.iter().map(custom).collect::<Vec<_>>() } })
        }
        Value::Object(members) => {
            let members: Map<String, Value> = members.iter().map(|(name, it)| (name.clone(), custom(it))).collect();
            json!({ "mapValue": { "value": members } })
        }
    }
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
    if let Some(contact) = part("contact")? {
        contact_change(contact, &mut change.profile)?;
    }
    match member["privacyStatus"].as_str() {
        Some(it @ ("PUBLIC" | "PRIVATE")) => drop(change.profile.insert("privacyStatus".to_owned(), it.into())),
        None | Some("UNKNOWN") => {}
        Some(_) => {
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

fn contact_change(contact: &Map<String, Value>, profile: &mut Map<String, Value>) -> Result<()> {
    for (name, value) in contact {
        match name.as_str() {
            "firstName" | "lastName" | "company" | "birthdate" => drop(profile.insert(name.clone(), value.clone())),
            "jobTitle" => drop(profile.insert("position".to_owned(), value.clone())),
            "phones" => {
                profile.insert("phones".to_owned(), value.clone());
                profile.insert("phonesV2".to_owned(), Value::Null);
            }
            "emails" => {
                profile.insert("emails".to_owned(), value.clone());
                profile.insert("secondaryEmails".to_owned(), Value::Null);
            }
            "addresses" => {
                let list = match value {
                    Value::Null => Value::Null,
                    Value::Array(list) => list
                        .iter()
                        .map(|it| {
                            let mut address = it.clone();
                            let id = address.as_object_mut().and_then(|it| it.remove("id")).unwrap_or_default();
                            json!({ "id": id, "address": address, "tag": "UNTAGGED" })
                        })
                        .collect(),
                    _ => return Err(invalid("member.contact.addresses", "a list is expected")),
                };
                profile.insert(name.clone(), list);
            }
            "customFields" => {
                let fields = match value {
                    Value::Null => Value::Null,
                    Value::Object(fields) => {
                        let value = |it: &Value| if it.is_object() { custom(&it["value"]) } else { custom(it) };
                        fields.iter().map(|(key, it)| json!({ "name": key, "value": value(it) })).collect()
                    }
                    _ => return Err(invalid("member.contact.customFields", "an object is expected")),
                };
                profile.insert(name.clone(), fields);
            }
            _ => {}
        }
    }
    Ok(())
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
            let millis = date.as_i64().or_else(|| millis_from_iso(date.as_str()?));
            Operand::Number(millis.ok_or_else(|| invalid(path, "a date is expected"))?)
        }
    })
}

/// Reads an order: one member of the member. Who may not see a member's address or last sign-in can't learn
/// them by comparing places in a list either.
///
/// # Errors
/// [`Code::NotSupported`].
pub(crate) fn sort(sent: &Value, is_staff: bool) -> Result<(MemberSort, bool)> {
    let Some(first) = sent.as_array().and_then(|it| it.first()) else { return Ok((MemberSort::Created, false)) };
    let sort = match first["fieldName"].as_str().unwrap_or_default() {
        "createdDate" | "_createdDate" => MemberSort::Created,
        "lastLoginDate" if is_staff => MemberSort::LastLogin,
        "nickname" | "profile.nickname" => MemberSort::Nickname,
        "loginEmail" if is_staff => MemberSort::Email,
        name => return Err(Fault::because(Code::NotSupported, format!("members can't be sorted by {name}"))),
    };
    Ok((sort, first["order"] != "DESC"))
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
