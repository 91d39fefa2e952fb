//! The filter's grammar. What operators take is decided in [`crate::resolve`].

use super::{
    member::{field_name, present},
    report::{Report, shortened},
};
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
    /// Where it stands in the request: `query.filter.price.$gt`.
    pub path: Box<str>,
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
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(filter: &Json, limits: &QueryLimits) -> Result<Self> {
        Self::parse_at("filter", filter, limits)
    }

    /// The same of a filter that has this path in its request.
    ///
    /// # Errors
    /// As for [`Filter::parse`].
    pub fn parse_at(path: &str, filter: &Json, limits: &QueryLimits) -> Result<Self> {
        let mut report = Report::at(path);
        let read = Self::read(filter, limits, &mut report);
        report.finish(read)
    }

    /// Reads the member `filter` of a request; an absent one holds always.
    ///
    /// # Errors
    /// As for [`Filter::parse`].
    pub fn parse_member(request: &Map<String, Json>, limits: &QueryLimits) -> Result<Self> {
        let mut report = Report::default();
        let read = Self::read_member(request, limits, &mut report);
        report.finish(read)
    }

    pub(super) fn read_member(request: &Map<String, Json>, limits: &QueryLimits, report: &mut Report) -> Self {
        Self::read_named(request, "filter", limits, report)
    }

    /// The filter in a member of this name.
    pub(super) fn read_named(
        request: &Map<String, Json>,
        name: &str,
        limits: &QueryLimits,
        report: &mut Report,
    ) -> Self {
        let Some(filter) = present(request, name) else { return Self::everything() };
        let mark = report.enter(name);
        let read = Self::read(filter, limits, report);
        report.leave(mark);
        read
    }

    /// Refuses filters that are each as large as one may be, and become one statement.
    ///
    /// # Errors
    /// WDE0093 when they have more conditions together than one filter may have.
    pub fn check_together<'f>(filters: impl Iterator<Item = &'f Self>) -> Result<()> {
        let (mut conditions, mut listed, mut size) = (0, 0, 0);
        for it in filters {
            it.conditions(&mut |it| {
                let values = it.operand.as_array().map_or(0, Vec::len);
                let here = if it.operator == Operator::HasAll { values.max(1) } else { 1 };
                conditions += here;
                listed += values;
                size += here * bytes(&it.field);
            });
        }
        if conditions > MAX_CONDITIONS || listed > MAX_LISTED || size > MAX_BYTES {
            return Err(invalid("the leading filters have too many conditions together".to_owned()));
        }
        Ok(())
    }

    fn conditions<'f>(&'f self, each: &mut impl FnMut(&'f Condition)) {
        match self {
            Self::And(list) | Self::Or(list) => list.iter().for_each(|it| it.conditions(each)),
            Self::Not(it) => it.conditions(each),
            Self::Condition(it) => each(it),
        }
    }

    /// The filter without what is wrong with it, which the report has.
    fn read(filter: &Json, limits: &QueryLimits, report: &mut Report) -> Self {
        let Json::Object(object) = filter else {
            report.keep::<()>(Err(Fault::because(Code::FilterNotObject, "the filter must be an object")));
            return Self::everything();
        };
        let mut reader =
            Reader { deepest: limits.filter_depth, conditions: 0, listed: 0, bytes: 0, is_too_large: false, report };
        match wrapped(object) {
            None => reader.object(object, 0),
            Some(inner) => {
                let mark = reader.report.enter("filter");
                let read = reader.object(inner, 0);
                reader.report.leave(mark);
                read
            }
        }
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

/// Counts what has been read, against the limits. What is wrong goes to the report, and the rest is read on.
struct Reader<'r> {
    deepest: usize,
    conditions: usize,
    listed: usize,
    bytes: usize,
    /// Nothing more is read.
    is_too_large: bool,
    report: &'r mut Report,
}

impl Reader<'_> {
    fn object(&mut self, object: &Map<String, Json>, depth: usize) -> Filter {
        self.members(object, |reader, name, value| reader.member(name, value, depth))
    }

    fn member(&mut self, name: &str, value: &Json, depth: usize) -> Result<Filter> {
        Ok(match name {
            "$and" => Filter::And(self.list(name, value, depth + 1)?),
            "$or" => Filter::Or(self.list(name, value, depth + 1)?),
            "$not" => Filter::Not(Box::new(self.filter(only(value)?, depth + 1)?)),
            name if name.starts_with('$') => return Err(unknown(name)),
            name => self.field(&field_name(name)?, value, depth)?,
        })
    }

    fn filter(&mut self, value: &Json, depth: usize) -> Result<Filter> {
        self.check_depth(depth)?;
        match value {
            Json::Object(it) => Ok(self.object(it, depth)),
            _ => Err(Fault::because(Code::FilterTree, "a filter inside the filter must be an object")),
        }
    }

    fn list(&mut self, name: &str, value: &Json, depth: usize) -> Result<Vec<Filter>> {
        let Json::Array(list) = value else {
            return Err(Fault::because(Code::ListOperand, format!("{name} takes a list of filters")));
        };
        let mut filters = Vec::with_capacity(list.len());
        for (n, it) in list.iter().enumerate() {
            if self.has_enough() {
                break;
            }
            let mark = self.report.enter_element(n);
            let read = self.filter(it, depth);
            filters.extend(self.report.keep(read));
            self.report.leave(mark);
        }
        Ok(filters)
    }

    fn field(&mut self, field: &str, value: &Json, depth: usize) -> Result<Filter> {
        match operators(value) {
            None => self.condition(field, Operator::Eq, value),
            Some(it) => Ok(self.operators(field, it, depth)),
        }
    }

    fn operators(&mut self, field: &str, object: &Map<String, Json>, depth: usize) -> Filter {
        self.members(object, |reader, name, operand| reader.operator(field, name, operand, depth))
    }

    fn operator(&mut self, field: &str, name: &str, operand: &Json, depth: usize) -> Result<Filter> {
        match name {
            "$not" => {
                self.check_depth(depth + 1)?;
                let Some(inner) = operators(only(operand)?) else {
                    return Err(invalid(format!("$not on {field} takes an object of operators")));
                };
                Ok(Filter::Not(Box::new(self.operators(field, inner, depth + 1))))
            }
            "$regex" => Err(Fault::because(Code::RegexNotAllowed, format!("$regex is not allowed, on {field}"))),
            name => match Operator::ALL.iter().find(|it| it.name() == name) {
                Some(&operator) => self.condition(field, operator, operand),
                None => Err(invalid(format!("unknown operator {} on {field}", shortened(name)))),
            },
        }
    }

    /// All members together, each as `read` reads it.
    fn members(
        &mut self,
        object: &Map<String, Json>,
        read: impl Fn(&mut Self, &str, &Json) -> Result<Filter>,
    ) -> Filter {
        let mut parts = Vec::with_capacity(object.len());
        for (name, value) in object {
            if self.has_enough() {
                break;
            }
            let mark = self.report.enter(name);
            let part = read(self, name, value);
            parts.extend(self.report.keep(part));
            self.report.leave(mark);
        }
        if parts.len() == 1 { parts.remove(0) } else { Filter::And(parts) }
    }

    fn condition(&mut self, field: &str, operator: Operator, operand: &Json) -> Result<Filter> {
        let listed = operand.as_array().map_or(0, Vec::len);
        let conditions = if operator == Operator::HasAll { listed.max(1) } else { 1 };
        self.conditions += conditions;
        self.listed += listed;
        self.bytes += conditions * bytes(field);
        self.is_too_large = true;
        if self.conditions > MAX_CONDITIONS || self.bytes > MAX_BYTES {
            return Err(invalid("the filter has too many conditions".to_owned()));
        }
        if self.listed > MAX_LISTED {
            return Err(invalid(format!("the lists of the filter have more than {MAX_LISTED} values")));
        }
        self.is_too_large = false;
        let (operand, path) = (operand.clone(), self.report.path().into());
        Ok(Filter::Condition(Condition { field: field.to_owned(), operator, operand, path }))
    }

    /// Whether reading on finds nothing that would be told.
    fn has_enough(&self) -> bool {
        self.is_too_large || self.report.is_full()
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
        _ => invalid(format!("unknown operator {}", shortened(name))),
    }
}

fn invalid(text: String) -> Fault {
    Fault::because(Code::FilterInvalid, text)
}
