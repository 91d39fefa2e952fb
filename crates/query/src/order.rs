//! The same order over items in memory.

use crate::{
    item,
    matches::{itself_or_elements, leaves},
    plan::{Field, Key, KeysetValue, Order, Position},
};
use serde_json::Value as Json;
use std::cmp::Ordering;
use stoa_kernel::date;
use stoa_sql::{Direction, key, random};

/// How two documents of one collection stand to each other; equal only if they are the same item.
pub fn compare(order: &Order, a: &Json, b: &Json) -> Ordering {
    let by_key = match order {
        Order::Random { seed } => random::key(seed, id(a)).cmp(&random::key(seed, id(b))),
        Order::Keys(keys) => keys.iter().map(|it| by_key(it, a, b)).find(|it| it.is_ne()).unwrap_or(Ordering::Equal),
    };
    by_key.then_with(|| match order.by_id() {
        Some(Direction::Descending) => id(b).cmp(id(a)),
        _ => id(a).cmp(id(b)),
    })
}

/// Where an item stands in an order.
pub fn position(order: &Order, document: &Json) -> Position {
    let keyset_value = |key: &Key| match key.field {
        Field::Created | Field::Updated => {
            let time = document.get(key.field.name().as_ref()).and_then(|it| it.get("$date")).and_then(Json::as_str);
            KeysetValue::Time(time.and_then(date::parse).unwrap_or_default())
        }
        _ => KeysetValue::Key(sort_key(key, document)),
    };
    Position {
        keyset: order.keyset_keys().map(keyset_value).collect(),
        id: id(document).to_owned(),
        is_included: false,
    }
}

/// The sort keys of every value of a field, for the distinct ones among them.
pub fn values(field: &Field, document: &Json) -> Vec<String> {
    leaves(document, field).into_iter().flat_map(itself_or_elements).map(key::own_of).collect()
}

/// The value behind a row of [`crate::compile::distinct`], as items hold it.
pub fn value(key: &str) -> Json {
    let value = key::value(key);
    // It is in an item already, whatever was allowed then.
    let limits = item::ItemLimits { bytes: usize::MAX, depth: item::MAX_DEPTH };
    item::value(&value, limits).unwrap_or(value)
}

fn by_key(key: &Key, a: &Json, b: &Json) -> Ordering {
    match key.direction {
        Direction::Ascending => sort_key(key, a).cmp(&sort_key(key, b)),
        Direction::Descending => sort_key(key, b).cmp(&sort_key(key, a)),
    }
}

fn sort_key(key: &Key, document: &Json) -> String {
    let keys = leaves(document, &key.field).into_iter();
    match key.direction {
        Direction::Ascending => keys.map(key::least_of).min().unwrap_or_default(),
        Direction::Descending => keys.map(key::greatest_of).max().unwrap_or_default(),
    }
}

fn id(document: &Json) -> &str {
    document.get("_id").and_then(Json::as_str).unwrap_or_default()
}
