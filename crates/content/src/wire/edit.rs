//! Values that are edited: elements of lists added, taken out and replaced (docs/protocol/content.md §9).

use crate::fault::{invalid, missing};
use serde_json::{Map, Value};
use std::collections::HashSet;
use stoa_kernel::Result;
use stoa_query::item::{self, ItemLimits};

/// What is done to the value of a field, in this order: elements taken out, replaced, added, and each left but once.
#[derive(Debug, PartialEq)]
pub(crate) struct ValueEdit {
    removed: Vec<Value>,
    replaced: Vec<(Value, Value)>,
    added: Vec<Value>,
    is_unique: bool,
}

impl ValueEdit {
    /// Reads `operations`, whose types were checked.
    ///
    /// # Errors
    /// WDE0075 where nothing is to be done, or a replacement lacks one of its two sides; what makes a value invalid.
    pub(crate) fn parse(operations: &Map<String, Value>, path: &str, limits: ItemLimits) -> Result<Self> {
        let list = |name: &str| operations.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
        let values = |name: &str| list(name).iter().map(|it| item::value(it, limits)).collect::<Result<Vec<_>>>();
        let mut replaced = Vec::new();
        for (n, pair) in list("replaceItems").iter().enumerate() {
            let side = |name: &str| {
                let value = pair.get(name).ok_or_else(|| missing(&format!("{path}.replaceItems[{n}].{name}")));
                value.and_then(|it| item::value(it, limits))
            };
            replaced.push((side("from")?, side("to")?));
        }
        let is_unique = operations.get("removeDuplicates") == Some(&Value::Bool(true));
        let edit = Self { removed: values("removeItems")?, replaced, added: values("addItems")?, is_unique };
        match edit.count() {
            0 => Err(invalid(path, "must name something to do")),
            _ => Ok(edit),
        }
    }

    /// How often it looks through a list.
    pub(crate) fn count(&self) -> usize {
        self.removed.len() + self.replaced.len() + self.added.len() + usize::from(self.is_unique)
    }

    /// What becomes of a value; nothing where it stays as it is. The inner error says what the value is not. `spend` is
    /// told how many values are looked through.
    ///
    /// # Errors
    /// What `spend` answers.
    pub(super) fn apply(
        &self,
        value: Option<Value>,
        mut spend: impl FnMut(usize) -> Result<()>,
    ) -> Result<std::result::Result<Option<Value>, &'static str>> {
        let is_about_lists = !self.removed.is_empty() || !self.added.is_empty() || self.is_unique;
        let list = match value {
            None if self.added.is_empty() => return Ok(Ok(None)),
            None => Vec::new(),
            Some(Value::Array(it)) => it,
            Some(_) if is_about_lists => return Ok(Err("is not a list")),
            Some(it) => return Ok(Ok(Some(self.replacement(it)))),
        };
        spend(list.len().saturating_mul(self.count()))?;
        let kept = list.into_iter().filter(|it| !self.removed.contains(it)).map(|it| self.replacement(it));
        let all = kept.chain(self.added.iter().cloned());
        let edited: Vec<Value> = match self.is_unique {
            true => {
                let mut seen = HashSet::new();
                all.filter(|it| seen.insert(stoa_sql::key::sorted_of(it))).collect()
            }
            false => all.collect(),
        };
        Ok(Ok(Some(edited.into())))
    }

    fn replacement(&self, value: Value) -> Value {
        self.replaced.iter().find(|it| it.0 == value).map_or(value, |it| it.1.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use stoa_query::QueryLimits;

    fn edit(operations: &Value) -> Result<ValueEdit> {
        ValueEdit::parse(operations.as_object().expect("an object"), "operations", QueryLimits::default().item())
    }

    #[test]
    fn lists_and_values_are_edited() {
        for (operations, before, wants) in [
            (json!({ "addItems": ["c", "a"] }), json!(["a"]), Ok(json!(["a", "c", "a"]))),
            (json!({ "addItems": ["c"] }), Value::Null, Ok(json!(["c"]))),
            (json!({ "addItems": ["c"] }), json!("a"), Err("is not a list")),
            (json!({ "removeItems": ["a", 1] }), json!(["a", "b", "a", 1, "1"]), Ok(json!(["b", "1"]))),
            (json!({ "removeItems": ["a"] }), Value::Null, Ok(Value::Null)),
            (
                json!({ "replaceItems": [{ "from": "a", "to": "b" }, { "from": "b", "to": "c" }] }),
                json!(["a", "b"]),
                Ok(json!(["b", "c"])),
            ),
            (json!({ "replaceItems": [{ "from": "a", "to": null }] }), json!("a"), Ok(Value::Null)),
            (json!({ "replaceItems": [{ "from": 1, "to": 2 }] }), json!("1"), Ok(json!("1"))),
            (
                json!({ "removeDuplicates": true }),
                json!([{ "a": 1, "b": 2 }, 1, "1", { "b": 2, "a": 1 }, 1]),
                Ok(json!([{ "a": 1, "b": 2 }, 1, "1"])),
            ),
            (
                json!({ "addItems": ["a"], "removeItems": ["a"], "removeDuplicates": true }),
                json!(["a", "b", "b"]),
                Ok(json!(["b", "a"])),
            ),
        ] {
            let value = Some(before.clone()).filter(|it| !it.is_null());
            let outcome = edit(&operations).expect("an edit").apply(value, |_| Ok(()));
            let outcome = outcome.expect("within the budget").map(Option::unwrap_or_default);
            assert_eq!(outcome, wants, "{operations} on {before}");
        }
    }

    #[test]
    fn edits_that_do_nothing_are_refused_and_others_count() {
        for bad in [
            json!({}),
            json!({ "removeDuplicates": false }),
            json!({ "replaceItems": [{ "to": 1 }] }),
            json!({ "replaceItems": [{ "from": 1 }] }),
        ] {
            assert_eq!(edit(&bad).expect_err("nothing to do").code().name(), "WDE0075", "{bad}");
        }
        let many = edit(&json!({ "removeItems": (1..=60).collect::<Vec<_>>() })).expect("an edit");
        let mut spent = 0;
        let left = many.apply(Some(json!([0, 0, 1])), |it| {
            spent += it;
            Ok(())
        });
        assert_eq!((left.expect("an edit"), spent), (Ok(Some(json!([0, 0]))), 180));
    }
}
