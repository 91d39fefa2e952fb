//! Another key for a site's encrypted fields: everything is read while it goes on, and nothing else of an item changes
//! (decision 26).

use super::{broken::stored, *};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use stoa_content::{Content, ContentLimits};
use stoa_store::boxed;

/// Under which key each stored item has its pin.
async fn key_of(app: &TestApp, id: &str) -> String {
    let document: Value = serde_json::from_str(&stored(app, id).await).unwrap();
    document["pin"].as_str().unwrap().splitn(3, ':').take(2).collect::<Vec<_>>().join(":")
}

async fn rotate(app: &TestApp, rotation: &str) -> u64 {
    app.app.content.seal_site(&app.site, rotation, |_| ()).await.unwrap()
}

async fn left(app: &TestApp) -> u64 {
    app.app.content.seal_left(&app.site).await.unwrap()
}

/// As it is where the second key is known and not yet used.
async fn make_first_current(app: &TestApp) -> u64 {
    let written = app.site.write(|tx| {
        boxed!({
            let sql = "update stoa.setting set value = replace(value, '\"current\":2', '\"current\":1') \
                       where name = 'sealing keys'";
            Ok(tx.execute(sql, &[]).await?)
        })
    });
    written.await.unwrap()
}

fn item(n: usize) -> Value {
    json!({ "_id": format!("i{n}"), "title": "t", "pin": format!("hush {n}"), "card": { "n": n } })
}

on_both_engines! {
    async fn values_are_sealed_again_and_nothing_else_changes(engine) {
        let app = TestApp::new(engine).await;
        assert_eq!((rotate(&app, "before").await, left(&app).await), (0, 0), "nothing is encrypted here");
        open(&app).await;
        let client = app.app();
        // More than a chunk has, and some without a value.
        for first in [0, 400] {
            let items: Vec<Value> = (first..first + 400).map(item).collect();
            assert_eq!(bulk(&client, "insert", &items).await["bulkActionMetadata"]["totalSuccesses"], 400);
        }
        write(&client, "", json!({ "_id": "none", "title": "t", "pin": null })).await;
        let deleted = json!({ "id": "d", "fields": [secret("pin", "TEXT")], "dataPermissions": levels(OPEN) });
        assert_eq!(make(&app, deleted).await.verdict(), "200");
        let of_deleted = json!({ "dataCollectionId": "d", "dataItem": { "data": { "_id": "a", "pin": "hush" } } });
        assert_eq!(client.post("/v2/items", &of_deleted).await.verdict(), "200");
        assert_eq!(client.delete("/v2/collections/d?dataCollectionId=d").await.verdict(), "200");
        let mut place = Position::default();
        events_behind(&app, &mut place).await;
        let before = export(&app, Format::JsonLines).await.unwrap();
        assert_eq!(key_of(&app, "i7").await, "sealed:1");
        app.kit.clock.advance(1_000);

        assert_eq!((left(&app).await, rotate(&app, "first").await, left(&app).await), (0, 801, 0));
        assert_eq!(key_of(&app, "i7").await, "sealed:2");
        assert_eq!(key_of(&app, "i799").await, "sealed:2");
        let document: Value = serde_json::from_str(&stored(&app, "i7").await).unwrap();
        assert!(document["card"].as_str().is_some_and(|it| it.starts_with("sealed:2:")), "{document}");
        assert_eq!(export(&app, Format::JsonLines).await.unwrap(), before, "times and values are as they were");
        assert!(events_behind(&app, &mut place).await.is_empty(), "no event tells of it");
        assert_eq!(rotate(&app, "first").await, 0, "the same rotation makes no other key");
        assert_eq!(client.post("/v2/collections/restore/d", &json!({ "dataCollectionId": "d" })).await.verdict(), "200");
        let restored = client.get("/v2/items/a?dataCollectionId=d&dataItemId=a").await;
        assert_eq!(restored.json()["dataItem"]["data"]["pin"], "hush");

        // What is written, kept and replaced from now on.
        write(&client, "", item(900)).await;
        assert_eq!(key_of(&app, "i900").await, "sealed:2");
        let visitor = app.visitor().await;
        write(&visitor, "/update", json!({ "_id": "i7", "title": "other" })).await;
        assert_eq!(data(&get(&client, "i7").await)["pin"], "hush 7", "who isn't shown it keeps it");
        assert_eq!(rotate(&app, "second").await, 802);
        assert_eq!((key_of(&app, "i7").await, left(&app).await), ("sealed:3".to_owned(), 0));
        assert_eq!(data(&get(&client, "i7").await)["pin"], "hush 7");
        assert!(!is_stored(&app, engine, "hush").await);
    }

    /// Another node, which read the keys before: it opens what it finds, and seals with the new key once it was told.
    async fn nodes_read_and_write_while_values_are_sealed_again(engine) {
        let app = TestApp::with_nodes(engine, 3).await;
        open(&app).await;
        let items: Vec<Value> = (0..300).map(item).collect();
        assert_eq!(bulk(&app.app(), "insert", &items).await["bulkActionMetadata"]["totalSuccesses"], 300);
        let app = Arc::new(app);
        let is_over = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = (0..4)
            .map(|n| {
                let (app, is_over) = (app.clone(), is_over.clone());
                tokio::spawn(async move {
                    let (client, mut rounds) = (app.app(), 0);
                    while !is_over.load(Ordering::SeqCst) || rounds < 3 {
                        let page = query(&client, json!({ "paging": { "limit": 300 }, "sort": [{ "fieldName": "_id" }] })).await;
                        assert_eq!(page.verdict(), "200", "{:.300}", String::from_utf8_lossy(&page.body));
                        for it in page.json()["dataItems"].as_array().unwrap() {
                            assert!(it["data"]["pin"].as_str().unwrap().starts_with("hush "), "{it}");
                        }
                        let id = format!("i{}", (n * 50 + rounds) % 300);
                        let changed = json!({ "_id": id, "title": "t", "pin": format!("hush {n} {rounds}"), "card": { "n": rounds } });
                        assert_eq!(write(&client, "/save", changed).await.verdict(), "200");
                        rounds += 1;
                    }
                })
            })
            .collect();
        for rotation in ["first", "second", "third"] {
            rotate(&app, rotation).await;
        }
        is_over.store(true, Ordering::SeqCst);
        for it in readers {
            it.await.unwrap();
        }
        // What was begun with an older key and written after the walk went by is found by the next one.
        rotate(&app, "third").await;
        assert_eq!(left(&app).await, 0);
        for n in 0..300 {
            assert_eq!(key_of(&app, &format!("i{n}")).await, "sealed:4", "{n}");
        }
    }

    async fn rotation_that_is_cut_off_goes_on(engine) {
        let app = TestApp::new(engine).await;
        open(&app).await;
        let items: Vec<Value> = (0..700).map(item).collect();
        for some in items.chunks(350) {
            bulk(&app.app(), "insert", some).await;
        }
        let before = export(&app, Format::JsonLines).await.unwrap();
        // A process that ends after its first chunk, and another one that goes on.
        let (content, site) = (app.app.content.clone(), app.site.clone());
        let cut = Arc::new(tokio::sync::Notify::new());
        let (task, seen) = (cut.clone(), Arc::new(AtomicBool::new(false)));
        let first = seen.clone();
        let work = tokio::spawn(async move {
            content.seal_site(&site, "r", |_| { first.store(true, Ordering::SeqCst); task.notify_one(); }).await.map(drop)
        });
        cut.notified().await;
        work.abort();
        let _ = work.await;
        assert!(seen.load(Ordering::SeqCst));
        assert_eq!(export(&app, Format::JsonLines).await.unwrap(), before, "all is read");
        let again = Content::new(app.kit.world.clone(), ContentLimits::default());
        let rest = again.seal_site(&app.site, "r", |_| ()).await.unwrap();
        assert!(rest < 700, "{rest}: what was done stays done");
        assert_eq!((again.seal_left(&app.site).await.unwrap(), export(&app, Format::JsonLines).await.unwrap()), (0, before));
        assert_eq!(key_of(&app, "i0").await, "sealed:2");

        // Cut off where the key is known and not yet used.
        assert_eq!(make_first_current(&app).await, 1);
        let again = Content::new(app.kit.world.clone(), ContentLimits::default());
        assert_eq!(again.seal_left(&app.site).await.unwrap(), 700, "it opens all and seals with the first");
        assert_eq!(again.seal_site(&app.site, "r", |_| ()).await.unwrap(), 0);
        assert_eq!(again.seal_left(&app.site).await.unwrap(), 0);
    }
}
