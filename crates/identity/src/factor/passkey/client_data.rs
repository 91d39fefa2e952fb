//! What the browser says and the authenticator signs (Web Authentication Level 3, chapter 5.8.1).

use super::challenge::Challenge;
use crate::browser::RelyingParty;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;

/// What a person was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ceremony {
    Create,
    Get,
}

/// What is not looked at may be there: browsers add to it, to show that.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    #[serde(default)]
    top_origin: Option<String>,
}

/// The challenge, when it was answered on the pages themselves, in no frame of others, and to this question.
pub(super) fn challenge(json: &[u8], ceremony: Ceremony, at: &RelyingParty) -> Option<Challenge> {
    let data: ClientData = serde_json::from_slice(json).ok()?;
    let kind = match ceremony {
        Ceremony::Create => "webauthn.create",
        Ceremony::Get => "webauthn.get",
    };
    let is_ours = data.kind == kind && data.origin == at.origin() && !data.cross_origin && data.top_origin.is_none();
    if !is_ours {
        return None;
    }
    Challenge::read(&URL_SAFE_NO_PAD.decode(data.challenge).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn only_the_pages_themselves_answer() {
        let at = RelyingParty::of("https://example.org").unwrap();
        let good = json!({
            "type": "webauthn.get",
            "challenge": URL_SAFE_NO_PAD.encode([7; 56]),
            "origin": "https://example.org",
            "crossOrigin": false,
            "other_keys_can_be_added_here": "do not compare clientDataJSON against a template",
        });
        let is_read = |data: &Value| challenge(data.to_string().as_bytes(), Ceremony::Get, &at).is_some();
        assert!(is_read(&good));
        for (member, value, what) in [
            ("type", json!("webauthn.create"), "another question"),
            ("type", json!("payment.get"), "a payment"),
            ("origin", json!("https://www.example.org"), "a page beside it"),
            ("origin", json!("https://example.org.evil.example"), "a page of others"),
            ("origin", json!("http://example.org"), "without TLS"),
            ("origin", json!("https://example.org:8443"), "another port"),
            ("origin", json!("https://example.org/"), "not an origin"),
            ("crossOrigin", json!(true), "a frame of others"),
            ("crossOrigin", json!("false"), "no flag"),
            ("topOrigin", json!("https://example.org"), "a frame"),
            ("challenge", json!("AAAA"), "a challenge of others"),
            ("challenge", json!(format!("{}=", URL_SAFE_NO_PAD.encode([7; 56]))), "padding"),
        ] {
            let mut bad = good.clone();
            bad[member] = value;
            assert!(!is_read(&bad), "{what}");
        }
        let twice = good.to_string().replacen('{', r#"{"origin":"https://example.org","#, 1);
        assert!(challenge(twice.as_bytes(), Ceremony::Get, &at).is_none());
        assert!(challenge(format!("{good} x").as_bytes(), Ceremony::Get, &at).is_none());
        assert!(challenge(good.to_string().as_bytes(), Ceremony::Create, &at).is_none());
    }
}
