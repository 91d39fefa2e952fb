//! Tables of a matrix: a row an operation, a column a caller.

use std::fmt;

/// Refusals that are a status alone, each as its status and code.
pub(crate) struct Refusals(pub &'static [&'static str]);

impl Refusals {
    /// The refusal's status if that says everything, else the verdict as it is.
    pub(crate) fn short(&self, verdict: &str) -> String {
        let is_known = self.0.contains(&verdict);
        verdict.split(' ').next().filter(|_| is_known).unwrap_or(verdict).to_owned()
    }

    /// The verdict that a cell stands for.
    pub(crate) fn long(&self, cell: &str) -> String {
        let is_meant = |verdict: &&&str| verdict.split(' ').next() == Some(cell);
        self.0.iter().find(is_meant).map_or_else(|| cell.to_owned(), ToString::to_string)
    }

    pub(crate) fn legend(&self) -> String {
        format!("# A status alone stands for: {}.\n", self.0.join(", "))
    }
}

/// What some operations answer to each caller.
pub(crate) struct Table {
    title: String,
    callers: Vec<String>,
    operations: Vec<String>,
    /// By caller, then by operation.
    columns: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<'n>(title: &str, callers: impl Iterator<Item = &'n str>) -> Self {
        let callers = callers.map(str::to_owned).collect();
        Self { title: title.to_owned(), callers, operations: Vec::new(), columns: Vec::new() }
    }

    /// The answers to the next caller, each with its operation; they are the same operations for all.
    pub(crate) fn column(&mut self, cells: Vec<(String, String)>) {
        let (operations, answers): (Vec<_>, Vec<_>) = cells.into_iter().unzip();
        if self.columns.is_empty() {
            self.operations = operations;
        } else {
            assert_eq!(self.operations, operations, "each caller tries the same operations");
        }
        self.columns.push(answers);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = |cells: &[String], head: &str| cells.iter().map(String::len).max().unwrap_or(0).max(head.len());
        let first = longest(&self.operations, "");
        let columns =
            || self.callers.iter().zip(&self.columns).map(|(head, cells)| (head, cells, longest(cells, head)));
        writeln!(out, "## {}", self.title)?;
        let heads: String = columns().map(|(head, _, width)| format!("  {head:<width$}")).collect();
        writeln!(out, "{}", format!("{:first$}{heads}", "").trim_end())?;
        for (n, operation) in self.operations.iter().enumerate() {
            let cells: String = columns().map(|(_, cells, width)| format!("  {:<width$}", cells[n])).collect();
            writeln!(out, "{}", format!("{operation:<first$}{cells}").trim_end())?;
        }
        Ok(())
    }
}
