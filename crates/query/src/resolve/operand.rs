//! What each operator takes, and the codes for everything else (docs/protocol/content.md §13.1).

use crate::{
    item,
    plan::{Comparison, Folded, Scalar, Test},
    schema::{Kind, Schema},
    wire::{Condition, Operator},
};
use serde_json::Value as Json;
use std::borrow::Cow;
use stoa_kernel::{Code, Fault, Result, date};
use stoa_sql::pattern::Part;

/// The longest pattern of `$matches`: its parts, and its JSON text in bytes. PostgreSQL refuses regular
/// expressions that grow too large.
const MAX_PARTS: usize = 200;
const MAX_PATTERN: usize = 10_000;
/// The largest operand, whatever items may be: a statement has it as a parameter.
const LARGEST: item::ItemLimits = item::ItemLimits { bytes: 524_288, depth: item::MAX_DEPTH };

/// A condition on a reference, items in its operand being their ids.
pub(super) fn ids<'c>(condition: &'c Condition, schema: &Schema) -> Cow<'c, Condition> {
    let is_reference = matches!(schema.fields.get(&condition.field), Some(Kind::Reference | Kind::MultiReference));
    let id = |it: &Json| it.as_object()?.get("_id").filter(|it| it.is_string()).cloned();
    let operand = match &condition.operand {
        _ if !is_reference => return Cow::Borrowed(condition),
        Json::Array(list) => Json::Array(list.iter().map(|it| id(it).unwrap_or_else(|| it.clone())).collect()),
        it => id(it).unwrap_or_else(|| it.clone()),
    };
    let Condition { field, operator, path, .. } = condition;
    Cow::Owned(Condition { field: field.clone(), operator: *operator, operand, path: path.clone() })
}

/// Refuses what can't be asked of a multi-reference.
pub(super) fn of_links(condition: &Condition) -> Result<()> {
    use Operator::{Eq, Exists, HasAll, HasSome, In, IsEmpty, Ne, Nin};
    let is_whole = matches!(condition.operand, Json::Array(_) | Json::Object(_));
    match condition.operator {
        Eq | Ne if !is_whole => Ok(()),
        In | Nin | HasSome | HasAll | Exists | IsEmpty => Ok(()),
        _ => Err(wrong(condition, Code::FilterInvalid, "asks what a multi-reference can't answer")),
    }
}

/// `$eq`: any value; null asks for missing or null.
pub(super) fn equal(condition: &Condition) -> Result<Test> {
    let value = value(&condition.operand)?;
    Ok(match scalar(&value) {
        Some(it) => Test::Equal(it),
        None if value.is_null() => Test::Empty,
        None => Test::Whole(value),
    })
}

/// `$lt` and its like: text, number, boolean or date.
pub(super) fn comparison(condition: &Condition) -> Result<Test> {
    let comparison = match condition.operator {
        Operator::Lt => Comparison::Less,
        Operator::Lte => Comparison::LessOrEqual,
        Operator::Gt => Comparison::Greater,
        _ => Comparison::GreaterOrEqual,
    };
    match scalar(&value(&condition.operand)?) {
        Some(it) => Ok(Test::Compare(comparison, it)),
        None => Err(wrong(condition, Code::OperandType, "takes a string, a number, a boolean or a date")),
    }
}

/// `$in` and its like; nothing for an empty list, in which nothing is.
pub(super) fn list(condition: &Condition) -> Result<Option<Test>> {
    let mut list = scalars(condition)?;
    Ok(match list.len() {
        0 => None,
        1 => Some(Test::Equal(list.remove(0))),
        _ => Some(Test::In(list)),
    })
}

/// A list of texts, numbers and dates.
pub(super) fn scalars(condition: &Condition) -> Result<Vec<Scalar>> {
    let Json::Array(list) = &condition.operand else {
        return Err(wrong(condition, Code::ListOperand, "takes a list"));
    };
    let element = |it| match scalar(&value(it)?) {
        None | Some(Scalar::Flag(_)) => {
            Err(wrong(condition, Code::ListElementType, "takes a list of strings, numbers or dates"))
        }
        Some(it) => Ok(it),
    };
    list.iter().map(element).collect()
}

pub(super) fn folded(condition: &Condition) -> Result<Folded> {
    match value(&condition.operand)? {
        Json::String(it) => Ok(Folded::new(&it)),
        _ => Err(wrong(condition, Code::OperandNotText, "takes a string")),
    }
}

pub(super) fn flag(condition: &Condition) -> Result<bool> {
    condition.operand.as_bool().ok_or_else(|| wrong(condition, Code::FilterInvalid, "takes true or false"))
}

/// `$matches`: `{"ignoreCase":…,"spec":[{"type":"literal","value":…},{"type":"anyOf","value":…}]}`.
pub(super) fn matches(condition: &Condition) -> Result<Test> {
    let wrong = || wrong(condition, Code::FilterInvalid, "takes an object with a list spec of literal and anyOf");
    let operand = value(&condition.operand)?;
    let ignore_case = match operand.get("ignoreCase") {
        None | Some(Json::Null) => false,
        Some(it) => it.as_bool().ok_or_else(wrong)?,
    };
    let text = |it: &str| if ignore_case { stoa_kernel::fold::fold(it).into_owned() } else { it.to_owned() };
    let part = |it: &Json| {
        let value = text(it.get("value").and_then(Json::as_str).ok_or_else(wrong)?);
        match it.get("type").and_then(Json::as_str) {
            Some("literal") => Ok(Part::Literal(value)),
            Some("anyOf") => Ok(Part::Run(value)),
            _ => Err(wrong()),
        }
    };
    let parts = operand.get("spec").and_then(Json::as_array).ok_or_else(wrong)?;
    if parts.len() > MAX_PARTS || operand.to_string().len() > MAX_PATTERN {
        return Err(self::wrong(condition, Code::FilterInvalid, "takes no pattern as long as this"));
    }
    Ok(Test::Matches(parts.iter().map(part).collect::<Result<_>>()?, ignore_case))
}

/// An operand as an item would hold it: dates in one form, numbers as doubles, no NUL.
fn value(operand: &Json) -> Result<Json> {
    match operand {
        Json::Null | Json::Bool(_) => Ok(operand.clone()),
        it => item::value(it, LARGEST),
    }
}

fn scalar(value: &Json) -> Option<Scalar> {
    match value {
        Json::Number(it) => it.as_f64().map(Scalar::Number),
        Json::String(it) => Some(Scalar::Text(it.clone())),
        Json::Bool(it) => Some(Scalar::Flag(*it)),
        Json::Object(it) => it.get("$date").and_then(Json::as_str).and_then(date::parse).map(Scalar::Date),
        Json::Null | Json::Array(_) => None,
    }
}

fn wrong(condition: &Condition, code: Code, what: &str) -> Fault {
    Fault::because(code, format!("{} on {} {what}", condition.operator.name(), condition.field))
}
