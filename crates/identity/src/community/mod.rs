//! What members have beside their account: roles, badges, custom fields, followers, blocks, reports,
//! abouts, and how much of it others see (identity.md 17).
//!
//! Two tables carry all of it. A *noun* is an object that is read whole by its id ([`noun`]); a *tie*
//! joins a member to another member or to a noun ([`tie`]). What a kind of noun may hold is a line of
//! [`kind`].

pub mod kind;
pub mod noun;
pub mod privacy;
pub mod relation;
pub mod tie;

pub use kind::Kind;
pub use noun::{Noun, NounFilter, Place};
pub use tie::{Tie, TieFilter, TieKind, Ties};
