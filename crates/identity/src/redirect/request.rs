//! The body of `POST /v1/redirect-session` (docs/protocol/identity.md §5.1), read into what was meant.
//!
//! Pure: no client is looked up here and no address is trusted yet.

use crate::oauth::authorization::{AuthRequest, Prompt, ResponseMode};
use serde_json::{Value, json};
use stoa_kernel::{ClientId, Fault, Result, Scopes, Secret, Violation};

/// What a redirect session is for. Exactly one intent a request.
#[derive(Debug)]
pub enum Intent {
    /// Sign in and come back with a code.
    Auth(AuthRequest),
    /// The sign-in page, also when a member is signed in already; also asked for by the client's pre-warm.
    Login,
    Logout {
        client: ClientId,
    },
    /// A page of a business application, which the site itself has or not: the name of the intent and
    /// its values.
    ExternalPage(&'static str, Vec<(&'static str, String)>),
}

/// Where the person may be sent afterwards; checked against the client before use.
#[derive(Debug, Default)]
pub struct Callbacks {
    pub post_flow_url: Option<String>,
    /// All of them by name, that one as well.
    pub all: Vec<(&'static str, String)>,
}

/// The whole request.
#[derive(Debug)]
pub struct RedirectRequest {
    pub intent: Intent,
    pub callbacks: Callbacks,
    /// `origin`: where the application runs, as it says itself.
    pub origin: Option<String>,
    /// `preferences.additionalQueryParameters`.
    pub parameters: Vec<(String, String)>,
}

/// Addresses that a request may name, to go on to afterwards.
const CALLBACKS: [&str; 7] = [
    "postFlowUrl",
    "thankYouPageUrl",
    "loginUrl",
    "bookingsServiceListUrl",
    "cartPageUrl",
    "planListUrl",
    "plansListUrl",
];

/// Pairs of `preferences.additionalQueryParameters`.
const PARAMETERS: usize = 50;

impl RedirectRequest {
    /// # Errors
    /// [`Code::Validation`] with a violation for every field that is missing, too long or of the wrong
    /// form.
    pub fn parse(body: &Value) -> Result<Self> {
        let mut fields = Fields::default();
        let given = |name: &&str| body.get(*name).is_some_and(|it| !it.is_null());
        let named: Vec<&'static str> = ["auth", "login", "logout"].into_iter().chain(pages()).filter(given).collect();
        let intent = match named[..] {
            ["auth"] => Some(Intent::Auth(auth(&mut fields, body))),
            ["login"] => Some(Intent::Login),
            ["logout"] => {
                let client = fields.required(body, &["logout", "clientId"], 100);
                Some(Intent::Logout { client: ClientId::from(client) })
            }
            [other] => Some(Intent::ExternalPage(other, external_page(&mut fields, other, &body[other]))),
            [] => {
                fields.refuse("auth", "REQUIRED_ONE_OF_FIELD", "is required, or another intent");
                None
            }
            [_, second, ..] => {
                fields.refuse(second, "ONE_OF_ALIGNMENT", "must not stand beside another intent");
                None
            }
        };
        let callbacks = Callbacks {
            post_flow_url: None,
            all: CALLBACKS
                .into_iter()
                .filter_map(|name| Some((name, fields.optional(body, &["callbacks", name], 2048)?)))
                .collect(),
        };
        let post_flow_url = callbacks.all.iter().find(|it| it.0 == "postFlowUrl").map(|it| it.1.clone());
        let callbacks = Callbacks { post_flow_url, ..callbacks };
        let origin = fields.optional(body, &["origin"], 2048);
        fields.preferences(&body["preferences"]);
        let parameters = fields.parameters(&body["preferences"]["additionalQueryParameters"]);
        match intent {
            Some(intent) if fields.0.is_empty() => Ok(Self { intent, callbacks, origin, parameters }),
            _ => Err(Fault::invalid(fields.0)),
        }
    }
}

/// What a member of an intent may be.
#[derive(Clone, Copy)]
enum Form {
    Guid,
    Text(usize),
    /// Handed on as JSON, of at most so many characters.
    Json(usize),
    OneOf(&'static [&'static str]),
}

/// An intent, how many of its members are required, and what each may be.
type Members = (&'static str, usize, &'static [(&'static str, Form)]);

/// Members by intent, the required ones first; the second number says how many those are.
const MEMBERS: &[Members] = &[
    ("ecomCheckout", 1, &[("checkoutId", Form::Guid)]),
    ("eventsCheckout", 2, &[("reservationId", Form::Guid), ("eventSlug", Form::Text(150))]),
    ("paidPlansCheckout", 1, &[("planId", Form::Guid), ("checkoutData", Form::Text(2048))]),
    ("bookingsCheckout", 1, &[("slotAvailability", Form::Json(6000)), ("timezone", Form::Text(40))]),
    ("storesProduct", 1, &[("productSlug", Form::Text(150))]),
    ("bookingsBook", 0, &[("resourceId", Form::Guid)]),
    ("ecomOrderPaymentRequest", 1, &[("paymentRequestId", Form::Guid)]),
    (
        "memberAccountPage",
        0,
        &[("section", Form::OneOf(&["ACCOUNT_INFO", "BOOKINGS", "ORDERS", "SUBSCRIPTIONS", "EVENTS"]))],
    ),
];

/// The intents that lead to one of the site's own pages (docs/protocol/identity.md §5.1).
pub(super) fn pages() -> impl Iterator<Item = &'static str> {
    MEMBERS.iter().map(|it| it.0)
}

/// What an intent that leads to one of the site's own pages says.
fn external_page(fields: &mut Fields, intent: &str, body: &Value) -> Vec<(&'static str, String)> {
    let mut values = Vec::new();
    let found = MEMBERS.iter().find(|it| it.0 == intent);
    for (at, (name, form)) in found.into_iter().flat_map(|it| it.2.iter().enumerate()) {
        let is_required = found.is_some_and(|it| at < it.1);
        let field = format!("{intent}.{name}");
        // Older clients call the slot so.
        let value = match (&body[*name], *name) {
            (Value::Null, "slotAvailability") => &body["slot"],
            (value, _) => value,
        };
        let text = match (value, form) {
            (Value::Null, _) => None,
            (Value::Object(_), Form::Json(most)) => match value.to_string() {
                text if text.chars().count() <= *most => Some(text),
                _ => {
                    fields.refuse(field, "MAX_LENGTH", "is too large");
                    continue;
                }
            },
            (_, Form::Json(_)) => {
                fields.refuse(field, "FORMAT", "must be an object");
                continue;
            }
            (_, Form::Text(most)) => fields.optional(&json!({ intent: body }), &[intent, name], *most),
            (_, Form::Guid) => match fields.optional(&json!({ intent: body }), &[intent, name], 100) {
                Some(text) if is_guid(&text) => Some(text),
                Some(text) if text.is_empty() => None,
                Some(_) => {
                    fields.refuse(field, "FORMAT", "must be a GUID");
                    continue;
                }
                None => continue,
            },
            (_, Form::OneOf(names)) => match fields.optional(&json!({ intent: body }), &[intent, name], 100) {
                Some(text) if names.contains(&text.as_str()) => Some(text),
                Some(_) => {
                    fields.refuse(field, "INVALID_ENUM_VALUE", &format!("must be one of {}", names.join(", ")));
                    continue;
                }
                None => continue,
            },
        };
        match text.filter(|it| !it.is_empty()) {
            Some(text) => values.push((*name, text)),
            None if is_required && (value.is_null() || *value == "") => {
                fields.refuse(field, "REQUIRED_FIELD", "is required");
            }
            None => {}
        }
    }
    values
}

fn is_guid(text: &str) -> bool {
    let is_part = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_part)
}

fn auth(fields: &mut Fields, body: &Value) -> AuthRequest {
    let at = |name| ["auth", "authRequest", name];
    let client = ClientId::from(fields.required(body, &at("clientId"), 100));
    match fields.optional(body, &at("responseType"), 100).as_deref() {
        None | Some("code") => {}
        Some(_) => fields.refuse("auth.authRequest.responseType", "INVALID_ENUM_VALUE", "must be code"),
    }
    let mode = match fields.optional(body, &at("responseMode"), 100).as_deref() {
        None => ResponseMode::Query,
        Some(name) => ResponseMode::parse(name).unwrap_or_else(|| {
            let rule = "must be fragment, query or web_message";
            fields.refuse("auth.authRequest.responseMode", "INVALID_ENUM_VALUE", rule);
            ResponseMode::Query
        }),
    };
    let redirect_uri = fields.optional(body, &at("redirectUri"), 2048).filter(|it| !it.is_empty());
    if redirect_uri.is_none() && mode != ResponseMode::WebMessage {
        fields.refuse("auth.authRequest.redirectUri", "REQUIRED_FIELD", "is required");
    }
    let state = fields.required(body, &at("state"), 2048);
    let challenge = fields.required(body, &at("codeChallenge"), 200);
    if !challenge.is_empty() && !is_challenge(&challenge) {
        let rule = "must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~";
        fields.refuse("auth.authRequest.codeChallenge", "FORMAT", rule);
    }
    match fields.optional(body, &at("codeChallengeMethod"), 100).as_deref() {
        Some("S256") => {}
        None => fields.refuse("auth.authRequest.codeChallengeMethod", "REQUIRED_FIELD", "is required"),
        Some(_) => fields.refuse("auth.authRequest.codeChallengeMethod", "INVALID_ENUM_VALUE", "must be S256"),
    }
    let mut prompt = Prompt::Auto;
    for path in [&["auth", "authRequest", "prompt"][..], &["auth", "prompt"], &["prompt"]] {
        if let Some(text) = fields.optional(body, path, 100).filter(|it| !it.is_empty()) {
            prompt = Prompt::parse(&text).unwrap_or_else(|| {
                fields.refuse(path.join("."), "INVALID_ENUM_VALUE", "must be login, consent or none");
                prompt
            });
        }
    }
    AuthRequest {
        client,
        redirect_uri,
        mode,
        state,
        challenge,
        nonce: fields.optional(body, &at("nonce"), 512),
        idp: fields.optional(body, &at("idp"), 100).filter(|it| !it.is_empty()),
        scopes: scopes(fields, body, &at("scope")),
        prompt,
        session_token: fields.optional(body, &at("sessionToken"), 2048).filter(|it| !it.is_empty()).map(Secret::new),
    }
}

fn scopes(fields: &mut Fields, body: &Value, path: &[&str]) -> Option<Scopes> {
    let text = fields.optional(body, path, 1000)?;
    Scopes::asked(&text).unwrap_or_else(|why| {
        fields.refuse(path.join("."), "INVALID_ENUM_VALUE", &why);
        None
    })
}

/// A PKCE challenge as S256 makes it is 43 characters; the protocol allows 43 to 128 (docs/protocol/identity.md §4.9).
pub fn is_challenge(text: &str) -> bool {
    (43..=128).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._~".contains(&it))
}

/// Collects what is wrong, so that one answer tells all of it.
#[derive(Default)]
struct Fields(Vec<Violation>);

impl Fields {
    fn refuse(&mut self, field: impl Into<String>, rule: &'static str, description: &str) {
        self.0.push(Violation::new(field, rule, description));
    }

    /// Text at `path`, absent or null counts as missing.
    fn optional(&mut self, body: &Value, path: &[&str], longest: usize) -> Option<String> {
        let found = path.iter().try_fold(body, |at, name| at.get(name))?;
        match found {
            Value::Null => None,
            Value::String(text) if text.chars().count() <= longest => Some(text.clone()),
            Value::String(_) => {
                let rule = format!("must be at most {longest} characters");
                self.0.push(Violation::new(path.join("."), "MAX_LENGTH", rule).with("threshold", longest));
                None
            }
            _ => {
                self.refuse(path.join("."), "FORMAT", "must be a string");
                None
            }
        }
    }

    /// Preferences that are not built are taken as clients send them by default, and refused otherwise.
    fn preferences(&mut self, value: &Value) {
        let map = match value {
            Value::Null => return,
            Value::Object(map) => map,
            _ => return self.refuse("preferences", "FORMAT", "must be an object"),
        };
        for (name, value) in map {
            let default = match name.as_str() {
                "additionalQueryParameters" => continue,
                "useGenericWixPages" | "maintainIdentity" => Value::Bool(true),
                "checkIfPublish" | "createShortUrl" => Value::Bool(false),
                _ => Value::Null,
            };
            if !value.is_null() && *value != default {
                self.refuse(format!("preferences.{name}"), "FIELD_NOT_ALLOWED", "this preference is not built");
            }
        }
    }

    /// The members of `preferences.additionalQueryParameters`.
    fn parameters(&mut self, value: &Value) -> Vec<(String, String)> {
        let field = "preferences.additionalQueryParameters";
        let map = match value {
            Value::Null => return Vec::new(),
            Value::Object(map) if map.len() <= PARAMETERS => map,
            Value::Object(_) => {
                self.refuse(field, "MAX_SIZE", "has too many members");
                return Vec::new();
            }
            _ => {
                self.refuse(field, "FORMAT", "must be an object of texts");
                return Vec::new();
            }
        };
        let mut all = Vec::new();
        for (name, value) in map {
            match value {
                // They are checked where they belong; a page may read whichever comes last.
                _ if CALLBACKS.iter().any(|it| it.eq_ignore_ascii_case(name)) => {
                    self.refuse(format!("{field}.{name}"), "FORMAT", "belongs to callbacks")
                }
                Value::String(text) if name.len() <= 200 && text.len() <= 2048 => {
                    all.push((name.clone(), text.clone()))
                }
                Value::String(_) => self.refuse(field, "MAX_LENGTH", "a parameter is too long"),
                _ => self.refuse(field, "FORMAT", "must be an object of texts"),
            }
        }
        all
    }

    fn required(&mut self, body: &Value, path: &[&str], longest: usize) -> String {
        let before = self.0.len();
        match self.optional(body, path, longest) {
            Some(text) if !text.is_empty() => text,
            _ => {
                if self.0.len() == before {
                    self.refuse(path.join("."), "REQUIRED_FIELD", "is required");
                }
                String::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::Code;

    fn fields_of(body: Value) -> Vec<(String, &'static str)> {
        let fault = RedirectRequest::parse(&body).expect_err("refused");
        assert_eq!(fault.code(), Code::Validation);
        fault.violations().iter().map(|it| (it.field.clone(), it.violated_rule)).collect()
    }

    fn auth_body() -> Value {
        json!({"auth": {"authRequest": {
            "redirectUri": "https://app.example/cb", "clientId": "c", "codeChallenge": "a".repeat(43),
            "codeChallengeMethod": "S256", "responseMode": "fragment", "responseType": "code",
            "scope": "offline_access", "state": "s"}, "prompt": "login"}})
    }

    fn with(name: &str, value: Value) -> Value {
        let mut body = auth_body();
        body["auth"]["authRequest"][name] = value;
        body
    }

    #[test]
    fn request_reads_what_the_client_sends() {
        let request = RedirectRequest::parse(&auth_body()).expect("good");
        let Intent::Auth(auth) = request.intent else { panic!("auth") };
        assert_eq!((auth.mode, auth.prompt), (ResponseMode::Fragment, Prompt::Login));
        let direct = json!({"auth": {"authRequest": {"clientId": "c", "codeChallenge": "a".repeat(128),
            "codeChallengeMethod": "S256", "responseMode": "web_message", "responseType": "code", "state": "s",
            "sessionToken": "t"}, "prompt": "none"}});
        let Intent::Auth(auth) = RedirectRequest::parse(&direct).expect("good").intent else { panic!("auth") };
        assert_eq!((auth.mode, auth.prompt), (ResponseMode::WebMessage, Prompt::None));
        assert!(auth.session_token.is_some() && auth.redirect_uri.is_none());
        assert!(matches!(RedirectRequest::parse(&json!({"login": {}})).expect("good").intent, Intent::Login));
        let logout = json!({"logout": {"clientId": "c"}, "callbacks": {"postFlowUrl": "https://a"}});
        assert!(matches!(RedirectRequest::parse(&logout).expect("good").intent, Intent::Logout { .. }));
    }

    #[test]
    fn provider_is_read() {
        let google = json!("0e6a50f5-b523-4e29-990d-f37fa2ffdd69");
        let request = RedirectRequest::parse(&with("idp", google.clone())).expect("good");
        let Intent::Auth(auth) = request.intent else { panic!("auth") };
        assert_eq!(auth.idp.as_deref(), google.as_str());
        assert_eq!(fields_of(with("idp", json!(5))), [("auth.authRequest.idp".to_owned(), "FORMAT")]);
        for none in [Value::Null, json!("")] {
            assert!(RedirectRequest::parse(&with("idp", none)).is_ok());
        }
    }

    #[test]
    fn intents_have_their_members() {
        let id = "00000000-0000-4000-8000-00000000000a";
        for (intent, body) in [
            ("ecomCheckout", json!({ "checkoutId": id })),
            ("eventsCheckout", json!({ "reservationId": id, "eventSlug": "party" })),
            ("paidPlansCheckout", json!({ "planId": id, "checkoutData": "x" })),
            ("bookingsCheckout", json!({ "slotAvailability": { "slot": {} }, "timezone": "UTC" })),
            ("bookingsCheckout", json!({ "slot": { "slot": {} } })),
            ("storesProduct", json!({ "productSlug": "a-book" })),
            ("bookingsBook", json!({})),
            ("bookingsBook", json!({ "resourceId": id })),
            ("ecomOrderPaymentRequest", json!({ "paymentRequestId": id })),
            ("memberAccountPage", json!({ "section": "ORDERS" })),
        ] {
            let request = RedirectRequest::parse(&json!({ intent: body })).expect("good");
            let Intent::ExternalPage(name, values) = request.intent else { panic!("an external page") };
            assert_eq!(name, intent);
            assert_eq!(values.len(), body.as_object().map_or(0, |it| it.len()), "{intent} {values:?}");
        }
        for (intent, body, wrong) in [
            ("ecomCheckout", json!({}), "REQUIRED_FIELD"),
            ("ecomCheckout", json!({ "checkoutId": "" }), "REQUIRED_FIELD"),
            ("ecomCheckout", json!({ "checkoutId": "x" }), "FORMAT"),
            ("ecomCheckout", json!({ "checkoutId": 1 }), "FORMAT"),
            ("ecomCheckout", json!("x"), "REQUIRED_FIELD"),
            ("eventsCheckout", json!({ "reservationId": id, "eventSlug": "x".repeat(151) }), "MAX_LENGTH"),
            ("eventsCheckout", json!({ "reservationId": id }), "REQUIRED_FIELD"),
            ("paidPlansCheckout", json!({ "planId": id, "checkoutData": "x".repeat(2049) }), "MAX_LENGTH"),
            ("bookingsCheckout", json!({ "slotAvailability": "x" }), "FORMAT"),
            ("bookingsCheckout", json!({ "slotAvailability": { "x": "y".repeat(6001) } }), "MAX_LENGTH"),
            ("memberAccountPage", json!({ "section": "SECRETS" }), "INVALID_ENUM_VALUE"),
        ] {
            let found = fields_of(json!({ intent: body }));
            assert_eq!(found.iter().map(|it| it.1).collect::<Vec<_>>(), [wrong], "{intent} {body}");
        }
        let more =
            |parameters: Value| json!({ "login": {}, "preferences": { "additionalQueryParameters": parameters } });
        assert_eq!(RedirectRequest::parse(&more(json!({ "lang": "de" }))).expect("good").parameters.len(), 1);
        for (parameters, rule) in
            [(json!([]), "FORMAT"), (json!({ "a": 1 }), "FORMAT"), (json!({ "a": "x".repeat(2049) }), "MAX_LENGTH")]
        {
            assert_eq!(fields_of(more(parameters))[0].1, rule);
        }
    }

    #[test]
    fn preferences_are_honoured_or_refused_by_name() {
        let with = |preferences: Value| json!({ "login": {}, "preferences": preferences });
        let usual = json!({ "useGenericWixPages": true, "maintainIdentity": true, "checkIfPublish": false,
            "createShortUrl": null, "additionalQueryParameters": {} });
        assert!(RedirectRequest::parse(&with(usual)).is_ok());
        for (name, value) in [
            ("useGenericWixPages", json!(false)),
            ("maintainIdentity", json!(false)),
            ("checkIfPublish", json!(true)),
            ("createShortUrl", json!(true)),
            ("customMemberPaths", json!({ "accountPagePath": "/a" })),
        ] {
            let found = fields_of(with(json!({ name: value })));
            assert_eq!(found, [(format!("preferences.{name}"), "FIELD_NOT_ALLOWED")]);
        }
        assert_eq!(fields_of(with(json!(7))), [("preferences".to_owned(), "FORMAT")]);
    }

    #[test]
    fn intent_is_exactly_one() {
        assert_eq!(fields_of(json!({})), [("auth".into(), "REQUIRED_ONE_OF_FIELD")]);
        assert_eq!(fields_of(json!([1])), [("auth".into(), "REQUIRED_ONE_OF_FIELD")]);
        assert_eq!(fields_of(json!({"login": {}, "logout": {"clientId": "c"}}))[0].1, "ONE_OF_ALIGNMENT");
    }

    #[test]
    fn bad_fields_are_refused_by_name() {
        let field = |name: &str| format!("auth.authRequest.{name}");
        for (name, value, rule) in [
            ("clientId", json!(null), "REQUIRED_FIELD"),
            ("clientId", json!(1), "FORMAT"),
            ("redirectUri", json!(""), "REQUIRED_FIELD"),
            ("state", json!(""), "REQUIRED_FIELD"),
            ("state", json!("s".repeat(2049)), "MAX_LENGTH"),
            ("codeChallenge", json!("a".repeat(42)), "FORMAT"),
            ("codeChallenge", json!("a".repeat(129)), "FORMAT"),
            ("codeChallenge", json!("a".repeat(42) + "+"), "FORMAT"),
            ("codeChallengeMethod", json!("plain"), "INVALID_ENUM_VALUE"),
            ("codeChallengeMethod", json!(null), "REQUIRED_FIELD"),
            ("responseType", json!("token"), "INVALID_ENUM_VALUE"),
            ("responseMode", json!("form_post"), "INVALID_ENUM_VALUE"),
            ("prompt", json!("maybe"), "INVALID_ENUM_VALUE"),
        ] {
            assert_eq!(fields_of(with(name, value.clone())), [(field(name), rule)], "{name} {value}");
        }
    }
}
