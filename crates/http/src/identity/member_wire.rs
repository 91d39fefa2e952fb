//! Members as the members API writes and reads them (docs/protocol/identity.md §17).

use super::{
    api_call::{invalid, strings},
    filter::{self, Filterable, unsupported},
};
use serde_json::{Map, Value, json};
pub(crate) use stoa_identity::member::without_nulls;
use stoa_identity::{
    manage::MemberChange,
    member::{Member, MemberField as F, MemberFilter, MemberSort, Operand},
};
use stoa_kernel::{Email, Fault, Faults, Result, Violation, fold::fold};

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
    /// [`stoa_kernel::Code::Validation`] for more than there are, and for others.
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

pub(crate) fn view(member: &Member, fieldset: Fieldset) -> Value {
    let mut view = member.shown(fieldset >= Fieldset::Extended);
    if fieldset == Fieldset::Full {
        view["contact"] = member.contact();
    }
    view
}

/// Reads what a `member` of a request changes; what it does not name stays, null removes. What is wrong with it is in
/// the change, which is checked whole when it is made.
pub(crate) fn change(member: &Value) -> MemberChange {
    let mut change = MemberChange::default();
    let mut wrong = Vec::new();
    let mut object = |value: Option<&Value>, path: String| match value {
        Some(Value::Object(object)) => object.clone(),
        None => Map::new(),
        Some(_) => {
            wrong.push(Violation::new(path, "FORMAT", "an object is expected"));
            Map::new()
        }
    };
    let member = object(Some(member), "member".to_owned());
    let mut part = |name: &str| object(member.get(name).filter(|it| !it.is_null()), format!("member.{name}"));
    for (name, value) in part("profile") {
        match name.as_str() {
            "nickname" | "slug" => drop(change.profile.insert(name, value)),
            "photo" => {
                change.profile.insert("picture".to_owned(), value.get("url").cloned().unwrap_or_default());
                change.card.insert(name, value);
            }
            "cover" | "title" => drop(change.card.insert(name, value)),
            _ => {}
        }
    }
    for (name, value) in part("contact") {
        match name.as_str() {
            "firstName" | "lastName" | "company" | "birthdate" => change.profile.insert(name, value),
            "jobTitle" => change.profile.insert("position".to_owned(), value),
            "phones" | "emails" | "addresses" | "customFields" => change.contact.insert(name, value),
            _ => None,
        };
    }
    match member.get("privacyStatus") {
        None | Some(Value::Null) => {}
        Some(Value::String(it)) if it == "UNKNOWN" => {}
        Some(Value::String(it)) if it == "PUBLIC" || it == "PRIVATE" => {
            change.profile.insert("privacyStatus".to_owned(), it.as_str().into());
        }
        Some(_) => {
            let why = "PUBLIC or PRIVATE is expected";
            wrong.push(Violation::new("member.privacyStatus", "INVALID_ENUM_VALUE", why));
        }
    }
    change.violations = wrong;
    change
}

/// Members, as a filter names what they have; only staff filters by what others don't see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Members {
    is_staff: bool,
    /// What their id is called.
    ids: &'static [&'static str],
}

impl Members {
    /// As the members API names them.
    pub(crate) fn seen(is_staff: bool) -> Self {
        Self { is_staff, ids: &["id", "_id", "contactId"] }
    }

    /// As the call about people as members names them.
    pub(crate) fn of_users() -> Self {
        Self { is_staff: true, ids: &["memberId", "userId", "id", "_id", "contactId"] }
    }
}

impl Filterable for Members {
    type Field = F;

    fn things(&self) -> &str {
        "members"
    }

    fn field(&self, name: &str) -> Option<F> {
        Some(match name {
            name if self.ids.contains(&name) => F::Id,
            "profile.nickname" | "nickname" => F::Nickname,
            "profile.slug" | "slug" => F::Slug,
            "loginEmail" if self.is_staff => F::Email,
            "status" if self.is_staff => F::Status,
            "privacyStatus" => F::Privacy,
            "activityStatus" if self.is_staff => F::Muted,
            "createdDate" | "_createdDate" if self.is_staff => F::Created,
            "updatedDate" | "_updatedDate" if self.is_staff => F::Updated,
            "lastLoginDate" if self.is_staff => F::LastLogin,
            _ => return None,
        })
    }

    fn operand(&self, field: F, sent: &Value, path: &str) -> Result<Operand> {
        operand(field, sent, path)
    }

    fn prefix(&self, field: F, text: &str) -> Option<String> {
        // What it ends with counts: the text goes on behind it.
        match field {
            F::Id => Some(text.to_owned()),
            F::Email => Some(text.trim_start().to_ascii_lowercase()),
            F::Nickname | F::Slug => Some(fold(text.trim_start()).into_owned()),
            _ => None,
        }
    }

    fn exists(&self, _: F) -> Option<MemberFilter> {
        None
    }
}

fn folded(field: F, text: &str) -> String {
    match field {
        F::Id => text.to_owned(),
        F::Email => Email::fold(text),
        _ => fold(text.trim()).into_owned(),
    }
}

fn operand(field: F, sent: &Value, path: &str) -> Result<Operand> {
    let named = |it: &str| Operand::Text(it.to_owned());
    let text = || filter::text(sent, path);
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
        F::Created | F::Updated | F::LastLogin => filter::time(sent, path)?,
    })
}

/// Reads an order: one member of the member. Who may not see a member's address or last sign-in can't learn
/// them by comparing places in a list either.
///
/// # Errors
/// [`stoa_kernel::Code::NotSupported`]; [`stoa_kernel::Code::Validation`] for a direction that is none.
pub(crate) fn sort(sent: &Value, is_staff: bool) -> Result<(MemberSort, bool)> {
    let first = match sent.as_array().map(Vec::as_slice) {
        None | Some([]) => return Ok((MemberSort::Created, false)),
        Some([first]) => first,
        Some(_) => {
            let why = "members can't be sorted by more than one field";
            return Err(unsupported("query.sort", why.to_owned()));
        }
    };
    let sort = match first["fieldName"].as_str().unwrap_or_default() {
        "createdDate" | "_createdDate" => Ok(MemberSort::Created),
        "lastLoginDate" if is_staff => Ok(MemberSort::LastLogin),
        "nickname" | "profile.nickname" => Ok(MemberSort::Nickname),
        "loginEmail" if is_staff => Ok(MemberSort::Email),
        name => Err(unsupported("query.sort[0].fieldName", format!("members can't be sorted by {name}"))),
    };
    let order = &first["order"];
    let is = |name: &str| order.as_str().is_some_and(|it| it.eq_ignore_ascii_case(name));
    let is_ascending = match order.is_null() || is("ASC") || is("DESC") {
        true => Ok(!is("DESC")),
        false => {
            let violation = Violation::new("query.sort[0].order", "INVALID_ENUM_VALUE", "ASC or DESC is expected");
            Err(Fault::invalid(vec![violation]))
        }
    };
    Faults::both(sort, is_ascending)
}

/// Reads a search: what a member begins with, in one of the fields that are named.
///
/// # Errors
/// [`stoa_kernel::Code::Validation`]; [`stoa_kernel::Code::NotSupported`] for fields that are not searched.
pub(crate) fn search(sent: &Value, is_staff: bool) -> Result<MemberFilter> {
    let wrong = |name: &str, rule, why: &str, most: usize| {
        Fault::invalid(vec![Violation::new(format!("search.{name}"), rule, why).with("threshold", most)])
    };
    match sent {
        Value::Null => return Ok(MemberFilter::default()),
        Value::Object(members) => {
            let is_known = |name: &str| matches!(name, "expression" | "fields");
            if let Some(name) = members.keys().find(|it| !is_known(it)) {
                return Err(unsupported(format!("search.{name}"), format!("members can't be searched by {name}")));
            }
        }
        _ => return Err(invalid("search", "an object is expected")),
    }
    let expression = match &sent["expression"] {
        Value::Null => return Ok(MemberFilter::default()),
        Value::String(it) if it.trim().is_empty() => return Ok(MemberFilter::default()),
        Value::String(it) if it.chars().count() <= EXPRESSION => Ok(it.trim()),
        Value::String(_) => Err(wrong("expression", "MAX_LENGTH", "at most 100 characters", EXPRESSION)),
        _ => Err(invalid("search.expression", "text is expected")),
    };
    let names = strings(&sent["fields"], "search.fields").and_then(|it| match it.len() {
        0 => Ok(["profile.nickname", "loginEmail"]
            .iter()
            .take(1 + usize::from(is_staff))
            .map(|&it| it.to_owned())
            .collect()),
        1..=SEARCHED => Ok(it),
        _ => Err(wrong("fields", "MAX_SIZE", "at most 4 fields", SEARCHED)),
    });
    let (expression, names) = Faults::both(expression, names)?;
    let any = names.iter().map(|it| {
        let begins = json!({ it: { "$startsWith": expression } });
        filter::read(&Members::seen(is_staff), &begins, "search.fields")
    });
    Ok(MemberFilter::Any(any.collect::<Result<_>>()?))
}
