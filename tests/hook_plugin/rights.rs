//! Rights that are withdrawn while a hook runs: what was allowed before it is not done after it.

use super::*;
use axum::http::Method;
use std::time::Duration;

const HOOKS: [&str; 7] = [
    "cars_beforeInsert",
    "cars_beforeUpdate",
    "cars_beforeRemove",
    "cars_beforeGet",
    "cars_beforeQuery",
    "cars_beforeCount",
    "cars_beforeDistinct",
];

/// Calls that each wait for a hook.
fn calls() -> Vec<(Method, &'static str, Value)> {
    let of = |id: &str| json!({ "_id": id, "title": "changed", "price": 5 });
    let many = |id: &str| json!({ "dataCollectionId": "cars", "dataItems": [{ "data": of(id) }] });
    let patch = json!({ "dataItemId": "a", "fieldModifications": [{ "fieldPath": "title", "action": "SET_FIELD", "setFieldOptions": { "value": "changed" } }] });
    let in_cars = |member: &str, value: Value| json!({ "dataCollectionId": "cars", member: value });
    let posted = [
        ("/v2/items", item(of("new"))),
        ("/v2/items/update", item(of("a"))),
        ("/v2/items/save", item(of("a"))),
        ("/v2/items/save", item(of("new"))),
        ("/v2/items/patch", in_cars("patch", patch.clone())),
        ("/v2/items/remove", in_cars("dataItemId", json!("a"))),
        ("/v2/bulk/items/insert", many("new")),
        ("/v2/bulk/items/update", many("a")),
        ("/v2/bulk/items/save", many("new")),
        ("/v2/bulk/items/patch", in_cars("patches", json!([patch]))),
        ("/v2/bulk/items/remove", in_cars("dataItemIds", json!(["a"]))),
        ("/v2/items/query", in_cars("query", json!({}))),
        ("/v2/items/count", in_cars("filter", json!({}))),
        ("/v2/items/query-distinct-values", in_cars("fieldName", json!("title"))),
    ];
    let get = (Method::GET, "/v2/items/a?dataCollectionId=cars", Value::Null);
    posted.into_iter().map(|(path, body)| (Method::POST, path, body)).chain([get]).collect()
}

impl Site {
    /// A site whose application is asked before everything, with an item `a`.
    async fn with_all_hooks(engine: Engine) -> Self {
        let limits = HookLimits {
            hook_plugin_milliseconds: 30_000,
            hook_request_time: 60_000,
            hook_deaths: 1_000,
            ..HookLimits::default()
        };
        let site = site(engine, host_of(limits)).await;
        assert_eq!(site.insert(json!({ "_id": "a", "title": "one", "price": 1 })).await.verdict(), "200");
        assert_eq!(site.connect(&HOOKS).await.verdict(), "200");
        site
    }

    async fn define(&self, members: Value) {
        let mut change = json!({ "dataCollection": members });
        change["dataCollection"]["id"] = json!("cars");
        let changed = self.app.app().send(Method::PATCH, "/v2/collections/cars", Some(change.to_string().into())).await;
        assert_eq!(changed.verdict(), "200", "{changed:?}");
    }

    async fn level(&self, level: &str) {
        let levels = json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
        self.define(json!({ "dataPermissions": levels })).await;
    }

    /// What a call is answered, if something happens while its hook runs.
    async fn answered(
        &self,
        caller: &TestClient<'_>,
        (method, path, body): &(Method, &str, Value),
        meanwhile: impl Future<Output = ()>,
    ) -> Reply {
        self.application.answer_as(Mode::Held);
        let meanwhile = async {
            while self.application.asked().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            meanwhile.await;
            self.application.answer_as(Mode::Good);
            self.application.shared.released.notify_one();
        };
        let body = (!body.is_null()).then(|| body.to_string().into());
        let reply = tokio::join!(caller.send(method.clone(), path, body), meanwhile).0;
        self.application.asked();
        reply
    }

    /// Nothing was written.
    async fn assert_untouched(&self, what: &str) {
        let all = json!({ "dataCollectionId": "cars", "query": {}, "suppressHooks": true });
        let found = self.app.app().post("/v2/items/query", &all).await.json();
        let titles: Vec<_> = found["dataItems"].as_array().unwrap().iter().map(|it| &it["data"]["title"]).collect();
        assert_eq!(titles, [&json!("one")], "{what}");
    }
}

on_both_engines! {
    async fn level_that_is_raised_while_a_hook_runs_counts(engine) {
        let site = Site::with_all_hooks(engine).await;
        let visitor = site.app.visitor().await;
        for call in calls() {
            let refused = site.answered(&visitor, &call, site.level("PRIVILEGED")).await;
            assert_eq!(refused.verdict(), "403 WDE0027", "{call:?} {refused:?}");
            site.assert_untouched(call.1).await;
            site.level("ANYONE").await;
        }
        // One that leaves the caller the right takes nothing away, nor does what others lose.
        let member = site.app.member("ada@example.org").await;
        let update = (Method::POST, "/v2/items/update", item(json!({ "_id": "a", "title": "two" })));
        let updated = site.answered(&member, &update, site.level("SITE_MEMBER")).await;
        assert_eq!(updated.json()["dataItem"]["data"]["title"], "was one", "{updated:?}");
    }

    async fn every_call_ends_as_its_application_says(engine) {
        let site = Site::with_all_hooks(engine).await;
        let visitor = site.app.visitor().await;
        let thrown = r#"{"results":[{"error":{"name":"RangeError","message":"no","code":"NO"}}]}"#;
        for (status, text, expected) in [(200, thrown, "WDE0078"), (428, r#"{"applicationError":{"code":"NO"}}"#, "WDE0078"), (500, "", "WDE0150")] {
            site.application.answer_as(Mode::Text(status, text));
            for (method, path, body) in calls() {
                let sent = (!body.is_null()).then(|| body.to_string().into());
                let told = visitor.send(method, path, sent).await.json();
                let error = told.pointer("/details/applicationError").or(told.pointer("/results/0/itemMetadata/error"));
                assert_eq!(error.map(|it| &it["code"]), Some(&json!(expected)), "{path}: {told}");
                site.assert_untouched(path).await;
            }
        }
    }

    async fn caller_who_is_let_in_no_more_does_nothing_after_a_hook(engine) {
        let site = Site::with_all_hooks(engine).await;
        for (n, call) in calls().into_iter().enumerate().step_by(4) {
            let member = site.app.member(&format!("ada{n}@example.org")).await;
            let refused = site.answered(&member, &call, async {
                if n % 8 == 0 {
                    let sessions = member.get("/_api/identity/v1/sessions").await.json();
                    let session = sessions["sessions"][0]["id"].as_str().unwrap().to_owned();
                    assert_eq!(member.delete(&format!("/_api/identity/v1/sessions/{session}")).await.verdict(), "200");
                } else {
                    let own = member.get("/members/v1/members/my").await.json();
                    let block = format!("/members/v1/members/{}/block", own["member"]["id"].as_str().unwrap());
                    assert_eq!(site.app.app().post(&block, &json!({})).await.verdict(), "200");
                }
            }).await;
            assert_eq!(refused.verdict(), "403 WDE0027", "{call:?} {refused:?}");
            site.assert_untouched(call.1).await;
        }
    }

    async fn item_is_not_written_by_a_definition_that_was(engine) {
        let site = Site::with_all_hooks(engine).await;
        let visitor = site.app.visitor().await;
        for (n, call) in calls().into_iter().take(5).enumerate() {
            let field = json!({ "key": format!("f{n}"), "type": "TEXT" });
            let fields = json!([{ "key": "title", "type": "TEXT" }, { "key": "price", "type": "NUMBER" }, field]);
            let refused = site.answered(&visitor, &call, site.define(json!({ "fields": fields }))).await;
            assert_eq!(refused.verdict(), "409 WDE0178", "{call:?} {refused:?}");
            site.assert_untouched(call.1).await;
        }
    }
}
