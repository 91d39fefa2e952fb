//! Text and parameters, appended together so that they can't drift apart.

use crate::{Dialect, Value};

/// A statement being written for one dialect.
pub struct Writer<'d> {
    dialect: &'d dyn Dialect,
    text: String,
    params: Vec<Value>,
}

impl<'d> Writer<'d> {
    pub fn new(dialect: &'d dyn Dialect) -> Self {
        Self { dialect, text: String::with_capacity(256), params: Vec::new() }
    }

    pub fn dialect(&self) -> &'d dyn Dialect {
        self.dialect
    }

    /// Appends SQL text. Never pass anything a caller sent: that is what [`Writer::bind`] is for.
    pub fn push(&mut self, sql: &str) -> &mut Self {
        self.text.push_str(sql);
        self
    }

    /// Appends a placeholder and its parameter.
    pub fn bind(&mut self, value: impl Into<Value>) -> &mut Self {
        use std::fmt::Write;
        self.params.push(value.into());
        let _ = write!(self.text, "${}", self.params.len());
        self
    }

    /// Takes a parameter and answers its placeholder, which may be written more than once. It must be
    /// written before the next parameter is taken: SQLite numbers by first appearance.
    pub fn param(&mut self, value: impl Into<Value>) -> String {
        self.params.push(value.into());
        format!("${}", self.params.len())
    }

    pub fn finish(self) -> (String, Vec<Value>) {
        (self.text, self.params)
    }
}
