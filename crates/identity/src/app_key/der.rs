//! As much of DER and PEM as RSA keys need (RFC 8017 A.1, RFC 5208, RFC 7468): a key is taken apart here, so that what
//! is wrong with it can be said. What is right is checked by `ring`.

use base64::{Engine, engine::general_purpose::STANDARD};

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
const SEQUENCE: u8 = 0x30;

/// `AlgorithmIdentifier` of `rsaEncryption`, whole.
const RSA_ENCRYPTION: [u8; 15] =
    [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
/// The object identifiers 1.2.840.113549.1.1.1 and …10: a key for anything, and one for RSASSA-PSS alone.
const RSA: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const RSA_PSS: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0a];

/// A PEM block: what stands in its first line, whether it has headers of its own, and what is in it.
pub(super) struct Pem {
    pub label: String,
    pub has_headers: bool,
    pub content: Option<Vec<u8>>,
}

/// All blocks of a text, in their order.
pub(super) fn pem_blocks(text: &str) -> Vec<Pem> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("-----BEGIN ") {
        let Some((label, after)) = after.split_once("-----") else { break };
        let end = format!("-----END {label}-----");
        let Some((body, after)) = after.split_once(&end) else { break };
        let base64: String = body.split_whitespace().collect();
        blocks.push(Pem {
            label: label.to_owned(),
            has_headers: body.contains(':'),
            content: STANDARD.decode(base64).ok(),
        });
        rest = after;
    }
    blocks
}

/// A block of PEM, with lines as `openssl` writes them.
pub(super) fn pem(label: &str, content: &[u8]) -> String {
    let base64 = STANDARD.encode(content);
    let lines: Vec<&str> = (0..base64.len()).step_by(64).map(|at| &base64[at..base64.len().min(at + 64)]).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// The numbers of a private key that are checked by us, and the key as PKCS#1.
pub(super) struct PrivateKey<'d> {
    pub pkcs1: &'d [u8],
    /// 0 for a key of two primes.
    pub version: &'d [u8],
    pub modulus: &'d [u8],
    pub exponent: &'d [u8],
}

/// What an envelope of PKCS#8 is for.
pub(super) enum Envelope<'d> {
    /// With the PKCS#1 inside.
    Rsa(&'d [u8]),
    RsaPss,
    Other,
}

/// `PrivateKeyInfo`; nothing for what is none.
pub(super) fn pkcs8(der: &[u8]) -> Option<Envelope<'_>> {
    let (inside, []) = element(der, SEQUENCE)? else { return None };
    let (_version, rest) = element(inside, INTEGER)?;
    let (algorithm, rest) = element(rest, SEQUENCE)?;
    let (object, _parameters) = element(algorithm, OBJECT)?;
    let (key, _attributes) = element(rest, OCTET_STRING)?;
    Some(match object {
        _ if object == RSA => Envelope::Rsa(key),
        _ if object == RSA_PSS => Envelope::RsaPss,
        _ => Envelope::Other,
    })
}

/// `RSAPrivateKey`; nothing for what is none.
pub(super) fn pkcs1(der: &[u8]) -> Option<PrivateKey<'_>> {
    let (inside, []) = element(der, SEQUENCE)? else { return None };
    let (version, rest) = element(inside, INTEGER)?;
    let (modulus, rest) = element(rest, INTEGER)?;
    let (exponent, _) = element(rest, INTEGER)?;
    Some(PrivateKey { pkcs1: der, version: number(version), modulus: number(modulus), exponent: number(exponent) })
}

/// `SubjectPublicKeyInfo` of a public key, which is what PEM calls `PUBLIC KEY`.
pub(super) fn public_key(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let pkcs1 = built(SEQUENCE, &[positive(modulus), positive(exponent)].concat());
    let bits = built(BIT_STRING, &[&[0_u8][..], &pkcs1].concat());
    built(SEQUENCE, &[&RSA_ENCRYPTION[..], &bits].concat())
}

/// How many bits a number has.
pub(super) fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |it| number.len() * 8 - it.leading_zeros() as usize)
}

/// A number without the zeros before it.
fn number(content: &[u8]) -> &[u8] {
    let zeros = content.iter().take_while(|it| **it == 0).count();
    content.get(zeros..).unwrap_or_default()
}

/// What is in the first element, if it is one of the tag, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[first, length], rest) = der.split_first_chunk::<2>()?;
    if first != tag {
        return None;
    }
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        // Keys have far less than 64 kB.
        0x81 => rest.split_first().map(|(it, rest)| (usize::from(*it), rest))?,
        0x82 => rest.split_first_chunk::<2>().map(|(it, rest)| (usize::from(u16::from_be_bytes(*it)), rest))?,
        _ => return None,
    };
    rest.split_at_checked(length)
}

fn positive(number: &[u8]) -> Vec<u8> {
    let sign = number.first().is_none_or(|it| *it >= 0x80);
    built(INTEGER, &[if sign { &[0_u8][..] } else { &[] }, number].concat())
}

fn built(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let bytes = length.to_be_bytes();
    let bytes = number(&bytes);
    match length {
        0..=0x7f => [&[tag, length as u8][..], content].concat(),
        _ => [&[tag, 0x80 | bytes.len() as u8][..], bytes, content].concat(),
    }
}

/// A PKCS#1 of these numbers, for tests of what is refused.
#[cfg(test)]
pub(super) fn unchecked(version: u8, modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let rest = positive(&[1]).repeat(6);
    built(SEQUENCE, &[built(INTEGER, &[version]), positive(modulus), positive(exponent), rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back_as_they_were_built() {
        for length in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x1234] {
            let content = vec![7; length];
            let mut der = built(OCTET_STRING, &content);
            assert_eq!(element(&der, OCTET_STRING), Some((&content[..], &[][..])), "{length}");
            assert_eq!(element(&der, SEQUENCE), None);
            der.push(9);
            assert_eq!(element(&der, OCTET_STRING), Some((&content[..], &[9][..])), "{length}");
            assert_eq!(element(&der[..der.len() - 2], OCTET_STRING), None, "{length}");
        }
        for broken in [&[][..], &[4], &[4, 0x81], &[4, 0x82, 1], &[4, 0x80], &[4, 0x84, 0, 0, 0, 0], &[4, 0xff]] {
            assert_eq!(element(broken, OCTET_STRING), None, "{broken:?}");
        }
        assert_eq!([bits(&[]), bits(&[1]), bits(&[0x80, 0])], [0, 1, 16]);
    }

    #[test]
    fn pem_is_read_as_it_is_written() {
        let content: Vec<u8> = (0..=200).collect();
        let text = pem("X KEY", &content);
        assert!(text.lines().all(|it| it.len() <= 64) && text.ends_with("-----END X KEY-----\n"), "{text}");
        for text in [text.clone(), text.replace('\n', "\r\n"), format!("a word\n  {text}{}", pem("Y", b"y"))] {
            let blocks = pem_blocks(&text);
            assert_eq!((blocks[0].label.as_str(), blocks[0].has_headers), ("X KEY", false));
            assert_eq!(blocks[0].content.as_ref(), Some(&content));
        }
        assert_eq!(pem_blocks(&text.replace("END X", "END Y")).len(), 0);
        assert_eq!(pem_blocks(&text.replace("AAEC", "!")).first().map(|it| it.content.is_none()), Some(true));
        assert!(pem_blocks(&text.replace("KEY-----\nAAEC", "KEY-----\nProc-Type: 4\n\nAAEC"))[0].has_headers);
    }
}
