//! Signing in: passwords, codes, links, and what each attempt comes to.

pub(crate) mod advance;
mod answer;
pub mod approval;
pub(crate) mod approval_request;
pub(crate) mod challenge;
pub(crate) mod code;
pub(crate) mod enrolment;
pub(crate) mod invitation;
pub(crate) mod link;
pub(crate) mod login;
pub(crate) mod new_password;
pub mod operator_account;
pub mod operator_factor;
pub(crate) mod operator_password;
pub(crate) mod operator_recovery;
pub(crate) mod origin;
pub(crate) mod outcome;
pub(crate) mod passkey;
pub mod password_change;
pub(crate) mod pending;
pub mod provider;
pub mod recovery;
pub(crate) mod resume;
pub(crate) mod second_factor;
pub mod verification;

pub(crate) use answer::answerer;
pub use challenge::Challenge;
pub use enrolment::CallOrigin;
pub use login::{Registration, SignOn};
pub use outcome::{ChallengeData, Outcome};
pub use resume::Resumption;
pub use second_factor::SubmittedFactor;
