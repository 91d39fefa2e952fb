//! Order: one key for each sort field, `_id` last, and what lies beyond a position in it. No key is NULL.

use super::{
    access::OWNER_KEY,
    access::Rows,
    parts::{self, suffix, through_arrays},
};
use crate::plan::{Field, Key, KeysetValue, Order, Position};
use stoa_sql::{Dialect, Direction, DocumentPath, Value, Writer, random};

/// What rows are compared by, the most important first.
pub(super) struct Column {
    pub text: String,
    /// The direction in which the rows are read: against that of the order for a page before a position.
    pub direction: Direction,
}

/// The columns of an order, the last of which is `_id`. Texts take parameters only for a random order.
pub(super) fn columns(sql: &mut Writer<'_>, order: &Order, rows: Rows<'_>, is_backward: bool) -> Vec<Column> {
    let d = sql.dialect();
    let read = |direction| if is_backward { turned(direction) } else { direction };
    let mut columns: Vec<_> = match order {
        Order::Random { seed } => {
            let seed = sql.param(seed);
            vec![Column { text: d.random_key(&seed), direction: read(Direction::Ascending) }]
        }
        Order::Keys(_) => {
            let keyset_keys = order.keyset_keys();
            keyset_keys.map(|it| Column { text: key(d, it, rows), direction: read(it.direction) }).collect()
        }
    };
    let id = match (order, order.by_id()) {
        (_, Some(direction)) => direction,
        (Order::Keys(keys), None) => keys.last().map_or(Direction::Ascending, |it| it.direction),
        (Order::Random { .. }, None) => Direction::Ascending,
    };
    columns.push(Column { text: "id".to_owned(), direction: read(id) });
    columns
}

/// `order by` these columns, by their own texts or by the names under which rows have them.
pub(super) fn write(sql: &mut Writer<'_>, columns: &[Column], are_named: bool) {
    sql.push(" order by ");
    for (n, it) in columns.iter().enumerate() {
        sql.push(if n > 0 { ", " } else { "" });
        match are_named && n + 1 < columns.len() {
            true => sql.push(&name(n)),
            false => sql.push(&it.text),
        };
        sql.push(suffix(it.direction));
    }
}

/// The name of a row's sort key.
pub(super) fn name(n: usize) -> String {
    format!("k{}", n + 1)
}

/// The rows that are read after a position, in one condition.
pub(super) fn beyond(sql: &mut Writer<'_>, columns: &[Column], order: &Order, position: &Position) {
    let mut depth = 0;
    for (column, keyset_value) in columns.iter().zip(keyset(order, position)) {
        let (text, sign, keyset_value) = (&column.text, sign(column.direction), sql.param(keyset_value));
        if depth + 1 < columns.len() {
            sql.push(&format!("({text} {sign} {keyset_value} or {text} = {keyset_value} and "));
            depth += 1;
        } else {
            sql.push(&format!("{text} {sign}{} {keyset_value}", or_equal(position)));
        }
    }
    sql.push(&")".repeat(depth));
}

/// Those among them that are equal to the position before the column `n` and beyond it there: one range of
/// an index.
pub(super) fn beyond_in(sql: &mut Writer<'_>, columns: &[Column], order: &Order, position: &Position, n: usize) {
    for (at, (column, keyset_value)) in columns.iter().zip(keyset(order, position)).take(n + 1).enumerate() {
        sql.push(if at > 0 { " and " } else { "" });
        sql.push(&column.text).push(" ").push(if at < n { "=" } else { sign(column.direction) });
        sql.push(if at + 1 == columns.len() { or_equal(position) } else { "" }).push(" ").bind(keyset_value);
    }
}

pub(super) fn or_equal(position: &Position) -> &'static str {
    if position.is_included { "=" } else { "" }
}

fn keyset(order: &Order, position: &Position) -> Vec<Value> {
    let mut keyset: Vec<Value> = match order {
        Order::Random { seed } => vec![random::key(seed, &position.id).into()],
        Order::Keys(_) => position.keyset.iter().map(value).collect(),
    };
    keyset.push((&position.id).into());
    keyset
}

pub(super) fn value(keyset_value: &KeysetValue) -> Value {
    match keyset_value {
        KeysetValue::Key(it) => it.into(),
        KeysetValue::Time(it) => (*it).into(),
    }
}

pub(super) fn sign(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => ">",
        Direction::Descending => "<",
    }
}

pub(super) fn turned(direction: Direction) -> Direction {
    match direction {
        Direction::Ascending => Direction::Descending,
        Direction::Descending => Direction::Ascending,
    }
}

/// The columns of the table stand bare, so that their indexes serve.
fn key(dialect: &dyn Dialect, key: &Key, rows: Rows<'_>) -> String {
    match (&key.field, rows.key(&key.field)) {
        (_, Some((text, false))) => text.to_owned(),
        (Field::Path(names), _) => path_key(dialect, names, key.direction),
        (Field::Owner, _) => OWNER_KEY.to_owned(),
        (column, _) => parts::column(column).to_owned(),
    }
}

fn path_key(dialect: &dyn Dialect, names: &[String], direction: Direction) -> String {
    let here = dialect.sort_key(&DocumentPath::field(names), direction);
    let Some(through_arrays) = through_arrays(dialect, names) else { return here };
    let (leaves, leaf) = dialect.leaves(names, 1);
    let extreme = match direction {
        Direction::Ascending => "min",
        Direction::Descending => "max",
    };
    let (inside, present) = (dialect.sort_key(&leaf, direction), dialect.is_present(&leaf));
    format!(
        "case when {through_arrays} \
         then coalesce((select {extreme}({inside}) from {leaves} where {present}), '') else {here} end"
    )
}
