//! RSA keys of applications: with one is signed what the server sends to an application, and the application knows by
//! the public half who sent it (decision 26).
//!
//! ```text
//! rotate, import ──▶ NEXT ── activate ──▶ ACTIVE ── activate of its follower ──▶ RETIRED ── 7 days ──▶ gone
//! ```
//!
//! An application may hold one public key only, as `AppStrategy` of the public SDK does. So a new key is shown first and
//! signs later: between the two the application deploys it. A retired key signs never again, its private half is
//! deleted; its public half stays among those that are shown, so that what is under way is accepted.
//!
//! A private half leaves the process encrypted only, and no call gives it out.

mod der;
mod find;
mod manage;
mod row;
mod rsa;
mod sign;

pub(crate) use manage::{left, reseal};
pub(crate) use row::RETIRED_SHOWN;
pub use row::{AppKey, KeyOrigin, KeyState};
pub(crate) use sign::Signers;
pub use sign::{AppSigner, SigningKey};
