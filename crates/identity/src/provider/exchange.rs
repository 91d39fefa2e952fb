//! The way to a provider and what comes back from it: an authorization request (OpenID Connect Core, 3.1.2), a code for a token (3.1.3), or
//! a token that a front end has got itself.

use super::{
    Failed, Once, ProviderFailure, ProviderPerson,
    connection::IdpConnection,
    id_token::{self, Bad},
    secret,
    trip::Trip,
};
use crate::{Core, address::Address, oauth::pkce};
use stoa_kernel::{
    Network, Result, Secret, TokenHash,
    json::{self, Budget},
};
use stoa_outbound::CodeExchange;
use stoa_store::Site;

/// Characters of a code.
const LONGEST_CODE: usize = 4_096;
/// Values of a token answer.
const VALUES: usize = 1_000;
/// What a provider says where the person, or itself, did not want to (RFC 6749 section 4.1.2.1, OpenID Connect Core, 3.1.2.6).
const DECLINED: [&str; 5] =
    ["access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required"];

/// With what a browser comes back from a provider.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Returned<'a> {
    /// Of the browser.
    pub network: Network,
    pub code: Option<&'a str>,
    pub error: Option<&'a str>,
    /// The issuer that the answer names (RFC 9207).
    pub issuer: Option<&'a str>,
}

/// The address of the provider to which a browser goes. With `asks_who` the provider asks also those whom it knows.
pub(crate) async fn authorization_url(
    core: &Core,
    site: &Site,
    connection: &IdpConnection,
    trip: &Trip,
    asks_who: bool,
) -> Result<std::result::Result<String, Failed>> {
    let metadata = match core.providers.metadata(site.id.as_str(), &connection.issuer, core.now()).await {
        Ok(metadata) => metadata,
        Err(failed) => return Ok(Err(failed)),
    };
    let Some(endpoint) = Address::parse(&metadata.authorization_endpoint) else {
        return Ok(Err(Failed::unavailable("browsers can't be sent to it")));
    };
    let (state, challenge) = (trip.seal(core, site)?, pkce::challenge_of(&trip.verifier));
    let sent = [
        ("response_type", "code"),
        ("client_id", connection.client_id.as_str()),
        ("redirect_uri", trip.redirect_uri.as_str()),
        ("scope", "openid email profile"),
        ("state", state.as_str()),
        ("nonce", trip.nonce.as_str()),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
    ];
    Ok(Ok(endpoint.with_query(sent.into_iter().chain(asks_who.then_some(("prompt", "login"))))))
}

/// Whom the provider names to whose address this trip went, by what the browser came back with.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn person_of_code(
    core: &Core,
    site: &Site,
    connection: &IdpConnection,
    trip: &Trip,
    returned: Returned<'_>,
) -> Result<std::result::Result<(ProviderPerson, Once), Failed>> {
    let secret = secret::open(core, site, (&connection.id, &connection.issuer)).await?;
    Ok(redeem(core, site, connection, &secret, trip, returned).await)
}

async fn redeem(
    core: &Core,
    site: &Site,
    connection: &IdpConnection,
    client_secret: &Secret,
    trip: &Trip,
    returned: Returned<'_>,
) -> std::result::Result<(ProviderPerson, Once), Failed> {
    let metadata = core.providers.metadata(site.id.as_str(), &connection.issuer, core.now()).await?;
    // Before anything else of the answer counts: another provider may have sent it (RFC 9700 section 4.4).
    match returned.issuer {
        Some(issuer) if issuer != connection.issuer => return Err(Failed::refused("the answer is another provider's")),
        None if metadata.names_itself => return Err(Failed::refused("the answer does not say whose it is")),
        _ => {}
    }
    if let Some(error) = returned.error {
        let known = DECLINED.into_iter().find(|it| *it == error);
        return Err(match (known, error) {
            (Some(name), _) => Failed { reason: ProviderFailure::Declined, why: format!("it says {name}") },
            (None, "server_error" | "temporarily_unavailable") => Failed::unavailable("it says that it is broken"),
            (None, _) => Failed::refused("it says that something is wrong with the request"),
        });
    }
    let code = returned.code.filter(|it| !it.is_empty() && it.len() <= LONGEST_CODE);
    let code = Secret::new(code.ok_or_else(|| Failed::refused("there is no code"))?);
    let exchange = CodeExchange {
        token_endpoint: &metadata.token_endpoint,
        client_id: &connection.client_id,
        client_secret,
        secret_in: metadata.secret_in,
        code: &code,
        verifier: &Secret::new(trip.verifier.as_str()),
        redirect_uri: &trip.redirect_uri,
    };
    let answer = core.providers.client.exchange((site.id.as_str(), returned.network), exchange).await?;
    let answer = json::parse(&answer, &Budget::of(VALUES)).map_err(|_| Failed::refused("the tokens are no JSON"))?;
    let token = answer["id_token"].as_str().ok_or_else(|| Failed::refused("there is no ID token"))?;
    person_of_token(core, site, connection, token, &trip.nonce).await
}

/// Whom the provider of a connection names in an ID token that was asked for with this nonce: by a trip, or by a front end that has got
/// the token itself.
///
/// # Errors
/// [`Failed`] when the provider does not answer, or the token is not its own, for this connection and nonce.
pub(crate) async fn person_of_token(
    core: &Core,
    site: &Site,
    connection: &IdpConnection,
    token: &str,
    nonce: &str,
) -> std::result::Result<(ProviderPerson, Once), Failed> {
    let now = core.now();
    let providers = &core.providers;
    let metadata = providers.metadata(site.id.as_str(), &connection.issuer, now).await?;
    let keys = providers.keys(site.id.as_str(), &metadata.jwks_uri, false, now).await?;
    let read = match id_token::read(connection, token, &keys, nonce, now) {
        // It may have another key since.
        Err(Bad::UnknownKey) => {
            let keys = providers.keys(site.id.as_str(), &metadata.jwks_uri, true, now).await?;
            id_token::read(connection, token, &keys, nonce, now)
        }
        read => read,
    };
    let person = read.map_err(|bad| match bad {
        Bad::UnknownKey => Failed::refused("the ID token names a key that the provider does not have"),
        Bad::Refused(why) => Failed::refused(format!("the ID token: {why}")),
    })?;
    let once = TokenHash::of(&serde_json::json!(["provider answer", connection.id, nonce]).to_string());
    Ok((person, Once { hash: once, expires: id_token::outlived(now) }))
}

/// Whether a text can be a nonce: long enough to be drawn by chance, and short.
pub(crate) fn is_nonce(nonce: &str) -> bool {
    (16..=512).contains(&nonce.len())
}
