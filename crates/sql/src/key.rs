//! One total order over all values, as text that compares byte by byte.
//!
//! ```text
//! missing, null, []  <  numbers  <  strings  <  objects  <  arrays  <  booleans  <  dates
//! ""                    1 hex       2 text      3 sorted    4 sorted   5 0 or 1     6 ISO
//! ```
//!
//! (docs/protocol/content.md §21.2.) An array takes the place of its smallest element in ascending order and
//! of its largest in descending order, so only arrays within arrays have a position of their own.
//!
//! Keys that order items are [`bounded`], so that they fit into an index and into a cursor: of a value
//! whose key is longer than [`LONGEST`], the beginning decides, and then a digest of the whole. Different
//! values keep different keys.
//!
//! The order is defined three times: here, for SQLite and for memory; in [`crate::postgres_functions`]
//! as SQL; a property test keeps them equal. A key is never NULL, which spares every reader of it the
//! question where NULLs go, and one text is all that a cursor needs to remember of a sort field.

use serde_json::Value as Json;

/// Characters of the longest key that stays as it is.
pub const LONGEST: usize = 480;

/// The ascending sort key of the value with this JSON text; `None` stands for a missing one.
pub fn least(json: Option<&str>) -> String {
    parsed(json).map_or_else(String::new, |it| least_of(&it))
}

/// The descending sort key of the value with this JSON text.
pub fn greatest(json: Option<&str>) -> String {
    parsed(json).map_or_else(String::new, |it| greatest_of(&it))
}

/// The key of the value as a whole: an array has a position of its own.
pub fn own(json: Option<&str>) -> String {
    parsed(json).map_or_else(String::new, |it| own_of(&it))
}

/// The keys of an array's elements, each as it is, or of a value that is no array, as a JSON array of texts.
pub fn of_values(json: &str) -> String {
    let value = parsed(Some(json)).unwrap_or_default();
    let keys: Vec<String> = match &value {
        Json::Array(elements) => elements.iter().map(own_of).collect(),
        value => vec![own_of(value)],
    };
    serde_json::to_string(&keys).unwrap_or_else(|_| "[]".to_owned())
}

/// [`least`] of a value that is parsed already.
pub fn least_of(value: &Json) -> String {
    match value {
        Json::Array(elements) => elements.iter().map(|it| bounded(own_of(it))).min().unwrap_or_default(),
        _ => bounded(own_of(value)),
    }
}

/// [`greatest`] of a value that is parsed already.
pub fn greatest_of(value: &Json) -> String {
    match value {
        Json::Array(elements) => elements.iter().map(|it| bounded(own_of(it))).max().unwrap_or_default(),
        _ => bounded(own_of(value)),
    }
}

/// A key of a length that indexes and cursors can hold, different for different keys.
pub fn bounded(key: String) -> String {
    match beginning(&key) {
        whole if whole.len() == key.len() => key,
        beginning => format!("{beginning}{}", crate::random::digest(&[&key])),
    }
}

/// The part of a key that stands in front of every digest.
pub fn beginning(key: &str) -> &str {
    match key.char_indices().nth(LONGEST) {
        Some((end, _)) => key.get(..end).unwrap_or_default(),
        None => key,
    }
}

/// What an index keeps of the value with this JSON text: its sort key, folded if the index is, as long
/// as that has at most so many characters. Nothing for longer ones and for arrays, whose position depends
/// on the direction: of an index, they are the array-valued items.
pub fn indexed(json: Option<&str>, most: usize, fold: bool) -> Option<String> {
    let value = parsed(json).unwrap_or_default();
    if value.is_array() {
        return None;
    }
    Some(bounded(folded_if(fold, own_of(&value)))).filter(|it| most >= LONGEST || it.chars().count() <= most)
}

/// What must not be there twice: a value as a whole, arrays too. Nothing for missing and null.
pub fn unique(json: Option<&str>, fold: bool) -> Option<String> {
    let key = own(json);
    (!key.is_empty()).then(|| bounded(folded_if(fold, key)))
}

fn folded_if(fold: bool, key: String) -> String {
    if fold { stoa_kernel::fold::fold(&key).into_owned() } else { key }
}

/// The value behind a key of [`least`] or [`greatest`]; null for the empty key.
pub fn value(key: &str) -> Json {
    let rest = key.get(1..).unwrap_or_default();
    match key.as_bytes().first() {
        Some(b'1') => {
            let turned = u64::from_str_radix(rest, 16).unwrap_or_default();
            let bits = if turned >> 63 == 1 { turned & !(1 << 63) } else { !turned };
            f64::from_bits(bits).into()
        }
        Some(b'2') => rest.into(),
        Some(b'3' | b'4') => parsed(Some(rest)).unwrap_or_default(),
        Some(b'5') => (rest == "1").into(),
        Some(b'6') => serde_json::json!({ "$date": rest }),
        _ => Json::Null,
    }
}

/// A text that is equal exactly for values that are equal: the way PostgreSQL prints `jsonb`.
pub fn sorted(json: &str) -> String {
    parsed(Some(json)).map_or_else(String::new, |it| sorted_of(&it))
}

/// [`sorted`] of a value that is parsed already.
pub fn sorted_of(value: &Json) -> String {
    let mut text = String::new();
    print(value, &mut text);
    text
}

fn parsed(json: Option<&str>) -> Option<Json> {
    serde_json::from_str(json?).ok()
}

/// [`own`] of a value that is parsed already.
pub fn own_of(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Number(it) => format!("1{:016x}", number(it.as_f64().unwrap_or_default())),
        Json::String(it) => format!("2{it}"),
        Json::Object(it) => match date(it) {
            Some(iso) => format!("6{iso}"),
            None => format!("3{}", sorted_of(value)),
        },
        Json::Array(_) => format!("4{}", sorted_of(value)),
        Json::Bool(it) => format!("5{}", u8::from(*it)),
    }
}

/// The text of a date. Stored items have `$date` in nothing else (docs/protocol/content.md §2).
fn date(object: &serde_json::Map<String, Json>) -> Option<&str> {
    object.get("$date").and_then(Json::as_str)
}

/// [`own`] of a number, appended.
pub fn own_of_number(value: f64, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let (bits, mut text) = (number(value), [b'1'; 17]);
    for (n, digit) in text.iter_mut().rev().take(16).enumerate() {
        *digit = HEX[(bits >> (n * 4) & 15) as usize];
    }
    out.push_str(std::str::from_utf8(&text).unwrap_or_default());
}

/// Bits of a double that compare as the numbers do: the sign bit of positive numbers is set, all bits
/// of negative ones are turned. Minus zero counts as zero.
fn number(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn print(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
        Json::Number(it) => out.push_str(&plain(it.as_f64().unwrap_or_default())),
        Json::String(it) => quote(it, out),
        Json::Array(elements) => {
            out.push('[');
            for (n, it) in elements.iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                print(it, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
            out.push('{');
            for (n, (name, it)) in members.into_iter().enumerate() {
                out.push_str(if n > 0 { ", " } else { "" });
                quote(name, out);
                out.push_str(": ");
                print(it, out);
            }
            out.push('}');
        }
    }
}

fn quote(text: &str, out: &mut String) {
    use std::fmt::Write;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A number without an exponent, in the fewest digits that give the same double.
fn plain(value: f64) -> String {
    // Rust never prints an exponent here, and minus zero is the only number whose sign would be lost.
    if value == 0.0 { "0".to_owned() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_the_order_of_values() {
        let ascending = [
            "null",
            "-1e300",
            "-2",
            "-1",
            "-0.5",
            "0",
            "1e-7",
            "1",
            "10",
            "9007199254740992",
            "1e300",
            "\"\"",
            "\"XYZ\"",
            "\"abc\"",
            "\"\u{ffff}\"",
            "\"\u{10000}\"",
            "{\"a\":1}",
            "{}",
            "[[1]]",
            "[[]]",
            "false",
            "true",
            "{\"$date\":\"0000-01-01T00:00:00.000Z\"}",
            "{\"$date\":\"2024-03-05T06:07:08.009Z\"}",
        ];
        let keys: Vec<_> = ascending.iter().map(|it| least(Some(it))).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:#?}");
        for text in ascending {
            assert_eq!(sorted_of(&value(&own(Some(text)))), sorted(text));
        }
        assert_eq!(least(Some("[]")), least(None));
        assert_eq!(least(Some("0")), least(Some("-0.0")));
    }

    #[test]
    fn arrays_stand_where_their_extreme_element_stands() {
        assert_eq!(least(Some("[3,1,2]")), least(Some("1")));
        assert_eq!(greatest(Some("[3,1,2]")), greatest(Some("3")));
    }

    #[test]
    fn equal_objects_have_equal_texts() {
        assert_eq!(sorted(r#"{"bb":1,"a":[1,{"y":2,"x":1}]}"#), r#"{"a": [1, {"x": 1, "y": 2}], "bb": 1}"#);
        assert_eq!(sorted("1e+21"), "1000000000000000000000");
        assert_eq!(sorted("1e-7"), "0.0000001");
    }
}
