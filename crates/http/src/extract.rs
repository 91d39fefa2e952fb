//! Who asks, and from where: what handlers take as arguments.

use crate::{App, Problem};
use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{HeaderMap, header, request::Parts},
};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Fault};
use stoa_store::Site;

/// A request by a known caller to a known site. Without a valid token it is refused with 401.
pub struct Call {
    pub site: Arc<Site>,
    pub caller: Caller,
}

impl FromRequestParts<App> for Call {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let authorization = text(&parts.headers, "authorization").unwrap_or_default();
        let site_hint = text(&parts.headers, "wix-site-id");
        let known = app.identity.authenticate(Some(authorization), site_hint).await?;
        Ok(Self { site: app.store.site(&known.site).await?, caller: known.caller })
    }
}

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
        let peer =
            parts.extensions.get::<ConnectInfo<SocketAddr>>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |it| it.0.ip());
        let headers = &parts.headers;
        let is_proxied = app.settings.trusts(peer);
        let forwarded = |name: &str| if is_proxied { text(headers, name) } else { None };

        let address =
            forwarded("x-forwarded-for").and_then(|it| client_address(it, app)).unwrap_or(peer).to_canonical();
        let authority = forwarded("x-forwarded-host")
            .or_else(|| text(headers, "host"))
            .or_else(|| parts.uri.authority().map(|it| it.as_str()))
            .unwrap_or("localhost");
        let is_https = match forwarded("x-forwarded-proto") {
            Some(scheme) => scheme.eq_ignore_ascii_case("https"),
            None => app.settings.tls,
        };
        let host = host_name(authority).to_ascii_lowercase();
        let origin = text(headers, "origin").map(str::to_owned);
        let (base_url, is_https) = match &app.settings.public_url {
            Some(url) => (url.clone(), url.starts_with("https:")),
            None if is_loopback(&host) || app.settings.tls || is_proxied => {
                (format!("{}://{authority}", if is_https { "https" } else { "http" }), is_https)
            }
            None => {
                return Err(Fault::because(
                    Code::SiteUnknown,
                    "this host name is not known; set public_url to serve names beyond loopback",
                ));
            }
        };
        Ok(Self { address, base_url, host, is_https, origin })
    }
}

/// The rightmost address that is not one of our proxies: what stands further left anyone may write.
fn client_address(list: &str, app: &App) -> Option<IpAddr> {
    let hops = list.split(',').rev().map(|it| it.trim().parse::<IpAddr>());
    let mut last = None;
    for hop in hops {
        let Ok(hop) = hop else { break };
        last = Some(hop);
        if !app.settings.trusts(hop) {
            break;
        }
    }
    last
}

fn host_name(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None => authority.split(':').next().unwrap_or(authority),
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

/// A header as text; a header that isn't text counts as missing.
pub fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// The value of a cookie.
pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|it| it.to_str().ok());
    all.flat_map(|it| it.split(';')).find_map(|it| {
        let (key, value) = it.trim().split_once('=')?;
        (key == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names() {
        assert_eq!(host_name("localhost:4400"), "localhost");
        assert_eq!(host_name("[::1]:4400"), "::1");
        assert!(is_loopback("127.7.7.7") && is_loopback("a.localhost") && is_loopback("::1"));
        assert!(!is_loopback("localhost.example.org"));
    }
}
