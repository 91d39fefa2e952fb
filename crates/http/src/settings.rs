//! How the server presents itself to the outside.

use crate::HttpLimits;
use ipnet::IpNet;
use std::net::IpAddr;

/// How the server is reached.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What links, issuer and cookies are made from, for example `https://www.example.org`, without
    /// a final slash. Without it the Host header is believed, on loopback only.
    pub public_url: Option<String>,
    /// Proxies whose `X-Forwarded-For`, `-Proto` and `-Host` are believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Whether this server itself speaks TLS.
    pub tls: bool,
    pub limits: HttpLimits,
}

impl Settings {
    /// Whether the server is meant to be reached by TLS alone.
    pub fn is_https(&self) -> bool {
        self.public_url.as_ref().map_or(self.tls, |it| it.starts_with("https:"))
    }

    pub fn trusts(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.trusted_proxies.iter().any(|it| it.contains(&peer))
    }
}
