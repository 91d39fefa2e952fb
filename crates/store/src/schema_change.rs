//! Changes of the schema that run while nothing else changes it.

use stoa_sql::Value;

/// A change of the schema that may take long ([`crate::Database::change_schema`]).
#[derive(Debug, Clone)]
pub struct SchemaChange {
    /// What is changed: a site's number and a number within it.
    pub key: (i64, i64),
    /// Answers a row as long as the change is still to be made.
    pub only_if: (String, Vec<Value>),
    /// Without parameters, one after the other.
    pub statements: Vec<String>,
    /// Writes down that it was made.
    pub then: (String, Vec<Value>),
}
