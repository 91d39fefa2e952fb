//! Rows on their way into the outbox.

use crate::Tx;
use stoa_kernel::{Result, SiteId, clock::Millis};
use stoa_sql::{Value, params};

/// Writes a row in the transaction that causes it. The store announces it after the commit.
pub async fn put(tx: &mut Tx<'_>, site: &SiteId, kind: &str, payload: String, now: Millis) -> Result<()> {
    let sql = "insert into stoa.outbox (site, kind, payload, created) values ($1, $2, $3, $4)";
    tx.send(sql, params![site, kind, payload, now]).await?;
    tx.has_entry = true;
    Ok(())
}

/// A row that isn't written yet.
#[derive(Debug, Clone)]
pub struct PendingEntry {
    pub site: SiteId,
    pub kind: &'static str,
    pub payload: String,
    pub now: Millis,
}

impl PendingEntry {
    /// Writes it in the transaction that causes it.
    pub async fn put(self, tx: &mut Tx<'_>) -> Result<()> {
        put(tx, &self.site, self.kind, self.payload, self.now).await
    }
}

/// One new row, and the row of the outbox that announces it: see [`crate::Database::insert_with_event`].
#[derive(Debug, Clone)]
pub struct InsertWithEvent {
    /// As in [`crate::InsertRows`].
    pub into: String,
    pub values: Vec<String>,
    pub key: &'static str,
    pub row: Vec<Value>,
    pub event: PendingEntry,
}
