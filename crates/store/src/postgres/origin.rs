//! Where the data of a database are: a copy of them, restored elsewhere or to an earlier time, is another place, and
//! what the log of the one promised its readers the other can't keep.

use tokio_postgres::error::SqlState;

/// The cluster, its timeline (which another begins when it was restored to a time, or a standby took over), the
/// database and the table. A dump that is restored makes another table.
pub(super) const WHOLE: &str = "(select system_identifier::text from pg_control_system()) || '/' || \
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/' || \
    (select oid::text from pg_database where datname = current_database()) || '/' || 'stoa.outbox'::regclass::oid::text";
/// The same where the server keeps the first two to itself.
pub(super) const WITHIN: &str = "(select oid::text from pg_database where datname = current_database()) || '/' || \
    'stoa.outbox'::regclass::oid::text";

/// Where the data are, and how that is asked.
pub(crate) struct Origin {
    pub(super) expression: &'static str,
    pub(super) text: String,
}

impl Default for Origin {
    fn default() -> Self {
        Self { expression: WHOLE, text: String::new() }
    }
}

/// Whether an error says that the server never tells.
pub(super) fn is_withheld(error: &tokio_postgres::Error) -> bool {
    // A standby can't tell either, but it may be the primary a moment later.
    let withheld = [SqlState::INSUFFICIENT_PRIVILEGE, SqlState::UNDEFINED_FUNCTION, SqlState::FEATURE_NOT_SUPPORTED];
    error.code().is_some_and(|code| withheld.contains(code))
}
