//! What followers are told, and what they are never told.

use crate::kit::*;
use serde_json::json;
use stoa_testkit::on_both_engines;

async fn settle(clients: &mut [Client]) {
    for client in clients {
        client.quiet().await;
    }
}

on_both_engines! {
    async fn items_enter_change_and_leave(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.bulk("bulk-insert", "c", [json!({ "_id": "a", "color": "red" }), json!({ "_id": "b", "color": "blue" })]).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({ "filter": { "color": "red" } }))).await;
        assert_eq!(client.held["a"].items.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(client.held["a"].total, Some(1));

        node.update("c", json!({ "_id": "b", "color": "red" })).await;
        let entered = client.expect().await.data;
        assert_eq!((&entered["type"], &entered["id"], &entered["item"]["color"]), (&json!("enter"), &json!("b"), &json!("red")));
        node.update("c", json!({ "_id": "b", "color": "red", "n": 1 })).await;
        let changed = client.expect().await.data;
        assert_eq!((&changed["type"], &changed["modifiedFields"]), (&json!("update"), &json!(["n"])));
        assert!(changed["sequence"].as_str().unwrap().parse::<i64>().unwrap() > entered["sequence"].as_str().unwrap().parse().unwrap());
        node.update("c", json!({ "_id": "b", "color": "blue" })).await;
        assert_eq!(client.expect().await.data["type"], "leave");
        // Nothing of what never was among them.
        node.update("c", json!({ "_id": "b", "color": "green" })).await;
        node.remove("c", "b").await;
        node.insert("c", json!({ "_id": "x", "color": "blue" })).await;
        node.remove("c", "a").await;
        assert!(client.now().await.items.is_empty());
        assert_eq!(client.changes(), ["enter b", "update b", "leave b", "leave a deleted"]);
        let last = client.messages.back().unwrap();
        assert!(last.data.get("item").is_none() && last.id.is_some());
    }

    async fn filter_by_the_date_of_the_last_update_lets_go(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.insert("c", json!({ "_id": "a" })).await;
        kit.test.clock.advance(60_000);
        let date = stoa_kernel::date::print(kit.world().now());
        let filter = json!({ "filter": { "_updatedDate": { "$lt": { "$date": date } } } });
        let mut client = kit.follow(visitor(), with_snapshot("c", filter)).await;
        assert_eq!(client.held["a"].items.len(), 1);
        node.update("c", json!({ "_id": "a", "n": 1 })).await;
        client.quiet().await;
        assert_eq!(client.changes(), ["leave a"]);
    }

    async fn members_are_told_of_their_own_items_alone(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "SITE_MEMBER_AUTHOR", json!({})).await;
        let (ann, bob) = (member("ann"), member("bob"));
        for (caller, id) in [(&ann, "a"), (&bob, "b")] {
            node.put(caller, "insert", "c", json!({ "_id": id })).await.unwrap();
        }
        let mut clients = Vec::new();
        for caller in [ann.clone(), bob.clone(), visitor(), app()] {
            clients.push(kit.follow(caller, with_snapshot("c", json!({}))).await);
        }
        assert_eq!(kit.node().realtime.counts().groups, 4);
        node.put(&ann, "insert", "c", json!({ "_id": "a2" })).await.unwrap();
        settle(&mut clients).await;
        node.update("c", json!({ "_id": "b", "n": 1 })).await;
        node.remove("c", "a").await;
        // One's item becomes another's.
        node.update("c", json!({ "_id": "a2", "_owner": "bob" })).await;
        settle(&mut clients).await;
        let told: Vec<Vec<String>> = clients.iter().map(Client::changes).collect();
        assert_eq!(told[0], ["enter a2", "leave a deleted", "leave a2"]);
        assert_eq!(told[1], ["update b", "enter a2"]);
        assert!(told[2].is_empty(), "{told:?}");
        assert_eq!(told[3], ["enter a2", "update b", "leave a deleted", "update a2"]);
    }

    async fn snapshot_comes_in_pieces_in_the_order_asked_for(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.bulk("bulk-insert", "c", (0..250).map(|n| json!({ "_id": format!("i{n:03}"), "n": n }))).await;
        let asked = json!({ "limit": 220, "sort": [{ "fieldName": "n", "order": "DESC" }], "fields": ["n"] });
        let client = kit.follow(visitor(), with_snapshot("c", asked)).await;
        let pieces: Vec<usize> = client.messages.iter().filter_map(|it| it.data["items"].as_array()).map(Vec::len).collect();
        assert_eq!(pieces, [100, 100, 20]);
        assert_eq!(client.messages[0].data["items"][0], json!({ "_id": "i249", "n": 249 }));
        assert_eq!((client.held["a"].items.len(), client.held["a"].total), (220, Some(250)));
        let small = kit.follow(visitor(), with_snapshot("c", json!({ "filter": { "n": { "$lt": 0 } } }))).await;
        assert_eq!((small.messages.len(), small.held["a"].total), (1, Some(0)), "nothing but ready");
    }

    /// Those who are told the same of changes may ask for other items to begin with.
    async fn each_begins_with_the_items_it_asked_for(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.bulk("bulk-insert", "c", (0..5).map(|n| json!({ "_id": format!("i{n}"), "n": n }))).await;
        let mut held = Vec::new();
        for (limit, order, expected) in [(2, "ASC", [0, 1].as_slice()), (3, "DESC", &[4, 3, 2])] {
            let asked = json!({ "limit": limit, "sort": [{ "fieldName": "n", "order": order }] });
            let client = kit.follow(visitor(), with_snapshot("c", asked)).await;
            let items = client.messages[0].data["items"].as_array().unwrap();
            let numbers: Vec<i64> = items.iter().map(|it| it["n"].as_i64().unwrap()).collect();
            assert_eq!(numbers, expected);
            held.push(client);
        }
        assert_eq!(node.realtime.counts().groups, 1);
    }

    async fn some_fields_are_told_only_when_they_change(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.insert("c", json!({ "_id": "a", "title": "x", "n": 1 })).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({ "fields": ["title"] }))).await;
        node.update("c", json!({ "_id": "a", "title": "x", "n": 2 })).await;
        node.update("c", json!({ "_id": "a", "title": "y", "n": 3 })).await;
        let held = client.now().await.items["a"].clone();
        assert_eq!(held, json!({ "_id": "a", "title": "y" }));
        assert_eq!(client.changes(), ["update a"]);
        assert_eq!(client.messages.back().unwrap().data["modifiedFields"], json!(["title"]));
    }

    async fn encrypted_values_are_told_to_nobody(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        let fields = json!([{ "key": "pin", "type": "TEXT", "encrypted": true }, { "key": "n", "type": "NUMBER" }]);
        node.create("c", "ANYONE", json!({ "fields": fields })).await;
        node.insert("c", json!({ "_id": "a", "pin": "secret 1", "n": 1 })).await;
        let mut client = kit.follow(app(), with_snapshot("c", json!({}))).await;
        node.update("c", json!({ "_id": "a", "pin": "secret 2", "n": 2 })).await;
        client.quiet().await;
        node.update("c", json!({ "_id": "a", "pin": "secret 3", "n": 2 })).await;
        node.insert("c", json!({ "_id": "b", "pin": "secret 4" })).await;
        client.quiet().await;
        let all = format!("{:?}", client.messages);
        assert!(!all.contains("secret") && !all.contains("sealed") && !all.contains("pin"), "{all}");
        assert_eq!(client.changes(), ["update a", "update a", "enter b"]);
        let failed = kit.follow(app(), with_snapshot("c", json!({ "filter": { "pin": "secret 1" } }))).await;
        assert_eq!(failed.ended(), Some("WDE0119"));
    }

    async fn page_links_are_told_as_they_are_read(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        let calculator = json!({ "fieldsPattern": { "pattern": "/p/{title}", "lowercase": true } });
        let link = json!({ "key": "link", "type": "PAGE_LINK", "typeMetadata": { "pageLink": { "calculator": calculator } } });
        let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }, link]);
        node.create("c", "ANYONE", json!({ "fields": fields })).await;
        node.insert("c", json!({ "_id": "a", "title": "First One", "n": 1 })).await;
        // Of a follower who is shown nothing else, too.
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({ "fields": ["link"] }))).await;
        assert!(format!("{:?}", client.messages).contains("/p/first-one"), "{:?}", client.messages);
        node.update("c", json!({ "_id": "a", "title": "First One", "n": 2 })).await;
        node.update("c", json!({ "_id": "a", "title": "Second One", "n": 2 })).await;
        client.quiet().await;
        assert_eq!(client.changes(), ["update a"], "what isn't shown changes nothing");
        assert!(format!("{:?}", client.messages).contains("/p/second-one"), "{:?}", client.messages);
        let failed = kit.follow(app(), with_snapshot("c", json!({ "filter": { "link": "/p/second-one" } }))).await;
        assert_eq!(failed.ended(), Some("WDE0119"));
    }

    async fn drafts_are_told_to_those_who_may_see_them(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let plugin = json!({ "type": "PUBLISH", "publishOptions": { "defaultStatus": "DRAFT" } });
        node.keep_plugin("c", plugin).await;
        // By then it is read again.
        kit.test.clock.advance(60_000);
        let mut everybody = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let mut owner = kit.follow(app(), with_snapshot("c", json!({}))).await;
        for (n, status) in ["DRAFT", "PUBLISHED", "DRAFT"].into_iter().enumerate() {
            let item = json!({ "data": { "_id": "a", "n": n, "_publishStatus": status } });
            let options = json!({ "includeDraftItems": true });
            let body = json!({ "dataCollectionId": "c", "dataItems": [item], "publishPluginOptions": options });
            node.call(&app(), "bulk-save", body).await.unwrap();
            everybody.quiet().await;
            owner.quiet().await;
        }
        let options = json!({ "includeDraftItems": true });
        let body = json!({ "dataCollectionId": "c", "dataItemId": "a", "publishPluginOptions": options });
        node.call(&app(), "remove", body).await.unwrap();
        everybody.quiet().await;
        owner.quiet().await;
        assert_eq!(everybody.changes(), ["enter a", "leave a"]);
        assert_eq!(owner.changes(), ["enter a", "update a", "update a", "leave a deleted"]);
    }

    async fn what_cannot_be_followed_is_refused_by_name(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("closed", "PRIVILEGED", json!({})).await;
        node.create("still", "ANYONE", json!({ "realtime": false })).await;
        let link = json!({ "key": "friends", "type": "MULTI_REFERENCE",
            "typeMetadata": { "multiReference": { "referencedCollectionId": "still" } } });
        node.create("linked", "ANYONE", json!({ "fields": [link] })).await;
        let many = (0..101).map(|n| json!({ "n": n })).collect::<Vec<_>>();
        for (collection, filter, code) in [
            ("none", json!({}), "WDE0025"),
            ("closed", json!({}), "WDE0027"),
            ("still", json!({}), "WDE0119"),
            ("linked", json!({ "friends": { "$hasSome": ["x"] } }), "WDE0119"),
            ("linked", json!({ "$or": many }), "WDE0093"),
        ] {
            let subscriptions = json!([
                { "key": "a", "dataCollectionId": collection, "filter": filter, "snapshot": true },
                { "key": "b", "dataCollectionId": "linked", "snapshot": true },
            ]);
            let client = kit.follow(visitor(), subscriptions).await;
            assert_eq!(client.held["a"].ended.as_deref(), Some(code), "{collection}");
            assert!(client.held["b"].is_ready, "the others go on");
        }
    }

    async fn those_who_ask_the_same_are_one_group(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let mut clients = Vec::new();
        for caller in [visitor(), member("ann"), member("bob"), editor(), app()] {
            clients.push(kit.follow(caller, with_snapshot("c", json!({ "filter": { "n": 1 } }))).await);
        }
        let counts = node.realtime.counts();
        assert_eq!((counts.streams, counts.subscriptions, counts.groups), (5, 5, 1));
        node.insert("c", json!({ "_id": "a", "n": 1 })).await;
        for client in &mut clients {
            assert_eq!(client.expect().await.data["type"], "enter");
        }
        drop(clients);
        let counts = node.realtime.counts();
        assert_eq!((counts.streams, counts.subscriptions, counts.groups), (0, 0, 0));
        assert_eq!((counts.messages, counts.resyncs), (10, 0));
    }

    /// Two sites have a collection of the same name.
    async fn other_sites_are_another_matter(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let other = kit.test.store.site_create("other", kit.world()).await.unwrap();
        let object = json!({ "id": "c", "fields": [{ "key": "n", "type": "NUMBER" }], "realtime": true,
            "permissions": { "read": "ANYONE", "insert": "ANYONE", "update": "ANYONE", "remove": "ANYONE" } });
        node.content.collection_create(&other, &app(), &object).await.unwrap();
        let body = json!({ "dataCollectionId": "c", "dataItem": { "data": { "n": 1 } } }).to_string();
        let request = stoa_content::Request::parse(body.as_bytes()).unwrap();
        node.content.item_insert(&other, &app(), &request).await.unwrap();
        node.insert("c", json!({ "_id": "mine" })).await;
        client.quiet().await;
        assert_eq!(client.changes(), ["enter mine"]);
    }
}
