//! Aggregation in both forms (docs/protocol/content.md §3.10, §3.11, §21.7), by URL and on both engines.

use serde_json::{Value as Json, json};
use stoa_testkit::{Engine, Reply, TestApp, TestClient};

mod agreement;
mod bounds;
mod exact;
mod meaning;
mod model;
mod random;

const AGGREGATE: &str = "/v2/items/aggregate";
const PIPELINE: &str = "/v2/items/aggregate-pipeline";

/// A collection that anyone may use.
async fn open(app: &TestApp, id: &str) {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "tags", "type": "ARRAY" }, { "key": "others", "type": "ARRAY" }]);
    let body = json!({ "collection": { "id": id, "fields": fields, "dataPermissions": levels } });
    let reply = app.app().post("/v2/collections", &body).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
}

/// Inserts items in the order of the list, a minute between each ten.
async fn fill(app: &TestApp, id: &str, items: &[Json]) {
    for items in items.chunks(10) {
        let items: Vec<_> = items.iter().map(|it| json!({ "data": it })).collect();
        let body = json!({ "dataCollectionId": id, "dataItems": items });
        let reply = app.app().post("/v2/bulk/items/insert", &body).await;
        assert_eq!(reply.json()["bulkActionMetadata"]["totalFailures"], 0, "{:?}", reply.body);
        app.kit.clock.advance(60_000);
    }
}

/// The items as they are stored, dates and all.
async fn stored(app: &TestApp, id: &str) -> Vec<Json> {
    let body = json!({ "dataCollectionId": id, "query": { "paging": { "limit": 1000 } } });
    let page = app.app().post("/v2/items/query", &body).await.json();
    page["dataItems"].as_array().unwrap().iter().map(|it| it["data"].clone()).collect()
}

async fn pipeline(client: &TestClient<'_>, id: &str, stages: Json) -> Reply {
    client.post(PIPELINE, &json!({ "dataCollectionId": id, "pipeline": { "stages": stages } })).await
}

/// What a pipeline comes to: its results, or what it is refused with.
async fn outcome(client: &TestClient<'_>, id: &str, stages: Json) -> Json {
    let reply = pipeline(client, id, stages).await;
    if reply.status.is_success() { reply.json()["results"].clone() } else { json!(reply.verdict()) }
}

async fn app_with(engine: Engine, items: &[Json]) -> TestApp {
    let app = TestApp::new(engine).await;
    open(&app, "c").await;
    fill(&app, "c", items).await;
    app
}
