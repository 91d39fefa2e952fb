//! A site on disk: opening it, and transactions in it. The only room that knows which engine runs.
//!
//! Everything above writes SQL that both engines read alike and hands it to a [`Tx`]. A write is a
//! closure that may be run again, that awaits nothing but its `Tx`, and whose answer is given only
//! after the commit is durable (docs/hazards.md §Writers sharing a commit, §Two kinds of transaction).

mod compact;
mod consumers;
mod database;
mod deadline;
mod directory;
mod environment_copy;
mod error;
mod fold;
mod insert;
mod lease;
mod line;
mod log_upkeep;
mod migrate;
mod news;
pub mod outbox;
mod ownership;
mod pending_entry;
mod position;
mod postgres;
mod row;
mod sandbox;
mod schema_change;
pub mod setting;
mod sights;
mod site;
mod site_change;
mod site_log;
mod site_record;
mod sqlite;
mod standing;
mod tasks;
mod trace;
mod tx;
mod withdrawal;
mod worker;

pub use consumers::{Consumers, Serving};
pub use database::{Database, ReaderPool};
pub use deadline::Deadline;
pub use directory::DataDirectory;
pub use environment_copy::{CopyRecord, CopyStatus};
pub use error::Error;
pub use fold::Fold;
pub use insert::InsertRows;
pub use line::Requester;
pub use log_upkeep::ConsumerLag;
pub use news::News;
pub use outbox::Outbox;
pub use ownership::Ownership;
pub use pending_entry::InsertWithEvent;
pub use row::{Document, FromColumn, Row};
pub use sandbox::Environment;
pub use schema_change::SchemaChange;
pub use site::{Config, Site, Store};
pub use site_change::SiteChange;
pub use site_record::{SITE_KEPT, SiteRecord};
pub use standing::{Credential, Standing};
pub use tx::Tx;
pub use withdrawal::{Area, Memory, Withdrawals};
pub use worker::{Held, Names, Worker};

/// A boxed future of a transaction's closure.
pub type TxFuture<'t, T> = std::pin::Pin<Box<dyn Future<Output = stoa_kernel::Result<T>> + Send + 't>>;

/// Wraps the body of a transaction: `write(|tx| boxed!({ … Ok(value) }))`.
#[macro_export]
macro_rules! boxed {
    ($body:expr) => {
        $crate::boxed(async move { $body })
    };
}

/// What [`boxed!`] expands to: gives the body its type.
pub fn boxed<'t, T>(body: impl Future<Output = stoa_kernel::Result<T>> + Send + 't) -> TxFuture<'t, T> {
    Box::pin(body)
}
