//! What was withdrawn is told nobody any more once that is acknowledged.

use crate::kit::*;
use serde_json::json;
use stoa_kernel::{Caller, Role};
use stoa_testkit::on_both_engines;

on_both_engines! {
    async fn level_that_is_raised_ends_before_it_is_answered(engine) {
        let kit = Kit::with(engine, 2, Default::default()).await;
        let last = kit.nodes.last().unwrap();
        last.create("c", "ANYONE", json!({})).await;
        let mut out = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        let mut less = kit.follow(member("ann"), with_snapshot("c", json!({}))).await;
        let mut same = kit.follow(app(), with_snapshot("c", json!({}))).await;
        last.insert("c", json!({ "_id": "a" })).await;
        for client in [&mut out, &mut less, &mut same] {
            assert_eq!(client.expect().await.data["type"], "enter");
        }
        last.insert("c", json!({ "_id": "before" })).await;
        last.levels("c", "SITE_MEMBER_AUTHOR").await;
        // The level is acknowledged: whatever waited in their streams is told them no more.
        last.insert("c", json!({ "_id": "after" })).await;
        for client in [&mut out, &mut less] {
            let message = client.expect().await;
            assert_eq!((message.event.as_str(), client.ended()), ("resync", Some("permission")));
        }
        same.quiet().await;
        assert_eq!(same.changes(), ["enter a", "enter before", "enter after"], "those who see the same lose nothing");
        last.levels("c", "PRIVILEGED").await;
        let mut refused = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        assert_eq!(refused.ended(), Some("WDE0027"));
        refused.quiet().await;
        assert!(refused.is_over && refused.bye.is_some(), "nothing is left to be told");
    }

    async fn snapshot_that_is_being_read_is_told_no_more(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "ANYONE", json!({})).await;
        node.bulk("bulk-insert", "c", (0..250).map(|n| json!({ "_id": format!("i{n}") }))).await;
        let mut client = kit.open(visitor(), with_snapshot("c", json!({ "limit": 250 }))).await;
        assert_eq!(client.expect().await.event, "snapshot");
        node.levels("c", "CMS_EDITOR").await;
        let message = client.expect().await;
        assert_eq!((message.event.as_str(), client.ended()), ("failed", Some("WDE0027")));
    }

    async fn special_permission_is_given_and_taken(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("c", "SITE_MEMBER_AUTHOR", json!({})).await;
        let grant = json!({ "userId": "ann", "itemRead": "ALLOWED" });
        let mut client = kit.follow(member("ann"), with_snapshot("c", json!({}))).await;
        node.content.special_add(&node.site, &app(), "c", &grant).await.unwrap();
        client.quiet().await;
        assert_eq!(client.ended(), Some("permission"));
        let mut client = kit.follow(member("ann"), with_snapshot("c", json!({}))).await;
        node.insert("c", json!({ "_id": "a" })).await;
        assert_eq!(client.expect().await.data["type"], "enter");
        let list = node.content.permissions_get(&node.site, &app(), "c").await.unwrap();
        let id = list["specialPermissions"][0]["id"].as_str().unwrap().to_owned();
        node.content.special_remove(&node.site, &app(), &id).await.unwrap();
        node.insert("c", json!({ "_id": "b" })).await;
        client.quiet().await;
        assert_eq!((client.changes(), client.ended()), (vec!["enter a".to_owned()], Some("permission")));
    }

    /// Signed out, blocked, a key revoked: whoever asks isn't let in any more.
    async fn stream_of_one_who_may_not_call_ends(engine) {
        let kit = Kit::with(engine, 2, Default::default()).await;
        let last = kit.nodes.last().unwrap();
        last.create("c", "ANYONE", json!({})).await;
        let ann = Person::new(member("ann"));
        let mut client = kit.open_on(0, &ann, with_snapshot("c", json!({}))).await.unwrap();
        client.begun().await;
        let mut other = kit.follow(member("bob"), with_snapshot("c", json!({}))).await;
        last.insert("c", json!({ "_id": "a" })).await;
        ann.becomes(None);
        last.announce().await;
        last.insert("c", json!({ "_id": "b" })).await;
        let message = client.expect().await;
        assert_eq!(message.event, "bye");
        client.quiet().await;
        assert!(client.is_over && client.changes().is_empty());
        other.quiet().await;
        assert_eq!(other.changes(), ["enter a", "enter b"]);
        assert_eq!(kit.node().realtime.counts().streams, 1);
    }

    async fn role_that_is_less_shows_less(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("kept", "PRIVILEGED", json!({})).await;
        node.create("edited", "CMS_EDITOR", json!({})).await;
        let user = |role| Caller::User { id: "u".into(), role, session: "s".into() };
        let person = Person::new(user(Role::Owner));
        let subscriptions = json!([
            { "key": "kept", "dataCollectionId": "kept", "snapshot": true },
            { "key": "edited", "dataCollectionId": "edited", "snapshot": true },
        ]);
        let mut client = kit.open_on(0, &person, subscriptions).await.unwrap();
        client.begun().await;
        person.becomes(Some(user(Role::Editor)));
        node.announce().await;
        for id in ["kept", "edited"] {
            node.insert(id, json!({ "_id": id })).await;
        }
        client.quiet().await;
        assert_eq!(client.changes(), ["enter edited"]);
        assert_eq!(client.held["kept"].ended.as_deref(), Some("WDE0027"));
        assert_eq!(client.held["edited"].ended, None);
    }

    /// Rows that were written before somebody might read them, and that readers of the log come to only later.
    async fn now_is_behind_what_was_written_before(engine) {
        let kit = Kit::new(engine).await;
        let node = kit.node();
        node.create("open", "ANYONE", json!({})).await;
        node.create("c", "PRIVILEGED", json!({})).await;
        let _follows = kit.follow(visitor(), with_snapshot("open", json!({}))).await;
        let running = node.hold_readers_up().await;
        node.insert("c", json!({ "_id": "before", "title": "secret" })).await;
        node.levels("c", "ANYONE").await;
        let mut client = kit.follow(visitor(), json!([{ "key": "a", "dataCollectionId": "c" }])).await;
        drop(running);
        node.insert("c", json!({ "_id": "after" })).await;
        client.quiet().await;
        assert_eq!((client.changes(), client.ended()), (vec!["enter after".to_owned()], None));
    }

    /// A node that hears of no withdrawal isn't waited for, and tells nothing.
    async fn node_without_its_lease_tells_nothing(engine) {
        let kit = Kit::with(engine, 2, Default::default()).await;
        let (first, last) = (kit.node(), kit.nodes.last().unwrap());
        last.create("c", "ANYONE", json!({})).await;
        let mut client = kit.follow(visitor(), with_snapshot("c", json!({}))).await;
        last.insert("c", json!({ "_id": "a" })).await;
        assert_eq!(client.expect().await.data["type"], "enter");
        if first.site.is_shared() {
            first.lose_touch().await;
        }
        last.levels("c", "PRIVILEGED").await;
        last.insert("c", json!({ "_id": "after" })).await;
        let message = client.expect().await;
        assert_eq!(message.event, if first.site.is_shared() { "bye" } else { "failed" });
        client.quiet().await;
        assert_eq!((client.changes(), client.is_over), (vec!["enter a".to_owned()], true));
    }
}
