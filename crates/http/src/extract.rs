//! Who sends a request, and from where: what handlers take as arguments.

use crate::{App, Problem, authority::Authority, traffic::Route};
use axum::{
    body::Body,
    extract::{ConnectInfo, FromRequestParts, Request},
    http::{HeaderMap, header, request::Parts},
};
use cookie::Cookie;
use serde_json::{Value, json};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};
use stoa_identity::Identity;
use stoa_kernel::{Caller, Code, Fault, Millis, Network, SessionId, SiteId, UserId};
use stoa_store::{Credential, Site};

/// A request by a known caller to a known site. Without a valid token it is refused with 401, with one whose scopes
/// don't open the route with 403.
pub struct Call {
    pub site: Arc<Site>,
    pub caller: Caller,
    /// The path of the route that it takes; empty where there is none.
    pub(crate) route: &'static str,
    /// Where it comes from; a trusted proxy's word for it when there is one.
    pub network: Network,
    /// When its token is not accepted any more; a key has no end.
    pub(crate) ends: Option<Millis>,
    /// What an application's token was given for.
    grant: Option<SessionId>,
    /// The owner of the site who acts as the caller.
    pub(crate) impersonator: Option<UserId>,
}

impl Call {
    /// What it was let in with, for work that goes on after it.
    pub(crate) fn credential(&self) -> Credential {
        Credential { caller: self.caller.clone(), grant: self.grant.clone() }
    }

    /// What reads that may take long take turns by.
    pub(crate) fn origin(&self) -> stoa_content::Origin {
        Some(self.network)
    }
}

impl FromRequestParts<App> for Call {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let authorization = text(&parts.headers, "authorization").unwrap_or_default();
        let site_hint = text(&parts.headers, "wix-site-id");
        let seen = *app.store.withdrawals().watch().borrow();
        let authenticated = app.identity.authenticate(Some(authorization), site_hint).await?;
        let (site, network) = (app.store.site(&authenticated.site).await?, Network::of(sender(parts, app)));
        let (route, ends, grant) = (parts.extensions.get::<Route>(), authenticated.ends, authenticated.grant);
        let impersonator = authenticated.caller.impersonator().map(|it| it.owner.clone());
        let caller = match route {
            Some(route) => route.opening.admit(route.is_read, authenticated.caller)?,
            // Items whose id was lost, or a call that isn't built: as where collections decide.
            None => authenticated.caller,
        };
        if let Some(route) = route.filter(|it| impersonator.is_some() && !it.is_read) {
            let call = format!("{} {}", parts.method, route.path);
            app.identity.impersonation_record(&site, &caller, &call, sender(parts, app)).await?;
        }
        stoa_content::let_in_by(seen, grant.as_ref());
        Ok(Self { site, caller, route: route.map_or("", |it| it.path), network, ends, grant, impersonator })
    }
}

/// Says in an answer that an owner acts as the caller, as RFC 8693 has it.
pub(crate) fn mark(answer: &mut Value, impersonator: Option<&UserId>) {
    if let Some(owner) = impersonator {
        answer["act"] = json!({ "sub": owner });
    }
}

/// What tells who asks, to be asked again later: the headers that [`Call`] looks at.
pub(crate) struct Authorization {
    header: Box<str>,
    site_hint: Option<Box<str>>,
    route: Route,
}

impl Authorization {
    /// The site and the caller as of now, as far as the route is open to them.
    ///
    /// # Errors
    /// As for [`Call`].
    pub(crate) async fn authenticate(&self, identity: &Identity) -> Result<(SiteId, Caller), Fault> {
        let authenticated = identity.authenticate(Some(&self.header), self.site_hint.as_deref()).await?;
        let caller = self.route.opening.admit(self.route.is_read, authenticated.caller)?;
        Ok((authenticated.site, caller))
    }
}

impl FromRequestParts<App> for Authorization {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let header = text(&parts.headers, "authorization").unwrap_or_default().into();
        let site_hint = text(&parts.headers, "wix-site-id").map(Into::into);
        let route = parts.extensions.get::<Route>().copied();
        let route = route.ok_or_else(|| Problem(Fault::internal("a call that has no route is asked again")))?;
        Ok(Self { header, site_hint, route })
    }
}

/// The head of a request, as extractors read it; the request stays whole.
pub(crate) fn parts_of(request: &Request) -> Parts {
    let mut parts = Request::new(Body::empty()).into_parts().0;
    (parts.uri, parts.headers) = (request.uri().clone(), request.headers().clone());
    if let Some(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        parts.extensions.insert(*peer);
    }
    if let Some(site) = request.extensions().get::<NamedSite>() {
        parts.extensions.insert(site.clone());
    }
    parts
}

/// The site that stood before the path; the edge took it off.
#[derive(Debug, Clone)]
pub(crate) struct NamedSite(pub SiteId);

/// Where a request comes from and how it reached us.
#[derive(Debug, Clone)]
pub struct RequestInfo {
    /// The person's address; a trusted proxy's word for it when there is one.
    pub address: IpAddr,
    /// What links are made from: `https://host[:port]`, without a final slash.
    pub base_url: String,
    /// The name under which we were asked, without port.
    pub host: String,
    pub is_https: bool,
    /// The `Origin` header.
    pub origin: Option<String>,
    /// The site that the address names.
    pub site: Option<SiteId>,
}

impl FromRequestParts<App> for RequestInfo {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        Ok(Self::of(parts, app)?)
    }
}

impl RequestInfo {
    /// # Errors
    /// Without a configured public URL only loopback names are believed.
    pub fn of(parts: &Parts, app: &App) -> Result<Self, Fault> {
        let peer = peer(parts);
        let headers = &parts.headers;
        let is_proxied = app.settings.trusts(peer);
        let forwarded = |name: &str| if is_proxied { last(headers, name) } else { None };

        let address = sender(parts, app);
        let given = forwarded("x-forwarded-host")
            .or_else(|| parts.uri.authority().map(|it| it.as_str()))
            .or_else(|| text(headers, "host"))
            .unwrap_or("localhost");
        let refused = || Fault::because(Code::SiteUnknown, "the host name is not valid");
        let authority = Authority::parse(given).ok_or_else(refused)?;
        let is_https = match forwarded("x-forwarded-proto") {
            Some(scheme) => scheme.eq_ignore_ascii_case("https"),
            None => app.settings.tls,
        };
        let origin = text(headers, "origin").map(str::to_owned);
        let (base_url, is_https) = match &app.settings.public_url {
            Some(url) => (url.clone(), url.starts_with("https:")),
            None if authority.is_loopback() || is_local(peer, headers) => {
                (format!("{}://{authority}", if is_https { "https" } else { "http" }), is_https)
            }
            None => {
                return Err(Fault::because(
                    Code::SiteUnknown,
                    "this host name is not known; set public_url to serve names beyond loopback",
                ));
            }
        };
        let site = parts.extensions.get::<NamedSite>().map(|it| it.0.clone());
        Ok(Self { address, base_url, host: authority.host, is_https, origin, site })
    }
}

impl RequestInfo {
    /// The site that a request is about which brings nothing that belongs to one: its address names it, or its host
    /// name shows it.
    ///
    /// # Errors
    /// [`Code::SiteUnknown`].
    pub(crate) async fn find_site(&self, app: &App) -> Result<Arc<Site>, Fault> {
        match &self.site {
            Some(id) => app.store.site(id).await,
            None => app.store.site_by_host(&self.host).await,
        }
    }

    /// Whether the host name was given to another site than this one.
    pub(crate) async fn is_host_of_another(&self, app: &App, site: &SiteId) -> Result<bool, Fault> {
        Ok(app.store.site_of_host(&self.host).await?.is_some_and(|it| it != *site))
    }
}

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The other end of the connection.
fn peer(parts: &Parts) -> IpAddr {
    parts.extensions.get::<ConnectInfo<SocketAddr>>().map_or(LOCALHOST, |it| it.0.ip()).to_canonical()
}

/// The address that a request is from; a trusted proxy's word for it when there is one.
pub(crate) fn sender(parts: &Parts, app: &App) -> IpAddr {
    let peer = peer(parts);
    let client = if app.settings.trusts(peer) { client_address(&parts.headers, app) } else { None };
    client.unwrap_or(peer)
}

/// Whether the request was made on this very machine: then a made-up name could only
/// mislead its own sender. What came through a proxy was made on another machine.
fn is_local(peer: IpAddr, headers: &HeaderMap) -> bool {
    const PROXIED: [&str; 4] = ["x-forwarded-for", "x-forwarded-host", "forwarded", "via"];
    peer.is_loopback() && !PROXIED.iter().any(|it| headers.contains_key(*it))
}

/// The rightmost address that is not one of our proxies: what stands further left anyone may write.
fn client_address(headers: &HeaderMap, app: &App) -> Option<IpAddr> {
    let lines: Vec<&str> = headers.get_all("x-forwarded-for").iter().filter_map(|it| it.to_str().ok()).collect();
    let mut found = None;
    for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        let Ok(hop) = hop.trim().parse::<IpAddr>() else { break };
        found = Some(hop.to_canonical());
        if !app.settings.trusts(hop) {
            break;
        }
    }
    found
}

/// The last value of a header that a proxy wrote: what stands before it anyone may have sent.
fn last<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let line = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    line.rsplit(',').next().map(str::trim)
}

/// A header as text; a header that isn't text counts as missing.
pub fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// The cookies that a request brings.
pub fn cookies(headers: &HeaderMap) -> impl Iterator<Item = Cookie<'_>> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(Cookie::split_parse).filter_map(Result::ok)
}

/// The value of a cookie.
pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    cookies(headers).find(|cookie| cookie.name() == name)?.value_raw()
}
