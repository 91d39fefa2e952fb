//! What those who run a site do with members: create, edit, import, move.

mod bulk;
mod definition;
mod edit;
mod import;
mod moves;

pub use edit::MemberChange;
pub use import::{AT_ONCE, ImportOutcome, ImportedMember};
