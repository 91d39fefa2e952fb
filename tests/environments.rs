//! `environment` by URL: each call on items, in each environment, by each kind of caller; and that no road leads into a
//! sandbox but that of its site.

use axum::http::Method;
use serde_json::{Value, json};
use std::{fmt::Write as _, sync::Arc};
use stoa_content::{
    CopyWish,
    transfer::{FileOf, Format},
};
use stoa_kernel::{Caller, Code, KeyId, SiteId};
use stoa_store::{Environment, ReaderPool, Site, SiteChange, boxed};
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines};

pub const ENVIRONMENTS: [&str; 3] = ["LIVE", "SANDBOX", "SANDBOX_PREFERRED"];

pub fn operator() -> Caller {
    Caller::App { id: KeyId::from("command-line") }
}

/// A collection `c` for everyone, with one item that says where it is, in both environments.
pub async fn both(app: &TestApp) -> Arc<Site> {
    let levels =
        json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
    let fields = json!([{ "key": "place", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }]);
    let object =
        json!({ "collection": { "id": "c", "fields": fields, "dataPermissions": levels, "cacheSeconds": 60 } });
    assert_eq!(app.app().post("/v2/collections", &object).await.verdict(), "200");
    let (content, store) = (&app.app.content, &app.kit.store);
    content.environment_create(store, &app.site, &operator()).await.unwrap();
    reset(app, "LIVE").await;
    copy(app, Environment::Live).await;
    reset(app, "SANDBOX").await;
    store.sandbox(&app.site).await.unwrap().unwrap()
}

/// Writes the one item again.
async fn reset(app: &TestApp, environment: &str) {
    let item = json!({ "data": { "_id": "a", "place": environment, "n": 1 } });
    let body = json!({ "dataCollectionId": "c", "environment": environment, "dataItem": item });
    assert_eq!(app.app().post("/v2/items/save", &body).await.verdict(), "200");
}

pub async fn copy(app: &TestApp, source: Environment) {
    let (content, store) = (&app.app.content, &app.kit.store);
    let wish = CopyWish { source, collections: Vec::new() };
    let (copy, _) = content.environment_copy_begin(store, &app.site, &operator(), &wish).await.unwrap();
    content.environment_work(store, copy).await.unwrap();
}

pub async fn export(app: &TestApp, site: &Site) -> String {
    let mut out = Vec::new();
    let file = FileOf { collection: "c", format: Format::JsonLines };
    app.app.content.export(site, &operator(), file, &mut out, |_| ()).await.unwrap();
    String::from_utf8(out).unwrap()
}

/// A call on the item `a` of `c`.
struct ItemCall {
    name: &'static str,
    path: &'static str,
    body: Value,
}

fn reads() -> Vec<ItemCall> {
    let call = |name, path, body: Value| ItemCall { name, path, body };
    let sum = json!({ "groupingFields": ["place"], "operations": [{ "resultFieldName": "s", "sum": { "itemFieldName": "n" } }] });
    let stages = json!([{ "filter": { "n": 1 } }]);
    vec![
        call("query", "/v2/items/query", json!({ "query": {} })),
        call("query filtered", "/wix-data/v2/items/query", json!({ "query": { "filter": { "n": 1 } } })),
        call("distinct", "/v2/items/query-distinct-values", json!({ "fieldName": "place" })),
        call("aggregate", "/v2/items/aggregate", json!({ "aggregation": sum })),
        call("pipeline", "/v2/items/aggregate-pipeline", json!({ "pipeline": { "stages": stages } })),
    ]
}

fn writes() -> Vec<ItemCall> {
    let call = |name, path, body: Value| ItemCall { name, path, body };
    let data = json!({ "_id": "a", "place": "written", "n": 1 });
    let new = json!({ "_id": "b", "n": 2 });
    let patch = json!({ "dataItemId": "a", "fieldModifications": [{ "fieldPath": "n", "action": "SET_FIELD", "setFieldOptions": { "value": 9 } }] });
    let modifications = patch["fieldModifications"].clone();
    vec![
        call("insert", "/v2/items", json!({ "dataItem": { "data": new } })),
        call("update", "/v2/items/update", json!({ "dataItem": { "id": "a", "data": data } })),
        call("patch", "/v2/items/patch", json!({ "patch": patch })),
        call("save", "/v2/items/save", json!({ "dataItem": { "id": "a", "data": data } })),
        call("bulk insert", "/v2/bulk/items/insert", json!({ "dataItems": [{ "data": new }] })),
        call("bulk update", "/v2/bulk/items/update", json!({ "dataItems": [{ "id": "a", "data": data }] })),
        call("bulk save", "/v2/bulk/items/save", json!({ "dataItems": [{ "id": "a", "data": data }] })),
        call("bulk patch", "/v2/bulk/items/patch", json!({ "patches": [patch] })),
        call("bulk remove", "/v2/bulk/items/remove", json!({ "dataItemIds": ["a"] })),
        call("remove", "/v2/items/remove", json!({ "dataItemId": "a" })),
        call(
            "patch by filter",
            "/v2/bulk/items/async-patch-by-filter",
            json!({ "filter": { "n": 1 }, "fieldModifications": modifications }),
        ),
        call("remove by filter", "/v2/bulk/items/async-remove-by-filter", json!({ "filter": { "n": 1 } })),
        call("truncate", "/v2/items/truncate", json!({})),
    ]
}

async fn ask(client: &TestClient<'_>, call: &ItemCall, environment: &str) -> Reply {
    let mut body = call.body.clone();
    body["dataCollectionId"] = json!("c");
    body["environment"] = json!(environment);
    client.post(call.path, &body).await
}

/// Where an answer comes from, or the refusal.
fn origin(reply: &Reply) -> String {
    let text = String::from_utf8_lossy(&reply.body);
    match (reply.verdict().as_str(), text.contains("\"SANDBOX\""), text.contains("\"LIVE\"")) {
        ("200", true, false) => "sandbox".to_owned(),
        ("200", false, true) => "live".to_owned(),
        (verdict, ..) => verdict.to_owned(),
    }
}

/// What callers of a kind are answered in the three environments.
fn expected(caller: &str) -> [&'static str; 3] {
    match caller {
        "nobody" => ["401 UNAUTHENTICATED"; 3],
        "visitor" | "member" => ["live", "403 WDE0027", "live"],
        _ => ["live", "sandbox", "sandbox"],
    }
}

on_both_engines! {
    async fn reads_by_environment_and_caller(engine) {
        let app = TestApp::new(engine).await;
        both(&app).await;
        let callers = [
            ("nobody", app.anonymous()), ("visitor", app.visitor().await), ("member", app.member("m@example.org").await),
            ("editor", app.editor().await), ("owner", app.owner().await), ("app", app.app()),
            ("reader", app.key("items:read").await), ("installed", app.installed("items:read").await),
        ];
        let mut wrong = String::new();
        for (name, client) in &callers {
            for (environment, wants) in ENVIRONMENTS.into_iter().zip(expected(name)) {
                let mut check = |call: &str, reply: &Reply| {
                    let found = origin(reply);
                    if found != wants {
                        let _ = writeln!(wrong, "{name} {call} {environment}: {found}, not {wants}");
                    }
                };
                for call in reads() {
                    check(call.name, &ask(client, &call, environment).await);
                }
                let address = format!("dataCollectionId=c&environment={environment}");
                let single = client.get(&format!("/v2/items/a?{address}")).await;
                check("get", &single);
                let packed = client.get(&format!("/v2/items/query?{address}&query.paging.limit=5")).await;
                check("query by GET", &packed);
                for reply in [&single, &packed] {
                    // An address that others are answered from elsewhere is for no cache that they share.
                    let is_shared = reply.headers.get("cache-control").is_some_and(|it| it.to_str().unwrap().contains("public"));
                    assert_eq!(is_shared, environment == "LIVE" && reply.verdict() == "200", "{name} {environment}");
                }
                // Counts tell nothing of where they come from.
                let count = client.post("/v2/items/count", &json!({ "dataCollectionId": "c", "environment": environment, "filter": { "place": "SANDBOX" } })).await;
                let found = match count.verdict().as_str() {
                    "200" => if count.json()["totalCount"] == 1 { "sandbox" } else { "live" }.to_owned(),
                    verdict => verdict.to_owned(),
                };
                if found != wants {
                    let _ = writeln!(wrong, "{name} count {environment}: {found}, not {wants}");
                }
            }
        }
        assert!(wrong.is_empty(), "\n{wrong}");
    }

    async fn writes_reach_the_environment_that_they_name_and_no_other(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        let callers = [("visitor", app.visitor().await), ("editor", app.editor().await), ("app", app.app())];
        let mut wrong = String::new();
        for (name, client) in &callers {
            for (environment, wants) in ENVIRONMENTS.into_iter().zip(expected(name)) {
                for call in writes() {
                    // Owners and apps alone empty a collection.
                    let is_refused = call.name == "truncate" && *name != "app";
                    for environment in ["LIVE", "SANDBOX"] {
                        reset(&app, environment).await;
                        app.app().post("/v2/items/remove", &json!({ "dataCollectionId": "c", "environment": environment, "dataItemId": "b" })).await;
                    }
                    let before = [export(&app, &app.site).await, export(&app, &sandbox).await];
                    let reply = ask(client, &call, environment).await;
                    if reply.verdict() == "200" && call.path.contains("async") {
                        // The status names no environment.
                        crate::async_jobs::ended(client, &reply).await;
                    }
                    let after = [export(&app, &app.site).await, export(&app, &sandbox).await];
                    let found = match (reply.verdict().as_str(), before[0] != after[0], before[1] != after[1]) {
                        ("200", true, false) => "live".to_owned(),
                        ("200", false, true) => "sandbox".to_owned(),
                        (verdict, false, false) => verdict.to_owned(),
                        (verdict, ..) => format!("{verdict}, and both changed"),
                    };
                    let wants = if is_refused && wants != "403 WDE0027" { "403 WDE0027" } else { wants };
                    if found != wants {
                        let _ = writeln!(wrong, "{name} {} {environment}: {found}, not {wants}", call.name);
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "\n{wrong}");
    }

    async fn references_in_the_sandbox_lead_into_it(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let object = json!({ "id": "books", "dataPermissions": levels, "fields": [
            { "key": "one", "type": "REFERENCE", "typeMetadata": { "reference": { "referencedCollectionId": "c" } } },
            { "key": "many", "type": "MULTI_REFERENCE", "typeMetadata": { "multiReference": {
                "referencedCollectionId": "c", "referencingFieldKey": "books", "referencingDisplayName": "books" } } },
        ] });
        for site in [&app.site, &sandbox] {
            app.app.content.collection_create(site, &operator(), &object).await.unwrap();
        }
        let editor = app.editor().await;
        let ask = async |environment: &str, path: &str, mut body: Value| {
            body["dataCollectionId"] = json!("books");
            body["environment"] = json!(environment);
            editor.post(path, &body).await
        };
        let link = json!({ "referringItemFieldName": "many", "referringItemId": "k", "referencedItemId": "a" });
        let linked = async |environment: &str| ask(environment, "/v2/items/is-referenced", link.clone()).await.json()["isReferenced"] == true;
        for environment in ["LIVE", "SANDBOX"] {
            let item = json!({ "dataItem": { "data": { "_id": "k", "one": "a" } } });
            assert_eq!(ask(environment, "/v2/items", item).await.verdict(), "200");
        }
        let links = json!({ "dataItemReferences": [link] });
        assert_eq!(ask("SANDBOX", "/v2/bulk/items/insert-references", links.clone()).await.verdict(), "200");
        assert_eq!([linked("LIVE").await, linked("SANDBOX").await, linked("SANDBOX_PREFERRED").await], [false, true, true]);
        let has_some = json!({ "filter": { "many": { "$hasSome": ["a"] } } });
        for (environment, wants, count) in [("LIVE", "live", 0), ("SANDBOX", "sandbox", 1)] {
            let included = ask(environment, "/v2/items/query", json!({ "query": {}, "includeReferencedItems": ["one"] })).await;
            assert_eq!(origin(&included), wants);
            assert_eq!(ask(environment, "/v2/items/count", has_some.clone()).await.json()["totalCount"], count, "{environment}");
        }
        let of = json!({ "referringItemFieldName": "many", "referringItemId": "k" });
        assert_eq!(origin(&ask("SANDBOX", "/v2/items/query-referenced", of).await), "sandbox");
        let other = json!({ "referringItemFieldName": "many", "referringItemId": "k", "newReferencedItemIds": [] });
        assert_eq!(ask("LIVE", "/v2/items/replace-references", other).await.verdict(), "200");
        assert!(linked("SANDBOX").await);
        assert_eq!(ask("SANDBOX", "/v2/bulk/items/remove-references", links).await.verdict(), "200");
        assert!(!linked("SANDBOX").await);
    }

    async fn search_in_the_sandbox(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        let _serving = app.searched().await;
        app.app.content.search_subscribe(&sandbox).await.unwrap();
        let lag = "/_api/search/v1/lag?environment=";
        // What is found of a word, by an index that knows of all that was written.
        let found = async |environment: &str, word: &str| {
            let is_current = async || {
                let reply = app.app().get(&format!("{lag}{environment}")).await;
                assert_eq!(reply.verdict(), "200");
                reply.json()["isCurrent"] == true
            };
            let mut looks = 0;
            while !is_current().await {
                looks += 1;
                assert!(looks < 6_000, "the index has not caught up within a minute");
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            let search = json!({ "dataCollectionId": "c", "environment": environment, "search": { "search": { "expression": word } } });
            let reply = app.app().post("/v2/items/search", &search).await;
            assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
            let items = reply.json()["dataItems"].as_array().unwrap().clone();
            items.iter().map(|it| it["data"]["place"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let none: [&str; 0] = [];
        assert_eq!(found("SANDBOX", "sandbox").await, ["SANDBOX"]);
        assert_eq!(found("LIVE", "live").await, ["LIVE"]);
        assert_eq!(found("LIVE", "sandbox").await, none);
        // Copies and what is taken back reach the indexes that are there.
        app.kit.clock.advance(1);
        copy(&app, Environment::Sandbox).await;
        assert_eq!(found("LIVE", "sandbox").await, ["SANDBOX"]);
        assert_eq!(found("LIVE", "live").await, none);
        let (content, store) = (&app.app.content, &app.kit.store);
        let undo = content.environment_undo_begin(store, &app.site, &operator(), None).await.unwrap();
        content.environment_work(store, undo).await.unwrap();
        assert_eq!(found("LIVE", "live").await, ["LIVE"]);
        assert_eq!(found("LIVE", "sandbox").await, none);
        app.kit.clock.advance(1);
        copy(&app, Environment::Live).await;
        assert_eq!(found("SANDBOX", "live").await, ["LIVE"]);
        assert_eq!(found("SANDBOX", "sandbox").await, none);
        let visitor = app.visitor().await;
        for (environment, wants) in [("LIVE", "200"), ("SANDBOX", "403 WDE0027"), ("SANDBOX_PREFERRED", "200"), ("MARS", "400 WDE0018")] {
            assert_eq!(visitor.get(&format!("{lag}{environment}")).await.verdict(), wants, "{environment}");
        }
        app.app.content.environment_delete(&app.kit.store, &app.site, &operator(), &[]).await.unwrap();
        assert_eq!(app.app().get(&format!("{lag}SANDBOX")).await.verdict(), "403 WDE0179");
    }

    async fn copy_can_be_undone_however_many_were_begun_since(engine) {
        let app = TestApp::new(engine).await;
        let _sandbox = both(&app).await;
        let (content, store) = (&app.app.content, &app.kit.store);
        let begin = async |source: Environment| {
            let wish = CopyWish { source, collections: vec!["c".to_owned()] };
            let (copy, _) = content.environment_copy_begin(store, &app.site, &operator(), &wish).await.unwrap();
            let id = copy.id.clone();
            content.environment_work(store, copy).await.unwrap();
            id
        };
        let first = begin(Environment::Live).await;
        for _ in 0..60 {
            app.kit.clock.advance(1);
            begin(Environment::Sandbox).await;
        }
        let status = content.environment_copy_get(store, &app.site, &first).await.unwrap();
        assert_eq!(status["status"], "SUCCEEDED");
        let undo = content.environment_undo_begin(store, &app.site, &operator(), Some(&first)).await.unwrap();
        content.environment_work(store, undo).await.unwrap();
        let body = json!({ "dataCollectionId": "c", "environment": "SANDBOX" });
        let found = app.app().post("/v2/items/query", &body).await.json();
        assert_eq!(found["dataItems"][0]["data"]["place"], "SANDBOX", "{found}");
    }

    async fn without_a_sandbox_it_is_refused_by_name(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        app.app.content.environment_delete(&app.kit.store, &app.site, &operator(), &[]).await.unwrap();
        for call in reads().into_iter().chain(writes()) {
            assert_eq!(ask(&app.app(), &call, "SANDBOX").await.verdict(), "403 WDE0179", "{}", call.name);
            assert_eq!(ask(&app.app(), &call, "MARS").await.verdict(), "400 WDE0018", "{}", call.name);
        }
        assert_eq!(origin(&ask(&app.app(), &reads()[0], "SANDBOX_PREFERRED").await), "live");
        assert!(app.kit.store.site_for_work(&sandbox.id).await.is_err());
    }

    async fn no_road_leads_into_a_sandbox_but_that_of_its_site(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        let (store, now) = (&app.kit.store, app.kit.world.now());
        let id = &sandbox.id;
        let unknown = |it: stoa_kernel::Result<()>| assert_eq!(it.unwrap_err().code(), Code::SiteUnknown);
        unknown(store.site(id).await.map(drop));
        unknown(store.site_record(id).await.map(drop));
        unknown(store.site_update(id, SiteChange { add_hosts: vec!["x.test".to_owned()], ..SiteChange::default() }, now).await.map(drop));
        unknown(store.site_delete(id, now).await);
        unknown(store.site_restore(id, now).await.map(drop));
        unknown(store.log_restored(id).await.map(drop));
        unknown(store.sandbox_create(&sandbox, &app.kit.world).await.map(drop));
        assert!(!store.sites().await.unwrap().iter().any(|it| it.0 == *id));
        let all = store.site_list(false).await.unwrap();
        assert_eq!(all.iter().map(|it| (&it.id, it.has_sandbox)).collect::<Vec<_>>(), [(&app.site.id, true)]);
        assert_eq!(store.site_by_host("anything.test").await.unwrap().id, app.site.id, "the only one there is");
        // Nothing that is asked for by its number, as opaque tokens have it.
        let token = format!("r{}.{}", sandbox.number, "A".repeat(43));
        let grant = json!({ "grantType": "refresh_token", "refreshToken": token, "clientId": app.client.id });
        assert_ne!(app.anonymous().post("/oauth2/token", &grant).await.verdict(), "200");
        let named = |id: &SiteId| format!("/s/{id}/_api/site/v1/public-settings");
        assert_eq!(app.anonymous().send(Method::GET, &named(&app.site.id), None).await.verdict(), "200");
        assert_ne!(app.anonymous().send(Method::GET, &named(id), None).await.verdict(), "200");
        assert!(app.app.identity.api_key_create(id, "other").await.is_err(), "it has no keys");
        // And it knows of nobody.
        for table in ["member", "visitor_member", "session", "outbox_consumer", "webhook_endpoint"] {
            let site = id.clone();
            let count = sandbox.read(ReaderPool::Scan, move |tx| {
                boxed!({
                    let sql = format!("select count(*) from stoa.{table} where site = $1");
                    Ok(tx.row(&sql, &stoa_sql::params![&site], |row| row.get::<i64>(0)).await?)
                })
            });
            assert_eq!(count.await.unwrap_or(Some(0)), Some(0), "{table}");
        }
    }

    async fn sandbox_of_another_site_is_not_reached(engine) {
        let app = TestApp::new(engine).await;
        both(&app).await;
        let (store, world) = (&app.kit.store, &app.kit.world);
        let other = store.site_create("Other", world).await.unwrap();
        let (_, key) = app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let stranger = app.with_token(key.expose());
        for call in reads().into_iter().chain(writes()) {
            assert_eq!(ask(&stranger, &call, "SANDBOX").await.verdict(), "403 WDE0179", "{}", call.name);
        }
        store.sandbox_create(&other, world).await.unwrap();
        assert_eq!(ask(&stranger, &reads()[0], "SANDBOX").await.verdict(), "404 WDE0025");
        assert_eq!(ask(&stranger, &reads()[0], "SANDBOX_PREFERRED").await.verdict(), "404 WDE0025");
        assert_eq!(origin(&ask(&app.app(), &reads()[0], "SANDBOX").await), "sandbox");
    }

    async fn sandbox_goes_and_comes_back_with_its_site(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        let (store, world) = (&app.kit.store, &app.kit.world);
        let before = export(&app, &sandbox).await;
        store.site_delete(&app.site.id, world.now()).await.unwrap();
        assert!(store.site_for_work(&sandbox.id).await.is_err());
        assert_eq!(store.site_list(true).await.unwrap().len(), 1, "it is no site of its own");
        store.site_restore(&app.site.id, world.now()).await.unwrap();
        let back = store.sandbox(&app.site).await.unwrap().unwrap();
        assert_eq!((&back.id, export(&app, &back).await), (&sandbox.id, before));
        // One that was deleted before its site stays deleted.
        store.sandbox_delete(&app.site, world.now()).await.unwrap();
        app.kit.clock.advance(1);
        store.site_delete(&app.site.id, world.now()).await.unwrap();
        app.kit.clock.advance(1);
        store.site_restore(&app.site.id, world.now()).await.unwrap();
        assert!(store.sandbox(&app.site).await.unwrap().is_none());
        // Both go for good.
        let again = store.sandbox_create(&app.site, world).await.unwrap();
        store.site_delete(&app.site.id, world.now()).await.unwrap();
        app.kit.clock.advance(stoa_store::SITE_KEPT + 1);
        let ids: Vec<SiteId> = vec![app.site.id.clone(), sandbox.id.clone(), again.id.clone()];
        drop((back, sandbox, again));
        assert_eq!(store.sites_purge(world.now()).await.unwrap(), 3);
        assert_eq!(rows_left(&app, engine, &ids).await, 0);
    }

    async fn of_a_hundred_sandboxes_at_once_one_is_made(engine) {
        let app = Arc::new(TestApp::new(engine).await);
        let all = (0..100).map(|_| {
            let app = app.clone();
            tokio::spawn(async move { app.kit.store.sandbox_create(&app.site, &app.kit.world).await.map(drop) })
        });
        let mut made = 0;
        for it in all.collect::<Vec<_>>() {
            match it.await.unwrap() {
                Ok(()) => made += 1,
                Err(fault) => assert_eq!(fault.code(), Code::AlreadyExists, "{fault:?}"),
            }
        }
        assert_eq!(made, 1);
        assert_eq!(app.kit.store.sites_for_work().await.unwrap().len(), 2);
    }

    async fn drafts_are_published_in_the_sandbox(engine) {
        let app = TestApp::new(engine).await;
        let sandbox = both(&app).await;
        let levels = json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let object = json!({
            "id": "posts", "fields": [{ "key": "text", "type": "TEXT" }], "dataPermissions": levels,
            "plugins": [{ "type": "DRAFT_ITEMS" }],
        });
        let content = &app.app.content;
        let editor = app.owner().await;
        content.collection_create(&sandbox, &operator(), &object).await.unwrap();
        let ask = async |call: &str, mut body: Value| {
            body["dataCollectionId"] = json!("posts");
            body["environment"] = json!("SANDBOX");
            editor.post(call, &body).await
        };
        assert_eq!(ask("/v2/items", json!({ "dataItem": { "data": { "_id": "p", "text": "one" } } })).await.verdict(), "200");
        assert_eq!(ask("/v2/items/create-draft", json!({ "dataItemId": "p" })).await.verdict(), "200");
        // Whoever asks for it must still be who they were, which only their site knows.
        let key = app.key("items:write collections:write").await;
        let known = app.app.identity.authenticate(Some(&key.token), None).await.unwrap();
        let action = json!("PUBLISH_EXISTING_DRAFT_ITEMS");
        content.plugin_delete(&sandbox, &known.caller, "posts", "DRAFT_ITEMS", Some(&action)).await.unwrap();
        assert_eq!(ask("/v2/items/count", json!({})).await.json()["totalCount"], 1);
    }
}

/// Rows of the catalogue and of shared tables that are left of sites.
async fn rows_left(app: &TestApp, engine: Engine, ids: &[SiteId]) -> i64 {
    let mut left = 0;
    for id in ids {
        let site = id.clone();
        let is_shared = engine == Engine::Postgres;
        let read = app.kit.store.catalog().read(ReaderPool::Scan, move |tx| {
            boxed!({
                let mut count = 0;
                let tables: &[&str] = if is_shared { &["collection", "environment_swap"] } else { &[] };
                for table in ["environment_copy", "client", "api_key"].iter().chain(tables) {
                    let sql = format!("select count(*) from stoa.{table} where site = $1");
                    count += tx.row(&sql, &stoa_sql::params![&site], |row| row.get::<i64>(0)).await?.unwrap_or(0);
                }
                Ok(count)
            })
        });
        left += read.await.unwrap();
    }
    if engine == Engine::Sqlite {
        let files = std::fs::read_dir(app.kit.data().join("sites")).map(|it| it.count()).unwrap_or(0);
        left += i64::try_from(files).unwrap();
    }
    left
}
