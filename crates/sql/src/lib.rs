//! SQL text and its parameters, built together, and the short list of places where the engines differ.
//!
//! Both engines read `$1`, `$2` …: PostgreSQL binds by number, SQLite by first appearance. [`Writer`]
//! numbers parameters in the order in which they are written, so one text means the same on both;
//! `store` checks hand-written texts when it prepares them.

pub mod dialect;
pub mod functions;
pub mod json;
pub mod jsonb;
pub mod key;
pub mod pattern;
pub mod postgres;
pub mod postgres_fold;
pub mod postgres_functions;
pub mod probe;
pub mod random;
pub mod sqlite;
pub mod value;
pub mod writer;

/// What a table of items that is closed ([`Dialect::close_items_table`]) says to who writes to it.
pub const REPLACED: &str = "the collection was replaced";

pub use dialect::{Dialect, Index, Table};
pub use json::{Direction, DocumentPath};
pub use postgres::Postgres;
pub use probe::{Operand, Probe, Sign};
pub use sqlite::Sqlite;
pub use value::Value;
pub use writer::Writer;
