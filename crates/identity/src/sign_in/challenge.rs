//! A sign-in that waits for a second factor, as it stands in a state token or in a flow.

use crate::{
    factor::{FactorType, FirstFactor},
    member::Member,
    password::Fingerprint,
    sign_in::origin::{Origin, SecondFactor},
};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
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
    /// What it rests on.
    #[serde(default, skip_serializing_if = "FirstFactor::is_own")]
    pub(crate) first: FirstFactor,
    /// Whether the sign-in has shown that the address is the member's, by a code that was sent there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_shown_address: bool,
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
            first: FirstFactor::Own,
            has_shown_address: false,
        }
    }

    /// Where the sign-in comes from that goes on with what was shown now.
    pub(crate) fn origin<'a>(&'a self, address: IpAddr, second: SecondFactor<'a>) -> Origin<'a> {
        let Self { visitor, first, has_shown_address, .. } = self;
        let (visitor, address) = (visitor.as_ref(), Some(address));
        Origin { visitor, address, app: None, second, first: *first, has_shown_address: *has_shown_address }
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
            first: FirstFactor::Own,
            has_shown_address: false,
        }
    }
}
