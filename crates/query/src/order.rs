//! The same order over items in memory.

use crate::{
    matches::{itself_or_elements, leaves},
    plan::{Field, Key, Order},
};
use serde_json::Value as Json;
use std::cmp::Ordering;
use stoa_sql::{Direction, key, random};

/// How two documents of one collection stand to each other; equal only if they are the same item.
pub fn compare(order: &Order, a: &Json, b: &Json) -> Ordering {
    let by_key = match order {
        Order::Random { seed } => random::key(seed, id(a)).cmp(&random::key(seed, id(b))),
        Order::Keys(keys) => keys.iter().map(|it| by_key(it, a, b)).find(|it| it.is_ne()).unwrap_or(Ordering::Equal),
    };
    by_key.then_with(|| id(a).cmp(id(b)))
}

/// The sort keys of every value of a field, for the distinct ones among them.
pub fn values(field: &Field, document: &Json) -> Vec<String> {
    leaves(document, field).into_iter().flat_map(itself_or_elements).map(key::own_of).collect()
}

/// The value behind a row of [`crate::compile::distinct`], as items hold it.
pub fn value(key: &str) -> Json {
    let value = key::value(key);
    crate::item::value(&value).unwrap_or(value)
}

fn by_key(key: &Key, a: &Json, b: &Json) -> Ordering {
    let of = |document| {
        let keys = leaves(document, &key.field).into_iter();
        match key.direction {
            Direction::Ascending => keys.map(key::least_of).min().unwrap_or_default(),
            Direction::Descending => keys.map(key::greatest_of).max().unwrap_or_default(),
        }
    };
    match key.direction {
        Direction::Ascending => of(a).cmp(&of(b)),
        Direction::Descending => of(b).cmp(&of(a)),
    }
}

fn id(document: &Json) -> &str {
    document.get("_id").and_then(Json::as_str).unwrap_or_default()
}
