//! How long things live and how dear they are: values, never read from a global.

use crate::{Limits, defence::throttle, password};
use stoa_kernel::Millis;
use stoa_outbound::SiteverifyLimits;

/// Settings of identity. The defaults are the product's.
#[derive(Debug, Clone)]
pub struct Config {
    /// Life of an access token as the client is told.
    pub access_life: Millis,
    /// How long after that it is still accepted: clients have no safety margin (identity.md 4.4).
    pub access_grace: Millis,
    /// Life of a session whatever happens.
    pub session_life: Millis,
    /// A session that is not used for this long ends.
    pub session_idle: Millis,
    /// Life of a `sessionToken`.
    pub session_token_life: Millis,
    /// Life of an authorization code.
    pub code_life: Millis,
    /// Signed tokens whose check is remembered.
    pub verified_tokens: usize,
    pub password: password::Cost,
    pub throttle: throttle::Limits,
    pub siteverify: SiteverifyLimits,
}

impl Default for Config {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

impl From<&Limits> for Config {
    fn from(limits: &Limits) -> Self {
        Self {
            access_life: limits.access_life,
            access_grace: limits.access_grace,
            session_life: limits.session_life,
            session_idle: limits.session_idle,
            session_token_life: limits.session_token_life,
            code_life: limits.code_life,
            verified_tokens: 25_000,
            password: password::Cost::default(),
            throttle: throttle::Limits::from(limits),
            siteverify: SiteverifyLimits::default(),
        }
    }
}
