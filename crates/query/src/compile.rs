//! Plan → SQL, in one pass for both engines. What they say differently is behind [`Dialect`].
//!
//! Text and parameters are written side by side, so they can't drift apart; nothing that a client sent
//! becomes part of the text except names of fields, which the dialect quotes.

mod access;
mod filter;
mod keyed;
mod links;
mod order;
mod parts;

use crate::plan::{Count, Distinct, Field, Filter, Find, Order, Position, Scope, Start};
use crate::schema::IndexSpec;
use access::{Access, Rows};
use stoa_sql::{Dialect, Index, Table, Value, Writer};

/// A statement and its parameters.
pub type Statement = (String, Vec<Value>);

/// Rows of the document: at most one more than the page holds, which tells whether another page follows. In
/// a page by cursor its id and the keyset values of [`Position`] come after it, and the rows before a position come nearest first.
pub fn find(dialect: &dyn Dialect, table: Table, plan: &Find) -> Statement {
    let filter = Filter::all([plan.scope.filter(), plan.filter.clone()]);
    let access = Access::choose(dialect, &plan.indexes, &filter, Some(&plan.order));
    let (mut sql, page) = (Writer::new(dialect), Page { table, plan, filter: &filter });
    match selects(&access, plan).as_slice() {
        [one] => page.by_one(&mut sql, one, None),
        several => page.by_several(&mut sql, several, &access),
    }
    sql.finish()
}

/// A page of one select, which may not be all of it.
pub struct ScalarPage {
    pub statement: Statement,
    /// The number of the index that serves it.
    pub index: i64,
}

/// The same page for less, where no item is array-valued in the index that serves it: one select, with one more column
/// at the end that tells whether any item is. Where one is, and where there is no row to tell, only [`find`]
/// has the page. Nothing where it would be the same statement, for a random order, which reads all that
/// passes anyway, and for indexes of which it is known that they have `array_valued` items.
pub fn find_scalar(dialect: &dyn Dialect, table: Table, plan: &Find, array_valued: &[i64]) -> Option<ScalarPage> {
    if plan.page.start.position().is_some() || matches!(plan.order, Order::Random { .. }) {
        return None;
    }
    let filter = Filter::all([plan.scope.filter(), plan.filter.clone()]);
    let access = Access::choose(dialect, &plan.indexes, &filter, Some(&plan.order));
    let index = access.number().filter(|it| !array_valued.contains(it))?;
    let &[rows, array_valued @ Rows::ArrayValued(_)] = access.rows().as_slice() else { return None };
    let array_valued =
        format!("select 1 from {} where {}", dialect.table(table), array_valued.condition(&Filter::True)?);
    let mut sql = Writer::new(dialect);
    Page { table, plan, filter: &filter }.by_one(&mut sql, &Select { rows, range: None }, Some(&array_valued));
    Some(ScalarPage { statement: sql.finish(), index })
}

/// The rows of [`find`], each with one more column at the end: how many items the filter lets through, so that one
/// pass over the collection gives both. Nothing where an index has the order or serves the filter, for a page then
/// needs no pass, for a page at a position, and for a random order. Without a row the number isn't told.
///
/// Only keys are put in order: what a page shows is read for its rows alone.
pub fn find_counted(dialect: &dyn Dialect, table: Table, plan: &Find) -> Option<Statement> {
    if !plan.total || plan.page.start.position().is_some() || matches!(plan.order, Order::Random { .. }) {
        return None;
    }
    let filter = Filter::all([plan.scope.filter(), plan.filter.clone()]);
    let access = Access::choose(dialect, &plan.indexes, &filter, Some(&plan.order));
    let &[rows @ Rows::All] = access.rows().as_slice() else { return None };
    if access.is_ordered(rows) || access::is_found(&filter) {
        return None;
    }
    let (mut sql, page) = (Writer::new(dialect), Page { table, plan, filter: &filter });
    let (columns, table) = (order::columns(&mut sql, &plan.order, rows, false), dialect.table(table));
    let names: String = (0..columns.len() - 1).map(|n| format!(", {}", order::name(n))).collect();
    sql.push("with found as materialized (select rid, id");
    for (n, column) in columns.iter().enumerate().take(columns.len() - 1) {
        sql.push(", ").push(&column.text).push(" as ").push(&order::name(n));
    }
    sql.push(" from ").push(&table);
    Only::new(&filter, rows).write(&mut sql);
    sql.push("), page as (select rid, id").push(&names).push(" from found");
    order::write(&mut sql, &columns, true);
    sql.push(&page.most());
    page.skip(&mut sql);
    sql.push(") select item.doc");
    if !matches!(plan.page.start, Start::Offset(_)) {
        sql.push(", page.id").push(&names);
    }
    sql.push(", (select count(*) from found) from page join ")
        .push(&table)
        .push(" item on item.rid = page.rid order by ");
    for (n, it) in columns.iter().enumerate() {
        sql.push(if n > 0 { ", " } else { "" });
        sql.push(&if n + 1 < columns.len() { order::name(n) } else { "page.id".to_owned() });
        sql.push(parts::suffix(it.direction));
    }
    Some(sql.finish())
}

/// Rows of the document, all of them in any order.
pub fn scan(dialect: &dyn Dialect, table: Table, plan: &Find) -> Statement {
    let mut sql = Writer::new(dialect);
    let filter = Filter::all([plan.scope.filter(), plan.filter.clone()]);
    for (n, rows) in Access::choose(dialect, &plan.indexes, &filter, None).rows().into_iter().enumerate() {
        sql.push(if n > 0 { " union all " } else { "" }).push("select doc from ").push(&dialect.table(table));
        Only::new(&filter, rows).write(&mut sql);
    }
    sql.finish()
}

/// The documents of items, in any order.
pub fn documents(dialect: &dyn Dialect, table: Table, scope: &Scope, filter: &Filter) -> Statement {
    rows_with(dialect, table, scope, filter, "doc")
}

/// The numbers of the rows of items, in any order.
pub fn rows(dialect: &dyn Dialect, table: Table, scope: &Scope, filter: &Filter) -> Statement {
    rows_with(dialect, table, scope, filter, "rid")
}

/// The same, each with its document.
pub fn rows_and_documents(dialect: &dyn Dialect, table: Table, scope: &Scope, filter: &Filter) -> Statement {
    rows_with(dialect, table, scope, filter, "rid, doc")
}

fn rows_with(dialect: &dyn Dialect, table: Table, scope: &Scope, filter: &Filter, columns: &str) -> Statement {
    let (mut sql, filter) = (Writer::new(dialect), Filter::all([scope.filter(), filter.clone()]));
    sql.push("select ").push(columns).push(" from ").push(&dialect.table(table));
    Only::new(&filter, Rows::All).write(&mut sql);
    sql.finish()
}

/// Whether an index has the rows of [`find`] in their order, so that reading them all takes no memory.
pub fn is_in_order(plan: &Find) -> bool {
    let filter = Filter::all([plan.scope.filter(), plan.filter.clone()]);
    access::is_in_order(&plan.indexes, &filter, &plan.order)
}

/// One row with one number.
pub fn count(dialect: &dyn Dialect, table: Table, plan: &Count) -> Statement {
    let mut sql = Writer::new(dialect);
    let filter = Filter::all([plan.scope.filter(), plan.filter.clone()]);
    let count = |sql: &mut Writer<'_>, rows: Rows<'_>| {
        sql.push("select count(*) from ").push(&dialect.table(table));
        Only::new(&filter, rows).write(sql);
    };
    match Access::choose(dialect, &plan.indexes, &filter, None).rows().as_slice() {
        [one] => count(&mut sql, *one),
        several => {
            sql.push("select ");
            for (n, it) in several.iter().enumerate() {
                sql.push(if n > 0 { " + (" } else { "(" });
                count(&mut sql, *it);
                sql.push(")");
            }
        }
    }
    sql.finish()
}

/// Rows of one sort key for each different value ([`crate::order::value`] gives the value back) and of
/// the keyset value of its position, at most one more than the page holds.
pub fn distinct(dialect: &dyn Dialect, table: Table, plan: &Distinct) -> Statement {
    let (mut sql, rows) = (Writer::new(dialect), Values::of(dialect, &plan.field));
    let (mark, start) = (dialect.bounded(&rows.key), &plan.page.start);
    sql.push("select distinct ").push(&rows.key).push(" as k, ").push(&mark).push(" as k1");
    rows.from(&mut sql, table, plan);
    let direction = if start.is_backward() { order::turned(plan.direction) } else { plan.direction };
    if let Some((it, first)) = start.position().and_then(|it| Some((it, it.keyset.first()?))) {
        sql.push(" where ").push(&mark).push(" ").push(order::sign(direction)).push(order::or_equal(it)).push(" ");
        sql.bind(order::value(first));
    }
    sql.push(" order by k1").push(parts::suffix(direction));
    sql.push(&format!(" limit {}", i64::from(plan.page.limit) + 1));
    if start.offset() > 0 {
        sql.push(" offset ").bind(i64::try_from(start.offset()).unwrap_or(i64::MAX));
    }
    sql.finish()
}

/// One row with the number of different values.
pub fn distinct_count(dialect: &dyn Dialect, table: Table, plan: &Distinct) -> Statement {
    let (mut sql, rows) = (Writer::new(dialect), Values::of(dialect, &plan.field));
    sql.push("select count(distinct ").push(&rows.key).push(")");
    rows.from(&mut sql, table, plan);
    sql.finish()
}

/// Whether an index has the page as it is: it has the order, and its first fields alone decide which items there are.
/// Then [`find_scalar`] reads as many entries of it as the page shows and passes over.
pub fn is_read_from_index(plan: &Find) -> bool {
    let filter = Filter::all([plan.scope.filter(), plan.filter.clone()]);
    plan.page.start.position().is_none() && access::decides(&plan.indexes, &filter, &plan.order)
}

/// The number of the index that serves rows of this scope and filter, in this order if there is one.
pub fn served_by(indexes: &[IndexSpec], scope: &Scope, filter: &Filter, order: Option<&Order>) -> Option<i64> {
    let filter = Filter::all([scope.filter(), filter.clone()]);
    access::best(indexes, &filter, order).map(|it| it.number)
}

/// The statements that make an index. Online, each must run outside of any transaction while writers go
/// on, and may leave an invalid index behind when it fails; [`drop_index`] removes what there is.
///
/// A unique index has a statement of its own beside the one that serves queries, and fails on values
/// that are there twice. Missing and null are no values, and an array is one as a whole.
pub fn index(dialect: &dyn Dialect, table: Table, index: &IndexSpec, online: bool) -> Vec<String> {
    let (serving, unique) = names(index);
    let make =
        |name: &str, unique, columns: &str| dialect.create_index(&Index { table, name, unique }, columns, online);
    let mut statements = vec![make(&serving, false, &access::columns(dialect, index))];
    if index.unique {
        statements.extend(access::unique(dialect, index).map(|it| make(&unique, true, &it)));
    }
    statements
}

/// The statements that remove an index, whatever there is of it.
pub fn drop_index(dialect: &dyn Dialect, table: Table, index: &IndexSpec, online: bool) -> Vec<String> {
    let (serving, unique) = names(index);
    let names = if index.unique { vec![serving, unique] } else { vec![serving] };
    names.iter().map(|name| dialect.drop_index(&Index { table, name, unique: false }, online)).collect()
}

fn names(index: &IndexSpec) -> (String, String) {
    (format!("i{}", index.number), format!("i{}_unique", index.number))
}

/// Appends a filter as a condition on the row at hand, for `update` and `delete` of one item.
pub fn condition(sql: &mut Writer<'_>, filter: &Filter) {
    filter::write(sql, filter, Rows::All);
}

/// One of the selects that make up an answer.
struct Select<'p> {
    rows: Rows<'p>,
    /// After a position: the column of the order in which its rows lie beyond, being equal before it. All
    /// rows beyond if nothing.
    range: Option<usize>,
}

/// The statement of a page, while it is written.
struct Page<'a> {
    table: Table,
    plan: &'a Find,
    /// The scope is in it.
    filter: &'a Filter,
}

impl Page<'_> {
    /// One select has it all, and tells whether there are rows of another.
    fn by_one(&self, sql: &mut Writer<'_>, one: &Select<'_>, other: Option<&str>) {
        // A random key has a parameter, and those are numbered in the order of the text.
        let is_random = matches!(self.plan.order, Order::Random { .. });
        let are_named = is_random || !matches!(self.plan.page.start, Start::Offset(_));
        let columns = self.select(sql, one, are_named, other);
        order::write(sql, &columns, are_named);
        sql.push(&self.most());
        self.skip(sql);
    }

    /// Each has its part of the page, in order; together they have all of it.
    fn by_several(&self, sql: &mut Writer<'_>, several: &[Select<'_>], access: &Access<'_>) {
        let (mut columns, offset) = (Vec::new(), self.offset());
        for (n, it) in several.iter().enumerate() {
            sql.push(if n > 0 { " union all " } else { "" });
            if sql.dialect().merges_by_index() && access.is_ordered(it.rows) {
                columns = self.select(sql, it, true, None);
                continue;
            }
            sql.push("select * from (");
            columns = self.select(sql, it, true, None);
            order::write(sql, &columns, true);
            match offset {
                0 => sql.push(&self.most()),
                _ => sql.push(" limit ").bind(self.limit().saturating_add(offset)),
            };
            sql.push(&format!(") as s{}", n + 1));
        }
        order::write(sql, &columns, true);
        sql.push(&self.most());
        self.skip(sql);
    }

    fn select(
        &self,
        sql: &mut Writer<'_>,
        it: &Select<'_>,
        are_named: bool,
        other: Option<&str>,
    ) -> Vec<order::Column> {
        let (plan, start) = (self.plan, &self.plan.page.start);
        sql.push(if are_named { "select doc, id" } else { "select doc" });
        let columns = order::columns(sql, &plan.order, it.rows, start.is_backward());
        if are_named {
            for (n, column) in columns.iter().enumerate().take(columns.len() - 1) {
                sql.push(", ").push(&column.text).push(" as ").push(&order::name(n));
            }
        }
        if let Some(other) = other {
            sql.push(", exists (").push(other).push(")");
        }
        let table = sql.dialect().table(self.table);
        sql.push(" from ").push(&table);
        let mut only = Only::new(self.filter, it.rows);
        only.beyond = start.position().map(|position| Beyond { columns: &columns, plan, position, range: it.range });
        only.write(sql);
        columns
    }

    /// In the text: PostgreSQL plans a limit that it doesn't see as a tenth of all rows, and SQLite as none.
    fn most(&self) -> String {
        format!(" limit {}", self.limit())
    }

    fn limit(&self) -> i64 {
        i64::from(self.plan.page.limit) + 1
    }

    fn skip(&self, sql: &mut Writer<'_>) {
        if self.offset() > 0 {
            sql.push(" offset ").bind(self.offset());
        }
    }

    fn offset(&self) -> i64 {
        i64::try_from(self.plan.page.start.offset()).unwrap_or(i64::MAX)
    }
}

/// Those in which an index has all rows in the right order, one range each.
fn selects<'a>(access: &'a Access<'_>, plan: &Find) -> Vec<Select<'a>> {
    let mut selects = Vec::new();
    for rows in access.rows() {
        match plan.page.start.position() {
            // The nearest first: those that are equal to the position in all but their id.
            Some(_) if access.is_ordered(rows) => {
                let columns = plan.order.keyset_keys().count() + 1;
                selects.extend((0..columns).rev().map(|it| Select { rows, range: Some(it) }));
            }
            _ => selects.push(Select { rows, range: None }),
        }
    }
    selects
}

/// Scope and filter together with what else narrows a select. There is no other place where a `where`
/// on items is written.
struct Only<'a> {
    /// The scope is in it.
    filter: &'a Filter,
    rows: Rows<'a>,
    beyond: Option<Beyond<'a>>,
}

struct Beyond<'a> {
    columns: &'a [order::Column],
    plan: &'a Find,
    position: &'a Position,
    range: Option<usize>,
}

impl Beyond<'_> {
    /// Whether it bounds the first key of the index behind the rows, which is NULL in those that are not among them.
    /// A sort field that the filter gives one value may be none of the index.
    fn bounds(&self, rows: Rows<'_>) -> bool {
        let (Some(range), Some(first)) = (self.range, rows.first_field()) else { return false };
        self.plan.order.keyset_keys().take(range + 1).any(|it| it.field == *first)
    }
}

impl<'a> Only<'a> {
    fn new(filter: &'a Filter, rows: Rows<'a>) -> Self {
        Self { filter, rows, beyond: None }
    }

    fn write(&self, sql: &mut Writer<'_>) {
        let mut word = " where ";
        let mut and = |sql: &mut Writer<'_>| {
            sql.push(std::mem::replace(&mut word, " and "));
        };
        // First, because of two lower bounds on one key SQLite takes the one that it meets first.
        if let Some(Beyond { columns, plan, position, range }) = &self.beyond {
            and(sql);
            match range {
                Some(n) => order::beyond_in(sql, columns, &plan.order, position, *n),
                None => order::beyond(sql, columns, &plan.order, position),
            }
        }
        let is_bounded = self.beyond.as_ref().is_some_and(|it| it.bounds(self.rows));
        if let Some(it) = self.rows.condition(self.filter).filter(|_| !is_bounded) {
            and(sql);
            sql.push(&it);
        }
        if *self.filter != Filter::True {
            and(sql);
            filter::write(sql, self.filter, self.rows);
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
        let (rows, key) = match field {
            Field::Path(names) => dialect.values(names, 1),
            column => dialect.values(&[column.name().into_owned()], 1),
        };
        Self { rows, key }
    }

    /// The items have a query of their own, because the rows of values have an `id` too.
    fn from(&self, sql: &mut Writer<'_>, table: Table, plan: &Distinct) {
        let table = sql.dialect().table(table);
        sql.push(" from (select * from ").push(&table);
        Only::new(&Filter::all([plan.scope.filter(), plan.filter.clone()]), Rows::All).write(sql);
        sql.push(") as items, ").push(&self.rows);
    }
}
