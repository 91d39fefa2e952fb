//! What one caller can't do to the server with an aggregation: time, memory, names, depth.

use super::{AGGREGATE, PIPELINE, app_with, outcome, pipeline};
use serde_json::{Value as Json, json};
use std::time::Duration;
use stoa_testkit::on_both_engines;

fn unwind(name: &str) -> Json {
    json!({ "unwindArray": { "arrayFieldName": name } })
}

fn group(accumulators: Json) -> Json {
    json!({ "group": { "groupIds": [], "accumulators": accumulators } })
}

fn push(name: &str) -> Json {
    json!([{ "resultFieldName": "all", "push": { "expression": { "fieldPath": name } } }])
}

on_both_engines! {
    async fn rows_that_multiply_come_to_an_end(engine) {
        let list: Vec<_> = (0..1000).collect();
        let items: Vec<_> = (0..60).map(|n| json!({ "_id": format!("{n}"), "a": list, "b": list, "c": list })).collect();
        let app = app_with(engine, &items).await;
        let client = &app.visitor().await;
        // A million rows of one item are counted.
        let count = json!([{ "resultFieldName": "n", "sum": { "expression": { "numeric": 1 } } }]);
        let stages = json!([{ "limit": 1 }, unwind("a"), unwind("b"), group(count.clone())]);
        assert_eq!(outcome(client, "c", stages).await, json!([{ "_id": {}, "n": 1_000_000 }]));
        // All of them kept are too many.
        for stages in [
            json!([unwind("a"), unwind("b"), group(push("a"))]),
            json!([unwind("a"), unwind("b"), { "sort": { "values": [{ "fieldName": "b" }] } }]),
            json!([unwind("a"), unwind("b"), unwind("c"), { "group": { "groupIds": [
                { "key": "a", "expression": { "fieldPath": "a" } }, { "key": "b", "expression": { "fieldPath": "b" } },
                { "key": "c", "expression": { "fieldPath": "c" } }] } }]),
        ] {
            assert_eq!(outcome(client, "c", stages.clone()).await, json!("400 WDE0092"), "{stages}");
        }
        assert_eq!(app.app.content.pipeline_memory(), 0, "all is given back");
        // A caller who leaves ends the work.
        let stages = json!([unwind("a"), unwind("b"), unwind("c"), group(count)]);
        let left = tokio::time::timeout(Duration::from_millis(300), pipeline(client, "c", stages)).await;
        assert!(left.is_err());
        let began = tokio::time::Instant::now();
        while app.app.content.pipelines_running() > 0 {
            assert!(began.elapsed() < Duration::from_secs(5), "nobody waits for it any more");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn values_that_grow_come_to_an_end(engine) {
        let text = "x".repeat(100_000);
        let items: Vec<_> = (0..30).map(|n| json!({ "_id": format!("{n}"), "t": text, "o": { "k": text } })).collect();
        let app = app_with(engine, &items).await;
        let client = &app.visitor().await;
        let field = json!({ "fieldPath": "t" });
        let double = json!({ "concat": { "expressions": [field, field] } });
        let grow = json!({ "projection": { "fields": [{ "reshape": { "resultFieldName": "t", "expression": double } }] } });
        assert_eq!(outcome(client, "c", json!(vec![grow; 30])).await, json!("400 WDE0080"));
        let copies: Vec<_> = (0..900).map(|n| json!({ "reshape": { "resultFieldName": format!("r{n}"), "expression": field } })).collect();
        assert_eq!(outcome(client, "c", json!([{ "projection": { "fields": copies } }])).await, json!("400 WDE0080"));
        // Twice as much with each stage, by two copies of the same.
        let copy = |name: &str| json!({ "reshape": { "resultFieldName": name, "expression": { "fieldPath": "o" } } });
        let twice = json!({ "projection": { "fields": [{ "projectNested": { "resultFieldName": "o", "fields": [copy("a"), copy("b")] } }] } });
        assert_eq!(outcome(client, "c", json!(vec![twice; 40])).await, json!("400 WDE0080"));
        // Letters are looked at one by one, but not any number of times for one row.
        let letters = |times: usize| {
            let lengths = vec![json!({ "length": { "expression": field } }); times];
            let sum = json!({ "add": { "expressions": lengths } });
            json!([{ "limit": 1 }, group(json!([{ "resultFieldName": "n", "sum": { "expression": sum } }]))])
        };
        assert_eq!(outcome(client, "c", letters(50)).await, json!([{ "_id": {}, "n": 5_000_000 }]));
        assert_eq!(outcome(client, "c", letters(200)).await, json!("400 WDE0080"));
        // An answer is no larger than a page may be.
        let copies: Vec<_> = (0..20).map(|n| json!({ "reshape": { "resultFieldName": format!("r{n}"), "expression": field } })).collect();
        assert_eq!(outcome(client, "c", json!([{ "projection": { "fields": copies } }])).await, json!("413 WDE0109"));
        assert_eq!(app.app.content.pipeline_memory(), 0, "all is given back");
    }

    async fn what_is_wrong_is_named_with_its_place(engine) {
        let app = app_with(engine, &[json!({ "_id": "a", "n": 1 })]).await;
        let client = &app.visitor().await;
        let deep = (0..40).fold(json!({ "numeric": 1 }), |it, _| json!({ "abs": { "expression": it } }));
        let make = |name: Json, it: Json| json!({ "projection": { "fields": [{ "reshape": { "resultFieldName": name, "expression": it } }] } });
        let one = json!({ "numeric": 1 });
        let keys = |count: usize| (0..count).map(|n| json!({ "fieldName": format!("n{n}") })).collect::<Vec<_>>();
        let by = |name: Json| json!({ "group": { "groupIds": [{ "key": name, "expression": one }] } });
        let sums = |names: &[&str]| group(names.iter().map(|it| json!({ "resultFieldName": it, "sum": { "expression": one } })).collect());
        let nest = |n: usize| (0..n).fold(json!({ "include": { "fieldName": "n" } }), |it, _| json!({ "projectNested": { "resultFieldName": "o", "fields": [it] } }));
        for (stages, verdict, place) in [
            (json!("x"), "400 WDE0080", "pipeline.stages"),
            (json!([7]), "400 WDE0080", "pipeline.stages[0]"),
            (json!([{}]), "400 WDE0080", "pipeline.stages[0]"),
            (json!([{ "limit": 1, "skip": 1 }]), "400 WDE0080", "pipeline.stages[0]"),
            (json!([{ "addFields": {} }]), "400 WDE0080", "pipeline.stages[0]"),
            (json!(vec![json!({ "skip": 1 }); 101]), "400 WDE0080", "pipeline.stages"),
            (json!([{ "limit": 0 }]), "400 WDE0033", "pipeline.stages[0].limit"),
            (json!([{ "limit": 1.5 }]), "400 WDE0035", "pipeline.stages[0].limit"),
            (json!([{ "limit": {} }]), "400 WDE0032", "pipeline.stages[0].limit"),
            (json!([{ "skip": -1 }]), "400 WDE0034", "pipeline.stages[0].skip"),
            (json!([{ "filter": 7 }]), "400 WDE0016", "pipeline.stages[0].filter"),
            (json!([{ "limit": 5 }, { "filter": { "n": { "$regex": "x" } } }]), "400 WDE0070", "pipeline.stages[1].filter.n.$regex"),
            (json!([{ "sort": { "values": [] } }]), "400 WDE0080", "pipeline.stages[0].sort.values"),
            (
                json!([{ "sort": { "values": [{ "fieldName": "tags" }, { "fieldName": "others" }] } }]),
                "400 WDE0121",
                "pipeline.stages[0].sort.values[1].fieldName",
            ),
            (json!([{ "sort": { "values": [7] } }]), "400 WDE0066", "pipeline.stages[0].sort.values[0]"),
            (json!([{ "sort": { "values": [{}] } }]), "400 WDE0051", "pipeline.stages[0].sort.values[0].fieldName"),
            (json!([{ "sort": { "values": [{ "fieldName": "n", "order": "UP" }] } }]), "400 WDE0067", "pipeline.stages[0].sort.values[0].order"),
            (json!([unwind("")]), "400 WDE0094", "pipeline.stages[0].unwindArray.arrayFieldName"),
            (json!([{ "unwindArray": {} }]), "400 WDE0003", "pipeline.stages[0].unwindArray.arrayFieldName"),
            (json!([{ "unwindArray": { "arrayFieldName": "a.$date" } }]), "400 WDE0134", "pipeline.stages[0].unwindArray.arrayFieldName"),
            (json!([make(json!("$date"), one.clone())]), "400 WDE0134", "pipeline.stages[0].projection.fields[0].reshape.resultFieldName"),
            (json!([make(json!("__proto__"), one.clone())]), "400 WDE0147", "pipeline.stages[0].projection.fields[0].reshape.resultFieldName"),
            (json!([make(json!("x"), json!({ "plus": 1 }))]), "400 WDE0080", "pipeline.stages[0].projection.fields[0].reshape.expression"),
            (json!([make(json!("x"), json!({ "numeric": "1" }))]), "400 WDE0032", "pipeline.stages[0].projection.fields[0].reshape.expression.numeric"),
            (json!([make(json!("x"), json!({ "text": 1 }))]), "400 WDE0044", "pipeline.stages[0].projection.fields[0].reshape.expression.text"),
            (json!([make(json!("x"), json!({ "add": { "expressions": [] } }))]), "400 WDE0080", "pipeline.stages[0].projection.fields[0].reshape.expression.add.expressions"),
            (json!([make(json!("x"), json!({ "divide": { "firstExpression": one } }))]), "400 WDE0080", "pipeline.stages[0].projection.fields[0].reshape.expression.divide.secondExpression"),
            (
                json!([make(json!("x"), json!({ "add": { "expressions": vec![one.clone(); 1001] } }))]),
                "400 WDE0080",
                "pipeline.stages[0].projection.fields[0].reshape.expression.add.expressions",
            ),
            (json!([make(json!("x"), json!({ "text": "x".repeat(1001) }))]), "400 WDE0080", "pipeline.stages[0].projection.fields[0].reshape.expression.text"),
            (json!([{ "projection": { "fields": vec![json!({ "include": { "fieldName": "n" } }); 1001] } }]), "400 WDE0080", "pipeline.stages[0].projection.fields"),
            (json!([{ "sort": { "values": keys(1001) } }]), "400 WDE0080", "pipeline.stages[0].sort.values"),
            (json!([{ "projection": { "fields": [] } }]), "400 WDE0080", "pipeline.stages[0].projection.fields"),
            (json!([{ "projection": { "fields": [nest(30)] } }]), "400 WDE0080", ""),
            (json!([by(json!("$k"))]), "400 WDE0134", "pipeline.stages[0].group.groupIds[0].key"),
            (json!([by(json!("__proto__"))]), "400 WDE0147", "pipeline.stages[0].group.groupIds[0].key"),
            (json!([sums(&["x", "x"])]), "400 WDE0080", "pipeline.stages[0].group.accumulators[1].resultFieldName"),
            (json!([sums(&["_id"])]), "400 WDE0080", "pipeline.stages[0].group.accumulators[0].resultFieldName"),
            (json!([group(json!([{ "resultFieldName": "x", "median": { "expression": one } }]))]), "400 WDE0080", "pipeline.stages[0].group.accumulators[0]"),
            (json!([make(json!("x"), deep)]), "400 WDE0080", ""),
            (json!(vec![group(push("all")); 90]), "400 WDE0080", "pipeline.stages"),
        ] {
            let reply = pipeline(client, "c", stages.clone()).await;
            assert_eq!(reply.verdict(), verdict, "{stages}");
            let violations = reply.json()["details"]["validationError"]["fieldViolations"].clone();
            let told = violations.as_array().is_some_and(|it| it.iter().any(|it| it["field"] == place));
            assert!(told || place.is_empty(), "{stages}: {violations}");
        }
        // As many as there may be are answered.
        let most = json!([make(json!("x"), json!({ "add": { "expressions": vec![one; 1000] } })), { "sort": { "values": keys(10) } }]);
        assert_eq!(outcome(client, "c", most).await, json!([{ "_id": "a", "x": 1000 }]));
        let nested = (0..20).fold(json!({ "n": 1 }), |it, _| json!({ "$not": it }));
        for (body, verdict) in [
            (json!({}), "400 WDE0080"),
            (json!({ "aggregation": 7 }), "400 WDE0080"),
            (json!({ "aggregation": { "groupingFields": [7] } }), "400 WDE0003"),
            (json!({ "aggregation": { "groupingFields": [""] } }), "400 WDE0094"),
            (json!({ "aggregation": { "groupingFields": ["__proto__"] } }), "400 WDE0147"),
            (json!({ "aggregation": { "groupingFields": ["n", "n"] } }), "400 WDE0080"),
            (json!({ "aggregation": { "operations": [{ "resultFieldName": "x" }] } }), "400 WDE0080"),
            (json!({ "aggregation": { "operations": [{ "resultFieldName": "x", "push": { "itemFieldName": "n" } }] } }), "400 WDE0080"),
            (json!({ "aggregation": { "operations": [{ "resultFieldName": "x", "sum": {} }] } }), "400 WDE0003"),
            (json!({ "aggregation": {}, "initialFilter": 7 }), "400 WDE0016"),
            (json!({ "aggregation": {}, "finalFilter": 7 }), "400 WDE0016"),
            (json!({ "aggregation": {}, "finalFilter": { "n": { "$regex": "x" } } }), "400 WDE0070"),
            (json!({ "aggregation": {}, "initialFilter": nested }), "400 WDE0169"),
            (json!({ "aggregation": {}, "sort": 7 }), "400 WDE0065"),
            (json!({ "aggregation": {}, "sort": keys(11) }), "400 WDE0080"),
            (json!({ "aggregation": {}, "paging": { "limit": 0 } }), "400 WDE0033"),
            (json!({ "aggregation": {}, "cursorPaging": { "cursor": "x" } }), "400 WDE0151"),
        ] {
            let mut asked = body.clone();
            asked["dataCollectionId"] = json!("c");
            assert_eq!(client.post(AGGREGATE, &asked).await.verdict(), verdict, "{body}");
        }
    }

    async fn cursors_serve_their_own_call_and_caller(engine) {
        let items: Vec<_> = (0..9).map(|n| json!({ "_id": format!("{n}"), "n": n })).collect();
        let app = app_with(engine, &items).await;
        let (visitor, member) = (app.visitor().await, app.member("ann@example.org").await);
        let body = json!({ "dataCollectionId": "c", "pipeline": { "stages": [{ "skip": 1 }], "cursorPaging": { "limit": 2 } } });
        let page = visitor.post(PIPELINE, &body).await.json();
        let cursor = page["pagingMetadata"]["cursors"]["next"].as_str().unwrap().to_owned();
        let next = |cursor: &str| json!({ "dataCollectionId": "c", "pipeline": { "cursorPaging": { "limit": 2, "cursor": cursor } } });
        let ids = |page: Json| page["results"].as_array().unwrap().iter().map(|it| it["_id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids(visitor.post(PIPELINE, &next(&cursor)).await.json()), [json!("5"), json!("4")]);
        // An item that is gone is passed over, and its neighbours are neither lost nor told twice.
        for id in ["6", "5"] {
            let reply = app.app().post("/v2/items/remove", &json!({ "dataCollectionId": "c", "dataItemId": id })).await;
            assert_eq!(reply.verdict(), "200");
        }
        assert_eq!(ids(visitor.post(PIPELINE, &next(&cursor)).await.json()), [json!("4"), json!("3")]);
        assert_eq!(member.post(PIPELINE, &next(&cursor)).await.verdict(), "400 WDE0151");
        let (head, tail) = cursor.split_at(60);
        let forged = format!("{head}{}{}", if tail.starts_with('A') { 'B' } else { 'A' }, &tail[1..]);
        assert_eq!(visitor.post(PIPELINE, &next(&forged)).await.verdict(), "400 WDE0151");
        let query = json!({ "dataCollectionId": "c", "query": { "cursorPaging": { "cursor": cursor } } });
        assert_eq!(visitor.post("/v2/items/query", &query).await.verdict(), "400 WDE0151");
        let older = json!({ "dataCollectionId": "c", "cursorPaging": { "cursor": cursor } });
        assert_eq!(visitor.post(AGGREGATE, &older).await.verdict(), "400 WDE0151");
    }
}
