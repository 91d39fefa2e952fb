//! Signing in: passwords, codes, links, and what each attempt comes to.

pub mod approval;
pub(crate) mod link;
pub(crate) mod login;
pub(crate) mod outcome;
pub mod recovery;
pub(crate) mod stage;
pub mod verification;

pub use login::{Registration, SignOn};
