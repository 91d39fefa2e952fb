//! Killing the program while it makes and merges the segments of an index leaves, in the end, what is built from the start.

use crate::{
    process::{Deployment, Server, get, post},
    watch::Watch,
};
use serde_json::{Value, json};
use std::time::Duration;
use stoa_kernel::{World, clock::elapsing};
use stoa_store::{ReaderPool, Store, boxed};
use stoa_testkit::{Engine, rounds};

/// Items that are written in a round, and ids that there are.
const ITEMS: usize = 600;
const IDS: usize = 3_000;
const WORDS: [&str; 8] = ["red", "blue", "car", "boat", "bird", "münchen", "東京タワー", "york"];
/// What follows on a write within this time is dealt with together.
const APART: Duration = Duration::from_millis(260);

#[test]
fn index_killed_while_it_is_made_on_sqlite() {
    killed(Engine::Sqlite, rounds(4), INDEXED, indexing);
}

#[test]
fn index_killed_while_it_is_made_on_postgres() {
    killed(Engine::Postgres, rounds(4), INDEXED, indexing);
}

#[test]
fn index_killed_while_it_is_merged_on_sqlite() {
    killed(Engine::Sqlite, rounds(2), MERGED, merging);
}

#[test]
fn index_killed_while_it_is_merged_on_postgres() {
    killed(Engine::Postgres, rounds(2), MERGED, merging);
}

/// What is left of a segment that is killed while it is written, or rows of the log that it had not dealt with.
const INDEXED: &str = "select (select count(*) from stoa.search_segment where state = 'WRITING' and level = 0) \
                       + (select count(*) from stoa.outbox o join stoa.outbox_consumer c \
                          on c.site = o.site and c.name = 'search' and o.seq > c.seq)";

/// What is left by a merge that is killed while it writes, or before what it has replaced is swept.
const MERGED: &str =
    "select count(*) from stoa.search_segment where state = 'WRITING' and level > 0 or state = 'REMOVED'";

/// Rounds that are added, or as many as were asked for, while not half of the kills were in time.
const FURTHER: usize = 10;

fn count(deployment: &Deployment, sql: &'static str) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&deployment.store_config()).await.unwrap();
        let (id, _) = store.sites().await.unwrap().remove(0);
        let site = store.site(&id).await.unwrap();
        let read = site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.row(sql, &[], |row| row.get(0)).await?)));
        let count = read.await.unwrap();
        store.leave().await;
        store.close();
        count.unwrap()
    })
}

fn below(most: usize) -> usize {
    (u64::from_le_bytes(World::real().bytes::<8>()) % most as u64) as usize
}

fn text() -> String {
    (0..1 + below(6)).map(|_| WORDS[below(WORDS.len())]).collect::<Vec<_>>().join(" ")
}

/// Many words, so that a segment is written and merged in several transactions.
fn long_text() -> String {
    let others = (0..30).map(|_| format!("w{}", below(20_000))).collect::<Vec<_>>();
    format!("{} {}", text(), others.join(" "))
}

/// `write` is what is done before each kill. `cut` counts what a kill in the middle leaves: half as many kills as there are
/// rounds must, in further rounds if it must be.
fn killed(engine: Engine, rounds: usize, cut: &'static str, write: fn(&Deployment, &Server, &str)) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    let mut server = deployment.serve(|_| {});
    let object = json!({ "id": "places", "displayField": "name", "fields": [
        { "key": "name", "type": "TEXT" }, { "key": "note", "type": "TEXT" },
    ], "permissions": { "read": "ANYONE", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" } });
    call(&server, &key, "/v2/collections", &json!({ "collection": object }));
    let plugin = json!({ "dataCollectionId": "places", "multilingualOptions": { "translatableFieldKeys": ["note"] } });
    call(&server, &key, "/v2/collections/add-multilingual-plugin", &plugin);
    let mut cuts = 0;
    for round in 0..rounds + rounds.max(FURTHER) {
        if round >= rounds && 2 * cuts >= rounds {
            break;
        }
        write(&deployment, &server, &key);
        server.kill();
        deployment.wait_for_database();
        cuts += usize::from(count(&deployment, cut) > 0);
        server = deployment.serve(|_| {});
    }
    assert!(2 * cuts >= rounds, "only {cuts} kills met what they are about");
    caught_up(&server, &key);
    let killed = answers(&server, &key);
    assert!(killed.iter().filter(|it| it.len() > 100).count() > 10, "there is something to find");
    // The same questions to an index that is built anew.
    for switch in ["--search=false", "--search"] {
        deployment.json(&["collection", "update", "places", switch]);
        caught_up(&server, &key);
    }
    assert_eq!(answers(&server, &key), killed);
    assert!(server.stop());
}

/// A segment is made while it is killed.
fn indexing(_: &Deployment, server: &Server, key: &str) {
    save(server, key, ITEMS);
    remove(server, key);
    std::thread::sleep(APART + Duration::from_millis(below(400) as u64));
}

/// So many segments are made, one after the other, that some are merged, which begins once all writes are in the index. It is
/// killed a little after the merge is seen to write.
fn merging(deployment: &Deployment, server: &Server, key: &str) {
    for _ in 0..8 + below(3) {
        save(server, key, ITEMS / 4);
        std::thread::sleep(APART);
    }
    let watch = Watch::new(deployment);
    remove(server, key);
    let since = elapsing();
    while elapsing() - since < 5_000 && watch.count(MERGED) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(below(30) as u64));
}

fn save(server: &Server, key: &str, count: usize) {
    let item = |_| {
        let id = format!("p{}", below(IDS));
        json!({ "id": id, "data": { "_id": id, "name": text(), "note": long_text() } })
    };
    let items: Vec<Value> = (0..count).map(item).collect();
    call(server, key, "/v2/bulk/items/save", &json!({ "dataCollectionId": "places", "dataItems": items }));
    for item in &items[..3] {
        let set = json!({ "fieldPath": "note", "action": "SET_FIELD", "setFieldOptions": { "value": long_text() } });
        let patch = json!({ "dataItemId": item["id"], "fieldModifications": [set] });
        call(
            server,
            key,
            "/v2/items/patch",
            &json!({ "dataCollectionId": "places", "language": "de", "patch": patch }),
        );
    }
}

fn remove(server: &Server, key: &str) {
    let ids: Vec<_> = (0..50).map(|_| format!("p{}", below(IDS))).collect();
    call(server, key, "/v2/bulk/items/remove", &json!({ "dataCollectionId": "places", "dataItemIds": ids }));
}

fn call(server: &Server, key: &str, path: &str, body: &Value) -> Value {
    let (status, answer) = post(&format!("{}{path}", server.url), key, body).expect("an answer");
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

fn caught_up(server: &Server, key: &str) {
    for _ in 0..3_000 {
        let (status, text) = get(&format!("{}/_api/search/v1/lag", server.url), &[("authorization", key)]);
        assert_eq!(status, 200, "{text}");
        if serde_json::from_str::<Value>(&text).unwrap()["isCurrent"] == true {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the index has not caught up within a minute");
}

/// What questions find, in its order: words that many items have, and every word of all texts by its beginning.
fn answers(server: &Server, key: &str) -> Vec<Vec<Value>> {
    let questions = [
        ("red", "OR"),
        ("red car", "AND"),
        ("b*", "OR"),
        ("muenchen yrok~", "OR"),
        ("東京", "AND"),
        ("york boat bird", "AND"),
    ];
    let numbers = (1..10).map(|it| (format!("w{it}*"), "OR"));
    let questions: Vec<(String, &str)> =
        questions.map(|(it, mode)| (it.to_owned(), mode)).into_iter().chain(numbers).collect();
    let ask = |(language, expression, mode): (Option<&str>, &str, &str)| {
        let search = json!({ "search": { "expression": expression, "mode": mode }, "paging": { "limit": 1000 } });
        let page = call(
            server,
            key,
            "/v2/items/search",
            &json!({ "dataCollectionId": "places", "language": language, "search": search }),
        );
        page["dataItems"].as_array().unwrap().clone()
    };
    let of_language = |language| questions.iter().map(move |(it, mode)| (language, it.as_str(), *mode));
    [None, Some("de")].into_iter().flat_map(of_language).map(ask).collect()
}
