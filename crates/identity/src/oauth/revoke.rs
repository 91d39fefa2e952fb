//! Revocation of tokens (RFC 7009), and introspection (RFC 7662).

use crate::{
    Core, Identity,
    client::{self, Client},
    oauth::{
        access::{
            TokenAnswer, grant_client, invalid_grant, refreshing_client, require_secret, required, session_caller,
            unknown_as,
        },
        info,
        instance::{self, is_instance},
        request::TokenRequest,
        rotation,
    },
    session::{self, Session, SessionSelector},
    token::{self, Kind, authenticate, revocation, site_names},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, ClientId, Code, Fault, Result, SessionId};
use stoa_store::Site;

impl Identity {
    /// Revokes a token, and with it the session that it was given for (RFC 7009 section 2.1): other clients in the
    /// same browser, and the browser itself, stay signed in. Of an application it revokes what that got by the
    /// installation. One that is not good (any more) is no error. Each holder of the token may revoke it, except
    /// that a client with a secret must show it, and another client's token is left alone.
    ///
    /// # Errors
    /// [`Code::OauthInvalidRequest`]; [`Code::OauthInvalidClient`]; [`Code::OauthTokenType`] for tokens
    /// of visitors, which nothing stands behind, and for API keys.
    pub async fn token_revoke(&self, request: &TokenRequest) -> Result<()> {
        let core = &self.core;
        let token = required(&request.token, "token")?;
        let client = named_client(core, request).await?;
        let is_own = |of: Option<&ClientId>| match (&client, of) {
            (Some(client), Some(of)) => client.id == *of,
            _ => true,
        };
        if let Some(site) = refreshed_site(core, token).await? {
            let session = rotation::session_by_refresh(core, &site, token).await?;
            return match session.filter(|it| is_own(it.client.as_ref())) {
                Some(session) if has_client(core, session.client.as_ref(), request).await? => {
                    session::end_all(core, &site, SessionSelector::One(session.id)).await
                }
                _ => Ok(()),
            };
        }
        if token::read_visitor_refresh(core, token).is_some() {
            return Err(Fault::new(Code::OauthTokenType));
        }
        if let Some(instance) = instance::read(core, token) {
            return match is_own(Some(&instance.client)) {
                true => end_grant(core, Some(&instance.client), &instance.id, request).await,
                false => Ok(()),
            };
        }
        let authenticated = match authenticate::check(core, token).await {
            Ok(authenticated) => authenticated,
            Err(fault) if fault.code() == Code::Unauthenticated => return Ok(()),
            Err(fault) => return Err(fault),
        };
        match authenticated.caller.bare() {
            Caller::Member { session, .. } => {
                let client = authenticated.client.as_ref();
                if !is_own(client) || !has_client(core, client, request).await? {
                    return Ok(());
                }
                let site = core.store.site(&authenticated.site).await?;
                session::end_all(core, &site, SessionSelector::One(session.clone())).await
            }
            Caller::App { .. } => match token::read_access(core, token).and_then(|it| it.grant) {
                Some(grant) if is_own(authenticated.client.as_ref()) => {
                    end_grant(core, authenticated.client.as_ref(), &grant, request).await
                }
                Some(_) => Ok(()),
                None => Err(Fault::new(Code::OauthTokenType)),
            },
            _ => Err(Fault::new(Code::OauthTokenType)),
        }
    }

    /// What a token is, for a client with a secret or the holder of an API key. Tokens of other sites are
    /// not active.
    ///
    /// # Errors
    /// [`Code::OauthInvalidClient`] for other callers.
    pub async fn token_introspect(&self, request: &TokenRequest, authorization: Option<&str>) -> Result<Value> {
        let core = &self.core;
        let token = required(&request.token, "token")?;
        let site = match named_client(core, request).await? {
            Some(client) if client.secret_hash.is_some() => {
                require_secret(&client, request)?;
                client.site.clone()
            }
            _ => match authenticate::authenticate(core, authorization, None).await {
                Ok(it) if matches!(it.caller, Caller::App { .. }) => it.site,
                _ => return Err(Fault::new(Code::OauthInvalidClient)),
            },
        };
        let inactive = json!({ "active": false });
        if let Some(own_site) = refreshed_site(core, token).await? {
            let session = rotation::session_by_refresh(core, &own_site, token).await?.filter(|_| own_site.id == site);
            return match session {
                Some(it) if rotation::is_good(core, &own_site, &it, token).await? => refresh_info(core, &it).await,
                _ => Ok(inactive),
            };
        }
        let info = info::describe(core, token).await?;
        if info["active"] != true || info["siteId"] != site.as_str() {
            return Ok(inactive);
        }
        let number = |name: &str| info[name].as_str().and_then(|it| it.parse::<i64>().ok());
        let mut described = json!({
            "active": true, "token_type": "Bearer", "sub": info["subjectId"], "client_id": info.get("clientId"),
            "exp": number("exp"), "iat": number("iat"), "iss": site_names::issuer(core, &site).await?,
            "aud": site, "subject_type": info["subjectType"],
        });
        if let Some(scope) = info.get("scope") {
            described["scope"] = scope.clone();
        }
        if let Some(act) = info.get("act") {
            described["act"] = act.clone();
        }
        Ok(described)
    }
}

/// A refresh token of a session that is good.
async fn refresh_info(core: &Core, session: &Session) -> Result<Value> {
    let caller = match session_caller(core, session).await {
        // With the client its tokens have ended.
        Err(fault) if fault.code() == Code::OauthInvalidGrant => return Ok(json!({ "active": false })),
        caller => caller?,
    };
    let mut info = json!({
        "active": true, "token_type": "refresh_token", "sub": session.member, "client_id": session.client,
        "sid": session.id,
    });
    if let Some(scopes) = caller.scopes() {
        info["scope"] = json!(scopes.to_string());
    }
    Ok(info)
}

/// Refuses what an application got, when its secret is shown.
async fn end_grant(core: &Core, client: Option<&ClientId>, grant: &SessionId, request: &TokenRequest) -> Result<()> {
    if !has_client(core, client, request).await? {
        return Ok(());
    }
    let expires = if is_instance(grant) { revocation::NEVER } else { revocation::end(core) };
    revocation::revoke_until(core, std::slice::from_ref(grant), expires).await?;
    revocation::announce_all(core).await
}

/// The same access token without what binds it to a browser's session (docs/protocol/identity.md §4.1). Ours are not
/// bound, so the token that is good stays as it is, for as long as it has left.
///
/// # Errors
/// [`Code::OauthInvalidGrant`]; [`Code::OauthInvalidClient`] for a wrong secret.
pub(crate) async fn strip(core: &Core, request: &TokenRequest) -> Result<TokenAnswer> {
    let token = required(&request.access_token, "access_token")?;
    let authenticated = authenticate::check(core, token).await.map_err(|it| match it.code() {
        Code::Unauthenticated => invalid_grant(),
        _ => it,
    })?;
    if let Some(secret) = &request.client_secret {
        let id = authenticated.client.as_ref().ok_or_else(invalid_grant)?;
        let client = client::get(core, id).await.map_err(unknown_as(Code::OauthInvalidGrant))?;
        if !client.has_secret(secret) {
            return Err(Fault::new(Code::OauthInvalidClient));
        }
    }
    let claims = token::read_access(core, token).ok_or_else(invalid_grant)?;
    let left = (claims.expires - core.now().div_euclid(1000)).max(0);
    let scopes = claims.caller.scopes().cloned();
    Ok(TokenAnswer::new(token::Access { token: token.to_owned(), expires_in: left, scopes }, None))
}

/// The site of a member's refresh token, if it has the form of one and the site is there.
async fn refreshed_site(core: &Core, token: &str) -> Result<Option<Arc<Site>>> {
    match token::site_of(core, Kind::Refresh, token).await {
        Ok(site) => Ok(Some(site)),
        Err(fault) if fault.code() == Code::SiteUnknown => Ok(None),
        Err(fault) => Err(fault),
    }
}

async fn named_client(core: &Core, request: &TokenRequest) -> Result<Option<Arc<Client>>> {
    match &request.client_id {
        Some(_) => grant_client(core, request).await.map(Some),
        None => Ok(None),
    }
}

/// Whether the client of a token is there: with it its tokens have ended.
///
/// # Errors
/// [`Code::OauthInvalidClient`] when its secret isn't shown.
async fn has_client(core: &Core, client: Option<&ClientId>, request: &TokenRequest) -> Result<bool> {
    let Some(id) = client else { return Ok(true) };
    match refreshing_client(core, id, request).await {
        Err(fault) if fault.code() == Code::OauthInvalidGrant => Ok(false),
        client => client.map(|_| true),
    }
}
