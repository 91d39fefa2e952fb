//! Searches through HTTP: what a page is, and what is refused.

use crate::{answers::assert_known_by_its_tag, log_epoch::emptied, sealed::is_stored};
use serde_json::{Value, json};
use std::time::Duration;
use stoa_store::{ReaderPool, boxed};
use stoa_testkit::{Engine, TestApp, on_both_engines};

async fn places(app: &TestApp) {
    let relation = json!({ "multiReference": { "referencedCollectionId": "places" } });
    let fields = json!([
        { "key": "name", "type": "TEXT" }, { "key": "tags", "type": "ARRAY_STRING" }, { "key": "names", "type": "ARRAY_STRING" },
        { "key": "near", "type": "MULTI_REFERENCE", "typeMetadata": relation },
    ]);
    let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let object = json!({ "id": "places", "displayField": "name", "fields": fields, "dataPermissions": open });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
    let items = ["New York", "York", "São Paulo"].map(|it| json!({ "data": { "_id": it.to_lowercase(), "name": it } }));
    let body = json!({ "dataCollectionId": "places", "dataItems": items });
    assert_eq!(app.app().post("/v2/bulk/items/insert", &body).await.verdict(), "200");
}

on_both_engines! {
    async fn pages_of_a_search_are_those_of_a_query(engine) {
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        app.search_caught_up().await;
        let search = json!({ "search": { "expression": "new york" }, "fields": ["name"], "paging": { "limit": 1, "offset": 0 } });
        let page = app.visitor().await.post("/v2/items/search", &json!({ "dataCollectionId": "places", "search": search })).await.json();
        let item = json!({ "id": "new york", "dataCollectionId": "places", "data": { "_id": "new york", "name": "New York" } });
        let paging = json!({ "count": 1, "offset": 0, "hasNext": true, "tooManyToCount": false });
        assert_eq!(page, json!({ "dataItems": [item], "pagingMetadata": paging }));
        let lag = app.visitor().await.get("/_api/search/v1/lag").await.json();
        assert_eq!(lag, json!({ "isCurrent": true, "lagMilliseconds": 0 }));
        assert_known_by_its_tag(&app, "/_api/search/v1/lag").await;
        let lag = app.app().get("/_api/search/v1/lag").await.json();
        assert_eq!(lag, json!({ "isCurrent": true, "pendingEntries": 0, "lagMilliseconds": 0, "unbuiltCollections": 0 }));
    }

    async fn highlights_and_suggestions_stand_beside_the_items(engine) {
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        app.search_caught_up().await;
        let visitor = app.visitor().await;
        let ask = async |search: Value| {
            visitor.post("/v2/items/search", &json!({ "dataCollectionId": "places", "search": search, "returnSuggestions": true })).await.json()
        };
        let words = json!({ "expression": "new yrok", "fuzzy": true });
        let page = ask(json!({ "search": words, "highlight": { "fields": ["name"] }, "fields": ["name"], "cursorPaging": { "limit": 1 } })).await;
        let parts = json!([{ "text": "New", "isMatch": true }, { "text": " ", "isMatch": false }, { "text": "York", "isMatch": true }]);
        let fragments = json!([{ "parts": parts, "hasTextBefore": false, "hasTextAfter": false }]);
        let item = json!({ "id": "new york", "dataCollectionId": "places", "data": { "_id": "new york", "name": "New York" },
            "highlights": [{ "fieldName": "name", "fragments": fragments }] });
        assert_eq!(page["dataItems"], json!([item]));
        let york = json!([{ "word": "yrok", "alternatives": [{ "word": "york", "itemCount": 2 }] }]);
        assert_eq!(page["suggestions"], json!({ "expression": "new york", "words": york }));
        // A cursor keeps the words, and what is wanted beside the items is said again.
        let cursor = json!({ "limit": 1, "cursor": page["pagingMetadata"]["cursors"]["next"] });
        let next = ask(json!({ "cursorPaging": cursor, "highlight": { "maxLength": 20, "maxFragments": 1 } })).await;
        let parts = json!([{ "text": "York", "isMatch": true }]);
        assert_eq!(next["dataItems"][0]["highlights"][0]["fragments"][0]["parts"], parts, "{next}");
        assert_eq!(next["suggestions"]["words"], york);
        let next = visitor.post("/v2/items/search", &json!({ "dataCollectionId": "places", "search": { "cursorPaging": cursor } })).await.json();
        assert!(next.get("suggestions").is_none() && next["dataItems"][0].get("highlights").is_none(), "{next}");
    }

    async fn drafts_are_neither_marked_nor_meant(engine) {
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        let plugin = json!({ "dataCollectionId": "places", "publishOptions": { "defaultStatus": "PUBLISHED" } });
        let reply = app.app().post("/v2/collections/add-publish-plugin", &plugin).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        let draft = json!({ "data": { "_id": "d", "name": "Secret York", "_publishStatus": "DRAFT" } });
        let body = json!({ "dataCollectionId": "places", "dataItem": draft, "publishPluginOptions": { "includeDraftItems": true } });
        assert_eq!(app.app().post("/v2/items", &body).await.verdict(), "200");
        app.search_caught_up().await;
        let body = |has_drafts: bool| json!({ "dataCollectionId": "places", "returnSuggestions": true,
            "search": { "search": { "expression": "sercet york" }, "highlight": {} }, "publishPluginOptions": { "includeDraftItems": has_drafts } });
        for (client, has_drafts, is_told) in
            [(app.visitor().await, false, false), (app.visitor().await, true, false), (app.app(), false, false), (app.app(), true, true)]
        {
            let reply = client.post("/v2/items/search", &body(has_drafts)).await;
            let text = String::from_utf8_lossy(&reply.body).to_lowercase();
            assert_eq!((reply.verdict().as_str(), text.contains("secret")), ("200", is_told), "{text}");
            assert_eq!(reply.json()["suggestions"]["expression"], if is_told { json!("secret york") } else { Value::Null });
        }
    }

    async fn searches_without_limit_and_words_have_a_hundred_items(engine) {
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        let items: Vec<_> = (0..110).map(|n| json!({ "data": { "_id": format!("i{n}"), "name": "Elsewhere" } })).collect();
        let body = json!({ "dataCollectionId": "places", "dataItems": items });
        assert_eq!(app.app().post("/v2/bulk/items/insert", &body).await.verdict(), "200");
        app.search_caught_up().await;
        let visitor = app.visitor().await;
        let found = async |search: Value| {
            let page = visitor.post("/v2/items/search", &json!({ "dataCollectionId": "places", "search": search })).await.json();
            (page["dataItems"].as_array().unwrap().len(), page["pagingMetadata"]["hasNext"].clone())
        };
        assert_eq!(found(json!({})).await, (100, json!(true)));
        let of = json!({ "filter": { "name": { "$startsWith": "New" } } });
        assert_eq!(found(of).await, (1, json!(false)));
    }

    async fn wrong_searches_are_refused(engine) {
        let app = TestApp::new(engine).await;
        places(&app).await;
        let deep = (0..20).fold(json!({ "n": 1 }), |it, _| json!({ "$not": [it] }));
        let filter = |filter: Value| json!({ "filter": filter });
        let keys = |count: usize| (0..count).map(|n| json!({ "fieldName": format!("n{n}") })).collect::<Vec<_>>();
        for (search, wants) in [
            (filter(deep), "400 WDE0169"),
            (filter(json!({ "a.$b": 1 })), "400 WDE0134"),
            (filter(json!({ "name": { "$regex": "x" } })), "400 WDE0070"),
            (filter(json!({ "near": { "$gt": "x" } })), "400 WDE0093"),
            (json!({ "sort": [{ "fieldName": "near" }] }), "428 WDE0119"),
            (json!({ "sort": [{ "fieldName": "tags" }, { "fieldName": "names" }] }), "400 WDE0121"),
            (json!({ "cursorPaging": { "cursor": "x" } }), "400 WDE0151"),
            (json!({ "search": { "expression": "x", "fields": ["near"] } }), "400 WDE0147"),
            (json!({ "highlight": { "fields": ["near"] } }), "400 WDE0147"),
            (json!({ "highlight": { "fields": ["name"] }, "fields": ["tags"] }), "400 WDE0147"),
            (json!({ "highlight": { "html": true } }), "400 WDE0080"),
            (json!({ "highlight": [] }), "400 WDE0080"),
            (json!({ "search": { "expression": "x", "fields": vec!["name"; 21] } }), "400 WDE0080"),
            (json!({ "search": { "expression": "x", "fields": ["n".repeat(201)] } }), "400 WDE0080"),
            (json!({ "sort": keys(11) }), "400 WDE0080"),
            (json!({ "search": { "expression": "x", "fields": vec!["name"; 20] }, "sort": keys(10) }), "200"),
        ] {
            let body = json!({ "dataCollectionId": "places", "search": search });
            assert_eq!(app.app().post("/v2/items/search", &body).await.verdict(), wants, "{body}");
        }
    }

    /// Lists have words in small letters, as neither the item nor the log has this one.
    async fn words_of_removed_items_leave_what_is_stored(engine) {
        const WORD: &str = "quixotically";
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        let data = json!({ "_id": "rare", "name": WORD.to_uppercase() });
        let body = json!({ "dataCollectionId": "places", "dataItem": { "data": data } });
        assert_eq!(app.app().post("/v2/items", &body).await.verdict(), "200");
        app.search_caught_up().await;
        assert!(is_stored(&app, engine, WORD).await);
        let body = json!({ "dataCollectionId": "places", "dataItemId": "rare" });
        assert_eq!(app.app().post("/v2/items/remove", &body).await.verdict(), "200");
        app.search_caught_up().await;
        app.kit.clock.advance(20 * 60 * 60_000);
        // A change of any definition has all indexes looked at.
        let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let fields = json!([{ "key": "name", "type": "TEXT" }]);
        let body = json!({ "collection": { "id": "other", "fields": fields, "dataPermissions": open } });
        assert_eq!(app.app().post("/v2/collections", &body).await.verdict(), "200");
        let lists = async || {
            let read = app.site.read(ReaderPool::Point, |tx| boxed!({
                let sql = "select count(*) from stoa.search_list where term = 'quixotically'";
                Ok(tx.row(sql, &[], |row| row.get::<i64>(0)).await?)
            }));
            read.await.unwrap().unwrap()
        };
        let mut looks = 0;
        while lists().await > 0 {
            looks += 1;
            assert!(looks < 6_000, "its list is not erased within a minute");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if engine == Engine::Sqlite {
            // As the program does it within two hours.
            emptied(&app.kit.data().join("sites").join(format!("{}.db", app.site.id))).await;
        }
        // On SQLite in no byte of any file, on PostgreSQL in no row of any table.
        assert!(!is_stored(&app, engine, WORD).await);
    }

    async fn found_items_include_what_their_reader_may_read(engine) {
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        let make = async |id: &str, level: &str, fields: Value| {
            let levels = json!({ "itemRead": level, "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
            let body = json!({ "collection": { "id": id, "dataPermissions": levels, "fields": fields } });
            assert_eq!(app.app().post("/v2/collections", &body).await.verdict(), "200");
        };
        let refers = |key: &str, to: &str| json!({ "key": key, "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": to } } });
        make("notes", "PRIVILEGED", json!([{ "key": "text", "type": "TEXT" }])).await;
        make("books", "ANYONE", json!([{ "key": "title", "type": "TEXT" }, refers("note", "notes"), refers("place", "places")])).await;
        for (collection, data) in [
            ("notes", json!({ "_id": "n", "text": "hidden" })),
            ("books", json!({ "_id": "b", "title": "red", "note": "n", "place": "york" })),
        ] {
            let body = json!({ "dataCollectionId": collection, "dataItem": { "data": data } });
            assert_eq!(app.app().post("/v2/items", &body).await.verdict(), "200");
        }
        app.search_caught_up().await;
        let ask = |field: &str| {
            let includes = json!([{ "field": field }, { "field": "place" }]);
            json!({ "dataCollectionId": "books", "search": { "search": { "expression": "red" } }, "includeReferences": includes })
        };
        let found = app.app().post("/v2/items/search", &ask("note")).await.json()["dataItems"][0]["data"].clone();
        assert_eq!((&found["note"]["text"], &found["place"]["name"]), (&json!("hidden"), &json!("York")));
        let reply = app.visitor().await.post("/v2/items/search", &ask("note")).await;
        let found = reply.json()["dataItems"][0]["data"].clone();
        assert_eq!((&found["note"], &found["place"]["name"]), (&json!("n"), &json!("York")));
        assert!(!String::from_utf8_lossy(&reply.body).contains("hidden"));
        assert_eq!(app.app().post("/v2/items/search", &ask("title")).await.verdict(), "400 WDE0020");
    }

    async fn search_ends_when_its_caller_leaves(engine) {
        let app = TestApp::new(engine).await;
        let _serving = app.searched().await;
        places(&app).await;
        let letters = || (b'a'..=b'p').map(char::from);
        let name = |n: usize| letters().flat_map(|it| [format!("{it}{n}x"), format!("{it}{}y", n / 2)]).collect::<Vec<_>>().join(" ");
        let items: Vec<_> = (0..1000).map(|n| json!({ "data": { "_id": format!("i{n}"), "name": name(n) } })).collect();
        let body = json!({ "dataCollectionId": "places", "dataItems": items });
        assert_eq!(app.app().post("/v2/bulk/items/insert", &body).await.verdict(), "200");
        app.search_caught_up().await;
        let expression = letters().map(|it| format!("{it}*")).collect::<Vec<_>>().join(" ");
        let search = json!({ "dataCollectionId": "places", "search": { "search": { "expression": expression }, "paging": { "limit": 1 } } });
        let (client, content) = (app.app(), &app.app.content);
        assert_eq!(client.post("/v2/items/search", &search).await.verdict(), "200");
        assert_eq!((content.searches_running(), content.search_memory()), (0, 0), "all is given back");
        let begun = async || {
            while content.search_memory() == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let mut has_left = false;
        for _ in 0..100 {
            tokio::select! {
                () = begun() => has_left = true,
                _ = client.post("/v2/items/search", &search) => {}
            }
            if has_left {
                break;
            }
        }
        assert!(has_left, "a search is seen at work");
        let left = tokio::time::Instant::now();
        while content.searches_running() > 0 {
            assert!(left.elapsed() < Duration::from_secs(5), "the search goes on for no caller");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(content.search_memory(), 0, "all is given back");
    }
}
