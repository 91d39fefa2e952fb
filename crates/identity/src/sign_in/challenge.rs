//! A sign-in that waits for a second factor, as it stands in a state token or in a flow.

use crate::{factor::FactorType, member::Member, password::Fingerprint};
use serde::{Deserialize, Serialize};
use stoa_kernel::{MemberId, Millis, VisitorId};

/// Life of one.
pub(crate) const LIFE: Millis = 10 * 60_000;
/// Life of one whose member sets a factor up: an app may have to be found first.
pub(crate) const ENROLMENT: Millis = 30 * 60_000;

/// What the person has shown so far. It gives nothing by itself, and is good until the member's password changes, their
/// sessions are ended or their factors are changed, whichever comes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    pub(crate) member: MemberId,
    /// Of the hash of the password that was right, or that the member has who was shown otherwise.
    pub(crate) password: Fingerprint,
    /// That of the member's factors.
    pub(crate) generation: i64,
    pub(crate) visitor: Option<VisitorId>,
    /// UTC milliseconds.
    pub(crate) until: Millis,
    /// What could be shown when the sign-in asked; where it counts it is read again.
    #[serde(default = "without_email")]
    pub(crate) factors: Vec<FactorType>,
    /// The name of the codes that were sent for it, and of questions to the member's browsers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mailed: Option<String>,
    /// Whether a second factor was shown, which is none that the site requires: the member sets one up beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_shown: bool,
    /// Whether the member who has shown it isn't to be asked again in the browser where the sign-in ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) remembers: bool,
    /// Whether it was an identity provider that has shown who they are, so that the password can be shown beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) by_provider: bool,
}

/// Of a sign-in that began before there were codes by e-mail.
fn without_email() -> Vec<FactorType> {
    vec![FactorType::Totp, FactorType::RecoveryCode]
}

impl Challenge {
    /// Of a member whose first factor was shown as it is now.
    pub(crate) fn of(member: &Member, generation: i64, visitor: Option<&VisitorId>, until: Millis) -> Self {
        Self {
            member: member.id.clone(),
            password: Fingerprint::of(member.password_hash.as_deref()),
            generation,
            visitor: visitor.cloned(),
            until,
            factors: Vec::new(),
            mailed: None,
            has_shown: false,
            remembers: false,
            by_provider: false,
        }
    }

    /// When the sign-in began that waits for a second factor. UTC milliseconds.
    pub(crate) fn begun(&self) -> Millis {
        self.until - LIFE
    }

    /// Of somebody who runs sites, whose first factor was shown (`sign_in::operator_factor`). It stands in a flow and in nothing else.
    pub(crate) fn of_operator(member: MemberId, password: Fingerprint, generation: i64, until: Millis) -> Self {
        Self {
            member,
            password,
            generation,
            visitor: None,
            until,
            factors: Vec::new(),
            mailed: None,
            has_shown: false,
            remembers: false,
            by_provider: false,
        }
    }
}
