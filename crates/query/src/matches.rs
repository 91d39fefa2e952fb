//! The same filter over one item in memory: for events, for realtime and as the measure in tests.
//!
//! Conditions of writes aren't decided here but in SQL, inside the write.

use crate::plan::{Comparison, Field, Filter, Scalar, Test};
use serde_json::Value as Json;
use std::cmp::Ordering;
use stoa_kernel::{date, fold::fold};
use stoa_sql::{key, pattern};

/// Whether the filter holds for a document (with its `_id` and the other names of the server).
pub fn matches(filter: &Filter, document: &Json) -> bool {
    match filter {
        Filter::True => true,
        Filter::False | Filter::Rows(_) => false,
        Filter::And(list) => list.iter().all(|it| matches(it, document)),
        Filter::Or(list) => list.iter().any(|it| matches(it, document)),
        Filter::Not(it) => !matches(it, document),
        Filter::Test(field, test) => holds(test, &leaves(document, field)),
    }
}

/// Every value at a field, each array on the way standing for its elements; missing ones are left out.
pub(crate) fn leaves<'a>(document: &'a Json, field: &Field) -> Vec<&'a Json> {
    let Field::Path(names) = field else {
        return document.get(field.name().as_ref()).into_iter().collect();
    };
    let Some((first, rest)) = names.split_first() else { return Vec::new() };
    let mut found: Vec<_> = member(document, first).into_iter().collect();
    for name in rest {
        found = found.into_iter().flat_map(itself_or_elements).filter_map(|it| member(it, name)).collect();
    }
    found
}

/// The elements of an array, or the value itself.
pub(crate) fn itself_or_elements(value: &Json) -> &[Json] {
    match value {
        Json::Array(elements) => elements,
        it => std::slice::from_ref(it),
    }
}

fn member<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    value.as_object()?.get(name)
}

fn holds(test: &Test, leaves: &[&Json]) -> bool {
    match test {
        Test::Empty => leaves.is_empty() || leaves.iter().any(|it| it.is_null()),
        Test::Present => !leaves.is_empty(),
        Test::Array => leaves.iter().any(|it| it.is_array()),
        _ => leaves.iter().any(|leaf| {
            value_holds(test, leaf)
                || leaf.is_array() && itself_or_elements(leaf).iter().any(|it| value_holds(test, it))
        }),
    }
}

fn value_holds(test: &Test, value: &Json) -> bool {
    let text = |holds: &dyn Fn(&str) -> bool| value.as_str().is_some_and(holds);
    match test {
        Test::Empty | Test::Present | Test::Array => false,
        Test::Equal(it) => compare(value, it) == Some(Ordering::Equal),
        Test::In(list) => list.iter().any(|it| compare(value, it) == Some(Ordering::Equal)),
        Test::Compare(comparison, it) => compare(value, it).is_some_and(|it| match comparison {
            Comparison::Less => it.is_lt(),
            Comparison::LessOrEqual => it.is_le(),
            Comparison::Greater => it.is_gt(),
            Comparison::GreaterOrEqual => it.is_ge(),
        }),
        Test::Whole(it) => key::sorted_of(value) == key::sorted_of(it),
        Test::StartsWith(it) => text(&|text| fold(text).starts_with(it.as_str())),
        Test::EndsWith(it) => text(&|text| fold(text).ends_with(it.as_str())),
        Test::Contains(it) => text(&|text| fold(text).contains(it.as_str())),
        Test::Matches(parts, true) => text(&|text| pattern::fits(&fold(text), parts)),
        Test::Matches(parts, false) => text(&|text| pattern::fits(text, parts)),
    }
}

/// How a value compares with an operand; not at all if their types differ.
fn compare(value: &Json, operand: &Scalar) -> Option<Ordering> {
    match (value, operand) {
        (Json::Number(value), Scalar::Number(it)) => value.as_f64()?.partial_cmp(it),
        (Json::String(value), Scalar::Text(it)) => Some(value.as_str().cmp(it)),
        (Json::Bool(value), Scalar::Flag(it)) => Some(value.cmp(it)),
        (Json::Object(value), Scalar::Date(it)) => Some(date::parse(value.get("$date")?.as_str()?)?.cmp(it)),
        _ => None,
    }
}
