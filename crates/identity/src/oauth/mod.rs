//! The token endpoint: what a client sends for tokens and what it gets (docs/protocol/identity.md §4).

mod access;
mod application;
pub(crate) mod authorization;
pub mod code;
pub(crate) mod consent;
pub mod info;
pub(crate) mod instance;
pub mod pkce;
pub mod request;
pub mod revoke;
pub mod rotation;
pub mod visitor;

pub use access::TokenAnswer;
pub use application::Application;
pub use authorization::{Authorization, AuthorizeAnswer, Delivery};
pub use request::TokenRequest;

use crate::{
    Core, Identity, client,
    oauth::access::{
        grant_client, invalid_grant, refreshing_client, require_secret, required, session_access, unknown_as,
    },
    session::{self, NewSession, Session},
    token::{self, Kind, authenticate},
};
use std::sync::Arc;
use stoa_kernel::{Area, Caller, ClientId, Code, Fault, MemberId, Result, Right, Scopes, SessionId};
use stoa_store::{Site, boxed};

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

    /// Answers `/oauth/access`, the token endpoint of applications: with their secret, for a code or a refresh
    /// token, which comes back as it is because they ask before every request
    /// (docs/protocol/identity.md §16.1).
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
                match instance::redeem(core, &client, code).await? {
                    Some(answer) => Ok(answer),
                    None => grant_code(core, request).await,
                }
            }
            "refresh_token" => match instance::refresh(core, &client, request).await? {
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
    let tokens = visitor::create(core, &client).await?;
    Ok(TokenAnswer::new(tokens.access, Some(tokens.refresh)))
}

/// The same refresh token again and again, by many at once, with or without a client id; another one
/// for sessions whose tokens rotate, and for visitors whose token is some time old.
async fn grant_refresh(core: &Arc<Core>, request: &TokenRequest, rotates: bool) -> Result<TokenAnswer> {
    let refresh = required(&request.refresh_token, "refresh_token")?;
    // A known and different client is a mistake worth an error; an unknown one isn't looked up.
    let fits = |client: Option<&ClientId>| match (&request.client_id, client) {
        (Some(given), Some(own)) => given == own.as_str(),
        _ => true,
    };
    let asked = request.scopes.as_ref();
    let access = if let Some(visitor) = token::read_visitor_refresh(core, refresh) {
        if !fits(visitor.client.as_ref()) {
            return Err(invalid_grant());
        }
        let bound = match &visitor.client {
            Some(client) => refreshing_client(core, client, request).await?.bound(),
            None => None,
        };
        let scopes = Scopes::narrowed(bound.as_ref(), asked);
        let tokens = visitor::renew(core, visitor, scopes.as_ref(), refresh).await?;
        return Ok(TokenAnswer::new(tokens.access, Some(tokens.refresh)));
    } else {
        let site = token::site_of(core, Kind::Refresh, refresh).await.map_err(unknown_as(Code::OauthInvalidGrant))?;
        let session = rotation::session_by_refresh(core, &site, refresh).await?.ok_or_else(invalid_grant)?;
        if !fits(session.client.as_ref()) {
            return Err(invalid_grant());
        }
        if let Some(client) = &session.client {
            refreshing_client(core, client, request).await?;
        }
        let access = session_access(core, &site.id, &session, asked).await?;
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
    let access = session_access(core, &site.id, &session, request.scopes.as_ref()).await?;
    Ok(TokenAnswer::new(access, Some(refresh.expose().to_owned())))
}

/// External login: an app asks for a member's tokens, in the name of the visitor's client
/// (docs/protocol/identity.md §4.6). They hold no more than the app, and no more than it may give the client.
async fn grant_authorized_client(
    core: &Arc<Core>,
    request: &TokenRequest,
    authorization: Option<&str>,
) -> Result<TokenAnswer> {
    let app = authenticate::authenticate(core, authorization, None).await?;
    if !matches!(app.caller.within(Area::Members, Right::SignIn)?, Caller::App { .. }) {
        return Err(Fault::because(Code::OauthUnauthorized, "this grant needs an API key"));
    }
    let member = MemberId::from(required(&request.member_id, "member_id")?);
    let site = core.store.site(&app.site).await?;
    let granted = match &app.client {
        Some(id) => {
            let client = client::get(core, id).await.map_err(unknown_as(Code::OauthInvalidGrant))?;
            client.grant(request.scopes.as_ref())
        }
        None => request.scopes.clone(),
    };
    let new = NewSession {
        member,
        client: app.client.clone(),
        root: None,
        visitor: app.visitor.clone(),
        scopes: Scopes::narrowed(app.caller.scopes(), granted.as_ref()),
    };
    let (session, refresh) = session_for_app(core, &site, new, request.session_token.as_deref()).await?;
    Ok(TokenAnswer::new(session_access(core, &site.id, &session, None).await?, Some(refresh)))
}

async fn session_for_app(
    core: &Arc<Core>,
    site: &Arc<Site>,
    new: NewSession,
    session_token: Option<&str>,
) -> Result<(Session, String)> {
    let made = site
        .write_with(
            (core.clone(), site.clone(), session_token.map(str::to_owned), new),
            |tx, (core, site, session_token, new)| {
                boxed!({
                    let mut new = new.clone();
                    if let Some(token) = session_token {
                        match session::redeem_held_token(core, tx, site, token).await? {
                            Some(signed_on) if signed_on.member == new.member => {
                                new.visitor = new.visitor.or(signed_on.visitor);
                                new.scopes = Scopes::narrowed(new.scopes.as_ref(), signed_on.scopes.as_ref());
                            }
                            // A token of another member is used up all the same: an error would undo that.
                            _ => return Ok(None),
                        }
                    }
                    session::create(core, tx, site, Kind::Refresh, &new).await.map(Some)
                })
            },
        )
        .await
        .map_err(unknown_as(Code::OauthInvalidGrant))?;
    let (session, refresh) = made.ok_or_else(invalid_grant)?;
    Ok((session, refresh.expose().to_owned()))
}

/// A confidential client in its own name: an App caller. One of others holds what an owner has agreed to.
async fn grant_client_credentials(core: &Core, request: &TokenRequest) -> Result<TokenAnswer> {
    let client = grant_client(core, request).await?;
    if request.client_secret.is_none() {
        return Err(Fault::new(Code::OauthInvalidClient));
    }
    // A client is of one site: it is an instance of nothing else.
    if request.instance_id.as_deref().is_some_and(|it| it != client.site.as_str()) {
        return Err(invalid_grant());
    }
    let agreed = match client.is_third_party {
        true => instance::agreed(core, &client).await?,
        false => None,
    };
    let scopes = Scopes::narrowed(client.bound().as_ref(), agreed.as_ref());
    let scopes = Scopes::narrowed(scopes.as_ref(), request.scopes.as_ref());
    let grant = SessionId::from(core.world().uuid());
    let access = token::issue_app_access(core, &client.site, &client.id, &grant, scopes.as_ref()).await?;
    Ok(TokenAnswer::new(access, None))
}
