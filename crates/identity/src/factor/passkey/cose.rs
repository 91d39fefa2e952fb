//! Public keys of passkeys, as authenticators write them (COSE_Key, RFC 9052, chapter 7), and the signatures that they check: ES256, EdDSA with
//! Ed25519, RS256.

use super::cbor::Reader;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

pub(super) const ES256: i64 = -7;
pub(super) const EDDSA: i64 = -8;
pub(super) const RS256: i64 = -257;

/// Bytes of an RSA modulus: 2048 to 4096 bits.
const SHORTEST_MODULUS: usize = 256;
const LONGEST_MODULUS: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PublicKey {
    /// A point of P-256, uncompressed.
    Es256([u8; 65]),
    Ed25519([u8; 32]),
    Rs256 {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
}

/// A value of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value<'a> {
    Number(i64),
    Bytes(&'a [u8]),
}

impl PublicKey {
    /// A key that is all of these bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let key = Self::read(&mut reader)?;
        reader.rest().is_empty().then_some(key)
    }

    /// The key that comes next. It has the entries that its kind needs and no other.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        use Value::{Bytes, Number};
        let count = reader.map()?;
        let mut entries: Vec<(i64, Value<'_>)> = Vec::new();
        for _ in 0..count {
            let label = reader.number()?;
            let value = match reader.is_number() {
                true => Number(reader.number()?),
                false => Bytes(reader.bytes()?),
            };
            if entries.iter().any(|(it, _)| *it == label) {
                return None;
            }
            entries.push((label, value));
        }
        // In the order of the labels: -3, -2, -1, 1 (kty), 3 (alg).
        entries.sort_by_key(|(label, _)| *label);
        match *entries.as_slice() {
            [(-3, Bytes(y)), (-2, Bytes(x)), (-1, Number(1)), (1, Number(2)), (3, Number(ES256))] => {
                let (x, y): (&[u8; 32], &[u8; 32]) = (x.try_into().ok()?, y.try_into().ok()?);
                let mut point = [4; 65];
                point[1..33].copy_from_slice(x);
                point[33..].copy_from_slice(y);
                Some(Self::Es256(point))
            }
            [(-2, Bytes(x)), (-1, Number(6)), (1, Number(1)), (3, Number(EDDSA))] => {
                Some(Self::Ed25519(x.try_into().ok()?))
            }
            [(-2, Bytes(exponent)), (-1, Bytes(modulus)), (1, Number(3)), (3, Number(RS256))] => {
                let is_usual = (SHORTEST_MODULUS..=LONGEST_MODULUS).contains(&modulus.len())
                    && modulus[0] != 0
                    && (1..=4).contains(&exponent.len())
                    && exponent[0] != 0;
                is_usual.then(|| Self::Rs256 { modulus: modulus.to_vec(), exponent: exponent.to_vec() })
            }
            _ => None,
        }
    }

    /// Whether the owner of the key has signed this.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match self {
            Self::Es256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature),
            Self::Ed25519(key) => UnparsedPublicKey::new(&ED25519, key).verify(message, signature),
            Self::Rs256 { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
        };
        verified.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

    /// `{1: 2, 3: -7, -1: 1, -2: x, -3: y}`.
    fn es256() -> Vec<u8> {
        let mut key = vec![0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
        key.extend([1; 32]);
        key.extend([0x22, 0x58, 0x20]);
        key.extend([2; 32]);
        key
    }

    #[test]
    fn keys_of_three_kinds() {
        assert!(matches!(PublicKey::parse(&es256()), Some(PublicKey::Es256(point)) if point[0] == 4 && point[64] == 2));
        let mut ed25519 = vec![0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];
        ed25519.extend([7; 32]);
        assert_eq!(PublicKey::parse(&ed25519), Some(PublicKey::Ed25519([7; 32])));
        let rsa = |bytes: usize| {
            let mut key = vec![0xa4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x59];
            key.extend(u16::try_from(bytes).unwrap().to_be_bytes());
            key.extend(vec![0x99; bytes]);
            key.extend([0x21, 0x43, 1, 0, 1]);
            PublicKey::parse(&key)
        };
        assert!(matches!(rsa(256), Some(PublicKey::Rs256 { modulus, exponent })
            if modulus.len() == 256 && exponent == [1, 0, 1]));
        assert_eq!((rsa(255 + 258), rsa(256 - 1)), (None, None));
    }

    #[test]
    fn other_keys_are_none() {
        let good = es256();
        let with = |at: usize, byte: u8| {
            let mut key = good.clone();
            key[at] = byte;
            key
        };
        for (bad, what) in [
            (with(2, 0x01), "another kind of key"),
            (with(4, 0x27), "the algorithm of another kind"),
            (with(6, 0x02), "another curve"),
            (with(7, 0x20), "a label twice"),
            (with(7, 0x23), "another label"),
            ([good.as_slice(), &[0]].concat(), "something behind it"),
            (good[..good.len() - 1].to_vec(), "an end that is missing"),
            (Vec::new(), "nothing"),
        ] {
            assert_eq!(PublicKey::parse(&bad), None, "{what}");
        }
        // One entry more than are needed: key_ops.
        let mut more = good.clone();
        more[0] = 0xa6;
        more.extend([0x04, 0x02]);
        assert_eq!(PublicKey::parse(&more), None);
    }

    /// Of a key that was made for this test and has signed `message`.
    const MODULUS: &str = "wQwYNMOU_GVnvZUPHKdrwR7Cbtffqe1ezrZrfU9N-iZlNidCk3BAGXXnYKn5we2Sr0Q_M30LwqLYVHy-X7vRvtfOvEZ-gvJL\
         42jzMivs24GmkB1vbpEauFWK9VZLU2oylnltAoV16Wj84ljhOtUfnOBLsTpnSa1CCphO5OwR694ObsSB7mD_iDUUOP2uwrTn\
         Ol0jCl7O67BVu62nB8ijRBErHdhXrA4SAcuIkVqcLeGouYRXBH1d3hrIkBxXIaOikcWs4gf2ZsyceAWfsRIlgz9tZwhpzjD3\
         SWgvhmPlWVzf3BZC-VRjUXD0itZeSczKNr68zQDGxgJIuTDneRB-DQ";
    const SIGNATURE: &str = "v8oHoXMdio9H6JtH45MpHlxj4BMdUXyLev5JaIoq5xS1Kkhezoii9xPChYO0wFX2qRgy24n02QvWZaSZuMcosLlGtiMD042l\
         MHkrrzATj9mPZJNALs4Q1me5oScJ1Dq-47Lh9m8LzztGoTX7UU47KU6mcri6C0IkSZPiYcFWNAKgFXk36bmmNHRYkOXp-7Jo\
         brGhs6SSMRGpQD0IolBvbWTjdcDl-Gqjuce63QBL4kCYGTaHqcMOaVDeymJWHB1MB7KVDyS-AhkZ6sSCCfkVSxToe_ez73Vz\
         -Qpu42BjE7LZnEn2akmkZD-zHFpSsA-JsG8ygyoj5Pjfmevd-vIiSQ";

    #[test]
    fn rsa_signatures_of_sha_256() {
        let [modulus, signature] = [MODULUS, SIGNATURE].map(|it| URL_SAFE_NO_PAD.decode(it).unwrap());
        let key = PublicKey::Rs256 { modulus, exponent: vec![1, 0, 1] };
        assert!(key.has_signed(b"message", &signature));
        assert!(!key.has_signed(b"massage", &signature) && !key.has_signed(b"message", &signature[1..]));
        let other = PublicKey::Rs256 { modulus: vec![0x99; 256], exponent: vec![1, 0, 1] };
        assert!(!other.has_signed(b"message", &signature));
    }

    #[test]
    fn point_beside_the_curve_has_signed_nothing() {
        assert!(!PublicKey::parse(&es256()).unwrap().has_signed(b"message", &[0x30, 6, 2, 1, 1, 2, 1, 1]));
    }
}
