//! A browser: what it brings along with a request, the pages it makes passkeys for, and the cookies that an answer changes.

use ring::digest::{SHA256, digest};
use std::net::IpAddr;
use stoa_kernel::Secret;
use url::{Host, Url};

/// What a browser brings along with a request to the account pages.
#[derive(Debug, Clone)]
pub struct Browser {
    /// Cookies of members' sessions, one a site at most: several sites may share a host.
    pub session: Vec<String>,
    /// Cookies of operators, who run sites; one a site at most.
    pub operator: Vec<String>,
    /// Cookie that binds flows to this browser.
    pub flow: Option<String>,
    /// Cookie by which the browser is known again after its session.
    pub device: Option<String>,
    /// What the browser says it is.
    pub user_agent: Option<String>,
    /// The first language that the browser asks for (BCP 47).
    pub language: Option<String>,
    pub address: IpAddr,
    /// This server's own address, without final slash: addresses of its own pages begin with it.
    pub base_url: String,
    /// Whether the page is at a host that a site has for itself, and not at that of `base_url`, whose cookies it does not have: where an
    /// identity provider sends browsers back it would be another one.
    pub is_at_sites_host: bool,
    /// Whose passkeys these pages take; nothing where browsers have none.
    pub relying_party: Option<RelyingParty>,
}

/// The pages on which passkeys are made and shown. Several sites may have the same; whose passkey it is, its user handle says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelyingParty {
    /// Scheme, host and port, as browsers write them.
    origin: String,
    /// The host.
    id: String,
}

impl RelyingParty {
    /// That of the pages below an address. None for those on which browsers have no passkeys: without TLS, but for this machine's own
    /// `localhost`, or by a number in the place of a host.
    pub fn of(base_url: &str) -> Option<Self> {
        let url = Url::parse(base_url).ok()?;
        let Some(Host::Domain(host)) = url.host() else { return None };
        let is_local = host == "localhost" || host.ends_with(".localhost");
        let is_secure = url.scheme() == "https" || (url.scheme() == "http" && is_local);
        is_secure.then(|| Self { origin: url.origin().ascii_serialization(), id: host.to_owned() })
    }

    /// Whether its pages are at this host.
    pub fn is_host(&self, host: &str) -> bool {
        self.id.eq_ignore_ascii_case(host)
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// What authenticators call it.
    pub(crate) fn hash(&self) -> Vec<u8> {
        digest(&SHA256, self.id.as_bytes()).as_ref().to_vec()
    }
}

/// What becomes of a cookie.
#[derive(Debug, Default)]
pub enum Change {
    #[default]
    Keep,
    Set(Secret),
    /// No one is signed in any more at the site with this number.
    Clear(i64),
}

/// The cookies that an answer changes.
#[derive(Debug, Default)]
pub struct Cookies {
    pub session: Change,
    pub operator: Change,
    pub flow: Change,
    pub device: Change,
}

/// A flow that has begun: its token is shown in the address of its page, `/account/flow/{token}`.
#[derive(Debug)]
pub struct Beginning {
    pub token: Secret,
    /// Where the browser goes before that page: to an identity provider.
    pub onward: Option<String>,
    pub cookies: Cookies,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_and_id_of_an_address() {
        let of = |url: &str| RelyingParty::of(url).map(|it| (it.origin, it.id));
        let is = |origin: &str, id: &str| Some((origin.to_owned(), id.to_owned()));
        assert_eq!(of("https://www.Example.org"), is("https://www.example.org", "www.example.org"));
        assert_eq!(of("https://example.org:443"), is("https://example.org", "example.org"));
        assert_eq!(of("https://example.org:8443/at"), is("https://example.org:8443", "example.org"));
        assert_eq!(of("http://localhost:4400"), is("http://localhost:4400", "localhost"));
        for none in ["http://example.org", "https://192.0.2.1", "http://127.0.0.1:4400", "https://[::1]", "", "x"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
