//! What every handler can reach, and how the server presents itself to the outside.

use crate::apps::Compressed;
use ipnet::IpNet;
use std::{net::IpAddr, sync::Arc};
use stoa_content::Content;
use stoa_identity::Identity;
use stoa_kernel::World;
use stoa_store::Store;

/// The state of the router; cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Arc<Store>,
    pub world: World,
    pub identity: Identity,
    pub content: Content,
    pub settings: Arc<Settings>,
    /// What the pages' files look like compressed.
    pub compressed: Arc<Compressed>,
}

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

stoa_kernel::limits! {
    /// Limits of requests, whatever they are about.
    #[derive(Debug, Clone)]
    pub struct HttpLimits {
        /// Bytes of a request's body, of a bulk call above all (413, WDE0109).
        body_bytes: usize = 4_194_304, 65_536..=67_108_864;
    }
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
