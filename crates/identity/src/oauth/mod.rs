//! The token endpoint: what a client sends for tokens and what it gets (identity.md 4).

pub mod code;
pub mod info;
pub mod pkce;
pub mod request;
pub mod revoke;
pub mod rotation;
pub mod visitor;

pub use request::TokenRequest;

use crate::{
    Authenticated, Core, Identity,
    authorize::install,
    client::{self, Client},
    session::{self, NewSession, Session},
    token::{self, Access, Kind, authenticate},
};
use serde::Serialize;
use std::sync::Arc;
use stoa_kernel::{Caller, ClientId, Code, Fault, MemberId, Result, SessionId, SiteId};
use stoa_store::{Site, boxed};

/// The answer of the token endpoint, in snake case as every client reads it (identity.md 4.2).
#[derive(Debug, Clone, Serialize)]
pub struct TokenAnswer {
    pub access_token: String,
    pub token_type: &'static str,
    /// Seconds. Always there: without it a client's token never expires (identity.md 21, trap 8).
    pub expires_in: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'static str>,
}

impl TokenAnswer {
    pub(crate) fn new(access: Access, refresh: Option<String>) -> Self {
        Self {
            access_token: access.token,
            token_type: "Bearer",
            expires_in: access.expires_in,
            scope: refresh.is_some().then_some("offline_access"),
            refresh_token: refresh,
        }
    }
}

impl Identity {
    /// Answers a token request. `authorization` is the header as it came; only the `authorized_client`
    /// grant reads it.
    ///
    /// # Errors
    /// The OAuth codes of the kernel's table; [`Code::Unavailable`] and the like when the database fails.
    pub async fn token_grant(&self, request: &TokenRequest, authorization: Option<&str>) -> Result<TokenAnswer> {
        let core = &self.core;
        match request.grant_type.as_str() {
            "anonymous" => grant_anonymous(core, request).await,
            "refresh_token" => grant_refresh(core, request, true).await,
            "authorization_code" => grant_code(core, request).await,
            "authorized_client" => grant_authorized_client(core, request, authorization).await,
            "client_credentials" => grant_client_credentials(core, request).await,
            "strip_bound_session" => revoke::strip(core, request).await,
            "" => Err(Fault::because(Code::OauthInvalidRequest, "grant_type is missing")),
            _ => Err(Fault::new(Code::OauthGrantType)),
        }
    }

    /// Answers `/oauth/access`, the token endpoint of applications: with their secret, for a code or a
    /// refresh token, which comes back as it is because they ask before every request (identity.md 16.1).
    ///
    /// # Errors
    /// As [`Identity::token_grant`]; [`Code::OauthInvalidClient`] without a secret.
    pub async fn application_grant(&self, request: &TokenRequest) -> Result<TokenAnswer> {
        let core = &self.core;
        let client = grant_client(core, request).await?;
        require_secret(&client, request)?;
        if request.client_secret.is_none() {
            return Err(Fault::new(Code::OauthInvalidClient));
        }
        match request.grant_type.as_str() {
            "authorization_code" => {
                let code = required(&request.code, "code")?;
                match install::redeem(core, &client, code).await? {
                    Some(answer) => Ok(answer),
                    None => grant_code(core, request).await,
                }
            }
            "refresh_token" => match install::refresh(core, &client, request).await? {
                Some(answer) => Ok(answer),
                None => grant_refresh(core, request, false).await,
            },
            _ => Err(Fault::new(Code::OauthGrantType)),
        }
    }
}

/// A new visitor. Writes nothing.
async fn grant_anonymous(core: &Core, request: &TokenRequest) -> Result<TokenAnswer> {
    let client = grant_client(core, request).await?;
    let tokens = visitor::create(core, &client)?;
    Ok(TokenAnswer::new(tokens.access, Some(tokens.refresh)))
}

/// The same refresh token again and again, by many at once, with or without a client id; another one
/// for sessions whose tokens rotate.
async fn grant_refresh(core: &Arc<Core>, request: &TokenRequest, rotates: bool) -> Result<TokenAnswer> {
    let refresh = required(&request.refresh_token, "refresh_token")?;
    // A known and different client is a mistake worth an error; an unknown one isn't looked up.
    let fits = |client: Option<&ClientId>| match (&request.client_id, client) {
        (Some(given), Some(own)) => given == own.as_str(),
        _ => true,
    };
    let access = if let Some(visitor) = token::read_visitor_refresh(core, refresh) {
        if !fits(visitor.client.as_ref()) {
            return Err(invalid_grant());
        }
        if let Some(client) = &visitor.client {
            refreshing_client(core, client, request).await?;
        }
        visitor::issue_access(core, &visitor)?
    } else {
        let site = token::site_of(core, Kind::Refresh, refresh).await.map_err(unknown_as(Code::OauthInvalidGrant))?;
        let session = rotation::session_by_refresh(core, &site, refresh).await?.ok_or_else(invalid_grant)?;
        if !fits(session.client.as_ref()) {
            return Err(invalid_grant());
        }
        if let Some(client) = &session.client {
            refreshing_client(core, client, request).await?;
        }
        let access = session_access(core, &site.id, &session)?;
        if session.rotates
            && let Some(next) = rotation::rotate(core, &site, &session, refresh, rotates).await?
        {
            return Ok(TokenAnswer::new(access, Some(next.expose().to_owned())));
        }
        access
    };
    Ok(TokenAnswer::new(access, Some(refresh.to_owned())))
}

async fn grant_code(core: &Arc<Core>, request: &TokenRequest) -> Result<TokenAnswer> {
    let code = required(&request.code, "code")?;
    let client = grant_client(core, request).await?;
    require_secret(&client, request)?;
    let site = token::site_of(core, Kind::Code, code).await.map_err(unknown_as(Code::OauthInvalidGrant))?;
    if site.id != client.site {
        return Err(invalid_grant());
    }
    let (session, refresh) = code::redeem(core, &site, &client, code, request).await?;
    Ok(TokenAnswer::new(session_access(core, &site.id, &session)?, Some(refresh.expose().to_owned())))
}

/// External login: an app asks for a member's tokens, in the name of the visitor's client (4.6).
async fn grant_authorized_client(
    core: &Arc<Core>,
    request: &TokenRequest,
    authorization: Option<&str>,
) -> Result<TokenAnswer> {
    let asks = authenticate::authenticate(core, authorization, None).await?;
    if !matches!(asks.caller, Caller::App { .. }) {
        return Err(Fault::because(Code::OauthUnauthorized, "this grant needs an API key"));
    }
    let member = MemberId::from(required(&request.member_id, "member_id")?);
    let site = core.store.site(&asks.site).await?;
    let (session, refresh) = session_for_app(core, &site, &asks, &member, request.session_token.as_deref()).await?;
    Ok(TokenAnswer::new(session_access(core, &site.id, &session)?, Some(refresh)))
}

async fn session_for_app(
    core: &Arc<Core>,
    site: &Arc<Site>,
    asks: &Authenticated,
    member: &MemberId,
    session_token: Option<&str>,
) -> Result<(Session, String)> {
    let (me, place, session_token) = (core.clone(), site.clone(), session_token.map(str::to_owned));
    let new =
        NewSession { member: member.clone(), client: asks.client.clone(), root: None, visitor: asks.visitor.clone() };
    let made = site
        .write(move |tx| {
            let (me, site) = (me.clone(), place.clone());
            let (session_token, mut new) = (session_token.clone(), new.clone());
            boxed!({
                if let Some(token) = session_token {
                    match session::redeem_token(&me, tx, &site, &token).await? {
                        Some((member, visitor)) if member == new.member => {
                            new.visitor = new.visitor.or(visitor);
                        }
                        // A token of somebody else is used up all the same: an error would undo that.
                        _ => return Ok(None),
                    }
                }
                session::create(&me, tx, &site, Kind::Refresh, &new).await.map(Some)
            })
        })
        .await
        .map_err(unknown_as(Code::OauthInvalidGrant))?;
    let (session, refresh) = made.ok_or_else(invalid_grant)?;
    Ok((session, refresh.expose().to_owned()))
}

/// A confidential client in its own name: an App caller.
async fn grant_client_credentials(core: &Core, request: &TokenRequest) -> Result<TokenAnswer> {
    let client = grant_client(core, request).await?;
    if request.client_secret.is_none() {
        return Err(Fault::new(Code::OauthInvalidClient));
    }
    let grant = SessionId::from(core.world().uuid());
    Ok(TokenAnswer::new(token::issue_app_access(core, &client, &grant)?, None))
}

/// The client that asks. A secret need not be sent, but one that is sent must be right.
async fn grant_client(core: &Core, request: &TokenRequest) -> Result<Arc<Client>> {
    let id = required(&request.client_id, "client_id")?;
    let client = client::get(core, &ClientId::from(id)).await.map_err(unknown_as(Code::OauthInvalidClient))?;
    match &request.client_secret {
        Some(secret) if !client.has_secret(secret) => Err(Fault::new(Code::OauthInvalidClient)),
        _ => Ok(client),
    }
}

/// The client whose token is refreshed, whether or not the request names it.
async fn refreshing_client(core: &Core, id: &ClientId, request: &TokenRequest) -> Result<()> {
    let client = client::get(core, id).await.map_err(unknown_as(Code::OauthInvalidGrant))?;
    require_secret(&client, request)
}

/// An access token in a member's session.
pub(crate) fn session_access(core: &Core, site: &SiteId, session: &Session) -> Result<Access> {
    token::issue_access(core, site, &session.caller(), session.client.as_ref())
}

fn required<'r>(value: &'r Option<String>, name: &str) -> Result<&'r str> {
    let value = value.as_deref().filter(|it| !it.is_empty());
    value.ok_or_else(|| Fault::because(Code::OauthInvalidRequest, format!("{name} is missing")))
}

/// A client that has a secret must show it where tokens of others are given out (RFC 6749 section 6).
fn require_secret(client: &Client, request: &TokenRequest) -> Result<()> {
    let is_shown = request.client_secret.as_deref().is_some_and(|it| client.has_secret(it));
    match client.secret_hash.is_none() || is_shown {
        true => Ok(()),
        false => Err(Fault::new(Code::OauthInvalidClient)),
    }
}

fn invalid_grant() -> Fault {
    Fault::new(Code::OauthInvalidGrant)
}

/// What is not there (any more) becomes `code`; a failing database stays what it is.
fn unknown_as(code: Code) -> impl Fn(Fault) -> Fault {
    move |fault| match fault.code() {
        Code::SiteUnknown | Code::ClientUnknown | Code::MemberBlocked | Code::NotFound => {
            Fault::new(code).logged(format!("{fault:?}"))
        }
        _ => fault,
    }
}
