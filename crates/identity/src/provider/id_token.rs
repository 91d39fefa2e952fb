//! ID tokens: a signed statement of the provider about who somebody is, for this client and this request (OpenID Connect Core, 2 and
//! 3.1.3.7; RFC 7519, RFC 8725).

use super::{Provider, ProviderPerson, connection::IdpConnection, jwk::Jwk};
use crate::mail::is_tag;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use stoa_kernel::{
    Email, Millis,
    json::{self, Budget},
};

/// Characters of a token.
pub(super) const LONGEST: usize = 16 * 1024;
/// Values in its claims.
const VALUES: usize = 1_000;
/// How far the clocks of two servers may be apart.
const SKEW: Millis = 5 * 60_000;
/// How old a token may be that somebody brings.
const OLDEST: Millis = 10 * 60_000;
/// Characters of a subject (OpenID Connect Core, 2).
const LONGEST_SUBJECT: usize = 255;
/// Characters of a name that is taken over.
const LONGEST_NAME: usize = 100;

/// Why a token is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// It names a key that is not known: there may be another by now.
    UnknownKey,
    Refused(&'static str),
}

/// After this time a token that is good now would be too old.
pub(super) const fn outlived(now: Millis) -> Millis {
    now + OLDEST + 2 * SKEW
}

/// What a token says of a person, if the provider of the connection has signed it for this client, lately, and for a request with this
/// nonce.
pub(super) fn read(
    connection: &IdpConnection,
    token: &str,
    keys: &[Jwk],
    nonce: &str,
    now: Millis,
) -> Result<ProviderPerson, Bad> {
    let claims = signed(token, keys)?;
    check(connection, &claims, nonce, now).map_err(Bad::Refused)?;
    person(connection, &claims, now).map_err(Bad::Refused)
}

/// The claims of a compact JWS that one of the keys has signed.
fn signed(token: &str, keys: &[Jwk]) -> Result<Value, Bad> {
    let refused = Bad::Refused;
    if token.len() > LONGEST {
        return Err(refused("the token is too long"));
    }
    let parts: Vec<&str> = token.splitn(4, '.').collect();
    let [header, claims, signature] = parts[..] else { return Err(refused("it is no signed token")) };
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| refused("it is no base64url"));
    let parse = |bytes: &[u8]| json::parse(bytes, &Budget::of(VALUES)).map_err(|_| refused("it is no JSON"));
    let head = parse(&decode(header)?)?;
    if !head["crit"].is_null() {
        return Err(refused("it asks for more than is known here (crit)"));
    }
    let algorithm = head["alg"].as_str().ok_or(refused("it names no algorithm"))?;
    let id = match &head["kid"] {
        Value::Null => None,
        Value::String(id) => Some(id.as_str()),
        _ => return Err(refused("the name of its key is no text")),
    };
    let fitting: Vec<&Jwk> =
        keys.iter().filter(|it| it.is_for(algorithm) && id.is_none_or(|id| it.id.as_deref() == Some(id))).collect();
    let key = match (fitting[..].len(), id) {
        (1, _) => fitting[0],
        // Of another kind: no key that comes later changes that.
        (0, Some(id)) if keys.iter().any(|it| it.id.as_deref() == Some(id)) => {
            return Err(refused("its algorithm is not that of its key"));
        }
        (0, _) if !matches!(algorithm, "RS256" | "ES256" | "EdDSA" | "Ed25519") => {
            return Err(refused("its algorithm is not taken"));
        }
        (0, _) => return Err(Bad::UnknownKey),
        _ => return Err(refused("it does not say which key signed it")),
    };
    let message = &token[..header.len() + 1 + claims.len()];
    if !key.has_signed(message.as_bytes(), &decode(signature)?) {
        return Err(refused("its signature is wrong"));
    }
    let claims = parse(&decode(claims)?)?;
    if claims.is_object() { Ok(claims) } else { Err(refused("its claims are no object")) }
}

fn check(connection: &IdpConnection, claims: &Value, nonce: &str, now: Millis) -> Result<(), &'static str> {
    if claims["iss"].as_str() != Some(connection.issuer.as_str()) {
        return Err("another issuer");
    }
    let ours = connection.client_id.as_str();
    match &claims["aud"] {
        Value::String(only) if only == ours => {}
        Value::Array(all) if all.len() == 1 && all[0] == ours => {}
        // One for several is taken where it says that it was made for this client (azp).
        Value::Array(all) if all.iter().any(|it| it == ours) && claims["azp"] == ours => {}
        _ => return Err("for another client"),
    }
    if !claims["azp"].is_null() && claims["azp"] != ours {
        return Err("made for another client");
    }
    let time = |name: &str| seconds(&claims[name]).and_then(|it| it.checked_mul(1_000));
    let (Some(expires), Some(issued)) = (time("exp"), time("iat")) else { return Err("without times") };
    if now - SKEW >= expires {
        return Err("it has expired");
    }
    if issued > now + SKEW || issued <= now - OLDEST - SKEW {
        return Err("made at another time");
    }
    if time("nbf").is_some_and(|it| it > now + SKEW) {
        return Err("it does not count yet");
    }
    if nonce.is_empty() || claims["nonce"].as_str() != Some(nonce) {
        return Err("for another request (nonce)");
    }
    Ok(())
}

/// A NumericDate (RFC 7519 section 2), parts of a second left out.
fn seconds(value: &Value) -> Option<i64> {
    let in_range = |it: f64| (it.is_finite() && it.abs() < 1e12).then_some(it as i64);
    value.as_i64().filter(|it| it.abs() < 1_000_000_000_000).or_else(|| value.as_f64().and_then(in_range))
}

fn person(connection: &IdpConnection, claims: &Value, now: Millis) -> Result<ProviderPerson, &'static str> {
    let subject = claims["sub"].as_str().ok_or("without a subject")?;
    let is_subject =
        (1..=LONGEST_SUBJECT).contains(&subject.len()) && subject.bytes().all(|it| it.is_ascii_graphic() || it == b' ');
    if !is_subject {
        return Err("with a subject that is none");
    }
    let email = claims["email"].as_str().and_then(Email::parse).map(|it| it.as_str().to_owned());
    // Some write it as text.
    let is_verified = claims["email_verified"] == true || claims["email_verified"] == "true";
    let name = |claim: &str| {
        let text = claims[claim].as_str()?.trim();
        let is_name = !text.is_empty() && text.chars().count() <= LONGEST_NAME && !text.contains(char::is_control);
        is_name.then(|| text.to_owned())
    };
    let language = claims["locale"].as_str().map(|it| it.replace('_', "-")).filter(|it| is_tag(it));
    Ok(ProviderPerson {
        provider: Provider { id: connection.id.clone(), label: connection.label.clone() },
        subject: subject.to_owned(),
        is_verified: is_verified && email.is_some(),
        email,
        first_name: name("given_name"),
        last_name: name("family_name"),
        language,
        until: now + OLDEST,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::{
        hmac,
        rand::SystemRandom,
        signature::{Ed25519KeyPair, KeyPair},
    };
    use serde_json::json;

    const NOW: Millis = 1_800_000_000_000;

    fn connection() -> IdpConnection {
        IdpConnection {
            id: "c".to_owned(),
            name: "n".to_owned(),
            issuer: "https://idp.example".to_owned(),
            client_id: "us".to_owned(),
            label: "L".to_owned(),
            creates_members: true,
            links_by_email: false,
            is_enabled: true,
            created: 0,
        }
    }

    fn claims() -> Value {
        json!({ "iss": "https://idp.example", "aud": "us", "sub": "s", "nonce": "n", "iat": NOW / 1_000,
            "exp": NOW / 1_000 + 60, "email": "a@example.org", "email_verified": true })
    }

    fn pair() -> (Ed25519KeyPair, Vec<u8>) {
        #[expect(clippy::disallowed_methods, reason = "ring makes key pairs with a source of its own kind only")]
        let random = SystemRandom::new();
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).expect("a pair");
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a pair");
        let public = pair.public_key().as_ref().to_vec();
        (pair, public)
    }

    fn token(head: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
        let text = [head, claims].map(|it| URL_SAFE_NO_PAD.encode(it.to_string())).join(".");
        let signature = URL_SAFE_NO_PAD.encode(sign(text.as_bytes()));
        format!("{text}.{signature}")
    }

    fn keys(public: &[u8]) -> Vec<Jwk> {
        let x = URL_SAFE_NO_PAD.encode(public);
        let set = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x }] });
        Jwk::of_set(&set).expect("a set")
    }

    #[test]
    fn token_is_for_this_client_request_and_time() {
        let (pair, public) = pair();
        let keys = keys(&public);
        let head = json!({ "alg": "EdDSA", "kid": "k" });
        let of = |claims: &Value| {
            let token = token(&head, claims, |it| pair.sign(it).as_ref().to_vec());
            read(&connection(), &token, &keys, "n", NOW)
        };
        let person = of(&claims()).expect("a person");
        assert_eq!(
            (person.subject.as_str(), person.email.as_deref(), person.is_verified),
            ("s", Some("a@example.org"), true)
        );
        let with = |name: &str, value: Value| {
            let mut claims = claims();
            claims[name] = value;
            of(&claims).map(|it| it.is_verified)
        };
        let seconds = NOW / 1_000;
        for (name, good) in [
            ("aud", json!(["us"])),
            ("azp", json!("us")),
            ("iat", json!(seconds as f64 + 0.5)),
            ("iat", json!(seconds + 299)),
            ("exp", json!(seconds - 299)),
            ("email_verified", json!("true")),
        ] {
            assert_eq!(with(name, good.clone()), Ok(true), "{name} {good}");
        }
        for (name, bad) in [
            ("iss", json!("https://idp.example/")),
            ("iss", json!("https://evil.example")),
            ("aud", json!("them")),
            ("aud", json!(["us", "them"])),
            ("aud", json!([])),
            ("aud", Value::Null),
            ("azp", json!("them")),
            ("exp", json!(seconds - 301)),
            ("exp", Value::Null),
            ("exp", json!("soon")),
            ("iat", json!(seconds + 301)),
            ("iat", json!(seconds - 900)),
            ("iat", json!(i64::MAX)),
            ("nbf", json!(seconds + 301)),
            ("nonce", json!("m")),
            ("nonce", Value::Null),
            ("sub", json!("")),
            ("sub", json!("x".repeat(256))),
            ("sub", json!("é")),
            ("sub", json!(7)),
        ] {
            assert!(matches!(with(name, bad.clone()), Err(Bad::Refused(_))), "{name} {bad}");
        }
        let mut several = claims();
        (several["aud"], several["azp"]) = (json!(["us", "them"]), json!("us"));
        assert!(of(&several).is_ok());
        for unverified in [json!(false), json!("yes"), json!(1), Value::Null] {
            assert_eq!(with("email_verified", unverified), Ok(false));
        }
        assert_eq!(with("email", json!("nonsense")), Ok(false), "what is no address is not shown to be anybody's");
    }

    #[test]
    fn algorithm_is_that_of_the_key() {
        let (pair, public) = pair();
        let keys = keys(&public);
        let read = |token: &str| read(&connection(), token, &keys, "n", NOW).map(drop);
        let sign = |it: &[u8]| pair.sign(it).as_ref().to_vec();
        let mac = |it: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), it).as_ref().to_vec();
        assert_eq!(read(&token(&json!({ "alg": "EdDSA", "kid": "k" }), &claims(), sign)), Ok(()));
        assert_eq!(read(&token(&json!({ "alg": "EdDSA" }), &claims(), sign)), Ok(()), "there is one key");
        assert_eq!(read(&token(&json!({ "alg": "EdDSA", "kid": "other" }), &claims(), sign)), Err(Bad::UnknownKey));
        for (head, what) in [
            (json!({ "alg": "none", "kid": "k" }), "no signature"),
            (json!({ "alg": "none" }), "no signature"),
            (json!({ "alg": "HS256", "kid": "k" }), "a MAC with the public key"),
            (json!({ "alg": "HS256" }), "a MAC with the public key"),
            (json!({ "alg": "RS256", "kid": "k" }), "another kind"),
            (json!({ "alg": "EdDSA", "kid": "k", "crit": ["x"] }), "more than is known"),
            (json!({ "alg": 1, "kid": "k" }), "no name"),
            (json!({ "kid": "k" }), "no algorithm"),
            (json!({ "alg": "EdDSA", "kid": 1 }), "no name of a key"),
        ] {
            assert!(matches!(read(&token(&head, &claims(), mac)), Err(Bad::Refused(_))), "{what}");
            assert!(matches!(read(&token(&head, &claims(), |_| Vec::new())), Err(Bad::Refused(_))), "{what}");
        }
        let good = token(&json!({ "alg": "EdDSA", "kid": "k" }), &claims(), sign);
        for broken in
            [good.replace('.', "+"), format!("{good}.x"), good[1..].to_owned(), "..".to_owned(), String::new()]
        {
            assert!(matches!(read(&broken), Err(Bad::Refused(_))), "{broken}");
        }
    }
}
