//! One RSA key: made here or taken from a file, and what is signed with it (RS256, RFC 7518 section 3.3).
//!
//! `ring` checks keys and signs, and can't make any; graviola makes them, where the processor has what it needs, and
//! does nothing else here (decision 26).

use super::der::{self, Envelope, PrivateKey};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::{
    digest::{SHA256, digest},
    rsa::PublicKeyComponents,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use serde_json::{Value, json};
use stoa_kernel::{Code, Fault, Result, Secret, Violation};

/// The sizes that are taken: those that `ring` signs with.
const SIZES: [usize; 3] = [2048, 3072, 4096];
/// 65537, the exponent of nearly every key and the least that is taken.
const LEAST_EXPONENT: &[u8] = &[1, 0, 1];

/// A public key as numbers, big-endian and without zeros before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicKey {
    pub modulus: Vec<u8>,
    pub exponent: Vec<u8>,
}

impl PublicKey {
    /// What names the key: its thumbprint (RFC 7638).
    pub(crate) fn id(&self) -> String {
        let (n, e) = self.numbers();
        let text = format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#);
        URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
    }

    /// As RFC 7517 writes it.
    pub(crate) fn jwk(&self, id: &str) -> Value {
        let (n, e) = self.numbers();
        json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": id, "n": n, "e": e })
    }

    /// As `PUBLIC KEY` of PEM, which `AppStrategy` of the public SDK takes.
    pub(crate) fn pem(&self) -> String {
        der::pem("PUBLIC KEY", &der::public_key(&self.modulus, &self.exponent))
    }

    pub(crate) fn bits(&self) -> usize {
        der::bits(&self.modulus)
    }

    fn numbers(&self) -> (String, String) {
        (URL_SAFE_NO_PAD.encode(&self.modulus), URL_SAFE_NO_PAD.encode(&self.exponent))
    }
}

/// A key that signs.
pub(crate) struct RsaKey {
    pair: RsaKeyPair,
    /// PKCS#1, in base64.
    private: Secret,
}

impl RsaKey {
    /// Makes a key of 2048 bits. It takes a tenth of a second, now and then a second, and blocks.
    ///
    /// # Errors
    /// [`Code::NotBuilt`] on a processor that lacks what this needs.
    pub(crate) fn make() -> Result<Self> {
        Self::new(&generate()?).map_err(Fault::internal)
    }

    /// Reads what [`RsaKey::private`] gave.
    pub(crate) fn stored(private: &str) -> Result<Self> {
        Self::new(&STANDARD.decode(private).map_err(Fault::internal)?).map_err(Fault::internal)
    }

    /// Reads the private key of a PEM file.
    ///
    /// # Errors
    /// [`Code::Validation`] with what is wrong.
    pub(crate) fn import(pem: &str) -> Result<Self> {
        let refused = |why: String| Fault::invalid(vec![Violation::new("key", "FORMAT", why)]);
        read(pem).and_then(|der| Self::new(&der)).map_err(refused)
    }

    /// Checks the key whole: that it signs what its public half accepts as well, as parts of two keys don't.
    fn new(pkcs1: &[u8]) -> Result<Self, String> {
        let pair = RsaKeyPair::from_der(pkcs1).map_err(|it| format!("the key is not valid ({it})"))?;
        let key = Self { pair, private: Secret::new(STANDARD.encode(pkcs1)) };
        key.sign(b"stoa").map_err(|_| "the parts of the key don't belong together".to_owned())?;
        Ok(key)
    }

    /// The whole key as text, to be encrypted.
    pub(crate) fn private(&self) -> &Secret {
        &self.private
    }

    pub(crate) fn public(&self) -> PublicKey {
        let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(self.pair.public());
        PublicKey { modulus: n, exponent: e }
    }

    /// A compact JWS (RFC 7515) of these claims, which must be JSON. It takes about a millisecond.
    ///
    /// # Errors
    /// An internal fault when the key's private half was damaged: a wrong signature is never given out.
    pub(crate) fn token(&self, id: &str, claims: &[u8]) -> Result<String> {
        let header = json!({ "alg": "RS256", "typ": "JWT", "kid": id }).to_string();
        let mut token = String::with_capacity(claims.len() * 4 / 3 + 900);
        URL_SAFE_NO_PAD.encode_string(header, &mut token);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = self.sign(token.as_bytes())?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }

    fn sign(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut signature = vec![0; self.pair.public().modulus_len()];
        #[expect(
            clippy::disallowed_methods,
            reason = "this padding draws nothing, and a source is asked for all the same"
        )]
        let rng = ring::rand::SystemRandom::new();
        let signed = self.pair.sign(&RSA_PKCS1_SHA256, &rng, text, &mut signature);
        signed.map_err(|_| Fault::internal("an RSA key doesn't sign"))?;
        Ok(signature)
    }
}

/// The PKCS#1 of a file in PEM, as far as it can be told that it is one.
fn read(text: &str) -> Result<Vec<u8>, String> {
    let blocks = der::pem_blocks(text);
    let is_private = |it: &&der::Pem| it.label.ends_with("PRIVATE KEY");
    let block = match blocks.iter().filter(is_private).collect::<Vec<_>>()[..] {
        [] if blocks.iter().any(|it| it.label.ends_with("PUBLIC KEY")) => {
            return Err("this is a public key; the private one is needed".to_owned());
        }
        [] => {
            let forms = "-----BEGIN PRIVATE KEY----- or -----BEGIN RSA PRIVATE KEY-----";
            return Err(format!("there is no private key in PEM, which begins with {forms}"));
        }
        [one] => one,
        _ => return Err("there are several private keys".to_owned()),
    };
    if block.label.starts_with("ENCRYPTED") || block.has_headers {
        return Err("the key has a passphrase; take it off first: openssl pkey -in FILE -out KEY".to_owned());
    }
    let content = block.content.as_deref().ok_or("what stands between the lines of PEM is not base64")?;
    let broken = || "the key is cut off or damaged".to_owned();
    let key = match block.label.as_str() {
        "RSA PRIVATE KEY" => content,
        "PRIVATE KEY" => match der::pkcs8(content).ok_or_else(broken)? {
            Envelope::Rsa(it) => it,
            Envelope::RsaPss => {
                return Err("the key is for RSASSA-PSS alone; RS256 needs one for rsaEncryption".to_owned());
            }
            Envelope::Other => return Err("the key is not an RSA key".to_owned()),
        },
        label => return Err(format!("{label} is not a form that is read; PKCS#8 and PKCS#1 of RSA keys are")),
    };
    check(der::pkcs1(key).ok_or_else(broken)?)
}

fn check(key: PrivateKey<'_>) -> Result<Vec<u8>, String> {
    if !key.version.is_empty() {
        return Err("the key has more than two primes".to_owned());
    }
    let bits = der::bits(key.modulus);
    if !SIZES.contains(&bits) {
        return Err(format!("the key has {bits} bits; 2048, 3072 and 4096 are taken"));
    }
    let exponent = (key.exponent.len(), key.exponent);
    if exponent < (LEAST_EXPONENT.len(), LEAST_EXPONENT) {
        return Err("the public exponent of the key is below 65537".to_owned());
    }
    Ok(key.pkcs1.to_vec())
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn generate() -> Result<Vec<u8>> {
    use graviola::signing::rsa::{KeySize, SigningKey};
    // It panics without.
    if !graviola::util::is_cpu_supported() {
        return Err(unsupported());
    }
    let failed = |it: graviola::Error| Fault::internal(format!("an RSA key can't be made: {it:?}"));
    let key = SigningKey::generate(KeySize::Rsa2048).map_err(failed)?;
    let mut buffer = [0; 4096];
    let pkcs1 = key.to_pkcs1_der(&mut buffer).map_err(failed)?.to_vec();
    Ok(pkcs1)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn generate() -> Result<Vec<u8>> {
    Err(unsupported())
}

/// What to do instead.
fn unsupported() -> Fault {
    let how = "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out KEY, then stoa app key import KEY";
    Fault::because(Code::NotBuilt, format!("RSA keys can't be made on this processor; make one with {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    const PKCS8: &str = include_str!("../../tests/keys/pkcs8.pem");
    const PKCS1: &str = include_str!("../../tests/keys/pkcs1.pem");
    const PUBLIC: &str = include_str!("../../tests/keys/public.pem");
    const OTHER: &str = include_str!("../../tests/keys/other.pem");
    /// By `openssl dgst -sha256 -sign` of the text `stoa` with the key of `pkcs8.pem`.
    const SIGNATURE: &str = concat!(
        "vQPwKaBIiE0xNI6KnN76BNypXocFx6EzmstoF2jULtamMJC4y7sjzaltcSoHydZQurUBIFGAwcspkkGfLunAoQJKIcDeEj3+aVXllF2r",
        "pcJA1Ug4/6bdgQsk2JKnltoUnmlSSJ0yMMMK92qzHIPswtjYbOakZyI8wHcGzR63BsySToSN+UocK+IZwI5jJiN8NXmqd0JOVJhiW/SY",
        "hT41C/2hBSdfm0dFukuZCJIhEST1cxOOTm6te+BF92uhwSrdjob0YoEy6hK7CC5btrrqBioGB7qbw3prpKsTU+KPnYC/jQupyF1PEwUk",
        "q/8qsbxJgPbYFHFN6kUr/CuFmlEoCw=="
    );
    /// Its thumbprint, by another program.
    const ID: &str = "NYgVWm1naVMDZ_FCd3Fe0RrG4H5-8M26pm9LAHilQWg";

    /// Whether the public half takes what the private one signed.
    fn signs_for_itself(key: &RsaKey) -> bool {
        let signature = key.sign(b"text").unwrap();
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.pair.public());
        public.verify(b"text", &signature).is_ok() && public.verify(b"other", &signature).is_err()
    }

    #[test]
    fn imported_key_is_that_of_openssl_in_both_forms() {
        for pem in [PKCS8, PKCS1] {
            let key = RsaKey::import(pem).unwrap();
            assert_eq!(STANDARD.encode(key.sign(b"stoa").unwrap()), SIGNATURE);
            assert_eq!((key.public().pem().as_str(), key.public().id().as_str()), (PUBLIC, ID));
            assert_eq!((key.public().bits(), signs_for_itself(&key)), (2048, true));
            let again = RsaKey::stored(key.private().expose()).unwrap();
            assert_eq!(
                (again.public(), again.token("k", b"{}").unwrap()),
                (key.public(), key.token("k", b"{}").unwrap())
            );
        }
        assert_eq!(RsaKey::import(OTHER).unwrap().public().bits(), 3072);
    }

    #[test]
    fn made_keys_sign_and_differ() {
        let (one, two) = (RsaKey::make().unwrap(), RsaKey::make().unwrap());
        assert!(signs_for_itself(&one) && signs_for_itself(&two));
        assert_ne!(one.public(), two.public());
        assert_eq!((one.public().bits(), one.public().exponent.as_slice()), (2048, LEAST_EXPONENT));
    }

    #[test]
    fn token_has_a_fixed_header_and_the_claims_as_they_are() {
        let key = RsaKey::import(PKCS8).unwrap();
        let token = key.token(ID, br#"{"b":1,"a":"\u00e4"}"#).unwrap();
        let parts: Vec<Vec<u8>> = token.split('.').map(|it| URL_SAFE_NO_PAD.decode(it).unwrap()).collect();
        let header = format!(r#"{{"alg":"RS256","typ":"JWT","kid":"{ID}"}}"#);
        assert_eq!((parts[0].as_slice(), parts[1].as_slice()), (header.as_bytes(), &br#"{"b":1,"a":"\u00e4"}"#[..]));
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.pair.public());
        let (signed, _) = token.rsplit_once('.').unwrap();
        assert!(public.verify(signed.as_bytes(), &parts[2]).is_ok());
    }

    #[test]
    fn what_can_not_be_taken_is_refused_by_what_is_wrong() {
        let pem = |version, bytes: usize, exponent: &[u8]| {
            der::pem("RSA PRIVATE KEY", &der::unchecked(version, &vec![0xff; bytes], exponent))
        };
        let cut = format!("{}-----END PRIVATE KEY-----\n", &PKCS8[..600]);
        let headers = PKCS1.replacen("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\n", 1);
        for (text, says) in [
            ("", "no private key in PEM"),
            ("\u{0}\u{1}", "no private key in PEM"),
            (PUBLIC, "a public key"),
            (format!("{PKCS8}{OTHER}").as_str(), "several"),
            (include_str!("../../tests/keys/locked.pem"), "passphrase"),
            (headers.as_str(), "passphrase"),
            (include_str!("../../tests/keys/ec.pem"), "not an RSA key"),
            (PKCS8.replace("PRIVATE KEY", "OPENSSH PRIVATE KEY").as_str(), "OPENSSH PRIVATE KEY is not a form"),
            (PKCS8.replace("PRIVATE KEY", "RSA PRIVATE KEY").as_str(), "damaged"),
            (PKCS1.replace("RSA PRIVATE KEY", "PRIVATE KEY").as_str(), "damaged"),
            (cut.as_str(), "damaged"),
            (PKCS8.replace("MII", "M!I").as_str(), "base64"),
            (include_str!("../../tests/keys/small.pem"), "1024 bits"),
            (pem(0, 255, LEAST_EXPONENT).as_str(), "2040 bits"),
            (pem(0, 513, LEAST_EXPONENT).as_str(), "4104 bits"),
            (pem(0, 320, LEAST_EXPONENT).as_str(), "2560 bits"),
            (pem(0, 256, &[3]).as_str(), "below 65537"),
            (pem(0, 256, &[1, 0, 0]).as_str(), "below 65537"),
            (pem(1, 256, LEAST_EXPONENT).as_str(), "two primes"),
            (pem(0, 256, LEAST_EXPONENT).as_str(), "not valid"),
        ] {
            let refused = RsaKey::import(text).err().map(|it| it.violations()[0].description.clone());
            assert!(refused.as_ref().is_some_and(|it| it.contains(says)), "{says}: {refused:?} of {text}");
        }
    }

    /// A private exponent of another key: every signature would be wrong, and one that is tells the primes.
    #[test]
    fn key_of_parts_that_do_not_belong_together_is_refused() {
        let der = STANDARD.decode(PKCS1.lines().filter(|it| !it.starts_with('-')).collect::<String>()).unwrap();
        let mut refused = 0;
        // Each of these bytes lies in a number of the private half.
        for at in (der.len() - 600..der.len() - 10).step_by(59) {
            let mut changed = der.clone();
            changed[at] ^= 0x10;
            refused += usize::from(RsaKey::import(&der::pem("RSA PRIVATE KEY", &changed)).is_err());
        }
        assert_eq!(refused, 10);
        assert!(RsaKey::import(&der::pem("RSA PRIVATE KEY", &der)).is_ok());
    }
}
