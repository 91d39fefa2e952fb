//! The same through HTTP: shapes of answers, query strings, ids in paths.

use axum::http::Method;
use serde_json::{Value, json};
use stoa_testkit::{TestApp, TestClient, on_both_engines};

async fn with_cars(app: &TestApp) -> TestClient<'_> {
    let key = app.app();
    let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }]);
    let permissions =
        json!({ "read": "ANYONE", "insert": "SITE_MEMBER", "update": "SITE_MEMBER_AUTHOR", "remove": "ADMIN" });
    let collection = json!({ "collection": { "id": "Shop/cars", "fields": fields, "permissions": permissions } });
    let reply = key.post("/wix-data/v2/collections", &collection).await;
    assert_eq!(reply.json()["collection"]["id"], "Shop/cars");
    key
}

fn item(data: Value) -> Value {
    json!({ "dataCollectionId": "Shop/cars", "dataItem": { "data": data } })
}

on_both_engines! {
    async fn single_item_answers_have_their_wire_form(engine) {
        let app = TestApp::new(engine).await;
        let key = with_cars(&app).await;
        let made = key.post("/wix-data/v2/items", &item(json!({ "_id": "a/b c", "title": "x \"y\"" }))).await.json();
        assert_eq!(made["dataItem"]["id"], "a/b c");
        assert_eq!(made["dataItem"]["dataCollectionId"], "Shop/cars");
        assert_eq!(made["dataItem"]["data"]["_id"], "a/b c");
        assert_eq!(made["dataItem"]["data"]["title"], "x \"y\"");

        let visitor = app.visitor().await;
        for path in [
            "/v2/items/a/b%20c?dataItemId=a%2Fb%20c&dataCollectionId=Shop%2Fcars",
            "/v2/items/a/b%20c?dataCollectionId=Shop%2Fcars",
            "/_api/cloud-data/v2/items/whatever?.r=eyJkYXRhSXRlbUlkIjoiYS9iIGMiLCJkYXRhQ29sbGVjdGlvbklkIjoiU2hvcC9jYXJzIn0",
        ] {
            assert_eq!(visitor.get(path).await.json(), made, "{path}");
        }
        let some = visitor.get("/v2/items/x?dataItemId=a%2Fb%20c&dataCollectionId=Shop%2Fcars&fields=title&fields=n").await;
        assert_eq!(some.json()["dataItem"]["data"], json!({ "_id": "a/b c", "title": "x \"y\"" }));
        let none = visitor.get("/v2/items/?dataCollectionId=Shop%2Fcars&dataItemId=").await;
        assert_eq!(none.verdict(), "404 WDE0073");
        // An id with `..` in it has become another path on its way.
        let lost = visitor.get("/wix-data/v2/x?dataItemId=..%2Fx&dataCollectionId=Shop%2Fcars").await;
        assert_eq!(lost.verdict(), "404 WDE0073");
        let lost = visitor.get("/wix-data/etc/passwd?dataCollectionId=..%2F..%2Fetc%2Fpasswd").await;
        assert_eq!(lost.verdict(), "404 WDE0025");
        assert!(none.json()["details"]["applicationError"]["description"].as_str().unwrap().starts_with("WDE0073: "));

        let update = item(json!({ "_id": "a/b c", "n": 1 }));
        assert_eq!(visitor.post("/v2/items/update", &update).await.verdict(), "403 WDE0027");
        assert_eq!(app.member("ann@example.org").await.post("/v2/items/update", &update).await.verdict(), "404 WDE0073");
        let saved = key.post("/v2/items/save", &update).await.json();
        assert_eq!((&saved["action"], &saved["dataItem"]["data"]["n"]), (&json!("UPDATED"), &json!(1)));
        let saved = key.post("/v2/items/save", &item(json!({}))).await.json();
        assert_eq!(saved["action"], "INSERTED");

        let removed = key.delete("/v2/items/a/b%20c?dataItemId=a%2Fb%20c&dataCollectionId=Shop%2Fcars").await.json();
        assert_eq!(removed["dataItem"]["data"]["n"], 1);
        let body = json!({ "dataCollectionId": "Shop/cars", "dataItemId": "a/b c" });
        assert_eq!(key.post("/v2/items/remove", &body).await.verdict(), "404 WDE0073");
    }

    async fn bulk_answers_have_their_wire_form(engine) {
        let app = TestApp::new(engine).await;
        let key = with_cars(&app).await;
        let items: Vec<_> = (0..3).map(|n| json!({ "id": n.to_string(), "data": { "_id": n.to_string(), "n": n } })).collect();
        let mut body = json!({ "dataCollectionId": "Shop/cars", "dataItems": items });
        body["dataItems"][2]["id"] = "other".into();
        let reply = key.post("/v2/bulk/items/insert", &body).await.json();
        assert_eq!(
            reply["results"][0],
            json!({ "action": "INSERT", "itemMetadata": { "id": "0", "originalIndex": 0, "success": true } })
        );
        let error = &reply["results"][2]["itemMetadata"]["error"];
        assert_eq!(error["code"], "WDE0080");
        assert!(error["description"].as_str().unwrap().starts_with("WDE0080: ") && error["data"].is_object());
        assert_eq!(reply["bulkActionMetadata"]["totalSuccesses"], 2);
        assert_eq!(reply["bulkActionMetadata"]["totalFailures"], 1);

        let query = json!({ "fields": [], "filter": { "n": { "$gte": 0 } }, "sort": [{ "fieldName": "n", "order": "DESC" }] });
        let request = json!({ "dataCollectionId": "Shop/cars", "query": query, "includeReferences": [], "returnTotalCount": true });
        let visitor = app.visitor().await;
        let found = visitor.post("/wix-data/v2/items/query", &request).await.json();
        assert_eq!((&found["dataItems"][0]["id"], &found["dataItems"][1]["data"]["n"]), (&json!("1"), &json!(0)));
        let metadata = json!({ "count": 2, "offset": 0, "hasNext": false, "tooManyToCount": false, "total": 2 });
        assert_eq!(found["pagingMetadata"], metadata);
        let encoded = base64url(&request.to_string());
        let by_get = visitor.get(&format!("/wix-data/v2/items/query?.r={encoded}")).await;
        assert_eq!(by_get.json(), found);
        assert_eq!(visitor.get("/v2/items/query?.r=!").await.verdict(), "400 WDE0080");
        assert_eq!(visitor.get("/v2/items/query").await.verdict(), "400 WDE0001");

        let count = visitor.post("/v2/items/count", &json!({ "dataCollectionId": "Shop/cars" })).await.json();
        assert_eq!(count, json!({ "totalCount": 2 }));
        let values = json!({ "dataCollectionId": "Shop/cars", "fieldName": "n", "order": "DESC" });
        let values = visitor.post("/v2/items/query-distinct-values", &values).await.json();
        assert_eq!(values["distinctValues"], json!([1, 0]));
        let ids = json!({ "dataCollectionId": "Shop/cars", "dataItemIds": ["0", "9"] });
        let reply = key.post("/v2/bulk/items/remove", &ids).await.json();
        assert_eq!(reply["results"][1]["itemMetadata"]["error"]["code"], "WDE0073");
    }

    async fn collection_answers_have_their_wire_form(engine) {
        let app = TestApp::new(engine).await;
        let key = with_cars(&app).await;
        let path = "/v2/collections/Shop/cars?dataCollectionId=Shop%2Fcars";
        let mut whole = key.get(path).await.json();
        let reduced = app.visitor().await.get(path).await.json();
        assert_eq!(reduced["collection"].get("permissions"), None);
        whole["collection"]["displayName"] = "Cars".into();
        let put = |body: &Value| key.send(Method::PUT, "/v2/collections", Some(body.to_string().into()));
        let reply = put(&whole).await;
        assert_eq!(reply.json()["collection"]["revision"], "2");
        let body = whole.to_string().into();
        assert_eq!(key.send(Method::PUT, "/v2/collections", Some(body)).await.verdict(), "409 WDE0178");
        let patch = json!({ "dataCollection": { "id": "Shop/cars", "displayField": "n" } }).to_string().into();
        let reply = key.send(Method::PATCH, "/v2/collections/Shop/cars", Some(patch)).await.json();
        assert_eq!(reply["dataCollection"]["displayField"], "n");
        let field = json!({ "dataCollectionId": "Shop/cars", "field": { "key": "n", "description": "a number" } });
        let reply = key.send(Method::PATCH, "/v2/collections/Shop/cars/patch-field", Some(field.to_string().into())).await;
        assert_eq!(reply.json()["dataCollection"]["fields"][1]["description"], "a number");
        let list = key.get("/v2/collections?sort.fieldName=id&sort.order=ASC&paging.limit=5&paging.offset=0").await.json();
        assert_eq!(list["pagingMetadata"], json!({ "count": 1, "offset": 0, "total": 1, "tooManyToCount": false }));
        for (query, wants) in [("paging.limit=x", "400 WDE0152"), ("paging.limit=5000", "400 WDE0152"), ("sort.fieldName=x", "400 WDE0080")] {
            assert_eq!(key.get(&format!("/v2/collections?{query}")).await.verdict(), wants, "{query}");
        }
        assert_eq!(key.delete(path).await.json(), json!({}));
        assert_eq!(key.get(path).await.verdict(), "404 WDE0025");
        let restored = key.post("/v2/collections/restore/Shop/cars", &json!({ "dataCollectionId": "Shop/cars" })).await.json();
        assert_eq!(restored["dataCollection"]["id"], "Shop/cars");
        assert_eq!(key.post("/wix-data/v2/backups", &json!({})).await.verdict(), "428 WDE0119");
    }
}

fn base64url(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = (0..3).fold(0_u32, |it, n| it << 8 | u32::from(chunk.get(n).copied().unwrap_or_default()));
        let digit = |n: u32| char::from(DIGITS[(bits >> (18 - 6 * n)) as usize & 63]);
        out.extend((0..=chunk.len() as u32).map(digit));
    }
    out
}
