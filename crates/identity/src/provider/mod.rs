//! Identity providers of a site (decision 61): connections to OpenID Connect providers, what a provider says of a person and whether it
//! counts, and whom of the members it means.
//!
//! The steps of one sign-in: a browser is sent to the provider with a sealed note of where it was ([`trip`]), comes back with a code,
//! which is exchanged for an ID token ([`exchange`]); that is checked ([`id_token`]) with the keys of the provider ([`discovery`]). Who
//! the member is, `sign_in::provider` decides, by [`link`].

pub mod connection;
mod discovery;
mod exchange;
mod id_token;
mod jwk;
pub(crate) mod link;
mod secret;
pub(crate) mod trip;

pub use connection::{ConnectionChange, IdpConnection};
pub(crate) use discovery::Providers;
pub(crate) use exchange::{Returned, authorization_url, is_nonce, person_of_code, person_of_token};
pub use link::MemberConnection;
pub(crate) use secret::{left, reseal};
pub use trip::{CALLBACK, Channel};

use serde::{Deserialize, Serialize};
use stoa_kernel::{Millis, TokenHash};
use stoa_outbound::OpenidFailure;
use ts_rs::TS;

/// An identity provider by which members sign in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    /// A GUID, which goes back with the choice.
    pub id: String,
    /// What people call it.
    pub label: String,
}

/// Why a provider signed no one in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProviderFailure {
    Declined,
    Unavailable,
    NoEmail,
    NoAccount,
    Refused,
}

impl ProviderFailure {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Declined => "DECLINED",
            Self::Unavailable => "UNAVAILABLE",
            Self::NoEmail => "NO_EMAIL",
            Self::NoAccount => "NO_ACCOUNT",
            Self::Refused => "REFUSED",
        }
    }

    /// The same for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Declined => "The provider did not sign the person in.",
            Self::Unavailable => "The provider does not answer; try again later.",
            Self::NoEmail => "The provider named no email address that can be used.",
            Self::NoAccount => "There is no account for this person.",
            Self::Refused => "The answer of the provider was not accepted.",
        }
    }
}

/// A failure, and why for the log: nothing of it is told to people who chose what was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    pub reason: ProviderFailure,
    pub why: String,
}

impl Failed {
    pub(crate) fn refused(why: impl Into<String>) -> Self {
        Self { reason: ProviderFailure::Refused, why: why.into() }
    }

    pub(crate) fn unavailable(why: impl Into<String>) -> Self {
        Self { reason: ProviderFailure::Unavailable, why: why.into() }
    }

    /// Writes down why, for those who run the server.
    pub(crate) fn log(&self, connection: &IdpConnection) {
        tracing::info!(
            connection = %connection.id,
            issuer = %connection.issuer,
            reason = self.reason.name(),
            "no one was signed in by a provider: {}",
            self.why
        );
    }
}

impl From<OpenidFailure> for Failed {
    fn from(failure: OpenidFailure) -> Self {
        match failure {
            OpenidFailure::NotAsked(why) | OpenidFailure::Unreached(why) => Self::unavailable(why),
            OpenidFailure::Refused(why) => Self::refused(why),
        }
    }
}

/// Whom a provider has shown somebody to be: what its ID token said, once all of it was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderPerson {
    /// As pages name it.
    pub(crate) provider: Provider,
    /// Unique and the same forever at this provider.
    pub(crate) subject: String,
    /// The address that it names.
    pub(crate) email: Option<String>,
    /// Whether it says that the address is theirs.
    pub(crate) is_verified: bool,
    pub(crate) first_name: Option<String>,
    pub(crate) last_name: Option<String>,
    pub(crate) language: Option<String>,
    /// How long it counts, UTC milliseconds.
    pub(crate) until: Millis,
}

/// What makes an answer of a provider count once.
#[derive(Debug, Clone)]
pub(crate) struct Once {
    pub hash: TokenHash,
    /// When the answer would be too old by itself.
    pub expires: Millis,
}
