//! Second factors of members, and of those who run sites (`realm`, decision 60): what they have enrolled, how an answer is checked and limited, and what a member must show
//! before any of it changes (decision 41).
//!
//! A member has as many authenticators as [`MOST`] says, passkeys (decision 50), codes by e-mail or not (decision 46), one number
//! for messages and one for calls (decision 49), browsers that are asked by Web Push (decision 59), perhaps the password beside
//! an identity provider (decision 61), and with the first of those that need no provider ten recovery codes. What a sign-in does
//! about it is in `sign_in::second_factor`, and how it has one set up in
//! `sign_in::enrolment`.

mod browsers;
mod check;
mod dispatch;
mod draft;
mod enrol;
mod first_factor;
mod guard;
pub(crate) mod held;
mod mailbox;
mod notice;
mod offer;
pub mod passkey;
mod passkey_enrolment;
mod password;
mod password_enrolment;
mod password_state;
mod proof;
mod proved;
pub(crate) mod push;
mod push_answer;
mod push_enrolment;
mod realm;
mod recovery_code;
pub(crate) mod remembered;
mod row;
mod secret;
mod sent;
mod sent_enrolment;
mod totp;

pub(crate) use crate::telephone::Purpose;
pub(crate) use check::{Compared, OperatorVerdict, Verdict, compare, count, count_operator};
pub(crate) use dispatch::{is_denied, prepare, shown};
pub use draft::{Draft, SealedCodes};
pub(crate) use draft::{NewCodes, Setup};
pub use enrol::FactorList;
pub(crate) use enrol::{drop_added_since, drop_all, reset};
pub(crate) use first_factor::{Beside, FirstFactor};
pub(crate) use guard::{count_up, end_sign_ins, generation, locked_generation};
pub use held::{Enrolled, Enrolment, MemberFactor};
pub(crate) use notice::changed as tell_change;
pub(crate) use offer::{has_authenticator, is_asked_for_any, is_of_pages, offered};
pub use passkey::RelyingParty;
pub(crate) use passkey::count as passkey_count;
pub use passkey_enrolment::PASSKEY_NAME;
pub(crate) use passkey_enrolment::{checked as check_new_passkey, keep as keep_passkey, no_passkeys};
pub(crate) use password::{drop as drop_password, is_asked as password_is_asked};
pub(crate) use password_state::{PasswordSet, password_was_set, trust_password, was_set_lately};
pub use proof::{Proof, ProofAsked};
pub(crate) use proof::{
    before_password_change, compare_password, count_change, not_by_password, not_theirs, oneself, require,
    require_proved, unreached,
};
pub(crate) use proved::LIFE as PROOF_LIFE;
pub use push::Subscription;
pub use push::question::{AskedFor, PushQuestion, Question};
pub(crate) use push::question::{AskedFrom, Standing, standing};
pub use push_answer::PushAnswer;
pub use push_enrolment::PushEnrolment;
pub(crate) use realm::{Realm, operators, person};
pub(crate) use remembered::DAYS;
pub(crate) use row::Factor;
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
    /// Approval in a browser of theirs, which is asked by Web Push.
    Push,
    /// A code that is sent to the member's address when it is asked for.
    Email,
    /// One that is sent to a number of theirs.
    Sms,
    /// One that is spoken in a call to a number of theirs.
    Call,
    /// The password, of one whom an identity provider has shown.
    Password,
    /// One of the codes that were shown once.
    RecoveryCode,
}

impl FactorType {
    pub const ALL: [Self; 8] = [
        Self::Webauthn,
        Self::Totp,
        Self::Push,
        Self::Email,
        Self::Sms,
        Self::Call,
        Self::Password,
        Self::RecoveryCode,
    ];

    /// Its name in requests and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Webauthn => "WEBAUTHN",
            Self::Totp => "TOTP",
            Self::Push => "PUSH",
            Self::Email => "EMAIL",
            Self::Sms => "SMS",
            Self::Call => "CALL",
            Self::Password => "PASSWORD",
            Self::RecoveryCode => "RECOVERY_CODE",
        }
    }

    /// The member of a request that holds a code of it.
    pub fn data_name(self) -> &'static str {
        match self {
            Self::Webauthn => "webauthnData",
            Self::Totp => "totpData",
            Self::Push => "pushData",
            Self::Email => "emailData",
            Self::Sms => "smsData",
            Self::Call => "callData",
            Self::Password => "passwordData",
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
            Self::Webauthn | Self::Totp | Self::Push | Self::Email | Self::Password | Self::RecoveryCode => None,
        }
    }
}

/// What a person shows as second factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// A code of this kind; never [`FactorType::Webauthn`] nor [`FactorType::Push`].
    Code { factor: FactorType, code: Secret },
    /// Nothing where it hasn't the form of a passkey: it is as wrong as any other, and counts like one.
    Passkey(Option<passkey::Presented>),
    /// That the question of this id was approved.
    Push { transaction: String },
}

impl Shown {
    pub fn factor(&self) -> FactorType {
        match self {
            Self::Code { factor, .. } => *factor,
            Self::Passkey(_) => FactorType::Webauthn,
            Self::Push { .. } => FactorType::Push,
        }
    }
}
