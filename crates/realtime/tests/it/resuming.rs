//! Coming back: nothing is lost, nothing is silent.

use crate::kit::*;
use serde_json::{Value, json};
use stoa_realtime::RealtimeLimits;
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn stream_goes_on_where_another_ended(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.insert("c", json!({ "_id": "a" })).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let first = client.held["a"].place.clone().unwrap();
        node.insert("c", json!({ "_id": "b" })).await;
        client.quiet().await;
        let second = client.place.clone().unwrap();
        drop(client);
        node.update("c", json!({ "_id": "a", "n": 1 })).await;
        node.remove("c", "b").await;
        for (place, expected) in [
            (&first, &["enter b", "update a", "leave b deleted", "enter d"][..]),
            (&second, &["update a", "leave b deleted", "enter d", "leave d deleted", "enter d"]),
        ] {
            let mut client = kit.follow(visitor(), from_place("c", json!({}), place)).await;
            assert_eq!(client.held["a"].total, None);
            client.quiet().await;
            node.insert("c", json!({ "_id": "d" })).await;
            client.quiet().await;
            assert_eq!(client.changes(), expected);
            node.remove("c", "d").await;
            client.quiet().await;
            let mut again = kit.follow(visitor(), from_place("c", json!({}), &client.place.clone().unwrap())).await;
            again.quiet().await;
            assert!(again.changes().is_empty());
        }
    }

    async fn row_that_was_read_in_part_is_read_to_its_end(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        node.bulk("bulk-insert", "c", (0..5).map(|n| json!({ "_id": format!("i{n}"), "n": n }))).await;
        client.quiet().await;
        let places: Vec<String> = client.messages.iter().filter_map(|it| it.id.clone()).collect();
        for (n, place) in places.iter().enumerate() {
            let mut client = kit.follow(visitor(), from_place("c", json!({}), place)).await;
            client.quiet().await;
            let rest: Vec<String> = (n..5).map(|it| format!("enter i{it}")).collect();
            assert_eq!(client.changes(), rest);
        }
    }

    async fn many_rows_are_read_in_pieces(engine) {
        let kit = Kit::with(engine, 1, RealtimeLimits { resume_rows: 150, ..RealtimeLimits::default() }).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.create("other", "ANYONE", json!({})).await;
        let client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let place = client.held["a"].place.clone().unwrap();
        for n in 0..60 {
            node.insert("c", json!({ "_id": format!("i{n}") })).await;
            node.insert("other", json!({})).await;
        }
        let mut back = kit.follow(visitor(), from_place("c", json!({}), &place)).await;
        assert_eq!(back.now().await.items.len(), 60);
        for n in 60..80 {
            node.insert("c", json!({ "_id": format!("i{n}") })).await;
            node.insert("other", json!({})).await;
        }
        back.quiet().await;
        let back = kit.follow(visitor(), from_place("c", json!({}), &place)).await;
        assert_eq!(back.ended(), Some("gap"), "that is more than is read for one who comes back");
    }

    async fn lost_place_is_told(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.insert("c", json!({ "_id": "a" })).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let place = client.held["a"].place.clone().unwrap();
        let (first, rest) = place.split_at(1);
        let other = if first == "a" { "b" } else { "a" };
        let epoch = node.site.outbox().end().await.unwrap().epoch;
        for lost in [format!("{other}{rest}"), format!("{epoch}.0.0~0000000000000000"), "nonsense".to_owned()] {
            let client = kit.follow(visitor(), from_place("c", json!({}), &lost)).await;
            assert_eq!(client.ended(), Some("gap"), "{lost}");
        }
        node.insert("c", json!({ "_id": "b" })).await;
        node.insert("c", json!({ "_id": "c" })).await;
        // The rows stay ten minutes, and the last one longer.
        client.quiet().await;
        drop(client);
        let later = kit.world().now() + 11 * 60_000;
        while node.site.outbox().prune(later).await.unwrap() > 0 {}
        let client = kit.follow(visitor(), from_place("c", json!({}), &place)).await;
        assert_eq!(client.ended(), Some("gap"));
    }

    async fn place_is_that_of_who_asked(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "SITE_MEMBER_AUTHOR", json!({})).await;
        let client = kit.follow(member("ann"), with_snapshot("c", json!({}))).await;
        let place = client.held["a"].place.clone().unwrap();
        for (caller, ended) in [(member("bob"), Some("permission")), (visitor(), Some("permission")), (member("ann"), None)] {
            let mut client = kit.follow(caller, from_place("c", json!({}), &place)).await;
            client.quiet().await;
            assert_eq!(client.ended(), ended);
        }
        // Rights were others meanwhile.
        node.levels("c", "SITE_MEMBER").await;
        let mut client = kit.follow(member("ann"), from_place("c", json!({}), &place)).await;
        client.quiet().await;
        assert!(matches!(client.ended(), Some("permission" | "schema")), "{:?}", client.ended());
    }

    async fn what_interrupted_meanwhile_is_told(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let place = client.held["a"].place.clone().unwrap();
        node.insert("c", json!({ "_id": "a" })).await;
        node.call(&app(), "truncate", json!({ "dataCollectionId": "c" })).await.unwrap();
        let mut client = kit.follow(visitor(), from_place("c", json!({}), &place)).await;
        client.quiet().await;
        assert_eq!(client.ended(), Some("truncated"));
    }

    /// A stream of several subscriptions goes on from one place for all of them.
    async fn place_is_good_for_all_subscriptions(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        for id in ["c", "d"] {
            node.create(id, "ANYONE", json!({})).await;
        }
        let subscriptions = |begin: &Value| {
            let mut list = json!([{ "key": "x", "dataCollectionId": "c" }, { "key": "y", "dataCollectionId": "d" }]);
            for it in list.as_array_mut().unwrap() {
                it.as_object_mut().unwrap().extend(begin.as_object().unwrap().clone());
            }
            list
        };
        let mut client = kit.follow(visitor(), subscriptions(&json!({ "snapshot": true }))).await;
        node.insert("c", json!({ "_id": "1" })).await;
        node.insert("d", json!({ "_id": "2" })).await;
        client.quiet().await;
        assert_eq!(client.changes(), ["enter 1", "enter 2"]);
        let after_the_first = client.messages.iter().find(|it| it.event == "change").unwrap().id.clone().unwrap();
        let mut back = kit.follow(visitor(), subscriptions(&json!({ "resume": after_the_first }))).await;
        back.quiet().await;
        assert_eq!(back.changes(), ["enter 2"]);
    }

    /// Two subscriptions are told of each item of a row one after the other; wherever the connection breaks, both go on.
    async fn place_within_a_row_is_good_for_all_subscriptions(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let subscriptions = |begin: &dyn Fn(&str) -> Value| {
            let one = |key: &str| {
                let mut it = begin(key);
                (it["key"], it["dataCollectionId"]) = (json!(key), json!("c"));
                it
            };
            json!(["x", "y"].map(one))
        };
        let begin = subscriptions(&|_| json!({ "snapshot": true }));
        let mut clients = Vec::new();
        for _ in 0..7 {
            clients.push(kit.follow(visitor(), begin.clone()).await);
        }
        node.bulk("bulk-insert", "c", (0..3).map(|n| json!({ "_id": format!("i{n}") }))).await;
        let there = node.query(&visitor(), "c", &json!({})).await.unwrap();
        for (n, mut client) in clients.into_iter().enumerate() {
            for _ in 0..n {
                assert_eq!(client.expect().await.event, "change");
            }
            let places = client.held.clone();
            drop(client);
            let resume = subscriptions(&|key| json!({ "resume": places[key].place }));
            let mut back = kit.open(visitor(), resume).await;
            for (key, held) in &places {
                back.held.get_mut(key).unwrap().items = held.items.clone();
            }
            back.quiet().await;
            for (key, held) in &back.held {
                assert_eq!((&held.items, &held.ended), (&there, &None), "{key} after {n} messages");
            }
            assert_eq!(back.changes().is_empty(), n == 6, "{n}: {:?}", back.changes());
        }
    }

    /// What was written before somebody might read it is told to them by no place, however far the change of the rights is
    /// behind it, and whether or not its row can be read yet.
    async fn place_from_before_a_right_tells_nothing(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("open", "ANYONE", json!({})).await;
        for (id, count) in [("near", 2), ("far", 70)] {
            node.create(id, "PRIVILEGED", json!({})).await;
            let client = kit.follow(visitor(), with_snapshot("open", json!({}))).await;
            let place = client.held["a"].place.clone().unwrap();
            for n in 0..count {
                node.insert(id, json!({ "_id": format!("{n}"), "title": "secret" })).await;
            }
            let running = node.hold_readers_up().await;
            node.levels(id, "ANYONE").await;
            let mut back = kit.open(visitor(), from_place(id, json!({}), &place)).await;
            back.next(QUIET * 2).await;
            drop(running);
            back.quiet().await;
            assert_eq!(back.changes(), [""; 0], "{id}");
            assert!(matches!(back.ended(), Some("permission" | "schema")), "{id}: {:?}", back.ended());
        }
    }
}
