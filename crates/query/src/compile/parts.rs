//! Small parts of statements that several others are made of.

use crate::plan::{Comparison, Field};
use stoa_sql::{Dialect, Direction, DocumentPath, Sign};

/// The column behind a field; those of the document are all in one.
pub(super) fn column(field: &Field) -> &'static str {
    match field {
        Field::Id => "id",
        Field::Owner => "owner",
        Field::Created => "created",
        Field::Updated => "updated",
        Field::Path(_) | Field::Links(_) => "doc",
    }
}

/// Whether an array stands in the way to a field; nothing if nothing can.
pub(super) fn through_arrays(dialect: &dyn Dialect, names: &[String]) -> Option<String> {
    let on_the_way = (1..names.len()).map(|n| dialect.is_array(&DocumentPath::field(&names[..n])));
    on_the_way.reduce(|all, it| format!("{all} or {it}"))
}

/// The operator of a comparison.
pub(super) fn sign(comparison: Comparison) -> Sign {
    match comparison {
        Comparison::Less => Sign::Less,
        Comparison::LessOrEqual => Sign::LessOrEqual,
        Comparison::Greater => Sign::Greater,
        Comparison::GreaterOrEqual => Sign::GreaterOrEqual,
    }
}

/// What stands behind a column of an order.
pub(super) fn suffix(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "",
        Direction::Descending => " desc",
    }
}
