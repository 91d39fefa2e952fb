//! What those who run a site do with members: create, edit, import, move; and what members ask of the site about themselves:
//! another address, to be deleted, and to be told what is known of them.

mod bulk;
mod definition;
pub(crate) mod deletion;
mod edit;
mod email_change;
mod export;
pub(crate) mod impersonation;
mod import;
mod mail_sender;
mod moves;
mod policy_change;
mod ways_in;

pub use deletion::Wish;
pub use edit::MemberChange;
pub(crate) use export::AT_ONCE as EXPORTS;
pub use impersonation::{ImpersonationRequest, ImpersonationStart};
pub use import::{AT_ONCE, ImportOutcome, ImportedMember};
