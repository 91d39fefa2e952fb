//! Filters: conditions on the fields of what is listed, as SQL or for what was read already. The two agree.

use stoa_sql::{Value, Writer};

/// A filter on what has the fields `F`. Operands are as a field's column has them: folded where that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter<F> {
    All(Vec<Filter<F>>),
    Any(Vec<Filter<F>>),
    Not(Box<Filter<F>>),
    Is(F, Comparison, Operand),
    Prefix(F, String),
    /// The field has a value.
    Exists(F),
}

/// The expression that reads a field.
type Column<F> = fn(F) -> &'static str;

/// See [`Filter::write_with`].
type Equal<F> = fn(F, &Operand, &mut Writer<'_>) -> bool;

/// How a field is compared with an operand. A field without a value compares as none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// What a field is compared with: texts by code point.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operand {
    Text(String),
    /// Flags are 0 and 1, times are UTC milliseconds.
    Number(i64),
}

impl Operand {
    fn value(&self) -> Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Number(number) => (*number).into(),
        }
    }
}

impl Comparison {
    fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
        }
    }

    fn holds(self, left: &Operand, right: &Operand) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
        }
    }
}

impl<F> Default for Filter<F> {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

impl<F: Copy> Filter<F> {
    /// Things whose field has this value.
    pub fn equal(field: F, operand: Operand) -> Self {
        Self::Is(field, Comparison::Equal, operand)
    }

    /// Appends the condition; `column` is the expression that reads a field.
    pub(crate) fn write(&self, sql: &mut Writer<'_>, column: fn(F) -> &'static str) {
        self.write_with(sql, column, |_, _, _| false);
    }

    /// The same where an index does not serve `column` of some fields: `equal` appends the condition that such a field has a
    /// value, in brackets, and says that it did.
    pub(crate) fn write_with(&self, sql: &mut Writer<'_>, column: Column<F>, equal: Equal<F>) {
        match self {
            Self::All(parts) => write_list(sql, parts, (column, equal), (" and ", "1 = 1")),
            Self::Any(parts) => write_list(sql, parts, (column, equal), (" or ", "1 = 0")),
            Self::Not(part) => {
                // A missing value is not what it is compared with.
                sql.push("not coalesce(");
                part.write_with(sql, column, equal);
                sql.push(", false)");
            }
            Self::Is(field, Comparison::Equal, operand) if equal(*field, operand, sql) => {}
            Self::Is(field, comparison, operand) => {
                sql.push(&format!("{} {} ", column(*field), comparison.symbol())).bind(operand.value());
            }
            Self::Prefix(field, prefix) => {
                let column = column(*field);
                sql.push(&format!("({column} >= ")).bind(prefix.clone());
                if let Some(end) = after_prefix(prefix) {
                    sql.push(&format!(" and {column} < ")).bind(end);
                }
                sql.push(")");
            }
            Self::Exists(field) => {
                sql.push(&format!("{} is not null", column(*field)));
            }
        }
    }

    /// Whether a thing fits; `value` reads its fields.
    pub(crate) fn fits(&self, value: &dyn Fn(F) -> Option<Operand>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|it| it.fits(value)),
            Self::Any(parts) => parts.iter().any(|it| it.fits(value)),
            Self::Not(part) => !part.fits(value),
            Self::Is(field, comparison, operand) => value(*field).is_some_and(|it| comparison.holds(&it, operand)),
            Self::Prefix(field, prefix) => {
                value(*field).is_some_and(|it| matches!(it, Operand::Text(text) if text.starts_with(prefix.as_str())))
            }
            Self::Exists(field) => value(*field).is_some(),
        }
    }
}

impl<F: Copy + PartialEq> Filter<F> {
    /// The texts of a field that fit, in the order in which the filter names them; other fields count as missing.
    /// `None` for a filter that texts may fit which it doesn't name.
    pub fn named(&self, field: F) -> Option<Vec<String>> {
        let mut named = self.candidates(field)?;
        named.retain(|text| self.fits(&|it| (it == field).then(|| Operand::Text(text.clone()))));
        Some(named)
    }

    fn candidates(&self, field: F) -> Option<Vec<String>> {
        match self {
            Self::Is(it, Comparison::Equal, Operand::Text(text)) if *it == field => Some(vec![text.clone()]),
            Self::Any(parts) => {
                let lists = parts.iter().map(|it| it.candidates(field)).collect::<Option<Vec<_>>>()?;
                Some(lists.concat())
            }
            Self::All(parts) => parts.iter().find_map(|it| it.candidates(field)),
            _ => None,
        }
    }
}

fn write_list<F: Copy>(
    sql: &mut Writer<'_>,
    parts: &[Filter<F>],
    (column, equal): (Column<F>, Equal<F>),
    (joint, empty): (&str, &str),
) {
    if parts.is_empty() {
        sql.push(empty);
        return;
    }
    for (n, part) in parts.iter().enumerate() {
        sql.push(if n == 0 { "(" } else { joint });
        part.write_with(sql, column, equal);
    }
    sql.push(")");
}

/// The first text behind all that begin with `prefix`.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        let next = if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_ends_before_the_next_text() {
        assert_eq!(after_prefix("ab").as_deref(), Some("ac"));
        assert_eq!(after_prefix("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(after_prefix("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
        assert_eq!(after_prefix("\u{10ffff}"), None);
    }

    #[test]
    fn named_texts_are_those_that_fit() {
        let is = |text: &str| Filter::equal(0, Operand::Text(text.to_owned()));
        let any = Filter::Any(vec![is("a"), is("b"), is("a")]);
        assert_eq!(any.named(0), Some(vec!["a".to_owned(), "b".to_owned(), "a".to_owned()]));
        let both = Filter::All(vec![Filter::Not(Box::new(is("a"))), any.clone()]);
        assert_eq!(both.named(0), Some(vec!["b".to_owned()]));
        assert_eq!(Filter::Any(vec![any.clone(), Filter::Prefix(0, "c".to_owned())]).named(0), None);
        assert_eq!(Filter::<i32>::Any(Vec::new()).named(0), Some(Vec::new()));
        assert_eq!((Filter::default().named(0), any.named(1)), (None, None));
    }
}
