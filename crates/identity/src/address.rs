//! Web addresses that a browser may be sent to: read strictly, compared by origin.
//!
//! An open redirector is made of addresses that two programs read differently. So what a browser
//! repairs without a word (backslashes, white space, user names, missing slashes) is refused here
//! before the comparison, and the text that was compared is the text that is used.

use url::Url;

/// An `http` or `https` address without tricks.
///
/// Refused: relative addresses, other schemes, user names and passwords, backslashes, white space,
/// control and non-ASCII characters, a missing `//`, more than 2,048 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(Url);

impl Address {
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.bytes().all(|it| it.is_ascii_graphic() && it != b'\\');
        if !plain || text.len() > 2048 {
            return None;
        }
        let scheme_end = text.find("://")?;
        let scheme = &text[..scheme_end];
        if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
            return None;
        }
        // `https:///host` and `https://@host` are repaired by parsers; nothing legitimate has them.
        let authority = text[scheme_end + 3..].split(['/', '?', '#']).next().unwrap_or("");
        if authority.is_empty() || authority.contains(['@', '%']) {
            return None;
        }
        let url = Url::parse(text).ok()?;
        (url.has_host() && url.username().is_empty() && url.password().is_none()).then_some(Self(url))
    }

    /// Scheme, host and port as browsers print an origin: `https://example.org:8443`.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// The address with parameters added to its query.
    pub fn with_query<'a>(&self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let mut url = self.0.clone();
        url.query_pairs_mut().extend_pairs(pairs);
        url.into()
    }

    /// The address with parameters in its fragment, which replaces an earlier one.
    pub fn with_fragment<'a>(&self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let mut url = self.0.clone();
        url.set_fragment(Some(&form(pairs)));
        url.into()
    }
}

/// Where an address leads, as people are told it: the host of a web address; of an app's own address its scheme, since the
/// device's programs say who answers to that, whatever host it names. Nothing for what is no address.
pub(crate) fn shown_host(address: &str) -> String {
    let Ok(url) = Url::parse(address) else { return String::new() };
    match url.scheme() {
        "http" | "https" => url.host_str().unwrap_or_default().to_owned(),
        scheme => scheme.to_owned(),
    }
}

/// Whether a picture may be fetched from an address: one of `http` or `https` with a host. A page may put it into a
/// link, where a browser would run `javascript:`, also behind white space and with line breaks within.
pub(crate) fn is_web(text: &str) -> bool {
    let is_spelt = ["http://", "https://"]
        .iter()
        .any(|it| text.get(..it.len()).is_some_and(|start| start.eq_ignore_ascii_case(it)));
    is_spelt && !text.contains(char::is_control) && Url::parse(text).is_ok_and(|it| it.has_host())
}

/// `application/x-www-form-urlencoded` text of parameters.
pub fn form<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// The address, when its origin is that of one of `registered` (redirect addresses and origins).
///
/// The rule for recovery, logout and callback addresses (decisions-taken: redirect targets).
pub fn same_origin<'a>(text: &str, registered: impl IntoIterator<Item = &'a str>) -> Option<Address> {
    let address = Address::parse(text)?;
    let origin = address.origin();
    let known = registered.into_iter().filter_map(Address::parse).any(|it| it.origin() == origin);
    known.then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTERED: [&str; 2] = ["https://shop.example.org/callback", "http://127.0.0.1:3000"];

    #[test]
    fn host_is_told_of_web_addresses_alone() {
        for (address, told) in [
            ("https://partner.example/callback", "partner.example"),
            ("https://partner.example:8443/callback", "partner.example"),
            ("http://127.0.0.1:4400/callback", "127.0.0.1"),
            ("http://[::1]/callback", "[::1]"),
            ("org.example.ledger:/callback", "org.example.ledger"),
            ("com.evil://accounts.bank.example/callback", "com.evil"),
            ("callback", ""),
        ] {
            assert_eq!(shown_host(address), told, "{address}");
        }
    }

    #[test]
    fn same_origin_takes_other_paths_only() {
        for good in [
            "https://shop.example.org",
            "https://shop.example.org/",
            "https://shop.example.org:443/thanks?x=1#y",
            "HTTPS://SHOP.EXAMPLE.ORG/a",
            "http://127.0.0.1:3000/back",
        ] {
            assert!(same_origin(good, REGISTERED).is_some(), "{good}");
        }
    }

    #[test]
    fn same_origin_refuses_every_trick() {
        for bad in [
            "",
            "/relative",
            "//shop.example.org/",
            "https:shop.example.org",
            "https:/shop.example.org",
            "https:///shop.example.org",
            "http://shop.example.org/",
            "https://shop.example.org:8443/",
            "https://shop.example.org.evil.test/",
            "https://evil.test/https://shop.example.org",
            "https://shop.example.org@evil.test/",
            "https://shop.example.org:443@evil.test/",
            "https://user:secret@shop.example.org/",
            "https://@shop.example.org/",
            "https://evil.test\\@shop.example.org/",
            "https://evil.test\\.shop.example.org/",
            "https:\\\\shop.example.org/",
            "https://shop.example.org%2eevil.test/",
            "https://shop.example.org%40evil.test/",
            "https://evil.test%00.shop.example.org/",
            "https://evil.test%23.shop.example.org/",
            "https://evil.test#@shop.example.org/",
            "https://evil.test?@shop.example.org/",
            "https://evil.test/..//shop.example.org",
            " https://shop.example.org/",
            "https://shop.example.org/\n",
            "ht\ttps://shop.example.org/",
            "https://shop.example.org/a b",
            "https://shop\u{3002}example.org/",
            "https://shop.example.org./",
            "javascript://shop.example.org/%0aalert(1)",
            "javascript:alert(1)",
            "data:text/html,x",
            "blob:https://shop.example.org/1",
            "filesystem:https://shop.example.org/x",
            "http://127.0.0.1:3001/back",
            "http://localhost:3000/back",
            "http://2130706433:3001/",
        ] {
            assert!(same_origin(bad, REGISTERED).is_none(), "{bad:?}");
        }
        assert!(same_origin(&format!("https://shop.example.org/{}", "a".repeat(2048)), REGISTERED).is_none());
        assert!(same_origin("https://shop.example.org/", []).is_none());
    }

    #[test]
    fn web_address_has_a_scheme_of_the_web_and_a_host() {
        for good in ["https://a.example/p.png", "HTTP://a.example:8080/a b/ü.png?x#y", "https://[::1]/p"] {
            assert!(is_web(good), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            " https://a.example/",
            "\u{1}javascript:alert(1)",
            "java\nscript:alert(1)",
            "javascript://a.example/%0aalert(1)",
            "https://a.example/\njavascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "blob:https://a.example/1",
            "//a.example/p.png",
            "/p.png",
            "p.png",
            "https://",
            "https:a.example/p.png",
            "",
        ] {
            assert!(!is_web(bad), "{bad:?}");
        }
    }

    #[test]
    fn parameters_are_added_where_they_belong() {
        let address = Address::parse("https://a.example/cb?x=1#old").expect("good");
        assert_eq!(address.with_query([("code", "a&b")]), "https://a.example/cb?x=1&code=a%26b#old");
        assert_eq!(address.with_fragment([("state", "1 2")]), "https://a.example/cb?x=1#state=1+2");
    }
}
