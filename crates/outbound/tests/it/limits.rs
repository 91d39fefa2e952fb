//! What a peer can take of us: time, bytes, connections. And that nothing but the one request goes to it.

use super::{
    ALLOWED, config, get, get_within, limits,
    name_server::NameServer,
    peer::{Manner, Peer, says},
    reach,
};
use bytes::Bytes;
use hyper::{HeaderMap, Method};
use std::time::Duration;
use stoa_outbound::{Call, Reach, ReachConfig, ReachLimits, Target, Unreached};

/// The time of a call that only its end ends.
const SHORT: Duration = Duration::from_millis(700);

async fn allowing() -> (Reach, NameServer) {
    let server = NameServer::of(&[ALLOWED]).await;
    (reach(&config(&server)), server)
}

fn url(peer: &Peer) -> String {
    format!("http://{}/hook", peer.address)
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (reach, server) = allowing().await;
    let (allowed, inside) =
        (Peer::start(ALLOWED, says("200 OK", "")).await, Peer::start("127.0.0.1", says("200 OK", "")).await);
    for status in [300, 301, 302, 303, 305, 307, 308] {
        for to in
            [url(&inside), url(&allowed), format!("http://localhost:{}/", inside.port()), "//127.0.0.1/".to_owned()]
        {
            let peer = Peer::start(
                ALLOWED,
                says(&format!("{status} Elsewhere\r\nLocation: {to}\r\nRefresh: 0;url={to}"), "go"),
            )
            .await;
            let answer = get(&reach, &url(&peer)).await.unwrap();
            assert_eq!((answer.status, answer.body.as_slice(), peer.met()), (status, &b"go"[..], 1), "{to}");
        }
    }
    assert_eq!((allowed.met(), inside.met()), (0, 0));
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn body_is_read_up_to_its_limit() {
    let (reach, _server) = allowing().await;
    let text = |length: usize| "x".repeat(length);
    let chunks = |length: usize| {
        let chunk = format!("{:x}\r\n{}\r\n", length / 10, text(length / 10));
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", chunk.repeat(10))
    };
    let until_the_end = |length: usize| format!("HTTP/1.1 200 OK\r\n\r\n{}", text(length));
    for (name, manner, length, is_whole) in [
        ("none", says("204 No Content", ""), 0, true),
        ("as long as it may be", says("200 OK", &text(1_000)), 1_000, true),
        ("a byte more", says("200 OK", &text(1_001)), 1_000, false),
        ("much more", says("200 OK", &text(10_000_000)), 1_000, false),
        ("chunks", Manner::Says(chunks(1_000).into_bytes()), 1_000, true),
        ("more chunks", Manner::Says(chunks(10_000).into_bytes()), 1_000, false),
        ("until the end", Manner::Says(until_the_end(1_000).into_bytes()), 1_000, true),
        ("too long until the end", Manner::Says(until_the_end(100_000).into_bytes()), 1_000, false),
        ("endless", Manner::Floods("HTTP/1.1 200 OK\r\n\r\n", "xxxxxxxxxxxxxxxx"), 1_000, false),
        (
            "announced",
            Manner::Floods("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n", "xxxxxxxx"),
            1_000,
            false,
        ),
    ] {
        let peer = Peer::start(ALLOWED, manner).await;
        let answer = get(&reach, &url(&peer)).await.unwrap_or_else(|it| panic!("{name}: {it}"));
        assert_eq!((answer.body.len(), answer.is_whole), (length, is_whole), "{name}");
    }
}

#[tokio::test]
async fn what_is_no_answer_ends_the_call() {
    let (reach, _server) = allowing().await;
    let long = format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\n\r\n", "x".repeat(17_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-Many: x\r\n".repeat(200));
    for (name, manner) in [
        ("a long header", Manner::Says(long.into_bytes())),
        ("many headers", Manner::Says(many.into_bytes())),
        ("headers without end", Manner::Floods("HTTP/1.1 200 OK\r\n", "X-More: x\r\n")),
        ("one header without end", Manner::Floods("HTTP/1.1 200 OK\r\nX-More: ", "xxxxxxxx")),
        ("a status without end", Manner::Floods("HTTP/1.1 200 ", "xxxxxxxx")),
        ("interim answers without end", Manner::Floods("", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")),
        (
            "a chunk's extension without end",
            Manner::Floods("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "xxxxxxxx"),
        ),
        (
            "trailers without end",
            Manner::Floods("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X-More: x\r\n"),
        ),
        ("cut off", Manner::Says(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello".to_vec())),
        (
            "cut off in a chunk",
            Manner::Says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhello".to_vec()),
        ),
        ("another protocol", Manner::Says(b"220 mail.example.org ESMTP\r\n".to_vec())),
        ("HTTP/0.9", Manner::Says(b"<html>hello</html>".to_vec())),
        ("HTTP/2", Manner::Says(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec())),
        ("nothing", Manner::Says(Vec::new())),
    ] {
        let peer = Peer::start(ALLOWED, manner).await;
        let called = get(&reach, &url(&peer)).await;
        assert!(matches!(called, Err(Unreached::Failed(_))), "{name}: {called:?}");
    }
    // No server listens.
    let gone = format!("http://{ALLOWED}:1/");
    assert!(matches!(get(&reach, &gone).await, Err(Unreached::Unconnected(_))));
}

#[tokio::test]
async fn slow_peers_are_left_when_the_time_is_over() {
    let (reach, _server) = allowing().await;
    for (name, manner) in [
        ("never", Manner::NeverAnswers),
        ("a slow head", Manner::Drips("HTTP/1.1 200 OK\r\nX-Slow: ", "x")),
        ("a slow body", Manner::Drips("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n", "x")),
        ("slow chunks", Manner::Drips("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n")),
        ("interim answers", Manner::Drips("", "HTTP/1.1 100 Continue\r\n\r\n")),
    ] {
        let peer = Peer::start(ALLOWED, manner).await;
        let called = get_within(&reach, &url(&peer), SHORT).await;
        assert_eq!(called.unwrap_err(), Unreached::TimedOut("the call"), "{name}");
    }
}

#[tokio::test]
async fn no_step_takes_longer_than_it_may() {
    let (silent, server) = (Peer::start(ALLOWED, Manner::NeverAnswers).await, NameServer::start(|_| Vec::new()).await);
    let of = |limits: ReachLimits| reach(&ReachConfig { limits, ..config(&server) });
    let patient = || limits(Duration::from_secs(30));
    // TLS that is never answered.
    let connecting = of(ReachLimits { connect: SHORT, ..patient() });
    let called = get(&connecting, &format!("https://{}/", silent.address)).await;
    assert_eq!(called.unwrap_err(), Unreached::TimedOut("connecting"));
    let resolving = of(ReachLimits { resolve: SHORT, ..patient() });
    let called = get(&resolving, "https://shop.example/").await;
    assert!(matches!(called, Err(Unreached::Unresolved(_))), "{called:?}");
    // No call is as long as it would like, if that is longer than any may be.
    let whole = of(ReachLimits { whole: SHORT, ..patient() });
    let begun = tokio::time::Instant::now();
    let called = get_within(&whole, &url(&silent), Duration::from_secs(3_600)).await;
    assert_eq!(called.unwrap_err(), Unreached::TimedOut("the call"));
    assert!(begun.elapsed() >= SHORT);
}

#[tokio::test]
async fn calls_at_once_are_bounded_by_host_and_in_all() {
    let server = NameServer::of(&[ALLOWED]).await;
    let limits = ReachLimits { in_all: 3, of_host: 2, waiting_of_host: 0, ..limits(Duration::from_secs(30)) };
    let reach = reach(&ReachConfig { limits, ..config(&server) });
    let silent = Peer::start(ALLOWED, Manner::NeverAnswers).await;
    let good = Peer::start(ALLOWED, says("200 OK", "hello")).await;
    let call = |host: &str, peer: &Peer| {
        let (reach, url) = (reach.clone(), format!("http://{host}:{}/", peer.port()));
        tokio::spawn(async move { get(&reach, &url).await })
    };
    let calls = [call("a.example", &silent), call("a.example", &silent)];
    silent.meets(2).await;
    // The host, whatever the port and however it is written, has no third one.
    for host in ["a.example", "A.EXAMPLE", "a.example."] {
        assert_eq!(
            get(&reach, &format!("http://{host}:{}/", good.port())).await.unwrap_err(),
            Unreached::Busy,
            "{host}"
        );
    }
    // Another host has the last place of all, and a further one waits for it as long as it may.
    assert_eq!(get(&reach, &format!("http://b.example:{}/", good.port())).await.unwrap().body, b"hello");
    let last = call("b.example", &silent);
    silent.meets(3).await;
    let other = format!("http://c.example:{}/", good.port());
    assert_eq!(get_within(&reach, &other, SHORT).await.unwrap_err(), Unreached::Busy);
    // A call that is dropped gives its place back at once.
    last.abort();
    assert_eq!(get(&reach, &other).await.unwrap().body, b"hello");
    for call in calls {
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    assert_eq!(get(&reach, &format!("http://a.example:{}/", good.port())).await.unwrap().body, b"hello");
}

#[tokio::test]
async fn request_has_nothing_but_what_it_was_given() {
    let (reach, _server) = allowing().await;
    let peer = Peer::start(ALLOWED, says("200 OK\r\nSet-Cookie: a=b", "hello")).await;
    let target = Target::parse(&format!("http://shop.example:{}/hook/%41?x=y%20z", peer.port())).unwrap();
    for n in 1..=2 {
        let headers = HeaderMap::from_iter([
            (hyper::header::CONTENT_TYPE, "text/plain".parse().unwrap()),
            (hyper::header::HOST, "inside.example".parse().unwrap()),
        ]);
        let (method, body, timeout) = (Method::POST, Bytes::from_static(b"token"), Duration::from_secs(30));
        let call = Call { target: &target, method, headers, body, timeout, answer_bytes: 1_000 };
        let answer = reach.call(call).await.unwrap();
        assert_eq!((answer.status, answer.headers["set-cookie"].as_bytes()), (200, &b"a=b"[..]));
        // A connection for each.
        assert_eq!(peer.met(), n);
    }
    for request in peer.heard() {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let mut lines: Vec<String> = head.split("\r\n").skip(1).map(str::to_lowercase).collect();
        lines.sort();
        let agent = concat!("user-agent: stoa/", env!("CARGO_PKG_VERSION"));
        let host = format!("host: shop.example:{}", peer.port());
        assert_eq!(lines, ["connection: close", "content-length: 5", "content-type: text/plain", &host, agent]);
        assert_eq!((head.split("\r\n").next(), body), (Some("POST /hook/%41?x=y%20z HTTP/1.1"), "token"));
    }
}

#[tokio::test]
async fn request_that_is_too_large_is_not_sent() {
    let server = NameServer::of(&[ALLOWED]).await;
    let limits = ReachLimits { request_bytes: 10, ..limits(Duration::from_secs(30)) };
    let reach = reach(&ReachConfig { limits, ..config(&server) });
    let peer = Peer::start(ALLOWED, says("200 OK", "")).await;
    let target = Target::parse(&url(&peer)).unwrap();
    for (length, is_sent) in [(10, true), (11, false)] {
        let (method, headers, body) = (Method::POST, HeaderMap::new(), Bytes::from(vec![b'x'; length]));
        let call = Call { target: &target, method, headers, body, timeout: Duration::from_secs(30), answer_bytes: 10 };
        assert_eq!(reach.call(call).await.is_ok(), is_sent, "{length}");
    }
    assert_eq!(peer.met(), 1);
}
