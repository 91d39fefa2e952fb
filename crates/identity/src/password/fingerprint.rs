//! What tells one stored hash of a password from another, and gives nothing of it away.

use serde::{Deserialize, Serialize};
use stoa_kernel::TokenHash;

/// 16 hex digits of the SHA-256 of a stored hash. One who has shown a password has shown it as long as the
/// account's fingerprint stays the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Of the hash that is stored for an account, if it has one.
    pub(crate) fn of(stored: Option<&str>) -> Self {
        let digest = TokenHash::of(stored.unwrap_or_default()).to_vec();
        Self(digest.iter().take(8).map(|it| format!("{it:02x}")).collect())
    }
}
