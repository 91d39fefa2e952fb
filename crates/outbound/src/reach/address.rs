//! Which addresses may be called: those of the public internet, and what the configuration names.
//!
//! The tables are the special-purpose registries of IANA (RFC 6890 and later), and for IPv6 all that was not given
//! out for global unicast.

use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What may be called although it is not public. Only the operator of the server says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exceptions {
    /// Networks in their plain form: an IPv4 network admits no address that hides it in IPv6.
    pub allow: Vec<IpNet>,
    /// Whether addresses of this machine may be called: 127.0.0.0/8 and ::1.
    pub loopback: bool,
}

impl Exceptions {
    /// Whether a name could lead to what is excepted.
    pub(super) fn hold_networks(&self) -> bool {
        !self.allow.is_empty()
    }

    /// Checks every address that a name has. Without TLS only what is excepted may be called.
    ///
    /// # Errors
    /// A sentence that names the first address that may not be called, and why.
    pub(super) fn check(&self, is_encrypted: bool, addresses: &[IpAddr]) -> Result<(), String> {
        addresses.iter().try_for_each(|it| match special(*it) {
            _ if self.admit(*it) => Ok(()),
            Some(kind) => Err(format!("{it} is {kind}, which only the configuration can allow (reach.allow)")),
            None if is_encrypted => Ok(()),
            None => Err(format!("{it} is called by https only, unless the configuration names it (reach.allow)")),
        })
    }

    fn admit(&self, address: IpAddr) -> bool {
        self.loopback && address.is_loopback() || self.allow.iter().any(|it| it.contains(&address))
    }
}

/// The first that holds an address tells its kind, so the narrow ones come first.
const V4: [(Ipv4Addr, u32, &str); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "unspecified"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by customers of a carrier"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "for documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay of 6to4"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "for documentation"),
    // Public by its number, and answered by the host of a virtual machine: who runs there reads secrets from it.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "the agent of a cloud's host"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(255, 255, 255, 255), 32, "broadcast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// In the same order.
const V6: [(Ipv6Addr, u32, &str); 18] = [
    (Ipv6Addr::UNSPECIFIED, 128, "unspecified"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, "IPv4 in IPv6 (mapped)"),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, "IPv4 in IPv6 (translated)"),
    (Ipv6Addr::UNSPECIFIED, 96, "IPv4 in IPv6 (compatible)"),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, "IPv4 in IPv6 (NAT64)"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "IPv4 in IPv6 (NAT64)"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "a black hole"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, "IPv4 in IPv6 (Teredo)"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "for protocols"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "for documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "IPv4 in IPv6 (6to4)"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "for documentation"),
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16, "reserved"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "private"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "private"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
];

/// What an address is, when it is anything but one of the public internet.
fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(it) => {
            let shares = |net: Ipv4Addr, bits: u32| (it.to_bits() ^ net.to_bits()) >> (32 - bits) == 0;
            V4.iter().find(|(net, bits, _)| shares(*net, *bits)).map(|it| it.2)
        }
        IpAddr::V6(it) => {
            let shares = |net: Ipv6Addr, bits: u32| (it.to_bits() ^ net.to_bits()) >> (128 - bits) == 0;
            let named = V6.iter().find(|(net, bits, _)| shares(*net, *bits)).map(|it| it.2);
            named.or_else(|| holds_isatap(it).then_some("IPv4 in IPv6 (ISATAP)")).or_else(|| {
                // All that was given out so far begins with 001.
                (it.to_bits() >> 125 != 1).then_some("reserved")
            })
        }
    }
}

/// RFC 5214: whatever the network, the second half is `0000:5efe` or `0200:5efe` and an IPv4 address.
fn holds_isatap(address: Ipv6Addr) -> bool {
    let [_, _, _, _, fifth, sixth, ..] = address.segments();
    fifth & !0x0200 == 0 && sixth == 0x5efe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_written_in_full() {
        for (net, bits, kind) in V4 {
            assert_eq!(net.to_bits().checked_shl(bits).unwrap_or(0), 0, "{net}/{bits} {kind}");
        }
        for (net, bits, kind) in V6 {
            assert_eq!(net.to_bits().checked_shl(bits).unwrap_or(0), 0, "{net}/{bits} {kind}");
        }
    }
}
