//! Codes of authenticators: TOTP (RFC 6238) over HOTP (RFC 4226), in the one form that every authenticator knows: HMAC-SHA-1,
//! six digits, thirty seconds.

use ring::hmac;
use stoa_kernel::{Millis, World};

/// Seconds for which a code is shown.
pub(crate) const PERIOD: i64 = 30;
/// How many steps a clock may be ahead or behind.
const DRIFT: i64 = 1;
pub(crate) const DIGITS: usize = 6;
/// Bytes of a secret: as many as HMAC-SHA-1 has (RFC 4226 section 4, R6).
const SECRET: usize = 20;
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// A new secret, in base32 as authenticators take it.
pub(crate) fn new_secret(world: &World) -> String {
    base32(&world.bytes::<SECRET>())
}

/// The step of time that a code is of, when it is one around now and later than `last`: no code counts twice, and none
/// that is older than one that counted. `secret` is base32.
pub(crate) fn step_of(secret: &str, code: &str, now: Millis, last: i64) -> Option<i64> {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &from_base32(secret)?);
    let current = step_at(now);
    // All of them are made, so that the time taken tells nothing of which one it was.
    let matching = (current - DRIFT..=current + DRIFT).filter(|step| is_same(&code_at(&key, *step), code));
    matching.filter(|step| *step > last).max()
}

/// The step of time, counted from 1970.
fn step_at(now: Millis) -> i64 {
    now.div_euclid(1_000 * PERIOD)
}

fn code_at(key: &hmac::Key, step: i64) -> String {
    let tag = hmac::sign(key, &step.to_be_bytes());
    let bytes = tag.as_ref();
    // RFC 4226 section 5.3.
    let offset = usize::from(bytes.last().copied().unwrap_or_default() & 0xf);
    let four = bytes.iter().skip(offset).take(4).fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
    format!("{:06}", (four & 0x7fff_ffff) % 1_000_000)
}

/// Whether two codes are the same, in a time that does not tell where they differ.
fn is_same(ours: &str, theirs: &str) -> bool {
    let different = ours.bytes().zip(theirs.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    ours.len() == theirs.len() && different == 0
}

/// The address that authenticators read as a QR code, with the site as issuer.
pub(crate) fn uri(site: &str, account: &str, secret: &str) -> String {
    let part = |text: &str| -> String { url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>() };
    // A colon would end the issuer; spaces are not written as `+` here.
    let (site, account) = (part(&site.replace(':', " ")).replace('+', "%20"), part(account).replace('+', "%20"));
    format!(
        "otpauth://totp/{site}:{account}?secret={secret}&issuer={site}&algorithm=SHA1&digits={DIGITS}&period={PERIOD}"
    )
}

/// Base32 of RFC 4648 without padding.
pub(crate) fn base32(bytes: &[u8]) -> String {
    let bit = |at: usize| bytes.get(at / 8).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1);
    let letters = (0..(bytes.len() * 8).div_ceil(5)).map(|letter| {
        let value = (0..5).fold(0, |value, n| value << 1 | usize::from(bit(letter * 5 + n)));
        char::from(ALPHABET[value])
    });
    letters.collect()
}

fn from_base32(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; text.len() * 5 / 8];
    for (letter, character) in text.bytes().enumerate() {
        let value = ALPHABET.iter().position(|it| *it == character)?;
        for bit in (0..5).filter(|bit| value >> (4 - bit) & 1 == 1) {
            let at = letter * 5 + bit;
            if let Some(byte) = bytes.get_mut(at / 8) {
                *byte |= 1 << (7 - at % 8);
            }
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6238, appendix B, SHA-1: of eight digits the last six.
    const VECTORS: [(i64, &str); 6] = [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ];

    fn secret() -> String {
        base32(b"12345678901234567890")
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        for (seconds, code) in VECTORS {
            assert_eq!(step_of(&secret(), code, seconds * 1_000, 0), Some(seconds / PERIOD), "{seconds}");
        }
    }

    #[test]
    fn code_counts_around_its_time_and_never_again() {
        let (seconds, code) = VECTORS[3];
        let step = seconds / PERIOD;
        for (steps, counts) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let now = (step + steps) * PERIOD * 1_000;
            assert_eq!(step_of(&secret(), code, now, 0), counts.then_some(step), "{steps}");
            assert_eq!(step_of(&secret(), code, now, step), None, "it counted before");
            assert_eq!(step_of(&secret(), code, now, step + 1), None, "a later one counted before");
        }
    }

    #[test]
    fn other_texts_are_no_codes() {
        let now = VECTORS[0].0 * 1_000;
        for code in ["", "28708", "2870820", "287083", "٢٨٧٠٨٢", "28708 ", "-87082"] {
            assert_eq!(step_of(&secret(), code, now, 0), None, "{code}");
        }
        assert_eq!(step_of("not base32!", "287082", now, 0), None);
    }

    #[test]
    fn base32_is_that_of_the_standard() {
        // RFC 4648 section 10, without padding.
        let vectors =
            [("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB")];
        for (text, encoded) in vectors {
            assert_eq!(base32(text.as_bytes()), encoded);
            assert_eq!(from_base32(encoded).as_deref(), Some(text.as_bytes()));
        }
        assert_eq!(from_base32("MZ1"), None);
    }

    #[test]
    fn addresses_of_authenticators_name_site_and_account() {
        assert_eq!(
            uri("Atlas: & Co", "anna+a@example.org", "ABC"),
            "otpauth://totp/Atlas%20%20%26%20Co:anna%2Ba%40example.org?secret=ABC&issuer=Atlas%20%20%26%20Co\
             &algorithm=SHA1&digits=6&period=30"
        );
    }
}
