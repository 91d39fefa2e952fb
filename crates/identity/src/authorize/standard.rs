//! The plain authorization request: parameters in the query, as any OAuth library sends it.

use crate::{
    Identity,
    authorize::{self, Authorized, Navigation, OpenedRequest, unregistered},
    browser::Browser,
    client,
    oauth::{
        authorization::{self, AuthRequest, AuthorizationResult, AuthorizeAnswer, Prompt, ResponseMode},
        pkce,
    },
    token::site_names,
};
use std::borrow::Cow;
use stoa_kernel::{ClientId, Code, Fault, Result, Scopes};

/// The parameters by name. One that stands there twice is refused (RFC 6749 section 3.1).
#[derive(Debug)]
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub fn parse(query: &str) -> Self {
        Self(url::form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// A parameter; an empty one counts as missing.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|it| it.0 == name).map(|it| it.1.as_str()).filter(|it| !it.is_empty())
    }

    /// All whose names begin so, without that beginning.
    pub fn below<'p>(&'p self, prefix: &'p str) -> impl Iterator<Item = (&'p str, &'p str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    fn has_twice(&self, name: &str) -> bool {
        self.0.iter().filter(|it| it.0 == name).count() > 1
    }
}

const SINGLE: [&str; 10] = [
    "client_id",
    "redirect_uri",
    "response_type",
    "response_mode",
    "state",
    "scope",
    "nonce",
    "prompt",
    "code_challenge",
    "code_challenge_method",
];

impl Identity {
    /// Answers a standard authorization request. Until client and address are known to belong together
    /// an error is the answer; afterwards errors travel to the address like any other result.
    ///
    /// # Errors
    /// [`Code::ClientUnknown`], [`Code::RedirectRefused`], [`Code::OauthInvalidRequest`].
    pub async fn authorize_standard(
        &self,
        query: &Parameters,
        browser: &Browser,
        navigation: &Navigation,
    ) -> Result<Authorized> {
        let core = &self.core;
        let invalid = |why: &str| Fault::because(Code::OauthInvalidRequest, why);
        if SINGLE.iter().any(|it| query.has_twice(it)) {
            return Err(invalid("a parameter stands there twice"));
        }
        let client_id = query.get("client_id").ok_or_else(|| invalid("client_id is missing"))?;
        let client = client::get(core, &ClientId::from(client_id)).await?;
        let site = core.store().site(&client.site).await?;
        let redirect_uri = query.get("redirect_uri").ok_or_else(|| invalid("redirect_uri is missing"))?;

        let mut error = None;
        let mode = query.get("response_mode").map_or(Some(ResponseMode::Query), ResponseMode::parse);
        if mode.is_none() {
            error = Some(("invalid_request", "response_mode must be query, fragment or web_message."));
        }
        let prompt = Prompt::parse_all(query.get("prompt").unwrap_or_default());
        if prompt.is_none() {
            error = Some(("invalid_request", "prompt is not valid."));
        }
        let challenge = query.get("code_challenge");
        let is_confidential = client.secret_hash.is_some();
        match (challenge, query.get("code_challenge_method")) {
            (None, None) if is_confidential => {}
            (None, _) => error = Some(("invalid_request", "code_challenge is missing.")),
            (Some(it), Some("S256")) if pkce::is_challenge(it) => {}
            (Some(_), Some("S256")) => error = Some(("invalid_request", "code_challenge is not valid.")),
            (Some(_), _) => error = Some(("invalid_request", "code_challenge_method must be S256.")),
        }
        let state = query.get("state").unwrap_or_default();
        if state.len() > 2048 {
            error = Some(("invalid_request", "state is too long."));
        }
        match query.get("response_type") {
            Some("code") => {}
            None => error = Some(("invalid_request", "response_type is missing.")),
            Some(_) => error = Some(("unsupported_response_type", "response_type must be code.")),
        }
        let scopes = Scopes::asked(query.get("scope").unwrap_or_default());
        // A description has neither quotes nor backslashes (RFC 6749 section 4.1.2.1).
        let unknown = scopes.as_ref().err().map(|it| ("invalid_scope", Cow::from(it.replace(['"', '\\'], "'"))));
        let request = AuthRequest {
            client: client.id.clone(),
            redirect_uri: Some(redirect_uri.to_owned()),
            mode: mode.unwrap_or(ResponseMode::Query),
            state: if state.len() > 2048 { String::new() } else { state.to_owned() },
            challenge: challenge.unwrap_or_default().to_owned(),
            nonce: None,
            scopes: scopes.unwrap_or_default(),
            prompt: prompt.unwrap_or_default(),
            session_token: None,
            idp: None,
        };
        let mut request = authorization::check(request, &client, None, None).map_err(unregistered)?;
        request.rotates = true;
        if let Some((name, description)) = error.map(|it| (it.0, it.1.into())).or(unknown) {
            let issuer = site_names::issuer(core, &site.id).await?;
            let delivery = request.deliver(AuthorizationResult::Error { name, description }, &issuer);
            return Ok(Authorized::of(AuthorizeAnswer::Deliver(delivery)));
        }
        authorize::answer(
            core,
            &site,
            OpenedRequest { client: &client, request, redirect_session: None },
            browser,
            navigation,
        )
        .await
    }
}
