//! Drafts by environment and caller, and what is left in a sandbox of a member who was deleted.

use crate::environments::{ENVIRONMENTS, both, copy, export, operator};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_store::{Environment, Site};
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines};

const PLACES: [&str; 4] = ["LIVE", "SANDBOX", "LIVE-draft", "SANDBOX-draft"];

/// The callers of the tables, each with whether they work on the site.
async fn callers(app: &TestApp) -> Vec<(&'static str, bool, TestClient<'_>)> {
    vec![
        ("visitor", false, app.visitor().await),
        ("member", false, app.member("m@example.org").await),
        ("editor", true, app.editor().await),
        ("owner", true, app.owner().await),
        ("app", true, app.app()),
    ]
}

/// Where a call of a caller goes; nothing where it is refused.
fn place(works_here: bool, environment: &str) -> Option<&'static str> {
    match (environment, works_here) {
        ("LIVE", _) | ("SANDBOX_PREFERRED", false) => Some("LIVE"),
        ("SANDBOX", false) => None,
        _ => Some("SANDBOX"),
    }
}

/// The plugin PUBLISH for `c` in both environments, each with a draft `d` beside `a`.
async fn with_drafts(app: &TestApp) -> Arc<Site> {
    let sandbox = both(app).await;
    let plugin = json!({ "type": "PUBLISH", "publishOptions": { "defaultStatus": "PUBLISHED" } });
    app.app.content.plugin_add(&app.site, &operator(), "c", &plugin, None).await.unwrap();
    copy(app, Environment::Live).await;
    for environment in ["LIVE", "SANDBOX"] {
        put(app, environment, json!({ "_id": "a", "place": environment, "n": 1 })).await;
        put_draft(app, environment).await;
    }
    sandbox
}

async fn put_draft(app: &TestApp, environment: &str) {
    let place = format!("{environment}-draft");
    put(app, environment, json!({ "_id": "d", "place": place, "n": 2, "_publishStatus": "DRAFT" })).await;
}

async fn put(app: &TestApp, environment: &str, data: Value) {
    let reply = ask(&app.app(), "/v2/items/save", json!({ "dataItem": { "data": data } }), environment, true).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
}

async fn ask(client: &TestClient<'_>, path: &str, mut body: Value, environment: &str, with_drafts: bool) -> Reply {
    body["dataCollectionId"] = json!("c");
    body["environment"] = json!(environment);
    match path.ends_with("aggregate-pipeline") {
        _ if !with_drafts => {}
        true => body["showDrafts"] = json!(true),
        false => body["publishPluginOptions"] = json!({ "includeDraftItems": true }),
    }
    client.post(path, &body).await
}

/// What is in the collections of posts, by environment.
async fn posts(app: &TestApp) -> [String; 2] {
    let mut found = [String::new(), String::new()];
    for (text, environment) in found.iter_mut().zip(["LIVE", "SANDBOX"]) {
        for id in ["posts", "posts__drafts"] {
            let body = json!({ "dataCollectionId": id, "environment": environment, "query": {} });
            let reply = app.app().post("/v2/items/query", &body).await;
            assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
            text.push_str(&reply.json()["dataItems"].to_string());
        }
    }
    found
}

on_both_engines! {
    async fn drafts_are_read_where_the_call_is_about_and_by_those_who_may(engine) {
        let app = TestApp::new(engine).await;
        with_drafts(&app).await;
        let sum = json!({ "groupingFields": ["place"], "operations": [{ "resultFieldName": "s", "sum": { "itemFieldName": "n" } }] });
        let calls = [
            ("/v2/items/query", json!({ "query": {} })),
            ("/v2/items/query-distinct-values", json!({ "fieldName": "place" })),
            ("/v2/items/aggregate", json!({ "aggregation": sum })),
            ("/v2/items/aggregate-pipeline", json!({ "pipeline": { "stages": [{ "filter": { "n": { "$gt": 0 } } }] } })),
        ];
        for (name, works_here, client) in &callers(&app).await {
            for (environment, with_drafts) in ENVIRONMENTS.into_iter().flat_map(|it| [(it, false), (it, true)]) {
                let place = place(*works_here, environment);
                let shows_drafts = with_drafts && *works_here;
                let expected: Vec<&str> = PLACES.into_iter().filter(|it| match it.strip_suffix("-draft") {
                    Some(it) => shows_drafts && place == Some(it),
                    None => place == Some(*it),
                }).collect();
                let context = format!("{name} {environment} {with_drafts}");
                for (path, body) in &calls {
                    let reply = ask(client, path, body.clone(), environment, with_drafts).await;
                    let text = String::from_utf8_lossy(&reply.body);
                    let told: Vec<&str> = PLACES.into_iter().filter(|it| text.contains(&format!("\"{it}\""))).collect();
                    let verdict = if place.is_some() { "200" } else { "403 WDE0027" };
                    assert_eq!((reply.verdict().as_str(), &told), (verdict, &expected), "{context} {path}: {text}");
                }
                let drafts = if with_drafts { "&publishPluginOptions.includeDraftItems=true" } else { "" };
                let reply = client.get(&format!("/v2/items/d?dataCollectionId=c&environment={environment}{drafts}")).await;
                let verdict = match place {
                    None => "403 WDE0027",
                    Some(_) if shows_drafts => "200",
                    Some(_) => "404 WDE0073",
                };
                assert_eq!(reply.verdict(), verdict, "{context} get");
                let count = ask(client, "/v2/items/count", json!({}), environment, with_drafts).await.json();
                let wants = place.map(|_| json!(expected.len())).unwrap_or_default();
                assert_eq!(count["totalCount"], wants, "{context} count");
            }
        }
    }

    async fn drafts_are_changed_where_the_call_is_about_and_by_those_who_may(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = with_drafts(&app).await;
        let set = json!([{ "fieldPath": "n", "action": "SET_FIELD", "setFieldOptions": { "value": 9 } }]);
        let patch = json!({ "dataItemId": "d", "fieldModifications": set });
        let data = json!({ "_id": "d", "place": "written", "n": 2 });
        let calls = [
            ("/v2/items/update", json!({ "dataItem": { "id": "d", "data": data } })),
            ("/v2/items/patch", json!({ "patch": patch })),
            ("/v2/items/remove", json!({ "dataItemId": "d" })),
            ("/v2/bulk/items/update", json!({ "dataItems": [{ "id": "d", "data": data }] })),
            ("/v2/bulk/items/patch", json!({ "patches": [patch] })),
            ("/v2/bulk/items/remove", json!({ "dataItemIds": ["d"] })),
            ("/v2/bulk/items/async-patch-by-filter", json!({ "filter": { "n": 2 }, "fieldModifications": set })),
        ];
        for (name, works_here, client) in &callers(&app).await {
            for (environment, with_drafts) in ENVIRONMENTS.into_iter().flat_map(|it| [(it, false), (it, true)]) {
                for (path, body) in &calls {
                    for environment in ["LIVE", "SANDBOX"] {
                        put_draft(&app, environment).await;
                    }
                    let before = [export(&app, &app.site).await, export(&app, &sandbox).await];
                    let reply = ask(client, path, body.clone(), environment, with_drafts).await;
                    if reply.verdict() == "200" && path.contains("async") {
                        crate::async_jobs::ended(client, &reply).await;
                    }
                    let after = [export(&app, &app.site).await, export(&app, &sandbox).await];
                    let place = place(*works_here, environment).filter(|_| with_drafts && *works_here);
                    let wants = ["LIVE", "SANDBOX"].map(|it| place == Some(it));
                    let context = format!("{name} {path} {environment} {with_drafts}: {:?}", reply.body);
                    assert_eq!([before[0] != after[0], before[1] != after[1]], wants, "{context}");
                }
            }
        }
    }

    async fn drafts_of_their_own_move_in_the_environment_that_is_named(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let publishers = json!({ "manageDrafts": "ANYONE", "managePublishStatus": "ANYONE" });
        let object = json!({
            "id": "posts", "fields": [{ "key": "text", "type": "TEXT" }], "dataPermissions": levels,
            "plugins": [{ "type": "DRAFT_ITEMS", "draftItemsOptions": { "draftPermissions": publishers } }],
        });
        for (site, environment) in [(&app.site, "LIVE"), (&sandbox, "SANDBOX")] {
            app.app.content.collection_create(site, &operator(), &object).await.unwrap();
            let item = json!({ "dataCollectionId": "posts", "environment": environment, "dataItem": { "data": { "_id": "a", "text": environment } } });
            assert_eq!(app.app().post("/v2/items", &item).await.verdict(), "200");
        }
        for (name, works_here, client) in &callers(&app).await {
            for environment in ENVIRONMENTS {
                for call in ["create-draft", "publish-draft", "unpublish", "publish-draft"] {
                    let before = posts(&app).await;
                    let body = json!({ "dataCollectionId": "posts", "environment": environment, "dataItemId": "a" });
                    let reply = client.post(&format!("/v2/items/{call}"), &body).await;
                    let (after, place) = (posts(&app).await, place(*works_here, environment));
                    let context = format!("{name} {call} {environment}: {:?}", reply.body);
                    assert_eq!(reply.verdict(), if place.is_some() { "200" } else { "403 WDE0027" }, "{context}");
                    let wants = ["LIVE", "SANDBOX"].map(|it| place == Some(it));
                    assert_eq!([before[0] != after[0], before[1] != after[1]], wants, "{context}");
                }
            }
        }
    }

    async fn of_a_deleted_member_the_sandbox_has_what_live_has(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        let (owner, member) = (app.owner().await, app.member("gone-for-good@example.org").await);
        let item = json!({ "dataCollectionId": "c", "dataItem": { "data": { "_id": "theirs", "n": 5 } } });
        let made = member.post("/v2/items", &item).await.json();
        let id = made["dataItem"]["data"]["_owner"].as_str().unwrap().to_owned();
        copy(&app, Environment::Live).await;
        assert_eq!(owner.delete(&format!("/members/v1/members/{id}")).await.verdict(), "200");
        // Items keep the id of whom they belonged to in both, and a copy carries nothing else.
        let live = export(&app, &app.site).await;
        assert!(live.contains(&id) && export(&app, &sandbox).await == live);
        copy(&app, Environment::Sandbox).await;
        assert_eq!(export(&app, &app.site).await, live);
        // Calls of those who are gone are refused in either environment, and jobs on their items are others' to ask for.
        for environment in ENVIRONMENTS {
            let reply = ask(&member, "/v2/items/query", json!({ "query": {} }), environment, false).await;
            assert_ne!(reply.verdict(), "200", "{environment}");
            let body = json!({ "filter": { "_owner": id } });
            let begun = ask(&app.app(), "/v2/bulk/items/async-remove-by-filter", body, environment, false).await;
            let removed = crate::async_jobs::ended(&app.app(), &begun).await["successCount"].clone();
            assert_eq!(removed, u8::from(environment != "SANDBOX_PREFERRED"), "{environment}");
        }
        assert!(!export(&app, &sandbox).await.contains(&id) && !export(&app, &app.site).await.contains(&id));
        if engine == Engine::Sqlite {
            let file = app.kit.data().join("sites").join(format!("{}.db", sandbox.id));
            let bytes = std::fs::read(&file).unwrap_or_else(|it| panic!("{}: {it}", file.display()));
            assert!(!bytes.windows(14).any(|it| it == b"gone-for-good@"), "its address was never there");
        }
    }
}
