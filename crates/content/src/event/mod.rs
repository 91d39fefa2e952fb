//! Events of items: written to the outbox with what caused them, and read from it.

pub mod read;
pub(crate) mod write;
