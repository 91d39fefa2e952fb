//! What a listener may count, under targets of its own.

/// The text of a statement, never its values.
pub(crate) fn statement(sql: &str) {
    tracing::trace!(target: "stoa::statement", sql);
}

/// How long a read that may take long waited for its turn, in microseconds.
pub(crate) fn scan(waited: u64) {
    tracing::trace!(target: "stoa::scan", waited);
}

/// How many rows one transaction changed: SQLite's writer does nothing else meanwhile.
pub(crate) fn transaction(changed: u64) {
    tracing::trace!(target: "stoa::transaction", changed);
}
