//! What stages, expressions and results mean, point by point (docs/protocol/content.md §21.7).

use super::{AGGREGATE, app_with, fill, model, open, outcome, pipeline};
use serde_json::{Value as Json, json};
use stoa_testkit::{TestApp, TestClient, on_both_engines};

fn field(name: &str) -> Json {
    json!({ "fieldPath": name })
}

fn number(it: f64) -> Json {
    json!({ "numeric": it })
}

/// An operation of one operand.
fn of(name: &str, operand: Json) -> Json {
    json!({ name: { "expression": operand } })
}

fn two(name: &str, first: Json, second: Json) -> Json {
    json!({ name: { "firstExpression": first, "secondExpression": second } })
}

fn many(name: &str, operands: &[Json]) -> Json {
    json!({ name: { "expressions": operands } })
}

/// What an expression comes to for the item `a`: nothing for a field that isn't made.
async fn value(client: &TestClient<'_>, expression: Json) -> Json {
    let fields = json!([{ "reshape": { "resultFieldName": "r", "expression": expression } }]);
    let stages = json!([{ "filter": { "_id": "a" } }, { "projection": { "fields": fields } }]);
    let found = outcome(client, "c", stages).await;
    match found.as_array() {
        Some(rows) => rows[0].get("r").cloned().unwrap_or_else(|| json!("nothing")),
        None => found,
    }
}

fn group(keys: &[&str], accumulators: &[(&str, &str, Json)]) -> Json {
    let keys: Vec<_> = keys.iter().map(|it| json!({ "key": it, "expression": field(it) })).collect();
    let accumulators: Vec<_> = accumulators
        .iter()
        .map(|(name, function, it)| json!({ "resultFieldName": name, *function: { "expression": it } }))
        .collect();
    json!({ "group": { "groupIds": keys, "accumulators": accumulators } })
}

/// The results of the older form.
async fn aggregate(client: &TestClient<'_>, aggregation: Json, more: Json) -> Json {
    let mut body = json!({ "dataCollectionId": "c", "aggregation": aggregation });
    more.as_object().unwrap().iter().for_each(|(name, it)| body[name] = it.clone());
    let reply = client.post(AGGREGATE, &body).await;
    if reply.status.is_success() { reply.json()["results"].clone() } else { json!(reply.verdict()) }
}

on_both_engines! {
    async fn expressions_have_their_values(engine) {
        let item = json!({ "_id": "a", "n": 5.5, "m": -7, "big": 1e308, "t": "aß😀é", "u": "ΑΣ İ", "none": null, "yes": true,
            "list": [3, "x"], "o": { "z": 1, "a": [1, { "b": 2 }] }, "day": { "$date": "2024-03-05T06:07:08.009Z" },
            "rows": [{ "v": 1 }, { "v": [2] }, {}, 7] });
        let app = app_with(engine, &[item]).await;
        let client = &app.visitor().await;
        let text = |it: &str| json!({ "text": it });
        let part = |start: f64, length: Option<f64>| {
            let mut inner = json!({ "expression": field("t"), "startExpression": number(start) });
            if let Some(it) = length {
                inner["lengthExpression"] = number(it);
            }
            json!({ "substring": inner })
        };
        for (expression, expected) in [
            (field("o.a"), json!([1, { "b": 2 }])),
            (field("rows.v"), json!([1, [2]])),
            (field("o.a.b"), json!([2])),
            (field("nothing.at.all"), json!("nothing")),
            (field("none"), json!(null)),
            (many("add", &[field("n"), number(1.0)]), json!(6.5)),
            (many("sum", &[field("n"), field("m"), number(1.5)]), json!(0)),
            (many("multiply", &[field("m"), number(0.0)]), json!(0)),
            (two("subtract", field("n"), field("m")), json!(12.5)),
            (two("divide", number(7.0), number(2.0)), json!(3.5)),
            (two("mod", field("n"), number(2.0)), json!(1.5)),
            (two("mod", field("m"), number(3.0)), json!(-1)),
            (two("divide", number(1e-320), number(1e10)), json!(0)),
            (of("abs", field("m")), json!(7)),
            (of("floor", number(-0.5)), json!(-1)),
            (of("ceil", number(-0.5)), json!(0)),
            (of("ceil", number(2.1)), json!(3)),
            // Nothing comes of what is null or missing.
            (many("add", &[field("n"), field("none")]), json!(null)),
            (two("divide", field("missing"), number(0.0)), json!(null)),
            (many("concat", &[field("t"), field("missing")]), json!(null)),
            (of("toUpper", field("none")), json!(null)),
            (of("length", field("missing")), json!(null)),
            // Texts are made of code points, and letters are those of Unicode.
            (of("length", field("t")), json!(4)),
            (of("toUpper", field("t")), json!("ASS😀É")),
            (of("toLower", field("u")), json!("ας i\u{307}")),
            (many("concat", &[field("t"), text("-"), text("")]), json!("aß😀é-")),
            (part(1.0, Some(2.0)), json!("ß😀")),
            (part(1.7, Some(2.9)), json!("ß😀")),
            (part(2.0, None), json!("😀é")),
            (part(9.0, None), json!("")),
            (part(0.0, Some(0.0)), json!("")),
            (of("stringify", field("n")), json!("5.5")),
            (of("stringify", number(1e21)), json!("1e+21")),
            (of("stringify", number(1e20)), json!("100000000000000000000")),
            (of("stringify", field("yes")), json!("true")),
            (of("stringify", field("t")), json!("aß😀é")),
            (of("stringify", field("day")), json!("2024-03-05T06:07:08.009Z")),
            (of("stringify", field("o")), json!("{\"z\":1,\"a\":[1,{\"b\":2}]}")),
            // What can't be worked out is refused.
            (two("divide", number(1.0), number(0.0)), json!("400 WDE0080")),
            (two("mod", number(1.0), number(0.0)), json!("400 WDE0080")),
            (many("multiply", &[field("big"), number(10.0)]), json!("400 WDE0080")),
            (many("add", &[field("t"), number(1.0)]), json!("400 WDE0080")),
            (many("add", &[field("yes"), number(1.0)]), json!("400 WDE0080")),
            (of("abs", field("list")), json!("400 WDE0080")),
            (many("concat", &[field("t"), field("n")]), json!("400 WDE0080")),
            (of("toLower", field("n")), json!("400 WDE0080")),
            (of("length", field("list")), json!("400 WDE0080")),
            (part(-1.0, None), json!("400 WDE0080")),
            (part(0.0, Some(-2.0)), json!("400 WDE0080")),
        ] {
            let found = value(client, expression.clone()).await;
            assert_eq!(normal(&found), normal(&expected), "{expression}");
        }
    }

    async fn groups_are_told_apart_and_their_values_accumulate(engine) {
        let app = app_with(engine, &[
            json!({ "_id": "a", "k": "x", "n": 1e16, "v": 3 }),
            json!({ "_id": "b", "k": "x", "n": 1, "v": "3" }),
            json!({ "_id": "c", "k": "x", "n": -1e16, "v": [9, 1] }),
            json!({ "_id": "d", "k": null, "n": "5x", "v": null }),
            json!({ "_id": "e", "n": true }),
            json!({ "_id": "f", "k": 1, "n": 0.1, "v": [] }),
            json!({ "_id": "g", "k": "1", "v": false }),
            json!({ "_id": "h", "k": true, "v": { "a": 1 } }),
            json!({ "_id": "i", "k": { "a": 1, "b": 2 } }),
            json!({ "_id": "j", "k": { "b": 2, "a": 1 } }),
        ]).await;
        let client = &app.visitor().await;
        // Values of different types are different keys, and missing is null; results leave in the order of values.
        let stage = group(&["k"], &[("count", "sum", number(1.0)), ("sum", "sum", field("n")), ("avg", "avg", field("n")),
            ("min", "min", field("v")), ("max", "max", field("v")), ("all", "push", field("v"))]);
        let found = outcome(client, "c", json!([{ "sort": { "values": [{ "fieldName": "_id" }] } }, stage])).await;
        let expected = json!([
            { "_id": { "k": null }, "count": 2, "sum": 0, "avg": null, "min": null, "max": null, "all": [null] },
            { "_id": { "k": 1 }, "count": 1, "sum": 0.1, "avg": 0.1, "min": null, "max": null, "all": [[]] },
            { "_id": { "k": "1" }, "count": 1, "sum": 0, "avg": null, "min": false, "max": false, "all": [false] },
            { "_id": { "k": "x" }, "count": 3, "sum": 1, "avg": 1.0 / 3.0, "min": [9, 1], "max": "3", "all": [3, "3", [9, 1]] },
            { "_id": { "k": { "a": 1, "b": 2 } }, "count": 2, "sum": 0, "avg": null, "min": null, "max": null, "all": [] },
            { "_id": { "k": true }, "count": 1, "sum": 0, "avg": null, "min": { "a": 1 }, "max": { "a": 1 }, "all": [{ "a": 1 }] },
        ]);
        assert_eq!(normal(&found), normal(&expected));
        // First and last follow the sort before the group, and without one the newest item is the first.
        let ends = group(&[], &[("first", "first", field("_id")), ("last", "last", field("_id"))]);
        for (sort, first, last) in [
            (json!([]), "j", "a"),
            (json!([{ "sort": { "values": [{ "fieldName": "_id" }] } }]), "a", "j"),
            // Nothing decides behind the id.
            (json!([{ "sort": { "values": [{ "fieldName": "_id" }, { "fieldName": "k", "order": "DESC" }] } }]), "a", "j"),
            (json!([{ "limit": 3 }]), "j", "h"),
        ] {
            let mut stages = sort.as_array().unwrap().clone();
            stages.push(ends.clone());
            assert_eq!(outcome(client, "c", json!(stages)).await, json!([{ "_id": {}, "first": first, "last": last }]));
        }
        // A sum that is no number any more is refused.
        let stage = group(&[], &[("s", "sum", many("multiply", &[field("n"), number(1e292)]))]);
        let huge = json!([{ "filter": { "_id": "a" } }, { "projection": { "fields": [
            { "reshape": { "resultFieldName": "n", "expression": field("n") } },
            { "reshape": { "resultFieldName": "l", "expression": { "fieldPath": "n" } } }] } }, stage]);
        assert_eq!(outcome(client, "c", huge).await, json!([{ "_id": {}, "s": 1e308 }]));
    }

    async fn without_items_only_the_older_form_has_a_group(engine) {
        let app = app_with(engine, &[]).await;
        let client = &app.visitor().await;
        let operations = json!([{ "resultFieldName": "count", "itemCount": {} }, { "resultFieldName": "s", "sum": { "itemFieldName": "n" } },
            { "resultFieldName": "a", "average": { "itemFieldName": "n" } }, { "resultFieldName": "m", "max": { "itemFieldName": "n" } }]);
        let one = aggregate(client, json!({ "operations": operations }), json!({})).await;
        assert_eq!(one, json!([{ "_id": {}, "count": 0, "s": 0, "a": null, "m": null }]));
        let by = aggregate(client, json!({ "groupingFields": ["k"], "operations": operations }), json!({})).await;
        assert_eq!(by, json!([]));
        assert_eq!(outcome(client, "c", json!([group(&[], &[("n", "sum", number(1.0))])])).await, json!([]));
    }

    async fn older_form_filters_and_sorts_results(engine) {
        let items: Vec<_> = (0..12).map(|n| json!({ "_id": format!("{n:02}"), "state": (["CA", "NY", "TX"][n % 3]), "city": (if n < 6 { "a" } else { "b" }),
            "n": n, "a": { "b": n } })).collect();
        let app = app_with(engine, &items).await;
        let client = &app.visitor().await;
        let operations = json!([{ "resultFieldName": "total", "sum": { "itemFieldName": "n" } },
            { "resultFieldName": "a.bSum", "sum": { "itemFieldName": "a.b" } }, { "resultFieldName": "count", "itemCount": {} }]);
        let aggregation = json!({ "groupingFields": ["state"], "operations": operations });
        let more = json!({ "initialFilter": { "n": { "$gte": 1 } }, "finalFilter": { "a.bSum": { "$gt": 18 } },
            "sort": [{ "fieldName": "state", "order": "DESC" }] });
        let found = aggregate(client, aggregation.clone(), more).await;
        assert_eq!(found, json!([
            { "_id": { "state": "TX" }, "state": "TX", "total": 26, "a.bSum": 26, "count": 4 },
            { "_id": { "state": "NY" }, "state": "NY", "total": 22, "a.bSum": 22, "count": 4 },
        ]));
        let found = aggregate(client, json!({ "groupingFields": ["a.b"] }), json!({ "finalFilter": { "a.b": { "$lt": 2 } } })).await;
        assert_eq!(found, json!([{ "_id": { "a.b": 0 }, "a.b": 0 }, { "_id": { "a.b": 1 }, "a.b": 1 }]));
        // 50 results without a limit, and never more than a thousand.
        let by_n = json!({ "groupingFields": ["_id"] });
        let many: Vec<_> = (0..60).map(|n| json!({ "_id": format!("m{n:02}") })).collect();
        fill(&app, "c", &many).await;
        assert_eq!(aggregate(client, by_n.clone(), json!({})).await.as_array().unwrap().len(), 50);
        assert_eq!(aggregate(client, by_n.clone(), json!({ "paging": { "limit": 1001 } })).await, json!("400 WDE0036"));
        assert_eq!(outcome(client, "c", json!([])).await.as_array().unwrap().len(), 72);
    }

    async fn projections_keep_take_away_and_make(engine) {
        let item = json!({ "_id": "a", "n": 1, "t": "x", "o": { "a": 1, "b": { "c": 2, "d": 3 } }, "l": [{ "x": 1, "y": 2 }, { "y": 3 }, 4] });
        let app = app_with(engine, &[item]).await;
        let client = &app.visitor().await;
        let include = |it: &str| json!({ "include": { "fieldName": it } });
        let exclude = |it: &str| json!({ "exclude": { "fieldName": it } });
        let make = |name: &str, it: Json| json!({ "reshape": { "resultFieldName": name, "expression": it } });
        let nested = |name: &str, fields: Json| json!({ "projectNested": { "resultFieldName": name, "fields": fields } });
        let system = json!([exclude("_createdDate"), exclude("_updatedDate"), exclude("_owner")]);
        for (fields, expected) in [
            (json!([include("n")]), json!({ "_id": "a", "n": 1 })),
            (json!([include("o.b.c"), include("l.y")]), json!({ "_id": "a", "o": { "b": { "c": 2 } }, "l": [{ "y": 2 }, { "y": 3 }] })),
            (json!([include("n"), exclude("_id")]), json!({ "n": 1 })),
            (json!([include("o"), exclude("o.b")]), json!({ "_id": "a", "o": { "a": 1 } })),
            (json!([make("t", field("n")), include("o.a")]), json!({ "_id": "a", "o": { "a": 1 }, "t": 1 })),
            (json!([make("r", field("missing"))]), json!({ "_id": "a" })),
            (json!([nested("o", json!([include("b.d"), make("n", field("n"))]))]), json!({ "_id": "a", "o": { "b": { "d": 3 }, "n": 1 } })),
            (json!([nested("o", json!([exclude("b")]))]), json!({ "_id": "a", "o": { "a": 1 } })),
            (json!([nested("new", json!([make("deep", field("o.b.c"))]))]), json!({ "_id": "a", "new": { "deep": 2 } })),
            (json!([nested("l", json!([include("y")]))]), json!({ "_id": "a", "l": [{ "y": 2 }, { "y": 3 }] })),
            (json!([nested("missing", json!([include("y")]))]), json!({ "_id": "a" })),
        ] {
            assert_eq!(outcome(client, "c", json!([{ "projection": { "fields": fields } }])).await, json!([expected]), "{fields}");
        }
        let mut all = system.as_array().unwrap().clone();
        all.extend([exclude("l.x"), exclude("o.b"), exclude("t")]);
        let found = outcome(client, "c", json!([{ "projection": { "fields": all } }])).await;
        assert_eq!(found, json!([{ "_id": "a", "n": 1, "o": { "a": 1 }, "l": [{ "y": 2 }, { "y": 3 }, 4] }]));
        // Whole items are as a query has them.
        let query = client.post("/v2/items/query", &json!({ "dataCollectionId": "c" })).await.json();
        assert_eq!(outcome(client, "c", json!([])).await[0], query["dataItems"][0]["data"]);
    }

    async fn arrays_are_unwound_and_objects_become_arrays(engine) {
        let app = app_with(engine, &[
            json!({ "_id": "a", "l": [2, null, [1]], "o": { "z": 1, "a": 2 } }),
            json!({ "_id": "b", "l": [], "o": { "in": { "k": [7, 8] } } }),
            json!({ "_id": "c", "l": null, "o": null }),
            json!({ "_id": "d", "l": "one" }),
            json!({ "_id": "e" }),
        ]).await;
        let client = &app.visitor().await;
        let sort = json!({ "sort": { "values": [{ "fieldName": "_id" }] } });
        let only = |it: &str| json!({ "projection": { "fields": [{ "include": { "fieldName": it } }] } });
        let found = outcome(client, "c", json!([sort, { "unwindArray": { "arrayFieldName": "l" } }, only("l")])).await;
        assert_eq!(found, json!([{ "_id": "a", "l": 2 }, { "_id": "a", "l": null }, { "_id": "a", "l": [1] }, { "_id": "d", "l": "one" }]));
        let found = outcome(client, "c", json!([sort, { "unwindArray": { "arrayFieldName": "o.in.k" } }, only("o")])).await;
        assert_eq!(found, json!([{ "_id": "b", "o": { "in": { "k": 7 } } }, { "_id": "b", "o": { "in": { "k": 8 } } }]));
        let turned = json!({ "objectToArray": { "objectFieldName": "o", "destinationFieldName": "p" } });
        let found = outcome(client, "c", json!([sort, turned, only("p")])).await;
        assert_eq!(found, json!([{ "_id": "a", "p": [{ "k": "z", "v": 1 }, { "k": "a", "v": 2 }] },
            { "_id": "b", "p": [{ "k": "in", "v": { "k": [7, 8] } }] }, { "_id": "c" }, { "_id": "d" }, { "_id": "e" }]));
        let wrong = json!({ "objectToArray": { "objectFieldName": "_id", "destinationFieldName": "p" } });
        assert_eq!(outcome(client, "c", json!([wrong])).await, json!("400 WDE0080"));
    }

    async fn stages_see_no_more_than_their_caller(engine) {
        let app = TestApp::new(engine).await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        let levels = json!({ "itemRead": "SITE_MEMBER_AUTHOR", "itemInsert": "SITE_MEMBER", "itemUpdate": "SITE_MEMBER_AUTHOR", "itemRemove": "SITE_MEMBER_AUTHOR" });
        let body = json!({ "collection": { "id": "c", "dataPermissions": levels,
            "fields": [{ "key": "n", "type": "NUMBER" }, { "key": "secret", "type": "TEXT", "encrypted": true }] } });
        let reply = app.app().post("/v2/collections", &body).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        for (who, n) in [(&ann, 1), (&ann, 2), (&bob, 40)] {
            let body = json!({ "dataCollectionId": "c", "dataItem": { "data": { "n": n, "secret": "s3cret" } } });
            assert_eq!(who.post("/v2/items", &body).await.verdict(), "200");
        }
        let sum = json!([group(&[], &[("n", "sum", field("n"))])]);
        for (who, expected) in [(&ann, json!([{ "_id": {}, "n": 3 }])), (&bob, json!([{ "_id": {}, "n": 40 }])), (&app.app(), json!([{ "_id": {}, "n": 43 }]))] {
            assert_eq!(outcome(who, "c", sum.clone()).await, expected);
        }
        assert_eq!(outcome(&app.visitor().await, "c", sum).await, json!([]));
        // An encrypted value is shown to nobody whom a query doesn't show it to, and named by nobody.
        let whole = pipeline(&ann, "c", json!([])).await;
        assert_eq!(whole.verdict(), "200");
        assert!(!String::from_utf8_lossy(&whole.body).contains("s3cret") && !String::from_utf8_lossy(&whole.body).contains("sealed"));
        assert_eq!(outcome(&app.app(), "c", json!([{ "limit": 1 }])).await[0]["secret"], "s3cret");
        let named = [
            json!([group(&["secret"], &[])]),
            json!([group(&[], &[("m", "max", field("secret"))])]),
            json!([{ "filter": { "secret": "s3cret" } }]),
            json!([{ "limit": 9 }, { "filter": { "secret": "s3cret" } }]),
            json!([{ "sort": { "values": [{ "fieldName": "secret" }] } }]),
            json!([{ "projection": { "fields": [{ "include": { "fieldName": "secret" } }] } }]),
            json!([{ "projection": { "fields": [{ "reshape": { "resultFieldName": "x", "expression": field("secret") } }] } }]),
            json!([{ "unwindArray": { "arrayFieldName": "secret" } }]),
            json!([{ "objectToArray": { "objectFieldName": "secret.x", "destinationFieldName": "y" } }]),
        ];
        for stages in named {
            assert_eq!(outcome(&app.app(), "c", stages.clone()).await, json!("428 WDE0119"), "{stages}");
        }
        let older = json!({ "groupingFields": ["secret"] });
        assert_eq!(aggregate(&app.app(), older, json!({})).await, json!("428 WDE0119"));
        // What stages make may be called the same.
        let made = json!([group(&[], &[("secret", "sum", field("n"))]), { "filter": { "secret": { "$gt": 1 } } }]);
        assert_eq!(outcome(&ann, "c", made).await, json!([{ "_id": {}, "secret": 3 }]));
        open(&app, "other").await;
    }
}

/// A text in which equal numbers look alike.
fn normal(json: &Json) -> String {
    model::printed(json)
}
