//! What a browser hands over to be written to: `PushSubscription.toJSON()` (Push API), stored sealed as the secret of its factor.

use super::key_pair::is_public_key;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::fmt;
use stoa_kernel::{Result, Violation};
use stoa_outbound::Target;

/// Bytes of the public key, an uncompressed point of P-256, and of the secret that authenticates (RFC 8291 section 3.1).
const KEY: usize = 65;
const AUTH: usize = 16;

/// One that can be written to. Printed it shows the origin of the push service: the rest is a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Subscription {
    endpoint: String,
    target: Target,
    key: Vec<u8>,
    auth: Vec<u8>,
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.target)
    }
}

impl Subscription {
    /// Reads the three texts of one, in base64url where they are bytes.
    ///
    /// # Errors
    /// What is wrong with each, by its path in a request.
    pub fn parse(endpoint: &str, p256dh: &str, auth: &str) -> Result<Self, Vec<Violation>> {
        let mut violations = Vec::new();
        let mut wrong = |field: &str, why: &str| {
            violations.push(Violation::new(format!("subscription.{field}"), "FORMAT", why));
        };
        let target = Target::parse(endpoint).map_err(|why| wrong("endpoint", why)).ok();
        let key = bytes(p256dh, KEY).filter(|it| is_public_key(it));
        if key.is_none() {
            wrong("keys.p256dh", "a point of P-256 is expected, uncompressed and in base64url");
        }
        let auth = bytes(auth, AUTH);
        if auth.is_none() {
            wrong("keys.auth", "16 bytes in base64url are expected");
        }
        match (target, key, auth) {
            (Some(target), Some(key), Some(auth)) => Ok(Self { endpoint: endpoint.to_owned(), target, key, auth }),
            _ => Err(violations),
        }
    }

    /// As it is sealed.
    pub(crate) fn text(&self) -> String {
        let [key, auth] = [&self.key, &self.auth].map(|it| URL_SAFE_NO_PAD.encode(it));
        json!({ "endpoint": self.endpoint, "p256dh": key, "auth": auth }).to_string()
    }

    /// What [`Subscription::text`] has made.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let stored: Value = serde_json::from_str(text).ok()?;
        let member = |name: &str| stored[name].as_str().unwrap_or_default();
        let (key, auth) = (bytes(member("p256dh"), KEY)?, bytes(member("auth"), AUTH)?);
        let endpoint = member("endpoint").to_owned();
        Some(Self { target: Target::parse(&endpoint).ok()?, endpoint, key, auth })
    }

    /// Whether both are of one browser.
    pub(crate) fn is_same_browser(&self, other: &Self) -> bool {
        self.endpoint == other.endpoint
    }

    /// Where its push service takes messages.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    pub(super) fn auth(&self) -> &[u8] {
        &self.auth
    }
}

fn bytes(text: &str, length: usize) -> Option<Vec<u8>> {
    // Some browsers fill the last characters up.
    let text = text.trim_end_matches('=');
    let is_short = text.len() <= length * 2;
    let bytes = is_short.then(|| URL_SAFE_NO_PAD.decode(text).ok()).flatten()?;
    (bytes.len() == length).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY_OF_THE_STANDARD: &str =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const AUTH_OF_THE_STANDARD: &str = "BTBZMqHH6r4Tts7J_aSIgg";

    #[test]
    fn subscription_comes_back_as_it_was_stored() {
        let endpoint = "https://push.example.org/a?b=c";
        let one = Subscription::parse(endpoint, KEY_OF_THE_STANDARD, &format!("{AUTH_OF_THE_STANDARD}==")).unwrap();
        assert_eq!(Subscription::of_text(&one.text()), Some(one.clone()));
        assert_eq!(format!("{one:?}"), "https://push.example.org");
        assert_eq!(Subscription::of_text("{}"), None);
    }

    #[test]
    fn each_member_is_looked_at() {
        let fields = |endpoint: &str, key: &str, auth: &str| {
            let violations = Subscription::parse(endpoint, key, auth).unwrap_err();
            violations.into_iter().map(|it| it.field).collect::<Vec<_>>()
        };
        let right = "https://push.example.org/";
        let all = ["subscription.endpoint", "subscription.keys.p256dh", "subscription.keys.auth"];
        assert_eq!(fields("ftp://x", "", "!"), all);
        assert_eq!(fields("https://a@b/", KEY_OF_THE_STANDARD, AUTH_OF_THE_STANDARD), all[..1]);
        assert_eq!(fields(right, &"A".repeat(87), AUTH_OF_THE_STANDARD), all[1..2]);
        assert_eq!(fields(right, KEY_OF_THE_STANDARD, "BTBZMqHH6r4Tts7J_aSI"), all[2..]);
    }
}
