//! The document as it is served: to anyone, and of a site to those who may know of its collections.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::{Value, json};
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};
use tower::ServiceExt;

async fn asked(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::builder().uri(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = app.service().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    Reply { status, headers, body }
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.to_vec()).unwrap()
}

/// The collections that a caller's document has types of.
async fn types(client: &TestClient<'_>) -> Vec<String> {
    let reply = client.get("/_api/content/v1/openapi.json").await;
    assert_eq!(reply.verdict(), "200");
    let document = reply.json();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let ids = schemas.values().filter_map(|it| it["x-collection-id"].as_str());
    let ids: Vec<String> = ids.map(str::to_owned).collect();
    let any = schemas["ItemData"]["anyOf"].as_array().map_or(0, Vec::len);
    assert_eq!(any, ids.len(), "each is one that an item may be of");
    ids
}

on_both_engines! {
    async fn document_is_sent_once(engine) {
        let app = TestApp::new(engine).await;
        let whole = asked(&app, "/openapi.json", &[]).await;
        assert_eq!((whole.status, &whole.headers["content-type"]), (StatusCode::OK, &"application/json".parse().unwrap()));
        assert_eq!(whole.body, stoa_http::document().text());
        let tag = whole.headers["etag"].to_str().unwrap();
        let again = asked(&app, "/openapi.json", &[("if-none-match", tag)]).await;
        assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
        let packed = asked(&app, "/openapi.json", &[("accept-encoding", "gzip")]).await;
        assert_eq!((&packed.headers["content-encoding"], &packed.headers["etag"]), (&"gzip".parse().unwrap(), &whole.headers["etag"]));
        let mut unpacked = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&packed.body[..]), &mut unpacked).unwrap();
        assert_eq!(unpacked, whole.body);
    }

    async fn what_has_not_changed_is_not_sent_again(engine) {
        let app = TestApp::new(engine).await;
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let things = json!({ "id": "things", "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": levels });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": things })).await.verdict(), "200");
        let one = json!({ "dataCollectionId": "things", "dataItem": { "data": { "_id": "one" } } });
        assert_eq!(app.app().post("/v2/items", &one).await.verdict(), "200");
        let token = app.app().token;
        for path in [
            "/docs/api",
            "/_api/content/v1/openapi.json",
            "/v2/collections",
            "/v2/collections/things",
            "/v2/items/?dataItemId=one&dataCollectionId=things",
            "/v2/indexes?dataCollectionId=things",
            "/v2/indexes/available?dataCollectionId=things",
            "/v1/permissions?dataCollectionId=things",
            "/v1/permissions/current?dataCollectionId=things",
        ] {
            let first = asked(&app, path, &[("authorization", token.as_str())]).await;
            assert_eq!(first.status, StatusCode::OK, "{path}");
            let tag = first.headers["etag"].to_str().unwrap();
            let again = asked(&app, path, &[("authorization", token.as_str()), ("if-none-match", tag)]).await;
            assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0), "{path}");
        }
    }

    async fn page_is_found_in_by_words(engine) {
        let app = TestApp::new(engine).await;
        let whole = asked(&app, "/docs/api", &[("accept", "text/html")]).await;
        assert_eq!(whole.status, StatusCode::OK);
        let policy = whole.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("script-src"), "{policy}");
        assert!(!text(&whole).contains("<script"));
        let found = text(&asked(&app, "/docs/api?filter=item+INSERT", &[]).await);
        assert!(found.contains("id=\"itemInsert\"") && !found.contains("id=\"memberList\""));
        let trick = text(&asked(&app, "/docs/api?filter=%22%3E%3Cscript%3E", &[]).await);
        assert!(trick.contains("value=\"&quot;&gt;&lt;script&gt;\"") && !trick.contains("<script"));
        let long = asked(&app, &format!("/docs/api?filter={}", "x".repeat(5_000)), &[]).await;
        assert!(long.status == StatusCode::OK && !text(&long).contains(&"x".repeat(101)));
        let of_site = asked(&app, &format!("/s/{}/docs/api", app.site.id), &[]).await;
        assert_eq!(of_site.body, whole.body, "its links lead to where it is");
    }

    async fn site_document_has_the_types_that_the_caller_may_know(engine) {
        let app = TestApp::new(engine).await;
        let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "when", "type": "DATETIME" }]);
        for (id, level) in [("open", "ANYONE"), ("of/staff", "CMS_EDITOR"), ("closed", "PRIVILEGED")] {
            let levels = json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
            let object = json!({ "id": id, "fields": fields, "dataPermissions": levels });
            assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
        }
        let all = ["closed", "of/staff", "open"];
        assert_eq!(types(&app.visitor().await).await, ["open"]);
        assert_eq!(types(&app.app()).await, all);
        assert_eq!(types(&app.owner().await).await, all);
        assert_eq!(types(&app.key("collections:read:open").await).await, ["open"]);
        assert!(types(&app.editor().await).await.contains(&"of/staff".to_owned()));
        assert_eq!(app.anonymous().get("/_api/content/v1/openapi.json").await.verdict(), "401 UNAUTHENTICATED");
        let document = app.app().get("/_api/content/v1/openapi.json").await;
        let schema = document.json()["components"]["schemas"]["Item.of_2f_staff"].clone();
        assert_eq!(schema["properties"]["title"]["type"], json!(["string", "null"]));
        assert_eq!(schema["properties"]["when"]["properties"]["$date"]["format"], "date-time");
        // All else is the document of every site.
        let mut ours: Value = document.json();
        let mut whole: Value = serde_json::from_slice(stoa_http::document().text()).unwrap();
        for it in [&mut ours, &mut whole] {
            let schemas = it["components"]["schemas"].as_object_mut().unwrap();
            schemas.retain(|name, _| name != "ItemData" && !name.starts_with("Item."));
        }
        assert_eq!(ours, whole);
    }
}
