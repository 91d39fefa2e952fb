//! The filter's grammar. What operators take is decided in [`crate::resolve`].

use super::member::{field_name, present};
use crate::QueryLimits;
use serde_json::{Map, Value as Json};
use stoa_kernel::{Code, Fault, Result};

/// A filter as it was written.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Condition(Condition),
}

/// One operator on one field.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// A dotted name.
    pub field: String,
    pub operator: Operator,
    pub operand: Json,
}

macro_rules! operators {
    ($($variant:ident = $name:literal)+) => {
        /// The operators of docs/protocol/content.md §4.1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operator { $($variant),+ }

        impl Operator {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

operators! {
    Eq = "$eq"
    Ne = "$ne"
    Lt = "$lt"
    Lte = "$lte"
    Gt = "$gt"
    Gte = "$gte"
    In = "$in"
    Nin = "$nin"
    HasSome = "$hasSome"
    HasAll = "$hasAll"
    StartsWith = "$startsWith"
    EndsWith = "$endsWith"
    Contains = "$contains"
    Exists = "$exists"
    IsEmpty = "$isEmpty"
    Matches = "$matches"
}

impl Filter {
    /// Tells every field that the filter names.
    pub fn fields<'f>(&'f self, each: &mut impl FnMut(&'f str)) {
        match self {
            Self::And(list) | Self::Or(list) => list.iter().for_each(|it| it.fields(each)),
            Self::Not(it) => it.fields(each),
            Self::Condition(it) => each(&it.field),
        }
    }
}

/// The most conditions in one filter, each value of a `$hasAll` being one: SQLite takes expressions of at
/// most a thousand levels.
const MAX_CONDITIONS: usize = 500;
/// The most values in the lists of one filter.
const MAX_LISTED: usize = 10_000;
/// The most SQL that the conditions of one filter may become: SQLite takes a million bytes in all.
const MAX_BYTES: usize = 500_000;

impl Filter {
    /// The filter that holds always.
    pub fn everything() -> Self {
        Self::And(Vec::new())
    }

    /// Reads a filter object.
    ///
    /// A whole filter wrapped once more into `{"filter": …}` is unwrapped: the public client does that
    /// when a `Filter` object is handed over directly (docs/protocol/content.md §4.2).
    pub fn parse(filter: &Json, limits: &QueryLimits) -> Result<Self> {
        let Json::Object(object) = filter else {
            return Err(Fault::because(Code::FilterNotObject, "the filter must be an object"));
        };
        let object = wrapped(object).unwrap_or(object);
        let mut reader = Reader { deepest: limits.filter_depth, conditions: 0, listed: 0, bytes: 0 };
        reader.object(object, 0)
    }

    /// Reads the member `filter` of a request; an absent one holds always.
    pub fn parse_member(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        present(request, "filter").map_or_else(|| Ok(Self::everything()), |it| Self::parse(it, limits))
    }
}

/// The inner object of `{"filter": {…}}` when it can only be a filter, not operators or a value.
fn wrapped(object: &Map<String, Json>) -> Option<&Map<String, Json>> {
    let inner = object.get("filter").filter(|_| object.len() == 1)?.as_object()?;
    let is_filter = |(name, value): (&String, &Json)| match name.as_str() {
        "$and" | "$or" => true,
        // On a field, `$not` takes operators; here it takes a filter.
        "$not" => operators(value.get(0).unwrap_or(value)).is_none(),
        name => !name.starts_with('$') && operators(value).is_some(),
    };
    (!inner.is_empty() && inner.iter().all(is_filter)).then_some(inner)
}

/// The object as operators, unless it is a value.
fn operators(value: &Json) -> Option<&Map<String, Json>> {
    let object = value.as_object()?;
    let is_date = object.len() == 1 && object.contains_key("$date");
    (!is_date && object.keys().any(|it| it.starts_with('$'))).then_some(object)
}

/// Counts what has been read, against the limits.
struct Reader {
    deepest: usize,
    conditions: usize,
    listed: usize,
    bytes: usize,
}

impl Reader {
    fn object(&mut self, object: &Map<String, Json>, depth: usize) -> Result<Filter> {
        let mut parts = Vec::with_capacity(object.len());
        for (name, value) in object {
            parts.push(match name.as_str() {
                "$and" => Filter::And(self.list(name, value, depth + 1)?),
                "$or" => Filter::Or(self.list(name, value, depth + 1)?),
                "$not" => Filter::Not(Box::new(self.filter(only(value)?, depth + 1)?)),
                name if name.starts_with('$') => return Err(unknown(name)),
                name => self.field(&field_name(name)?, value, depth)?,
            });
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) })
    }

    fn filter(&mut self, value: &Json, depth: usize) -> Result<Filter> {
        self.check_depth(depth)?;
        match value {
            Json::Object(it) => self.object(it, depth),
            _ => Err(Fault::because(Code::FilterTree, "a filter inside the filter must be an object")),
        }
    }

    fn list(&mut self, name: &str, value: &Json, depth: usize) -> Result<Vec<Filter>> {
        let Json::Array(list) = value else {
            return Err(Fault::because(Code::ListOperand, format!("{name} takes a list of filters")));
        };
        list.iter().map(|it| self.filter(it, depth)).collect()
    }

    fn field(&mut self, field: &str, value: &Json, depth: usize) -> Result<Filter> {
        match operators(value) {
            None => self.condition(field, Operator::Eq, value),
            Some(it) => self.operators(field, it, depth),
        }
    }

    fn operators(&mut self, field: &str, object: &Map<String, Json>, depth: usize) -> Result<Filter> {
        let mut parts = Vec::with_capacity(object.len());
        for (name, operand) in object {
            parts.push(match name.as_str() {
                "$not" => {
                    self.check_depth(depth + 1)?;
                    let Some(inner) = operators(only(operand)?) else {
                        return Err(invalid(format!("$not on {field} takes an object of operators")));
                    };
                    Filter::Not(Box::new(self.operators(field, inner, depth + 1)?))
                }
                "$regex" => {
                    return Err(Fault::because(Code::RegexNotAllowed, format!("$regex is not allowed, on {field}")));
                }
                name => match Operator::ALL.iter().find(|it| it.name() == name) {
                    Some(&operator) => self.condition(field, operator, operand)?,
                    None => return Err(invalid(format!("unknown operator {name} on {field}"))),
                },
            });
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) })
    }

    fn condition(&mut self, field: &str, operator: Operator, operand: &Json) -> Result<Filter> {
        let listed = operand.as_array().map_or(0, Vec::len);
        let conditions = if operator == Operator::HasAll { listed.max(1) } else { 1 };
        self.conditions += conditions;
        self.listed += listed;
        self.bytes += conditions * bytes(field);
        if self.conditions > MAX_CONDITIONS || self.bytes > MAX_BYTES {
            return Err(invalid("the filter has too many conditions".to_owned()));
        }
        if self.listed > MAX_LISTED {
            return Err(invalid(format!("the lists of the filter have more than {MAX_LISTED} values")));
        }
        Ok(Filter::Condition(Condition { field: field.to_owned(), operator, operand: operand.clone() }))
    }

    fn check_depth(&self, depth: usize) -> Result<()> {
        if depth > self.deepest {
            let text = format!("the filter is nested deeper than {} levels", self.deepest);
            return Err(Fault::because(Code::FilterTooDeep, text));
        }
        Ok(())
    }
}

/// The most SQL that a condition on this field becomes, roughly and never too low: its name stands there
/// a dozen times, and arrays on the way to it are asked for each name.
fn bytes(field: &str) -> usize {
    let names = field.split('.').count();
    let quoted = stoa_sql::json::quoted(field).len() + field.matches('\'').count();
    match names {
        1 => 850 + 8 * quoted,
        _ => 1500 + 650 * names + (20 + names) * quoted,
    }
}

/// The operand of `$not`: an object, or a list of one.
fn only(value: &Json) -> Result<&Json> {
    match value {
        Json::Array(list) if list.len() == 1 => Ok(&list[0]),
        Json::Array(_) => Err(Fault::because(Code::ListOperand, "$not takes a list of exactly one filter")),
        it => Ok(it),
    }
}

fn unknown(name: &str) -> Fault {
    match name {
        "$regex" => Fault::because(Code::RegexNotAllowed, "$regex is not allowed"),
        _ => invalid(format!("unknown operator {name}")),
    }
}

fn invalid(text: String) -> Fault {
    Fault::because(Code::FilterInvalid, text)
}
