//! Authorization requests, checked against their client, and the ways in which their answers travel.

use crate::{
    address::{Address, form, shown_host},
    browser::{Beginning, Change},
    client::Client,
};
use std::borrow::Cow;
use stoa_kernel::{ClientId, Code, Fault, Result, Scopes, Secret, VisitorId};

/// A checked authorization request: every address in it belongs to the client.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Authorization {
    pub client: ClientId,
    /// Absent for `web_message`.
    pub redirect_uri: Option<String>,
    pub mode: ResponseMode,
    /// Origin to which a `web_message` goes.
    pub target: Option<String>,
    /// Empty only when a standard request had none.
    pub state: String,
    /// Absent only for a client with a secret.
    pub challenge: Option<String>,
    pub prompt: Prompt,
    /// The visitor who becomes the member.
    pub visitor: Option<VisitorId>,
    /// Asked for as the standard says, or by a client with a secret: such clients replace their refresh
    /// tokens, so those rotate. The SDK's public clients never do (docs/protocol/identity.md §4.4).
    #[serde(default)]
    pub rotates: bool,
    /// What the client is granted, as text; the member's whole right without.
    #[serde(default)]
    pub scopes: Option<String>,
    /// Whether others wrote the client: it gets no code for a member who has not agreed (`oauth/consent.rs`).
    #[serde(default)]
    pub of_others: bool,
    /// Whether other programs can pass for the client: it has no secret, and its answers go to this machine or to an app's own
    /// scheme (RFC 8252 section 8.6).
    #[serde(default)]
    pub is_unassured: bool,
    /// The id of the connection to an identity provider by which the person is to sign in.
    #[serde(default)]
    pub idp: Option<String>,
}

/// An authorization request, from a redirect session or in the standard form.
#[derive(Debug)]
pub struct AuthRequest {
    pub client: ClientId,
    /// Absent for `web_message`, where the browser is not redirected.
    pub redirect_uri: Option<String>,
    pub mode: ResponseMode,
    pub state: String,
    /// PKCE challenge, method S256.
    pub challenge: String,
    pub nonce: Option<String>,
    /// What it names; nothing when it names no scope.
    pub scopes: Option<Scopes>,
    pub prompt: Prompt,
    /// One-time token of a login that just succeeded.
    pub session_token: Option<Secret>,
    /// The identity provider by which the person is to sign in.
    pub idp: Option<String>,
}

/// How the result of an authorization travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseMode {
    Query,
    Fragment,
    WebMessage,
}

/// Whether the person may or must be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prompt {
    /// Ask when no member is signed in.
    #[default]
    Auto,
    /// Never ask: `login_required` instead.
    None,
    /// Ask who it is even when a member is signed in.
    Login,
    /// Ask a member whether a client of others may have what it asks for, also one who has agreed before.
    Consent,
    /// Both questions.
    LoginAndConsent,
}

/// What is sent back to the client.
#[derive(Debug)]
pub enum AuthorizationResult {
    Code(Secret),
    Error { name: &'static str, description: Cow<'static, str> },
}

/// Where the result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Send the browser there.
    Redirect(String),
    /// Hand it to the window that waits, which is of this origin.
    Message { origin: String, code: Option<String>, state: String, error: Option<(&'static str, Cow<'static, str>)> },
}

/// How an authorize address is answered.
#[derive(Debug)]
pub enum AuthorizeAnswer {
    Deliver(Delivery),
    /// A flow has begun: show its page.
    Flow(Beginning),
    /// An empty page that these origins may frame (pre-warm, docs/protocol/identity.md §5.5).
    Blank {
        origins: Vec<String>,
    },
    /// Signed out: the browser goes there, and the session cookie, if it is this site's.
    SignedOut {
        url: String,
        session: Change,
    },
}

impl Authorization {
    /// What the client is granted; the member's whole right without.
    pub(crate) fn granted(&self) -> Option<Scopes> {
        self.scopes.as_deref().map(Scopes::among)
    }

    /// Whether a member is asked who has agreed before: it is wished, or who asks may be another than last time.
    pub(crate) fn asks_always(&self) -> bool {
        self.of_others && (self.is_unassured || self.prompt.asks_consent())
    }

    /// Where the answer goes, as people read it ([`shown_host`]).
    pub(crate) fn host(&self) -> String {
        shown_host(self.target.as_deref().or(self.redirect_uri.as_deref()).unwrap_or_default())
    }

    /// The answer as the client reads it (docs/protocol/identity.md §5.3). `issuer` tells which site answers
    /// (RFC 9207).
    pub fn deliver(&self, result: AuthorizationResult, issuer: &str) -> Delivery {
        let (code, error) = match result {
            AuthorizationResult::Code(code) => (Some(code.expose().to_owned()), None),
            AuthorizationResult::Error { name, description } => (None, Some((name, description))),
        };
        if let Some(origin) = &self.target {
            return Delivery::Message { origin: origin.clone(), code, state: self.state.clone(), error };
        }
        let mut pairs = Vec::with_capacity(4);
        pairs.extend(code.as_deref().map(|it| ("code", it)));
        if let Some((name, description)) = &error {
            pairs.extend([("error", *name), ("error_description", description.as_ref())]);
        }
        if !self.state.is_empty() {
            pairs.push(("state", &self.state));
        }
        pairs.push(("iss", issuer));
        let uri = self.redirect_uri.as_deref().unwrap_or_default();
        Delivery::Redirect(match (Address::parse(uri), self.mode) {
            (Some(uri), ResponseMode::Fragment) => uri.with_fragment(pairs),
            (Some(uri), _) => uri.with_query(pairs),
            // A registered address of an app's own scheme: it has no fragment.
            (None, ResponseMode::Fragment) => format!("{uri}#{}", form(pairs)),
            (None, _) => format!("{uri}{}{}", if uri.contains('?') { '&' } else { '?' }, form(pairs)),
        })
    }
}

/// Checks an authorization request against its client.
///
/// # Errors
/// [`Code::RedirectRefused`].
pub(crate) fn check(
    request: AuthRequest,
    client: &Client,
    origin: Option<&str>,
    visitor: Option<VisitorId>,
) -> Result<Authorization> {
    let refuse = |why: &str| Fault::new(Code::RedirectRefused).logged(why);
    if let Some(uri) = &request.redirect_uri
        && !client.allows_redirect(uri)
    {
        return Err(refuse("redirect address"));
    }
    // The browser is not redirected, so the answer goes to the origin of the page that sent the request
    // (docs/protocol/identity.md §5.3). The header can't be forged by a page; outside browsers a client with
    // a single origin needs none.
    let target = match (request.mode, origin, &request.redirect_uri) {
        (ResponseMode::WebMessage, Some(origin), _) if client.allows_origin(origin) => {
            Some(Address::parse(origin).ok_or_else(|| refuse("origin"))?.origin())
        }
        (ResponseMode::WebMessage, Some(_), _) => return Err(refuse("origin")),
        (ResponseMode::WebMessage, None, Some(uri)) => {
            Some(Address::parse(uri).ok_or_else(|| refuse("origin of the redirect address"))?.origin())
        }
        (ResponseMode::WebMessage, None, None) => {
            let mut known: Vec<String> = client
                .origins
                .iter()
                .chain(&client.redirect_uris)
                .filter_map(|it| Some(Address::parse(it)?.origin()))
                .collect();
            known.dedup();
            match &known[..] {
                [only] => Some(only.clone()),
                _ => return Err(refuse("no origin was sent and the client has several")),
            }
        }
        _ => None,
    };
    let is_web = target.as_ref().or(request.redirect_uri.as_ref()).is_some_and(|it| it.starts_with("https://"));
    Ok(Authorization {
        client: client.id.clone(),
        // In the direct login the code is exchanged without an address (trap 16).
        redirect_uri: request.redirect_uri.filter(|_| request.mode != ResponseMode::WebMessage),
        mode: request.mode,
        target,
        state: request.state,
        challenge: Some(request.challenge).filter(|it| !it.is_empty()),
        prompt: if client.is_third_party { request.prompt } else { request.prompt.without_consent() },
        visitor,
        rotates: client.secret_hash.is_some(),
        scopes: client.grant(request.scopes.as_ref()).map(|it| it.to_string()),
        of_others: client.is_third_party,
        is_unassured: client.secret_hash.is_none() && !is_web,
        idp: request.idp,
    })
}

impl ResponseMode {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "query" => Some(Self::Query),
            "fragment" => Some(Self::Fragment),
            "web_message" => Some(Self::WebMessage),
            _ => None,
        }
    }
}

impl Prompt {
    /// One word of the parameter. `select_account` asks the person, so it is served by the sign-in page.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::None),
            "login" | "select_account" => Some(Self::Login),
            "consent" => Some(Self::Consent),
            _ => None,
        }
    }

    /// The whole parameter, of several words perhaps; `none` stands alone (OpenID Connect Core 3.1.2.1).
    pub fn parse_all(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [] => Some(Self::Auto),
            [only] => Self::parse(only),
            _ if words.contains(&"none") => None,
            _ if words.contains(&"consent") => Some(Self::LoginAndConsent),
            _ => Some(Self::Login),
        }
    }

    /// Whether who it is is asked even when a member is signed in.
    pub(crate) fn asks_who(self) -> bool {
        matches!(self, Self::Login | Self::LoginAndConsent)
    }

    /// Whether a member is asked who has agreed before.
    fn asks_consent(self) -> bool {
        matches!(self, Self::Consent | Self::LoginAndConsent)
    }

    /// That of the site's own clients, for which nobody has to agree: asked to ask, they have the sign-in page shown.
    fn without_consent(self) -> Self {
        if self.asks_consent() { Self::Login } else { self }
    }
}
