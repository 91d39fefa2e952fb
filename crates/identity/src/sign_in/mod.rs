//! Signing in: passwords, codes, links, and what each attempt comes to.

mod answer;
pub mod approval;
pub(crate) mod invitation;
pub(crate) mod link;
pub(crate) mod login;
pub(crate) mod outcome;
pub mod recovery;
pub(crate) mod stage;
pub mod verification;

pub(crate) use answer::answerer;
pub use login::{Registration, SignOn};
