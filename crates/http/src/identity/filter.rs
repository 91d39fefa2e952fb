//! Filters as the calls of identity bring them. What isn't understood is refused by its name: a condition that was passed
//! over would find more than was asked for.

use super::api_call::invalid;
use serde_json::Value;
use stoa_identity::member::{Comparison, Filter, Operand};
use stoa_kernel::{Code, Fault, Faults, Result, Violation, date};

/// Conditions of one filter, and how deep they may be nested.
const CONDITIONS: usize = 200;
const DEPTH: usize = 16;
/// Values of one condition.
const LISTED: usize = 100;

/// Things that a call lists, by what can be asked of them.
pub(super) trait Filterable {
    type Field: Copy;

    /// What they are called in answers: `members`.
    fn things(&self) -> &str;

    fn field(&self, name: &str) -> Option<Self::Field>;

    /// What a field is compared with; `path` is its place in the request.
    ///
    /// # Errors
    /// [`Code::Validation`].
    fn operand(&self, field: Self::Field, sent: &Value, path: &str) -> Result<Operand>;

    /// The beginning of a text as it is stored; `None` for a field of another type.
    fn prefix(&self, field: Self::Field, text: &str) -> Option<String>;

    /// Finds the things that have a value in a field; `None` where that can't be asked.
    fn exists(&self, field: Self::Field) -> Option<Filter<Self::Field>>;
}

/// Reads a filter: fields by their names, each with a value or with operators, and `$and`, `$or` and `$not`. Null finds
/// everything. `path` is the place of the filter in the request.
///
/// # Errors
/// [`Code::Validation`]; [`Code::FilterTooDeep`]; [`Code::NotSupported`] for fields and operators that there aren't; all
/// that is wrong, with its place.
pub(super) fn read<T: Filterable>(things: &T, sent: &Value, path: &str) -> Result<Filter<T::Field>> {
    if sent.is_null() {
        return Ok(Filter::default());
    }
    let mut reader = Reader { things, path, left: CONDITIONS, faults: Faults::default() };
    let filter = reader.part(sent, 0);
    reader.faults.refuse().map(|()| filter)
}

/// What a filter or an order asks for, and there isn't.
pub(super) fn unsupported(path: impl Into<String>, why: String) -> Fault {
    Fault::because(Code::NotSupported, why.clone()).violating(vec![Violation::new(path, "OTHER", why)])
}

struct Reader<'a, T> {
    things: &'a T,
    path: &'a str,
    /// Conditions that there may still be.
    left: usize,
    faults: Faults,
}

impl<T: Filterable> Reader<'_, T> {
    fn part(&mut self, sent: &Value, depth: usize) -> Filter<T::Field> {
        let members = match sent {
            Value::Object(members) if depth <= DEPTH => members,
            Value::Object(_) => {
                self.faults.add(Fault::new(Code::FilterTooDeep));
                return Filter::default();
            }
            _ => {
                self.faults.add(invalid(self.path, "an object is expected"));
                return Filter::default();
            }
        };
        if members.is_empty() {
            self.count();
        }
        let mut all = Vec::with_capacity(members.len());
        for (name, value) in members {
            if !self.count() {
                break;
            }
            match name.as_str() {
                "$and" => all.push(Filter::All(self.parts(value, depth + 1))),
                "$or" => all.push(Filter::Any(self.parts(value, depth + 1))),
                "$not" => all.push(Filter::Not(Box::new(Filter::All(self.parts(value, depth + 1))))),
                _ => self.tests(name, value, &mut all),
            }
            if self.faults.is_full() {
                break;
            }
        }
        Filter::All(all)
    }

    fn parts(&mut self, sent: &Value, depth: usize) -> Vec<Filter<T::Field>> {
        let list = match sent {
            Value::Array(list) => list.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut parts = Vec::with_capacity(list.len());
        for part in list {
            parts.push(self.part(part, depth));
            if self.faults.is_full() {
                break;
            }
        }
        parts
    }

    /// Counts one more condition; answers whether it may still be there.
    fn count(&mut self) -> bool {
        let left = self.left.checked_sub(1);
        match left {
            Some(left) => self.left = left,
            None => self.faults.add(invalid(self.path, "there are too many conditions")),
        }
        left.is_some()
    }

    /// What is asked of one field.
    fn tests(&mut self, name: &str, value: &Value, all: &mut Vec<Filter<T::Field>>) {
        let path = format!("{}.{name}", self.path);
        let Some(field) = self.things.field(name) else {
            let why = format!("{} can't be filtered by {name}", self.things.things());
            return self.faults.add(unsupported(path, why));
        };
        let asked = Asked { things: self.things, field, name, path: &path };
        match value {
            Value::Object(operators) if operators.is_empty() => {
                self.faults.add(invalid(&path, "an operator is expected"));
            }
            Value::Object(operators) => {
                for (operator, operand) in operators {
                    all.extend(self.faults.take(asked.test(operator, operand)));
                }
            }
            value => all.extend(self.faults.take(asked.test("$eq", value))),
        }
    }
}

/// A field that something is asked of.
struct Asked<'a, T: Filterable> {
    things: &'a T,
    field: T::Field,
    name: &'a str,
    path: &'a str,
}

impl<T: Filterable> Asked<'_, T> {
    fn test(&self, operator: &str, operand: &Value) -> Result<Filter<T::Field>> {
        match operator {
            "$eq" => self.equals(operand),
            "$ne" => self.equals(operand).map(|it| Filter::Not(Box::new(it))),
            "$gt" => self.is(Comparison::Greater, operand),
            "$gte" | "$ge" => self.is(Comparison::GreaterOrEqual, operand),
            "$lt" => self.is(Comparison::Less, operand),
            "$lte" | "$le" => self.is(Comparison::LessOrEqual, operand),
            "$in" | "$hasSome" => self.is_among(operand),
            "$nin" => self.is_among(operand).map(|it| Filter::Not(Box::new(it))),
            "$startsWith" => self.begins(operand),
            "$exists" => match (self.things.exists(self.field), operand) {
                (Some(exists), Value::Bool(true)) => Ok(exists),
                (Some(exists), Value::Bool(false)) => Ok(Filter::Not(Box::new(exists))),
                (Some(_), _) => Err(invalid(self.path, "true or false is expected")),
                (None, _) => Err(self.unsupported(operator)),
            },
            _ => Err(self.unsupported(operator)),
        }
    }

    fn is(&self, comparison: Comparison, operand: &Value) -> Result<Filter<T::Field>> {
        Ok(Filter::Is(self.field, comparison, self.things.operand(self.field, operand, self.path)?))
    }

    fn equals(&self, operand: &Value) -> Result<Filter<T::Field>> {
        match (operand, self.things.exists(self.field)) {
            // Nothing of ours holds U+0000, and one engine refuses to look for it.
            (Value::String(text), _) if text.contains('\0') => Ok(Filter::Any(Vec::new())),
            (Value::Null, Some(exists)) => Ok(Filter::Not(Box::new(exists))),
            _ => self.is(Comparison::Equal, operand),
        }
    }

    fn is_among(&self, operand: &Value) -> Result<Filter<T::Field>> {
        let list = operand.as_array().filter(|it| it.len() <= LISTED);
        let list = list.ok_or_else(|| invalid(self.path, &format!("a list of at most {LISTED} is expected")))?;
        list.iter().map(|it| self.equals(it)).collect::<Result<Vec<_>>>().map(Filter::Any)
    }

    fn begins(&self, operand: &Value) -> Result<Filter<T::Field>> {
        let text = operand.as_str().filter(|it| !it.contains('\0'));
        match self.things.prefix(self.field, text.unwrap_or_default()) {
            // Folded texts don't begin with spaces.
            Some(prefix) if prefix.is_empty() && text.is_some_and(|it| !it.is_empty()) => Ok(Filter::Any(Vec::new())),
            Some(prefix) if text.is_some() => Ok(Filter::Prefix(self.field, prefix)),
            Some(_) => Err(invalid(self.path, "text is expected")),
            None => Err(self.unsupported("$startsWith")),
        }
    }

    fn unsupported(&self, operator: &str) -> Fault {
        let why = format!("{} can't be filtered by {} with {operator}", self.things.things(), self.name);
        unsupported(self.path, why)
    }
}

/// Things each of whose fields has a name and a type, and nothing more to it.
pub(super) struct Listed<F: 'static> {
    pub(super) things: &'static str,
    pub(super) fields: &'static [(&'static str, F, FieldType)],
}

/// What a field of [`Listed`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldType {
    Text,
    Flag,
    Date,
}

impl<F: Copy + PartialEq> Listed<F> {
    fn type_of(&self, field: F) -> FieldType {
        self.fields.iter().find(|it| it.1 == field).map_or(FieldType::Text, |it| it.2)
    }
}

impl<F: Copy + PartialEq> Filterable for Listed<F> {
    type Field = F;

    fn things(&self) -> &str {
        self.things
    }

    fn field(&self, name: &str) -> Option<F> {
        self.fields.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    fn operand(&self, field: F, sent: &Value, path: &str) -> Result<Operand> {
        match self.type_of(field) {
            FieldType::Text => text(sent, path).map(|it| Operand::Text(it.to_owned())),
            FieldType::Flag => match sent.as_bool() {
                Some(flag) => Ok(Operand::Number(flag.into())),
                None => Err(invalid(path, "true or false is expected")),
            },
            FieldType::Date => time(sent, path),
        }
    }

    fn prefix(&self, field: F, text: &str) -> Option<String> {
        (self.type_of(field) == FieldType::Text).then(|| text.to_owned())
    }

    fn exists(&self, field: F) -> Option<Filter<F>> {
        Some(Filter::Exists(field))
    }
}

/// A text that can be looked for.
///
/// # Errors
/// [`Code::Validation`].
pub(super) fn text<'v>(sent: &'v Value, path: &str) -> Result<&'v str> {
    sent.as_str().filter(|it| !it.contains('\0')).ok_or_else(|| invalid(path, "text is expected"))
}

/// A date: its ISO text, milliseconds, or an object with one of the two as `$date`.
///
/// # Errors
/// [`Code::Validation`].
pub(super) fn time(sent: &Value, path: &str) -> Result<Operand> {
    let date = sent.get("$date").unwrap_or(sent);
    let millis = date.as_i64().or_else(|| date::parse(date.as_str()?));
    millis.map(Operand::Number).ok_or_else(|| invalid(path, "a date is expected"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const THINGS: Listed<u8> =
        Listed { things: "things", fields: &[("a", 1, FieldType::Text), ("made", 2, FieldType::Date)] };

    #[test]
    fn filters_are_read_whole_or_refused() {
        let read = |sent: Value| read(&THINGS, &sent, "filter");
        let equal = |text: &str| Filter::equal(1, Operand::Text(text.to_owned()));
        let both = json!({ "$and": [{ "a": "x" }, { "a": { "$in": ["y"] } }] });
        let parts = vec![Filter::All(vec![equal("x")]), Filter::All(vec![Filter::Any(vec![equal("y")])])];
        assert_eq!(read(both).ok(), Some(Filter::All(vec![Filter::All(parts)])));
        assert_eq!(read(Value::Null).ok(), Some(Filter::default()));
        for (sent, code) in [
            (json!([]), Code::Validation),
            (json!({ "a": {} }), Code::Validation),
            (json!({ "a": ["x"] }), Code::Validation),
            (json!({ "$and": [null] }), Code::Validation),
            (json!({ "$or": "x" }), Code::Validation),
            (json!({ "made": { "$gt": "now" } }), Code::Validation),
            (json!({ "a": { "$in": vec!["x"; 101] } }), Code::Validation),
            (json!({ "$and": vec![json!({}); 300] }), Code::Validation),
            (json!({ "b": "x" }), Code::NotSupported),
            (json!({ "$nor": [] }), Code::NotSupported),
            (json!({ "a": { "$contains": "x" } }), Code::NotSupported),
            (json!({ "made": { "$startsWith": "2" } }), Code::NotSupported),
        ] {
            assert_eq!(read(sent.clone()).err().map(|it| it.code()), Some(code), "{sent}");
        }
    }

    #[test]
    fn last_condition_counts() {
        let conditions = |count: usize| json!({ "$and": vec![json!({ "a": "x" }); count] });
        assert!(read(&THINGS, &conditions(199), "filter").is_ok());
        assert!(read(&THINGS, &conditions(200), "filter").is_err());
    }
}
