//! Jobs by filter from outside: who may ask for one, who is told of it, and how many there may be.

use crate::answers::assert_known_by_its_tag;
use serde_json::{Value, json};
use std::time::Duration;
use stoa_kernel::Caller;
use stoa_testkit::{Reply, TestApp, TestClient, on_both_engines};

/// How the job or the task of an answer has ended, as its caller is told.
pub(crate) async fn ended(client: &TestClient<'_>, begun: &Reply) -> Value {
    assert_eq!(begun.verdict(), "200", "{:?}", begun.body);
    let json = begun.json();
    let id = json["jobId"].as_str().or_else(|| json["task"]["id"].as_str()).unwrap();
    for _ in 0..2_000 {
        let reply = client.get(&format!("/v2/async-jobs/{id}/status?jobId={id}")).await;
        assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
        let state = reply.json();
        if !matches!(state["status"].as_str(), Some("INITIALIZED" | "PROCESSING")) {
            return state;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{id} has not ended");
}

pub(crate) fn increments(filter: Value) -> Value {
    let one = json!({ "fieldPath": "n", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } });
    json!({ "dataCollectionId": "c", "filter": filter, "fieldModifications": [one] })
}

async fn patch(client: &TestClient<'_>, filter: Value) -> Reply {
    client.post("/wix-data/v2/bulk/items/async-patch-by-filter", &increments(filter)).await
}

pub(crate) async fn collection(app: &TestApp, levels: Value, items: usize) {
    let fields = json!([{ "key": "n", "type": "NUMBER" }, { "key": "pin", "type": "TEXT", "encrypted": true }]);
    let object = json!({ "id": "c", "fields": fields, "dataPermissions": levels });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
    let items: Value = (0..items).map(|n| json!({ "data": { "_id": format!("i{n}"), "n": 0 } })).collect();
    let filled = app.app().post("/v2/bulk/items/insert", &json!({ "dataCollectionId": "c", "dataItems": items })).await;
    assert_eq!(filled.verdict(), "200");
}

pub(crate) fn open() -> Value {
    json!({ "itemRead": "ANYONE", "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" })
}

pub(crate) async fn count(app: &TestApp, filter: Value) -> Value {
    let body = json!({ "dataCollectionId": "c", "filter": filter });
    app.app().post("/v2/items/count", &body).await.json()["totalCount"].clone()
}

/// Holds a job of the caller on this request as another process does that is in its midst.
pub(crate) async fn hold_a_job(app: &TestApp, client: &TestClient<'_>, request: &Value) -> String {
    let begun = patch(client, json!({ "n": { "$gte": 1_000 } })).await;
    ended(client, &begun).await;
    let id = begun.json()["jobId"].as_str().unwrap().to_owned();
    let held = app.site.write_with((id.clone(), request.to_string()), |tx, (id, request)| {
        stoa_store::boxed!({
            let sql = "update stoa.async_job set status = 'PROCESSING', ended = null, done = '', runner = 'other', \
                       request = $1 where id = $2";
            tx.execute(sql, &stoa_sql::params![request.as_str(), id.as_str()]).await?;
            Ok(())
        })
    });
    held.await.unwrap();
    id
}

/// How a job stands that was held, once its process is missed and another has taken it up.
pub(crate) async fn taken_up(app: &TestApp, id: &str) -> Value {
    let mut state = Value::Null;
    for _ in 0..1_000 {
        state = app.app().get(&format!("/v2/async-jobs/{id}/status?jobId={id}")).await.json();
        if state["status"] != "PROCESSING" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    state
}

/// Deploys a hook of the collection that leaves things as they are.
async fn deploy_hook(app: &TestApp, hook: &str) {
    let source = format!("export function c_{hook}(it) {{ return it; }}");
    let deployed = app.app().post("/_api/hooks/v1/versions", &json!({ "source": source })).await;
    assert_eq!(deployed.verdict(), "200", "{:?}", deployed.body);
}

on_both_engines! {
    async fn jobs_by_url(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, open(), 30).await;
        let begun = patch(&app.app(), json!({ "_id": { "$in": ["i1", "i2"] } })).await;
        let state = ended(&app.app(), &begun).await;
        let id = begun.json()["jobId"].as_str().unwrap().to_owned();
        assert_known_by_its_tag(&app, &format!("/v2/async-jobs/{id}/status?jobId={id}")).await;
        assert_eq!(state, json!({ "status": "SUCCEEDED", "successCount": 2, "failureCount": 0, "failures": [] }));
        let body = json!({ "dataCollectionId": "c", "filter": { "n": 1 } });
        let begun = app.app().post("/v2/bulk/items/async-remove-by-filter", &body).await;
        assert_eq!(ended(&app.app(), &begun).await["successCount"], 2);
        assert_eq!(count(&app, json!({})).await, 28);
        let post = async |call: &str, body: Value| {
            app.app().post(&format!("/v2/bulk/items/async-{call}-by-filter"), &body).await.verdict()
        };
        for call in ["patch", "remove"] {
            assert_eq!(post(call, json!({ "dataCollectionId": "c" })).await, "400 WDE0016", "all items are not meant by silence");
            assert_eq!(post(call, json!({ "dataCollectionId": "c", "filter": null })).await, "400 WDE0016");
            assert_eq!(post(call, json!({ "dataCollectionId": "none", "filter": {} })).await, "404 WDE0025");
            assert_eq!(post(call, json!({ "dataCollectionId": "c", "filter": { "pin": "1" } })).await, "428 WDE0119");
            let long = "x".repeat(70_000);
            assert_eq!(post(call, json!({ "dataCollectionId": "c", "filter": { "n": long } })).await, "413 WDE0109");
        }
        let set = |path: &str| {
            let set = json!([{ "fieldPath": path, "action": "SET_FIELD", "setFieldOptions": { "value": "1" } }]);
            json!({ "dataCollectionId": "c", "filter": {}, "fieldModifications": set })
        };
        assert_eq!(post("patch", set("pin")).await, "428 WDE0119", "its value would be kept in clear");
        assert_eq!(post("patch", set("_id")).await, "400 WDE0080");
        for (path, wants) in [
            ("/v2/async-jobs/none/status?jobId=none", "404 NOT_FOUND"), ("/v2/async-jobs/none/status", "404 NOT_FOUND"),
            ("/v2/async-jobs/x/status?jobId=", "400 WDE0094"), ("/v2/async-jobs/x/status?jobId=%00", "404 NOT_FOUND"),
            ("/v2/async-jobs/x/status?jobId=a&jobId=b", "400 WDE0080"),
        ] {
            assert_eq!(app.app().get(path).await.verdict(), wants, "{path}");
        }
    }

    async fn job_is_told_to_who_asked_for_it_and_to_owners(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, open(), 3).await;
        let (ada, bob, visitor) = (app.member("ada@example.org").await, app.member("bob@example.org").await, app.visitor().await);
        let begun = patch(&ada, json!({})).await;
        ended(&ada, &begun).await;
        let id = begun.json()["jobId"].as_str().unwrap().to_owned();
        let told = async |client: &TestClient<'_>| client.get(&format!("/v2/async-jobs/{id}/status")).await.verdict();
        for client in [&ada, &app.owner().await, &app.app()] {
            assert_eq!(told(client).await, "200");
        }
        for client in [&bob, &visitor, &app.visitor().await, &app.editor().await] {
            assert_eq!(told(client).await, "404 NOT_FOUND");
        }
        assert_eq!(told(&app.key("collections:write").await).await, "404 NOT_FOUND");
        assert_eq!(told(&app.anonymous()).await, "401 UNAUTHENTICATED");
        let begun = patch(&visitor, json!({})).await;
        assert_eq!(ended(&visitor, &begun).await["successCount"], 3);
    }

    async fn hundred_jobs_at_once_are_bounded_and_each_is_done_once(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, open(), 120).await;
        for (client, most) in [(app.app(), 20), (app.member("ada@example.org").await, 4)] {
            let before = count(&app, json!({ "n": { "$gt": 0 } })).await;
            let replies = crate::permissions::futures((0..100).map(|_| patch(&client, json!({})))).await;
            let mut taken = 0;
            for reply in &replies {
                match reply.verdict().as_str() {
                    "200" => {
                        taken += 1;
                        assert_eq!(ended(&client, reply).await["successCount"], 120);
                    }
                    refused => assert_eq!(refused, "429 THROTTLED_FEATURE"),
                }
            }
            assert!(taken >= most, "{taken} of a hundred were taken, {most} have room");
            let reset = json!([{ "fieldPath": "n", "action": "SET_FIELD", "setFieldOptions": { "value": 0 } }]);
            assert_eq!(count(&app, json!({ "n": taken })).await, 120, "after {before}");
            let body = json!({ "dataCollectionId": "c", "filter": {}, "fieldModifications": reset });
            let begun = app.app().post("/v2/bulk/items/async-patch-by-filter", &body).await;
            ended(&app.app(), &begun).await;
        }
    }

    async fn job_ends_with_what_its_caller_was_let_in_by(engine) {
        let app = TestApp::new(engine).await;
        collection(&app, open(), 10).await;
        let (ada, bob, owner) = (app.member("ada@example.org").await, app.member("bob@example.org").await, app.owner().await);
        let key = app.key("items:write").await;
        let (identity, site) = (&app.app.identity, &app.site);
        let mut jobs = Vec::new();
        for client in [&ada, &bob, &key, &owner] {
            jobs.push(hold_a_job(&app, client, &increments(json!({}))).await);
        }
        let caller = async |client: &TestClient<'_>| identity.authenticate(Some(&client.token), None).await.unwrap().caller;
        let Caller::Member { session, .. } = caller(&ada).await else { panic!("a member") };
        identity.session_end(site, &session).await.unwrap();
        let blocked = caller(&bob).await.id().to_owned();
        assert_eq!(app.app().post(&format!("/members/v1/members/{blocked}/block"), &json!({})).await.verdict(), "200");
        identity.api_key_revoke(&site.id, &caller(&key).await.id().into()).await.unwrap();
        let gone = app.kit.store.catalog().write(|tx| {
            stoa_store::boxed!({
                tx.execute("delete from stoa.person_role", &[]).await?;
                Ok(())
            })
        });
        gone.await.unwrap();
        app.kit.clock.advance(3_001);
        for id in jobs {
            let state = taken_up(&app, &id).await;
            assert_eq!((&state["status"], &state["error"]["code"]), (&json!("FAILED"), &json!("WDE0027")), "{state}");
        }
        assert_eq!(count(&app, json!({ "n": 0 })).await, 10, "nothing was changed");
    }

    async fn jobs_that_would_pass_over_hooks_are_refused(engine) {
        let app = TestApp::new(engine).await;
        app.app.content.keep_hooks(crate::hooks::host());
        collection(&app, open(), 3).await;
        let (ada, editor) = (app.member("ada@example.org").await, app.editor().await);
        let ask = async |client: &TestClient<'_>, call: &str, suppresses: bool| {
            let mut body = increments(json!({ "n": { "$gte": 1_000 } }));
            body["suppressHooks"] = suppresses.into();
            if call == "remove" {
                body.as_object_mut().unwrap().remove("fieldModifications");
            }
            client.post(&format!("/v2/bulk/items/async-{call}-by-filter"), &body).await
        };
        for (hook, refused) in [
            ("beforeUpdate", "patch"), ("afterUpdate", "patch"), ("beforeRemove", "remove"), ("afterRemove", "remove"),
            ("beforeInsert", "none"),
        ] {
            deploy_hook(&app, hook).await;
            for call in ["patch", "remove"] {
                for (client, suppresses, may) in [
                    (&ada, false, false), (&ada, true, false), (&editor, false, false), (&editor, true, true),
                    (&app.app(), false, false), (&app.app(), true, true),
                ] {
                    let reply = ask(client, call, suppresses).await;
                    if call == refused && !may {
                        assert_eq!(reply.verdict(), "428 WDE0119", "{call} {hook} {suppresses}");
                        let data = reply.json()["details"]["applicationError"]["data"].clone();
                        assert_eq!((&data["collectionName"], &data["hook"]), (&json!("c"), &json!(hook)), "{data}");
                    } else {
                        assert_eq!(ended(client, &reply).await["status"], "SUCCEEDED", "{call} {hook} {suppresses}");
                    }
                }
            }
        }
        // Those who may change nothing aren't told of hooks.
        deploy_hook(&app, "beforeUpdate").await;
        let mut closed = open();
        (closed["id"], closed["itemUpdate"]) = ("c".into(), "PRIVILEGED".into());
        assert_eq!(app.app().post("/v1/permissions", &json!({ "dataPermissions": closed })).await.verdict(), "200");
        assert_eq!(ask(&ada, "patch", true).await.verdict(), "403 WDE0027");
    }

    async fn job_ends_where_it_would_pass_over_a_hook_that_is_new(engine) {
        let app = TestApp::new(engine).await;
        app.app.content.keep_hooks(crate::hooks::host());
        collection(&app, open(), 10).await;
        let (ada, owner) = (app.member("ada@example.org").await, app.owner().await);
        let mut suppressing = increments(json!({}));
        suppressing["suppressHooks"] = true.into();
        let mut jobs = Vec::new();
        for (client, request) in
            [(&ada, &increments(json!({}))), (&ada, &suppressing), (&owner, &increments(json!({}))), (&owner, &suppressing)]
        {
            jobs.push(hold_a_job(&app, client, request).await);
        }
        deploy_hook(&app, "beforeUpdate").await;
        app.kit.clock.advance(3_001);
        let last = taken_up(&app, &jobs.pop().unwrap()).await;
        assert_eq!((&last["status"], &last["successCount"]), (&json!("SUCCEEDED"), &json!(10)), "{last}");
        for id in jobs {
            let state = taken_up(&app, &id).await;
            assert_eq!((&state["status"], &state["error"]["code"]), (&json!("FAILED"), &json!("WDE0119")), "{state}");
        }
        assert_eq!(count(&app, json!({ "n": 1 })).await, 10, "one job changed the items");
    }
}
