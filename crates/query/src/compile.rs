//! Plan → SQL, in one walk for both engines. What they say differently is behind [`Dialect`].
//!
//! Text and parameters are written side by side, so they can't drift apart; nothing that a client sent
//! becomes part of the text except names of fields, which the dialect quotes.

mod filter;
mod order;

use crate::plan::{Count, Distinct, Field, Filter, Find, Scope, Start, Window};
use stoa_sql::{Dialect, Table, Value, Writer};

/// A statement and its parameters.
pub type Statement = (String, Vec<Value>);

/// Rows of `id` and the document's text: at most one more than the page holds, which tells whether
/// another page follows.
pub fn find(dialect: &dyn Dialect, table: Table, plan: &Find) -> Statement {
    let mut sql = Writer::new(dialect);
    sql.push("select id, ").push(dialect.read_doc()).push(" from ").push(&dialect.table(table));
    only(&mut sql, &plan.scope, &plan.filter);
    order::write(&mut sql, &plan.order);
    window(&mut sql, plan.window);
    sql.finish()
}

/// One row with one number.
pub fn count(dialect: &dyn Dialect, table: Table, plan: &Count) -> Statement {
    let mut sql = Writer::new(dialect);
    sql.push("select count(*) from ").push(&dialect.table(table));
    only(&mut sql, &plan.scope, &plan.filter);
    sql.finish()
}

/// Rows of one sort key for each different value ([`crate::order::value`] gives the value back), at
/// most one more than the page holds.
pub fn distinct(dialect: &dyn Dialect, table: Table, plan: &Distinct) -> Statement {
    let (mut sql, rows) = (Writer::new(dialect), Values::of(dialect, &plan.field));
    sql.push("select distinct ").push(&rows.key).push(" as k");
    rows.from(&mut sql, table, plan);
    sql.push(" order by k").push(order::suffix(plan.direction));
    window(&mut sql, plan.window);
    sql.finish()
}

/// One row with the number of different values.
pub fn distinct_count(dialect: &dyn Dialect, table: Table, plan: &Distinct) -> Statement {
    let (mut sql, rows) = (Writer::new(dialect), Values::of(dialect, &plan.field));
    sql.push("select count(distinct ").push(&rows.key).push(")");
    rows.from(&mut sql, table, plan);
    sql.finish()
}

/// Appends a filter as a condition on the row at hand, for `update` and `delete` of one item.
pub fn condition(sql: &mut Writer<'_>, filter: &Filter) {
    filter::write(sql, filter);
}

/// Scope and filter together. There is no other place where a `where` is written.
fn only(sql: &mut Writer<'_>, scope: &Scope, filter: &Filter) {
    match Filter::all([scope.filter(), filter.clone()]) {
        Filter::True => {}
        it => {
            sql.push(" where ");
            filter::write(sql, &it);
        }
    }
}

/// Every value of a field, as a row source, and the sort key of such a value.
struct Values {
    rows: String,
    key: String,
}

impl Values {
    fn of(dialect: &dyn Dialect, field: &Field) -> Self {
        // The document holds the columns as well, in the form that an answer needs.
        let (rows, place) = match field {
            Field::Path(names) => dialect.values(names, 1),
            column => dialect.values(&[column.name().into_owned()], 1),
        };
        Self { rows, key: dialect.value_key(&place) }
    }

    /// The items have a query of their own, because the rows of values have an `id` too.
    fn from(&self, sql: &mut Writer<'_>, table: Table, plan: &Distinct) {
        let table = sql.dialect().table(table);
        sql.push(" from (select * from ").push(&table);
        only(sql, &plan.scope, &plan.filter);
        sql.push(") as items, ").push(&self.rows);
    }
}

fn window(sql: &mut Writer<'_>, window: Window) {
    let Start::Offset(offset) = window.start;
    sql.push(" limit ").bind(i64::from(window.limit) + 1);
    if offset > 0 {
        sql.push(" offset ").bind(i64::try_from(offset).unwrap_or(i64::MAX));
    }
}

/// The column behind a field; those of the document are all in one.
fn column(dialect: &dyn Dialect, field: &Field) -> &'static str {
    match field {
        Field::Id => "id",
        Field::Owner => "owner",
        Field::Created => "created",
        Field::Updated => "updated",
        Field::Path(_) => dialect.read_doc(),
    }
}
