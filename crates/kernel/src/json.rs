//! JSON from strangers, parsed within a budget.
//!
//! A tree of values takes many times the bytes of its text: `{"":0}` is 7 bytes with its comma and some 500 in
//! memory. So values are counted while they are made, and a text with too many is given up in the middle.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::{cell::Cell, fmt};

/// Bytes that one counted value takes in memory, at most.
pub const VALUE_BYTES: usize = 128;
/// What an object counts beside its members: its table and its list of members take so much more.
const OBJECT: usize = 4;

/// How many values a text may still have.
#[derive(Debug)]
pub struct Budget {
    most: usize,
    left: Cell<usize>,
    is_exceeded: Cell<bool>,
}

impl Budget {
    pub fn of(most: usize) -> Self {
        Self { most, left: Cell::new(most), is_exceeded: Cell::new(false) }
    }

    /// The budget of a text of at most so many bytes: a value for each sixteen, which numbers in a list or
    /// members with short names stay below.
    pub fn of_bytes(most: usize) -> Self {
        Self::of(most / 16)
    }

    /// Values at the beginning.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Values that were counted.
    pub fn used(&self) -> usize {
        self.most - self.left.get()
    }

    /// Whether a text was given up for having too many.
    pub fn is_exceeded(&self) -> bool {
        self.is_exceeded.get()
    }

    /// Counts values that are made.
    ///
    /// # Errors
    /// When there are too many; [`Budget::is_exceeded`] tells this error from others.
    pub fn take<E: Error>(&self, count: usize) -> Result<(), E> {
        match self.left.get().checked_sub(count) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.is_exceeded.set(true);
                Err(E::custom(format_args!("it has more than {} values", self.most)))
            }
        }
    }
}

/// Parses a text within a budget. Of a repeated name the last value counts, at the place of the first.
///
/// # Errors
/// The parser's, with line and column; one for too many values.
pub fn parse(text: &[u8], budget: &Budget) -> serde_json::Result<Value> {
    let mut parser = serde_json::Deserializer::from_slice(text);
    let value = budget.deserialize(&mut parser)?;
    parser.end()?;
    Ok(value)
}

impl<'de> DeserializeSeed<'de> for &Budget {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        self.take(1)?;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &Budget {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.take(OBJECT)?;
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            map.insert(name, members.next_value_seed(self)?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_plain_parser() {
        for text in [
            "{}",
            "[1,-2,3.5,1e300,18446744073709551615,true,false,null,\"é\\n\\ud83d\\ude00\"]",
            "{\"b\":{\"c\":[{}]},\"a\":1,\"b\":2}",
            " \"x\" ",
            "{\"$serde_json::private::Number\":\"1\"}",
        ] {
            let plain: Value = serde_json::from_str(text).expect(text);
            assert_eq!(parse(text.as_bytes(), &Budget::of(100)).expect(text).to_string(), plain.to_string());
        }
        for text in ["", "{", "[1,]", "{} x", "\"\\ud800\"", "1e999", "{\"a\":1,}", &"[".repeat(200)] {
            let plain = serde_json::from_str::<Value>(text).expect_err(text).to_string();
            assert_eq!(parse(text.as_bytes(), &Budget::of(1_000)).expect_err(text).to_string(), plain);
        }
    }

    #[test]
    fn text_with_too_many_values_is_given_up_early() {
        let budget = Budget::of(100);
        let many = format!("[{}0]", "{\"\":0},".repeat(1_000_000));
        let error = parse(many.as_bytes(), &budget).expect_err("too many");
        assert!(budget.is_exceeded());
        assert!(error.to_string().starts_with("it has more than 100 values"), "{error}");
        assert!(error.column() < 200, "{error}");
        // A broken text is none with too many values.
        let budget = Budget::of(100);
        parse(b"[1", &budget).expect_err("broken");
        assert!(!budget.is_exceeded());
        assert_eq!(budget.used(), 2);
    }
}
