//! Rows to insert.

use stoa_sql::Value;

/// Many rows into one table, distinguished by whether their key is new.
pub struct InsertRows<'a> {
    /// `insert into T (a, b)` without `values`.
    pub into: &'a str,
    /// One expression a column with `$n` for the n-th column's value, for example `["$1", "jsonb($2)"]`.
    pub values: &'a [String],
    /// The unique column that decides whether a row is new, for example `id`.
    pub key: &'a str,
    /// Position of the key among the columns.
    pub key_index: usize,
    /// What happens to a row whose key is there: nothing, as to one that breaches any other unique index, or `a = excluded.a, b = excluded.b`.
    pub replace: Option<&'a str>,
    /// Whether the first of several rows that have something else unique in common is the one that is written. Else
    /// rows are written in the order of their keys, as all transactions do, so that none waits for another in a circle.
    pub keeps_order: bool,
    /// Columns of each row; all rows have the same types at the same positions.
    pub rows: &'a [&'a [Value]],
}

impl InsertRows<'_> {
    /// The clause for rows whose key is there.
    pub(crate) fn on_conflict(&self) -> String {
        match self.replace {
            // Whichever unique index says that it is there.
            None => "on conflict do nothing".to_owned(),
            Some(assignments) => format!("on conflict ({}) do update set {assignments}", self.key),
        }
    }
}
