//! Redirect sessions: a short-lived address of this server that a browser is sent to in order to sign
//! in or out (identity.md 5.1, 5.2, 5.4).
//!
//! The address holds nothing but a random token; what it is for is stored. `authorize` and `logout`
//! say what happens when a browser opens it.

mod pages;
pub mod request;

use crate::{
    Core, Identity,
    address::{self, Address},
    authorize::Authorization,
    client::{self, Client},
    defence::throttle::Tried,
    session,
    token::{self, Kind},
};
pub use pages::Pages;
use request::{AuthRequest, Intent, RedirectRequest, ResponseMode};
use serde_json::{Value, json};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, ClientId, Code, Fault, MemberId, Millis, Result, Secret, SessionId, TokenHash, VisitorId};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Life of a redirect session.
pub const LIFE: Millis = 10 * 60_000;

/// The path of [`RedirectSession::full_url`].
const PATH: &str = "/_api/oauth2/authorize";

/// What a redirect session is for, as it is stored.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Plan {
    Auth(Authorization),
    Login {
        client: Option<ClientId>,
        return_url: Option<String>,
    },
    /// One of the site's own pages.
    Page {
        url: String,
    },
    /// `session`: that of the token with which it was asked for.
    Logout {
        session: Option<SessionId>,
        member: Option<MemberId>,
        return_url: Option<String>,
    },
}

/// A made redirect session.
#[derive(Debug)]
pub struct RedirectSession {
    pub id: String,
    /// The address without its query.
    pub endpoint: String,
    /// The value of the query's only parameter, `session`.
    pub token: Secret,
    /// The `sessionToken` of the request.
    pub session_token: Option<Secret>,
}

/// Who asks for a redirect session, and from where.
#[derive(Debug)]
pub struct Asking<'a> {
    pub caller: &'a Caller,
    pub address: IpAddr,
    /// The `Origin` header.
    pub origin: Option<&'a str>,
    /// This server's own address, without final slash.
    pub base_url: &'a str,
}

impl RedirectSession {
    pub fn full_url(&self) -> String {
        format!("{}?session={}", self.endpoint, self.token.expose())
    }

    /// The answer of 5.2, without the wrapping `redirectSession`.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "fullUrl": self.full_url(),
            "urlDetails": { "endpoint": self.endpoint, "searchParams": { "session": self.token.expose() } },
            "sessionToken": self.session_token.as_ref().map_or("", Secret::expose),
        })
    }
}

impl Identity {
    /// Makes a redirect session.
    ///
    /// A `sessionToken` is used up here: the redirect session stands for it from now on.
    ///
    /// # Errors
    /// [`Code::Validation`] for what the request itself lacks; [`Code::ClientUnknown`];
    /// [`Code::RedirectRefused`] for an address or origin that is not the client's;
    /// [`Code::NotBuilt`] for pages of applications that this server does not have;
    /// [`Code::Throttled`], but never for apps.
    pub async fn redirect_session_create(
        &self,
        site: &Arc<Site>,
        asking: Asking<'_>,
        body: &Value,
    ) -> Result<RedirectSession> {
        let core = &self.core;
        let request = RedirectRequest::parse(body)?;
        if !asking.caller.is_privileged() {
            let _tried = core.throttle.attempt(Tried::Flow, core.now(), &site.id, asking.address, "")?;
        }
        let post_flow = request.callbacks.post_flow_url.as_deref();
        let (plan, session_token) = match request.intent {
            Intent::Auth(mut auth) => {
                let client = client_of(core, site, &auth.client).await?;
                let session_token = auth.session_token.take();
                let origin = asking.origin.or(request.origin.as_deref());
                let visitor = match asking.caller {
                    Caller::Visitor { id, .. } => Some(id.clone()),
                    _ => None,
                };
                let plan = Plan::Auth(authorization(auth, &client, origin, visitor)?);
                (plan, session_token)
            }
            Intent::Login => {
                let client = match client_of_caller(asking.caller) {
                    Some(id) => Some(client_of(core, site, id).await?),
                    None => None,
                };
                let return_url = return_url(client.as_deref(), post_flow, asking.base_url)?;
                (Plan::Login { client: client.map(|it| it.id.clone()), return_url }, None)
            }
            Intent::Logout { client } => {
                let client = client_of(core, site, &client).await?;
                let return_url = return_url(Some(&client), post_flow, asking.base_url)?;
                let (session, member) = match asking.caller {
                    Caller::Member { id, session, .. } => (Some(session.clone()), Some(id.clone())),
                    _ => (None, None),
                };
                (Plan::Logout { session, member, return_url }, None)
            }
            Intent::Elsewhere(intent, said) => {
                let client = match client_of_caller(asking.caller) {
                    Some(id) => Some(client_of(core, site, id).await?),
                    None => None,
                };
                for (_, url) in &request.callbacks.all {
                    return_url(client.as_deref(), Some(url), asking.base_url)?;
                }
                let callbacks = request.callbacks.all.into_iter().map(|(name, url)| (name.to_owned(), url));
                let more = callbacks.chain(request.parameters);
                let url = pages::of_site(site).await?.url(intent, &said, more)?;
                (Plan::Page { url }, None)
            }
        };
        let token = token::opaque(core.world(), Kind::Redirect, site.number);
        let stored = serde_json::to_string(&plan).map_err(Fault::internal)?;
        let (me, place, hash) = (core.clone(), site.clone(), TokenHash::of(token.expose()));
        let (taken, expires) = (session_token.clone(), core.now() + LIFE);
        site.write(move |tx| {
            let (me, site, hash) = (me.clone(), place.clone(), hash.clone());
            let (stored, taken) = (stored.clone(), taken.clone());
            boxed!({
                // A token that is not good counts as none: the browser is then asked to sign in.
                let member = match &taken {
                    Some(it) => session::redeem_token(&me, tx, &site, it.expose()).await?,
                    None => None,
                };
                let sql = "insert into stoa.redirect_session (site, hash, plan, member, expires) \
                           values ($1, $2, $3, $4, $5)";
                let member = member.as_ref().map(|it| &it.0);
                tx.send(sql, params![&site.id, &hash, stored, member, expires]).await?;
                Ok(())
            })
        })
        .await?;
        Ok(RedirectSession {
            id: core.world().uuid(),
            endpoint: format!("{}{PATH}", asking.base_url),
            token,
            session_token,
        })
    }
}

/// What a redirect session is for, while it lives.
///
/// # Errors
/// [`Code::LinkInvalid`].
pub(crate) async fn get(core: &Core, site: &Arc<Site>, token: &str) -> Result<Plan> {
    let (id, hash, now) = (site.id.clone(), TokenHash::of(token), core.now());
    let stored: Option<String> = site
        .read(stoa_store::Lane::Point, move |tx| {
            boxed!({
                let sql = "select plan from stoa.redirect_session where site = $1 and hash = $2 and expires > $3";
                Ok(tx.row(sql, &params![&id, &hash, now], |row| row.get(0)).await?)
            })
        })
        .await?;
    let stored = stored.ok_or_else(|| Fault::new(Code::LinkInvalid))?;
    serde_json::from_str(&stored).map_err(Fault::internal)
}

/// A client of this site.
///
/// # Errors
/// [`Code::ClientUnknown`], also for a client of another site.
pub(crate) async fn client_of(core: &Core, site: &Site, id: &ClientId) -> Result<Arc<Client>> {
    let client = client::get(core, id).await?;
    if client.site == site.id { Ok(client) } else { Err(Fault::new(Code::ClientUnknown)) }
}

/// A return address, when it may be used: of the client's origins, or of this server itself.
///
/// # Errors
/// [`Code::RedirectRefused`].
pub(crate) fn return_url(client: Option<&Client>, url: Option<&str>, base_url: &str) -> Result<Option<String>> {
    let Some(url) = url.filter(|it| !it.is_empty()) else { return Ok(None) };
    if client.is_some_and(|it| it.allows_return(url)) {
        return Ok(Some(url.to_owned()));
    }
    match address::same_origin(url, [base_url]) {
        Some(_) => Ok(Some(url.to_owned())),
        None => Err(Fault::new(Code::RedirectRefused)),
    }
}

/// The first use of a redirect session, inside a transaction: whether it was unused, and the member who
/// had just signed in when it was made.
pub(crate) async fn take(
    tx: &mut Tx<'_>,
    site: &Site,
    token: &TokenHash,
    now: Millis,
) -> Result<(bool, Option<MemberId>)> {
    let sql = "update stoa.redirect_session set used = $1 where site = $2 and hash = $3 and used is null \
               and expires > $1 returning member";
    let found = tx.row(sql, &params![now, &site.id, token], |row| row.get::<Option<String>>(0)).await?;
    Ok((found.is_some(), found.flatten().map(MemberId::from)))
}

fn client_of_caller(caller: &Caller) -> Option<&ClientId> {
    match caller {
        Caller::Visitor { client, .. } | Caller::Member { client, .. } => client.as_ref(),
        Caller::User { .. } | Caller::App { .. } => None,
    }
}

/// Checks an authorization request against its client.
///
/// # Errors
/// [`Code::RedirectRefused`].
pub(crate) fn authorization(
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
    // Nobody is redirected, so the origin of the asking page is where the answer goes (5.3). The header
    // can't be forged by a page; outside browsers a client with a single origin needs none.
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
    Ok(Authorization {
        client: client.id.clone(),
        // In the direct login the code is exchanged without an address (trap 16).
        redirect_uri: request.redirect_uri.filter(|_| request.mode != ResponseMode::WebMessage),
        mode: request.mode,
        target,
        state: request.state,
        challenge: Some(request.challenge).filter(|it| !it.is_empty()),
        prompt: request.prompt,
        visitor,
        rotates: client.secret_hash.is_some(),
    })
}
