//! Rows of the log about people, read: as what happened ([`IdentityEntry`]), and as events as they are sent to others
//! (docs/protocol/identity.md §14).
//!
//! Rows name members, badges and relations by their ids ([`crate::log`]), so these are read as they are now. What is
//! gone by then has no event but that of its removal.

mod entry;
mod made;
mod tell;

pub use crate::log::RelationIds;
pub use entry::{IdentityChange, IdentityEntry};
