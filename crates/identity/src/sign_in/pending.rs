//! Sign-ins that wait for more from the person, as `stateToken`s that are signed, not stored.
//!
//! A token gives nothing by itself. One that waits for a password only says for which address. One that waits
//! for fields of the profile says that the password was right; it is good until the password changes or
//! the fields are given, whichever comes first, and so only once. One that waits for a second factor is good as `challenge`
//! says. Codes by e-mail are in `code`.

use crate::{
    Core,
    factor::FactorType,
    member::Member,
    password::Fingerprint,
    sign_in::{
        challenge::{self, Challenge},
        origin::Origin,
        outcome::{ChallengeData, Outcome},
    },
    token::signing::Purpose,
};
use serde::{Deserialize, Serialize};
use stoa_kernel::{MemberId, Millis, Result, Secret, SiteId, VisitorId};
use stoa_store::Site;

/// Life of a state token of this kind.
const LIFE: Millis = 30 * 60_000;

/// What a sign-in waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "use")]
pub(crate) enum PendingAuthentication {
    /// The first factor of the account with this address, if there is one.
    #[serde(rename = "begin")]
    FirstFactor { email: String },
    /// Fields of the profile. `password` is the fingerprint of the hash that was right.
    #[serde(rename = "complete")]
    MissingFields { member: MemberId, password: Fingerprint, visitor: Option<VisitorId> },
    /// A second factor. `asked` is the one that the answer before named.
    #[serde(rename = "prove")]
    SecondFactor { challenge: Challenge, asked: FactorType },
}

#[derive(Serialize, Deserialize)]
struct Claims {
    aud: SiteId,
    /// UTC milliseconds.
    until: Millis,
    #[serde(flatten)]
    pending: PendingAuthentication,
}

/// What is answered to one who has shown a first factor of a member with a second one.
pub(crate) fn challenge(
    core: &Core,
    site: &Site,
    member: &Member,
    generation: i64,
    factors: Vec<FactorType>,
    origin: Origin<'_>,
) -> Result<Outcome> {
    let asked = factors.first().copied().unwrap_or(FactorType::RecoveryCode);
    let waits = Challenge::of(member, generation, origin.visitor, core.now() + challenge::LIFE);
    let Origin { first, has_shown_address, .. } = origin;
    let challenge = Challenge { factors, first, has_shown_address, ..waits };
    ask(core, &site.id, challenge, asked, None)
}

/// What is answered to one who has shown a first factor of a member of whom the site requires a second one, and who has none that
/// does: `has_shown` when there is one that doesn't and it was shown. `until` is how long they may put it off, UTC milliseconds.
pub(crate) fn enrolment(
    core: &Core,
    member: &Member,
    (generation, has_shown): (i64, bool),
    origin: Origin<'_>,
    until: Option<Millis>,
) -> Outcome {
    let waits = Challenge::of(member, generation, origin.visitor, core.now() + challenge::ENROLMENT);
    let Origin { first, has_shown_address, second, .. } = origin;
    let challenge = Challenge { has_shown, remembers: second.remembers(), first, has_shown_address, ..waits };
    Outcome::RequireEnrolment { challenge, until, url: None, takes_passkey: false }
}

/// The same as [`challenge`] for one factor of those that the member has, with what goes with it.
pub(crate) fn ask(
    core: &Core,
    site: &SiteId,
    challenge: Challenge,
    asked: FactorType,
    data: Option<ChallengeData>,
) -> Result<Outcome> {
    let pending = PendingAuthentication::SecondFactor { challenge: challenge.clone(), asked };
    Ok(Outcome::MfaChallenge { challenge, state_token: issue(core, site, &pending)?, asked, data })
}

pub(crate) fn issue(core: &Core, site: &SiteId, pending: &PendingAuthentication) -> Result<Secret> {
    let claims = Claims { aud: site.clone(), until: core.now() + LIFE, pending: pending.clone() };
    core.keys.sign(Purpose::PendingAuthentication, &claims).map(Secret::new)
}

pub(crate) fn read(core: &Core, site: &SiteId, token: &str) -> Option<PendingAuthentication> {
    let claims: Claims = serde_json::from_slice(&core.keys.verify(Purpose::PendingAuthentication, token)?).ok()?;
    (claims.aud == *site && core.now() < claims.until).then_some(claims.pending)
}
