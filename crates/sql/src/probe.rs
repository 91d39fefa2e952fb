//! A comparison that a field of every item is asked about, and how SQLite answers it.
//!
//! A filter that no index serves reads the whole collection, and what it costs is one question to each
//! item. So that question is one call on either engine, with the type, the way through arrays and the
//! elements of an array at the end all in it: a path expression on PostgreSQL, [`holds`] on SQLite.

use crate::{Value, jsonb::Element};
use std::cmp::Ordering;

/// What a value must be like. It compares with nothing but values of the operand's type.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    pub sign: Sign,
    pub operand: Operand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Number(f64),
    Text(String),
    Flag(bool),
    /// A date's ISO text: these compare as the dates do.
    Date(String),
}

/// An operand as SQLite hands it over.
#[derive(Debug, Clone, Copy)]
pub enum Bound<'a> {
    /// For a number.
    Real(f64),
    /// For a boolean: 0 or 1.
    Int(i64),
    /// For a text, or for a date if the test says so.
    Text(&'a str),
}

/// The name of the function of SQLite that `store` makes of [`holds`], with four arguments: the
/// document, the dotted path, the test and the operand. Deterministic and innocuous.
pub const FUNCTION: &str = "stoa_holds";

/// Marks the test of a date, whose operand looks like a text's.
const DATE: &str = "date ";

impl Probe {
    /// `>` or `date >`: the third argument.
    pub(crate) fn test(&self) -> String {
        let date = if matches!(self.operand, Operand::Date(_)) { DATE } else { "" };
        format!("{date}{}", self.sign.sql())
    }
}

impl Sign {
    pub fn sql(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    fn read(text: &str) -> Option<Self> {
        let all = [Self::Equal, Self::Less, Self::LessOrEqual, Self::Greater, Self::GreaterOrEqual];
        all.into_iter().find(|it| it.sql() == text)
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl From<&Operand> for Value {
    fn from(it: &Operand) -> Self {
        match it {
            Operand::Number(it) => (*it).into(),
            Operand::Text(it) | Operand::Date(it) => it.into(),
            Operand::Flag(it) => (*it).into(),
        }
    }
}

/// Whether a value at the path, or an element of an array there, passes the test. An array on the way
/// stands for its elements. What isn't JSONB, or no test, holds nothing.
pub fn holds(document: &[u8], path: &str, test: &str, operand: Bound<'_>) -> bool {
    let (is_date, sign) = test.strip_prefix(DATE).map_or((false, test), |it| (true, it));
    let (Some(root), Some(sign)) = (Element::root(document), Sign::read(sign)) else { return false };
    reaches(root, path, &|it| compare(it, is_date, operand).is_some_and(|it| sign.holds(it)))
}

fn reaches(value: Element<'_>, path: &str, passes: &dyn Fn(Element<'_>) -> bool) -> bool {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let Some(found) = value.member(name) else { return false };
    match rest {
        None => passes(found) || found.elements().any(passes),
        Some(rest) if found.is_array() => found.elements().any(|it| reaches(it, rest, passes)),
        Some(rest) => reaches(found, rest, passes),
    }
}

fn compare(value: Element<'_>, is_date: bool, operand: Bound<'_>) -> Option<Ordering> {
    match operand {
        Bound::Real(it) => value.number()?.partial_cmp(&it),
        Bound::Int(it) => Some(i64::from(value.flag()?).cmp(&it)),
        // Nothing but a date has a member of this name.
        Bound::Text(it) if is_date => Some(value.member("$date")?.text()?.as_ref().cmp(it)),
        Bound::Text(it) => Some(value.text()?.as_ref().cmp(it)),
    }
}
