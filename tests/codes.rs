//! Every code of content is produced by a request, or stands here with the reason why none produces it.

use axum::http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use stoa_kernel::Code;
use stoa_store::boxed;
use stoa_testkit::{TestApp, on_both_engines};

/// Codes that no request brings about.
const NEVER: &[(&str, &str)] = &[
    ("WDE0028", "an engine that is interrupted: tests of the store"),
    ("WDE0046", "`between` reaches the server as two comparisons"),
    ("WDE0048", "names of fields are names of JSON members, which are text"),
    ("WDE0053", "a fault of the server: no request may bring one about"),
    ("WDE0078", "what a site's code throws: tests of hooks"),
    ("WDE0092", "no sort is refused for its size"),
    ("WDE0122", "many calls that wait for a site's code: tests of hooks"),
    ("WDE0133", "what an engine can't index; indexed values are cut before it comes to that"),
    ("WDE0150", "a site's code that fails: tests of hooks"),
    ("WDE0153", "removing a reference that is not there succeeds"),
    ("WDE0172", "a site's code that takes too long: tests of hooks"),
];

/// Requests to the collection `c`, which has an item `one`, and what they are refused with.
fn table() -> Vec<(&'static str, &'static str, Value)> {
    let query = |it: Value| json!({ "query": it });
    let filter = |it: Value| json!({ "query": { "filter": it } });
    let item = |data: Value| json!({ "dataItem": { "data": data } });
    let bulk = |count: usize| vec![json!({ "data": {} }); count];
    let nested = |levels: usize| (0..levels).fold(json!(1), |it, _| json!({ "a": it }));
    let not = (0..40).fold(json!({}), |it, _| json!({ "$not": it }));
    let link = |source: Value| json!({ "dataItemReferences": [{ "referringItemFieldName": "many", "referringItemId": source, "referencedItemId": "one" }] });
    vec![
        ("WDE0001", "/v2/items/count", json!({ "dataCollectionId": 7 })),
        ("WDE0002", "/v2/items/remove", json!({ "dataItemId": 7 })),
        ("WDE0003", "/v2/items/query-distinct-values", json!({ "fieldName": 7 })),
        ("WDE0004", "/v2/items", json!({ "dataItem": [] })),
        ("WDE0005", "/v2/bulk/items/insert", json!({ "dataItems": 7 })),
        ("WDE0006", "/v2/bulk/items/save", json!({ "dataItems": bulk(1001) })),
        ("WDE0006", "/v2/bulk/items/patch", json!({ "patches": vec![json!({ "dataItemId": "one" }); 101] })),
        ("WDE0007", "/v2/items/update", item(json!({ "n": 1 }))),
        ("WDE0009", "/v2/items", item(json!({ "t": "x".repeat(600_000) }))),
        ("WDE0016", "/v2/items/count", json!({ "filter": "x" })),
        ("WDE0018", "/v2/items/count", json!({ "environment": "MARS" })),
        ("WDE0019", "/v2/items/query-referenced", json!({ "referringItemFieldName": "many", "referringItemId": 7 })),
        (
            "WDE0020",
            "/v2/bulk/items/insert-references",
            json!({ "dataItemReferences": [{ "referringItemFieldName": "n", "referringItemId": "one", "referencedItemId": "one" }] }),
        ),
        ("WDE0021", "/v2/bulk/items/insert-references", link(json!(""))),
        ("WDE0024", "/v2/collections/create-field", json!({ "field": { "key": "gone", "type": "TEXT" } })),
        (
            "WDE0024",
            "PUT /v2/collections",
            json!({ "collection": { "id": "c", "revision": "1", "fields": [{ "key": "gone", "type": "TEXT" }] } }),
        ),
        (
            "WDE0024",
            "PATCH /v2/collections/c",
            json!({ "dataCollection": { "id": "c", "revision": "1", "fields": [{ "key": "gone", "type": "TEXT" }] } }),
        ),
        ("WDE0025", "/v2/items/count", json!({ "dataCollectionId": "none" })),
        ("WDE0026", "/v2/items/count", json!({ "dataCollectionId": "deleted" })),
        ("WDE0027", "/v2/items/count", json!({ "dataCollectionId": "closed" })),
        ("WDE0029", "/v2/bulk/items/insert-references", link(json!("one"))),
        ("WDE0032", "/v2/items/query", query(json!({ "paging": { "limit": "x" } }))),
        ("WDE0033", "/v2/items/query", query(json!({ "paging": { "limit": 0 } }))),
        ("WDE0034", "/v2/items/query", query(json!({ "paging": { "offset": -1 } }))),
        ("WDE0035", "/v2/items/query", query(json!({ "paging": { "limit": 1.5 } }))),
        ("WDE0036", "/v2/items/query", query(json!({ "paging": { "limit": 1001 } }))),
        ("WDE0044", "/v2/items/query", filter(json!({ "t": { "$startsWith": 7 } }))),
        ("WDE0045", "/v2/items/query", filter(json!({ "n": { "$gt": [] } }))),
        ("WDE0047", "/v2/items/query", filter(json!({ "n": { "$in": [{}] } }))),
        ("WDE0051", "/v2/items/query", query(json!({ "sort": [{ "fieldName": 7 }] }))),
        ("WDE0056", "/v2/items/query", filter(json!({ "$and": [7] }))),
        ("WDE0057", "/v2/items/query", filter(json!({ "n": { "$in": 7 } }))),
        ("WDE0065", "/v2/items/query", query(json!({ "sort": 7 }))),
        ("WDE0066", "/v2/items/query", query(json!({ "sort": [7] }))),
        ("WDE0067", "/v2/items/query", query(json!({ "sort": [{ "fieldName": "n", "order": "UP" }] }))),
        ("WDE0068", "/v2/bulk/items/remove", json!({ "dataItemIds": [7] })),
        ("WDE0069", "/v2/bulk/items/remove", json!({ "dataItemIds": vec!["x"; 1001] })),
        ("WDE0070", "/v2/items/query", filter(json!({ "t": { "$regex": "x" } }))),
        ("WDE0073", "/v2/items/patch", json!({ "patch": { "dataItemId": "none" } })),
        ("WDE0074", "/v2/items", item(json!({ "_id": "one" }))),
        ("WDE0075", "/v2/items", json!({ "dataCollectionId": "strict", "dataItem": { "data": { "n": "1" } } })),
        ("WDE0079", "/v2/items", item(json!({ "_id": "a?b" }))),
        ("WDE0080", "/v2/bulk/items/patch", json!({ "patches": [] })),
        ("WDE0093", "/v2/items/query", filter(json!({ "n": { "$foo": 1 } }))),
        ("WDE0094", "/v2/items/query-referenced", json!({ "referringItemFieldName": "", "referringItemId": "one" })),
        (
            "WDE0104",
            "/v2/collections",
            json!({ "collection": { "id": "c", "fields": [{ "key": "n", "type": "NUMBER" }], "permissions": {} } }),
        ),
        ("WDE0109", "/v2/bulk/items/insert", json!({ "dataItems": [{ "data": { "t": "x".repeat(4 << 20) } }] })),
        ("WDE0119", "/v2/items", json!({ "dataCollectionId": "single", "dataItem": { "data": { "_id": "other" } } })),
        ("WDE0121", "/v2/items/query", query(json!({ "sort": [{ "fieldName": "l" }, { "fieldName": "m" }] }))),
        ("WDE0123", "/v2/collections/create-field", json!({ "field": { "key": "n", "type": "TEXT" } })),
        ("WDE0134", "/v2/items", item(json!({ "$a": 1 }))),
        ("WDE0147", "/v2/collections/delete-field", json!({ "fieldKey": "none" })),
        ("WDE0151", "/v2/items/query", query(json!({ "cursorPaging": { "cursor": "x" } }))),
        ("WDE0152", "/v2/items/query", query(json!({ "paging": 7 }))),
        (
            "WDE0160",
            "/v2/indexes",
            json!({ "index": { "name": "second", "fields": [{ "path": "l" }], "unique": true } }),
        ),
        ("WDE0164", "/v2/indexes", json!({ "index": { "name": "_owner", "fields": [{ "path": "l" }] } })),
        ("WDE0176", "DELETE /v2/indexes?dataCollectionId=c&indexName=none", json!({})),
        ("WDE0168", "/v2/items", item(nested(40))),
        ("WDE0169", "/v2/items/query", filter(not)),
        ("WDE0178", "PUT /v2/collections", json!({ "collection": { "id": "c", "revision": "77", "fields": [] } })),
        (
            "WDE0303",
            "/v2/items/patch",
            json!({ "patch": { "dataItemId": "one", "fieldModifications": [
            { "fieldPath": "many", "action": "SET_FIELD", "setFieldOptions": { "value": "x" } }] } }),
        ),
        ("WDE0179", "/v2/items/count", json!({ "environment": "SANDBOX" })),
        ("WDE0190", "/v2/items/search", json!({ "dataCollectionId": "strict" })),
    ]
}

async fn world(engine: stoa_testkit::Engine) -> TestApp {
    let app = TestApp::new(engine).await;
    let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([
        { "key": "n", "type": "NUMBER" }, { "key": "l", "type": "ARRAY_STRING" }, { "key": "m", "type": "ARRAY_STRING" },
        { "key": "many", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": { "referencedCollectionId": "strict" } } },
    ]);
    let number = json!([{ "key": "n", "type": "NUMBER" }]);
    let single = json!([{ "type": "SINGLE_ITEM" }]);
    for collection in [
        json!({ "id": "strict", "fields": number, "dataPermissions": open, "strictMode": true, "search": false }),
        json!({ "id": "c", "fields": fields, "dataPermissions": open }),
        json!({ "id": "deleted", "fields": number, "dataPermissions": open }),
        json!({ "id": "closed", "fields": number, "dataPermissions": { "itemRead": "PRIVILEGED" } }),
        json!({ "id": "single", "fields": number, "dataPermissions": open, "plugins": single }),
    ] {
        let reply = app.app().post("/v2/collections", &json!({ "collection": collection })).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    }
    assert_eq!(app.app().delete("/v2/collections/deleted?dataCollectionId=deleted").await.verdict(), "200");
    for id in ["c", "strict"] {
        let one = json!({ "dataCollectionId": id, "dataItem": { "data": { "_id": "one", "n": 1 } } });
        assert_eq!(app.app().post("/v2/items", &one).await.verdict(), "200");
    }
    let link = json!({ "dataCollectionId": "c", "dataItemReferences": [{ "referringItemFieldName": "many", "referringItemId": "one", "referencedItemId": "one" }] });
    assert_eq!(app.app().post("/v2/bulk/items/insert-references", &link).await.verdict(), "200");
    let index =
        json!({ "dataCollectionId": "c", "index": { "name": "first", "fields": [{ "path": "n" }], "unique": true } });
    assert_eq!(app.app().post("/v2/indexes", &index).await.verdict(), "200");
    // The values of a deleted field, still on their way out.
    let write = app.site.write_with(app.site.id.clone(), |tx, id| {
        boxed!({
            let now = 1_767_225_600_000_i64;
            let sql = "insert into stoa.sweep (site, collection, id, kind, field, upto, started, done, touched) \
                       select $1, number, 's', 'FIELD', 'gone', 5, $2, 0, $2 from stoa.collection where id = 'c'";
            tx.execute(sql, &stoa_sql::params![&*id, now]).await?;
            Ok(())
        })
    });
    write.await.unwrap();
    app
}

on_both_engines! {
    async fn codes_are_all_produced(engine) {
        let app = world(engine).await;
        let visitor = app.visitor().await;
        let mut produced = BTreeSet::new();
        for (code, path, mut body) in table() {
            if body.get("dataCollectionId").is_none() {
                body["dataCollectionId"] = "c".into();
            }
            let client = if code == "WDE0027" { visitor.clone() } else { app.app() };
            let (method, path) = path.split_once(' ').unwrap_or(("POST", path));
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let reply = client.send(method, path, Some(body.to_string().into())).await;
            let known = Code::ALL.iter().find(|it| it.name() == code).expect(code);
            assert_eq!(reply.verdict(), format!("{} {code}", known.status()), "{path} {:.300}", body.to_string());
            let error = &reply.json()["details"]["applicationError"];
            assert!(error["description"].as_str().unwrap().starts_with(&format!("{code}: ")), "{error}");
            assert!(error["data"].is_object(), "{error}");
            produced.insert(code);
        }
        let all = Code::ALL.iter().filter(|it| it.is_content()).map(|it| it.name());
        let missing: Vec<_> = all.filter(|it| !produced.contains(it) && !NEVER.iter().any(|never| never.0 == *it)).collect();
        assert!(missing.is_empty(), "neither produced nor explained: {missing:?}");
        let both: Vec<_> = NEVER.iter().filter(|it| produced.contains(it.0)).collect();
        assert!(both.is_empty(), "produced after all: {both:?}");
    }

    async fn broken_rules_are_named_in_every_answer(engine) {
        let app = world(engine).await;
        let single = json!({ "dataCollectionId": "strict", "dataItem": { "data": { "n": "1" } } });
        let details = app.app().post("/v2/items", &single).await.json()["details"].clone();
        let violation = &details["applicationError"]["data"]["fieldViolations"][0];
        assert_eq!((&violation["field"], &violation["description"]), (&json!("n"), &json!("n must be a number")));
        assert_eq!(&details["validationError"]["fieldViolations"][0], violation);
        let many = json!({ "dataCollectionId": "strict", "dataItems": [{ "data": { "n": 1 } }, { "data": { "n": "1" } }] });
        let reply = app.app().post("/v2/bulk/items/insert", &many).await.json();
        let error = &reply["results"][1]["itemMetadata"]["error"];
        assert_eq!((&error["code"], &error["data"]["fieldViolations"][0]), (&json!("WDE0075"), violation));
    }

    async fn plugins_have_calls_of_their_own(engine) {
        let app = world(engine).await;
        let path = |verb: &str, word: &str| format!("/v2/collections/{verb}-{word}-plugin");
        for (word, member, options, wrong) in [
            ("urlized", "urlizedOptions", json!({ "format": "PLAIN" }), json!({ "format": "FANCY" })),
            ("catalog", "catalogOptions", json!({ "priceFieldKey": "n" }), json!({ "nameFieldKey": "n" })),
        ] {
            let body = |options: &Value| json!({ "dataCollectionId": "c", member: options });
            let refused = app.app().post(&path("add", word), &body(&wrong)).await;
            assert_eq!(refused.verdict(), "400 WDE0075");
            assert_eq!(app.visitor().await.post(&path("add", word), &body(&options)).await.verdict(), "403 WDE0027");
            let reply = app.app().post(&format!("/wix-data{}", path("add", word)), &body(&options)).await.json();
            assert_eq!(reply["dataCollection"]["plugins"], json!([{ "type": word.to_uppercase(), member: options }]));
            assert_eq!(app.app().post(&path("add", word), &body(&options)).await.verdict(), "400 WDE0080", "it is there");
            let body = json!({ "dataCollectionId": "c" });
            assert_eq!(app.app().post(&path("delete", word), &body).await.verdict(), "200");
            assert_eq!(app.app().post(&path("delete", word), &body).await.verdict(), "400 WDE0080", "there is none");
        }
        let body = json!({ "dataCollectionId": "c", "publishOptions": { "defaultStatus": "DRAFT" } });
        assert_eq!(app.visitor().await.post(&path("add", "publish"), &body).await.verdict(), "403 WDE0027");
        let reply = app.app().post(&path("add", "publish"), &body).await.json();
        let options = json!({ "defaultStatus": "DRAFT", "lifecycleStatus": "ACTIVE" });
        assert_eq!(reply["dataCollection"]["plugins"], json!([{ "type": "PUBLISH", "publishOptions": options }]));
        let body = json!({ "dataCollectionId": "c" });
        assert_eq!(app.app().post(&path("delete", "publish"), &body).await.verdict(), "200");
        let mut body = json!({ "dataCollectionId": "c", "cmsOptions": { "siteSort": { "sort": [] } } });
        let reply = app.app().post(&path("add", "cms"), &body).await.json();
        assert_eq!(reply["dataCollection"]["plugins"][0]["type"], "CMS");
        body = json!({ "dataCollectionId": "c" });
        assert_eq!(app.app().post(&path("delete", "cms"), &body).await.verdict(), "200");
        let body = json!({ "dataCollectionId": "c", "plugin": { "type": "SHARED" } });
        assert_eq!(app.app().post("/v2/collections/add-plugin", &body).await.json()["dataCollection"]["plugins"], json!([{ "type": "SHARED" }]));
        let body = json!({ "dataCollectionId": "c", "pluginType": "SHARED" });
        assert_eq!(app.app().post("/v2/collections/delete-plugin", &body).await.json()["dataCollection"]["plugins"], json!([]));
        assert_eq!(app.app().post("/v2/collections/delete-plugin", &json!({ "dataCollectionId": "c" })).await.verdict(), "400 WDE0075");
    }

    async fn truncates_and_patches_by_url(engine) {
        let app = world(engine).await;
        let patch = |id: Value| json!({ "dataCollectionId": "c", "patch": { "dataItemId": id, "fieldModifications": [
            { "fieldPath": "n", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } }] } });
        let reply = app.app().post("/wix-data/v2/items/patch", &patch(json!("one"))).await.json();
        assert_eq!((&reply["dataItem"]["id"], &reply["dataItem"]["data"]["n"]), (&json!("one"), &json!(2)));
        let mut by_path = patch(json!(null));
        by_path["patch"].as_object_mut().unwrap().shift_remove("dataItemId");
        let reply = app.app().send(Method::PATCH, "/v2/items/one", Some(by_path.to_string().into())).await;
        assert_eq!(reply.json()["dataItem"]["data"]["n"], 3);
        let bulk = json!({ "dataCollectionId": "c", "patches": [patch(json!("one"))["patch"], patch(json!("none"))["patch"]] });
        let reply = app.app().post("/v2/bulk/items/patch", &bulk).await.json();
        assert_eq!(reply["results"][0], json!({ "action": "PATCH", "itemMetadata": { "id": "one", "originalIndex": 0, "success": true } }));
        assert_eq!(reply["results"][1]["itemMetadata"]["error"]["code"], "WDE0073");
        assert_eq!(reply["bulkActionMetadata"]["totalFailures"], 1);
        let body = json!({ "dataCollectionId": "c" });
        assert_eq!(app.visitor().await.post("/v2/items/truncate", &body).await.verdict(), "403 WDE0027");
        assert_eq!(app.app().post("/v2/items/truncate", &body).await.json(), json!({}));
        assert_eq!(app.app().post("/v2/items/count", &body).await.json(), json!({ "totalCount": 0 }));
        let linked = json!({ "dataCollectionId": "c", "referringItemFieldName": "many", "referringItemId": "one", "referencedItemId": "one" });
        assert_eq!(app.app().post("/v2/items/is-referenced", &linked).await.json(), json!({ "isReferenced": false }), "links go along");
    }
}
