//! Pages by cursor through a large collection, while others write into it (docs/hazards.md §Cursors).

use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::HashMap;
use stoa_sql::Table;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{TestApp, TestClient, on_both_engines};

const ITEMS: usize = 135_233;
const COUNTRIES: usize = 200;

/// A collection of `i0` to `i135232`, each with one of 200 countries, and an index on these. The items are
/// made inside the engine.
async fn fill(app: &TestApp) {
    let object = json!({ "id": "cities", "fields": [{ "key": "country", "type": "TEXT" }], "dataPermissions": {} });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
    let site = app.site.number;
    let read = app.site.read(ReaderPool::Scan, |tx| {
        boxed!(Ok(tx.row("select max(number) from stoa.collection", &[], |row| row.get::<i64>(0)).await?))
    });
    let table = Table { site, number: read.await.unwrap().unwrap() };
    let load = app.site.write(move |tx| {
        boxed!({
            let d = tx.dialect();
            let document = d.store_doc(&format!(
                "('{{\"_id\":\"i' || n || '\",\"country\":\"c' || (n * 7919 % {COUNTRIES}) || '\",\"n\":' || n || '}}')"
            ));
            let sql = format!(
                "with recursive number(n) as (select 0 union all select n + 1 from number where n < {}) \
                 insert into {} (id, created, updated, owner, doc) select 'i' || n, n, n, null, {document} from number",
                ITEMS - 1,
                d.table(table)
            );
            Ok(tx.execute(&sql, &[]).await?)
        })
    });
    assert_eq!(load.await.unwrap(), ITEMS as u64);
    let index =
        json!({ "dataCollectionId": "cities", "index": { "name": "country", "fields": [{ "path": "country" }] } });
    assert_eq!(app.app().post("/v2/indexes", &index).await.verdict(), "200");
    app.app.content.index_work_do(&app.site).await.unwrap();
    let list = app.app().get("/v2/indexes?dataCollectionId=cities").await.json();
    let is_ready = |it: &Value| it["name"] == "country" && it["status"] == "ACTIVE";
    assert!(list["indexes"].as_array().unwrap().iter().any(is_ready), "{list}");
}

/// Puts items among the others and takes them away again, until stopped.
async fn disturb(client: TestClient<'_>, stop: &Cell<bool>) -> usize {
    let id = |n: usize| format!("i{}-other-{n}", n * 6151 % ITEMS);
    let mut n = 0;
    while !stop.get() {
        n += 1;
        let item = json!({ "_id": id(n), "country": format!("c{}", n * 31 % COUNTRIES) });
        let reply =
            client.post("/v2/items", &json!({ "dataCollectionId": "cities", "dataItem": { "data": item } })).await;
        assert_eq!(reply.verdict(), "200");
        if n > 50 {
            let old = id(n - 50);
            let path = format!("/v2/items/{old}?dataCollectionId=cities&dataItemId={old}");
            assert_eq!(client.delete(&path).await.verdict(), "200");
        }
    }
    n
}

/// Follows cursors to the end, `next` or `prev`: how often each item was met that was there all the
/// time, and the last page.
async fn follow(client: &TestClient<'_>, mut page: Value, way: &str, met: &mut HashMap<String, u32>) -> Value {
    loop {
        for it in page["dataItems"].as_array().unwrap() {
            let id = it["data"]["_id"].as_str().unwrap();
            if !id.contains("other") {
                *met.entry(id.to_owned()).or_default() += 1;
            }
        }
        let Some(cursor) = page["pagingMetadata"]["cursors"][way].as_str() else { return page };
        // A short read is over at once; the others have their turn between two of them.
        tokio::task::yield_now().await;
        page = ask(client, json!({ "fields": ["n"], "cursorPaging": { "cursor": cursor, "limit": 100 } })).await;
    }
}

async fn ask(client: &TestClient<'_>, query: Value) -> Value {
    let reply = client.post("/v2/items/query", &json!({ "dataCollectionId": "cities", "query": query })).await;
    assert_eq!(reply.verdict(), "200");
    reply.json()
}

on_both_engines! {
    async fn cursor_pages_show_lasting_items_exactly_once(engine) {
        let app = TestApp::new(engine).await;
        fill(&app).await;
        let stop = Cell::new(false);
        let pages = async {
            let client = app.app();
            let begin = json!({ "sort": [{ "fieldName": "country" }], "fields": ["n"], "cursorPaging": { "limit": 100 } });
            let first = ask(&client, begin).await;
            let mut forward = HashMap::with_capacity(ITEMS);
            let last = follow(&client, first, "next", &mut forward).await;
            let mut back = HashMap::with_capacity(ITEMS);
            follow(&client, last, "prev", &mut back).await;
            stop.set(true);
            [forward, back]
        };
        let (paged, writes) = tokio::join!(pages, disturb(app.app(), &stop));
        for met in paged {
            assert!(met.values().all(|it| *it == 1), "an item was met more than once");
            assert_eq!(met.len(), ITEMS);
        }
        assert!(writes > 100, "the others wrote {writes} times only");
    }
}
