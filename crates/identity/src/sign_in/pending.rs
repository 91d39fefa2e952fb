//! Sign-ins that wait for more from the person, as `stateToken`s that are signed, not stored.
//!
//! A token gives nothing by itself. One that waits for a password only says for which address. One that waits
//! for fields of the profile says that the password was right; it is good until the password changes or
//! the fields are given, whichever comes first, and so only once. Codes by e-mail are in `code`.

use crate::{Core, password::Fingerprint, token::signing::Purpose};
use serde::{Deserialize, Serialize};
use stoa_kernel::{MemberId, Millis, Result, Secret, SiteId, VisitorId};

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
}

#[derive(Serialize, Deserialize)]
struct Claims {
    aud: SiteId,
    /// UTC milliseconds.
    until: Millis,
    #[serde(flatten)]
    pending: PendingAuthentication,
}

pub(crate) fn issue(core: &Core, site: &SiteId, pending: &PendingAuthentication) -> Result<Secret> {
    let claims = Claims { aud: site.clone(), until: core.now() + LIFE, pending: pending.clone() };
    core.keys.sign(Purpose::PendingAuthentication, &claims).map(Secret::new)
}

pub(crate) fn read(core: &Core, site: &SiteId, token: &str) -> Option<PendingAuthentication> {
    let claims: Claims = serde_json::from_slice(&core.keys.verify(Purpose::PendingAuthentication, token)?).ok()?;
    (claims.aud == *site && core.now() < claims.until).then_some(claims.pending)
}
