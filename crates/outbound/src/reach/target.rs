//! An address that somebody else chose, read strictly: what a reader of addresses repairs without a word is refused,
//! so that what was checked is what is called.

use std::{fmt, net::IpAddr};
use url::Url;

/// The most characters of an address.
const LONGEST: usize = 2048;
/// The most characters of a name, and of what stands between two of its dots (RFC 1035).
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// An address by `https` or `http`, with a host, without user, password and fragment. Shown it is only its origin: a
/// path may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// In ASCII (punycode) and lower case, without a dot at its end.
    Name(String),
    Address(IpAddr),
}

impl Target {
    /// Reads an address. Whether it may be called is for [`crate::Reach::check`] and each call to say.
    ///
    /// # Errors
    /// A sentence that says what an address may not be.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const LONG: &str = "an address has at most 2048 characters";
        if text.len() > LONGEST {
            return Err(LONG);
        }
        if text.chars().any(|it| it.is_control() || it.is_whitespace() || it == '\\') {
            return Err("an address has neither white space nor control characters nor backslashes");
        }
        let authority = authority(text).ok_or("an address begins with https:// and a host")?;
        if authority.contains(['@', '%']) {
            return Err("an address has neither user nor password, and no % in its host");
        }
        let url = Url::parse(text).map_err(|_| "the address can't be read")?;
        if url.fragment().is_some() {
            return Err("an address has no fragment (#)");
        }
        if url.as_str().len() > LONGEST {
            return Err(LONG);
        }
        let host = match url.host() {
            Some(url::Host::Domain(it)) => Host::Name(name(it).ok_or("the host is no name of the internet")?),
            Some(url::Host::Ipv4(it)) => Host::Address(it.into()),
            Some(url::Host::Ipv6(it)) => Host::Address(it.into()),
            None => return Err("an address begins with https:// and a host"),
        };
        Ok(Self { url, host })
    }

    /// Whether the call is encrypted.
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether there is a query (`?`).
    pub fn has_query(&self) -> bool {
        self.url.query().is_some()
    }

    /// What calls of one host have in common.
    pub(crate) fn host_name(&self) -> String {
        self.host.to_string()
    }

    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// Host and port as the header `Host` has them.
    pub(super) fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.host),
            None => self.host.to_string(),
        }
    }

    /// What is asked for at the host.
    pub(super) fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..]
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.url.scheme(), self.authority())
    }
}

impl fmt::Display for Host {
    /// As an address of the web has it: IPv6 in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(it) => f.write_str(it),
            Self::Address(IpAddr::V4(it)) => write!(f, "{it}"),
            Self::Address(IpAddr::V6(it)) => write!(f, "[{it}]"),
        }
    }
}

/// What stands between `https://` and the path, as it was typed.
fn authority(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_web = ["https", "http"].iter().any(|it| scheme.eq_ignore_ascii_case(it));
    let authority = rest.split(['/', '?', '#']).next()?;
    (is_web && !authority.is_empty()).then_some(authority)
}

/// A name without the dot at its end, if it is one that name servers can be asked for.
fn name(text: &str) -> Option<String> {
    let name = text.strip_suffix('.').unwrap_or(text);
    let is_label = |it: &str| {
        (1..=LONGEST_LABEL).contains(&it.len())
            && it.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, b'-' | b'_'))
    };
    (name.len() <= LONGEST_NAME && name.split('.').all(is_label)).then(|| name.to_owned())
}
