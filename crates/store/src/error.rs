//! What an engine can answer, mapped by hand: nothing of an engine's own error type leaves this crate.

use deadpool_postgres::TimeoutType;
use stoa_kernel::{Code, Fault};
use tokio_postgres::error::{Severity, SqlState};

/// When to come back after [`Error::Busy`], in seconds: a few of the longest scans that are usual.
const RETRY_AFTER: i64 = 5;
/// The same after [`Error::Crowded`]: what waits is short.
const RETRY_AFTER_CROWD: i64 = 1;
/// The state that `stoa.refuse_write` raises on PostgreSQL.
const REPLACED: &str = "ST001";

/// An engine's refusal, in words both engines share.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// A unique constraint; the text names the constraint or columns and is for the log.
    Unique(String),
    /// The transaction met another one and may be run again.
    Retry(String),
    /// The disk or quota is full; nothing was written.
    Full(String),
    /// The commit failed half way: it may or may not have happened.
    Unknown(String),
    /// A row is larger than an index can hold.
    TooLarge(String),
    /// The statement was stopped: time limit or the caller went away.
    Interrupted,
    /// The database can't be reached or is shutting down.
    Unavailable(String),
    /// Too many scans wait, or this one waited for too long; nothing was done.
    Busy,
    /// As many writes wait as may, or no connection was free for too long; nothing was done.
    Crowded,
    /// A table of items that is closed: what has its place now was not known yet.
    Replaced,
    /// A text with the character U+0000, which can't be stored or asked for.
    Nul,
    /// Anything else: a defect of ours or of the database.
    Other(String),
}

impl Error {
    pub(crate) fn from_sqlite(error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as E;
        let text = error.to_string();
        match error.sqlite_error() {
            Some(it) => match (it.code, it.extended_code) {
                (E::ConstraintViolation, 2067 | 1555) => Self::Unique(text),
                (E::ConstraintViolation, 1811) if text.contains(stoa_sql::REPLACED) => Self::Replaced,
                (E::DatabaseBusy | E::DatabaseLocked, _) => Self::Retry(text),
                (E::DiskFull, _) => Self::Full(text),
                (E::OperationInterrupted, _) => Self::Interrupted,
                (E::SystemIoFailure, _) => Self::Unavailable(text),
                _ => Self::Other(text),
            },
            None => Self::Other(text),
        }
    }

    pub(crate) fn from_postgres(error: &tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            return Self::Unavailable(error.to_string());
        };
        let text = format!("{} {}: {}", db.code().code(), db.constraint().unwrap_or(""), db.message());
        // Whatever the reason, the connection is gone: a full disk or a failed sync of its log ends them all.
        if let Some(Severity::Fatal | Severity::Panic) = db.parsed_severity() {
            return Self::Unavailable(text);
        }
        match db.code() {
            &SqlState::UNIQUE_VIOLATION => Self::Unique(text),
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => Self::Retry(text),
            // Only schema changes have a limit to their waiting.
            &SqlState::LOCK_NOT_AVAILABLE => Self::Retry(text),
            &SqlState::PROGRAM_LIMIT_EXCEEDED => Self::TooLarge(text),
            &SqlState::DISK_FULL | &SqlState::OUT_OF_MEMORY => Self::Full(text),
            &SqlState::QUERY_CANCELED => Self::Interrupted,
            &SqlState::ADMIN_SHUTDOWN | &SqlState::CRASH_SHUTDOWN | &SqlState::CANNOT_CONNECT_NOW => {
                Self::Unavailable(text)
            }
            &SqlState::TOO_MANY_CONNECTIONS | &SqlState::IO_ERROR => Self::Unavailable(text),
            it if it.code() == REPLACED => Self::Replaced,
            _ => Self::Other(text),
        }
    }

    pub(crate) fn from_pool(error: &deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(it) => Self::from_postgres(it),
            deadpool_postgres::PoolError::Timeout(TimeoutType::Wait) => Self::Crowded,
            it => Self::Unavailable(it.to_string()),
        }
    }
}

impl From<Error> for Fault {
    /// A breach of a unique constraint that the caller did not map is a defect, so it is internal.
    fn from(error: Error) -> Self {
        match error {
            Error::Unique(text) => Self::internal(format!("unmapped unique constraint: {text}")),
            Error::Retry(text) => Self::new(Code::Unavailable).logged(text),
            Error::Full(text) => Self::new(Code::StorageFull).logged(text),
            Error::Unknown(text) => Self::new(Code::OutcomeUnknown).logged(text),
            Error::TooLarge(text) => Self::new(Code::ItemTooLargeToIndex).logged(text),
            Error::Interrupted => Self::new(Code::TimeLimit),
            Error::Unavailable(text) => Self::new(Code::Unavailable).logged(text),
            Error::Busy => Self::because(Code::Throttled, "Too many long reads are waiting; try again later.")
                .with("retryAfterSeconds", RETRY_AFTER),
            // Clients bring it about by being many, so it is no failure for the log.
            Error::Crowded => Self::because(Code::Unavailable, "Too many requests are waiting; try again later.")
                .with("retryAfterSeconds", RETRY_AFTER_CROWD),
            Error::Replaced => Self::because(
                Code::Unavailable,
                "The collection was replaced by a copy between environments at that moment; send the call again.",
            )
            .with("reason", "REPLACED")
            .with("retryAfterSeconds", RETRY_AFTER_CROWD),
            Error::Nul => Self::because(Code::BadRequest, "Text must not hold the character U+0000."),
            Error::Other(text) => Self::internal(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crowds_are_told_when_to_come_back() {
        let waited = Error::from_pool(&deadpool_postgres::PoolError::Timeout(TimeoutType::Wait));
        assert_eq!(waited, Error::Crowded);
        for (crowd, code) in [(waited, Code::Unavailable), (Error::Busy, Code::Throttled)] {
            let fault = Fault::from(crowd);
            assert_eq!(fault.code(), code);
            assert!(fault.data().contains_key("retryAfterSeconds"), "{fault}");
            assert_eq!(fault.log(), None, "what has a text for the log is written there as a failure");
        }
        let unreachable = Error::from_pool(&deadpool_postgres::PoolError::Timeout(TimeoutType::Create));
        assert!(matches!(unreachable, Error::Unavailable(_)));
    }
}
