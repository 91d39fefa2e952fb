//! Mutations: what they do, in which order, and when many meet.

use super::*;

on_both_engines! {
    async fn mutations_do_what_the_calls_do(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let query = "mutation($tags: [String!]) {
            insertCars(item: {_id: \"n\", title: \"new\", brand: \"b1\", tags: [\"t1\", \"t2\"]}, saveReferences: true) {title brand {name} tags(limit: 1, offset: 1) {name}}
            updateCars(item: {_id: \"n\", title: \"newer\", price: 5}) {title price brand {name} tags {name}}
            patchCars(id: \"n\", set: {built: {a: 1}, title: \"newest\"}, inc: {price: 2}, append: {words: \"w\"}) {title price words _data}
            again: patchCars(id: \"n\", pull: {words: \"w\"}, unset: $tags, condition: {price: 7}) {words _data}
            saveCars(item: {_id: \"s\", title: \"saved\"}) {title}
            removeCars(id: \"c1\") {title brand {name} tags {name}}
        }";
        let done = ask(&visitor, query, json!({ "tags": ["built"] })).await;
        let mut done = done;
        for it in ["patchCars", "again"] {
            let stored = done["data"][it]["_data"].take();
            assert_eq!((&stored["_id"], &stored["title"], &stored["price"]), (&json!("n"), &json!("newest"), &json!(7)), "{stored}");
            assert_eq!(stored.get("built").is_some(), it == "patchCars", "{stored}");
        }
        assert_eq!(done, json!({ "data": {
            "insertCars": { "title": "new", "brand": { "name": "One" }, "tags": [{ "name": "red" }] },
            "updateCars": { "title": "newer", "price": 5, "brand": null, "tags": [{ "name": "old" }, { "name": "red" }] },
            "patchCars": { "title": "newest", "price": 7, "words": ["w"], "_data": null },
            "again": { "words": [], "_data": null },
            "saveCars": { "title": "saved" },
            "removeCars": { "title": "a", "brand": null, "tags": [] },
        } }));
        assert_eq!(data(&visitor, "{carsCount}", json!({})).await["carsCount"], 4);
    }

    async fn bulk_calls_tell_of_each_item(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let query = "mutation($items: [JSON!]!) {
            bulkInsertCars(items: $items) {action id error {code message data} item {title brand {name}}}
            bulkPatchCars(patches: [{id: \"c1\", inc: {price: 10}}, {id: \"none\", set: {price: 0}}]) {id error {code} item {price}}
            bulkRemoveCars(ids: [\"c2\", \"none\"]) {action id error {c: code}}
        }";
        let items = json!([{ "_id": "c1", "title": "taken" }, { "_id": "n", "title": "new", "brand": "b2" }]);
        let done = data(&visitor, query, json!({ "items": items })).await;
        let inserted = &done["bulkInsertCars"];
        assert_eq!(inserted[0]["error"]["code"], "WDE0074");
        assert_eq!(inserted[0]["error"]["data"]["itemId"], "c1");
        assert_eq!(inserted[1], json!({ "action": "INSERT", "id": "n", "error": null, "item": { "title": "new", "brand": { "name": "Two" } } }));
        assert_eq!(done["bulkPatchCars"], json!([
            { "id": "c1", "error": null, "item": { "price": 11 } },
            { "id": "none", "error": { "code": "WDE0073" }, "item": null },
        ]));
        assert_eq!(done["bulkRemoveCars"], json!([
            { "action": "DELETE", "id": "c2", "error": null },
            { "action": "DELETE", "id": "none", "error": { "c": "WDE0073" } },
        ]));
    }

    async fn each_field_is_a_transaction_of_its_own(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let query = "mutation {
            a: patchCars(id: \"c1\", set: {price: 10}) {price}
            b: insertCars(item: {_id: \"c1\"}) {_id}
            c: patchCars(id: \"c1\", inc: {price: 1}, condition: {price: 99}) {price}
            d: patchCars(id: \"c1\", inc: {price: 1}) {price} }";
        let done = ask(&visitor, query, json!({})).await;
        assert_eq!(done["data"], json!({ "a": { "price": 10 }, "b": null, "c": null, "d": { "price": 11 } }));
        let codes: Vec<_> = done["errors"].as_array().unwrap().iter().map(|it| it["extensions"]["code"].clone()).collect();
        assert_eq!(codes, ["WDE0074", "WDE0073"]);
        // A document that is refused does nothing, whichever of its fields is at fault.
        let refused = ask(&visitor, "mutation {patchCars(id: \"c1\", set: {price: 0}) {price} removeCars(id: \"c1\") {nothing}}", json!({})).await;
        assert_eq!(refused.get("data"), None);
        assert_eq!(data(&visitor, "{carsItem(id: \"c1\") {price}}", json!({})).await["carsItem"]["price"], 11);
    }

    async fn a_hundred_mutations_at_once_lose_nothing(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let query = "mutation {a: patchCars(id: \"c2\", inc: {price: 1}) {price} b: patchCars(id: \"c1\", inc: {price: 1}) {price}}";
        let all = futures_util::future::join_all((0..100).map(|_| data(&visitor, query, json!({})))).await;
        let mut seen: Vec<_> = all.iter().map(|it| it["a"]["price"].as_i64().unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (3..103).collect::<Vec<_>>(), "each saw what it made");
        assert_eq!(data(&visitor, "{a: carsItem(id: \"c1\") {price}}", json!({})).await["a"]["price"], 101);
    }

    async fn what_content_refuses_to_store_is_refused(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let visitor = app.visitor().await;
        let insert = "mutation($i: JSON!) {insertCars(item: $i) {_id}}";
        let mut deep = json!(1);
        for _ in 0..40 {
            deep = json!({ "a": deep });
        }
        for (item, code) in [
            (json!(5), "WDE0004"), (json!([]), "WDE0004"), (json!({ "$a": 1 }), "WDE0134"), (json!({ "_id": "" }), "WDE0079"),
            (json!({ "_id": 7 }), "WDE0007"), (deep, "WDE0168"), (json!({ "t": "\u{0}" }), "WDE0080"), (json!({ "t": "x".repeat(600_000) }), "WDE0009"),
        ] {
            let refused = ask(&visitor, insert, json!({ "i": item })).await;
            assert_eq!(refused["errors"][0]["extensions"]["code"], code, "{refused}");
        }
    }
}
