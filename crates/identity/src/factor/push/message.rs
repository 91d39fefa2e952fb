//! What is said to a browser, and its encryption (RFC 8291): one record of `aes128gcm` (RFC 8188), for keys that each message agrees
//! upon for itself. The push service reads nothing of it.

use super::{key_pair::key_pair, question::AskedFor, subscription::Subscription};
use ring::{
    aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    agreement::{ECDH_P256, UnparsedPublicKey, agree_ephemeral},
    hkdf::{HKDF_SHA256, KeyType, Prk, Salt},
};
use serde::Serialize;
use stoa_kernel::{Fault, Millis, Result, World};

/// Bytes of a record as its head says; ours has fewer (RFC 8188 section 2.1).
const RECORD: u32 = 4096;
/// Bytes of the text: with the head, the delimiter and the tag it fits into the 4,096 that every push service takes.
const LONGEST: usize = RECORD as usize - 16 - 4 - 1 - 65 - 1 - 16;
/// Characters of a site's name that are shown.
const LONGEST_NAME: usize = 100;
/// What ends the text of the last record.
const LAST: u8 = 2;

/// What the worker of the account pages reads.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Content<'a> {
    /// `question` or `code`.
    kind: &'static str,
    /// `SIGN_IN` or `CHANGE`, of a question.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    asked_for: Option<&'static str>,
    site: String,
    /// By which the question is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    /// The first code of the browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    /// UTC milliseconds.
    expires: Millis,
    /// BCP 47.
    locale: &'a str,
}

impl<'a> Content<'a> {
    /// Says that there is a question.
    pub(crate) fn question(
        site: &str,
        (token, asked_for): (&'a str, AskedFor),
        expires: Millis,
        locale: &'a str,
    ) -> Self {
        let (token, asked_for) = (Some(token), Some(asked_for.name()));
        Self { kind: "question", asked_for, site: named(site), token, code: None, expires, locale }
    }

    /// The code that confirms a browser.
    pub(crate) fn code(site: &str, code: &'a str, expires: Millis, locale: &'a str) -> Self {
        Self { kind: "code", asked_for: None, site: named(site), token: None, code: Some(code), expires, locale }
    }

    /// What takes the place of a message of the same kind that waits for the browser.
    pub(crate) fn topic(&self) -> &'static str {
        self.kind
    }
}

fn named(site: &str) -> String {
    site.chars().filter(|it| !it.is_control()).take(LONGEST_NAME).collect()
}

/// A message for a browser.
///
/// # Errors
/// An internal fault: the key of a subscription is looked at when it is taken.
pub(crate) fn encrypt(world: &World, to: &Subscription, content: &Content<'_>) -> Result<Vec<u8>> {
    let text = serde_json::to_vec(content).map_err(Fault::internal)?;
    let broken = || Fault::internal("a message to a browser can't be encrypted");
    let salt = world.bytes::<16>();
    let (own, sender) = key_pair().ok_or_else(broken)?;
    let peer = UnparsedPublicKey::new(&ECDH_P256, to.key());
    let sealed = agree_ephemeral(own, &peer, |shared| {
        let parties = Parties { receiver: to.key(), sender: &sender, auth: to.auth(), salt: &salt };
        seal(shared, parties, &text)
    });
    sealed.ok().flatten().ok_or_else(broken)
}

/// Who agree upon keys, and with what (RFC 8291 section 3).
#[derive(Clone, Copy)]
struct Parties<'a> {
    /// The public key of the browser.
    receiver: &'a [u8],
    /// That of this message.
    sender: &'a [u8],
    auth: &'a [u8],
    salt: &'a [u8; 16],
}

fn seal(shared: &[u8], parties: Parties<'_>, text: &[u8]) -> Option<Vec<u8>> {
    if text.len() > LONGEST {
        return None;
    }
    let Parties { receiver, sender, auth, salt } = parties;
    let about = [b"WebPush: info\0".as_slice(), receiver, sender].concat();
    let secret: [u8; 32] = expand(&Salt::new(HKDF_SHA256, auth).extract(shared), &about)?;
    let keys = Salt::new(HKDF_SHA256, salt).extract(&secret);
    let key: [u8; 16] = expand(&keys, b"Content-Encoding: aes128gcm\0")?;
    let nonce: [u8; 12] = expand(&keys, b"Content-Encoding: nonce\0")?;
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
    let mut record = [text, &[LAST]].concat();
    // The key is of this record alone.
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record).ok()?;
    let length = u8::try_from(sender.len()).ok()?;
    Some([salt.as_slice(), &RECORD.to_be_bytes(), &[length], sender, &record].concat())
}

struct Bytes(usize);

impl KeyType for Bytes {
    fn len(&self) -> usize {
        self.0
    }
}

fn expand<const N: usize>(from: &Prk, about: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    from.expand(&[about], Bytes(N)).ok()?.fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    /// RFC 8291 section 5, with the shared secret that appendix A tells of these keys.
    #[test]
    fn example_of_the_standard_is_encrypted_to_the_byte() {
        let receiver = bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
        let sender = bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8");
        let auth = bytes("BTBZMqHH6r4Tts7J_aSIgg");
        let salt: [u8; 16] = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let shared = bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
        let parties = Parties { receiver: &receiver, sender: &sender, auth: &auth, salt: &salt };
        let sealed = seal(&shared, parties, b"When I grow up, I want to be a watermelon").unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC\
                        8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(sealed), expected);
        assert!(seal(&shared, parties, &vec![0; LONGEST]).is_some_and(|it| it.len() == RECORD as usize));
        assert!(seal(&shared, parties, &vec![0; LONGEST + 1]).is_none());
    }

    #[test]
    fn name_of_a_site_is_shown_in_part() {
        let content = Content::code(&format!("a\n{}", "é".repeat(500)), "123456", 5, "en");
        let json = serde_json::to_value(&content).unwrap();
        assert_eq!(json["site"].as_str().unwrap().chars().count(), LONGEST_NAME);
        assert_eq!((&json["kind"], json.get("token"), &json["code"]), (&"code".into(), None, &"123456".into()));
    }
}
