//! Items that are followed over HTTP: what a stream tells, to whom, and when it ends.

use crate::hooks;
use axum::http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use stoa_testkit::{Engine, Reply, Streamed, TestApp, TestClient, on_both_engines};

/// As long as nothing comes, nothing is told.
const QUIET: Duration = Duration::from_millis(700);

async fn define(app: &TestApp, id: &str, levels: Value, is_realtime: bool) {
    let fields = json!([{ "key": "t", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }]);
    let object = json!({ "id": id, "fields": fields, "dataPermissions": levels, "realtime": is_realtime });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
}

fn levels(read: &str) -> Value {
    json!({ "itemRead": read, "itemInsert": "SITE_MEMBER", "itemUpdate": "SITE_MEMBER", "itemRemove": "SITE_MEMBER" })
}

async fn app_with(engine: Engine, read: &str) -> TestApp {
    let app = TestApp::new(engine).await;
    define(&app, "tasks", levels(read), true).await;
    app
}

async fn save(client: &TestClient<'_>, data: Value) {
    let body = json!({ "dataCollectionId": "tasks", "dataItem": { "data": data } });
    assert_eq!(client.post("/v2/items/save", &body).await.verdict(), "200");
}

async fn remove(client: &TestClient<'_>, id: &str) {
    let body = json!({ "dataCollectionId": "tasks", "dataItemId": id });
    assert_eq!(client.post("/v2/items/remove", &body).await.verdict(), "200");
}

fn all_tasks() -> Value {
    json!([{ "key": "a", "dataCollectionId": "tasks", "snapshot": true }])
}

/// Follows all tasks, past the snapshot.
async fn ready(client: &TestClient<'_>) -> Streamed {
    let mut stream = client.follow(&all_tasks()).await;
    loop {
        match stream.told().await {
            (event, _) if event == "ready" => return stream,
            (event, data) => assert_eq!(event, "snapshot", "{data}"),
        }
    }
}

fn change(data: &Value) -> (&str, &str) {
    let text = |name: &str| data[name].as_str().unwrap_or_else(|| panic!("{data} is no change"));
    (text("type"), text("id"))
}

async fn own_id(member: &TestClient<'_>) -> String {
    member.get("/members/v1/members/my").await.json()["member"]["id"].as_str().unwrap().to_owned()
}

fn code(refused: &Reply) -> String {
    refused.verdict()
}

on_both_engines! {
    async fn stream_begins_with_the_items_and_goes_on_with_changes(engine) {
        let app = app_with(engine, "ANYONE").await;
        save(&app.app(), json!({ "_id": "one", "t": "x", "n": 1 })).await;
        save(&app.app(), json!({ "_id": "other", "t": "y", "n": 1 })).await;
        let visitor = app.visitor().await;
        let subscription = json!({ "key": "a", "dataCollectionId": "tasks", "filter": { "t": "x" }, "fields": ["t"], "snapshot": true });
        let mut stream = visitor.follow(&json!([subscription])).await;
        for (name, value) in [("content-type", "text/event-stream"), ("cache-control", "no-store"), ("x-accel-buffering", "no")] {
            assert_eq!(stream.headers[name], value);
        }
        assert!(stream.headers.contains_key("x-wix-request-id") && !stream.headers.contains_key("content-encoding"));
        let (event, data) = stream.told().await;
        assert_eq!((event.as_str(), &data["items"]), ("snapshot", &json!([{ "_id": "one", "t": "x" }])));
        assert_eq!(stream.told().await, ("ready".to_owned(), json!({ "key": "a", "total": 1 })));

        save(&app.app(), json!({ "_id": "two", "t": "x", "n": 2 })).await;
        let (_, data) = stream.told().await;
        assert_eq!((change(&data), &data["item"]), (("enter", "two"), &json!({ "_id": "two", "t": "x" })));
        save(&app.app(), json!({ "_id": "two", "t": "z", "n": 2 })).await;
        let (_, data) = stream.told().await;
        assert_eq!((change(&data), data.get("item")), (("leave", "two"), None));
        let id = stream.last_id.clone().expect("a place");
        drop(stream);
        remove(&app.app(), "one").await;
        let back = json!([{ "key": "b", "dataCollectionId": "tasks", "filter": { "t": "x" }, "fields": ["t"], "resume": id }]);
        let mut stream = visitor.follow(&back).await;
        // Where another transaction on the server is older than the change, the log tells of it after `ready`.
        let mut told = [stream.told().await, stream.told().await];
        told.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let [(event, data), (ready, _)] = &told;
        assert_eq!((event.as_str(), change(data), &data["deleted"]), ("change", ("leave", "one"), &json!(true)));
        assert_eq!(ready, "ready");
    }

    async fn collection_that_did_not_ask_for_it_is_not_followed(engine) {
        let app = app_with(engine, "ANYONE").await;
        define(&app, "silent", levels("ANYONE"), false).await;
        define(&app, "closed", levels("PRIVILEGED"), true).await;
        let of = |collection: &str| json!({ "key": collection, "dataCollectionId": collection });
        let visitor = app.visitor().await;
        let mut stream = visitor.follow(&json!([of("silent"), of("closed"), of("none"), of("tasks")])).await;
        for (key, code) in [("silent", "WDE0119"), ("closed", "WDE0027"), ("none", "WDE0025")] {
            let (event, data) = stream.told().await;
            assert_eq!((event.as_str(), &data["key"], &data["code"]), ("failed", &json!(key), &json!(code)), "{data}");
            assert!(data["description"].as_str().is_some_and(|it| !it.is_empty()));
        }
        assert_eq!(stream.told().await, ("ready".to_owned(), json!({ "key": "tasks" })));
        save(&app.app(), json!({ "_id": "one" })).await;
        assert_eq!(change(&stream.told().await.1), ("enter", "one"), "the others go on");

        // Where none is left the stream is over.
        let mut stream = visitor.follow(&json!([of("silent"), of("closed")])).await;
        let events: Vec<String> = stream.rest().await.into_iter().map(|it| it.event).collect();
        assert_eq!(events, ["failed", "failed", "bye"]);
    }

    async fn stream_needs_a_token_of_the_site_in_a_header(engine) {
        let app = app_with(engine, "ANYONE").await;
        assert_eq!(app.anonymous().try_follow(&all_tasks()).await.err().map(|it| code(&it)).as_deref(), Some("401 UNAUTHENTICATED"));
        assert_eq!(app.with_token("made up").try_follow(&all_tasks()).await.err().map(|it| code(&it)).as_deref(), Some("401 UNAUTHENTICATED"));
        let (visitor, body) = (app.visitor().await, json!({ "subscriptions": all_tasks() }));
        for name in ["token", "access_token", "Authorization", "apiKey"] {
            let path = format!("/_api/realtime/v1/stream?{name}=x");
            assert_eq!(app.anonymous().post(&path, &body).await.verdict(), "401 UNAUTHENTICATED", "{name} counts for nothing");
            assert_eq!(visitor.post(&path, &body).await.verdict(), "400 WDE0080", "{name}");
        }
        let get = visitor.send(Method::GET, "/_api/realtime/v1/stream", None).await;
        assert_eq!(get.verdict(), "405 METHOD_NOT_ALLOWED");
    }

    async fn items_of_another_site_are_never_told(engine) {
        let app = app_with(engine, "ANYONE").await;
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let (_, key) = app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let theirs = app.with_token(key.expose());
        let fields = json!([{ "key": "t", "type": "TEXT" }]);
        let object = json!({ "id": "tasks", "fields": fields, "dataPermissions": levels("ANYONE"), "realtime": true });
        assert_eq!(theirs.post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
        save(&theirs, json!({ "_id": "theirs" })).await;
        let (mut mine, mut others) = (ready(&app.visitor().await).await, ready(&theirs).await);
        save(&theirs, json!({ "_id": "theirs", "t": "x" })).await;
        assert_eq!(change(&others.told().await.1), ("update", "theirs"));
        assert!(mine.is_quiet(QUIET).await);
        save(&app.app(), json!({ "_id": "mine" })).await;
        assert_eq!(change(&mine.told().await.1), ("enter", "mine"));
        // A place in the log of one site is none in that of another.
        let resume = json!([{ "key": "a", "dataCollectionId": "tasks", "resume": others.last_id }]);
        let mut stream = app.app().follow(&resume).await;
        assert_eq!(stream.told().await, ("resync".to_owned(), json!({ "key": "a", "reason": "gap" })));
    }

    async fn stream_ends_with_its_site(engine) {
        let app = TestApp::new(engine).await;
        let site = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let (_, key) = app.app.identity.api_key_create(&site.id, "other").await.unwrap();
        let theirs = app.with_token(key.expose());
        let object = json!({ "id": "tasks", "fields": [{ "key": "t", "type": "TEXT" }], "dataPermissions": levels("ANYONE"), "realtime": true });
        assert_eq!(theirs.post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
        define(&app, "tasks", levels("ANYONE"), true).await;
        let (mut stream, mut others) = (ready(&theirs).await, ready(&app.app()).await);
        app.kit.store.site_delete(&site.id, app.kit.world.now()).await.unwrap();
        let events: Vec<String> = stream.rest().await.into_iter().map(|it| it.event).collect();
        assert_eq!(events, ["bye"]);
        save(&app.app(), json!({ "_id": "one" })).await;
        assert_eq!(change(&others.told().await.1), ("enter", "one"), "those of other sites go on");
    }

    /// Once a withdrawal is answered nothing is told any more by the rights that were.
    async fn stream_ends_before_a_sign_out_is_answered(engine) {
        let app = app_with(engine, "SITE_MEMBER").await;
        let member = app.member("ada@example.org").await;
        let mut stream = ready(&member).await;
        let sessions = member.get("/_api/identity/v1/sessions").await.json();
        let session = sessions["sessions"][0]["id"].as_str().unwrap();
        let ended = member.delete(&format!("/_api/identity/v1/sessions/{session}")).await;
        assert_eq!(ended.verdict(), "200", "{ended:?}");
        save(&app.app(), json!({ "_id": "later" })).await;
        let rest = stream.rest().await;
        assert_eq!(rest.iter().map(|it| it.event.as_str()).collect::<Vec<_>>(), ["bye"], "{rest:?}");
        assert!(rest[0].data["reconnectMs"].as_u64().is_some_and(|it| it > 0));
        assert_eq!(member.try_follow(&all_tasks()).await.err().map(|it| code(&it)).as_deref(), Some("401 UNAUTHENTICATED"));
    }

    async fn stream_ends_before_a_block_is_answered(engine) {
        let app = app_with(engine, "SITE_MEMBER").await;
        let (member, other) = (app.member("ada@example.org").await, app.member("bob@example.org").await);
        let (mut stream, mut others) = (ready(&member).await, ready(&other).await);
        let id = own_id(&member).await;
        let blocked = app.app().post(&format!("/members/v1/members/{id}/block"), &json!({})).await;
        assert_eq!(blocked.verdict(), "200");
        save(&app.app(), json!({ "_id": "later" })).await;
        let rest = stream.rest().await;
        assert_eq!(rest.iter().map(|it| it.event.as_str()).collect::<Vec<_>>(), ["bye"], "{rest:?}");
        assert_eq!(change(&others.told().await.1), ("enter", "later"), "another's goes on");
    }

    async fn level_counts_before_its_change_is_answered(engine) {
        let app = app_with(engine, "ANYONE").await;
        let (visitor, member) = (app.visitor().await, app.member("ada@example.org").await);
        save(&member, json!({ "_id": "own" })).await;
        let (mut visitors, mut members, mut apps) = (ready(&visitor).await, ready(&member).await, ready(&app.app()).await);
        let narrow = json!({ "dataCollection": { "id": "tasks", "dataPermissions": { "itemRead": "SITE_MEMBER_AUTHOR" } } });
        let changed = app.app().send(Method::PATCH, "/v2/collections/tasks", Some(narrow.to_string().into())).await;
        assert_eq!(changed.verdict(), "200", "{changed:?}");
        save(&app.app(), json!({ "_id": "hidden" })).await;
        let resync = ("resync".to_owned(), json!({ "key": "a", "reason": "permission" }));
        assert_eq!(visitors.told().await, resync);
        assert_eq!(members.told().await, resync);
        assert_eq!(change(&apps.told().await.1), ("enter", "hidden"), "an app sees what it saw");

        let mut members = ready(&member).await;
        save(&app.app(), json!({ "_id": "hidden", "t": "x" })).await;
        save(&member, json!({ "_id": "own", "t": "x" })).await;
        assert_eq!(change(&members.told().await.1), ("update", "own"), "of others' items not even the id");
        let closed = json!({ "dataCollection": { "id": "tasks", "dataPermissions": { "itemRead": "PRIVILEGED" } } });
        app.app().send(Method::PATCH, "/v2/collections/tasks", Some(closed.to_string().into())).await;
        let (event, data) = members.told().await;
        assert_eq!((event.as_str(), &data["code"]), ("failed", &json!("WDE0027")));
        let off = json!({ "dataCollection": { "id": "tasks", "realtime": false } });
        app.app().send(Method::PATCH, "/v2/collections/tasks", Some(off.to_string().into())).await;
        let (event, data) = apps.told().await;
        assert_eq!((event.as_str(), &data["code"]), ("failed", &json!("WDE0119")), "{data}");
    }

    /// They would be passed by: an event would show what they hide.
    async fn collection_whose_hooks_decide_on_what_is_shown_is_not_followed(engine) {
        let app = app_with(engine, "ANYONE").await;
        app.app.content.keep_hooks(hooks::host());
        define(&app, "other", levels("ANYONE"), true).await;
        let deploy = async |source: &str| {
            assert_eq!(app.app().post("/_api/hooks/v1/versions", &json!({ "source": source })).await.verdict(), "200", "{source}");
        };
        let change_collection = async |without_hooks: bool| {
            let change = json!({ "dataCollection": { "id": "tasks", "realtimeWithoutHooks": without_hooks } });
            let changed = app.app().send(Method::PATCH, "/v2/collections/tasks", Some(change.to_string().into())).await;
            assert_eq!(changed.verdict(), "200");
            let shown = app.app().get("/v2/collections/tasks").await.json();
            assert_eq!(shown["collection"]["realtimeWithoutHooks"].as_bool(), without_hooks.then_some(true), "{shown}");
        };
        let visitor = app.visitor().await;
        let refused = async |stream: &mut Streamed| {
            let (event, data) = stream.told().await;
            assert_eq!((event.as_str(), &data["code"]), ("failed", &json!("WDE0119")), "{data}");
        };
        for (n, hook) in ["afterQuery", "afterGet", "beforeQuery", "beforeGet"].into_iter().enumerate() {
            deploy("export function tasks_beforeCount(query) { return query }").await;
            let (mut stream, mut apps) = (ready(&visitor).await, ready(&app.app()).await);
            save(&app.app(), json!({ "_id": format!("one{n}"), "t": "seen" })).await;
            for it in [&mut stream, &mut apps] {
                assert_eq!(change(&it.told().await.1), ("enter", format!("one{n}").as_str()), "other hooks decide on nothing");
            }
            deploy(&format!("export function tasks_{hook}(it) {{ delete it.t; return it }}")).await;
            save(&app.app(), json!({ "_id": format!("two{n}"), "t": "hidden" })).await;
            refused(&mut stream).await;
            // Of owners and applications too, who may do without hooks elsewhere.
            refused(&mut apps).await;
            refused(&mut visitor.follow(&all_tasks()).await).await;
            let both = json!([{ "key": "tasks", "dataCollectionId": "tasks" }, { "key": "other", "dataCollectionId": "other" }]);
            let mut stream = visitor.follow(&both).await;
            refused(&mut stream).await;
            assert_eq!(stream.told().await, ("ready".to_owned(), json!({ "key": "other" })));
        }
        change_collection(true).await;
        let mut stream = ready(&visitor).await;
        save(&app.app(), json!({ "_id": "three", "t": "as it is stored" })).await;
        let (_, data) = stream.told().await;
        assert_eq!((change(&data), &data["item"]["t"]), (("enter", "three"), &json!("as it is stored")));
        change_collection(false).await;
        refused(&mut stream).await;
        deploy("").await;
        drop(ready(&visitor).await);
    }

    /// A hundred at once: as many as one network may have are let in, the others are told to come back.
    async fn streams_of_one_network_are_bounded(engine) {
        let app = app_with(engine, "ANYONE").await;
        let key = app.app();
        let subscription = subscription_to_tasks();
        let all = (0..100).map(|_| key.try_follow(&subscription));
        let answers = futures_util::future::join_all(all).await;
        let refused: Vec<&Reply> = answers.iter().filter_map(|it| it.as_ref().err()).collect();
        assert_eq!((answers.len() - refused.len(), refused.len()), (20, 80));
        for it in refused {
            assert_eq!(it.verdict(), "429 THROTTLED_FEATURE");
            assert!(it.headers.contains_key("retry-after"));
        }
        // Ordinary calls of that network are no fewer for it.
        let query = json!({ "dataCollectionId": "tasks" });
        assert_eq!(key.post("/v2/items/query", &query).await.verdict(), "200");
        drop(answers);
        let visitor = app.visitor().await;
        let mut held = Vec::new();
        for _ in 0..10 {
            held.push(visitor.follow(&subscription_to_tasks()).await);
        }
        let refused = visitor.try_follow(&subscription_to_tasks()).await.err().map(|it| it.verdict());
        assert_eq!(refused.as_deref(), Some("429 THROTTLED_FEATURE"), "a session has ten");
    }

    async fn streams_are_no_requests_in_progress(engine) {
        let mut app = app_with(engine, "ANYONE").await;
        app.restart(|it| {
            let mut settings = stoa_http::Settings::default();
            settings.limits.network_connections = 8;
            it.settings = std::sync::Arc::new(settings);
        });
        let mut held = Vec::new();
        for _ in 0..12 {
            let mut stream = app.app().follow(&subscription_to_tasks()).await;
            assert_eq!(stream.told().await.0, "ready");
            held.push(stream);
        }
        save(&app.app(), json!({ "_id": "one" })).await;
        for it in &mut held {
            assert_eq!(change(&it.told().await.1), ("enter", "one"));
        }
    }
}

fn subscription_to_tasks() -> Value {
    json!([{ "key": "a", "dataCollectionId": "tasks" }])
}
