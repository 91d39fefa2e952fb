//! Indexes by URL: the shapes of the answers, and who may.

use serde_json::{Value, json};
use stoa_testkit::{TestApp, TestClient, on_both_engines};

async fn create(client: &TestClient<'_>, collection: &str, index: Value) -> stoa_testkit::Reply {
    client.post("/v2/indexes", &json!({ "dataCollectionId": collection, "index": index })).await
}

on_both_engines! {
    async fn index_calls_have_all_their_names(engine) {
        let app = TestApp::new(engine).await;
        let collection = json!({ "id": "ns/c", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": { "itemRead": "ANYONE" } });
        let made = app.app().post("/v2/collections", &json!({ "collection": collection })).await.json();
        let limits = &made["collection"]["capabilities"];
        assert_eq!(limits["indexLimits"], json!({ "regular": 3, "unique": 1, "total": 4 }));
        assert_eq!(limits["indexQuotaLimits"]["regular3Field"], 3);

        let editor = app.editor().await;
        let reply = create(&editor, "ns/c", json!({ "name": "a b", "fields": [{ "path": "n", "order": "DESC" }] })).await;
        let index = reply.json()["index"].clone();
        assert_eq!((reply.verdict().as_str(), &index["status"], &index["fields"][0]["order"]), ("200", &json!("BUILDING"), &json!("DESC")));
        app.app.content.index_work_do(&app.site).await.unwrap();
        for prefix in ["", "/wix-data", "/_api/cloud-data", "/_api/data", "/data"] {
            let list = editor.get(&format!("{prefix}/v2/indexes?dataCollectionId=ns/c&paging.limit=2&paging.offset=2")).await.json();
            assert_eq!(list["pagingMetadata"], json!({ "count": 2, "offset": 2, "total": 4, "tooManyToCount": false }));
            assert_eq!((&list["indexes"][0]["source"], &list["indexes"][1]["status"]), (&json!("SYSTEM"), &json!("ACTIVE")));
        }
        let left = editor.get("/v2/indexes/available?dataCollectionId=ns/c").await.json();
        assert_eq!(left, json!({ "regular1Field": 0, "regular3Field": 2, "unique1Field": 1, "total": 3 }));

        let (member, visitor) = (app.member("m@example.org").await, app.visitor().await);
        for client in [&member, &visitor] {
            for id in ["ns/c", "none"] {
                assert_eq!(create(client, id, json!({ "name": "x", "fields": [{ "path": "x" }] })).await.verdict(), "403 WDE0027");
                for path in ["/v2/indexes", "/v2/indexes/available"] {
                    assert_eq!(client.get(&format!("{path}?dataCollectionId={id}")).await.verdict(), "403 WDE0027");
                }
                assert_eq!(client.delete(&format!("/v2/indexes?dataCollectionId={id}&indexName=a b").replace(' ', "%20")).await.verdict(), "403 WDE0027");
            }
        }
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let (_, secret) = app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let stranger = app.with_token(secret.expose());
        assert_eq!(stranger.delete("/v2/indexes?dataCollectionId=ns/c&indexName=a%20b").await.verdict(), "404 WDE0025");

        assert_eq!(editor.delete("/v2/indexes?dataCollectionId=ns/c").await.verdict(), "400 WDE0075");
        let gone = editor.delete("/v2/indexes?dataCollectionId=ns/c&indexName=a%20b").await;
        assert_eq!((gone.verdict().as_str(), gone.json()), ("200", json!({})));
        assert_eq!(editor.delete("/v2/indexes?dataCollectionId=ns/c&indexName=a%20b").await.verdict(), "400 WDE0176");
    }

    async fn items_with_lists_keep_their_position_in_pages(engine) {
        let app = TestApp::new(engine).await;
        let collection = json!({ "id": "c", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": { "itemRead": "ANYONE" } });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": collection })).await.verdict(), "200");
        create(&app.app(), "c", json!({ "name": "by n", "fields": [{ "path": "n" }] })).await;
        app.app.content.index_work_do(&app.site).await.unwrap();
        let items: Vec<_> = (0..6).map(|n| json!({ "data": { "_id": format!("i{n}"), "n": n } })).collect();
        let inserted = app.app().post("/v2/bulk/items/insert", &json!({ "dataCollectionId": "c", "dataItems": items })).await;
        assert_eq!(inserted.verdict(), "200");
        let client = app.app();
        let page = async |filter: Value| {
            let query = json!({ "filter": filter, "sort": [{ "fieldName": "n" }], "paging": { "limit": 3 } });
            let answer = client.post("/v2/items/query", &json!({ "dataCollectionId": "c", "query": query })).await.json();
            let ids = answer["dataItems"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
            (ids.collect::<Vec<_>>().join(" "), answer["pagingMetadata"]["hasNext"] == true)
        };
        let from_two = || json!({ "n": { "$gte": 2 } });
        // The index finds these; their order is chance's.
        let shuffled = json!({ "dataCollectionId": "c", "sortMode": "RANDOM", "query": { "filter": from_two() } });
        let answer = client.post("/v2/items/query", &shuffled).await;
        assert_eq!((answer.verdict().as_str(), answer.json()["pagingMetadata"]["count"].as_i64()), ("200", Some(4)));
        assert_eq!(page(from_two()).await, ("i2 i3 i4".to_owned(), true));
        let list = json!({ "dataCollectionId": "c", "dataItem": { "data": { "_id": "list", "n": [9, 2.5] } } });
        assert_eq!(app.app().post("/v2/items", &list).await.verdict(), "200");
        assert_eq!(page(from_two()).await, ("i2 list i3".to_owned(), true));
        assert_eq!(page(json!({ "n": { "$gte": 8 } })).await, ("list".to_owned(), false), "no other item tells of it");
        assert_eq!(page(json!({ "n": { "$gt": 9 } })).await, (String::new(), false));
        let gone = app.app().post("/v2/items/remove", &json!({ "dataCollectionId": "c", "dataItemId": "list" })).await;
        assert_eq!(gone.verdict(), "200");
        assert_eq!(page(from_two()).await, ("i2 i3 i4".to_owned(), true));
    }

    async fn unique_violation_is_a_conflict_with_its_data(engine) {
        let app = TestApp::new(engine).await;
        let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let collection = json!({ "id": "c", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": open });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": collection })).await.verdict(), "200");
        create(&app.app(), "c", json!({ "name": "only", "fields": [{ "path": "n" }], "unique": true })).await;
        app.app.content.index_work_do(&app.site).await.unwrap();
        let insert = |id: &str| json!({ "dataCollectionId": "c", "dataItem": { "data": { "_id": id, "n": 1 } } });
        assert_eq!(app.app().post("/v2/items", &insert("a")).await.verdict(), "200");
        let visitor = app.visitor().await;
        let refused = visitor.post("/v2/items", &insert("b")).await;
        assert_eq!(refused.verdict(), "409 WDE0123");
        let error = refused.json()["details"]["applicationError"].clone();
        assert!(error["description"].as_str().unwrap().starts_with("WDE0123: "));
        let data = json!({ "collectionName": "c", "itemId": "b", "details": "The index only allows each value of n once." });
        assert_eq!(error["data"], data, "of the other item it tells nothing");
        let bulk = json!({ "dataCollectionId": "c", "dataItems": [{ "data": { "_id": "x", "n": 2 } }, { "data": { "_id": "y", "n": 1 } }] });
        let answer = visitor.post("/v2/bulk/items/insert", &bulk).await.json();
        let failure = &answer["results"][1]["itemMetadata"];
        assert_eq!((&answer["results"][0]["itemMetadata"]["success"], &failure["error"]["code"]), (&json!(true), &json!("WDE0123")));
    }
}
