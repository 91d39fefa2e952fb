//! Second factors of members: what they have enrolled, how an answer is checked and limited, and what a member must show
//! before any of it changes (decision 41).
//!
//! A member has as many authenticators as [`MOST`] says, passkeys (decision 50), codes by e-mail or not (decision 46), one number
//! for messages and one for calls (decision 49), and with the first of them ten
//! recovery codes. What a sign-in does about it is in `sign_in::second_factor`, and how it has one set up in
//! `sign_in::enrolment`.

mod check;
mod dispatch;
mod draft;
mod enrol;
mod guard;
mod notice;
mod offer;
pub mod passkey;
mod passkey_enrolment;
mod proof;
mod recovery_code;
pub(crate) mod remembered;
mod row;
mod secret;
mod sent;
mod sent_enrolment;
mod totp;

pub(crate) use crate::telephone::Purpose;
pub(crate) use check::{Compared, Verdict, compare, count};
pub(crate) use dispatch::{prepare, shown};
pub(crate) use draft::Setup;
pub use draft::{Draft, SealedCodes};
pub use enrol::{Enrolled, Enrolment, FactorList, MemberFactor};
pub(crate) use enrol::{drop_added_since, drop_all};
pub(crate) use guard::{end_sign_ins, generation, locked_generation};
pub(crate) use offer::{has_authenticator, offered};
pub use passkey::RelyingParty;
pub use passkey_enrolment::PASSKEY_NAME;
pub(crate) use passkey_enrolment::keep as keep_passkey;
pub use proof::Proof;
pub(crate) use proof::{
    PasswordSet, before_password_change, count_change, oneself, password_was_set, require, require_proved,
    was_set_lately,
};
pub(crate) use remembered::DAYS;
pub(crate) use secret::{left, reseal};
pub(crate) use sent::{LIFE as CODE_LIFE, put_to_address, take_at_address};
pub use sent_enrolment::SentEnrolment;

use crate::telephone::Channel;
use serde::{Deserialize, Serialize};
use stoa_kernel::Secret;
use ts_rs::TS;

/// Authenticators of a member.
pub(crate) const MOST: usize = 5;

/// What can be shown as second factor, by the names of docs/protocol/identity.md §10.4; the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FactorType {
    /// A passkey.
    Webauthn,
    /// A code of an authenticator.
    Totp,
    /// A code that is sent to the member's address when it is asked for.
    Email,
    /// One that is sent to a number of theirs.
    Sms,
    /// One that is spoken in a call to a number of theirs.
    Call,
    /// One of the codes that were shown once.
    RecoveryCode,
}

impl FactorType {
    pub const ALL: [Self; 6] = [Self::Webauthn, Self::Totp, Self::Email, Self::Sms, Self::Call, Self::RecoveryCode];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Webauthn => "WEBAUTHN",
            Self::Totp => "TOTP",
            Self::Email => "EMAIL",
            Self::Sms => "SMS",
            Self::Call => "CALL",
            Self::RecoveryCode => "RECOVERY_CODE",
        }
    }

    /// The member of a request that holds a code of it.
    pub fn data_name(self) -> &'static str {
        match self {
            Self::Webauthn => "webauthnData",
            Self::Totp => "totpData",
            Self::Email => "emailData",
            Self::Sms => "smsData",
            Self::Call => "callData",
            Self::RecoveryCode => "recoveryCodeData",
        }
    }

    /// Whether its codes are sent when they are asked for.
    pub fn is_sent(self) -> bool {
        matches!(self, Self::Email | Self::Sms | Self::Call)
    }

    /// By what its codes reach a telephone; nothing for those that go to none.
    pub(crate) fn channel(self) -> Option<Channel> {
        match self {
            Self::Sms => Some(Channel::Sms),
            Self::Call => Some(Channel::Call),
            Self::Webauthn | Self::Totp | Self::Email | Self::RecoveryCode => None,
        }
    }
}

/// What a person shows as second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// A code of this kind; never [`FactorType::Webauthn`].
    Code {
        factor: FactorType,
        code: Secret,
    },
    Passkey(passkey::Presented),
}

impl Shown {
    pub fn factor(&self) -> FactorType {
        match self {
            Self::Code { factor, .. } => *factor,
            Self::Passkey(_) => FactorType::Webauthn,
        }
    }
}
