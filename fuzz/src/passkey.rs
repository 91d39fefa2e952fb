//! What authenticators write of passkeys: attestation objects, their data and their keys. The files that read them need nothing else of
//! their crate, and are compiled here by themselves.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/identity/src/factor/passkey/authenticator_data.rs"]
#[allow(dead_code, reason = "the target looks at what can be wrong")]
mod authenticator_data;
#[path = "../../crates/identity/src/factor/passkey/cbor.rs"]
mod cbor;
#[path = "../../crates/identity/src/factor/passkey/cose.rs"]
mod cose;

use authenticator_data::{AuthenticatorData, LONGEST_ID, of_attestation};
use cose::PublicKey;

fuzz_target!(|bytes: &[u8]| {
    let data = of_attestation(bytes).unwrap_or(bytes);
    if let Some(read) = AuthenticatorData::parse(data) {
        assert_eq!(read.relying_party, &data[..32]);
        if let Some(credential) = read.credential {
            assert!((1..=LONGEST_ID).contains(&credential.id.len()));
            // What is stored is read again at each use.
            assert!(PublicKey::parse(credential.public_key).is_some());
        }
    }
    if let Some(key) = PublicKey::parse(bytes) {
        assert!(!key.has_signed(bytes, bytes));
    }
});
