//! Members as the members API writes and reads them (docs/protocol/identity.md §17).

use super::api_call::{invalid, strings};
use serde_json::{Map, Value, json};
pub(crate) use stoa_identity::member::without_nulls;
use stoa_identity::{
    manage::MemberChange,
    member::{Member, MemberField as F, MemberFilter, MemberSort, Operand},
};
use stoa_kernel::{Code, Email, Fault, Faults, Result, Violation, date, fold::fold};

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

/// Reads a filter: members of the member by their path, each a value or operators, with `$and`, `$or`
/// and `$not`.
///
/// # Errors
/// [`Code::Validation`]; [`Code::NotSupported`] for what has no index; all that is wrong, with its place.
pub(crate) fn filter(sent: &Value, is_staff: bool) -> Result<MemberFilter> {
    let mut reader = FilterReader { is_staff, left: CONDITIONS, faults: Faults::default() };
    let filter = reader.part(sent, 0);
    reader.faults.refuse().map(|()| filter)
}

struct FilterReader {
    is_staff: bool,
    /// Conditions that there may still be.
    left: usize,
    faults: Faults,
}

impl FilterReader {
    fn part(&mut self, sent: &Value, depth: usize) -> MemberFilter {
        let members = match sent {
            Value::Object(members) if depth <= DEPTH => members,
            Value::Object(_) => {
                self.faults.add(Fault::new(Code::FilterTooDeep));
                return MemberFilter::default();
            }
            Value::Null => return MemberFilter::default(),
            _ => {
                self.faults.add(invalid("query.filter", "an object is expected"));
                return MemberFilter::default();
            }
        };
        let mut all = Vec::with_capacity(members.len());
        for (name, value) in members {
            match self.left.checked_sub(1) {
                Some(left) => self.left = left,
                None => {
                    self.faults.add(invalid("query.filter", "there are too many conditions"));
                    break;
                }
            }
            match name.as_str() {
                "$and" => all.push(MemberFilter::All(self.parts(value, depth + 1))),
                "$or" => all.push(MemberFilter::Any(self.parts(value, depth + 1))),
                "$not" => all.push(MemberFilter::Not(Box::new(MemberFilter::All(self.parts(value, depth + 1))))),
                _ => self.tests(name, value, &mut all),
            }
            if self.faults.is_full() {
                break;
            }
        }
        MemberFilter::All(all)
    }

    fn parts(&mut self, sent: &Value, depth: usize) -> Vec<MemberFilter> {
        match sent {
            Value::Array(list) => list.iter().map(|it| self.part(it, depth)).collect(),
            other => vec![self.part(other, depth)],
        }
    }

    /// What is asked of one member of the member.
    fn tests(&mut self, name: &str, value: &Value, all: &mut Vec<MemberFilter>) {
        let Some(field) = self.faults.take(field(name, self.is_staff)) else { return };
        match value {
            Value::Object(operators) => {
                for (operator, operand) in operators {
                    all.extend(self.faults.take(test(field, name, operator, operand)));
                }
            }
            value => all.extend(self.faults.take(test(field, name, "$eq", value))),
        }
    }
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
        _ => return Err(unsupported(format!("query.filter.{name}"), format!("members can't be filtered by {name}"))),
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
        _ => Err(unsupported(path, format!("members can't be filtered by {name} with {operator}"))),
    }
}

fn unsupported(path: String, why: String) -> Fault {
    Fault::because(Code::NotSupported, why.clone()).violating(vec![Violation::new(path, "OTHER", why)])
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
        Some(_) => {
            let why = "members can't be sorted by more than one field";
            return Err(unsupported("query.sort".to_owned(), why.to_owned()));
        }
    };
    let sort = match first["fieldName"].as_str().unwrap_or_default() {
        "createdDate" | "_createdDate" => Ok(MemberSort::Created),
        "lastLoginDate" if is_staff => Ok(MemberSort::LastLogin),
        "nickname" | "profile.nickname" => Ok(MemberSort::Nickname),
        "loginEmail" if is_staff => Ok(MemberSort::Email),
        name => Err(unsupported("query.sort[0].fieldName".to_owned(), format!("members can't be sorted by {name}"))),
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
/// [`Code::Validation`]; [`Code::NotSupported`] for fields that are not searched.
pub(crate) fn search(sent: &Value, is_staff: bool) -> Result<MemberFilter> {
    let wrong = |name: &str, rule, why: &str, most: usize| {
        Fault::invalid(vec![Violation::new(format!("search.{name}"), rule, why).with("threshold", most)])
    };
    let expression = match &sent["expression"] {
        Value::Null => return Ok(MemberFilter::default()),
        Value::String(it) if it.is_empty() => return Ok(MemberFilter::default()),
        Value::String(it) if it.chars().count() <= EXPRESSION => Ok(it),
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
    let any = names.iter().map(|it| filter(&json!({ it: { "$startsWith": expression } }), is_staff));
    Ok(MemberFilter::Any(any.collect::<Result<_>>()?))
}
