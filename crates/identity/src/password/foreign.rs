//! Password hashes that members bring along from other systems: compared once, then made anew.
//!
//! | scheme | forms |
//! |---|---|
//! | bcrypt | `$2a$`, `$2b$`, `$2y$`; like those who made them it looks at the first 72 bytes only |
//! | scrypt | `$scrypt$ln=15,r=8,p=1$salt$hash` |
//! | PBKDF2 | `$pbkdf2-sha256$i=600000$salt$hash` (also `l=`), passlib's `$pbkdf2-sha256$29000$…`, Django's `pbkdf2_sha256$600000$salt$hash`; with SHA-1, SHA-256 or SHA-512 |
//! | Argon2 | `$argon2id$`, `$argon2i$`, `$argon2d$`, versions 16 and 19 |
//!
//! A hash that would cost more than a sign-in may is not taken over.

use super::is_same;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::{
    Engine,
    alphabet::{self, Alphabet},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use ring::pbkdf2;
use std::num::NonZeroU32;

/// The most memory of one hash.
const MOST_KIB: u64 = 128 * 1024;
/// The most rounds of PBKDF2, passes of Argon2 and cost of bcrypt.
const MOST_ROUNDS: u32 = 2_000_000;
const MOST_PASSES: u32 = 20;
const MOST_COST: u32 = 14;

/// A hash of another system.
pub(super) enum Foreign {
    Bcrypt(String),
    Scrypt { params: scrypt::Params, salt: Vec<u8>, hash: Vec<u8> },
    Pbkdf2 { algorithm: pbkdf2::Algorithm, rounds: NonZeroU32, salt: Vec<u8>, hash: Vec<u8> },
    Argon2 { algorithm: Algorithm, version: Version, params: Params, salt: Vec<u8>, hash: Vec<u8> },
}

/// Whether a member can be imported with this hash.
pub fn can_import(hash: &str) -> bool {
    super::parse(hash).is_some_and(|it| u64::from(it.0.memory_kib) <= MOST_KIB && it.0.passes <= MOST_PASSES)
        || Foreign::parse(hash).is_some()
}

impl Foreign {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("pbkdf2_") {
            return Self::django(rest);
        }
        let (name, rest) = text.strip_prefix('$')?.split_once('$')?;
        match name {
            "2a" | "2b" | "2y" => Self::bcrypt(text, rest),
            "scrypt" => Self::scrypt(rest),
            "pbkdf2" => Self::pbkdf2("sha1", rest),
            _ if name.starts_with("pbkdf2-") => Self::pbkdf2(name.strip_prefix("pbkdf2-")?, rest),
            "argon2id" => Self::argon2(Algorithm::Argon2id, rest),
            "argon2i" => Self::argon2(Algorithm::Argon2i, rest),
            "argon2d" => Self::argon2(Algorithm::Argon2d, rest),
            _ => None,
        }
    }

    fn bcrypt(text: &str, rest: &str) -> Option<Self> {
        let (cost, hash) = rest.split_once('$')?;
        let is_hash = hash.len() == 53 && hash.bytes().all(|it| it.is_ascii_alphanumeric() || b"./".contains(&it));
        let cost: u32 = cost.parse().ok().filter(|_| cost.len() == 2)?;
        ((4..=MOST_COST).contains(&cost) && is_hash).then(|| Self::Bcrypt(text.to_owned()))
    }

    fn scrypt(rest: &str) -> Option<Self> {
        let (costs, salt, hash) = three(rest)?;
        let number = |name| number(costs, name);
        let (log_n, r, p) = (u8::try_from(number("ln")?).ok()?, number("r")?, number("p")?);
        let kib = (1_u64.checked_shl(log_n.into())?).checked_mul(128 * u64::from(r))? / 1024;
        if kib > MOST_KIB || log_n >= 40 || !(1..=16).contains(&p) {
            return None;
        }
        let params = scrypt::Params::new(log_n, r, p).ok()?;
        Some(Self::Scrypt { params, salt, hash })
    }

    fn pbkdf2(digest: &str, rest: &str) -> Option<Self> {
        let (costs, salt, hash) = three(rest)?;
        let rounds = number(costs, "i").or_else(|| costs.parse().ok())?;
        Self::rounds(digest, rounds, salt, hash)
    }

    /// The salt is text as it stands there.
    fn django(rest: &str) -> Option<Self> {
        let mut parts = rest.split('$');
        let (digest, rounds, salt, hash) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        Self::rounds(digest, rounds.parse().ok()?, salt.as_bytes().to_vec(), decode(hash)?)
    }

    fn rounds(digest: &str, rounds: u32, salt: Vec<u8>, hash: Vec<u8>) -> Option<Self> {
        let algorithm = match digest {
            "sha1" => pbkdf2::PBKDF2_HMAC_SHA1,
            "sha256" => pbkdf2::PBKDF2_HMAC_SHA256,
            "sha512" => pbkdf2::PBKDF2_HMAC_SHA512,
            _ => return None,
        };
        let rounds = NonZeroU32::new(rounds).filter(|it| it.get() <= MOST_ROUNDS)?;
        (16..=64).contains(&hash.len()).then_some(Self::Pbkdf2 { algorithm, rounds, salt, hash })
    }

    fn argon2(algorithm: Algorithm, rest: &str) -> Option<Self> {
        let (version, rest) = match rest.strip_prefix("v=") {
            Some(rest) => rest.split_once('$')?,
            None => ("16", rest),
        };
        let version = match version {
            "16" => Version::V0x10,
            "19" => Version::V0x13,
            _ => return None,
        };
        let (costs, salt, hash) = three(rest)?;
        let (memory, passes, lanes) = (number(costs, "m")?, number(costs, "t")?, number(costs, "p")?);
        if u64::from(memory) > MOST_KIB || passes > MOST_PASSES || lanes > 16 || !(16..=64).contains(&hash.len()) {
            return None;
        }
        let params = Params::new(memory, passes, lanes, Some(hash.len())).ok()?;
        Some(Self::Argon2 { algorithm, version, params, salt, hash })
    }

    /// Whether the password makes this hash.
    pub(super) fn fits(&self, password: &[u8]) -> bool {
        match self {
            Self::Bcrypt(text) => bcrypt::verify(password, text).unwrap_or(false),
            Self::Scrypt { params, salt, hash } => {
                let mut made = vec![0; hash.len()];
                scrypt::scrypt(password, salt, params, &mut made).is_ok() && is_same(&made, hash)
            }
            Self::Pbkdf2 { algorithm, rounds, salt, hash } => {
                pbkdf2::verify(*algorithm, *rounds, salt, password, hash).is_ok()
            }
            Self::Argon2 { algorithm, version, params, salt, hash } => {
                let mut made = vec![0; hash.len()];
                let argon2 = Argon2::new(*algorithm, *version, params.clone());
                argon2.hash_password_into(password, salt, &mut made).is_ok() && is_same(&made, hash)
            }
        }
    }
}

/// `costs$salt$hash`, the last two as base64.
fn three(text: &str) -> Option<(&str, Vec<u8>, Vec<u8>)> {
    let mut parts = text.split('$');
    let (costs, salt, hash) = (parts.next()?, decode(parts.next()?)?, decode(parts.next()?)?);
    (parts.next().is_none() && !hash.is_empty()).then_some((costs, salt, hash))
}

/// `name=number` among costs.
fn number(costs: &str, name: &str) -> Option<u32> {
    costs.split(',').find_map(|it| it.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

/// Base64 with or without padding; passlib writes a dot where others write a plus.
fn decode(text: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let alphabet: &Alphabet = &alphabet::STANDARD;
    GeneralPurpose::new(alphabet, config).decode(text.replace('.', "+")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    /// Known answers: the vectors of the schemes' own papers and of the systems that write these forms.
    fn vectors() -> Vec<(&'static str, String)> {
        let hex = |text: &str| {
            let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
            STANDARD.encode((0..text.len()).step_by(2).map(byte).collect::<Vec<_>>())
        };
        vec![
            // OpenBSD's bcrypt.
            ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW".to_owned()),
            ("U*U*", "$2y$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK".to_owned()),
            // RFC 7914 section 12: N = 1024, r = 8, p = 16.
            (
                "password",
                format!(
                    "$scrypt$ln=10,r=8,p=16${}${}",
                    STANDARD.encode("NaCl"),
                    hex(
                        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
                    )
                ),
            ),
            // RFC 6070 section 2: 4096 rounds of SHA-1.
            (
                "password",
                format!("$pbkdf2$4096${}${}", STANDARD.encode("salt"), hex("4b007901b765489abead49d926f721d065a429c1")),
            ),
            // RFC 7914 section 11: one round of SHA-256.
            (
                "passwd",
                format!(
                    "$pbkdf2-sha256$i=1,l=64${}${}",
                    STANDARD.encode("salt"),
                    hex(
                        "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
                    )
                ),
            ),
            // The reference implementation of Argon2.
            (
                "password",
                "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA".to_owned(),
            ),
            (
                "password",
                "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4".to_owned(),
            ),
        ]
    }

    #[test]
    fn known_hashes_fit_their_passwords() {
        for (password, hash) in vectors() {
            let foreign = Foreign::parse(&hash).unwrap_or_else(|| panic!("{hash} can be read"));
            assert!(foreign.fits(password.as_bytes()), "{hash}");
            assert!(!foreign.fits(b"another"), "{hash}");
            assert!(can_import(&hash), "{hash}");
        }
    }

    #[test]
    fn what_is_dear_or_broken_is_not_taken_over() {
        for hash in [
            "",
            "plain",
            "$2b$20$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$05$short",
            "$scrypt$ln=30,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=63,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            "$pbkdf2-sha256$i=99999999$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            "$pbkdf2-md5$i=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            "$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
            "$argon2id$v=18$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        ] {
            assert!(!can_import(hash), "{hash}");
        }
    }
}
