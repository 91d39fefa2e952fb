//! The plugin PUBLISH: what is not published is there for no call of one who may not see drafts, nor for a call that is
//! not about drafts.

use serde_json::{Value, json};
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

/// A collection that anyone may read and write, with the item `out`, which is published, the item `in`, which is a draft,
/// and both linked with an item of another collection.
async fn world(engine: stoa_testkit::Engine, default: &str) -> TestApp {
    let app = TestApp::new(engine).await;
    let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let links = json!({ "key": "news", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": {
        "referencedCollectionId": "news", "referencingFieldKey": "desks", "referencingDisplayName": "Desks",
    } } });
    let main = json!({ "key": "main", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": "news" } } });
    let news = json!({
        "id": "news", "fields": [{ "key": "n", "type": "NUMBER" }, { "key": "text", "type": "TEXT" }], "dataPermissions": open, "plugins":
        [{ "type": "PUBLISH", "publishOptions": { "defaultStatus": default } }],
    });
    for object in [news, json!({ "id": "desks", "fields": [links, main], "dataPermissions": open })] {
        let reply = app.app().post("/v2/collections", &json!({ "collection": object })).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    }
    for (id, status, n) in [("out", "PUBLISHED", 1), ("in", "DRAFT", 2)] {
        let data = json!({ "_id": id, "n": n, "text": "paper", "_publishStatus": status });
        let body = json!({ "dataCollectionId": "news", "dataItem": { "data": data } });
        assert_eq!(app.app().post("/v2/items", &body).await.verdict(), "200");
    }
    let desk = json!({ "dataCollectionId": "desks", "dataItem": { "data": { "_id": "d", "main": "in" } } });
    assert_eq!(app.app().post("/v2/items", &desk).await.verdict(), "200");
    let link = |id: &str| json!({ "referringItemFieldName": "news", "referringItemId": "d", "referencedItemId": id });
    let links = json!({
        "dataCollectionId": "desks", "dataItemReferences": [link("out"), link("in")],
        "publishPluginOptions": { "includeDraftItems": true },
    });
    let reply = app.app().post("/v2/bulk/items/insert-references", &links).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    app
}

/// A call with the members of a body, about drafts too or not.
async fn call(client: &TestClient<'_>, path: &str, mut body: Value, with_drafts: bool) -> Reply {
    if body.get("dataCollectionId").is_none() {
        body["dataCollectionId"] = json!("news");
    }
    if with_drafts {
        match path.ends_with("aggregate-pipeline") {
            true => body["showDrafts"] = json!(true),
            false => body["publishPluginOptions"] = json!({ "includeDraftItems": true }),
        }
    }
    client.post(path, &body).await
}

/// How many elements a walk by cursor meets, one a page. The pages of an aggregation send nothing but the cursor.
async fn walked(client: &TestClient<'_>, with_drafts: bool, is_aggregation: bool) -> usize {
    let (path, list) = match is_aggregation {
        true => ("/v2/items/aggregate", "results"),
        false => ("/v2/items/query", "dataItems"),
    };
    let count = json!([{ "resultFieldName": "count", "itemCount": {} }]);
    let (mut paging, mut elements) = (json!({ "limit": 1 }), 0);
    loop {
        let is_first = paging.get("cursor").is_none();
        let mut body = match is_aggregation {
            true => json!({ "cursorPaging": paging }),
            false => json!({ "query": { "cursorPaging": paging } }),
        };
        if is_aggregation && is_first {
            body["aggregation"] = json!({ "groupingFields": ["n"], "operations": count });
        }
        let page = call(client, path, body, with_drafts && (is_first || !is_aggregation)).await.json();
        elements += page[list].as_array().unwrap_or_else(|| panic!("{page}")).len();
        let next = &page["pagingMetadata"]["cursors"]["next"];
        if next.is_null() {
            return elements;
        }
        paging["cursor"] = next.clone();
    }
}

/// Whether GraphQL, which has no word for drafts, shows the draft.
async fn is_told_by_graphql(client: &TestClient<'_>) -> bool {
    let document = "{ news(limit: 100) { items { _data } } newsItem(id: \"in\") { _data } newsCount }";
    let reply = client.post("/graphql/v1", &json!({ "query": document })).await.json();
    let news = &reply["data"];
    assert_eq!(
        news["newsCount"],
        news["news"]["items"].as_array().unwrap_or_else(|| panic!("{reply}")).len(),
        "{reply}"
    );
    reply.to_string().contains(r#""in""#)
}

/// What reading calls tell of the draft, by name: those that tell something.
async fn told(client: &TestClient<'_>, with_drafts: bool) -> Vec<&'static str> {
    let ask = async |path: &str, body: Value| call(client, path, body, with_drafts).await;
    let mut told = Vec::new();
    let drafts = if with_drafts { "&publishPluginOptions.includeDraftItems=true" } else { "" };
    if client.get(&format!("/v2/items/in?dataCollectionId=news{drafts}")).await.verdict() == "200" {
        told.push("get");
    }
    let found =
        ask("/v2/items/query", json!({ "query": { "sort": [{ "fieldName": "n" }] }, "returnTotalCount": true }))
            .await
            .json();
    match (found["dataItems"].as_array().unwrap().len(), &found["pagingMetadata"]["total"]) {
        (2, total) => {
            assert_eq!(total, 2);
            told.push("query");
        }
        (1, total) => assert_eq!(total, 1),
        other => panic!("{other:?}"),
    }
    let filtered = ask("/v2/items/query", json!({ "query": { "filter": { "_id": { "$in": ["in"] } } } })).await.json();
    told.extend((!filtered["dataItems"].as_array().unwrap().is_empty()).then_some("query by id"));
    told.extend((walked(client, with_drafts, false).await == 2).then_some("query by cursor"));
    let search = ask("/v2/items/search", json!({ "search": { "search": { "expression": "paper" } } })).await.json();
    told.extend((search["dataItems"].as_array().unwrap().len() == 2).then_some("search"));
    let count = ask("/v2/items/count", json!({})).await.json();
    told.extend((count["totalCount"] == 2).then_some("count"));
    let values = ask("/v2/items/query-distinct-values", json!({ "fieldName": "n" })).await.json();
    told.extend((values["distinctValues"] == json!([1, 2])).then_some("distinct"));
    let sum = json!({ "aggregation": { "operations": [{ "resultFieldName": "s", "sum": { "itemFieldName": "n" } }] } });
    let older = ask("/v2/items/aggregate", sum).await.json();
    told.extend((older["results"][0]["s"] == 3).then_some("aggregate"));
    told.extend((walked(client, with_drafts, true).await == 2).then_some("aggregate by cursor"));
    let sum = json!([{ "resultFieldName": "s", "sum": { "expression": { "numeric": 1 } } }]);
    let stages = json!([{ "group": { "groupIds": [], "accumulators": sum } }]);
    let pipeline = ask("/v2/items/aggregate-pipeline", json!({ "pipeline": { "stages": stages } })).await.json();
    told.extend((pipeline["results"][0]["s"] == 2).then_some("pipeline"));
    let link = json!({ "dataCollectionId": "desks", "referringItemFieldName": "news", "referringItemId": "d" });
    let mut one = link.clone();
    one["referencedItemId"] = json!("in");
    let referenced = ask("/v2/items/is-referenced", one).await.json();
    told.extend((referenced["isReferenced"] == true).then_some("is-referenced"));
    let referred = ask("/v2/items/query-referenced", link).await.json();
    told.extend((referred["results"].as_array().unwrap().len() == 2).then_some("query-referenced"));
    for field in ["main", "news"] {
        let query = json!({ "dataCollectionId": "desks", "query": {}, "includeReferences": [{ "field": field }] });
        let included = ask("/v2/items/query", query).await.json()["dataItems"][0]["data"][field].to_string();
        told.extend(included.contains(r#""n":2"#).then_some(field));
    }
    let through = json!({ "dataCollectionId": "desks", "query": { "filter": { "news": { "$hasSome": ["in"] } } } });
    let through = ask("/v2/items/query", through).await.json();
    told.extend((!through["dataItems"].as_array().unwrap().is_empty()).then_some("filter through links"));
    told
}

const READS: [&str; 15] = [
    "get",
    "query",
    "query by id",
    "query by cursor",
    "search",
    "count",
    "distinct",
    "aggregate",
    "aggregate by cursor",
    "pipeline",
    "is-referenced",
    "query-referenced",
    "main",
    "news",
    "filter through links",
];

/// Calls that would change the draft, each with its answer.
async fn changed(client: &TestClient<'_>, with_drafts: bool) -> Vec<String> {
    let item = json!({ "_id": "in", "n": 2 });
    let patch = json!({ "dataItemId": "in", "fieldModifications":
        [{ "fieldPath": "n", "action": "SET_FIELD", "setFieldOptions": { "value": 2 } }] });
    let mut verdicts = Vec::new();
    for (path, body) in [
        ("/v2/items/update", json!({ "dataItem": { "data": item } })),
        ("/v2/items/save", json!({ "dataItem": { "data": item } })),
        ("/v2/items/patch", json!({ "patch": patch })),
        ("/v2/bulk/items/update", json!({ "dataItems": [{ "data": item }] })),
        ("/v2/bulk/items/save", json!({ "dataItems": [{ "data": item }] })),
        ("/v2/bulk/items/patch", json!({ "patches": [patch] })),
    ] {
        let reply = call(client, path, body, with_drafts).await;
        let json = reply.json();
        let metadata = &json["results"][0]["itemMetadata"];
        verdicts.push(match metadata.get("error") {
            Some(error) => error["code"].as_str().unwrap().to_owned(),
            None => reply.verdict(),
        });
    }
    verdicts
}

on_both_engines! {
    async fn draft_is_not_linked_by_naming_it_in_the_same_call(engine) {
        let app = TestApp::new(engine).await;
        let open = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let all = json!({ "key": "all", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": {
            "referencedCollectionId": "news", "referencingFieldKey": "of", "referencingDisplayName": "Of",
        } } });
        let publish = json!([{ "type": "PUBLISH", "publishOptions": { "defaultStatus": "PUBLISHED" } }]);
        let news = json!({ "id": "news", "fields": [all], "dataPermissions": open, "plugins": publish });
        assert_eq!(app.app().post("/v2/collections", &json!({ "collection": news })).await.verdict(), "200");
        for (id, status) in [("in", "DRAFT"), ("mine", "PUBLISHED")] {
            let item = json!({ "data": { "_id": id, "_publishStatus": status } });
            assert_eq!(call(&app.app(), "/v2/items", json!({ "dataItem": item }), true).await.verdict(), "200");
        }
        let items = json!([{ "data": { "_id": "in" } }, { "data": { "_id": "mine", "all": ["in"] } }]);
        let body = json!({ "dataItems": items, "saveReferences": true });
        let linked = json!({ "referringItemFieldName": "all", "referringItemId": "mine", "referencedItemId": "in" });
        for (client, is_linked) in [(app.visitor().await, false), (app.app(), true)] {
            let reply = call(&client, "/v2/bulk/items/update", body.clone(), is_linked).await.json();
            assert_eq!(reply["results"][0]["itemMetadata"]["success"], is_linked, "{reply}");
            let linked = call(&app.app(), "/v2/items/is-referenced", linked.clone(), true).await.json();
            assert_eq!(linked["isReferenced"], is_linked, "{linked}");
        }
    }

    async fn drafts_are_there_for_those_who_may_see_them_and_ask(engine) {
        for default in ["PUBLISHED", "DRAFT"] {
            let app = world(engine, default).await;
            let _serving = app.searched().await;
            app.search_caught_up().await;
            let ann = app.member("ann@example.org").await;
            for client in [app.visitor().await, ann, app.editor().await, app.owner().await, app.app()] {
                assert_eq!(told(&client, false).await, [""; 0], "drafts are shown only where they are asked for");
                assert!(!is_told_by_graphql(&client).await);
            }
            for client in [app.visitor().await, app.member("bob@example.org").await] {
                assert_eq!(told(&client, true).await, [""; 0], "asking doesn't help those who may not");
            }
            for client in [app.editor().await, app.owner().await, app.app()] {
                assert_eq!(told(&client, true).await, READS);
            }
        }
    }

    async fn drafts_are_changed_by_those_who_may_see_them_and_say_so(engine) {
        let app = world(engine, "PUBLISHED").await;
        for (client, with_drafts) in [(app.visitor().await, true), (app.member("a@example.org").await, true), (app.app(), false)] {
            let verdicts = changed(&client, with_drafts).await;
            assert!(verdicts.iter().all(|it| it.ends_with("WDE0073")), "{verdicts:?}");
            let gone = call(&client, "/v2/items/remove", json!({ "dataItemId": "in" }), with_drafts).await;
            assert_ne!(gone.verdict(), "200");
            let gone = call(&client, "/v2/bulk/items/remove", json!({ "dataItemIds": ["in"] }), with_drafts).await.json();
            assert_eq!(gone["results"][0]["itemMetadata"]["error"]["code"], "WDE0073");
        }
        assert_eq!(changed(&app.editor().await, true).await, ["200"; 6]);
        let draft = call(&app.app(), "/v2/items/query", json!({ "query": { "filter": { "_id": "in" } } }), true).await.json();
        assert_eq!(draft["dataItems"][0]["data"]["_publishStatus"], "DRAFT", "a replacement keeps the status");
        let gone = call(&app.editor().await, "/v2/bulk/items/remove", json!({ "dataItemIds": ["in"] }), true).await.json();
        assert_eq!(gone["bulkActionMetadata"]["totalSuccesses"], 1);
    }

    async fn only_those_who_may_see_drafts_publish(engine) {
        let app = world(engine, "DRAFT").await;
        let ann = app.member("ann@example.org").await;
        let sent = |data: Value| json!({ "dataItem": { "data": data } });
        let made = call(&ann, "/v2/items", sent(json!({ "_id": "mine", "n": 3 })), false).await;
        assert_eq!(made.json()["dataItem"]["data"]["_publishStatus"], "DRAFT");
        assert_eq!(call(&ann, "/v2/items", sent(json!({ "_publishStatus": "PUBLISHED" })), true).await.verdict(), "403 WDE0027");
        assert_eq!(call(&ann, "/v2/items", sent(json!({ "_publishStatus": "SOON" })), true).await.verdict(), "400 WDE0075");
        let hide = sent(json!({ "_id": "out", "_publishStatus": "DRAFT" }));
        assert_eq!(call(&ann, "/v2/items/update", hide.clone(), true).await.verdict(), "403 WDE0027");
        let publish = sent(json!({ "_id": "mine", "n": 3, "_publishStatus": "PUBLISHED" }));
        assert_eq!(call(&ann, "/v2/items/update", publish.clone(), true).await.verdict(), "404 WDE0073");
        assert_eq!(call(&app.editor().await, "/v2/items/update", publish, true).await.verdict(), "200");
        let get = ann.get("/v2/items/mine?dataCollectionId=news").await.json();
        assert_eq!(get["dataItem"]["data"]["n"], 3);
        assert_eq!(call(&app.editor().await, "/v2/items/update", hide, false).await.verdict(), "200");
        assert_eq!(ann.get("/v2/items/out?dataCollectionId=news").await.verdict(), "404 WDE0073");
    }

    async fn jobs_by_filter_keep_to_what_their_call_was_about(engine) {
        let app = world(engine, "PUBLISHED").await;
        for (with_drafts, status, found) in [(false, "SUCCEEDED", 1), (true, "SUCCEEDED", 2)] {
            let set = json!([{ "fieldPath": "m", "action": "SET_FIELD", "setFieldOptions": { "value": with_drafts } }]);
            let body = json!({ "filter": {}, "fieldModifications": set });
            let reply = call(&app.app(), "/v2/bulk/items/async-patch-by-filter", body, with_drafts).await;
            let job = reply.json()["jobId"].as_str().unwrap().to_owned();
            let state = loop {
                let state = app.app().get(&format!("/v2/async-jobs/{job}/status")).await.json();
                if !matches!(state["status"].as_str(), Some("INITIALIZED" | "PROCESSING")) {
                    break state;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            };
            assert_eq!((&state["status"], &state["successCount"]), (&json!(status), &json!(found)), "{state}");
        }
    }

    async fn pages_of_an_aggregation_are_about_what_the_first_was(engine) {
        let app = world(engine, "PUBLISHED").await;
        let more = json!({ "dataItem": { "data": { "_id": "more", "n": 3 } } });
        assert_eq!(call(&app.app(), "/v2/items", more, false).await.verdict(), "200");
        let count = json!([{ "resultFieldName": "count", "itemCount": {} }]);
        let first = json!({ "aggregation": { "groupingFields": ["n"], "operations": count },
            "sort": [{ "fieldName": "n" }], "cursorPaging": { "limit": 1 } });
        let page = async |client: &TestClient<'_>, body: Value, with_drafts: bool| {
            let page = call(client, "/v2/items/aggregate", body, with_drafts).await.json();
            let next = page["pagingMetadata"]["cursors"]["next"].clone();
            (page["results"][0]["n"].clone(), json!({ "cursorPaging": { "limit": 1, "cursor": next } }))
        };
        for (with_drafts, second) in [(true, 2), (false, 3)] {
            // What a page says of drafts counts for nothing.
            for says in [true, false] {
                let (n, next) = page(&app.editor().await, first.clone(), with_drafts).await;
                assert_eq!(n, 1);
                assert_eq!(page(&app.editor().await, next, says).await.0, second, "{with_drafts} {says}");
            }
        }
        // Where who asked may not see drafts, a page hasn't them either.
        let (n, next) = page(&app.visitor().await, first, true).await;
        assert_eq!((n, page(&app.visitor().await, next, true).await.0), (json!(1), json!(3)));
    }

    async fn plugin_that_hides_items_is_taken_away_by_the_privileged_alone(engine) {
        let app = world(engine, "PUBLISHED").await;
        let _serving = app.searched().await;
        app.search_caught_up().await;
        let body = json!({ "dataCollectionId": "news" });
        assert_eq!(app.editor().await.post("/v2/collections/delete-publish-plugin", &body).await.verdict(), "403 WDE0027");
        assert_eq!(app.app().post("/v2/collections/delete-publish-plugin", &body).await.verdict(), "200");
        app.search_caught_up().await;
        assert_eq!(told(&app.visitor().await, false).await, READS);
        assert!(is_told_by_graphql(&app.visitor().await).await);
        let again = json!({ "dataCollectionId": "news", "publishOptions": { "defaultStatus": "DRAFT" } });
        assert_eq!(app.app().post("/v2/collections/add-publish-plugin", &again).await.verdict(), "200");
        assert_eq!(told(&app.visitor().await, false).await, [""; 0]);
    }
}
