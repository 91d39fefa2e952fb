//! Searches through HTTP: what a page is, and what is refused.

use serde_json::{Value, json};
use stoa_testkit::{TestApp, on_both_engines};

async fn places(app: &TestApp) {
    let relation = json!({ "multiReference": { "referencedCollectionId": "places" } });
    let fields = json!([
        { "key": "name", "type": "TEXT" }, { "key": "tags", "type": "ARRAY_STRING" }, { "key": "names", "type": "ARRAY_STRING" },
        { "key": "near", "type": "MULTI_REFERENCE", "typeMetadata": relation },
    ]);
    let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let object = json!({ "id": "places", "displayField": "name", "fields": fields, "dataPermissions": open });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
    let items = ["New York", "York", "São Paulo"].map(|it| json!({ "data": { "_id": it.to_lowercase(), "name": it } }));
    let body = json!({ "dataCollectionId": "places", "dataItems": items });
    assert_eq!(app.app().post("/v2/bulk/items/insert", &body).await.verdict(), "200");
}

on_both_engines! {
    async fn pages_of_a_search_are_those_of_a_query(engine) {
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        app.search_caught_up().await;
        let search = json!({ "search": { "expression": "new york" }, "fields": ["name"], "paging": { "limit": 1, "offset": 0 } });
        let page = app.visitor().await.post("/v2/items/search", &json!({ "dataCollectionId": "places", "search": search })).await.json();
        let item = json!({ "id": "new york", "dataCollectionId": "places", "data": { "_id": "new york", "name": "New York" } });
        let paging = json!({ "count": 1, "offset": 0, "hasNext": true, "tooManyToCount": false });
        assert_eq!(page, json!({ "dataItems": [item], "pagingMetadata": paging }));
        let lag = app.visitor().await.get("/_api/search/v1/lag").await.json();
        assert_eq!(lag, json!({ "isCurrent": true, "lagMilliseconds": 0 }));
        let lag = app.app().get("/_api/search/v1/lag").await.json();
        assert_eq!(lag, json!({ "isCurrent": true, "pendingEntries": 0, "lagMilliseconds": 0, "unbuiltCollections": 0 }));
    }

    async fn searches_without_limit_and_words_have_a_hundred_items(engine) {
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        let items: Vec<_> = (0..110).map(|n| json!({ "data": { "_id": format!("i{n}"), "name": "Elsewhere" } })).collect();
        let body = json!({ "dataCollectionId": "places", "dataItems": items });
        assert_eq!(app.app().post("/v2/bulk/items/insert", &body).await.verdict(), "200");
        app.search_caught_up().await;
        let visitor = app.visitor().await;
        let found = async |search: Value| {
            let page = visitor.post("/v2/items/search", &json!({ "dataCollectionId": "places", "search": search })).await.json();
            (page["dataItems"].as_array().unwrap().len(), page["pagingMetadata"]["hasNext"].clone())
        };
        assert_eq!(found(json!({})).await, (100, json!(true)));
        let of = json!({ "filter": { "name": { "$startsWith": "New" } } });
        assert_eq!(found(of).await, (1, json!(false)));
    }

    async fn wrong_searches_are_refused(engine) {
        let app = TestApp::new(engine).await;
        places(&app).await;
        let deep = (0..20).fold(json!({ "n": 1 }), |it, _| json!({ "$not": [it] }));
        let filter = |filter: Value| json!({ "filter": filter });
        for (search, wants) in [
            (filter(deep), "400 WDE0169"),
            (filter(json!({ "a.$b": 1 })), "400 WDE0134"),
            (filter(json!({ "name": { "$regex": "x" } })), "400 WDE0070"),
            (filter(json!({ "near": { "$gt": "x" } })), "400 WDE0093"),
            (json!({ "sort": [{ "fieldName": "near" }] }), "428 WDE0119"),
            (json!({ "sort": [{ "fieldName": "tags" }, { "fieldName": "names" }] }), "400 WDE0121"),
            (json!({ "cursorPaging": { "cursor": "x" } }), "400 WDE0151"),
            (json!({ "search": { "expression": "x", "fields": ["near"] } }), "400 WDE0147"),
        ] {
            let body = json!({ "dataCollectionId": "places", "search": search });
            assert_eq!(app.app().post("/v2/items/search", &body).await.verdict(), wants, "{body}");
        }
    }
}
