//! Whatever arrives has a documented code; nothing is an internal error.

use crate::common::*;
use serde_json::{Value, json};
use stoa_content::{GetRequest, Request};
use stoa_kernel::Result;
use stoa_testkit::on_both_engines;

const CALLS: [&str; 8] =
    ["insert", "update", "save", "remove", "bulk insert", "bulk update", "bulk save", "bulk remove"];

async fn call(world: &World, name: &str, body: &[u8]) -> Result<()> {
    let (request, content, site) = (Request::parse(body)?, &world.content, &world.site);
    match name {
        "insert" => content.item_insert(site, &app(), &request).await.map(drop),
        "update" => content.item_update(site, &app(), &request).await.map(drop),
        "save" => content.item_save(site, &app(), &request).await.map(drop),
        "remove" => content.item_remove(site, &app(), &request).await.map(drop),
        "bulk insert" => content.item_bulk_insert(site, &app(), &request).await.map(drop),
        "bulk update" => content.item_bulk_update(site, &app(), &request).await.map(drop),
        "bulk save" => content.item_bulk_save(site, &app(), &request).await.map(drop),
        "bulk remove" => content.item_bulk_remove(site, &app(), &request).await.map(drop),
        "query" => content.item_query(site, &app(), None, &request.members).await.map(drop),
        "count" => content.item_count(site, &app(), None, &request.members).await.map(drop),
        it => panic!("no call {it}"),
    }
}

on_both_engines! {
    async fn malformed_bodies_have_their_codes(engine) {
        let world = World::open(engine).await;
        let deep = format!("{{\"dataCollectionId\":\"c\",\"x\":{}{}}}", "[".repeat(200), "]".repeat(200));
        for name in CALLS.into_iter().chain(["query", "count"]) {
            for (body, wants) in [
                (&b"{"[..], "MALFORMED_JSON"),
                (b"\xff\xfe", "MALFORMED_JSON"),
                (b"{\"dataCollectionId\":\"\\ud800\"}", "WDE0080"),
                (b"{} {}", "MALFORMED_JSON"),
                (deep.as_bytes(), "MALFORMED_JSON"),
                (b"[]", "WDE0080"),
                (b"null", "WDE0080"),
                (b"1.5", "WDE0080"),
                (b"\"text\"", "WDE0080"),
                (b"", "WDE0001"),
                (b"{}", "WDE0001"),
                (b"{\"dataCollectionId\":7}", "WDE0001"),
                (b"{\"dataCollectionId\":\"\"}", "WDE0025"),
                (b"{\"dataCollectionId\":\"none\"}", "WDE0025"),
                (b"{\"dataCollectionId\":\"c\\u0000\"}", "WDE0025"),
                (b"{\"dataCollectionId\":\"c'; drop table x; --\"}", "WDE0025"),
                (b"{\"dataCollectionId\":\"c\",\"environment\":\"SANDBOX\"}", "WDE0179"),
                (b"{\"dataCollectionId\":\"c\",\"environment\":7}", "WDE0018"),
            ] {
                assert_eq!(code(call(&world, name, body).await), wants, "{name} {}", String::from_utf8_lossy(body));
            }
        }
    }

    async fn malformed_items_have_their_codes(engine) {
        let world = World::open(engine).await;
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(40), "]".repeat(40));
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(530_000));
        for (item, wants) in [
            ("null".to_owned(), "WDE0004"),
            ("7".to_owned(), "WDE0004"),
            ("[]".to_owned(), "WDE0004"),
            ("{}".to_owned(), "WDE0004"),
            (r#"{"data":null}"#.to_owned(), "WDE0004"),
            (r#"{"data":"x"}"#.to_owned(), "WDE0004"),
            (r#"{"data":{"_id":7}}"#.to_owned(), "WDE0007"),
            (r#"{"data":{"_id":null}}"#.to_owned(), "WDE0007"),
            (r#"{"id":7,"data":{}}"#.to_owned(), "WDE0007"),
            (r#"{"data":{"_id":""}}"#.to_owned(), "WDE0079"),
            (r#"{"data":{"_id":"a#b"}}"#.to_owned(), "WDE0079"),
            (r#"{"data":{"_id":"a\nb"}}"#.to_owned(), "WDE0079"),
            (format!(r#"{{"data":{{"_id":"{}"}}}}"#, "x".repeat(129)), "WDE0079"),
            (r#"{"id":"a","data":{"_id":"b"}}"#.to_owned(), "WDE0080"),
            (r#"{"data":{"_id":"k","s":"a\u0000b"}}"#.to_owned(), "WDE0080"),
            (r#"{"data":{"_id":"k","s":"\ud800"}}"#.to_owned(), "WDE0080"),
            (r#"{"data":{"_id":"k","$where":1}}"#.to_owned(), "WDE0134"),
            (r#"{"data":{"_id":"k","d":{"$date":"soon"}}}"#.to_owned(), "WDE0080"),
            (format!("{{\"data\":{deep}}}"), "WDE0168"),
            (format!("{{\"data\":{long}}}"), "WDE0009"),
        ] {
            for name in ["insert", "save"] {
                let body = format!("{{\"dataCollectionId\":\"c\",\"dataItem\":{item}}}");
                let shown = &body[..body.len().min(120)];
                assert_eq!(code(call(&world, name, body.as_bytes()).await), wants, "{name} {shown}");
            }
            let body = format!("{{\"dataCollectionId\":\"c\",\"dataItems\":[{item}]}}");
            let request = Request::parse(body.as_bytes()).unwrap();
            let outcomes = world.content.item_bulk_insert(&world.site, &app(), &request).await.unwrap();
            assert_eq!(verdicts(&outcomes), [wants], "bulk {}", &body[..body.len().min(120)]);
        }
        assert_eq!(world.count(&app(), json!({})).await.unwrap(), 0);
    }

    async fn malformed_lists_and_conditions_have_their_codes(engine) {
        let world = World::open(engine).await;
        for (name, members, wants) in [
            ("bulk insert", json!({}), "WDE0005"),
            ("bulk insert", json!({ "dataItems": null }), "WDE0005"),
            ("bulk insert", json!({ "dataItems": { "a": [1] } }), "WDE0005"),
            ("bulk save", json!({ "dataItems": "x" }), "WDE0005"),
            ("bulk update", json!({ "dataItems": 7 }), "WDE0005"),
            ("bulk insert", json!({ "dataItems": [], "returnEntity": "yes" }), "WDE0018"),
            ("bulk remove", json!({}), "WDE0068"),
            ("bulk remove", json!({ "dataItemIds": "a" }), "WDE0068"),
            ("bulk remove", json!({ "dataItemIds": ["a", 7] }), "WDE0068"),
            ("remove", json!({}), "WDE0002"),
            ("remove", json!({ "dataItemId": 7 }), "WDE0002"),
            ("remove", json!({ "dataItemId": "" }), "WDE0073"),
            ("remove", json!({ "dataItemId": "a\u{0}" }), "WDE0073"),
            ("remove", json!({ "dataItemId": "a", "condition": 7 }), "WDE0016"),
            ("remove", json!({ "dataItemId": "a", "condition": {} }), "WDE0016"),
            ("remove", json!({ "dataItemId": "a", "condition": { "filter": null } }), "WDE0016"),
            ("update", json!({ "dataItem": { "data": { "_id": "a" } }, "condition": { "n": 1 } }), "WDE0016"),
            ("remove", json!({ "dataItemId": "a", "condition": { "filter": [] } }), "WDE0016"),
            ("remove", json!({ "dataItemId": "a", "condition": { "filter": { "a": { "$regex": "x" } } } }), "WDE0070"),
            ("update", json!({ "dataItem": { "data": { "_id": "a" } }, "condition": { "filter": { "$what": 1 } } }), "WDE0093"),
            ("query", json!({ "query": 7 }), "WDE0080"),
            ("query", json!({ "query": { "filter": "x" } }), "WDE0016"),
            ("query", json!({ "query": { "filter": { "a": { "$regex": "x" } } } }), "WDE0070"),
            ("query", json!({ "query": { "sort": "x" } }), "WDE0065"),
            ("query", json!({ "query": { "sort": [{ "fieldName": "a", "order": "UP" }] } }), "WDE0067"),
            ("query", json!({ "query": { "paging": { "limit": 1001 } } }), "WDE0036"),
            ("query", json!({ "query": { "paging": { "limit": 0 } } }), "WDE0033"),
            ("query", json!({ "query": { "paging": { "offset": -1 } } }), "WDE0034"),
            ("query", json!({ "query": { "cursorPaging": { "cursor": "x" } } }), "WDE0151"),
            ("query", json!({ "query": {}, "includeReferences": [{ "field": "a" }] }), "WDE0020"),
            ("query", json!({ "query": { "filter": { "a\u{0}": 1 } } }), "WDE0080"),
            ("query", json!({ "query": { "filter": { "a": "b\u{0}" } } }), "WDE0080"),
            ("query", json!({ "query": { "filter": { "_id": "b\u{0}" } } }), "WDE0080"),
            ("count", json!({ "filter": [] }), "WDE0016"),
        ] {
            let mut body = members;
            body["dataCollectionId"] = "c".into();
            assert_eq!(code(call(&world, name, body.to_string().as_bytes()).await), wants, "{name} {body}");
        }
    }

    async fn names_and_ids_are_never_part_of_a_statement(engine) {
        let world = World::open(engine).await;
        let strange = ["'", "\"", "\\", "a'b\"c\\d", "$.x", "a]['b", "--", "/*", "%", "_", "../..", "{}", "$1", "é😀\u{fffd}", "a b"];
        for (n, text) in strange.into_iter().enumerate() {
            let id = format!("{n}{text}");
            let mut data = json!({ "_id": id });
            let name = format!("f{text}");
            data[&name] = json!(text);
            world.insert(&app(), data).await.unwrap();
            assert_eq!(world.get(&app(), &id).await.unwrap()[&name], text);
            let name = name.replace('.', "");
            let filter = json!({ name.as_str(): text });
            let found = world.ids(&app(), json!({ "filter": filter, "sort": [{ "fieldName": name }] })).await.unwrap();
            if !text.contains('.') {
                assert_eq!(found, std::slice::from_ref(&id), "{text}");
            }
            assert!(world.remove(&app(), &id, Some(json!({ "_id": id }))).await.unwrap().is_some());
        }
    }

    async fn get_reads_members_of_any_type(engine) {
        let world = World::open(engine).await;
        for (request, wants) in [
            (json!({}), "WDE0001"),
            (json!({ "dataCollectionId": ["a", "b"] }), "WDE0001"),
            (json!({ "dataCollectionId": "c" }), "WDE0002"),
            (json!({ "dataCollectionId": "c", "dataItemId": { "a": 1 } }), "WDE0002"),
            (json!({ "dataCollectionId": "c", "dataItemId": "x", "fields": { "a": 1 } }), "WDE0003"),
            (json!({ "dataCollectionId": "c", "dataItemId": "x", "fields": [1] }), "WDE0003"),
            (json!({ "dataCollectionId": "c", "dataItemId": "x", "includeReferences": ["a"] }), "WDE0080"),
            (json!({ "dataCollectionId": "c", "dataItemId": "x", "fields": "a", "includeReferences": [] }), "WDE0073"),
            (json!({ "dataCollectionId": "c", "dataItemId": "" }), "WDE0073"),
        ] {
            let Value::Object(members) = &request else { unreachable!("an object") };
            let result = match GetRequest::parse(members, world.content.limits()) {
                Ok(it) => world.content.item_get(&world.site, &app(), &it).await.map(drop),
                Err(fault) => Err(fault),
            };
            assert_eq!(code(result), wants, "{request}");
        }
    }
}
