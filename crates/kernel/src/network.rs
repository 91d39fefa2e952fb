//! The network that a request comes from: what caps and fair shares count by.

use std::{fmt, net::IpAddr};

/// A network as one customer of a provider has it. An IPv6 line has all addresses of a /64, so
/// addresses alone count nothing there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Network {
    /// One IPv4 address, /32.
    V4(u32),
    /// The first half of an IPv6 address, /64.
    V6(u64),
    /// The first 48 bits of an IPv6 address, /48, as the upper ones of the number: what a provider gives a site,
    /// which may have 65,536 networks of the kind above.
    V6Site(u64),
}

impl Network {
    /// The /32 of an IPv4 address, the /64 of an IPv6 one. An IPv4 address in IPv6 form counts as what it is.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(it) => Self::V4(it.to_bits()),
            IpAddr::V6(it) => Self::V6((it.to_bits() >> 64) as u64),
        }
    }

    /// The wider group that the network belongs to: the /48 of a /64. An IPv4 address has none but itself.
    pub fn site(self) -> Self {
        match self {
            Self::V6(it) => Self::V6Site(it & !0xffff),
            it => it,
        }
    }
}

impl fmt::Display for Network {
    /// As networks are written: `192.0.2.7/32`, `2001:db8:1:2::/64`, `2001:db8:1::/48`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v6 = |it: u64| std::net::Ipv6Addr::from_bits(u128::from(it) << 64);
        match *self {
            Self::V4(it) => write!(f, "{}/32", std::net::Ipv4Addr::from_bits(it)),
            Self::V6(it) => write!(f, "{}/64", v6(it)),
            Self::V6Site(it) => write!(f, "{}/48", v6(it)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(address: &str) -> Network {
        Network::of(address.parse().expect("an address"))
    }

    #[test]
    fn network_is_an_ipv4_address_or_half_an_ipv6_one() {
        assert_eq!(network("192.0.2.7").to_string(), "192.0.2.7/32");
        assert_eq!(network("::ffff:192.0.2.7"), network("192.0.2.7"));
        assert_ne!(network("192.0.2.7"), network("192.0.2.8"));
        assert_eq!(network("2001:db8:1:2:3:4:5:6").to_string(), "2001:db8:1:2::/64");
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
    }

    #[test]
    fn network_belongs_to_a_wider_one() {
        assert_eq!(network("2001:db8:1:2::1").site().to_string(), "2001:db8:1::/48");
        assert_eq!(network("2001:db8:1:2::1").site(), network("2001:db8:1:ffff::").site());
        assert_ne!(network("2001:db8:1::").site(), network("2001:db8:2::").site());
        assert_ne!(network("2001:db8:1::").site(), network("2001:db8:1::"), "a /48 is not the /64 of its beginning");
        assert_eq!(network("192.0.2.7").site(), network("192.0.2.7"));
    }
}
