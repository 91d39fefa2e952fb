//! GraphQL as clients ask it: what it answers beside the calls of content, to whom, and what it refuses.

mod changing;
mod http;
mod many;
mod rights;
mod writes;

use serde_json::{Value, json};
use stoa_testkit::{TestApp, TestClient, on_both_engines};

const PATH: &str = "/graphql/v1";

/// What a document is answered.
async fn ask(client: &TestClient<'_>, query: &str, variables: Value) -> Value {
    let reply = client.post(PATH, &json!({ "query": query, "variables": variables })).await;
    assert_eq!(reply.status, 200, "{query}: {:?}", reply.body);
    reply.json()
}

/// The data of a document that is answered whole.
async fn data(client: &TestClient<'_>, query: &str, variables: Value) -> Value {
    let answer = ask(client, query, variables).await;
    assert_eq!(answer.get("errors"), None, "{query}: {answer}");
    answer["data"].clone()
}

/// The text of the first error.
fn message(answer: &Value) -> &str {
    answer["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("no error: {answer}"))
}

async fn define(app: &TestApp, id: &str, fields: Value, levels: [&str; 4]) {
    let [read, insert, update, remove] = levels;
    let levels = json!({ "itemRead": read, "itemInsert": insert, "itemUpdate": update, "itemRemove": remove });
    let body = json!({ "collection": { "id": id, "fields": fields, "dataPermissions": levels } });
    let reply = app.app().post("/v2/collections", &body).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
}

async fn insert(app: &TestApp, collection: &str, items: Value) {
    let items: Value = items.as_array().unwrap().iter().map(|it| json!({ "data": it })).collect();
    let body = json!({ "dataCollectionId": collection, "dataItems": items, "saveReferences": true });
    let reply = app.app().post("/v2/bulk/items/insert", &body).await;
    assert_eq!(reply.json()["bulkActionMetadata"]["totalFailures"], 0, "{:?}", reply.body);
}

fn field(key: &str, kind: &str) -> Value {
    json!({ "key": key, "type": kind })
}

fn single(key: &str, target: &str) -> Value {
    let metadata = json!({ "reference": { "referencedCollectionId": target } });
    json!({ "key": key, "type": "REFERENCE", "typeMetadata": metadata })
}

fn multi(key: &str, target: &str) -> Value {
    let metadata = json!({ "multiReference": { "referencedCollectionId": target, "referencingFieldKey": "of" } });
    json!({ "key": key, "type": "MULTI_REFERENCE", "typeMetadata": metadata })
}

const OPEN: [&str; 4] = ["ANYONE"; 4];

/// Cars of two brands, with tags.
async fn garage(app: &TestApp) {
    define(app, "brands", json!([field("name", "TEXT"), single("owner", "brands")]), OPEN).await;
    define(app, "tags", json!([field("name", "TEXT")]), OPEN).await;
    let fields = json!([
        field("title", "TEXT"),
        field("price", "NUMBER"),
        field("built", "DATETIME"),
        field("words", "ARRAY_STRING"),
        single("brand", "brands"),
        multi("tags", "tags"),
    ]);
    define(app, "cars", fields, OPEN).await;
    insert(app, "brands", json!([{ "_id": "b1", "name": "One", "owner": "b2" }, { "_id": "b2", "name": "Two" }])).await;
    insert(
        app,
        "tags",
        json!([{ "_id": "t1", "name": "old" }, { "_id": "t2", "name": "red" }, { "_id": "t3", "name": "fast" }]),
    )
    .await;
    insert(app, "cars", json!([
        { "_id": "c1", "title": "a", "price": 1, "built": { "$date": "2026-01-02T03:04:05.006Z" }, "words": ["x"], "brand": "b1", "tags": ["t3", "t1", "t2"] },
        { "_id": "c2", "title": "b", "price": 2, "brand": "b2" },
        { "_id": "c3", "title": "c", "price": 3, "brand": "gone", "more": { "deep": [1] } },
    ])).await;
}

on_both_engines! {
    async fn page_has_what_the_calls_on_items_have(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let query = "query($filter: JSON!) {
            cars(filter: $filter, sort: [{field: \"price\", order: DESC}], limit: 2) {
                totalCount hasNext
                items { _id title price built words brand { name owner { name } } tags(limit: 2) { name } __typename }
            }
            carsCount(filter: $filter)
            one: carsItem(id: \"c3\") { title brand { name } _data }
            none: carsItem(id: \"nothing\") { title }
            _collections
        }";
        let found = data(&visitor, query, json!({ "filter": { "price": { "$lte": 2 } } })).await;
        let data_of = visitor.get("/v2/items/c3?dataCollectionId=cars").await.json()["dataItem"]["data"].clone();
        assert_eq!(found, json!({
            "cars": {
                "totalCount": 2, "hasNext": false,
                "items": [
                    { "_id": "c2", "title": "b", "price": 2, "built": null, "words": null,
                      "brand": { "name": "Two", "owner": null }, "tags": [], "__typename": "Cars" },
                    { "_id": "c1", "title": "a", "price": 1, "built": "2026-01-02T03:04:05.006Z", "words": ["x"],
                      "brand": { "name": "One", "owner": { "name": "Two" } },
                      "tags": [{ "name": "fast" }, { "name": "old" }], "__typename": "Cars" },
                ],
            },
            "carsCount": 2,
            "one": { "title": "c", "brand": null, "_data": data_of },
            "none": null,
            "_collections": ["brands", "tags", "cars"],
        }));
    }

    async fn cursors_lead_through_all_pages(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let page = "items { _id } next prev";
        let first = data(&visitor, &format!("{{cars(sort: {{field: \"title\"}}, limit: 2) {{{page}}}}}"), json!({})).await;
        assert_eq!(first["cars"]["items"], json!([{ "_id": "c1" }, { "_id": "c2" }]));
        assert_eq!(first["cars"]["prev"], Value::Null);
        let next = format!("query($c: String!) {{cars(cursor: $c, limit: 2) {{{page}}}}}");
        let second = data(&visitor, &next, json!({ "c": first["cars"]["next"] })).await;
        assert_eq!(second["cars"]["items"], json!([{ "_id": "c3" }]));
        assert_eq!(second["cars"]["next"], Value::Null);
        let back = data(&visitor, &next, json!({ "c": second["cars"]["prev"] })).await;
        assert_eq!(back["cars"]["items"], first["cars"]["items"]);
        let broken = ask(&visitor, &next, json!({ "c": "nonsense" })).await;
        assert_eq!(broken["data"]["cars"], Value::Null);
        assert_eq!(broken["errors"][0]["extensions"]["code"], "WDE0151");
    }

    async fn refusals_of_content_stand_in_their_field(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let query = "query($f: JSON) {good: carsCount bad: cars(filter: $f) {items {_id}} large: cars(limit: 1001) {hasNext} deep: cars(limit: 1) {items {brand {owner {owner {owner {owner {owner {name}}}}}}}}}";
        let answer = ask(&visitor, query, json!({ "f": { "price": { "$near": 1 } } })).await;
        assert_eq!(answer["data"], json!({ "good": 3, "bad": null, "large": null, "deep": null }));
        let of = |n: usize| {
            let error = &answer["errors"][n];
            (error["path"].clone(), error["extensions"]["code"].clone())
        };
        assert_eq!(of(0), (json!(["bad"]), json!("WDE0093")));
        assert_eq!(of(1), (json!(["large"]), json!("WDE0036")));
        assert_eq!(of(2), (json!(["deep"]), json!("WDE0080")));
        assert!(message(&answer).starts_with("WDE0093: "), "{answer}");
    }

    async fn names_follow_collections(engine) {
        let app = TestApp::new(engine).await;
        define(&app, "shop/my-things", json!([field("max speed", "NUMBER"), field("1st", "TEXT")]), OPEN).await;
        define(&app, "shop_my_things", json!([field("a", "TEXT")]), OPEN).await;
        insert(&app, "shop/my-things", json!([{ "_id": "x", "max speed": 5, "1st": "y" }])).await;
        insert(&app, "shop_my_things", json!([{ "_id": "z", "a": "b" }])).await;
        let query = "{shop_my_things {items {_id max_speed _1st __typename}} shop_my_things_2 {items {_id a}}}";
        assert_eq!(data(&app.app(), query, json!({})).await, json!({
            "shop_my_things": { "items": [{ "_id": "x", "max_speed": 5, "_1st": "y", "__typename": "Shop_my_things" }] },
            "shop_my_things_2": { "items": [{ "_id": "z", "a": "b" }] },
        }));
        let refused = ask(&app.app(), "{shop_my_things_3 {hasNext}}", json!({})).await;
        assert_eq!(refused["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
        assert_eq!(refused.get("data"), None);
    }
}
