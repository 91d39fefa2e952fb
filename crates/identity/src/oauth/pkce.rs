//! Proof Key for Code Exchange (RFC 7636), S256 only.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest;

/// Whether a verifier has 43 to 128 characters of `A–Z a–z 0–9 - . _ ~`.
pub fn is_verifier(verifier: &str) -> bool {
    (43..=128).contains(&verifier.len())
        && verifier.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._~".contains(&it))
}

/// Whether a text has the form of an S256 challenge: 43 characters of base64url.
pub fn is_challenge(challenge: &str) -> bool {
    challenge.len() == 43 && URL_SAFE_NO_PAD.decode(challenge).is_ok_and(|it| it.len() == 32)
}

/// The S256 challenge of a verifier.
pub fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()))
}

/// Whether the verifier is the one that the challenge was made from.
pub fn fits(verifier: &str, challenge: &str) -> bool {
    is_verifier(verifier) && challenge_of(verifier) == challenge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_is_that_of_the_standard() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(fits(verifier, challenge) && is_challenge(challenge));
        assert!(!fits(challenge, challenge), "plain is not S256");
    }

    #[test]
    fn verifier_and_challenge_are_bounded() {
        for (length, good) in [(42, false), (43, true), (128, true), (129, false)] {
            assert_eq!(is_verifier(&"a".repeat(length)), good, "{length}");
        }
        assert!(!is_verifier(&format!("{}+", "a".repeat(43))));
        assert!(!is_challenge(&"a".repeat(42)) && !is_challenge(&"=".repeat(43)));
    }
}
