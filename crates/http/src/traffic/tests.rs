//! What shares give and refuse, and which connections the reaper closes.

use super::{answer::HeldAnswer, stream::OpenStream, *};
use crate::Settings;
use axum::body::Bytes;
use futures_util::StreamExt;
use std::{net::SocketAddr, time::Duration};

fn limits() -> HttpLimits {
    HttpLimits { network_bodies_bytes: 1_000, bodies_bytes: 10_000, network_connections: 2, ..HttpLimits::default() }
}

fn share(traffic: &Arc<Traffic>, address: &str) -> Share {
    traffic.share(Network::of(address.parse().expect("an address")))
}

fn held(traffic: &Traffic) -> usize {
    traffic.usage.networks()
}

#[test]
fn shares_are_by_network_and_in_all() {
    let (traffic, limits) = (Arc::<Traffic>::default(), limits());
    let (one, same, other) = (share(&traffic, "192.0.2.1"), share(&traffic, "192.0.2.1"), share(&traffic, "192.0.2.2"));
    assert_eq!(one.take(Resource::Bodies, 900, &limits), Ok(()));
    assert_eq!(same.take(Resource::Bodies, 200, &limits), Err(Shortage::Network));
    assert_eq!(other.take(Resource::Bodies, 200, &limits), Ok(()));
    assert_eq!(traffic.used(Resource::Bodies), 1_100, "what was refused isn't counted");
    one.give(Resource::Bodies, 900);
    assert_eq!(same.take(Resource::Bodies, 200, &limits), Ok(()));
    // A piece above the limit is given to a network that has nothing else.
    let large = share(&traffic, "192.0.2.3");
    assert_eq!(large.take(Resource::Bodies, 5_000, &limits), Ok(()));
    assert_eq!(large.take(Resource::Bodies, 1, &limits), Err(Shortage::Network));
    let late = share(&traffic, "192.0.2.4");
    assert_eq!(late.take(Resource::Bodies, 6_000, &limits), Err(Shortage::Server));
    drop((one, same, other, large, late));
    assert_eq!(held(&traffic), 0, "networks that hold nothing are forgotten");
}

#[test]
fn shares_of_one_ipv6_site_are_bounded_together() {
    let (traffic, limits) = (Arc::<Traffic>::default(), limits());
    let shares: Vec<_> = (0..6).map(|n| share(&traffic, &format!("2001:db8:1:{n}::1"))).collect();
    let taken: Vec<_> = shares.iter().map(|it| it.take(Resource::Bodies, 1_000, &limits)).collect();
    assert_eq!(taken[..4], [Ok(()); 4]);
    assert_eq!(taken[4..], [Err(Shortage::Network); 2], "a /48 has four shares");
    assert_eq!(share(&traffic, "2001:db8:2::1").take(Resource::Bodies, 1_000, &limits), Ok(()));
}

#[tokio::test]
async fn room_is_waited_for_and_then_refused() {
    let (traffic, limits) = (Arc::<Traffic>::default(), HttpLimits { room_time: 1_000, ..limits() });
    let one = Arc::new(share(&traffic, "192.0.2.1"));
    assert_eq!(one.take(Resource::Bodies, 1_000, &limits), Ok(()));
    let (waiter, its_limits) = (one.clone(), limits.clone());
    let waiting = tokio::spawn(async move { waiter.wait(Resource::Bodies, 500, &its_limits).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    one.give(Resource::Bodies, 1_000);
    assert_eq!(waiting.await.expect("no panic"), Ok(()));
    assert_eq!(one.wait(Resource::Bodies, 600, &limits).await, Err(Shortage::Network));
    assert_eq!(traffic.used(Resource::Bodies), 500);
}

#[test]
fn answers_are_counted_until_their_last_part_is_gone() {
    let (traffic, limits) = (Arc::<Traffic>::default(), limits());
    let one = Arc::new(share(&traffic, "192.0.2.1"));
    assert_eq!(one.take(Resource::Answers, 1_000_000, &limits), Ok(()));
    let mut first = HeldAnswer::new(Bytes::from(vec![0; 1_000_000]), 1_000_000, one, None).into_bytes();
    let last = first.split_off(999_000);
    drop(first);
    assert_eq!(traffic.used(Resource::Answers), 1_000_000, "a reader that lacks the end keeps all of it");
    drop(last);
    assert_eq!(traffic.used(Resource::Answers), 0);
}

#[test]
fn network_that_nothing_holds_is_forgotten_by_the_reaper() {
    let traffic = Arc::<Traffic>::default();
    let one = share(&traffic, "192.0.2.1");
    drop(traffic.usage.gauges(Network::of([192, 0, 2, 2].into())));
    assert_eq!(held(&traffic), 2);
    for _ in 0..4 {
        traffic.reap(&limits());
    }
    assert_eq!(held(&traffic), 1);
    drop(one);
}

#[tokio::test]
async fn room_wakes_those_who_wait_for_it_one_by_one() {
    let (traffic, limits) = (Arc::<Traffic>::default(), limits());
    let one = Arc::new(share(&traffic, "192.0.2.1"));
    assert_eq!(one.take(Resource::Bodies, 1_000, &limits), Ok(()));
    let wait = || {
        let (one, limits) = (one.clone(), limits.clone());
        tokio::spawn(async move { one.wait(Resource::Bodies, 100, &limits).await })
    };
    let waiting: Vec<_> = (0..9).map(|_| wait()).collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    one.give(Resource::Bodies, 1_000);
    for it in waiting {
        let waited = tokio::time::timeout(Duration::from_secs(1), it).await;
        assert_eq!(waited.expect("in time").expect("no panic"), Ok(()));
    }
    assert_eq!(traffic.used(Resource::Bodies), 900);
}

#[test]
fn network_with_unread_answers_begins_no_call() {
    let (traffic, limits) = (Arc::<Traffic>::default(), HttpLimits { network_answers_bytes: 1_048_576, ..limits() });
    let settings = Arc::new(Settings { limits, ..Settings::default() });
    let begin = |last: u8| {
        let parts = axum::http::Request::new(()).into_parts().0;
        InFlight::begin(&traffic, &settings, &parts, || [192, 0, 2, last].into()).expect("begun")
    };
    let unread = share(&traffic, "192.0.2.1");
    unread.force(Resource::Answers, 2_000_000);
    for is_read in [true, false] {
        assert!(!begin(1).has_room_for_answer(is_read));
        assert!(begin(2).has_room_for_answer(is_read), "another network has room");
    }
    unread.give(Resource::Answers, 2_000_000);
    assert!(begin(1).has_room_for_answer(false));
}

#[test]
fn network_that_left_a_large_answer_is_known_when_it_comes_back() {
    let traffic = Arc::<Traffic>::default();
    share(&traffic, "192.0.2.1").expect_answer(30_000_000);
    assert_eq!(share(&traffic, "192.0.2.1").expected_answer(), 30_000_000, "though it held nothing in between");
    for _ in 0..4 * 5 {
        traffic.reap(&limits());
    }
    assert!(share(&traffic, "192.0.2.1").expected_answer() > 10_000_000, "after five seconds");
    for _ in 0..4 * 60 {
        traffic.reap(&limits());
    }
    assert_eq!(held(&traffic), 0, "after a minute");
}

fn open(traffic: &Arc<Traffic>, settings: &Settings, peer: &str) -> Option<OpenConnection> {
    traffic.open(SocketAddr::new(peer.parse().expect("an address"), 1), settings)
}

fn settings() -> Settings {
    let trusted_proxies = vec!["10.0.0.0/8".parse().expect("a network")];
    Settings { limits: limits(), trusted_proxies, ..Settings::default() }
}

/// How a connection ends when so many seconds pass.
fn end_after(traffic: &Traffic, connection: &Connection, seconds: u32) -> Option<End> {
    for _ in 0..seconds * 4 {
        traffic.reap(&limits());
    }
    connection.end_of_life()
}

#[test]
fn connections_are_bounded_by_network_but_for_proxies() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    let mine: Vec<_> = (0..3).map(|_| open(&traffic, &settings, "192.0.2.1")).collect();
    assert_eq!(mine.iter().flatten().count(), 2);
    assert!(open(&traffic, &settings, "192.0.2.2").is_some());
    let proxied: Vec<_> = (0..9).filter_map(|_| open(&traffic, &settings, "10.0.0.1")).collect();
    assert_eq!(proxied.len(), 9);
    drop(mine);
    assert!(open(&traffic, &settings, "192.0.2.1").is_some());
    drop(proxied);
    assert_eq!(traffic.used(Resource::Connections), 0);
}

#[test]
fn silent_connections_end() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    let silent = open(&traffic, &settings, "192.0.2.1").expect("open");
    let proxy = open(&traffic, &settings, "10.0.0.1").expect("open");
    assert_eq!(end_after(&traffic, &silent, 9), None);
    assert_eq!(end_after(&traffic, &silent, 2), Some(End::Now));
    assert_eq!(end_after(&traffic, &proxy, 1_000), None, "a proxy keeps connections ready");
}

#[test]
fn connections_end_when_they_are_idle_or_send_half_a_request() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    let idle = open(&traffic, &settings, "192.0.2.1").expect("open");
    let half = open(&traffic, &settings, "192.0.2.1").expect("open");
    for it in [&idle, &half] {
        it.request_begins(false);
    }
    assert_eq!(end_after(&traffic, &idle, 600), None, "a request in progress may take long");
    for it in [&idle, &half] {
        it.request_ends();
    }
    half.was_read();
    assert_eq!(end_after(&traffic, &half, 11), Some(End::Now));
    assert_eq!(end_after(&traffic, &idle, 60), None);
    assert_eq!(end_after(&traffic, &idle, 6), Some(End::Gracefully));
    assert_eq!(end_after(&traffic, &idle, 5), Some(End::Now));
}

#[test]
fn idle_connections_of_a_crowded_network_make_room() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    let mine: Vec<_> = (0..2).filter_map(|_| open(&traffic, &settings, "192.0.2.1")).collect();
    let other = open(&traffic, &settings, "192.0.2.2").expect("open");
    assert_eq!(end_after(&traffic, &mine[0], 3), None);
    assert!(open(&traffic, &settings, "192.0.2.1").is_none());
    assert_eq!(end_after(&traffic, &mine[0], 1), Some(End::Now));
    assert_eq!(other.end_of_life(), None);
}

#[test]
fn readers_that_take_nothing_are_left() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    let stuck = open(&traffic, &settings, "192.0.2.1").expect("open");
    let slow = open(&traffic, &settings, "192.0.2.1").expect("open");
    for it in [&stuck, &slow] {
        it.request_begins(true);
        it.answer_waits(10_000_000);
    }
    for _ in 0..60 {
        slow.was_written(20_000);
        stuck.was_written(17);
        assert_eq!(end_after(&traffic, &slow, 10), None);
    }
    assert_eq!(stuck.end_of_life(), Some(End::Now));
}

/// A stream that was asked for as often as this, of a connection whose request is over.
async fn streaming(connection: &OpenConnection, pieces: usize) -> axum::body::BodyDataStream {
    connection.request_begins(false);
    let stream = OpenStream::of(Some((*connection).clone()));
    connection.request_ends();
    let endless = futures_util::stream::iter((0..2).map(|_| Bytes::from_static(b": \n\n")));
    let endless = endless.chain(futures_util::stream::pending());
    let mut body = stream.body(endless).into_data_stream();
    for _ in 0..pieces {
        let asked = tokio::time::timeout(Duration::from_millis(1), body.next()).await;
        drop(asked);
    }
    body
}

#[tokio::test]
async fn connection_is_in_use_while_a_stream_is_sent() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    let quiet = open(&traffic, &settings, "192.0.2.1").expect("open");
    let body = streaming(&quiet, 3).await;
    assert_eq!(end_after(&traffic, &quiet, 3_600), None, "its reader waits for the next piece");
    drop(body);
    assert_eq!(end_after(&traffic, &quiet, 60), None);
    assert_eq!(end_after(&traffic, &quiet, 16), Some(End::Gracefully), "it is idle once the stream is over");
}

#[tokio::test]
async fn reader_that_takes_nothing_of_a_stream_is_left() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    let stuck = open(&traffic, &settings, "192.0.2.1").expect("open");
    let _body = streaming(&stuck, 1).await;
    assert_eq!(end_after(&traffic, &stuck, 29), None);
    assert_eq!(end_after(&traffic, &stuck, 2), Some(End::Now), "a piece waits, and no one asks for the next");
    let blocked = open(&traffic, &settings, "192.0.2.2").expect("open");
    let _body = streaming(&blocked, 3).await;
    blocked.was_blocked();
    assert_eq!(end_after(&traffic, &blocked, 31), Some(End::Now), "what was asked for leaves by no socket");
}

/// A body whose pieces are always there, and what is alive as long as they are.
fn endless(connection: &OpenConnection) -> (axum::body::BodyDataStream, Arc<()>) {
    connection.request_begins(true);
    let (stream, held) = (OpenStream::of(Some((*connection).clone())), Arc::new(()));
    connection.request_ends();
    let pieces = futures_util::stream::repeat(held.clone()).map(|_| Bytes::from_static(b": \n\n"));
    (stream.body(pieces).into_data_stream(), held)
}

#[tokio::test]
async fn one_reader_of_a_shared_connection_ends_no_other() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    for address in ["10.0.0.1", "192.0.2.1"] {
        let shared = open(&traffic, &settings, address).expect("open");
        let ((mut silent, held), (mut reading, of_reader)) = (endless(&shared), endless(&shared));
        assert!(matches!(silent.next().await, Some(Ok(_))));
        for second in 1..=31 {
            assert!(matches!(reading.next().await, Some(Ok(_))));
            assert_eq!(end_after(&traffic, &shared, 1), None, "after {second} s");
        }
        assert_eq!(Arc::strong_count(&held), 1, "what the silent one held is given back");
        assert_eq!(Arc::strong_count(&of_reader), 2);
        assert!(matches!(silent.next().await, Some(Err(_))), "it is cut off");
        assert!(matches!(reading.next().await, Some(Ok(_))), "the other goes on");
    }
}

#[tokio::test]
async fn reader_that_takes_a_large_piece_slowly_is_not_left() {
    let (traffic, settings) = (Arc::<Traffic>::default(), settings());
    let slow = open(&traffic, &settings, "192.0.2.1").expect("open");
    let _body = streaming(&slow, 1).await;
    for _ in 0..20 {
        slow.was_written(20_000);
        assert_eq!(end_after(&traffic, &slow, 10), None);
    }
    slow.was_written(17);
    assert_eq!(end_after(&traffic, &slow, 31), Some(End::Now));
}

#[tokio::test]
async fn large_reads_of_one_network_take_turns() {
    let traffic = Arc::<Traffic>::default();
    let (reader, other) = (share(&traffic, "192.0.2.1"), share(&traffic, "192.0.2.2"));
    let soon = Duration::from_millis(50);
    let mut turns = Vec::new();
    while let Ok(turn) = tokio::time::timeout(soon, reader.read_turn()).await {
        turns.push(turn);
        assert!(turns.len() <= 1_000, "there is an end to them");
    }
    assert!(tokio::time::timeout(soon, other.read_turn()).await.is_ok(), "others don't wait");
    drop(turns.pop());
    assert!(tokio::time::timeout(soon, reader.read_turn()).await.is_ok(), "the next has the turn that was given up");
}
