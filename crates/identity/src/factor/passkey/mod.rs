//! Passkeys: pairs of keys of which the public one is kept (Web Authentication Level 3, decision 50).
//!
//! The browser is asked ([`request()`], [`creation`]) with a challenge that is signed and not stored, and bound to what it is for
//! ([`Use`]). What it brings is parsed strictly ([`Presented`], [`PresentedNew`]), checked beside the transaction ([`verify()`],
//! [`verify_new`]) and counts once inside it ([`take`], [`insert`]). Who says who they are to the authenticator has shown both
//! factors: what they have, and what they know or are.

mod authenticator_data;
mod cbor;
mod challenge;
mod client_data;
mod cose;
mod presented;
mod request;
mod row;
mod transport;
mod user_handle;
mod verify;

pub use crate::browser::RelyingParty;
pub(crate) use challenge::Use;
pub use presented::{LONGEST_ASSERTION, LONGEST_ATTESTATION, Presented, PresentedNew};
pub(crate) use request::{Account, creation, descriptors, request, request_of};
pub use request::{Creation, Request};
pub(crate) use row::{PREFIX, Passkey, count, of_member, remove, remove_all, remove_since, rename};
pub(crate) use verify::{NewPasskey, Taken, Verified, insert, take, take_of_member, verify, verify_new};

/// Passkeys of a member.
pub(crate) const MOST: usize = 10;
