//! For whom passkeys are made: the account pages.

use ring::digest::{SHA256, digest};
use stoa_kernel::{MemberId, SiteId};
use url::{Host, Url};

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

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// What authenticators call it.
    pub(super) fn hash(&self) -> Vec<u8> {
        digest(&SHA256, self.id.as_bytes()).as_ref().to_vec()
    }
}

/// What the passkeys of a member have as name of their user: 16 bytes of the site and 32 of site and member. It says nothing of the
/// person, and no two sites have the same, so on a host of several one's passkeys put none of another's away.
pub(super) fn user_handle(site: &SiteId, member: &MemberId) -> Vec<u8> {
    let of = |value: serde_json::Value| digest(&SHA256, value.to_string().as_bytes()).as_ref().to_vec();
    let (mut handle, person) = (of(serde_json::json!(["site", site])), of(serde_json::json!(["member", site, member])));
    handle.truncate(16);
    handle.extend(person);
    handle
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

    #[test]
    fn user_handles_carry_the_site() {
        let handle = |site: &str, member: &str| user_handle(&SiteId::from(site), &MemberId::from(member));
        let one = handle("a", "anna");
        assert_eq!(one.len(), 48);
        assert_eq!(one[..16], handle("a", "ben")[..16]);
        assert!(
            one != handle("a", "ben")
                && one[..16] != handle("b", "anna")[..16]
                && one[16..] != handle("b", "anna")[16..]
        );
    }
}
