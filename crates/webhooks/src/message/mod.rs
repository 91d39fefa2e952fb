//! What is sent: the events of a row, and the signed message that tells one of them.

pub(crate) mod envelope;
pub(crate) mod event;
pub(crate) mod narrow;
pub(crate) mod source;

pub use envelope::Message;
