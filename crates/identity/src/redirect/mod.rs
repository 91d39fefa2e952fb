//! Redirect sessions: a short-lived address of this server that a browser is sent to in order to sign
//! in or out (docs/protocol/identity.md §5.1, §5.2, §5.4).
//!
//! The address holds nothing but a random token; what it is for is stored. `authorize` and `logout`
//! say what happens when a browser opens it.

mod log_setting;
mod pages;
pub(crate) mod plan;
pub mod request;

use crate::{
    Identity, client,
    defence::throttle::AttemptKind,
    log::PeopleEntry,
    oauth::authorization,
    provider::connection,
    redirect::plan::{Logout, Plan},
    session,
    token::{self, Kind},
};
pub use pages::Pages;
use request::{Intent, RedirectRequest};
use serde_json::{Value, json};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, ClientId, EntryKind, EventActor, Fault, Millis, Result, Secret, TokenHash, Violation};
use stoa_sql::params;
use stoa_store::{Site, boxed};

/// Life of a redirect session.
pub const LIFE: Millis = 10 * 60_000;

/// The path of [`RedirectSession::full_url`].
const PATH: &str = "/_api/oauth2/authorize";

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

/// Who requests a redirect session, and from where.
#[derive(Debug)]
pub struct RequestContext<'a> {
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
    /// [`Code::PageNotSet`] for pages that the site has not set;
    /// [`Code::Throttled`], but never for apps.
    pub async fn redirect_session_create(
        &self,
        site: &Arc<Site>,
        context: RequestContext<'_>,
        body: &Value,
    ) -> Result<RedirectSession> {
        let core = &self.core;
        let request = RedirectRequest::parse(body)?;
        if !context.caller.is_privileged() {
            let _permit = core.throttle.attempt(AttemptKind::Flow, core.now(), &site.id, context.address, "")?;
        }
        let post_flow = request.callbacks.post_flow_url.as_deref();
        let (plan, session_token) = match request.intent {
            Intent::Auth(mut auth) => {
                let client = client::of_site(core, site, &auth.client).await?;
                let session_token = auth.session_token.take();
                if let Some(idp) = auth.idp.take() {
                    // Showing the password page in its place would sign in other people than are asked for.
                    let found = connection::named(site, &idp).await?;
                    let why = "this site signs in with no such provider";
                    let refused = || Violation::new("auth.authRequest.idp", "FIELD_NOT_ALLOWED", why);
                    auth.idp = Some(found.ok_or_else(|| Fault::invalid(vec![refused()]))?.id);
                }
                let origin = context.origin.or(request.origin.as_deref());
                let visitor = match context.caller {
                    Caller::Visitor { id, .. } => Some(id.clone()),
                    _ => None,
                };
                let plan = Plan::Auth(authorization::check(auth, &client, origin, visitor)?);
                (plan, session_token)
            }
            Intent::Login => {
                let client = match client_of_caller(context.caller) {
                    Some(id) => Some(client::of_site(core, site, id).await?),
                    None => None,
                };
                let return_url = client::return_url(client.as_deref(), post_flow, context.base_url)?;
                (Plan::Login { client: client.map(|it| it.id.clone()), return_url }, None)
            }
            Intent::Logout { client } => {
                let client = client::of_site(core, site, &client).await?;
                let return_url = client::return_url(Some(&client), post_flow, context.base_url)?;
                let (session, member) = match context.caller {
                    Caller::Member { id, session, .. } => (Some(session.clone()), Some(id.clone())),
                    _ => (None, None),
                };
                (Plan::Logout(Logout { session, member, return_url }), None)
            }
            Intent::ExternalPage(intent, values) => {
                let client = match client_of_caller(context.caller) {
                    Some(id) => Some(client::of_site(core, site, id).await?),
                    None => None,
                };
                for (_, url) in &request.callbacks.all {
                    client::return_url(client.as_deref(), Some(url), context.base_url)?;
                }
                let callbacks = request.callbacks.all.into_iter().map(|(name, url)| (name.to_owned(), url));
                let more = callbacks.chain(request.parameters);
                let url = pages::of_site(site).await?.url(intent, &values, more)?;
                (Plan::Page { url }, None)
            }
        };
        let token = token::opaque(core.world(), Kind::Redirect, site.number);
        let (id, kind) = (core.world().uuid(), EntryKind::RedirectSessionCreated);
        let entry = PeopleEntry { kind, actor: EventActor::of(context.caller), now: core.now() };
        let told = log_setting::is_on(core, site).await?.then(|| (entry, id.clone()));
        let (hash, plan) = (TokenHash::of(token.expose()), serde_json::to_string(&plan).map_err(Fault::internal)?);
        let expires = core.now() + LIFE;
        site.write_with(
            (core.clone(), site.clone(), hash, plan, session_token.clone(), told),
            move |tx, (core, site, hash, plan, taken, told)| {
                boxed!({
                    // A token that is not good counts as none: the browser is then asked to sign in.
                    let signed_in = match taken {
                        Some(it) => session::redeem_token(core, tx, site, it.expose()).await?,
                        None => None,
                    };
                    let sql = "insert into stoa.redirect_session (site, hash, plan, member, expires, remembers) \
                           values ($1, $2, $3, $4, $5, $6)";
                    let member = signed_in.as_ref().map(|it| &it.member);
                    let remembers = signed_in.as_ref().is_some_and(|it| it.remembers);
                    tx.send(sql, params![&site.id, hash, plan, member, expires, i64::from(remembers)]).await?;
                    match told.clone() {
                        Some((entry, id)) => entry.put_ids(tx, &site.id, vec![id]).await,
                        None => Ok(()),
                    }
                })
            },
        )
        .await?;
        Ok(RedirectSession { id, endpoint: format!("{}{PATH}", context.base_url), token, session_token })
    }
}

fn client_of_caller(caller: &Caller) -> Option<&ClientId> {
    match caller.bare() {
        Caller::Visitor { client, .. } | Caller::Member { client, .. } => client.as_ref(),
        Caller::User { .. } | Caller::App { .. } | Caller::Scoped(_) => None,
    }
}
