//! Second factors of members: what they have enrolled, how an answer is checked and limited, and what a member must show
//! before any of it changes (decision 41).
//!
//! A member has as many authenticators as [`MOST`] says, codes by e-mail or not (decision 46), and with the first of them ten
//! recovery codes. What a sign-in does about it is in `sign_in::second_factor`, and how it has one set up in
//! `sign_in::enrolment`.

mod check;
mod draft;
mod enrol;
mod guard;
pub(crate) mod mailed;
mod notice;
mod offer;
mod proof;
mod recovery_code;
pub(crate) mod remembered;
mod row;
mod secret;
mod totp;

pub(crate) use check::{Compared, Verdict, compare, count};
pub(crate) use draft::Setup;
pub use draft::{Draft, SealedCodes};
pub(crate) use enrol::drop_all;
pub use enrol::{EmailEnrolment, Enrolled, Enrolment, FactorList, MemberFactor};
pub(crate) use guard::{generation, locked_generation};
pub(crate) use offer::{has_authenticator, offered};
pub use proof::Proof;
pub(crate) use proof::{
    PasswordSet, before_password_change, count_change, oneself, password_was_set, require, require_proved,
    was_set_lately,
};
pub(crate) use remembered::DAYS;
pub(crate) use secret::{left, reseal};

use serde::{Deserialize, Serialize};
use stoa_kernel::Secret;
use ts_rs::TS;

/// Authenticators of a member.
pub(crate) const MOST: usize = 5;

/// What can be shown as second factor, by the names of docs/protocol/identity.md §10.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FactorType {
    /// A code of an authenticator.
    Totp,
    /// A code that is sent to the member's address when it is asked for.
    Email,
    /// One of the codes that were shown once.
    RecoveryCode,
}

impl FactorType {
    pub const ALL: [Self; 3] = [Self::Totp, Self::Email, Self::RecoveryCode];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Totp => "TOTP",
            Self::Email => "EMAIL",
            Self::RecoveryCode => "RECOVERY_CODE",
        }
    }
}

/// What a person shows as second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub factor: FactorType,
    pub code: Secret,
}
