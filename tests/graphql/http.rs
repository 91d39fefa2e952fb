//! Statuses, media types and bounds.

use super::*;
use axum::{
    body::Body,
    http::{HeaderMap, Request, StatusCode},
};
use std::sync::Arc;
use stoa_http::{Graphql, GraphqlLimits};
use tower::ServiceExt;

const GRAPHQL: &str = "application/graphql-response+json";

async fn send(app: &TestApp, accept: &str, body: &str) -> (StatusCode, HeaderMap, Value) {
    send_as(app, Some("application/json"), accept, body).await
}

async fn send_as(app: &TestApp, media: Option<&str>, accept: &str, body: &str) -> (StatusCode, HeaderMap, Value) {
    let request = Request::post(PATH).header("host", "localhost").header("authorization", &app.app().token);
    let request =
        media.into_iter().fold(request.header("accept", accept), |it, media| it.header("content-type", media));
    let response = app.service().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, headers, serde_json::from_slice(&bytes).unwrap())
}

on_both_engines! {
    async fn status_follows_the_media_type(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let missing = json!({ "query": "{cars {items {nothing}}}" }).to_string();
        let partly = json!({ "query": "{carsCount cars(limit: 5000) {hasNext}}" }).to_string();
        for (accept, media, refused) in [
            ("application/json", "application/json", 200), ("*/*", "application/json", 200), ("", "application/json", 200),
            (GRAPHQL, GRAPHQL, 400), ("application/graphql-response+json; charset=utf-8, application/json; q=0.9", GRAPHQL, 400),
        ] {
            let (status, headers, body) = send(&app, accept, &missing).await;
            assert_eq!((status.as_u16(), headers["content-type"].to_str().unwrap()), (refused, media), "{accept}");
            assert!(body.get("data").is_none() && body["errors"].is_array(), "{accept}: {body}");
            let (status, headers, body) = send(&app, accept, &partly).await;
            assert_eq!((status.as_u16(), headers["content-type"].to_str().unwrap()), (200, media), "{accept}");
            assert_eq!(body["data"], json!({ "carsCount": 3, "cars": null }), "{accept}");
        }
        for broken in ["[]", "{}", "{\"query\":5}", "{\"query\":\"{_collections}\",\"variables\":7}"] {
            let (status, _, body) = send(&app, "application/json", broken).await;
            assert_eq!((status.as_u16(), &body["details"]["applicationError"]["code"]), (400, &json!("WDE0080")), "{broken}");
            let (status, _, body) = send(&app, GRAPHQL, broken).await;
            assert_eq!((status.as_u16(), &body["errors"][0]["extensions"]["code"]), (400, &json!("WDE0080")), "{broken}");
        }
        let (status, _, body) = send(&app, GRAPHQL, "{").await;
        assert_eq!((status.as_u16(), &body["details"]["applicationError"]["code"]), (400, &json!("MALFORMED_JSON")));
    }

    async fn request_says_that_it_is_json(engine) {
        let app = TestApp::new(engine).await;
        let body = json!({ "query": "{__typename}" }).to_string();
        for media in ["application/json", "Application/JSON ; charset=utf-8"] {
            assert_eq!(send_as(&app, Some(media), GRAPHQL, &body).await.0, 200, "{media}");
        }
        for media in [None, Some(""), Some("text/plain"), Some("application/x-www-form-urlencoded"), Some(GRAPHQL), Some("application/json2")] {
            let (status, _, answer) = send_as(&app, media, GRAPHQL, &body).await;
            assert_eq!((status.as_u16(), &answer["errors"][0]["extensions"]["code"]), (400, &json!("WDE0080")), "{media:?}");
            let (status, _, answer) = send_as(&app, media, "*/*", &body).await;
            assert_eq!((status.as_u16(), &answer["details"]["applicationError"]["code"]), (400, &json!("WDE0080")), "{media:?}");
            let says = answer["message"].as_str().unwrap();
            assert!(says.contains(media.unwrap_or("not there")) && says.contains("application/json"), "{says}");
        }
    }

    async fn versions_are_two(engine) {
        let app = TestApp::new(engine).await;
        let body = json!({ "query": "{__typename}" });
        for path in ["/graphql/v1", "/graphql/alpha"] {
            assert_eq!(app.app().post(path, &body).await.json(), json!({ "data": { "__typename": "Query" } }));
            assert_eq!(app.app().get(path).await.status, 405, "{path}");
        }
        for path in ["/graphql/v2", "/graphql/beta", "/graphql/v1/x", "/graphql/"] {
            assert_eq!(app.app().post(path, &body).await.verdict(), "404 NOT_FOUND", "{path}");
        }
    }

    async fn one_of_several_operations_is_named(engine) {
        let app = TestApp::new(engine).await;
        let query = "query a {a: __typename} query b {b: __typename}";
        let named = |name: Value| json!({ "query": query, "operationName": name });
        assert_eq!(app.app().post(PATH, &named(json!("b"))).await.json(), json!({ "data": { "b": "Query" } }));
        for name in [json!(null), json!("c"), json!("")] {
            let refused = app.app().post(PATH, &named(name.clone())).await.json();
            assert!(refused.get("data").is_none() && refused["errors"].is_array(), "{name}: {refused}");
        }
    }

    async fn limits_are_those_of_the_configuration(engine) {
        let mut app = TestApp::new(engine).await;
        garage(&app).await;
        type Set = fn(&mut GraphqlLimits, usize);
        let rows: [(&str, Set, usize, &str, &str); 10] = [
            ("graphql_bytes", |it, n| it.graphql_bytes = n, 24, "{carsCount tagsCount   }", "{carsCount tagsCount    }"),
            ("graphql_tokens", |it, n| it.graphql_tokens = n, 10, "{carsCount}", "{carsCount a:carsCount b:carsCount c:carsCount d:carsCount}"),
            ("graphql_depth", |it, n| it.graphql_depth = n, 4, "{cars {items {brand {name}}}}", "{cars {items {brand {owner {name}}}}}"),
            ("graphql_fragments", |it, n| it.graphql_fragments = n, 1, "{...A} fragment A on Query {carsCount}", "{...A ...B} fragment A on Query {carsCount} fragment B on Query {carsCount}"),
            ("graphql_root_fields", |it, n| it.graphql_root_fields = n, 2, "{carsCount tagsCount}", "{carsCount tagsCount brandsCount}"),
            ("graphql_mutations", |it, n| it.graphql_mutations = n, 1, "mutation {saveTags(item: {_id: \"t\"}) {_id}}", "mutation {saveTags(item: {_id: \"t\"}) {_id} saveCars(item: {_id: \"t\"}) {_id}}"),
            ("graphql_aliases", |it, n| it.graphql_aliases = n, 1, "{a: carsCount}", "{a: carsCount b: carsCount}"),
            ("graphql_fields", |it, n| it.graphql_fields = n, 3, "{cars {items {_id}}}", "{cars {items {_id title}}}"),
            ("graphql_items", |it, n| it.graphql_items = n, 20, "{cars(limit: 2) {items {tags(limit: 9) {_id}}}}", "{cars(limit: 2) {items {tags(limit: 10) {_id}}}}"),
            ("graphql_argument_bytes", |it, n| it.graphql_argument_bytes = n, 30, "query($v: JSON) {cars(filter: $v) {hasNext}}", "query($v: JSON) {cars(filter: $v) {hasNext} carsCount(filter: $v)}"),
        ];
        for (name, set, value, within, beyond) in rows {
            let mut limits = GraphqlLimits::default();
            set(&mut limits, value);
            app.restart(|it| it.graphql = Arc::new(Graphql::new(limits)));
            let client = app.app();
            let taken = ask(&client, within, json!({ "v": { "title": "xxxx" } })).await;
            assert!(taken.get("errors").is_none(), "{name}: {taken}");
            let refused = ask(&client, beyond, json!({ "v": { "title": "xxxx" } })).await;
            let extensions = &refused["errors"][0]["extensions"];
            assert_eq!((&extensions["code"], &extensions["limit"], &extensions["most"]), (&json!("GRAPHQL_LIMIT"), &json!(name), &json!(value)), "{refused}");
            assert!(message(&refused).contains(&value.to_string()), "{refused}");
            app.restart(|it| it.graphql = Arc::default());
            assert!(ask(&app.app(), beyond, json!({ "v": { "title": "xxxx" } })).await.get("errors").is_none(), "{name}");
        }
    }

    async fn answers_and_time_are_bounded(engine) {
        let mut app = TestApp::new(engine).await;
        garage(&app).await;
        let long: Value = (0..40).map(|n| json!({ "_id": format!("l{n}"), "title": "x".repeat(1_000) })).collect();
        insert(&app, "cars", long).await;
        let limits = GraphqlLimits { graphql_answer_bytes: 20_000, ..GraphqlLimits::default() };
        app.restart(|it| it.graphql = Arc::new(Graphql::new(limits)));
        let refused = ask(&app.app(), "{cars {items {title}}}", json!({})).await;
        assert_eq!((&refused["data"], &refused["errors"][0]["extensions"]["code"]), (&Value::Null, &json!("ANSWER_TOO_LARGE")));
        let limits = GraphqlLimits { graphql_time: 0, ..GraphqlLimits::default() };
        app.restart(|it| it.graphql = Arc::new(Graphql::new(limits)));
        let late = ask(&app.app(), "mutation {removeCars(id: \"c1\") {_id}}", json!({})).await;
        assert_eq!((&late["data"], &late["errors"][0]["extensions"]["code"]), (&json!({ "removeCars": null }), &json!("GRAPHQL_TIMEOUT")));
        app.restart(|it| it.graphql = Arc::default());
        assert_eq!(data(&app.app(), "{carsItem(id: \"c1\") {_id}}", json!({})).await["carsItem"]["_id"], "c1", "it did not begin");
    }

    async fn hostile_documents_leave_the_server_as_it_is(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        for document in [
            format!("{{cars(filter: {}", "[".repeat(32_000)), format!("{{cars(filter: {}", "{a:".repeat(16_000)),
            "...{".repeat(15_000), format!("{{{}", "...{".repeat(15_000)), "{a".repeat(30_000), format!("query($a: {}", "[".repeat(32_000)),
            "{cars(limit: 1000) {items {tags(limit: 1000) {_id}}}}".to_owned(), "\u{0}".to_owned(), "{\u{202e}}".to_owned(),
        ] {
            let refused = ask(&visitor, &document, json!({})).await;
            assert!(refused.get("data").is_none() && refused["errors"].is_array(), "{refused}");
        }
        assert_eq!(data(&visitor, "{carsCount}", json!({})).await["carsCount"], 3);
    }
}
