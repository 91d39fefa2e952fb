//! How subscriptions and streams end.

use crate::kit::*;
use serde_json::json;
use std::time::Duration;
use stoa_content::transfer::{FileOf, Format};
use stoa_kernel::{Code, clock::elapsing};
use stoa_realtime::RealtimeLimits;
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn changes_that_are_not_told_one_by_one_ask_for_a_snapshot(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        for id in ["import", "truncate", "schema", "still", "delete", "switch", "other"] {
            node.create(id, "ANYONE", json!({})).await;
            node.insert(id, json!({ "_id": "a", "title": "x" })).await;
        }
        let keys = ["import", "truncate", "schema", "still", "delete", "switch", "other"];
        let list = keys.map(|it| json!({ "key": it, "dataCollectionId": it, "snapshot": true }));
        let mut client = kit.follow(visitor(), json!(list)).await;

        let file = FileOf { collection: "import", format: Format::JsonLines };
        node.content.import(&node.site, &app(), file, &b"{\"_id\":\"i\",\"n\":1}\n"[..], |_| ()).await.unwrap();
        node.call(&app(), "truncate", json!({ "dataCollectionId": "truncate" })).await.unwrap();
        let field = json!({ "key": "more", "type": "NUMBER" });
        node.content.field_create(&node.site, &app(), "schema", &field).await.unwrap();
        let described = json!({ "id": "still", "description": "of no consequence for items" });
        node.content.collection_patch(&node.site, &app(), &described).await.unwrap();
        node.content.collection_delete(&node.site, &app(), "delete").await.unwrap();
        let off = json!({ "id": "switch", "realtime": false });
        node.content.collection_patch(&node.site, &app(), &off).await.unwrap();
        node.insert("other", json!({ "_id": "b" })).await;
        client.quiet().await;
        let ended = |key: &str| client.held[key].ended.clone();
        let reasons = keys.map(ended).map(|it| it.unwrap_or_default());
        assert_eq!(reasons, ["import", "truncated", "schema", "", "WDE0026", "WDE0119", ""]);
        assert_eq!(client.changes(), ["enter b"]);
        assert_eq!(node.realtime.counts().resyncs, 3);
        assert_eq!(node.realtime.counts().subscriptions, 2);
    }

    async fn deleted_field_leaves_the_items(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.insert("c", json!({ "_id": "a", "title": "x" })).await;
        node.content.field_delete(&node.site, &app(), "c", "title").await.unwrap();
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        for _ in 0..100 {
            client.quiet().await;
            if client.held["a"].ended.is_none() {
                break;
            }
            client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        }
        let there = node.query(&visitor(), "c", &json!({})).await.unwrap();
        assert_eq!(client.held["a"].items, there);
        assert!(there["a"].get("title").is_none());
    }

    async fn slow_reader_is_told_to_read_again_and_harms_nobody(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        for id in ["c", "d"] {
            node.create(id, "ANYONE", json!({})).await;
        }
        let both = json!([
            { "key": "c", "dataCollectionId": "c", "snapshot": true }, { "key": "d", "dataCollectionId": "d", "snapshot": true },
        ]);
        let mut slow = kit.follow(visitor(), both.clone()).await;
        let mut quick = kit.follow(visitor(), both).await;
        for n in 0..4 {
            node.bulk("bulk-insert", "c", (0..100).map(|k| json!({ "_id": format!("{n}-{k}") }))).await;
            quick.quiet().await;
        }
        node.insert("d", json!({ "_id": "x" })).await;
        slow.quiet().await;
        quick.quiet().await;
        assert_eq!(slow.held["c"].ended.as_deref(), Some("overload"));
        assert_eq!((slow.held["d"].ended.as_deref(), slow.held["d"].items.len()), (None, 1), "the other goes on");
        assert_eq!((quick.held["c"].items.len(), quick.held["d"].items.len()), (400, 1));
        assert_eq!(node.realtime.counts().overloads, 1);
    }

    async fn changes_of_one_item_do_not_fill_a_mailbox(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.insert("c", json!({ "_id": "a", "n": 0 })).await;
        let mut slow = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        for n in 1..=300 {
            node.update("c", json!({ "_id": "a", "n": n })).await;
        }
        tokio::time::sleep(QUIET).await;
        assert_eq!(slow.now().await.items["a"]["n"], 300);
        assert!(slow.changes().len() < 10, "{:?}", slow.changes());
    }

    async fn snapshot_has_a_size(engine) {
        let kit = Kit::with(engine, 1, RealtimeLimits { snapshot_bytes: 65_536, ..RealtimeLimits::default() }).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.bulk("bulk-insert", "c", (0..10).map(|n| json!({ "_id": format!("i{n}"), "title": "x".repeat(10_000) }))).await;
        let refused = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        assert_eq!(refused.ended(), Some("WDE0109"));
        let fewer = kit.follow(visitor(), with_snapshot("c", json!({ "limit": 5 }))).await;
        assert_eq!((fewer.ended(), fewer.held["a"].items.len()), (None, 5));
        let less = kit.follow(visitor(), with_snapshot("c", json!({ "fields": ["n"] }))).await;
        assert_eq!((less.ended(), less.held["a"].items.len()), (None, 10));
    }

    /// One who reads nothing of a snapshot holds up their own network alone, and who finds no room is not left waiting.
    async fn snapshots_wait_for_memory_of_their_network_alone(engine) {
        let (most, network) = (1 << 20, address(1));
        let limits = RealtimeLimits { snapshot_bytes: most, network_snapshot_memory: most, ..RealtimeLimits::default() };
        let kit = Kit::with(engine, 1, limits).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.bulk("bulk-insert", "c", (0..30).map(|n| json!({ "_id": format!("i{n}"), "title": "x".repeat(10_000) }))).await;
        let person = Person::new(visitor());
        let open = async |network| node.open(kit.world(), &person, with_snapshot("c", json!({})), network, None).await.unwrap();
        let mut unread = open(network).await;
        assert_eq!(unread.expect().await.event, "snapshot");
        let (mut late, mut other) = (open(network).await, open(address(2)).await);
        let begun = elapsing();
        let (bye, ()) = tokio::join!(late.expect(), async {
            other.begun().await;
            assert!(elapsing() - begun < 4_000, "another network waits for nothing");
        });
        assert_eq!(bye.event, "bye");
        assert!(late.bye.is_some_and(|it| it >= 500) && elapsing() - begun < 15_000);
        drop(unread);
        open(network).await.begun().await;

        // Who waits hears that the node stops.
        let mut unread = open(network).await;
        assert_eq!(unread.expect().await.event, "snapshot");
        let mut late = open(network).await;
        let (begun, closing) = (elapsing(), async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            node.realtime.close().await;
        });
        let told = async {
            assert_eq!(late.expect().await.event, "bye");
            assert!(elapsing() - begun < 4_000);
        };
        tokio::join!(closing, told);
    }

    async fn filters_of_one_network_are_bounded_together(engine) {
        let kit = Kit::with(engine, 1, RealtimeLimits { network_conditions: 6, ..RealtimeLimits::default() }).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let person = Person::new(visitor());
        let filter = |n| json!({ "filter": { "n": n } });
        let open = async |network, n| {
            let mut it = node.open(kit.world(), &person, with_snapshot("c", filter(n)), address(network), None).await.unwrap();
            it.begun().await;
            it
        };
        let mut held = vec![open(1, 1).await, open(1, 1).await, open(1, 2).await];
        assert!(held.iter().all(|it| it.ended().is_none()));
        assert_eq!(open(1, 3).await.ended(), Some("THROTTLED_FEATURE"));
        assert_eq!(open(2, 3).await.ended(), None);
        held.pop();
        assert_eq!(open(1, 3).await.ended(), None, "what is over costs nothing");
        drop(held);
        assert_eq!(node.realtime.counts().groups, 0);
    }

    async fn streams_end_with_their_token_and_their_node(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        kit.test.clock.advance(1_800_000);
        node.insert("c", json!({ "_id": "a" })).await;
        client.quiet().await;
        assert!(client.is_over && (500..5_000).contains(&client.bye.unwrap()) && client.changes().is_empty());
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let realtime = node.realtime.clone();
        let closing = tokio::spawn(async move { realtime.close().await });
        assert_eq!(client.expect().await.event, "bye");
        client.quiet().await;
        assert!(client.is_over);
        closing.await.unwrap();
        assert_eq!(node.realtime.counts().streams, 0);
        let late = kit.open_on(0, &Person::new(visitor()), with_snapshot("c", json!({}))).await;
        assert_eq!(late.err().unwrap().code(), Code::Unavailable);
    }

    async fn what_waits_ends_with_the_token(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.bulk("bulk-insert", "c", (0..250).map(|n| json!({ "_id": format!("i{n}") }))).await;
        let mut client = kit.open(visitor(), with_snapshot("c", json!({ "limit": 250 }))).await;
        assert_eq!(client.expect().await.event, "snapshot");
        kit.test.clock.advance(1_800_000);
        assert_eq!(client.expect().await.event, "bye");
        client.quiet().await;
        assert!(client.is_over && client.held["a"].items.len() == 100);
    }

    async fn signs_of_life_move_the_place_on(engine) {
        let kit = Kit::with(engine, 1, RealtimeLimits { stream_keep_alive: 300, ..RealtimeLimits::default() }).await;
        let node = kit.node();
        for id in ["c", "d"] {
            node.create(id, "ANYONE", json!({})).await;
        }
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let begun = client.place.clone().unwrap();
        node.insert("d", json!({})).await;
        for _ in 0..50 {
            client.next(Duration::from_millis(400)).await;
            if client.place.as_ref() != Some(&begun) {
                break;
            }
        }
        assert_ne!(client.place.as_ref(), Some(&begun));
        assert_eq!(client.messages.len(), 1, "nothing but ready was told");
        let mut back = kit.follow(visitor(), from_place("c", json!({}), client.place.as_ref().unwrap())).await;
        back.quiet().await;
        assert_eq!((back.changes().len(), back.ended()), (0, None));
    }

    /// There may be tens of thousands, most of which wait.
    async fn waiting_stream_is_small(engine) {
        let kit = Kit::new(engine).await;
        kit.node().create("c", "ANYONE", json!({})).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let stream = size_of_val(&client.stream);
        let waiting = size_of_val(&client.stream.next());
        assert!(stream <= 700 && waiting <= 1_000, "{stream} {waiting}");
    }

    async fn streams_of_one_are_bounded(engine) {
        let limits = RealtimeLimits { session_streams: 2, network_streams: 3, ..RealtimeLimits::default() };
        let kit = Kit::with(engine, 1, limits).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let person = Person::new(member("ann"));
        let open = |network, session: Option<&'static str>| {
            node.open(kit.world(), &person, with_snapshot("c", json!({})), address(network), session)
        };
        let first = open(1, Some("s")).await.unwrap();
        let _second = open(2, Some("s")).await.unwrap();
        assert_eq!(open(3, Some("s")).await.err().unwrap().code(), Code::Throttled);
        drop(first);
        let _third = open(1, Some("s")).await.unwrap();
        let _more = [open(1, None).await.unwrap(), open(1, Some("t")).await.unwrap()];
        assert_eq!(open(1, None).await.err().unwrap().code(), Code::Throttled);
        // Who is refused leaves nothing behind.
        person.becomes(None);
        assert_eq!(open(9, None).await.err().unwrap().code(), Code::Unauthenticated);
        assert_eq!(node.realtime.counts().streams, 4);
    }
}
