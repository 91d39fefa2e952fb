//! Key pairs with which keys are agreed upon (ECDH on P-256, RFC 8291 section 3.1), and whether a browser's public key is one.

use super::random;
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};

/// A new one: what is kept to oneself, and the public key as an uncompressed point.
pub(super) fn key_pair() -> Option<(EphemeralPrivateKey, Vec<u8>)> {
    let own = EphemeralPrivateKey::generate(&ECDH_P256, &random::source()).ok()?;
    let public = own.compute_public_key().ok()?.as_ref().to_vec();
    Some((own, public))
}

/// Whether bytes are a public key with which a browser can be written to: an uncompressed point of the curve.
pub(super) fn is_public_key(bytes: &[u8]) -> bool {
    let peer = UnparsedPublicKey::new(&ECDH_P256, bytes);
    key_pair().is_some_and(|(own, _)| agree_ephemeral(own, &peer, |_| ()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_that_is_none_of_the_curve_is_no_key() {
        let (_, key) = key_pair().unwrap();
        assert!(is_public_key(&key));
        let mut other = key.clone();
        other[64] ^= 1;
        for none in [&other[..], &key[..64], &key[1..], &[4; 65], &[]] {
            assert!(!is_public_key(none), "{none:?}");
        }
    }
}
