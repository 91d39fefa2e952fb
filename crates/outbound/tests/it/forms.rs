//! All forms in which an address of this machine or network can be written, and which networks count as public.

use super::{
    get,
    name_server::NameServer,
    peer::{Peer, says},
    reach,
};
use std::net::IpAddr;
use stoa_kernel::World;
use stoa_outbound::{Exceptions, Reach, ReachConfig, Target, Unreached};

/// What is 127.0.0.1 once it is read.
const LOOPBACK: &[&str] = &[
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0x7F.0.0.0x1",
    "0177.0.0.1",
    "017700000001",
    "0177.0x0.1",
    "127.0.0.01",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "ｌｏｃａｌｈｏｓｔ",
    "shop.localhost",
];

/// Other addresses that lead inside, and what no address is.
const INSIDE: &[&str] = &[
    "127.255.255.254",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "168.63.129.16",
    "172.16.0.1",
    "192.0.0.192",
    "192.168.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "[2606:4700::5efe:127.0.0.1]",
    "[2606:4700::200:5efe:10.0.0.1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[fe80::1%25lo]",
    "[::1%25lo]",
    "[::1%lo]",
];

#[tokio::test]
async fn no_form_of_loopback_is_called() {
    let server = NameServer::of(&["127.0.0.1", "::1"]).await;
    let peer = Peer::start("127.0.0.1", says("200 OK", "inside")).await;
    let strict = reach(&ReachConfig { name_servers: vec![server.address], ..ReachConfig::default() });
    for host in LOOPBACK.iter().chain(INSIDE) {
        for scheme in ["http", "https", "HTTPS"] {
            let url = format!("{scheme}://{host}:{}/", peer.port());
            let called = get(&strict, &url).await;
            assert!(matches!(called, Err(Unreached::Refused(_))), "{url}: {called:?}");
            let checked = Target::parse(&url).map(|it| strict.check(&it));
            assert!(matches!(checked, Err(_) | Ok(Err(Unreached::Refused(_)))), "{url}: {checked:?}");
        }
    }
    assert_eq!(peer.met(), 0);
    assert!(server.asked().is_empty(), "none of these is a name that is asked for");
}

#[tokio::test]
async fn every_form_of_loopback_is_called_where_it_is_allowed() {
    let peer = Peer::start("127.0.0.1", says("200 OK", "inside")).await;
    let exceptions = Exceptions { loopback: true, ..Exceptions::default() };
    let local = reach(&ReachConfig { exceptions, ..ReachConfig::default() });
    for host in LOOPBACK {
        let answer = get(&local, &format!("http://{host}:{}/", peer.port())).await;
        assert_eq!(answer.unwrap().body, b"inside", "{host}");
    }
    assert_eq!(peer.met(), LOOPBACK.len());
    // What hides loopback in IPv6 is refused all the same.
    for host in ["[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "10.0.0.1", "[::]", "0.0.0.0"] {
        let called = get(&local, &format!("http://{host}:{}/", peer.port())).await;
        assert!(matches!(called, Err(Unreached::Refused(_))), "{host}: {called:?}");
    }
}

#[test]
fn addresses_that_are_none_are_refused() {
    let long = format!("https://shop.example/{}", "x".repeat(2048));
    for bad in [
        "",
        "shop.example",
        "//shop.example/",
        "/hook",
        "https:shop.example",
        "https:/shop.example/",
        "https:///shop.example/",
        "https://",
        "https:///",
        "https://:443/",
        "https://?x",
        "ftp://shop.example/",
        "file:///etc/passwd",
        "gopher://shop.example/",
        "javascript:alert(1)",
        "unix:/run/x.sock",
        "https://user@shop.example/",
        "https://user:word@shop.example/",
        "https://@shop.example/",
        "https://127.0.0.1@shop.example/",
        "https://shop.example@127.0.0.1/",
        "https://shop.example\\@127.0.0.1/",
        "https:\\\\shop.example\\",
        "https://shop.example/#x",
        "https://shop.example/#",
        "https://shop.example/a b",
        " https://shop.example/",
        "https://shop.example/\n",
        "https://shop\t.example/",
        "https://shop.example/\u{0}",
        "https://sh%6fp.example/",
        "https://%31%32%37.0.0.1/",
        "https://shop..example/",
        "https://.shop.example/",
        "https://shop.example../",
        "https://shop.example:65536/",
        "https://shop.example:x/",
        "https://sh*p.example/",
        "https://[::1/",
        "https://[shop.example]/",
        "https://256.256.256.256/",
        "https://1.2.3.4.5/",
        "https://0x100000000/",
        &long,
    ] {
        assert!(Target::parse(bad).is_err(), "{bad}");
    }
    let label = format!("https://{}.example/", "x".repeat(64));
    assert!(Target::parse(&label).is_err());
    let name = format!("https://{}example/", "x.".repeat(124));
    assert!(Target::parse(&name).is_err());
}

#[test]
fn names_are_shown_as_they_are_called() {
    for (text, shown) in [
        ("https://shop.example", "https://shop.example"),
        ("https://shop.example:443/hook?key=secret", "https://shop.example"),
        ("HTTPS://Shop.Example:8443/hook", "https://shop.example:8443"),
        ("https://shop.example./", "https://shop.example"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
        ("https://_dmarc.shop.example/", "https://_dmarc.shop.example"),
        ("https://[2606:4700:0::1]:8443/", "https://[2606:4700::1]:8443"),
    ] {
        assert_eq!(Target::parse(text).unwrap().to_string(), shown);
    }
}

/// Where an address may not be called: the first and the last of each network, and that its neighbours are others.
#[test]
fn only_public_addresses_are_called() {
    let strict = Reach::new(&ReachConfig::default(), World::fixed(0, 1).0).unwrap();
    let is_public = |address: IpAddr| {
        let host = if address.is_ipv6() { format!("[{address}]") } else { address.to_string() };
        strict.check(&Target::parse(&format!("https://{host}/")).unwrap()).is_ok()
    };
    let of = |text: &str| text.parse::<IpAddr>().unwrap();
    // Networks, and whether what lies right before and right after them is public.
    for (first, last, before, after) in [
        ("0.0.0.0", "0.255.255.255", None, Some("1.0.0.0")),
        ("10.0.0.0", "10.255.255.255", Some("9.255.255.255"), Some("11.0.0.0")),
        ("100.64.0.0", "100.127.255.255", Some("100.63.255.255"), Some("100.128.0.0")),
        ("127.0.0.0", "127.255.255.255", Some("126.255.255.255"), Some("128.0.0.0")),
        ("168.63.129.16", "168.63.129.16", Some("168.63.129.15"), Some("168.63.129.17")),
        ("169.254.0.0", "169.254.255.255", Some("169.253.255.255"), Some("169.255.0.0")),
        ("172.16.0.0", "172.31.255.255", Some("172.15.255.255"), Some("172.32.0.0")),
        ("192.0.0.0", "192.0.0.255", Some("191.255.255.255"), Some("192.0.1.0")),
        ("192.0.2.0", "192.0.2.255", Some("192.0.1.255"), Some("192.0.3.0")),
        ("192.88.99.0", "192.88.99.255", Some("192.88.98.255"), Some("192.88.100.0")),
        ("192.168.0.0", "192.168.255.255", Some("192.167.255.255"), Some("192.169.0.0")),
        ("198.18.0.0", "198.19.255.255", Some("198.17.255.255"), Some("198.20.0.0")),
        ("198.51.100.0", "198.51.100.255", Some("198.51.99.255"), Some("198.51.101.0")),
        ("203.0.113.0", "203.0.113.255", Some("203.0.112.255"), Some("203.0.114.0")),
        ("224.0.0.0", "239.255.255.255", Some("223.255.255.255"), None),
        ("240.0.0.0", "255.255.255.255", None, None),
        ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
        ("64:ff9b::", "64:ff9b::ffff:ffff", None, None),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Some("2000:ffff::1"), Some("2001:200::")),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Some("2001:db7::"), Some("2001:db9::")),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some("2001:ffff::"), Some("2003::")),
        ("3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some("3ffd:ffff::"), None),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", None, Some("3fff:1000::")),
        ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some("3fff:ffff::"), None),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
        ("fec0::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, None),
    ] {
        for inside in [first, last] {
            assert!(!is_public(of(inside)), "{inside}");
        }
        for outside in before.into_iter().chain(after) {
            assert!(is_public(of(outside)), "{outside}");
        }
    }
}

#[test]
fn exceptions_admit_what_they_name() {
    let of = |networks: &[&str]| {
        let allow = networks.iter().map(|it| it.parse().unwrap()).collect();
        let exceptions = Exceptions { allow, loopback: false };
        Reach::new(&ReachConfig { exceptions, ..ReachConfig::default() }, World::fixed(0, 1).0).unwrap()
    };
    let check = |reach: &Reach, url: &str| reach.check(&Target::parse(url).unwrap()).is_ok();
    let inside = of(&["10.1.0.0/16", "fd00:1::/32"]);
    for good in [
        "http://10.1.0.0/",
        "https://10.1.255.255/",
        "http://[fd00:1::7]/",
        "https://1.1.1.1/",
        "http://shop.internal/",
    ] {
        assert!(check(&inside, good), "{good}");
    }
    for bad in [
        "https://10.2.0.0/",
        "https://[::ffff:10.1.0.1]/",
        "https://[fd00:2::7]/",
        "http://1.1.1.1/",
        "http://localhost/",
    ] {
        assert!(!check(&inside, bad), "{bad}");
    }
    let none = of(&[]);
    assert!(check(&none, "https://shop.example/") && !check(&none, "http://shop.example/"));
}
