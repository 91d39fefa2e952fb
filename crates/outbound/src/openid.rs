//! Calls of identity providers (OpenID Connect): what they say of themselves, their keys, and codes that are exchanged for tokens. They
//! take the way out ([`Reach`]), follow no redirect, and are bounded in time and size.

use crate::{
    reach::{Call, Reach, Target, Unreached},
    turns::{TurnLimits, Turns},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use hyper::{
    HeaderMap, Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use std::time::Duration;
use stoa_kernel::{Network, Secret};
use tokio::sync::Semaphore;

/// The largest answer that is read, in bytes.
const LARGEST: usize = 128 * 1024;

/// How much providers may hold up.
#[derive(Debug, Clone)]
pub struct OpenidLimits {
    /// For a call from its beginning to its end, and as long again for waiting for each of its turns.
    pub timeout: Duration,
    /// Calls for one site at the same time.
    pub at_once: usize,
    /// Further ones that may wait for their turn.
    pub waiting: usize,
    /// Exchanges of codes at the same time for one network, of those of a site.
    pub of_network: usize,
    /// Further ones that may wait for their turn.
    pub waiting_of_network: usize,
    /// Calls for all sites at the same time.
    pub in_all: usize,
}

impl Default for OpenidLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            at_once: 8,
            waiting: 56,
            of_network: 2,
            waiting_of_network: 14,
            in_all: 256,
        }
    }
}

/// Why there is no answer. The text is for the log and holds no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenidFailure {
    /// It was not asked: too many calls are under way, of this site or of others. Says nothing of the provider.
    NotAsked(String),
    /// It may not be called, was not reached in time, said too much, or that it is broken (5xx).
    Unreached(String),
    /// It answered, and not with 200.
    Refused(String),
}

/// What authenticates a client where codes are exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientSecretIn {
    /// `client_secret_basic`: id and secret in `Authorization` (RFC 6749 section 2.3.1).
    Header,
    /// `client_secret_post`: in the form.
    Form,
}

/// An exchange of a code (RFC 6749 section 4.1.3, RFC 7636 section 4.5).
#[derive(Debug)]
pub struct CodeExchange<'a> {
    pub token_endpoint: &'a str,
    pub client_id: &'a str,
    pub client_secret: &'a Secret,
    pub secret_in: ClientSecretIn,
    pub code: &'a Secret,
    pub verifier: &'a Secret,
    pub redirect_uri: &'a str,
}

/// Calls providers, each site in a lane of its own, and in it each network that has codes exchanged: a stranger who waits for a slow
/// provider on purpose keeps no one else from it.
pub struct OpenidClient {
    reach: Reach,
    timeout: Duration,
    turns: Turns,
    turns_of_network: Turns,
}

impl OpenidClient {
    pub fn new(reach: Reach, limits: OpenidLimits) -> Self {
        let OpenidLimits { timeout, at_once, waiting, of_network, waiting_of_network, in_all } = limits;
        let turns = |of_lane, waiting_of_lane, in_all| {
            Turns::new(TurnLimits { in_all, of_lane, waiting_of_lane, wait: timeout })
        };
        // Only the lanes bound those of networks: what is under way in all, the turns of sites do.
        let (of_site, of_network) =
            (turns(at_once, waiting, in_all), turns(of_network, waiting_of_network, Semaphore::MAX_PERMITS));
        Self { reach, timeout, turns: of_site, turns_of_network: of_network }
    }

    /// Whether something of a provider may be at an address; see [`Reach::check`].
    ///
    /// # Errors
    /// A sentence for the operator, who chooses the address.
    pub fn check(&self, url: &str) -> Result<(), String> {
        let target = Target::parse(url)?;
        self.reach.check(&target).map_err(|it| it.to_string())
    }

    /// A document of a provider, as it came.
    ///
    /// # Errors
    /// [`OpenidFailure`].
    pub async fn get(&self, site: &str, url: &str) -> Result<Vec<u8>, OpenidFailure> {
        self.call(site, url, Method::GET, HeaderMap::new(), String::new()).await
    }

    /// What the token endpoint answers to a code, as it came. `network` is the one that brings the code.
    ///
    /// # Errors
    /// [`OpenidFailure`].
    pub async fn exchange(
        &self,
        (site, network): (&str, Network),
        exchange: CodeExchange<'_>,
    ) -> Result<Vec<u8>, OpenidFailure> {
        let _turn = self.turns_of_network.take(&format!("{site} {network}")).await.ok_or_else(full)?;
        let CodeExchange { client_id, client_secret, .. } = exchange;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", exchange.code.expose()),
            ("redirect_uri", exchange.redirect_uri),
            ("code_verifier", exchange.verifier.expose()),
        ];
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        match exchange.secret_in {
            ClientSecretIn::Form => {
                form.extend([("client_id", client_id), ("client_secret", client_secret.expose())]);
            }
            ClientSecretIn::Header => {
                let both = format!("{}:{}", encoded(client_id), encoded(client_secret.expose()));
                let value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(both)));
                let mut value = value.map_err(|_| OpenidFailure::Unreached("the secret is no header".to_owned()))?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
        }
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        self.call(site, exchange.token_endpoint, Method::POST, headers, form).await
    }

    async fn call(
        &self,
        site: &str,
        url: &str,
        method: Method,
        mut headers: HeaderMap,
        body: String,
    ) -> Result<Vec<u8>, OpenidFailure> {
        let unreached = |why: String| OpenidFailure::Unreached(why);
        let target = Target::parse(url).map_err(|it| unreached(it.to_owned()))?;
        let _turn = self.turns.take(site).await.ok_or_else(full)?;
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let (timeout, body) = (self.timeout, body.into());
        let call = Call { target: &target, method, headers, body, timeout, answer_bytes: LARGEST };
        let answer = self.reach.call(call).await.map_err(|it| match it {
            Unreached::Busy => OpenidFailure::NotAsked(it.to_string()),
            it => unreached(it.to_string()),
        })?;
        match answer.status {
            200 if answer.is_whole => Ok(answer.body),
            200 => Err(unreached(format!("it said more than {LARGEST} bytes"))),
            status if status >= 500 => Err(unreached(format!("it answered {status}"))),
            status => Err(OpenidFailure::Refused(format!("it answered {status}"))),
        }
    }
}

fn full() -> OpenidFailure {
    OpenidFailure::NotAsked("too many calls to providers are under way".to_owned())
}

/// As `Authorization: Basic` of clients has it (RFC 6749 section 2.3.1 and appendix B).
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_encoded_before_they_are_joined() {
        assert_eq!(encoded("a:b c/é"), "a%3Ab+c%2F%C3%A9");
    }
}
