//! Small parts of statements that several others are made of.

use crate::plan::{Comparison, Field, PUBLISH_STATUS};
use stoa_sql::{Dialect, Direction, DocumentPath, Operand, Probe, Sign, Writer};

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

/// The document at hand is published; `unmarked` says whether one without a status is.
pub(super) fn published(sql: &mut Writer<'_>, unmarked: bool) -> String {
    let status = if unmarked { "DRAFT" } else { "PUBLISHED" };
    let (names, probe) =
        ([PUBLISH_STATUS.to_owned()], Probe { sign: Sign::Equal, operand: Operand::Text(status.into()) });
    let d = sql.dialect();
    let placeholder = sql.param(d.probe(&names, &probe));
    let has_status = d.holds(&names, &probe, &placeholder);
    if unmarked { format!("({has_status}) is not true") } else { has_status }
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
