//! Who sees which collections, items and schemas.

use super::*;

on_both_engines! {
    async fn schema_has_what_the_caller_may_know(engine) {
        let app = TestApp::new(engine).await;
        define(&app, "kept", json!([field("secret", "TEXT")]), ["PRIVILEGED"; 4]).await;
        define(&app, "open", json!([field("n", "NUMBER"), single("far", "kept"), multi("links", "kept")]), ["ANYONE", "PRIVILEGED", "PRIVILEGED", "PRIVILEGED"]).await;
        define(&app, "box", json!([field("word", "TEXT")]), ["PRIVILEGED", "ANYONE", "PRIVILEGED", "PRIVILEGED"]).await;
        insert(&app, "kept", json!([{ "_id": "k", "secret": "not a word" }])).await;
        insert(&app, "open", json!([{ "_id": "o", "n": 1, "far": "k", "links": ["k"] }])).await;
        let (visitor, member) = (app.visitor().await, app.member("ann@example.org").await);
        for client in [&visitor, &member] {
            assert_eq!(data(client, "{_collections}", json!({})).await["_collections"], json!(["open"]));
            let found = data(client, "{open {items {n far _data}}}", json!({})).await;
            assert_eq!(found["open"]["items"][0]["far"], "k", "an id stands in the item, and leads nowhere");
            for hidden in ["{kept {items {secret}}}", "{open {items {far {secret}}}}", "{open {items {links {secret}}}}", "{keptItem(id: \"k\") {_data}}", "{boxCount}", "mutation {removeOpen(id: \"o\") {_id}}"] {
                let refused = ask(client, hidden, json!({})).await;
                assert_eq!(refused.get("data"), None, "{hidden}: {refused}");
                assert_eq!(refused["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{hidden}: {refused}");
                assert!(!refused.to_string().contains("not a word"), "{refused}");
            }
            // What may be put into a box is answered to who put it there.
            let put = data(client, "mutation {insertBox(item: {word: \"x\"}) {word}}", json!({})).await;
            assert_eq!(put["insertBox"], json!({ "word": "x" }));
        }
        let owner = app.owner().await;
        let query = "{open {items {n far {secret} links {secret}}} kept {items {secret}} boxCount}";
        assert_eq!(data(&owner, query, json!({})).await, json!({
            "open": { "items": [{ "n": 1, "far": { "secret": "not a word" }, "links": [{ "secret": "not a word" }] }] },
            "kept": { "items": [{ "secret": "not a word" }] },
            "boxCount": 2,
        }));
    }

    async fn items_of_others_are_not_there(engine) {
        let app = TestApp::new(engine).await;
        define(&app, "notes", json!([field("text", "TEXT"), single("next", "notes")]), ["SITE_MEMBER_AUTHOR"; 4]).await;
        let (ann, bob) = (app.member("ann@example.org").await, app.member("bob@example.org").await);
        let mine = data(&ann, "mutation {insertNotes(item: {_id: \"a\", text: \"ann's\"}) {_id _owner}}", json!({})).await;
        assert_eq!(mine["insertNotes"]["_id"], "a");
        data(&bob, "mutation {insertNotes(item: {_id: \"b\", text: \"bob's\", next: \"a\"}) {_id}}", json!({})).await;
        let query = "{notes {totalCount items {text next {text}}} notesCount notesItem(id: \"a\") {text}}";
        assert_eq!(data(&bob, query, json!({})).await, json!({
            "notes": { "totalCount": 1, "items": [{ "text": "bob's", "next": null }] }, "notesCount": 1, "notesItem": null,
        }));
        for write in [
            "mutation {w: updateNotes(item: {_id: \"a\", text: \"x\"}) {text}}",
            "mutation {w: patchNotes(id: \"a\", set: {text: \"x\"}) {text}}",
            "mutation {w: removeNotes(id: \"a\") {text}}",
        ] {
            let refused = ask(&bob, write, json!({})).await;
            assert_eq!((&refused["data"]["w"], &refused["errors"][0]["extensions"]["code"]), (&Value::Null, &json!("WDE0073")), "{write}");
        }
        assert_eq!(data(&ann, "{notesItem(id: \"a\") {text}}", json!({})).await["notesItem"], json!({ "text": "ann's" }));
        // A visitor owns nothing, and doesn't know of the collection.
        let visitor = app.visitor().await;
        assert_eq!(data(&visitor, "{_collections}", json!({})).await["_collections"], json!([]));
        assert_eq!(app.anonymous().post(PATH, &json!({ "query": "{_collections}" })).await.verdict(), "401 UNAUTHENTICATED");
    }

    async fn scopes_bound_the_schema(engine) {
        let app = TestApp::new(engine).await;
        define(&app, "one", json!([field("n", "NUMBER")]), OPEN).await;
        define(&app, "two", json!([field("n", "NUMBER")]), OPEN).await;
        insert(&app, "one", json!([{ "_id": "i", "n": 1 }])).await;
        let reader = app.key("items:read:one").await;
        assert_eq!(data(&reader, "{_collections oneCount}", json!({})).await, json!({ "_collections": ["one"], "oneCount": 1 }));
        for refused in ["{twoCount}", "mutation {removeOne(id: \"i\") {_id}}"] {
            assert_eq!(ask(&reader, refused, json!({})).await.get("data"), None, "{refused}");
        }
        let writer = app.key("items:write:two").await;
        let written = data(&writer, "mutation {insertTwo(item: {n: 2}) {n}}", json!({})).await;
        assert_eq!(written["insertTwo"], json!({ "n": 2 }));
    }

    async fn schema_is_told_to_those_who_run_the_site(engine) {
        let app = TestApp::new(engine).await;
        garage(&app).await;
        let query = "{__schema {queryType {name} types {name fields {name type {name kind ofType {name kind ofType {name}}}}}} __type(name: \"Cars\") {name}}";
        for client in [app.owner().await, app.editor().await, app.app()] {
            let schema = data(&client, query, json!({})).await;
            let types = schema["__schema"]["types"].as_array().unwrap();
            assert!(types.iter().any(|it| it["name"] == "CarsPage"), "{schema}");
            assert_eq!(schema["__type"]["name"], "Cars");
        }
        for client in [app.visitor().await, app.member("ann@example.org").await] {
            let refused = ask(&client, query, json!({})).await;
            assert_eq!((refused.get("data"), &refused["errors"][0]["extensions"]["code"]), (None, &json!("INTROSPECTION_NOT_ALLOWED")));
            assert_eq!(data(&client, "{__typename cars {__typename}}", json!({})).await["cars"]["__typename"], "CarsPage");
        }
    }

    async fn setting_tells_the_schema_to_everybody(engine) {
        let mut app = TestApp::new(engine).await;
        garage(&app).await;
        let limits = stoa_http::GraphqlLimits { introspection: true, ..Default::default() };
        app.restart(|it| it.graphql = std::sync::Arc::new(stoa_http::Graphql::new(limits)));
        let visitor = app.visitor().await;
        assert_eq!(data(&visitor, "{__schema {queryType {name}}}", json!({})).await["__schema"]["queryType"]["name"], "Query");
    }
}
