//! Keys of providers (RFC 7517, RFC 7518, RFC 8037) and the signatures that they check: RS256, ES256, EdDSA with Ed25519. Nothing else is
//! taken: no `none`, and no algorithm whose key both sides have.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;

/// Keys that are read of one provider.
const MOST: usize = 50;
/// Bytes of an RSA modulus: 2048 to 8192 bits.
const SHORTEST_MODULUS: usize = 256;
const LONGEST_MODULUS: usize = 1024;

/// A key that checks signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Jwk {
    pub id: Option<String>,
    key: PublicKey,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PublicKey {
    Rs256 {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point of P-256, uncompressed.
    Es256([u8; 65]),
    Ed25519([u8; 32]),
}

impl Jwk {
    /// The keys of a set that check signatures. Those of other kinds are left out, as RFC 7517 section 5 says.
    pub(super) fn of_set(set: &Value) -> Option<Vec<Self>> {
        let keys = set["keys"].as_array()?;
        Some(keys.iter().take(MOST).filter_map(Self::read).collect())
    }

    fn read(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk[name].as_str();
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?.trim_end_matches('=')).ok();
        if text("use").is_some_and(|it| it != "sig") {
            return None;
        }
        if jwk["key_ops"].as_array().is_some_and(|all| !all.iter().any(|it| it == "verify")) {
            return None;
        }
        let key = match (text("kty")?, text("crv")) {
            ("RSA", _) => {
                let (modulus, exponent) = (bytes("n")?, bytes("e")?);
                let is_usual = (SHORTEST_MODULUS..=LONGEST_MODULUS).contains(&modulus.len())
                    && modulus[0] != 0
                    && (1..=4).contains(&exponent.len())
                    && exponent[0] != 0;
                is_usual.then_some(PublicKey::Rs256 { modulus, exponent })?
            }
            ("EC", Some("P-256")) => {
                let (x, y): ([u8; 32], [u8; 32]) = (bytes("x")?.try_into().ok()?, bytes("y")?.try_into().ok()?);
                let mut point = [4; 65];
                point[1..33].copy_from_slice(&x);
                point[33..].copy_from_slice(&y);
                PublicKey::Es256(point)
            }
            ("OKP", Some("Ed25519")) => PublicKey::Ed25519(bytes("x")?.try_into().ok()?),
            _ => return None,
        };
        let key = Self { id: text("kid").map(str::to_owned), key };
        // A key that is for one algorithm checks no other.
        text("alg").is_none_or(|it| key.is_for(it)).then_some(key)
    }

    /// Whether signatures of this algorithm are checked with it: the kind of key decides, never the token.
    pub(super) fn is_for(&self, algorithm: &str) -> bool {
        matches!(
            (&self.key, algorithm),
            (PublicKey::Rs256 { .. }, "RS256")
                | (PublicKey::Es256(_), "ES256")
                | (PublicKey::Ed25519(_), "EdDSA" | "Ed25519")
        )
    }

    /// Whether the owner of the key has signed this.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.key {
            PublicKey::Rs256 { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            PublicKey::Es256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            PublicKey::Ed25519(key) => UnparsedPublicKey::new(&ED25519, key).verify(message, signature),
        };
        verified.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(length: usize) -> String {
        URL_SAFE_NO_PAD.encode(vec![7; length])
    }

    #[test]
    fn keys_of_three_kinds_and_no_other() {
        let rsa = json!({ "kty": "RSA", "kid": "a", "n": text(256), "e": "AQAB" });
        let ec = json!({ "kty": "EC", "crv": "P-256", "kid": "b", "x": text(32), "y": text(32), "use": "sig" });
        let okp = json!({ "kty": "OKP", "crv": "Ed25519", "x": text(32), "alg": "EdDSA" });
        let set = json!({ "keys": [rsa, ec, okp] });
        let keys = Jwk::of_set(&set).expect("a set");
        let is_for = |at: usize| ["RS256", "ES256", "EdDSA", "HS256", "none"].map(|it| keys[at].is_for(it));
        assert_eq!(is_for(0), [true, false, false, false, false]);
        assert_eq!(is_for(1), [false, true, false, false, false]);
        assert_eq!(is_for(2), [false, false, true, false, false]);
        assert_eq!(keys.iter().map(|it| it.id.as_deref()).collect::<Vec<_>>(), [Some("a"), Some("b"), None]);
        let with = |from: &Value, name: &str, value: Value| {
            let mut jwk = from.clone();
            jwk[name] = value;
            jwk
        };
        for (none, what) in [
            (with(&set["keys"][0], "use", json!("enc")), "one that encrypts"),
            (with(&set["keys"][0], "key_ops", json!(["sign"])), "one that signs"),
            (with(&set["keys"][0], "n", json!(text(255))), "a short modulus"),
            (with(&set["keys"][0], "e", json!("")), "no exponent"),
            (with(&set["keys"][0], "alg", json!("HS256")), "a key for a MAC"),
            (with(&set["keys"][1], "crv", json!("P-384")), "another curve"),
            (with(&set["keys"][1], "x", json!(text(31))), "half a point"),
            (with(&set["keys"][2], "crv", json!("X25519")), "a key for agreement"),
            (json!({ "kty": "oct", "k": text(32) }), "a secret"),
            (json!(7), "no object"),
        ] {
            assert_eq!(Jwk::of_set(&json!({ "keys": [none] })), Some(Vec::new()), "{what}");
        }
        assert_eq!(Jwk::of_set(&json!({})), None);
    }

    /// RFC 7515 appendix A.2.
    #[test]
    fn signature_of_the_standard_by_rsa() {
        const MODULUS: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR\
            T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXB\
            dQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9ia\
            GNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
        const MESSAGE: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19\
            yb290Ijp0cnVlfQ";
        const SIGNATURE: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9\
            uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB\
            _eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rq\
            Vt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
        let set = json!({ "keys": [{ "kty": "RSA", "n": MODULUS, "e": "AQAB" }] });
        let keys = Jwk::of_set(&set).expect("a set");
        let signature = URL_SAFE_NO_PAD.decode(SIGNATURE).expect("base64");
        assert!(keys[0].has_signed(MESSAGE.as_bytes(), &signature));
        for at in [0, 100, 255] {
            let mut changed = signature.clone();
            changed[at] ^= 1;
            assert!(!keys[0].has_signed(MESSAGE.as_bytes(), &changed), "byte {at}");
        }
        assert!(!keys[0].has_signed(MESSAGE.replace("eyJh", "eyJi").as_bytes(), &signature));
        assert!(!keys[0].has_signed(MESSAGE.as_bytes(), &signature[..255]));
    }
}
