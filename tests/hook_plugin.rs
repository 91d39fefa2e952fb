//! Hooks that an application answers, by signed requests, in place of code.

use crate::{
    hooks::{host, host_of, item, open},
    webhooks::application,
};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use stoa_hooks::{HookLimits, Host};
use stoa_identity::client::NewClient;
use stoa_testkit::{Engine, Reply, TestApp, TestClient, on_both_engines};
use tokio::{net::TcpListener, sync::Notify};

mod rights;

const VERSIONS: &str = "/_api/hooks/v1/versions";

/// An application that answers about hooks, on this machine.
struct Application {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    mode: Mutex<Mode>,
    /// Lets what is held be answered.
    released: Notify,
    /// Paths, headers of tokens and their claims.
    asked: Mutex<Vec<(String, Value, Value)>>,
}

/// How it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Mode {
    /// As its functions say.
    #[default]
    Good,
    Text(u16, &'static str),
    Redirect,
    Hang,
    /// As its functions say, once it is released.
    Held,
}

impl Application {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/app/", listener.local_addr().unwrap());
        let shared = Arc::<Shared>::default();
        let router = Router::new().fallback(answer).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    fn answer_as(&self, mode: Mode) {
        *self.shared.mode.lock().unwrap() = mode;
    }

    /// What it was asked since this was asked last.
    fn asked(&self) -> Vec<(String, Value, Value)> {
        std::mem::take(&mut *self.shared.asked.lock().unwrap())
    }
}

async fn answer(State(shared): State<Arc<Shared>>, uri: Uri, body: Bytes) -> Response {
    let token = String::from_utf8(body.to_vec()).unwrap();
    let part = |n: usize| {
        let bytes = URL_SAFE_NO_PAD.decode(token.split('.').nth(n).unwrap()).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let claims = part(1);
    shared.asked.lock().unwrap().push((uri.path().to_owned(), part(0), claims.clone()));
    let mode = *shared.mode.lock().unwrap();
    if mode == Mode::Held {
        shared.released.notified().await;
    }
    match mode {
        Mode::Good | Mode::Held => {
            let request = &claims["data"]["request"];
            let hook = uri.path().rsplit('/').next().unwrap();
            let current = |n: usize| request["currentItems"].get(n).cloned().unwrap_or_default();
            let items = request["items"].as_array().unwrap().iter().enumerate();
            let results: Vec<Value> = items.map(|(n, it)| result(hook, it, &current(n))).collect();
            json!({ "results": results }).to_string().into_response()
        }
        Mode::Text(status, text) => (StatusCode::from_u16(status).unwrap(), text).into_response(),
        Mode::Redirect => (StatusCode::FOUND, [(header::LOCATION, "/elsewhere")]).into_response(),
        Mode::Hang => std::future::pending().await,
    }
}

/// What the functions of the application answer.
fn result(hook: &str, it: &Value, current: &Value) -> Value {
    let mut item = it.clone();
    match hook {
        "beforeInsert" if it["price"].is_null() => {
            return json!({ "error": { "name": "RangeError", "message": "no price", "code": "P" } });
        }
        "beforeInsert" => item["title"] = json!(format!("{}, seen", it["title"].as_str().unwrap())),
        "beforeUpdate" => item["title"] = json!(format!("was {}", current["title"].as_str().unwrap())),
        "beforeRemove" if current["title"].as_str().unwrap().starts_with("kept") => {
            return json!({ "error": { "why": "kept" } });
        }
        "afterQuery" => {
            item["_id"] = json!("other");
            item["asked"] = json!(true);
        }
        _ => return json!({}),
    }
    json!({ "item": item })
}

struct Site {
    app: TestApp,
    application: Application,
    /// The id of the application.
    id: String,
    host: Host,
}

async fn site(engine: Engine, host: Host) -> Site {
    let app = open(engine, host.clone()).await;
    host.keep_plugins(app.app.webhooks.plugins());
    let id = application(&app).await.to_string();
    Site { app, application: Application::start().await, id, host }
}

impl Site {
    async fn connect(&self, hooks: &[&str]) -> Reply {
        self.deploy(json!({ "appId": self.id, "url": self.application.url, "hooks": hooks })).await
    }

    async fn deploy(&self, plugin: Value) -> Reply {
        self.app.app().post(VERSIONS, &json!({ "plugin": plugin })).await
    }

    async fn insert(&self, data: Value) -> Reply {
        self.app.app().post("/v2/items", &item(data)).await
    }

    async fn bulk(&self, call: &str, items: Value) -> Vec<String> {
        let body = match call {
            "remove" => json!({ "dataCollectionId": "cars", "dataItemIds": items }),
            _ => json!({ "dataCollectionId": "cars", "dataItems": items }),
        };
        let reply = self.app.app().post(&format!("/v2/bulk/items/{call}"), &body).await.json();
        let results = reply["results"].as_array().unwrap_or_else(|| panic!("{reply}")).clone();
        let verdict = |it: &Value| it["itemMetadata"]["error"]["code"].as_str().unwrap_or("ok").to_owned();
        results.iter().map(verdict).collect()
    }
}

on_both_engines! {
    async fn application_is_asked_in_place_of_code(engine) {
        let site = site(engine, host()).await;
        let hooks = ["cars_beforeInsert", "cars_beforeUpdate", "cars_beforeRemove", "cars_afterQuery", "cars_afterInsert"];
        let connected = site.connect(&hooks).await;
        assert_eq!(connected.verdict(), "200", "{connected:?}");
        let version = &site.app.app().get(VERSIONS).await.json()["versions"][0];
        assert_eq!(version["exports"], json!(hooks));
        assert_eq!(version["plugin"], json!({ "appId": site.id, "url": site.application.url }));
        let visitor = site.app.visitor().await;
        let inserted = visitor.post("/v2/items", &item(json!({ "_id": "a", "title": "one", "price": 1 }))).await;
        assert_eq!(inserted.json()["dataItem"]["data"]["title"], "one, seen", "{inserted:?}");
        let asked = site.application.asked();
        let paths: Vec<_> = asked.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(paths, ["/app/v1/data-hooks/beforeInsert", "/app/v1/data-hooks/afterInsert"]);
        let (_, head, claims) = &asked[0];
        let keys = site.app.anonymous().get(&format!("/_api/apps/v1/{}/jwks", site.id)).await.json();
        assert_eq!((&head["alg"], &head["kid"]), (&json!("RS256"), &keys["keys"][0]["kid"]));
        assert_eq!((&claims["iss"], &claims["aud"]), (&json!("wix.com"), &json!(site.id)));
        assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 300);
        let (metadata, request) = (&claims["data"]["metadata"], &claims["data"]["request"]);
        assert_eq!(metadata["appExtensionType"], "STOA_DATA_HOOKS");
        assert_eq!(metadata["instanceId"], site.app.site.id.as_str());
        assert_eq!(metadata["requestId"], inserted.headers["x-wix-request-id"].to_str().unwrap());
        assert_eq!(metadata["identity"]["identityType"], "ANONYMOUS_VISITOR");
        assert_eq!(request["collectionId"], "cars");
        assert_eq!((&request["items"][0]["title"], &request["context"]["userRole"]), (&json!("one"), &json!("anonymous")));
        assert_eq!(request.get("currentItems"), None);
    }

    async fn application_is_asked_once_about_a_bulk(engine) {
        let site = site(engine, host()).await;
        let hooks = ["cars_beforeInsert", "cars_beforeUpdate", "cars_beforeRemove", "cars_afterQuery", "cars_afterUpdate"];
        assert_eq!(site.connect(&hooks).await.verdict(), "200");
        let items = json!([
            { "data": { "_id": "a", "title": "a", "price": 1 } }, { "data": { "_id": "b", "title": "b" } },
            { "data": { "_id": "c", "title": "kept", "price": 3 } },
        ]);
        assert_eq!(site.bulk("insert", items).await, ["ok", "WDE0078", "ok"]);
        let asked = site.application.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert_eq!(asked[0].2["data"]["request"]["items"].as_array().unwrap().len(), 3);
        // The same item twice, too: each has an answer.
        let update = |id: &str| json!({ "data": { "_id": id, "title": "new" } });
        assert_eq!(site.bulk("update", json!([update("a"), update("c"), update("a")])).await.len(), 3);
        let asked = site.application.asked();
        assert!(asked.iter().all(|it| it.0.ends_with("Update")), "{asked:?}");
        assert_eq!(asked[0].2["data"]["request"]["currentItems"][0]["title"], "a, seen");
        let page = site.app.app().post("/v2/items/query", &json!({ "dataCollectionId": "cars", "query": { "sort": [{ "fieldName": "_id" }] } })).await.json();
        let found: Vec<_> = page["dataItems"].as_array().unwrap().iter().map(|it| (&it["id"], &it["data"]["_id"], &it["data"]["asked"])).collect();
        assert_eq!(found, [(&json!("a"), &json!("a"), &json!(true)), (&json!("c"), &json!("c"), &json!(true))]);
        let asked = site.application.asked();
        assert_eq!((asked.len(), asked[0].0.as_str()), (1, "/app/v1/data-hooks/afterQuery"));
        let kept = json!({ "_id": "k", "title": "kept", "price": 1 });
        assert_eq!(site.insert(kept).await.verdict(), "200");
        site.application.asked();
        assert_eq!(site.bulk("remove", json!(["a", "k"])).await, ["ok", "WDE0078"]);
        assert_eq!(site.application.asked().len(), 1);
    }

    async fn error_of_an_application_is_the_callers(engine) {
        let site = site(engine, host()).await;
        assert_eq!(site.connect(&["cars_beforeInsert"]).await.verdict(), "200");
        let refused = site.insert(json!({ "_id": "a" })).await;
        assert_eq!(refused.verdict(), "400 WDE0078");
        let thrown = json!({ "name": "RangeError", "message": "no price", "code": "P" });
        assert_eq!(refused.json()["details"]["applicationError"]["data"]["jsErrorValue"], thrown);
        // As the public client prints an error of a plug-in's own kind.
        site.application.answer_as(Mode::Text(428, r#"{"applicationError":{"code":"NOT_NOW","data":{"message":"later"}}}"#));
        let refused = site.insert(json!({ "_id": "a", "price": 1 })).await;
        let thrown = json!({ "name": "Error", "message": "later", "code": "NOT_NOW" });
        assert_eq!(refused.json()["details"]["applicationError"]["data"]["jsErrorValue"], thrown, "{refused:?}");
        site.app.app.content.hook_log_write(&site.app.site).await.unwrap();
        let log = site.app.app().get("/_api/hooks/v1/log").await.json();
        let entry = &log["entries"][1];
        assert_eq!((&entry["outcome"], &entry["hook"]), (&json!("THROWN"), &json!("beforeInsert")));
        assert_eq!(entry["requestId"], refused.headers["x-wix-request-id"].to_str().unwrap());
        let trial = json!({ "collectionId": "cars", "hook": "beforeInsert", "argument": { "title": "x" } });
        let told = site.app.app().post("/_api/hooks/v1/try", &trial).await.json();
        assert_eq!(told["error"]["code"], "NOT_NOW", "{told}");
        // Code takes its place, and the way back leads to it.
        assert_eq!(site.app.app().post(VERSIONS, &json!({ "source": "" })).await.verdict(), "200");
        assert_eq!(site.insert(json!({ "_id": "a" })).await.verdict(), "200");
        assert_eq!(site.app.app().post(&format!("{VERSIONS}/1/activate"), &json!({})).await.verdict(), "200");
        assert_eq!(site.insert(json!({ "_id": "b" })).await.verdict(), "400 WDE0078");
    }

    async fn application_that_fails_lets_no_write_through(engine) {
        let limits = HookLimits { hook_plugin_milliseconds: 20_000, hook_request_time: 60_000, hook_deaths: 1_000, ..HookLimits::default() };
        let site = site(engine, host_of(limits)).await;
        assert_eq!(site.connect(&["cars_beforeInsert", "cars_afterUpdate"]).await.verdict(), "200");
        let good = json!({ "_id": "good", "title": "t", "price": 1 });
        assert_eq!(site.insert(good.clone()).await.verdict(), "200");
        for mode in [
            Mode::Text(500, r#"{"results":[{}]}"#),
            Mode::Text(404, "not found"),
            Mode::Text(201, r#"{"results":[{}]}"#),
            Mode::Text(200, ""),
            Mode::Text(200, r#"{"results":[]}"#),
            Mode::Text(200, r#"{"results":[{},{}]}"#),
            Mode::Redirect,
        ] {
            site.application.answer_as(mode);
            let refused = site.insert(json!({ "_id": "z", "price": 1 })).await;
            assert_eq!(refused.verdict(), "400 WDE0150", "{mode:?}");
            assert_eq!(site.app.app().get("/v2/items/z?dataCollectionId=cars").await.verdict(), "404 WDE0073", "{mode:?}");
            // What comes after doesn't undo.
            let told = site.app.app().post("/v2/items/update", &item(json!({ "_id": "good", "title": format!("{mode:?}") }))).await;
            assert_eq!(told.verdict(), "400 WDE0150", "{mode:?}");
            let stored = site.app.app().get("/v2/items/good?dataCollectionId=cars").await.json();
            assert_eq!(stored["dataItem"]["data"]["title"], format!("{mode:?}"));
        }
        // What is of another kind is ignored.
        site.application.answer_as(Mode::Text(200, r#"{"results":[{"item":5}]}"#));
        assert_eq!(site.insert(json!({ "_id": "y", "title": "t" })).await.json()["dataItem"]["data"]["title"], "t");
        assert!(site.host.figures().failed > 0);
    }

    async fn application_that_hangs_is_not_waited_for(engine) {
        let limits = HookLimits { hook_plugin_milliseconds: 200, hook_deaths: 2, ..HookLimits::default() };
        let site = site(engine, host_of(limits)).await;
        assert_eq!(site.connect(&["cars_beforeInsert"]).await.verdict(), "200");
        site.application.answer_as(Mode::Hang);
        for _ in 0..2 {
            assert_eq!(site.insert(json!({ "_id": "a", "price": 1 })).await.verdict(), "400 WDE0172");
        }
        site.application.asked();
        site.application.answer_as(Mode::Good);
        // It is left alone for a while, and nothing is written without it.
        assert_eq!(site.insert(json!({ "_id": "a", "price": 1 })).await.verdict(), "400 WDE0150");
        assert_eq!(site.application.asked(), []);
        assert_eq!(site.app.app().post("/_api/hooks/v1/resume", &json!({})).await.verdict(), "200");
        let mut verdict = String::new();
        for n in 0..50 {
            // Where the machine is slow the application may take too long.
            verdict = site.insert(json!({ "_id": n.to_string(), "title": "t", "price": 1 })).await.verdict();
            if verdict == "200" {
                break;
            }
            assert_eq!(site.app.app().post("/_api/hooks/v1/resume", &json!({})).await.verdict(), "200");
        }
        assert_eq!(verdict, "200");
    }

    async fn requests_to_an_application_are_bounded(engine) {
        let limits = HookLimits {
            hook_plugin_milliseconds: 30_000, hook_request_time: 60_000, hook_plugin_calls: 1, hook_waiting: 0, ..HookLimits::default()
        };
        let site = site(engine, host_of(limits)).await;
        assert_eq!(site.connect(&["cars_beforeInsert"]).await.verdict(), "200");
        site.application.answer_as(Mode::Hang);
        let others = async {
            while site.application.asked().is_empty() {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            let refused = site.insert(json!({ "_id": "b", "price": 1 })).await.verdict();
            site.application.answer_as(Mode::Good);
            refused
        };
        tokio::select! {
            biased;
            refused = others => assert_eq!(refused, "429 WDE0122"),
            waited = site.insert(json!({ "_id": "a", "price": 1 })) => panic!("it was answered: {waited:?}"),
        }
        // The place of one that hung up is free.
        assert_eq!(site.insert(json!({ "_id": "c", "title": "t", "price": 1 })).await.verdict(), "200");
    }

    async fn application_is_refused_with_what_is_wrong(engine) {
        let site = site(engine, host()).await;
        let (id, url) = (json!(site.id), json!(site.application.url));
        let hooks = json!(["cars_beforeInsert"]);
        let new = NewClient { name: "Bare".to_owned(), with_secret: true, ..NewClient::default() };
        let bare = site.app.app.identity.client_create(&site.app.site.id, new).await.unwrap().0.id.to_string();
        for (plugin, field) in [
            (json!(5), "plugin"),
            (json!({ "url": url, "hooks": hooks }), "plugin.appId"),
            (json!({ "appId": 5, "url": url, "hooks": hooks }), "plugin.appId"),
            (json!({ "appId": "nobody", "url": url, "hooks": hooks }), "plugin.appId"),
            (json!({ "appId": site.app.client.id, "url": url, "hooks": hooks }), "plugin.appId"),
            (json!({ "appId": bare, "url": url, "hooks": hooks }), "plugin.appId"),
            (json!({ "appId": id, "hooks": hooks }), "plugin.url"),
            (json!({ "appId": id, "url": "ftp://example.org", "hooks": hooks }), "plugin.url"),
            (json!({ "appId": id, "url": "https://example.org/?a", "hooks": hooks }), "plugin.url"),
            (json!({ "appId": id, "url": "https://10.0.0.1/", "hooks": hooks }), "plugin.url"),
            (json!({ "appId": id, "url": url }), "plugin.hooks"),
            (json!({ "appId": id, "url": url, "hooks": [] }), "plugin.hooks"),
            (json!({ "appId": id, "url": url, "hooks": [5] }), "plugin.hooks"),
            (json!({ "appId": id, "url": url, "hooks": ["cars_beforeinsert"] }), "plugin.hooks"),
            (json!({ "appId": id, "url": url, "hooks": ["care_beforeInsert"] }), "plugin.hooks"),
            (json!({ "appId": id, "url": url, "hooks": hooks, "secret": "s" }), "plugin.secret"),
        ] {
            let refused = site.deploy(plugin.clone()).await;
            assert_eq!(refused.verdict(), "400 validationError", "{plugin}");
            let violation = refused.json()["details"]["validationError"]["fieldViolations"][0].clone();
            assert_eq!(violation["field"], field, "{plugin}: {violation}");
        }
        let both = json!({ "source": "", "plugin": { "appId": id, "url": url, "hooks": hooks } });
        assert_eq!(site.app.app().post(VERSIONS, &both).await.verdict(), "400 validationError");
        assert_eq!(site.app.editor().await.post(VERSIONS, &json!({ "plugin": { "appId": id, "url": url, "hooks": hooks } })).await.verdict(), "403 PERMISSION_DENIED");
        assert_eq!(site.app.app().get(VERSIONS).await.json(), json!({ "versions": [] }));
        assert_eq!(site.application.asked(), []);
        // An application that is gone is not asked, and nothing is written without it.
        assert_eq!(site.connect(&["cars_beforeInsert"]).await.verdict(), "200");
        site.app.app.identity.client_revoke(&site.app.site.id, &site.id.as_str().into()).await.unwrap();
        assert_eq!(site.insert(json!({ "_id": "a", "price": 1 })).await.verdict(), "400 WDE0150");
        assert_eq!(site.application.asked(), []);
    }
}
