//! A token request in the forms that clients send it: camel or snake case, plain or in an envelope.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::{Map, Value};
use stoa_kernel::{Code, Fault, Result, Scopes};

/// The members of a token request that mean something here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenRequest {
    pub grant_type: String,
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    /// For which site an application asks.
    pub instance_id: Option<String>,
    pub refresh_token: Option<String>,
    pub code: Option<String>,
    pub redirect_uri: Option<String>,
    pub code_verifier: Option<String>,
    pub member_id: Option<String>,
    pub session_token: Option<String>,
    /// The access token of `strip_bound_session`.
    pub access_token: Option<String>,
    /// The token of revocation and introspection.
    pub token: Option<String>,
    /// The scopes that it names; nothing when none of its words gives a right.
    pub scopes: Option<Scopes>,
}

impl TokenRequest {
    /// Reads a JSON body. Both spellings of each name are taken; a body `{"body": "<base64>"}` without a
    /// grant is opened first (docs/protocol/identity.md §21.27).
    ///
    /// # Errors
    /// [`Code::OauthInvalidRequest`] when a value isn't text or both spellings differ; [`Code::OauthInvalidScope`].
    pub fn from_json(body: &Value) -> Result<Self> {
        let opened = open_envelope(body, &["grantType", "grant_type", "token"])?;
        let Some(object) = opened.as_ref().unwrap_or(body).as_object() else {
            return Err(invalid("the request is not an object"));
        };
        Self::from_pairs(|name| match object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(invalid(&format!("{name} is not text"))),
        })
    }

    /// Reads a form body (RFC 6749 section 4). A name that stands twice is refused.
    ///
    /// # Errors
    /// As [`TokenRequest::from_json`].
    pub fn from_form(body: &[u8]) -> Result<Self> {
        let mut object = Map::new();
        for (name, value) in url::form_urlencoded::parse(body) {
            if object.insert(name.clone().into_owned(), value.into_owned().into()).is_some() {
                return Err(invalid(&format!("{name} stands twice")));
            }
        }
        Self::from_json(&Value::Object(object))
    }

    fn from_pairs(get: impl Fn(&str) -> Result<Option<String>>) -> Result<Self> {
        let either = |camel: &str, snake: &str| match (get(camel)?, get(snake)?) {
            (Some(a), Some(b)) if a != b => Err(invalid(&format!("{camel} and {snake} differ"))),
            (a, b) => Ok(a.or(b)),
        };
        Ok(Self {
            grant_type: either("grantType", "grant_type")?.unwrap_or_default(),
            client_id: either("clientId", "client_id")?,
            // An empty one is none (RFC 6749 section 2.3.1).
            client_secret: either("clientSecret", "client_secret")?.filter(|it| !it.is_empty()),
            // A parameter without a value is none (RFC 6749 section 3.2).
            instance_id: either("instanceId", "instance_id")?.filter(|it| !it.is_empty()),
            refresh_token: either("refreshToken", "refresh_token")?,
            code: get("code")?,
            redirect_uri: either("redirectUri", "redirect_uri")?,
            code_verifier: either("codeVerifier", "code_verifier")?,
            member_id: either("memberId", "member_id")?,
            session_token: either("sessionToken", "session_token")?,
            access_token: either("accessToken", "access_token")?,
            token: get("token")?,
            scopes: scopes(get("scope")?)?,
        })
    }
}

/// The JSON inside `{"body": "<base64>"}`, unless one of `own` says that the body itself is meant.
///
/// # Errors
/// [`Code::OauthInvalidRequest`] when the envelope holds no JSON.
pub fn open_envelope(body: &Value, own: &[&str]) -> Result<Option<Value>> {
    let Some(Value::String(inner)) = body.get("body") else { return Ok(None) };
    if own.iter().any(|it| body.get(it).is_some()) {
        return Ok(None);
    }
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabets = [&alphabet::STANDARD, &alphabet::URL_SAFE];
    let bytes = alphabets.iter().find_map(|it| GeneralPurpose::new(it, config).decode(inner).ok());
    let value = bytes.and_then(|it| serde_json::from_slice(&it).ok());
    value.map(Some).ok_or_else(|| invalid("the body inside the request is not base64 of JSON"))
}

fn scopes(text: Option<String>) -> Result<Option<Scopes>> {
    Scopes::asked(&text.unwrap_or_default()).map_err(|it| Fault::because(Code::OauthInvalidScope, it))
}

fn invalid(why: &str) -> Fault {
    Fault::because(Code::OauthInvalidRequest, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    #[test]
    fn request_reads_alike_in_every_form() {
        let wanted = TokenRequest {
            grant_type: "refresh_token".to_owned(),
            client_id: Some("c".to_owned()),
            refresh_token: Some("r".to_owned()),
            ..Default::default()
        };
        let camel = json!({ "grantType": "refresh_token", "clientId": "c", "refreshToken": "r", "x": 1 });
        let snake = json!({ "grant_type": "refresh_token", "client_id": "c", "refresh_token": "r" });
        let envelope = json!({ "body": STANDARD.encode(camel.to_string()), "method": "POST" });
        for body in [camel, snake, envelope] {
            assert_eq!(TokenRequest::from_json(&body).expect("good"), wanted);
        }
        let form = TokenRequest::from_form(b"grant_type=refresh_token&client_id=c&refresh_token=r");
        assert_eq!(form.expect("good"), wanted);
    }

    #[test]
    fn request_that_contradicts_itself_is_refused() {
        for body in [
            json!([]),
            json!("x"),
            json!({ "grantType": 1 }),
            json!({ "body": "%" }),
            json!({ "body": "e30x" }),
            json!({ "clientId": "a", "client_id": "b" }),
        ] {
            assert_eq!(TokenRequest::from_json(&body).expect_err("bad").code(), Code::OauthInvalidRequest, "{body}");
        }
        assert!(TokenRequest::from_form(b"code=a&code=b").is_err());
        assert_eq!(TokenRequest::from_json(&json!({ "grantType": null })).expect("empty").grant_type, "");
    }
}
