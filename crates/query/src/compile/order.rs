//! Order: one key for each sort field, `_id` last. Keys and columns are never NULL, `owner` excepted.

use super::filter::through_arrays;
use crate::plan::{Field, Key, Order};
use stoa_sql::{Dialect, Direction, Place, Writer};

pub(super) fn write(sql: &mut Writer<'_>, order: &Order) {
    sql.push(" order by ");
    let is_decided = match order {
        Order::Random { seed } => {
            let seed = sql.param(seed);
            sql.push(&sql.dialect().random_key(&seed));
            false
        }
        Order::Keys(keys) => {
            for (n, it) in keys.iter().enumerate() {
                sql.push(if n > 0 { ", " } else { "" });
                key(sql, it);
            }
            keys.iter().any(|it| it.field == Field::Id)
        }
    };
    if !is_decided {
        sql.push(", id");
    }
}

/// The columns stand bare, so that their indexes serve.
fn key(sql: &mut Writer<'_>, key: &Key) {
    let text = match &key.field {
        Field::Path(names) => path_key(sql.dialect(), names, key.direction),
        column => super::column(sql.dialect(), column).to_owned(),
    };
    sql.push(&text).push(suffix(key.direction));
    if key.field == Field::Owner {
        sql.push(match key.direction {
            Direction::Ascending => " nulls first",
            Direction::Descending => " nulls last",
        });
    }
}

pub(super) fn suffix(direction: Direction) -> &'static str {
    match direction {
        Direction::Ascending => "",
        Direction::Descending => " desc",
    }
}

fn path_key(dialect: &dyn Dialect, names: &[String], direction: Direction) -> String {
    let here = dialect.sort_key(&Place::field(names), direction);
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
