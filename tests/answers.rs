//! The form of answers, whatever they are about: encodings, tags, and what stands at odd addresses.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, Method, Request, StatusCode},
};
use serde_json::{Value, json};
use std::io::Read;
use stoa_testkit::{TestApp, on_both_engines};
use tower::ServiceExt;

const BROWSER: &str = "gzip, deflate, br, zstd";

async fn things(app: &TestApp) {
    let fields = json!([{ "key": "t", "type": "TEXT" }]);
    let collection =
        json!({ "collection": { "id": "things", "fields": fields, "dataPermissions": { "itemRead": "ANYONE" } } });
    assert_eq!(app.app().post("/v2/collections", &collection).await.verdict(), "200");
    for n in 0..40 {
        let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "_id": format!("i{n}"), "t": "words ".repeat(20) } } });
        assert_eq!(app.app().post("/v2/items", &item).await.verdict(), "200");
    }
}

pub(crate) async fn ask(
    app: &TestApp,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> (StatusCode, HeaderMap, Bytes) {
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request = headers.iter().fold(request, |it, (name, value)| it.header(*name, *value));
    let body = if body.is_null() { Body::empty() } else { body.to_string().into() };
    let response = app.service().oneshot(request.body(body).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    (parts.status, parts.headers, axum::body::to_bytes(body, usize::MAX).await.unwrap())
}

fn decoded(headers: &HeaderMap, body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match headers.get("content-encoding").map(|it| it.to_str().unwrap()) {
        Some("gzip") => flate2::read::GzDecoder::new(body).read_to_end(&mut plain).unwrap(),
        Some("br") => brotli::Decompressor::new(body, 4096).read_to_end(&mut plain).unwrap(),
        Some("zstd") => zstd::stream::read::Decoder::new(body).unwrap().read_to_end(&mut plain).unwrap(),
        None => return body.to_vec(),
        Some(other) => panic!("{other}"),
    };
    plain
}

/// What a client has already is not sent again.
pub(crate) async fn assert_known_by_its_tag(app: &TestApp, path: &str) {
    let token = app.app().token;
    let get = async |tag: &str| {
        let headers = [("authorization", token.as_str()), ("if-none-match", tag)];
        ask(app, Method::GET, path, &headers, &Value::Null).await
    };
    let (status, headers, _) = get("").await;
    assert_eq!(status, 200, "{path}");
    let (status, _, body) = get(headers["etag"].to_str().unwrap()).await;
    assert!(status == 304 && body.is_empty(), "{path} {status}");
}

on_both_engines! {
    async fn answers_are_encoded_as_the_client_takes_them(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        let token = app.visitor().await.token;
        let query = |limit: usize| json!({ "dataCollectionId": "things", "query": { "paging": { "limit": limit } } });
        let get = async |accepted: &str, limit: usize| {
            let headers = [("authorization", token.as_str()), ("accept-encoding", accepted)];
            ask(&app, Method::POST, "/v2/items/query", &headers[..if accepted.is_empty() { 1 } else { 2 }], &query(limit)).await
        };
        let (_, headers, plain) = get("", 50).await;
        assert!(headers.get("content-encoding").is_none() && plain.len() > 4_000);
        for (accepted, wants) in [(BROWSER, "zstd"), ("br, gzip", "br"), ("gzip", "gzip"), ("zstd;q=0, gzip", "gzip")] {
            let (status, headers, body) = get(accepted, 50).await;
            assert_eq!((status, headers["content-encoding"].to_str().unwrap()), (StatusCode::OK, wants), "{accepted}");
            assert_eq!(headers["vary"], "accept-encoding");
            assert!(body.len() < plain.len() / 2, "{accepted}: {} of {}", body.len(), plain.len());
            assert_eq!(decoded(&headers, &body), plain, "{accepted}");
        }
        assert!(get("identity", 50).await.1.get("content-encoding").is_none());
        let (_, headers, body) = get(BROWSER, 1).await;
        assert!(headers.get("content-encoding").is_none(), "{} bytes are sent as they are", body.len());
    }

    /// Sizes of compressed answers tell what is in them, so those with secrets are never compressed.
    async fn answers_with_secrets_are_not_compressed(engine) {
        let app = TestApp::new(engine).await;
        let grant = json!({ "clientId": app.client.id, "grantType": "anonymous", "more": "x".repeat(2_000) });
        let accepted = ("accept-encoding", BROWSER);
        let (status, headers, _) = ask(&app, Method::POST, "/oauth2/token", &[accepted], &grant).await;
        assert!(status == StatusCode::OK && headers.get("content-encoding").is_none());
        for n in 0..30 {
            let _ = app.member(&format!("m{n}@example.org")).await;
        }
        let owner = app.owner().await.token;
        let headers = [accepted, ("authorization", owner.as_str())];
        let (status, headers, body) = ask(&app, Method::GET, "/members/v1/members?fieldsets=FULL", &headers, &Value::Null).await;
        assert!(status == StatusCode::OK && body.len() > 4_000, "{status} {}", body.len());
        assert!(headers.get("content-encoding").is_none());
    }

    async fn items_have_tags_that_need_the_permission(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        let token = app.visitor().await.token;
        let get = async |path: &str, tag: &str| {
            let headers = [("authorization", token.as_str()), ("if-none-match", tag)];
            let (status, headers, body) = ask(&app, Method::GET, path, &headers, &Value::Null).await;
            let tag = headers.get("etag").map(|it| it.to_str().unwrap().to_owned());
            (status.as_u16(), tag.unwrap_or_default(), body.len())
        };
        let paths = [
            "/v2/items/i1?dataItemId=i1&dataCollectionId=things",
            "/v2/items/query?dataCollectionId=things&query.paging.limit=50",
        ];
        let mut tags = Vec::new();
        for path in paths {
            let (status, tag, _) = get(path, "").await;
            assert!(status == 200 && tag.starts_with("W/\""), "{path}: {status} {tag}");
            assert_eq!(get(path, &tag).await, (304, tag.clone(), 0), "{path}");
            assert_eq!(get(path, &format!("\"x\", {tag}")).await.0, 304);
            assert_eq!(get(path, "\"x\"").await.0, 200);
            tags.push(tag);
        }
        let change = json!({ "dataCollectionId": "things", "dataItem": { "data": { "_id": "i1", "t": "new" } } });
        assert_eq!(app.app().post("/v2/items/update", &change).await.verdict(), "200");
        for (path, tag) in paths.iter().zip(&mut tags) {
            let (status, next, _) = get(path, tag).await;
            assert!(status == 200 && next != *tag, "{path}");
            *tag = next;
        }
        // Those who may no longer read aren't told that nothing has changed.
        let closed = json!({ "dataPermissions": { "id": "things", "itemRead": "CMS_EDITOR" } });
        let reply = app.app().post("/v1/permissions", &closed).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        for (path, tag) in paths.iter().zip(&tags) {
            assert_eq!(get(path, tag).await.0, 403, "{path}");
        }
    }

    async fn pages_that_no_app_has_are_not_found(engine) {
        let app = TestApp::new(engine).await;
        let page = async |path: &str| {
            let headers = [("accept", "text/html,application/xhtml+xml"), ("accept-encoding", BROWSER)];
            ask(&app, Method::GET, path, &headers, &Value::Null).await
        };
        for path in ["/nothing", "/countries/DE/x", "/account/nothing", "/assets/gone.js"] {
            assert_eq!(page(path).await.0, StatusCode::NOT_FOUND, "{path}");
        }
        let (status, _, robots) = page("/robots.txt").await;
        assert!(status == StatusCode::OK && robots.starts_with(b"User-agent: *\n"), "{robots:?}");
    }

    async fn welcome_page_says_the_next_command(engine) {
        let app = TestApp::new(engine).await;
        let other = app.app.store.site_create("Other", &app.app.world).await.unwrap();
        let accepts = [("accept", "text/html")];
        let (status, _, page) = ask(&app, Method::GET, &format!("/s/{}/", other.id), &accepts, &Value::Null).await;
        let page = String::from_utf8(page.to_vec()).unwrap();
        assert!(status == StatusCode::OK && page.contains("stoa client create --name web"), "{page}");
        // A command isn't broken at its hyphens, where it stands in a line of text.
        assert!(page.contains("code{white-space:nowrap}") && page.contains("<code>stoa --help</code>"), "{page}");
    }

    async fn items_may_be_called_like_calls(engine) {
        let app = TestApp::new(engine).await;
        things(&app).await;
        for id in ["query", "count", "save", "truncate", "aggregate", "aggregate-pipeline", "search", "is-referenced", "query-distinct-values"] {
            let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "_id": id, "t": "x" } } });
            assert_eq!(app.app().post("/v2/items", &item).await.verdict(), "200", "{id}");
            let path = format!("/v2/items/{id}?dataItemId={id}&dataCollectionId=things");
            let reply = app.app().get(&path).await;
            assert_eq!(reply.verdict(), "200", "{id}: {:?}", reply.body);
            assert_eq!(reply.json()["dataItem"]["id"], id);
            let reply = app.app().send(Method::PUT, &path, Some(item.to_string().into())).await;
            assert_eq!(reply.verdict(), "200", "{id}: {:?}", reply.body);
            assert_eq!(app.app().delete(&path).await.verdict(), "200", "{id}");
            assert_eq!(app.app().get(&path).await.verdict(), "404 WDE0073", "{id}");
        }
        let make = json!({ "collection": {
            "id": "create-field", "fields": [{ "key": "t", "type": "TEXT" }], "dataPermissions": {} } });
        assert_eq!(app.app().post("/v2/collections", &make).await.verdict(), "200");
        let path = "/v2/collections/create-field?dataCollectionId=create-field";
        assert_eq!(app.app().get(path).await.json()["collection"]["id"], "create-field");
        // Calls that aren't built say so.
        assert_eq!(app.app().post("/v1/jobs", &json!({})).await.verdict(), "428 WDE0119");
    }
}
