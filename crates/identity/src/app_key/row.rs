//! A key as a row of the catalogue.

use super::rsa::PublicKey;
use serde_json::json;
use stoa_kernel::{ClientId, Millis};
use stoa_store::{Error, Row};

/// How long a retired key is shown, and how many of an application there may be at a time.
pub(crate) const RETIRED_SHOWN: Millis = 7 * 24 * 60 * 60_000;
pub(super) const RETIRED_MOST: usize = 8;

/// What becomes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// Follows the active one when it is activated.
    Next,
    /// Signs.
    Active,
    /// Is shown for a while.
    Retired,
}

impl KeyState {
    const ALL: [Self; 3] = [Self::Next, Self::Active, Self::Retired];

    /// `NEXT`, `ACTIVE` or `RETIRED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Next => "NEXT",
            Self::Active => "ACTIVE",
            Self::Retired => "RETIRED",
        }
    }
}

/// Where a key is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrigin {
    Made,
    Imported,
}

impl KeyOrigin {
    const ALL: [Self; 2] = [Self::Made, Self::Imported];

    /// `MADE` or `IMPORTED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Made => "MADE",
            Self::Imported => "IMPORTED",
        }
    }
}

/// A key as lists show it. Times are UTC milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppKey {
    /// The `kid` of what it signs: its thumbprint (RFC 7638).
    pub id: String,
    pub app: ClientId,
    pub state: KeyState,
    pub origin: KeyOrigin,
    pub created: Millis,
    pub activated: Option<Millis>,
    pub retired: Option<Millis>,
    pub(super) public: PublicKey,
}

impl AppKey {
    /// The public half, as `PUBLIC KEY` of PEM.
    pub fn public_pem(&self) -> String {
        self.public.pem()
    }

    /// The size of the key, for example 2048.
    pub fn bits(&self) -> usize {
        self.public.bits()
    }
}

/// In the order of [`from_row`].
pub(super) const COLUMNS: &str = "id, client, state, origin, modulus, exponent, created, activated, retired";

pub(super) fn from_row(row: &Row<'_>) -> Result<AppKey, Error> {
    let (state, origin) = (row.text(2)?, row.text(3)?);
    let unknown = || Error::Other(format!("a key of an application is {state}, {origin}"));
    Ok(AppKey {
        id: row.get(0)?,
        app: ClientId::from(row.text(1)?),
        state: KeyState::ALL.into_iter().find(|it| it.as_str() == state).ok_or_else(unknown)?,
        origin: KeyOrigin::ALL.into_iter().find(|it| it.as_str() == origin).ok_or_else(unknown)?,
        public: PublicKey { modulus: row.get(4)?, exponent: row.get(5)? },
        created: row.get(6)?,
        activated: row.get(7)?,
        retired: row.get(8)?,
    })
}

/// What a private half is encrypted for.
pub(super) fn associated_data(app: &ClientId, id: &str) -> String {
    json!(["app key", app, id]).to_string()
}
