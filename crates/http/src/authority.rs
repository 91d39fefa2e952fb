//! The name under which a server was asked, read strictly, because links are made of it.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
};

/// A host name with an optional port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authority {
    /// In lower case; an IPv6 address without brackets.
    pub(crate) host: String,
    port: Option<u16>,
}

impl Authority {
    /// What browsers and parsers read differently (user names, slashes, escapes) is refused.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                host.parse::<Ipv6Addr>().ok()?;
                (host, if rest.is_empty() { "" } else { rest.strip_prefix(':')? })
            }
            None => {
                let (host, port) = text.split_once(':').unwrap_or((text, ""));
                let is_name = |it: u8| it.is_ascii_alphanumeric() || b".-_".contains(&it);
                if host.is_empty() || host.len() > 253 || !host.bytes().all(is_name) {
                    return None;
                }
                (host, port)
            }
        };
        let port = match port {
            "" => None,
            digits if digits.bytes().all(|it| it.is_ascii_digit()) => Some(digits.parse().ok()?),
            _ => return None,
        };
        Some(Self { host: host.to_ascii_lowercase(), port })
    }

    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host.as_str();
        host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tricks() {
        let read = |text: &str| Authority::parse(text).map(|it| (it.to_string(), it.is_loopback()));
        assert_eq!(read("LocalHost:4400"), Some(("localhost:4400".to_owned(), true)));
        assert_eq!(read("[::1]:4400"), Some(("[::1]:4400".to_owned(), true)));
        assert_eq!(read("127.7.7.7"), Some(("127.7.7.7".to_owned(), true)));
        assert_eq!(read("localhost.example.org"), Some(("localhost.example.org".to_owned(), false)));
        let tricks =
            ["localhost:1@evil.example", "localhost:x", "a/b", "a b", "", ":80", "[::1", "[x]", "a%00", "a:99999"];
        for trick in tricks {
            assert_eq!(read(trick), None, "{trick}");
        }
    }
}
