//! What documents come to: the calls of content, and what is printed of their answers.

use super::*;
use stoa_graphql::Written;
use stoa_kernel::{Code, Fault};

#[test]
fn page_is_one_query_with_all_that_is_selected() {
    let query =
        "query($f: JSON, $n: Int = 7) { cars(filter: $f, sort: {field: \"price\", order: DESC}, limit: $n, offset: 2) {
        totalCount items { title brand { name country { name } } ...More } } }
        fragment More on Cars { first: tags(limit: 3) { name } later: tags(limit: 2, offset: 4) { _id } price }";
    assert_eq!(
        asked(query, json!({ "f": { "price": { "$gt": 3 } } })),
        [json!({
            "dataCollectionId": "cars",
            "query": {
                "filter": { "price": { "$gt": 3 } },
                "sort": [{ "fieldName": "price", "order": "DESC" }],
                "paging": { "limit": 7, "offset": 2 },
                "fields": ["_id", "brand", "price", "tags", "title"],
            },
            "includeReferences": [
                { "field": "brand" }, { "field": "brand.country" }, { "field": "tags", "limit": 6 },
            ],
            "returnTotalCount": true,
        })]
    );
}

#[test]
fn cursors_are_asked_for_where_they_are_answered() {
    let paging = |query: &str| asked(query, json!({}))[0]["query"].clone();
    assert_eq!(paging("{cars(limit: 3) {next}}")["cursorPaging"], json!({ "limit": 3 }));
    assert_eq!(paging("{cars(cursor: \"c\") {hasNext}}")["cursorPaging"], json!({ "limit": 50, "cursor": "c" }));
    assert_eq!(paging("{cars(offset: 1) {next}}")["paging"], json!({ "limit": 50, "offset": 1 }));
    let refused = refusal("{cars(cursor: \"c\", filter: {}) {next}}", json!({}));
    assert!(refused.contains("filter can't be given beside it"), "{refused}");
}

#[test]
fn whole_items_are_asked_for_where_all_of_them_is_answered() {
    assert_eq!(asked("{cars {items {_data title}}}", json!({}))[0]["query"].get("fields"), None);
    assert_eq!(asked("{cars {totalCount}}", json!({}))[0]["query"]["fields"], json!(["_id"]));
    let one = &asked("{carsItem(id: 7) {title}}", json!({}))[0]["query"];
    assert_eq!(one["filter"], json!({ "_id": { "$eq": "7" } }));
    assert_eq!(
        asked("{carsCount(filter: {title: \"x\"})}", json!({})),
        [json!({
            "count": { "dataCollectionId": "cars", "filter": { "title": "x" } },
        })]
    );
}

#[test]
fn values_are_printed_as_their_types_have_them() {
    let items = [
        json!({ "_id": "1", "title": "\u{e9}\"", "price": 1.5, "isNew": false, "built": { "$date": "2026-01-01T00:00:00.000Z" },
            "colours": ["red", null], "extra": { "a": [1] }, "brand": { "_id": "b", "name": "B" },
            "tags": [{ "_id": "t1" }, "t2", { "_id": "t3" }], "secret": "s" }),
        json!({ "_id": "2", "title": 5, "price": "x", "isNew": null, "colours": [1, "x"], "brand": "gone", "tags": [] }),
    ];
    let query = "{cars {totalCount hasNext next prev __typename items {
        _id title price isNew built colours extra secret __typename b: brand {name __typename} tags(offset: 1) {_id} }}}";
    let answer = answered(query, &items);
    assert_eq!(
        answer["data"]["cars"],
        json!({
            "totalCount": 7, "hasNext": true, "next": "n\"x", "prev": null, "__typename": "CarsPage",
            "items": [
                { "_id": "1", "title": "\u{e9}\"", "price": 1.5, "isNew": false, "built": "2026-01-01T00:00:00.000Z",
                  "colours": ["red", null], "extra": { "a": [1] }, "secret": "s", "__typename": "Cars",
                  "b": { "name": "B", "__typename": "Brands" }, "tags": [{ "_id": "t3" }] },
                { "_id": "2", "title": null, "price": null, "isNew": null, "built": null,
                  "colours": [null, "x"], "extra": null, "secret": null, "__typename": "Cars",
                  "b": null, "tags": [] },
            ],
        })
    );
    let paths: Vec<_> = answer["errors"].as_array().expect("errors").iter().map(|it| it["path"].clone()).collect();
    assert_eq!(
        paths,
        [
            json!(["cars", "items", 1, "title"]),
            json!(["cars", "items", 1, "price"]),
            json!(["cars", "items", 1, "colours", 0]),
        ]
    );
}

#[test]
fn errors_of_one_answer_are_bounded() {
    let items: Vec<_> = (0..500).map(|n| json!({ "_id": n.to_string(), "title": n })).collect();
    let answer = answered("{cars(limit: 500) {items {title}}}", &items);
    let errors = answer["errors"].as_array().expect("errors");
    assert_eq!((errors.len(), &errors[100]["message"]), (101, &json!("There are 400 more errors.")));
}

#[test]
fn selections_of_one_name_are_merged() {
    let items = [json!({ "_id": "1", "title": "t", "brand": { "_id": "b", "name": "B", "cars": [] } })];
    let query = "query($yes: Boolean!, $no: Boolean!) {cars {items {brand {name} ... on Cars {brand {_id}} title @skip(if: $yes) price @include(if: $no)}}}";
    let run = plan(query, json!({ "yes": true, "no": false }));
    let mut run = run.unwrap_or_else(|it| panic!("{it:?}"));
    assert!(run.next_ask().is_some());
    let elements = format!("{{\"id\":\"1\",\"data\":{}}}", items[0]);
    run.page(&Page { elements, ..Page::default() }).expect("a page");
    assert_eq!(run.finish(), r#"{"data":{"cars":{"items":[{"brand":{"name":"B","_id":"b"}}]}}}"#);
}

#[test]
fn mutations_are_writes_in_order() {
    let query = "mutation($items: [JSON!]!) {
        insertCars(item: {title: \"a\"}, saveReferences: true) {_id}
        patchCars(id: 1, set: {title: \"b\"}, inc: {price: -2}, append: {colours: \"red\"}, pull: {colours: \"blue\"}, unset: [\"extra\"], condition: {price: 3}) {_id}
        many: bulkInsertCars(items: $items) {id}
        shown: bulkRemoveCars(ids: [1, \"2\"]) {item {title}}
        bulkPatchCars(patches: {id: 3, inc: {price: 1}}) {error {code}} }";
    let modification = |path: &str, action: &str, options: &str, value: Value| json!({ "fieldPath": path, "action": action, options: { "value": value } });
    let asked = asked(query, json!({ "items": [{ "n": 1 }, { "n": 2 }] }));
    assert_eq!(
        asked,
        [
            json!({ "insert": { "dataCollectionId": "cars", "saveReferences": true, "dataItem": { "data": { "title": "a" } } } }),
            json!({ "patch": { "dataCollectionId": "cars", "condition": { "filter": { "price": 3 } }, "patch": {
                "dataItemId": "1",
                "fieldModifications": [
                    modification("title", "SET_FIELD", "setFieldOptions", json!("b")),
                    modification("price", "INCREMENT_FIELD", "incrementFieldOptions", json!(-2)),
                    modification("colours", "APPEND_TO_ARRAY", "appendToArrayOptions", json!("red")),
                    modification("colours", "REMOVE_FROM_ARRAY", "removeFromArrayOptions", json!("blue")),
                    { "fieldPath": "extra", "action": "REMOVE_FIELD" },
                ],
            } } }),
            json!({ "bulkInsert": { "dataCollectionId": "cars", "returnEntity": false,
                "dataItems": [{ "data": { "n": 1 } }, { "data": { "n": 2 } }] } }),
            json!({ "bulkRemove": { "dataCollectionId": "cars", "returnEntity": true, "dataItemIds": ["1", "2"] } }),
            json!({ "bulkPatch": { "dataCollectionId": "cars", "returnEntity": false, "patches": [{
                "dataItemId": "3",
                "fieldModifications": [modification("price", "INCREMENT_FIELD", "incrementFieldOptions", json!(1))],
            }] } }),
        ]
    );
}

#[test]
fn what_written_items_refer_to_is_read_after_the_write() {
    let query =
        "mutation {bulkSaveCars(items: []) {action id error {code message} item {title brand {name} tags {_id}}}}";
    let mut run = plan(query, json!({})).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(matches!(run.next_ask(), Some(Ask::Write(..))));
    let document = |id: &str| Some(format!("{{\"_id\":\"{id}\",\"title\":\"t{id}\",\"brand\":\"b\"}}"));
    let named = |id: &str| Some(id.to_owned());
    let written = [
        Written { action: "INSERT", id: named("1"), document: document("1"), fault: None },
        Written { action: "UPDATE", id: named("2"), document: document("2"), fault: None },
        Written {
            action: "UPDATE",
            id: named("3"),
            document: None,
            fault: Some(Fault::because(Code::ItemNotFound, "gone")),
        },
    ];
    let reread = run.reread(&written).expect("a query");
    assert_eq!(reread["query"]["filter"], json!({ "_id": { "$in": ["1", "2"] } }));
    assert_eq!(reread["includeReferences"], json!([{ "field": "brand" }, { "field": "tags", "limit": 50 }]));
    let found = r#"{"id":"2","data":{"_id":"2","title":"x","brand":{"_id":"b","name":"B"},"tags":[{"_id":"t"}]}}"#;
    run.written(&written, Some(found)).expect("written");
    let answer: Value = serde_json::from_str(&run.finish()).expect("JSON");
    assert_eq!(
        answer,
        json!({ "data": { "bulkSaveCars": [
            { "action": "INSERT", "id": "1", "error": null, "item": { "title": "t1", "brand": null, "tags": [] } },
            { "action": "UPDATE", "id": "2", "error": null, "item": { "title": "t2", "brand": { "name": "B" }, "tags": [{ "_id": "t" }] } },
            { "action": "UPDATE", "id": "3", "error": { "code": "WDE0073", "message": "WDE0073: gone" }, "item": null },
        ] } })
    );
}

#[test]
fn field_that_is_refused_leaves_the_others() {
    let mut run = plan("{a: carsCount b: carsCount c: carsCount}", json!({})).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(run.next_ask().is_some());
    run.count(3);
    assert!(run.next_ask().is_some());
    run.refuse(&Fault::because(Code::PermissionDenied, "no").with("collectionName", "cars"));
    run.time_out(10_000);
    let answer: Value = serde_json::from_str(&run.finish()).expect("JSON");
    assert_eq!(answer["data"], json!({ "a": 3, "b": null, "c": null }));
    assert_eq!(
        answer["errors"][0],
        json!({ "message": "WDE0027: no", "path": ["b"], "locations": [{ "line": 1, "column": 18 }],
            "extensions": { "code": "WDE0027", "data": { "collectionName": "cars" } } })
    );
    assert_eq!(answer["errors"][1]["extensions"]["code"], "GRAPHQL_TIMEOUT");
}

#[test]
fn answer_that_grows_too_large_is_given_up() {
    let limits = GraphqlLimits { graphql_answer_bytes: 2_000, ..GraphqlLimits::default() };
    let query = "{a: cars {items {title}} b: cars {items {title}}}";
    let mut run = prepare(&site(), &request(query, json!({})), &limits, false).unwrap_or_else(|it| panic!("{it:?}"));
    assert!(run.next_ask().is_some());
    let elements = format!("{{\"data\":{{\"_id\":\"1\",\"title\":\"{}\"}}}}", "x".repeat(3_000));
    run.page(&Page { elements, ..Page::default() }).expect("a page");
    assert!(run.next_ask().is_none(), "the second is not asked");
    let answer: Value = serde_json::from_str(&run.finish()).expect("JSON");
    assert_eq!(
        (&answer["data"], &answer["errors"][0]["extensions"]["code"]),
        (&Value::Null, &json!("ANSWER_TOO_LARGE"))
    );
}
