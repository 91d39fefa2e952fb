//! What a server under test writes down of requests and answers (decision 28).

use axum::{
    body::Body,
    http::{Method, Request},
};
use serde_json::{Value, json};
use std::path::Path;
use stoa_http::ExchangeLog;
use stoa_testkit::{TestApp, on_both_engines};
use tower::ServiceExt;

fn write_down(app: &mut TestApp, directory: &Path, most: usize) {
    app.restart(|it| it.exchanges = Some(ExchangeLog::open(directory, most).unwrap()));
}

/// The lines of the one file that is there.
fn lines(directory: &Path) -> Vec<Value> {
    let file = std::fs::read_dir(directory).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// A body as it was written down.
fn body(side: &Value) -> Value {
    assert_eq!(side["body"]["isWhole"], true, "{side}");
    serde_json::from_str(side["body"]["text"].as_str().unwrap()).unwrap()
}

on_both_engines! {
    async fn exchanges_are_written_whole(engine) {
        let (mut app, folder) = (TestApp::new(engine).await, tempfile::tempdir().unwrap());
        let directory = folder.path().join("a::test");
        write_down(&mut app, &directory, ExchangeLog::MOST);
        let collection = json!({ "collection": { "id": "things", "fields": [{ "key": "t", "type": "TEXT" }], "permissions": {} } });
        let made = app.app().post("/wix-data/v2/collections?a=b", &collection).await;
        assert_eq!(made.verdict(), "200");
        let found = lines(&directory);
        let [line] = &found[..] else { panic!("one call is one line: {found:?}") };
        for (name, value) in [
            ("test", json!("a::test")),
            ("method", json!("POST")),
            ("path", json!("/wix-data/v2/collections")),
            ("query", json!("a=b")),
            ("canonical", json!("/v2/collections")),
            ("route", json!("/v2/collections")),
            ("status", json!(200)),
        ] {
            assert_eq!(line[name], value, "{name}");
        }
        assert_eq!(line["request"]["headers"], json!({ "content-type": "application/json" }), "no token is kept");
        assert_eq!(body(&line["request"]), collection);
        assert_eq!(body(&line["response"]), made.json());
        assert_eq!(line["response"]["headers"]["content-type"], "application/json");
    }

    async fn paths_without_a_route_are_written(engine) {
        let (mut app, folder) = (TestApp::new(engine).await, tempfile::tempdir().unwrap());
        write_down(&mut app, folder.path(), ExchangeLog::MOST);
        app.anonymous().get("/v2/nothing/here").await;
        app.anonymous().send(Method::OPTIONS, "/v2/items", None).await;
        app.anonymous().send(Method::PUT, "/s/none/healthz", None).await;
        let found: Vec<_> = lines(folder.path())
            .iter()
            .map(|it| format!("{} {} {} {}", it["method"], it["canonical"], it["route"], it["status"]))
            .collect();
        assert_eq!(
            found,
            [
                r#""GET" "/v2/nothing/here" null 404"#,
                r#""OPTIONS" "/v2/items" null 204"#,
                r#""PUT" "/healthz" null 405"#,
            ]
        );
    }

    async fn encoded_answers_are_written_plain(engine) {
        let (mut app, folder) = (TestApp::new(engine).await, tempfile::tempdir().unwrap());
        write_down(&mut app, folder.path(), ExchangeLog::MOST);
        let collection = json!({ "collection": { "id": "things", "fields": [{ "key": "t", "type": "TEXT" }], "permissions": {} } });
        assert_eq!(app.app().post("/v2/collections", &collection).await.verdict(), "200");
        let items: Vec<_> = (0..30).map(|n| json!({ "data": { "_id": format!("i{n}"), "t": "words ".repeat(20) } })).collect();
        let insert = json!({ "dataCollectionId": "things", "dataItems": items });
        assert_eq!(app.app().post("/v2/bulk/items/insert", &insert).await.verdict(), "200");
        let token = app.app().token;
        for encoding in ["gzip", "br", "zstd"] {
            let query = json!({ "dataCollectionId": "things" }).to_string();
            let request = Request::post("/v2/items/query").header("host", "localhost").header("authorization", &token);
            let request = request.header("accept-encoding", encoding).body(Body::from(query)).unwrap();
            let response = app.service().oneshot(request).await.unwrap();
            assert_eq!(response.headers()["content-encoding"], encoding);
            axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let line = lines(folder.path()).pop().unwrap();
            assert_eq!(body(&line["response"])["dataItems"].as_array().unwrap().len(), 30, "{encoding}");
        }
    }

    async fn answer_that_is_not_read_is_no_whole_one(engine) {
        let (mut app, folder) = (TestApp::new(engine).await, tempfile::tempdir().unwrap());
        write_down(&mut app, folder.path(), ExchangeLog::MOST);
        let request = Request::get("/oauth2/jwks").header("host", "localhost").body(Body::empty()).unwrap();
        let response = app.service().oneshot(request).await.unwrap();
        assert_eq!(lines(folder.path()), Vec::<Value>::new(), "it is still on its way");
        drop(response);
        let found = lines(folder.path());
        let [line] = &found[..] else { panic!("one call is one line: {found:?}") };
        assert_eq!((&line["request"]["body"], &line["response"]["body"]["isWhole"]), (&Value::Null, &json!(false)));
    }

    async fn file_says_when_it_is_full(engine) {
        let (mut app, folder) = (TestApp::new(engine).await, tempfile::tempdir().unwrap());
        write_down(&mut app, folder.path(), 2_000);
        for _ in 0..10 {
            app.anonymous().get("/healthz").await;
        }
        let mut found = lines(folder.path());
        assert_eq!(found.pop(), Some(json!({ "isFull": true })));
        assert!((1..9).contains(&found.len()), "{}", found.len());
        assert!(found.iter().all(|it| it["route"] == "/healthz"));
    }
}
