//! A site's own code by HTTP: deployed, switched between and tried by those who run the site, and asked by every request
//! about items, in real processes.

use crate::answers::assert_known_by_its_tag;
use serde_json::{Value, json};
use stoa_hooks::{HookLimits, Host, HostProgram};
use stoa_testkit::{Engine, Reply, TestApp, on_both_engines};

mod killed;
mod limits;
mod table;

/// This program is started with this word, which names no test, as a process of hooks.
const AS_HOOK_HOST: &str = "as-hook-host";
const VERSIONS: &str = "/_api/hooks/v1/versions";
const LOG: &str = "/_api/hooks/v1/log";
const TRY: &str = "/_api/hooks/v1/try";

#[test]
fn hook_host() {
    if std::env::args().any(|it| it == AS_HOOK_HOST) {
        stoa_hooks::child::run(&stoa_kernel::World::real()).unwrap();
    }
}

/// What runs hooks in tests: machines of tests are slow now and then.
pub fn host() -> Host {
    host_of(HookLimits { hook_milliseconds: 2_000, hook_request_time: 60_000, ..HookLimits::default() })
}

pub fn host_of(limits: HookLimits) -> Host {
    host_named("unnamed", limits)
}

/// A host whose processes have a name among their arguments.
fn host_named(name: &str, limits: HookLimits) -> Host {
    let arguments = ["hooks::hook_host", "--exact", "--nocapture", "--test-threads=1", AS_HOOK_HOST, name];
    Host::new(limits, HostProgram::this_program(&arguments).unwrap())
}

/// A site that runs hooks, with a collection of cars that is everyone's.
pub async fn open(engine: Engine, host: Host) -> TestApp {
    let app = TestApp::new(engine).await;
    app.app.content.keep_hooks(host);
    let anyone = "ANYONE";
    let collection = json!({ "collection": {
        "id": "cars",
        "fields": [{ "key": "title", "type": "TEXT" }, { "key": "price", "type": "NUMBER" }],
        "dataPermissions": { "itemRead": anyone, "itemInsert": anyone, "itemUpdate": anyone, "itemRemove": anyone },
    } });
    assert_eq!(app.app().post("/v2/collections", &collection).await.verdict(), "200");
    app
}

async fn deploy(app: &TestApp, source: &str) -> Reply {
    app.app().post(VERSIONS, &json!({ "source": source })).await
}

pub fn item(data: Value) -> Value {
    json!({ "dataCollectionId": "cars", "dataItem": { "data": data } })
}

on_both_engines! {
    async fn deployed_code_is_asked_by_requests(engine) {
        let app = open(engine, host()).await;
        let deployed = deploy(&app, "
            export function cars_beforeInsert(item, context) { item.title = context.userRole; return item }
            export function cars_beforeRemove() { throw Object.assign(new RangeError('never'), { code: 'NO' }) }
        ").await;
        assert_eq!(deployed.verdict(), "200", "{deployed:?}");
        let version = deployed.json()["version"].clone();
        assert_eq!((&version["number"], &version["active"]), (&json!(1), &json!(true)));
        assert_eq!(version["exports"], json!(["cars_beforeInsert", "cars_beforeRemove"]));
        let visitor = app.visitor().await;
        let inserted = visitor.post("/v2/items", &item(json!({ "_id": "a", "title": "x" }))).await.json();
        assert_eq!(inserted["dataItem"]["data"]["title"], "anonymous");
        let refused = visitor.delete("/v2/items/a?dataCollectionId=cars").await;
        assert_eq!(refused.verdict(), "400 WDE0078", "{refused:?}");
        let thrown = json!({ "name": "RangeError", "message": "never", "code": "NO" });
        assert_eq!(refused.json()["details"]["applicationError"]["data"]["jsErrorValue"], thrown);
        // Editors do without hooks, where they say so.
        let gone = app.editor().await.delete("/v2/items/a?dataCollectionId=cars&suppressHooks=true").await;
        assert_eq!(gone.verdict(), "200", "{gone:?}");
        // The way back, and a version that has nothing.
        assert_eq!(deploy(&app, "").await.json()["version"]["number"], 2);
        let bare = visitor.post("/v2/items", &item(json!({ "title": "bare" }))).await.json();
        assert_eq!(bare["dataItem"]["data"]["title"], "bare");
        assert_eq!(app.app().post(&format!("{VERSIONS}/1/activate"), &json!({})).await.verdict(), "200");
        let again = visitor.post("/v2/items", &item(json!({ "title": "bare" }))).await.json();
        assert_eq!(again["dataItem"]["data"]["title"], "anonymous");
        let list = app.owner().await.get(VERSIONS).await.json();
        let active: Vec<_> = list["versions"].as_array().unwrap().iter().map(|it| (&it["number"], &it["active"])).collect();
        assert_eq!(active, [(&json!(2), &json!(false)), (&json!(1), &json!(true))]);
        for path in [VERSIONS, LOG] {
            assert_known_by_its_tag(&app, path).await;
        }
    }

    async fn wrong_code_is_refused_with_its_place(engine) {
        let app = open(engine, host()).await;
        for (source, says, data) in [
            ("export function care_beforeInsert() {}", "did you mean cars?", json!({ "export": "care_beforeInsert" })),
            ("export function cars_beforeInsrt() {}", "did you mean cars_beforeInsert?", json!({ "export": "cars_beforeInsrt" })),
            ("const a = 1;\nexport function {", "SyntaxError", json!({ "line": 2, "column": 17 })),
            ("export function cars_onfailure() {}", "did you mean cars_onFailure?", json!({ "export": "cars_onfailure" })),
            ("import fs from 'fs'", "fs", Value::Null),
            ("for (;;) {}", "too long", Value::Null),
        ] {
            let refused = deploy(&app, source).await;
            assert_eq!(refused.verdict(), "400 validationError", "{source}: {refused:?}");
            let violation = refused.json()["details"]["validationError"]["fieldViolations"][0].clone();
            assert_eq!(violation["field"], "source");
            assert!(violation["description"].as_str().unwrap().contains(says), "{violation}");
            if !data.is_null() {
                assert_eq!(violation["data"], data, "{violation}");
            }
        }
        for body in [json!({}), json!({ "source": 5 }), json!({ "source": null }), json!([])] {
            assert_eq!(app.app().post(VERSIONS, &body).await.verdict(), "400 validationError", "{body}");
        }
        for number in ["1", "0", "x", "-1", "99999999999999999999"] {
            let path = format!("{VERSIONS}/{number}/activate");
            assert_eq!(app.app().post(&path, &json!({})).await.verdict(), "404 NOT_FOUND", "{number}");
            assert_eq!(app.app().post(&path, &json!(["x"])).await.verdict(), "400 validationError", "{number}");
        }
        assert_eq!(app.app().get(VERSIONS).await.json(), json!({ "versions": [] }));
    }

    async fn hooks_are_tried_without_writing(engine) {
        let app = open(engine, host()).await;
        let ask = async |mut body: Value, source: &str| {
            body["collectionId"] = json!("cars");
            body["source"] = json!(source);
            app.app().post(TRY, &body).await
        };
        let insert = json!({ "hook": "beforeInsert", "argument": { "title": "x" } });
        for (body, outcome) in [
            ("console.log('seen'); item.price = 2; return item", json!({ "outcome": "VALUE", "value": { "title": "x", "price": 2 }, "console": "seen\n" })),
            ("return 5", json!({ "outcome": "NOTHING", "console": "" })),
            ("throw new TypeError('no')", json!({ "outcome": "THROWN", "error": { "name": "TypeError", "message": "no" }, "console": "" })),
            ("throw { why: 1 }", json!({ "outcome": "THROWN", "value": { "why": 1 }, "console": "" })),
            ("for (;;) {}", json!({ "outcome": "TIMED_OUT", "console": "" })),
        ] {
            let reply = ask(insert.clone(), &format!("export function cars_beforeInsert(item) {{ {body} }}")).await;
            let mut told = reply.json();
            let told = told.as_object_mut().unwrap_or_else(|| panic!("{reply:?}"));
            assert!(told.remove("milliseconds").unwrap().is_number(), "{body}");
            assert_eq!(told.remove("version"), Some(json!(0)), "{body}");
            assert_eq!(json!(told), outcome, "{body}");
        }
        let update = json!({ "hook": "beforeUpdate", "argument": { "price": 1 }, "currentItem": { "price": 4 } });
        let source = "export const cars_beforeUpdate = (item, context) => ({ price: item.price + context.currentItem.price })";
        assert_eq!(ask(update.clone(), source).await.json()["value"], json!({ "price": 5 }));
        assert_eq!(ask(insert.clone(), source).await.verdict(), "404 NOT_FOUND");
        assert_eq!(ask(insert.clone(), "export function {").await.verdict(), "400 validationError");
        let active = json!({ "collectionId": "cars", "hook": "beforeUpdate", "argument": { "price": 1 }, "currentItem": { "price": 4 } });
        assert_eq!(app.app().post(TRY, &active).await.verdict(), "404 NOT_FOUND");
        assert_eq!(deploy(&app, source).await.verdict(), "200");
        assert_eq!(app.app().post(TRY, &active).await.json()["version"], 1);
        for wrong in [
            json!({}),
            json!([]),
            json!({ "collectionId": "cars", "hook": "beforeInsert" }),
            json!({ "collectionId": "cars", "hook": "beforeinsert", "argument": {} }),
            json!({ "collectionId": 5, "hook": "beforeInsert", "argument": {} }),
            json!({ "collectionId": "cars", "hook": "beforeInsert", "argument": {}, "source": 5 }),
        ] {
            assert_eq!(app.app().post(TRY, &wrong).await.verdict(), "400 validationError", "{wrong}");
        }
    }

    async fn what_hooks_say_and_how_they_fail_is_listed(engine) {
        let app = open(engine, host()).await;
        let source = "
            export function cars_beforeInsert(item) { if (item.price) throw new Error('no'); console.log('seen', item.title, '\\0'); return item }
            export function cars_beforeUpdate(item) { return item }
        ";
        assert_eq!(deploy(&app, source).await.verdict(), "200");
        for data in [json!({ "_id": "a", "title": "one" }), json!({ "price": 1 }), json!({ "title": "two" })] {
            app.app().post("/v2/items", &item(data)).await;
        }
        // What is quiet is not kept.
        assert_eq!(app.app().post("/v2/items/update", &item(json!({ "_id": "a" }))).await.verdict(), "200");
        app.app.content.hook_log_write(&app.site).await.unwrap();
        let entries = async |query: &str| app.app().get(&format!("{LOG}{query}")).await.json()["entries"].as_array().unwrap().clone();
        let all = entries("").await;
        let told: Vec<_> = all.iter().map(|it| (it["outcome"].as_str().unwrap(), it["console"].as_str().unwrap())).collect();
        assert_eq!(told, [("VALUE", "seen one \u{fffd}\n"), ("THROWN", ""), ("VALUE", "seen two \u{fffd}\n")]);
        assert_eq!((&all[0]["collectionId"], &all[0]["hook"], &all[0]["version"]), (&json!("cars"), &json!("beforeInsert"), &json!(1)));
        assert!(all.iter().all(|it| it["requestId"].as_str().is_some_and(|it| it.contains('-'))), "{all:?}");
        assert_eq!(entries("?limit=2").await, all[1..]);
        assert_eq!(entries(&format!("?limit=1&after={}", all[0]["id"].as_str().unwrap())).await, all[1..2]);
        assert_eq!(entries(&format!("?after={}", all[2]["id"].as_str().unwrap())).await, Vec::<Value>::new());
        for query in ["?limit=0", "?limit=1001", "?limit=x", "?limit=", "?after=%00"] {
            assert_eq!(app.app().get(&format!("{LOG}{query}")).await.verdict(), "400 validationError", "{query}");
        }
    }

    async fn code_whose_processes_die_is_asked_again_after_resume(engine) {
        let app = open(engine, host_of(HookLimits { hook_milliseconds: 300, hook_deaths: 1, hook_source: 1_024, ..HookLimits::default() })).await;
        let source = "export function cars_beforeInsert(item) { if (item.title == 'x') { const a = []; a[4e9] = 1; a.reverse() } return item }";
        assert_eq!(deploy(&app, source).await.verdict(), "200");
        let insert = async |title: &str| app.app().post("/v2/items", &item(json!({ "title": title }))).await.verdict();
        assert_eq!(insert("x").await, "400 WDE0172");
        // Never without the hook.
        assert_eq!(insert("y").await, "400 WDE0150");
        assert_eq!(app.app().post("/_api/hooks/v1/resume", &json!([])).await.verdict(), "400 validationError");
        assert_eq!(app.app().post("/_api/hooks/v1/resume", &json!({})).await.verdict(), "200");
        assert_eq!(insert("y").await, "200");
        assert_eq!(deploy(&app, &format!("//{}", "x".repeat(1_023))).await.verdict(), "400 validationError");
        assert_eq!(deploy(&app, &format!("//{}", "x".repeat(1_022))).await.verdict(), "200");
    }

    async fn so_many_calls_wait_for_hooks_and_no_more(engine) {
        let limits = HookLimits { hook_milliseconds: 2_000, hook_processes_of_site: 1, hook_waiting: 1, ..HookLimits::default() };
        let app = open(engine, host_of(limits)).await;
        let source = "export function cars_beforeInsert(item) { const until = Date.now() + 300; while (Date.now() < until); return item }";
        assert_eq!(deploy(&app, source).await.verdict(), "200");
        let client = app.app();
        let inserts = (0..8).map(|_| {
            let client = client.clone();
            async move { client.post("/v2/items", &item(json!({ "title": "x" }))).await.verdict() }
        });
        let verdicts = futures_util::future::join_all(inserts).await;
        let count = |verdict: &str| verdicts.iter().filter(|it| *it == verdict).count();
        assert!(count("200") >= 2 && count("429 WDE0122") >= 1, "{verdicts:?}");
        assert_eq!(count("200") + count("429 WDE0122"), 8, "{verdicts:?}");
    }

    async fn server_that_runs_no_hooks_says_so(engine) {
        let app = TestApp::new(engine).await;
        assert_eq!(deploy(&app, "").await.verdict(), "428 WDE0119");
        let trial = json!({ "collectionId": "cars", "hook": "afterGet", "argument": {}, "source": "" });
        assert_eq!(app.app().post(TRY, &trial).await.verdict(), "428 WDE0119");
        assert_eq!(app.app().post("/_api/hooks/v1/resume", &json!({})).await.verdict(), "428 WDE0119");
    }
}
