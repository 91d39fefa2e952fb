//! Password hashes that members bring along from other systems: compared once, then hashed again.
//!
//! | scheme | forms |
//! |---|---|
//! | bcrypt | `$2a$`, `$2b$`, `$2y$`, also behind Django's `bcrypt$` and `bcrypt_sha256$`; like those who made them it looks at the first 72 bytes only |
//! | scrypt | `$scrypt$ln=15,r=8,p=1$salt$hash`, Django's `scrypt$16384$salt$8$1$hash`, Werkzeug's `scrypt:32768:8:1$salt$hash` |
//! | PBKDF2 | `$pbkdf2-sha256$i=600000$salt$hash` (also `l=`), passlib's `$pbkdf2-sha256$29000$…`, Django's `pbkdf2_sha256$600000$salt$hash`, Werkzeug's `pbkdf2:sha256:600000$salt$hash`; with SHA-1, SHA-256 or SHA-512 |
//! | Argon2 | `$argon2id$`, `$argon2i$`, `$argon2d$`, versions 16 and 19 |
//!
//! A hash that would cost more than a sign-in may is not taken over.

use crate::password::argon::{self, is_same};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::{
    Engine,
    alphabet::{self, Alphabet},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use ring::{digest, pbkdf2};
use std::{num::NonZeroU32, ops::RangeInclusive};

/// The most memory of one hash.
const MOST_KIB: u64 = 128 * 1024;
/// The most rounds of PBKDF2, passes of Argon2 and cost of bcrypt.
const MOST_ROUNDS: u32 = 2_000_000;
const MOST_PASSES: u32 = 20;
const MOST_COST: u32 = 14;
/// Bytes of a hash: of a shorter one, guesses would fit by chance.
const BYTES: RangeInclusive<usize> = 16..=64;

/// A hash of another system.
pub(super) enum Foreign {
    Bcrypt(String),
    /// Of the password's SHA-256 in hexadecimal digits.
    BcryptSha256(String),
    Scrypt {
        params: scrypt::Params,
        salt: Vec<u8>,
        hash: Vec<u8>,
    },
    Pbkdf2 {
        algorithm: pbkdf2::Algorithm,
        rounds: NonZeroU32,
        salt: Vec<u8>,
        hash: Vec<u8>,
    },
    Argon2 {
        algorithm: Algorithm,
        version: Version,
        params: Params,
        salt: Vec<u8>,
        hash: Vec<u8>,
    },
}

/// Whether a member can be imported with this hash.
pub fn can_import(hash: &str) -> bool {
    argon::parse(hash).is_some_and(|it| u64::from(it.cost.memory_kib) <= MOST_KIB && it.cost.passes <= MOST_PASSES)
        || Foreign::parse(hash).is_some()
}

impl Foreign {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('$')?;
        if !name.is_empty() {
            return Self::framework(name, rest);
        }
        let (name, rest) = rest.split_once('$')?;
        match name {
            "2a" | "2b" | "2y" => bcrypt_text(text).map(Self::Bcrypt),
            "scrypt" => Self::scrypt(rest),
            "pbkdf2" => Self::pbkdf2("sha1", rest),
            _ if name.starts_with("pbkdf2-") => Self::pbkdf2(name.strip_prefix("pbkdf2-")?, rest),
            "argon2id" => Self::argon2(Algorithm::Argon2id, rest),
            "argon2i" => Self::argon2(Algorithm::Argon2i, rest),
            "argon2d" => Self::argon2(Algorithm::Argon2d, rest),
            _ => None,
        }
    }

    fn scrypt(rest: &str) -> Option<Self> {
        let (costs, salt, hash) = three(rest)?;
        let number = |name| number(costs, name);
        Self::scrypt_of(u8::try_from(number("ln")?).ok()?, number("r")?, number("p")?, salt, hash)
    }

    fn scrypt_of(log_n: u8, r: u32, p: u32, salt: Vec<u8>, hash: Vec<u8>) -> Option<Self> {
        let kib = (1_u64.checked_shl(log_n.into())?).checked_mul(128 * u64::from(r))? / 1024;
        if kib > MOST_KIB || !(1..40).contains(&log_n) || !(1..=16).contains(&p) || !BYTES.contains(&hash.len()) {
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

    /// Django's forms, and Werkzeug's with colons; their salts are taken literally as text.
    fn framework(name: &str, rest: &str) -> Option<Self> {
        let parts: Vec<&str> = rest.split('$').collect();
        let text = |it: &str| it.as_bytes().to_vec();
        let costs: Vec<&str> = name.split(':').collect();
        match (costs.as_slice(), parts.as_slice()) {
            (["bcrypt"], _) => bcrypt_text(rest).map(Self::Bcrypt),
            (["bcrypt_sha256"], _) => bcrypt_text(rest).map(Self::BcryptSha256),
            (["scrypt"], [n, salt, r, p, hash]) => {
                Self::scrypt_of(log_of(n)?, r.parse().ok()?, p.parse().ok()?, text(salt), decode(hash)?)
            }
            (["scrypt", n, r, p], [salt, hash]) => {
                Self::scrypt_of(log_of(n)?, r.parse().ok()?, p.parse().ok()?, text(salt), from_hex(hash)?)
            }
            (["pbkdf2", digest, rounds], [salt, hash]) => {
                Self::rounds(digest, rounds.parse().ok()?, text(salt), from_hex(hash)?)
            }
            ([name], [rounds, salt, hash]) => {
                Self::rounds(name.strip_prefix("pbkdf2_")?, rounds.parse().ok()?, text(salt), decode(hash)?)
            }
            _ => None,
        }
    }

    fn rounds(digest: &str, rounds: u32, salt: Vec<u8>, hash: Vec<u8>) -> Option<Self> {
        let algorithm = match digest {
            "sha1" => pbkdf2::PBKDF2_HMAC_SHA1,
            "sha256" => pbkdf2::PBKDF2_HMAC_SHA256,
            "sha512" => pbkdf2::PBKDF2_HMAC_SHA512,
            _ => return None,
        };
        let rounds = NonZeroU32::new(rounds).filter(|it| it.get() <= MOST_ROUNDS)?;
        BYTES.contains(&hash.len()).then_some(Self::Pbkdf2 { algorithm, rounds, salt, hash })
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
        if u64::from(memory) > MOST_KIB || passes > MOST_PASSES || lanes > 16 || !BYTES.contains(&hash.len()) {
            return None;
        }
        let params = Params::new(memory, passes, lanes, Some(hash.len())).ok()?;
        Some(Self::Argon2 { algorithm, version, params, salt, hash })
    }

    /// Whether the password makes this hash.
    pub(super) fn fits(&self, password: &[u8]) -> bool {
        match self {
            Self::Bcrypt(text) => bcrypt::verify(password, text).unwrap_or(false),
            Self::BcryptSha256(text) => {
                let digest = digest::digest(&digest::SHA256, password);
                let digits: String = digest.as_ref().iter().map(|it| format!("{it:02x}")).collect();
                bcrypt::verify(digits, text).unwrap_or(false)
            }
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

/// A hash of bcrypt that may be compared.
fn bcrypt_text(text: &str) -> Option<String> {
    let rest = ["$2a$", "$2b$", "$2y$"].iter().find_map(|it| text.strip_prefix(it))?;
    let (cost, hash) = rest.split_once('$')?;
    let is_hash = hash.len() == 53 && hash.bytes().all(|it| it.is_ascii_alphanumeric() || b"./".contains(&it));
    let cost: u32 = cost.parse().ok().filter(|_| cost.len() == 2)?;
    ((4..=MOST_COST).contains(&cost) && is_hash).then(|| text.to_owned())
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

/// The exponent of a power of two.
fn log_of(number: &str) -> Option<u8> {
    let number: u64 = number.parse().ok()?;
    number.is_power_of_two().then(|| u8::try_from(number.trailing_zeros()).ok())?
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|it| it.to_digit(16)).collect();
    let digits = digits.filter(|it| it.len() % 2 == 0)?;
    digits.chunks(2).map(|it| u8::try_from(it[0] * 16 + it[1]).ok()).collect()
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
            // Django's own tests; bcrypt of a digest by libxcrypt.
            (
                "lètmein",
                "scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw=="
                    .to_owned(),
            ),
            ("U*U", "bcrypt$$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW".to_owned()),
            ("password", "bcrypt_sha256$$2b$05$CCCCCCCCCCCCCCCCCCCCC.WYTki0SVG4q7T8/a.A7at0UVznjy2li".to_owned()),
            // Werkzeug's forms, by Python's hashlib.
            (
                "password",
                "scrypt:32768:8:1$pQ8xZ3mC1vT7nK2b$1869cffdfd474888e50af371f9d8d7424116155501d00594dc0dee50498cc39b665605051e49d4c729dce27655d6f299d27792c1f1ad31bc899412bf957952a5"
                    .to_owned(),
            ),
            (
                "password",
                "pbkdf2:sha256:1000$pQ8xZ3mC$59b6a64b30c49ef6a4166b4d0cbce8225191637e7ce1a6d0929a53bc6cc16687".to_owned(),
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
    fn foreign_hashes_fit_their_passwords() {
        for (password, hash) in vectors() {
            let foreign = Foreign::parse(&hash).unwrap_or_else(|| panic!("{hash} can be read"));
            assert!(foreign.fits(password.as_bytes()), "{hash}");
            assert!(!foreign.fits(b"another"), "{hash}");
            assert!(can_import(&hash), "{hash}");
        }
    }

    #[test]
    fn foreign_hashes_that_are_dear_or_broken_are_refused() {
        for hash in [
            "",
            "plain",
            "$2b$20$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$05$short",
            "$scrypt$ln=30,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            "$scrypt$ln=63,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            // Hashes of a byte, and of none.
            "$scrypt$ln=10,r=8,p=1$c2FsdA$AA",
            "$scrypt$ln=0,r=8,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            "scrypt$1024$salt$8$1$AA==",
            "scrypt$1000$salt$8$1$AAAAAAAAAAAAAAAAAAAAAA==",
            "scrypt:1073741824:8:1$salt$00000000000000000000000000000000",
            "scrypt:1024:8:1$salt$00",
            "pbkdf2:sha256:1000$salt$0000000000000000000000000000000",
            "pbkdf2:md5:1000$salt$00000000000000000000000000000000",
            "pbkdf2_sha256$1000$salt$AA==",
            "bcrypt$plain",
            "bcrypt_sha256$bcrypt_sha256$$2b$05$CCCCCCCCCCCCCCCCCCCCC.WYTki0SVG4q7T8/a.A7at0UVznjy2li",
            "$pbkdf2-sha256$i=99999999$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            "$pbkdf2-md5$i=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
            "$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
            "$argon2id$v=18$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        ] {
            assert!(!can_import(hash), "{hash}");
        }
    }
}
