//! Taking tokens back (RFC 7009) and asking about them (RFC 7662).

use crate::oauth::{TokenRequest, require_secret, required};
use crate::{
    Identity,
    authorize::install::is_instance,
    client::Client,
    session::Which,
    token::{Kind, revocation},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, ClientId, Code, Fault, Result, SessionId};
use stoa_store::Site;

impl Identity {
    /// Takes back a token, and with it the session that it was given for (RFC 7009 section 2.1): other clients in the
    /// same browser, and the browser itself, stay signed in. Of an application it takes back what that got by the
    /// installation. One that is not good (any more) is no error. Whoever has the token may take it back, except
    /// that a client with a secret must show it, and another client's token is left alone.
    ///
    /// # Errors
    /// [`Code::OauthInvalidRequest`]; [`Code::OauthInvalidClient`]; [`Code::OauthTokenType`] for tokens
    /// of visitors, which nothing stands behind, and for API keys.
    pub async fn token_revoke(&self, request: &TokenRequest) -> Result<()> {
        let token = required(&request.token, "token")?;
        let client = self.named_client(request).await?;
        let is_own = |of: Option<&ClientId>| match (&client, of) {
            (Some(client), Some(of)) => client.id == *of,
            _ => true,
        };
        if let Some(site) = self.refreshed_site(token).await? {
            let session = self.session_by_refresh(&site, token).await?;
            if let Some(session) = session.filter(|it| is_own(it.client.as_ref())) {
                self.secret_of(session.client.as_ref(), request).await?;
                self.sessions_end(&site, Which::One(session.id)).await?;
            }
            return Ok(());
        }
        if self.visitor_refresh_read(token).is_some() {
            return Err(Fault::new(Code::OauthTokenType));
        }
        if let Some(instance) = self.instance_read(token) {
            return match is_own(Some(&instance.client)) {
                true => self.grant_end(Some(&instance.client), &instance.id, request).await,
                false => Ok(()),
            };
        }
        let known = match self.check(token).await {
            Ok(known) => known,
            Err(fault) if fault.code() == Code::Unauthenticated => return Ok(()),
            Err(fault) => return Err(fault),
        };
        match &known.caller {
            Caller::Member { session, .. } if is_own(known.client.as_ref()) => {
                self.secret_of(known.client.as_ref(), request).await?;
                let site = self.core.store.site(&known.site).await?;
                self.sessions_end(&site, Which::One(session.clone())).await
            }
            Caller::Member { .. } => Ok(()),
            Caller::App { .. } => match self.access_read(token).and_then(|it| it.grant) {
                Some(grant) if is_own(known.client.as_ref()) => {
                    self.grant_end(known.client.as_ref(), &grant, request).await
                }
                Some(_) => Ok(()),
                None => Err(Fault::new(Code::OauthTokenType)),
            },
            _ => Err(Fault::new(Code::OauthTokenType)),
        }
    }

    /// Refuses what an application got, when its secret is shown.
    async fn grant_end(&self, client: Option<&ClientId>, grant: &SessionId, request: &TokenRequest) -> Result<()> {
        match self.secret_of(client, request).await {
            // With the client its tokens have ended.
            Err(fault) if fault.code() == Code::OauthInvalidGrant => return Ok(()),
            shown => shown?,
        }
        let expires = if is_instance(grant) { revocation::NEVER } else { self.revocation_end() };
        self.revoke_until(std::slice::from_ref(grant), expires).await
    }

    /// What a token is, for a client with a secret or the holder of an API key. Tokens of other sites are
    /// not active.
    ///
    /// # Errors
    /// [`Code::OauthInvalidClient`] for anybody else.
    pub async fn token_introspect(&self, request: &TokenRequest, authorization: Option<&str>) -> Result<Value> {
        let token = required(&request.token, "token")?;
        let site = match self.named_client(request).await? {
            Some(client) if client.secret_hash.is_some() => {
                require_secret(&client, request)?;
                client.site.clone()
            }
            _ => match self.authenticate(authorization, None).await {
                Ok(it) if matches!(it.caller, Caller::App { .. }) => it.site,
                _ => return Err(Fault::new(Code::OauthInvalidClient)),
            },
        };
        let inactive = json!({ "active": false });
        if let Some(place) = self.refreshed_site(token).await? {
            let session = self.session_by_refresh(&place, token).await?.filter(|_| place.id == site);
            return Ok(match session {
                Some(it) if self.refresh_is_good(&place, &it, token).await? => {
                    json!({ "active": true, "token_type": "refresh_token", "sub": it.member, "client_id": it.client, "sid": it.id })
                }
                _ => inactive,
            });
        }
        let info = self.token_info(token).await?;
        if info["active"] != true || info["siteId"] != site.as_str() {
            return Ok(inactive);
        }
        let number = |name: &str| info[name].as_str().and_then(|it| it.parse::<i64>().ok());
        Ok(json!({
            "active": true, "token_type": "Bearer", "sub": info["subjectId"], "client_id": info.get("clientId"),
            "exp": number("exp"), "iat": number("iat"), "aud": site, "subject_type": info["subjectType"],
        }))
    }

    /// The same access token without what binds it to a browser's session (identity.md 4.1). Ours are not
    /// bound, so the token that is good stays as it is, for as long as it has left.
    ///
    /// # Errors
    /// [`Code::OauthInvalidGrant`]; [`Code::OauthInvalidClient`] for a wrong secret.
    pub(crate) async fn grant_strip(&self, request: &TokenRequest) -> Result<super::TokenAnswer> {
        let token = required(&request.access_token, "access_token")?;
        let known = self.check(token).await.map_err(|it| match it.code() {
            Code::Unauthenticated => super::invalid_grant(),
            _ => it,
        })?;
        if let Some(secret) = &request.client_secret {
            let id = known.client.as_ref().ok_or_else(super::invalid_grant)?;
            let client = self.client_get(id).await.map_err(super::unknown_as(Code::OauthInvalidGrant))?;
            if !client.has_secret(secret) {
                return Err(Fault::new(Code::OauthInvalidClient));
            }
        }
        let claims = self.access_read(token).ok_or_else(super::invalid_grant)?;
        let left = (claims.expires - self.now().div_euclid(1000)).max(0);
        Ok(super::TokenAnswer::new(crate::token::Access { token: token.to_owned(), expires_in: left }, None))
    }

    /// The site of a member's refresh token, if it has the form of one and the site is there.
    async fn refreshed_site(&self, token: &str) -> Result<Option<Arc<Site>>> {
        match self.site_of(Kind::Refresh, token).await {
            Ok(site) => Ok(Some(site)),
            Err(fault) if fault.code() == Code::SiteUnknown => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    async fn named_client(&self, request: &TokenRequest) -> Result<Option<Arc<Client>>> {
        match &request.client_id {
            Some(_) => self.grant_client(request).await.map(Some),
            None => Ok(None),
        }
    }

    async fn secret_of(&self, client: Option<&ClientId>, request: &TokenRequest) -> Result<()> {
        match client {
            Some(id) => self.refreshing_client(id, request).await,
            None => Ok(()),
        }
    }
}
