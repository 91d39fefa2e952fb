//! What expressions come to (docs/protocol/content.md §3.11, §21.7): doubles, no minus zero, nothing of what is
//! missing or null, and a fault for operands of another kind.

use super::{budget::Work, value::Value};
use crate::stages::{Expression, FieldPath, Many, One, Two};
use std::borrow::Cow;
use stoa_kernel::{Code, Fault, Result};

/// Bytes of a text that is made.
const LONGEST: usize = 1_048_576;

type Found<'v> = Option<Cow<'v, Value>>;

/// The value of an expression for a row; nothing for a field that isn't there.
///
/// # Errors
/// WDE0080 for an operand of the wrong kind, a divisor of zero, and what is no double or a text too long.
pub(super) fn value<'v>(expression: &Expression<FieldPath>, row: &'v Value, work: &Work) -> Result<Found<'v>> {
    Ok(match expression {
        Expression::Field(path) => return field(path, row, work),
        Expression::Text(it) => Some(Cow::Owned(Value::text(it))),
        Expression::Number(it) => Some(Cow::Owned(Value::Number(*it))),
        Expression::One(operation, it) => Some(Cow::Owned(one(*operation, value(it, row, work)?, work)?)),
        Expression::Two(..) | Expression::Many(Many::Add | Many::Sum | Many::Multiply, _) => {
            Some(Cow::Owned(number(expression, row, work)?.map_or(Value::Null, Value::Number)))
        }
        Expression::Many(Many::Concat, list) => Some(Cow::Owned(concat(list, row, work)?)),
        Expression::Substring { text, start, length } => {
            Some(Cow::Owned(substring(text, start, length.as_deref(), row, work)?))
        }
    })
}

/// What a path leads to: where arrays are on the way, the list of what their elements have there.
pub(super) fn field<'v>(path: &[String], row: &'v Value, work: &Work) -> Result<Found<'v>> {
    let mut here = row;
    for (n, name) in path.iter().enumerate() {
        if let Value::Array(_) = here {
            return flattened(&path[n..], here, work);
        }
        let Some(next) = here.member(name) else { return Ok(None) };
        here = next;
    }
    Ok(Some(Cow::Borrowed(here)))
}

fn flattened<'v>(path: &[String], list: &Value, work: &Work) -> Result<Found<'v>> {
    let mut leaves = Vec::new();
    if let Value::Array(list) = list {
        list.iter().for_each(|it| it.leaves(path, &mut |leaf| leaves.push(leaf.clone())));
    }
    let list = Value::Array(leaves);
    work.take(list.weight())?;
    Ok(if list == Value::Array(Vec::new()) { None } else { Some(Cow::Owned(list)) })
}

/// The number that an expression comes to; nothing where an operand is null or missing.
fn number(expression: &Expression<FieldPath>, row: &Value, work: &Work) -> Result<Option<f64>> {
    match expression {
        Expression::Number(it) => Ok(Some(*it)),
        Expression::Two(operation, list) => {
            let [a, b] = &**list;
            let (Some(a), Some(b)) = (number(a, row, work)?, number(b, row, work)?) else { return Ok(None) };
            two(*operation, a, b).map(Some)
        }
        Expression::Many(operation @ (Many::Add | Many::Sum | Many::Multiply), list) => {
            let is_product = *operation == Many::Multiply;
            let (mut result, mut is_null) = (if is_product { 1.0 } else { 0.0 }, false);
            for it in list {
                match number(it, row, work)? {
                    None => is_null = true,
                    Some(it) if is_product => result *= it,
                    Some(it) => result += it,
                }
            }
            if is_null { Ok(None) } else { finite(result).map(Some) }
        }
        other => match value(other, row, work)?.as_deref() {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(it)) => Ok(Some(*it)),
            Some(_) => Err(wrong("arithmetic takes numbers")),
        },
    }
}

fn two(operation: Two, a: f64, b: f64) -> Result<f64> {
    match operation {
        Two::Subtract => finite(a - b),
        Two::Divide | Two::Modulo if b == 0.0 => Err(wrong("a divisor is zero")),
        Two::Divide => finite(a / b),
        Two::Modulo => finite(a % b),
    }
}

fn one(operation: One, operand: Found<'_>, work: &Work) -> Result<Value> {
    let Some(operand) = operand.filter(|it| **it != Value::Null) else { return Ok(Value::Null) };
    let number = || match &*operand {
        Value::Number(it) => Ok(*it),
        _ => Err(wrong("arithmetic takes numbers")),
    };
    // Characters are looked at one by one.
    let text = || {
        let text = text_of(&operand)?;
        work.take(8 * text.len()).map(|()| text)
    };
    Ok(match operation {
        One::Abs => Value::Number(number()?.abs()),
        One::Floor => Value::Number(number()?.floor() + 0.0),
        One::Ceil => Value::Number(number()?.ceil() + 0.0),
        One::Length => Value::Number(text()?.chars().count() as f64),
        One::Lower => made(text()?.to_lowercase())?,
        One::Upper => made(text()?.to_uppercase())?,
        One::Stringify => match (&*operand, operand.date()) {
            (Value::Text(_), _) => operand.into_owned(),
            (_, Some(iso)) => Value::text(iso),
            (it, None) => {
                let mut text = String::new();
                work.take(it.weight())?;
                it.print(&mut text);
                made(text)?
            }
        },
    })
}

fn concat(list: &[Expression<FieldPath>], row: &Value, work: &Work) -> Result<Value> {
    let (mut joined, mut is_null) = (String::new(), false);
    for it in list {
        match value(it, row, work)?.as_deref() {
            None | Some(Value::Null) => is_null = true,
            Some(it) => {
                let text = text_of(it)?;
                work.take(2 * text.len())?;
                joined.push_str(text);
            }
        }
        if joined.len() > LONGEST {
            return made(joined);
        }
    }
    if is_null { Ok(Value::Null) } else { made(joined) }
}

/// Characters from one that is counted from zero; to the end without a length.
fn substring(
    text: &Expression<FieldPath>,
    start: &Expression<FieldPath>,
    length: Option<&Expression<FieldPath>>,
    row: &Value,
    work: &Work,
) -> Result<Value> {
    let text = value(text, row, work)?;
    let start = number(start, row, work)?;
    let length = length.map(|it| number(it, row, work)).transpose()?;
    let Some(text) = text.filter(|it| **it != Value::Null) else { return Ok(Value::Null) };
    let text = text_of(&text)?;
    work.take(4 * text.len())?;
    let (Some(start), length @ (None | Some(Some(_)))) = (start, length) else { return Ok(Value::Null) };
    let start = count(start, "the start of a substring")?;
    let length = length.flatten().map(|it| count(it, "the length of a substring")).transpose()?;
    let rest = text.char_indices().nth(start).map_or("", |(at, _)| &text[at..]);
    let end = length.and_then(|it| rest.char_indices().nth(it)).map_or(rest.len(), |(at, _)| at);
    Ok(Value::text(&rest[..end]))
}

/// A number of characters; what is behind the point is cut off.
fn count(number: f64, what: &str) -> Result<usize> {
    let number = number.trunc();
    if number < 0.0 {
        return Err(wrong(&format!("{what} is negative")));
    }
    Ok(number as usize)
}

fn text_of(value: &Value) -> Result<&str> {
    match value {
        Value::Text(it) => Ok(it),
        _ => Err(wrong("operations on texts take texts; stringify makes one")),
    }
}

fn made(text: String) -> Result<Value> {
    if text.len() > LONGEST {
        return Err(wrong(&format!("a text grows longer than {LONGEST} bytes")));
    }
    Ok(Value::Text(text.into()))
}

/// A result of arithmetic, never minus zero.
pub(super) fn finite(number: f64) -> Result<f64> {
    if number.is_finite() { Ok(number + 0.0) } else { Err(wrong("the result is too large for a number")) }
}

fn wrong(text: &str) -> Fault {
    Fault::because(Code::BadRequest, text)
}
