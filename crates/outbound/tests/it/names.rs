//! Names whose name server is the attacker's: every answer is checked, and what was checked is what is called.

use super::{
    ALLOWED, config, get, limits,
    name_server::{NameServer, Question, alias},
    peer::{Peer, says},
    quick, reach,
};
use hickory_proto::{
    op::ResponseCode,
    rr::{Name, Record, RecordType},
};
use std::time::Duration;
use stoa_outbound::{ReachConfig, ReachLimits, Unreached};

const SHOP: &str = "shop.example";

/// What a call to the shop comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Reached,
    Refused,
    Unresolved,
}

async fn outcome(config: &ReachConfig, peer: &Peer) -> Outcome {
    match get(&reach(config), &format!("http://{SHOP}:{}/", peer.port())).await {
        Ok(answer) if answer.body == b"hello" => Outcome::Reached,
        Err(Unreached::Refused(_)) => Outcome::Refused,
        Err(Unreached::Unresolved(_)) => Outcome::Unresolved,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn name_that_leads_elsewhere_a_moment_later_gains_nothing() {
    // What is allowed for the first question, this machine for every later one.
    let server = NameServer::start(|it| vec![it.addresses(&[if it.nth == 0 { ALLOWED } else { "127.0.0.1" }])]).await;
    let (allowed, inside) = Peer::two(says("200 OK", "hello")).await;
    let config = config(&server);
    assert_eq!(outcome(&config, &allowed).await, Outcome::Reached);
    // One question of each kind: no second answer comes between the check and the connection.
    let asked = server.asked();
    assert!(
        asked.len() == 2 && [RecordType::A, RecordType::AAAA].iter().all(|kind| asked.contains(&(SHOP.into(), *kind)))
    );
    for _ in 0..3 {
        assert_eq!(outcome(&config, &allowed).await, Outcome::Refused);
    }
    assert_eq!((allowed.met(), inside.met()), (1, 0));
}

#[tokio::test]
async fn each_try_resolves_the_name_anew() {
    // Good, bad and good again in turns, and each answer good for an hour by its own word.
    let server =
        NameServer::start(|it| vec![it.addresses(&[if it.nth % 2 == 0 { ALLOWED } else { "127.0.0.1" }])]).await;
    let (allowed, inside) = Peer::two(says("200 OK", "hello")).await;
    let reach = reach(&config(&server));
    for n in 0..6 {
        let called = get(&reach, &format!("http://{SHOP}:{}/", allowed.port())).await;
        assert_eq!(matches!(called, Err(Unreached::Refused(_))), n % 2 == 1, "{n}: {called:?}");
    }
    assert_eq!((allowed.met(), inside.met()), (3, 0));
    assert_eq!(server.asked().len(), 12);
}

#[tokio::test]
async fn one_inner_address_among_others_refuses_the_call() {
    let (allowed, inside) = Peer::two(says("200 OK", "hello")).await;
    for (addresses, wants) in [
        (vec![ALLOWED], Outcome::Reached),
        (vec![ALLOWED, ALLOWED], Outcome::Reached),
        (vec![], Outcome::Unresolved),
        (vec!["127.0.0.1"], Outcome::Refused),
        (vec!["::1"], Outcome::Refused),
        (vec![ALLOWED, "127.0.0.1"], Outcome::Refused),
        (vec!["127.0.0.1", ALLOWED], Outcome::Refused),
        (vec![ALLOWED, ALLOWED, ALLOWED, ALLOWED, ALLOWED, "10.0.0.1"], Outcome::Refused),
        (vec![ALLOWED, "169.254.169.254"], Outcome::Refused),
        (vec![ALLOWED, "0.0.0.0"], Outcome::Refused),
        // In either kind of record.
        (vec![ALLOWED, "::1"], Outcome::Refused),
        (vec![ALLOWED, "::"], Outcome::Refused),
        (vec![ALLOWED, "::ffff:127.0.0.1"], Outcome::Refused),
        (vec![ALLOWED, "::ffff:127.0.0.2"], Outcome::Refused),
        (vec![ALLOWED, "::127.0.0.1"], Outcome::Refused),
        (vec![ALLOWED, "64:ff9b::127.0.0.1"], Outcome::Refused),
        (vec![ALLOWED, "64:ff9b:1::a9fe:a9fe"], Outcome::Refused),
        (vec![ALLOWED, "2002:7f00:1::"], Outcome::Refused),
        (vec![ALLOWED, "2001:0:7f00:1::"], Outcome::Refused),
        (vec![ALLOWED, "2606:4700::5efe:127.0.0.1"], Outcome::Refused),
        (vec![ALLOWED, "fe80::1"], Outcome::Refused),
        (vec![ALLOWED, "fd00:ec2::254"], Outcome::Refused),
        (vec![ALLOWED, "ff02::1"], Outcome::Refused),
        // Public, but the call is without TLS.
        (vec![ALLOWED, "1.1.1.1"], Outcome::Refused),
    ] {
        let server = NameServer::of(&addresses).await;
        assert_eq!(outcome(&config(&server), &allowed).await, wants, "{addresses:?}");
    }
    assert_eq!((allowed.met(), inside.met()), (2, 0));
}

#[tokio::test]
async fn name_that_is_anothers_is_followed_and_checked() {
    type Records = fn(&Question) -> Vec<Record>;
    let chain: Records = |it| {
        let links = [alias(SHOP, "a.example"), alias("a.example", "b.example")];
        links.into_iter().chain(it.record("b.example", ALLOWED)).collect()
    };
    let chain_inside: Records = |it| {
        let links = [alias("a.example", "inner.corp"), alias(SHOP, "a.example")];
        it.record("inner.corp", "127.0.0.1").into_iter().chain(links).collect()
    };
    let localhost: Records =
        |it| [alias(SHOP, "localhost")].into_iter().chain(it.record("localhost", "127.0.0.1")).collect();
    let nowhere: Records = |_| vec![alias(SHOP, "gone.example")];
    let circle: Records = |_| vec![alias(SHOP, "a.example"), alias("a.example", SHOP)];
    let itself: Records = |_| vec![alias(SHOP, SHOP)];
    let of_another: Records = |it| it.record("other.example", ALLOWED).into_iter().collect();
    let beside: Records = |it| {
        let good = it.record(SHOP, ALLOWED);
        // What wasn't asked about counts neither for nor against.
        it.record("other.example", "127.0.0.1").into_iter().chain(good).collect()
    };
    let long: Records = |it| {
        let links = (0..40).map(|n| alias(&link(n), &link(n + 1)));
        [alias(SHOP, &link(0))].into_iter().chain(links).chain(it.record(&link(40), ALLOWED)).collect()
    };
    let (allowed, inside) = Peer::two(says("200 OK", "hello")).await;
    for (name, records, wants) in [
        ("a chain", chain, Outcome::Reached),
        ("a chain that leads inside", chain_inside, Outcome::Refused),
        ("localhost", localhost, Outcome::Refused),
        ("nowhere", nowhere, Outcome::Unresolved),
        ("a circle", circle, Outcome::Unresolved),
        ("itself", itself, Outcome::Unresolved),
        ("another's", of_another, Outcome::Unresolved),
        ("another's beside its own", beside, Outcome::Reached),
        ("a chain without end", long, Outcome::Unresolved),
    ] {
        let server = NameServer::start(move |it| vec![it.records(records(it))]).await;
        assert_eq!(outcome(&config(&server), &allowed).await, wants, "{name}");
    }
    assert_eq!((allowed.met(), inside.met()), (2, 0));
}

fn link(n: usize) -> String {
    format!("n{n}.example")
}

#[tokio::test]
async fn answer_that_was_cut_is_asked_for_again_by_tcp() {
    type Answer = fn(&Question) -> Vec<u8>;
    let many = |it: &Question, count: u8| {
        let addresses: Vec<String> = (0..count).map(|n| format!("10.0.0.{n}")).collect();
        it.addresses(&addresses.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let good: Answer = |it| it.addresses(&[ALLOWED]);
    let inside: Answer = |it| it.addresses(&[ALLOWED, "127.0.0.1"]);
    // More than a name may have.
    let huge: Answer = |it| it.records((0..2_000).filter_map(|_| it.record(SHOP, ALLOWED)));
    let cut_again: Answer = |it| it.truncated();
    let short: Answer = |it| it.addresses(&[ALLOWED])[..20].to_vec();
    let empty: Answer = |_| Vec::new();
    let (allowed, other) = Peer::two(says("200 OK", "hello")).await;
    for (name, answer, wants) in [
        ("good", good, Outcome::Reached),
        ("inside", inside, Outcome::Refused),
        ("huge", huge, Outcome::Unresolved),
        ("cut again", cut_again, Outcome::Unresolved),
        ("cut off", short, Outcome::Unresolved),
        ("empty", empty, Outcome::Unresolved),
    ] {
        let server = NameServer::start(move |it| vec![if it.by_tcp { answer(it) } else { it.truncated() }]).await;
        assert_eq!(outcome(&config(&server), &allowed).await, wants, "{name}");
    }
    // As many as fit into a datagram that is larger than we offered are taken as they are.
    let server = NameServer::start(move |it| vec![many(it, 60)]).await;
    assert_eq!(outcome(&config(&server), &allowed).await, Outcome::Refused);
    assert_eq!((allowed.met(), other.met()), (1, 0));
}

#[tokio::test]
async fn answers_to_something_else_are_passed_over() {
    type Datagrams = fn(&Question) -> Vec<Vec<u8>>;
    /// An answer that would lead inside, changed.
    fn forged(it: &Question, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = it.addresses(&["127.0.0.1", "::1"]);
        change(&mut bytes);
        bytes
    }
    let other_id: Datagrams = |it| vec![forged(it, |bytes| bytes[0] ^= 1), forged(it, |bytes| bytes[1] ^= 0x80)];
    let no_response: Datagrams = |it| vec![forged(it, |bytes| bytes[2] &= 0x7f)];
    let other_name: Datagrams = |it| {
        let mut answer = it.answer();
        answer.queries[0].set_name(Name::from_ascii("other.example.").unwrap());
        vec![answer.to_vec().unwrap()]
    };
    let other_kind: Datagrams = |it| {
        let mut answer = it.answer();
        answer.queries[0].set_query_type(RecordType::TXT);
        vec![answer.to_vec().unwrap()]
    };
    let no_question: Datagrams = |it| {
        let mut answer = it.answer();
        answer.queries.clear();
        vec![answer.to_vec().unwrap()]
    };
    let garbage: Datagrams = |it| {
        let whole = it.addresses(&["127.0.0.1", "::1"]);
        // Every beginning of an answer, and one whose counts promise what isn't there.
        let mut cut: Vec<Vec<u8>> = (0..whole.len().min(30)).map(|length| whole[..length].to_vec()).collect();
        cut.push(forged(it, |bytes| bytes[6..8].copy_from_slice(&[0xff, 0xff])));
        cut.push(forged(it, |bytes| bytes[4..6].copy_from_slice(&[0xff, 0xff])));
        cut
    };
    let (allowed, inside) = Peer::two(says("200 OK", "hello")).await;
    for (name, wrong) in [
        ("another id", other_id),
        ("no response", no_response),
        ("another name", other_name),
        ("another kind", other_kind),
        ("no question", no_question),
        ("garbage", garbage),
    ] {
        let server =
            NameServer::start(move |it| wrong(it).into_iter().chain([it.addresses(&[ALLOWED])]).collect()).await;
        assert_eq!(outcome(&config(&server), &allowed).await, Outcome::Reached, "{name}, then the answer");
        let server = NameServer::start(wrong).await;
        let alone = ReachConfig { limits: quick(), ..config(&server) };
        assert_eq!(outcome(&alone, &allowed).await, Outcome::Unresolved, "{name} alone");
    }
    assert_eq!((allowed.met(), inside.met()), (6, 0));
}

#[tokio::test]
async fn servers_that_fail_are_passed_over() {
    let good = NameServer::of(&[ALLOWED]).await;
    let silent = NameServer::start(|_| Vec::new()).await;
    let failing = NameServer::start(|it| vec![it.code(ResponseCode::ServFail)]).await;
    let refusing = NameServer::start(|it| vec![it.code(ResponseCode::Refused)]).await;
    let without = NameServer::start(|it| vec![it.code(ResponseCode::NXDomain)]).await;
    // A server of one kind of record only: what isn't known isn't connected to.
    let half = NameServer::start(|it| match it.kind {
        RecordType::A => vec![it.addresses(&[ALLOWED])],
        _ => vec![it.code(ResponseCode::ServFail)],
    })
    .await;
    let dropping = NameServer::start(|it| match it.kind {
        RecordType::A => vec![it.addresses(&[ALLOWED])],
        _ => Vec::new(),
    })
    .await;
    let allowed = Peer::start(ALLOWED, says("200 OK", "hello")).await;
    for (name, servers, wants) in [
        ("the first is silent", vec![&silent, &good], Outcome::Reached),
        ("the first two fail", vec![&failing, &refusing, &good], Outcome::Reached),
        ("all fail", vec![&failing, &refusing], Outcome::Unresolved),
        ("there is no such name", vec![&without, &good], Outcome::Unresolved),
        ("half", vec![&half], Outcome::Reached),
        ("half, and silent about the rest", vec![&dropping, &dropping], Outcome::Reached),
    ] {
        let name_servers = servers.iter().map(|it| it.address).collect();
        // The first one's second passes, and there is enough left for the others.
        let limits = ReachLimits { ask: Duration::from_secs(1), ..limits(Duration::from_secs(30)) };
        let config = ReachConfig { name_servers, limits, ..config(&good) };
        assert_eq!(outcome(&config, &allowed).await, wants, "{name}");
    }
    // One that never answers holds up a call for as long as names may take.
    let config = ReachConfig { limits: quick(), ..config(&silent) };
    assert_eq!(outcome(&config, &allowed).await, Outcome::Unresolved);
    assert_eq!(allowed.met(), 4);
}
