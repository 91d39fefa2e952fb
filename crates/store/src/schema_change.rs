//! Changes of the schema that run while nothing else changes it.

use crate::{Tx, outbox::PendingEntry};
use stoa_kernel::Result;
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
    /// Tells that it was made, in the transaction of `then`; unless that changed nothing.
    pub event: Option<PendingEntry>,
}

impl SchemaChange {
    /// Writes down that it was made, and tells it.
    pub(crate) async fn write_down(&self, tx: &mut Tx<'_>) -> Result<()> {
        let changed = tx.execute(&self.then.0, &self.then.1).await?;
        match &self.event {
            Some(event) if changed > 0 => event.clone().put(tx).await,
            _ => Ok(()),
        }
    }
}
