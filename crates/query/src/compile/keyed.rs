//! Tests on a field whose sort key an index has, and which holds no array.

use super::parts::sign;
use crate::plan::{Comparison, Field, Filter, Scalar, Test};
use serde_json::Value as Json;
use stoa_kernel::date;
use stoa_sql::{Value, Writer, key};

/// What an index of keys does for a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// All that pass have this one value.
    Value,
    /// They lie together, or in a few places.
    Range,
}

pub(super) fn use_of(test: &Test, is_folded: bool) -> Option<Use> {
    match test {
        Test::Empty => Some(Use::Value),
        Test::Equal(it) if is_exact(it, is_folded) => Some(Use::Value),
        Test::Whole(Json::Object(_)) if !is_folded => Some(Use::Value),
        Test::Equal(_) | Test::In(_) | Test::Whole(Json::Object(_)) => Some(Use::Range),
        Test::Compare(_, it) if is_exact(it, is_folded) => Some(Use::Range),
        Test::StartsWith(_) if is_folded => Some(Use::Range),
        _ => None,
    }
}

/// A key in an index.
pub(super) struct IndexedKey<'a> {
    pub key: &'a str,
    pub is_folded: bool,
    /// Another test bounds it on the other side: of two bounds on one side SQLite may take the wider.
    pub is_closed: bool,
}

/// Whether a filter bounds the values of a field on the other side than a comparison does.
pub(super) fn closes(filter: &Filter, field: &Field, test: &Test) -> bool {
    let (Filter::Test(on, Test::Compare(a, x)), Test::Compare(b, y)) = (filter, test) else { return false };
    let is_lower = |it: &Comparison| matches!(it, Comparison::Greater | Comparison::GreaterOrEqual);
    on == field && is_lower(a) != is_lower(b) && std::mem::discriminant(x) == std::mem::discriminant(y)
}

/// The test as a condition on the key; nothing if keys don't tell. Where they tell only roughly, the
/// `plain` test on the value follows.
pub(super) fn write<'d>(
    sql: &mut Writer<'d>,
    indexed: &IndexedKey<'_>,
    test: &Test,
    plain: &dyn Fn(&mut Writer<'d>) -> String,
) -> Option<String> {
    let IndexedKey { key: expression, is_folded, is_closed } = *indexed;
    use_of(test, is_folded).or(matches!(test, Test::Array | Test::Whole(_)).then_some(Use::Value))?;
    let (rough, is_exact) = match test {
        Test::Empty => (format!("{expression} = ''"), true),
        Test::Equal(it) => match parameter(it, is_folded) {
            Some(key) => (format!("{expression} = {}", sql.param(key)), is_exact(it, is_folded)),
            None => return Some("false".to_owned()),
        },
        Test::Whole(it @ Json::Object(_)) => {
            let key = key::bounded(folded_if(is_folded, key::own_of(it)));
            (format!("{expression} = {}", sql.param(key)), !is_folded)
        }
        Test::In(list) => {
            let keys: Vec<_> = list.iter().filter_map(|it| parameter(it, is_folded)).collect();
            let keys = sql.param(Value::Texts(keys));
            (sql.dialect().any_of(expression, &keys), list.iter().all(|it| is_exact(it, is_folded)))
        }
        Test::Compare(comparison, it) => match own(it) {
            Some(key) => compare(sql, expression, *comparison, &folded_if(is_folded, key), is_closed),
            None => return Some("false".to_owned()),
        },
        Test::StartsWith(it) => starts_with(sql, expression, &format!("2{}", it.as_str())),
        // No array is among these.
        _ => return Some("false".to_owned()),
    };
    Some(if is_exact { rough } else { format!("({rough} and {})", plain(sql)) })
}

/// Keys of other types lie on the other side of the type's prefix.
fn compare(
    sql: &mut Writer<'_>,
    expression: &str,
    comparison: Comparison,
    key: &str,
    is_closed: bool,
) -> (String, bool) {
    let type_prefix = key.get(..1).unwrap_or_default();
    let beginning = key::beginning(key);
    let is_exact = beginning.len() == key.len();
    let (sign, bound, type_prefix) = match comparison {
        // Digests are made of characters before this one.
        Comparison::Less | Comparison::LessOrEqual if !is_exact => {
            ("<", format!("{beginning}g"), format!(">= '{type_prefix}'"))
        }
        Comparison::Greater | Comparison::GreaterOrEqual if !is_exact => {
            (">=", beginning.to_owned(), format!("< '{}'", after(type_prefix)))
        }
        Comparison::Less | Comparison::LessOrEqual => {
            (sign(comparison).sql(), key.to_owned(), format!(">= '{type_prefix}'"))
        }
        Comparison::Greater | Comparison::GreaterOrEqual => {
            (sign(comparison).sql(), key.to_owned(), format!("< '{}'", after(type_prefix)))
        }
    };
    let bound = format!("{expression} {sign} {}", sql.param(bound));
    (if is_closed { bound } else { format!("({bound} and {expression} {type_prefix})") }, is_exact)
}

fn starts_with(sql: &mut Writer<'_>, expression: &str, key: &str) -> (String, bool) {
    let beginning = key::beginning(key);
    let from = sql.param(beginning);
    let text = format!("({expression} >= {from} and {expression} < ");
    let to = sql.param(after(beginning));
    (format!("{text}{to})"), beginning.len() == key.len())
}

/// The first text after all that begin so.
fn after(beginning: &str) -> String {
    let mut chars: Vec<char> = beginning.chars().collect();
    while let Some(last) = chars.pop() {
        let next = match last {
            '\u{d7ff}' => Some('\u{e000}'),
            it => char::from_u32(u32::from(it) + 1),
        };
        if let Some(next) = next {
            chars.push(next);
            break;
        }
    }
    chars.into_iter().collect()
}

/// Whether equal keys mean equal values.
fn is_exact(operand: &Scalar, is_folded: bool) -> bool {
    !is_folded || !matches!(operand, Scalar::Text(_))
}

fn parameter(operand: &Scalar, is_folded: bool) -> Option<String> {
    own(operand).map(|it| key::bounded(folded_if(is_folded, it)))
}

/// The key of an operand; nothing for a date that no item can have.
fn own(operand: &Scalar) -> Option<String> {
    Some(match operand {
        Scalar::Number(it) => key::own_of(&Json::from(*it)),
        Scalar::Text(it) => format!("2{it}"),
        Scalar::Flag(it) => key::own_of(&Json::from(*it)),
        Scalar::Date(it) => format!("6{}", date::print(*it)?),
    })
}

fn folded_if(fold: bool, key: String) -> String {
    if fold { stoa_kernel::fold::fold(&key).into_owned() } else { key }
}
