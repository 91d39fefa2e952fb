//! Challenges: signed, not stored, so who only asks fills no table. One that was answered rightly is written down until it is over, and
//! counts once.

use crate::Core;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use stoa_kernel::{MemberId, Millis, Result, SessionId, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::Tx;

/// Life of one.
pub(crate) const LIFE: Millis = 5 * 60_000;
/// Bytes: an id, an end, and the MAC of both with what it is for.
const BYTES: usize = 16 + 8 + 32;

/// What a challenge is for, at its site; it counts for nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use<'a> {
    /// A sign-in by a passkey alone, in this flow of the account pages.
    FirstFactor { flow: &'a str },
    /// A sign-in of a member who has shown a first factor, while their factors are those of this generation.
    SecondFactor { member: &'a MemberId, generation: i64 },
    /// One of a member of whom the site requires a second factor: a new passkey.
    SignInEnrolment { member: &'a MemberId, generation: i64 },
    /// A new passkey of a member, in this session.
    Enrolment { member: &'a MemberId, session: &'a SessionId },
    /// Who the member is, once more in this session.
    Proof { member: &'a MemberId, session: &'a SessionId },
}

impl Use<'_> {
    fn named(self) -> Value {
        match self {
            Self::FirstFactor { flow } => json!(["first factor", flow]),
            Self::SecondFactor { member, generation } => json!(["second factor", member, generation]),
            Self::SignInEnrolment { member, generation } => json!(["sign-in enrolment", member, generation]),
            Self::Enrolment { member, session } => json!(["enrolment", member, session]),
            Self::Proof { member, session } => json!(["proof", member, session]),
        }
    }

    /// The one member whose passkey may answer; any where a passkey says who it is.
    pub(super) fn member(&self) -> Option<&MemberId> {
        match self {
            Self::FirstFactor { .. } => None,
            Self::SecondFactor { member, .. }
            | Self::SignInEnrolment { member, .. }
            | Self::Enrolment { member, .. }
            | Self::Proof { member, .. } => Some(member),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge([u8; BYTES]);

impl Challenge {
    /// A new one.
    pub(super) fn issue(core: &Core, site: &SiteId, for_use: Use<'_>) -> Self {
        let mut id = core.world().bytes::<16>();
        // The version and the variant of a random UUID: clients take it for one.
        (id[6], id[8]) = (id[6] & 0x0f | 0x40, id[8] & 0x3f | 0x80);
        let mut bytes = [0; BYTES];
        bytes[..16].copy_from_slice(&id);
        bytes[16..24].copy_from_slice(&(core.now() + LIFE).to_be_bytes());
        let mac = core.ciphers.factor.digest(&signed(site, for_use, &bytes));
        bytes[24..].copy_from_slice(&mac);
        Self(bytes)
    }

    /// One that was sent back; whether it was made here, [`Challenge::is_for`] says.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its id, a UUID.
    pub(super) fn id(&self) -> String {
        let hex: String = self.0[..16].iter().map(|it| format!("{it:02x}")).collect();
        [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
    }

    /// When it is over, UTC milliseconds.
    pub(super) fn expires(&self) -> Millis {
        let mut end = [0; 8];
        end.copy_from_slice(&self.0[16..24]);
        Millis::from_be_bytes(end)
    }

    /// As the browser gets it.
    pub(super) fn base64url(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// The same with the letters of the older form of the wire.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether it was made for this and is not over.
    pub(super) fn is_for(&self, core: &Core, site: &SiteId, for_use: Use<'_>) -> bool {
        core.now() < self.expires() && core.ciphers.factor.is_digest(&signed(site, for_use, &self.0), &self.0[24..])
    }

    /// Uses it up inside a transaction: whether it was not used before.
    pub(super) async fn take(&self, tx: &mut Tx<'_>, site: &SiteId) -> Result<bool> {
        let sql = "insert into stoa.passkey_challenge (site, hash, expires) values ($1, $2, $3) \
                   on conflict (site, hash) do nothing";
        let hash = TokenHash::of(&self.base64url());
        Ok(tx.execute(sql, &params![site, hash, self.expires()]).await? == 1)
    }
}

/// What the MAC is of.
fn signed(site: &SiteId, for_use: Use<'_>, bytes: &[u8; BYTES]) -> String {
    json!(["passkey challenge", site, for_use.named(), URL_SAFE_NO_PAD.encode(&bytes[..24])]).to_string()
}
