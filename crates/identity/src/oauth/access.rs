//! What every grant needs: the requesting client, its secret, and the form of the answer.

use crate::{
    Core,
    client::{self, Client},
    oauth::request::TokenRequest,
    session::Session,
    token::{self, Access},
};
use serde::Serialize;
use std::sync::Arc;
use stoa_kernel::{Caller, ClientId, Code, Fault, Result, Scopes, SiteId};

/// The answer of the token endpoint, in snake case as every client reads it (docs/protocol/identity.md §4.2).
#[derive(Debug, Clone, Serialize)]
pub struct TokenAnswer {
    pub access_token: String,
    pub token_type: &'static str,
    /// Seconds. Always there: without it a client's token never expires (docs/protocol/identity.md §21.8).
    pub expires_in: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl TokenAnswer {
    pub(crate) fn new(access: Access, refresh: Option<String>) -> Self {
        let mut scope = access.scopes.as_ref().map(Scopes::texts);
        if refresh.is_some() {
            scope.get_or_insert_default().push("offline_access".to_owned());
        }
        Self {
            access_token: access.token,
            token_type: "Bearer",
            expires_in: access.expires_in,
            scope: scope.map(|it| it.join(" ")),
            refresh_token: refresh,
        }
    }
}

/// The requesting client. A secret need not be sent, but one that is sent must be right.
pub(super) async fn grant_client(core: &Core, request: &TokenRequest) -> Result<Arc<Client>> {
    let id = required(&request.client_id, "client_id")?;
    let client = client::get(core, &ClientId::from(id)).await.map_err(unknown_as(Code::OauthInvalidClient))?;
    match &request.client_secret {
        Some(secret) if !client.has_secret(secret) => Err(Fault::new(Code::OauthInvalidClient)),
        _ => Ok(client),
    }
}

/// The client whose token is refreshed, whether or not the request names it.
pub(super) async fn refreshing_client(core: &Core, id: &ClientId, request: &TokenRequest) -> Result<Arc<Client>> {
    let client = client::get(core, id).await.map_err(unknown_as(Code::OauthInvalidGrant))?;
    require_secret(&client, request)?;
    Ok(client)
}

/// An access token in a member's session: what the session holds, never more than its client may, and no more than
/// the request asks for, should it name scopes.
pub(crate) async fn session_access(
    core: &Core,
    site: &SiteId,
    session: &Session,
    asked: Option<&Scopes>,
) -> Result<Access> {
    let caller = session_caller(core, session).await?.held_to(asked);
    token::issue_access(core, site, &caller, session.client.as_ref()).await
}

/// Who a member's session is for: held to what it holds, never more than its client may.
///
/// # Errors
/// [`Code::OauthInvalidGrant`] when the client was revoked.
pub(super) async fn session_caller(core: &Core, session: &Session) -> Result<Caller> {
    let bound = match &session.client {
        Some(id) => client::get(core, id).await.map_err(unknown_as(Code::OauthInvalidGrant))?.bound(),
        None => None,
    };
    Ok(session.caller().held_to(bound.as_ref()))
}

pub(super) fn required<'r>(value: &'r Option<String>, name: &str) -> Result<&'r str> {
    let value = value.as_deref().filter(|it| !it.is_empty());
    value.ok_or_else(|| Fault::because(Code::OauthInvalidRequest, format!("{name} is missing")))
}

/// A client that has a secret must show it where tokens of others are given out (RFC 6749 section 6).
pub(super) fn require_secret(client: &Client, request: &TokenRequest) -> Result<()> {
    let is_shown = request.client_secret.as_deref().is_some_and(|it| client.has_secret(it));
    match client.secret_hash.is_none() || is_shown {
        true => Ok(()),
        false => Err(Fault::new(Code::OauthInvalidClient)),
    }
}

pub(super) fn invalid_grant() -> Fault {
    Fault::new(Code::OauthInvalidGrant)
}

/// What is not there (any more) becomes `code`; a failing database stays what it is.
pub(super) fn unknown_as(code: Code) -> impl Fn(Fault) -> Fault {
    move |fault| match fault.code() {
        Code::SiteUnknown | Code::ClientUnknown | Code::MemberBlocked | Code::NotFound => {
            Fault::new(code).logged(format!("{fault:?}"))
        }
        _ => fault,
    }
}
