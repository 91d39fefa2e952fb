//! Webhooks by URL: endpoints are made, changed and refused; what happens arrives at a real receiver; messages are pulled.
//! How deliveries fail and go on is shown in `crates/webhooks/tests`.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use stoa_http::{HttpLimits, Settings};
use stoa_identity::client::NewClient;
use stoa_kernel::ClientId;
use stoa_store::{
    Consumers,
    outbox::{LeaseTimes, Position},
};
use stoa_testkit::{Reply, TestApp, TestClient, local_reach, on_both_engines};
use stoa_webhooks::{Parts, Times, WebhookLimits, Webhooks};
use tokio::{net::TcpListener, time::sleep};

pub const ENDPOINTS: &str = "/_api/webhooks/v1/endpoints";
const PULL: &str = "/_api/webhooks/v1/pull";
pub const CREATED: &str = "wix.data.v2.data_item_created";
const DELETED: &str = "wix.data.v2.data_item_deleted";

/// A receiver of messages on this machine, which keeps what it is sent.
pub struct Receiver {
    pub url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The status of answers.
    status: AtomicU16,
    /// How long an answer takes, in milliseconds; how many are being made, and how many were at the same time.
    pause: AtomicU64,
    under_way: AtomicUsize,
    most: AtomicUsize,
    taken: Mutex<Vec<(HeaderMap, String)>>,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/webhook", listener.local_addr().unwrap());
        let shared = Arc::new(Shared { status: AtomicU16::new(200), ..Shared::default() });
        let router = Router::new().fallback(take).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    fn answer_with(&self, status: u16) {
        self.shared.status.store(status, Relaxed);
    }

    /// From now on it thinks for so long, in milliseconds.
    pub fn think(&self, millis: u64) {
        self.shared.pause.store(millis, Relaxed);
    }

    /// How many messages it had at the same time at most, since this was asked last.
    pub fn most(&self) -> usize {
        self.shared.most.swap(0, Relaxed)
    }

    /// The first message with such headers, once there is one.
    async fn message(&self, is_meant: impl Fn(&HeaderMap) -> bool) -> (HeaderMap, String) {
        for count in 1.. {
            if let Some(message) = self.messages(count).await.into_iter().find(|it| is_meant(&it.0)) {
                return message;
            }
        }
        unreachable!("it has panicked before")
    }

    /// The messages, once there are so many.
    async fn messages(&self, count: usize) -> Vec<(HeaderMap, String)> {
        for _ in 0..600 {
            let taken = self.shared.taken.lock().unwrap().clone();
            if taken.len() >= count {
                return taken;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("{} messages, not {count}", self.shared.taken.lock().unwrap().len());
    }
}

async fn take(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> (StatusCode, &'static str) {
    shared.most.fetch_max(shared.under_way.fetch_add(1, Relaxed) + 1, Relaxed);
    shared.taken.lock().unwrap().push((headers, String::from_utf8(body.to_vec()).unwrap()));
    sleep(Duration::from_millis(shared.pause.load(Relaxed))).await;
    shared.under_way.fetch_sub(1, Relaxed);
    (StatusCode::from_u16(shared.status.load(Relaxed)).unwrap(), "seen")
}

/// The process started again with other limits and times of webhooks.
pub fn restart(app: &mut TestApp, limits: WebhookLimits, times: Times) {
    let leases = LeaseTimes { look: 100, renewal: 500, life: 1_300 };
    let webhooks = Webhooks::new(Parts {
        content: app.app.content.clone(),
        identity: app.app.identity.clone(),
        reach: local_reach(),
        consumers: Consumers::new(app.kit.store.clone(), app.kit.world.clone(), leases),
        world: app.kit.world.clone(),
        limits,
        times,
    });
    app.restart(|it| it.webhooks = webhooks);
}

/// An application with an active key.
pub async fn application(app: &TestApp) -> ClientId {
    let id = application_without_key(app).await;
    app.app.identity.app_key_rotate(&app.site.id, &id).await.unwrap();
    app.app.identity.app_key_activate(&app.site.id, &id, None).await.unwrap();
    id
}

async fn application_without_key(app: &TestApp) -> ClientId {
    let new = NewClient { name: "Application".to_owned(), with_secret: true, ..NewClient::default() };
    app.app.identity.client_create(&app.site.id, new).await.unwrap().0.id
}

pub async fn make(app: &TestApp, body: &Value) -> Value {
    let reply = app.app().post(ENDPOINTS, body).await;
    assert_eq!(reply.verdict(), "200", "{:?}", reply.body);
    reply.json()
}

/// A call that takes no body.
pub async fn act(client: &TestClient<'_>, path: &str) -> Reply {
    client.send(Method::POST, path, None).await
}

pub fn path(endpoint: &Value) -> String {
    format!("{ENDPOINTS}/{}", endpoint["id"].as_str().unwrap())
}

async fn patch(app: &TestApp, path: &str, body: &Value) -> Reply {
    app.app().send(Method::PATCH, path, Some(body.to_string().into())).await
}

/// A collection of items, and one of them.
pub async fn things(app: &TestApp) {
    let object = json!({ "id": "things", "fields": [{ "key": "t", "type": "TEXT" }], "permissions": {} });
    assert_eq!(app.app().post("/v2/collections", &json!({ "collection": object })).await.verdict(), "200");
}

pub async fn insert(app: &TestApp, id: &str) {
    let item = json!({ "dataCollectionId": "things", "dataItem": { "data": { "_id": id, "t": "x" } } });
    assert_eq!(app.app().post("/v2/items", &item).await.verdict(), "200");
}

/// Waits until so many rows about items can be read: transactions of other tests hold them up.
pub async fn readable(app: &TestApp, count: usize) {
    let kinds = ["data_item_created", "data_item_deleted"];
    for _ in 0..1_500 {
        let batch = app.site.outbox().read(Position::default(), &kinds, 100).await.unwrap();
        if batch.entries.len() >= count {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("never {count} rows");
}

/// The claims of a token and what they hold as text: the event's type and its body.
fn event(token: &str) -> (Value, Value) {
    let claims = token.split('.').nth(1).unwrap();
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    let data: Value = serde_json::from_str(claims["data"].as_str().unwrap()).unwrap();
    let body = serde_json::from_str(data["data"].as_str().unwrap()).unwrap();
    (data, body)
}

/// The fields of a refusal's violations.
fn faults(reply: &Reply) -> BTreeSet<String> {
    assert_eq!(reply.verdict(), "400 validationError", "{:?}", reply.body);
    let violations = reply.json()["details"]["validationError"]["fieldViolations"].as_array().unwrap().clone();
    violations.iter().map(|it| it["field"].as_str().unwrap().to_owned()).collect()
}

on_both_engines! {
    async fn endpoint_is_made_shown_changed_and_deleted(engine) {
        let app = TestApp::new(engine).await;
        let id = application(&app).await;
        let made = make(&app, &json!({ "appId": id, "url": "https://app.example.org/hook", "types": [CREATED] })).await;
        let (endpoint, secret) = (&made["endpoint"], made["secret"].as_str().unwrap());
        assert!(secret.starts_with("whsec_") && secret.len() >= 38, "{secret}");
        for (name, value) in [
            ("appId", json!(id)),
            ("url", json!("https://app.example.org/hook")),
            ("types", json!([CREATED])),
            ("environment", json!("LIVE")),
            ("format", json!("jwt")),
            ("maxBytes", json!(98_304)),
            ("timeoutMs", json!(10_000)),
            ("state", json!("ACTIVE")),
            ("reason", Value::Null),
        ] {
            assert_eq!(endpoint[name], value, "{name} of {endpoint}");
        }
        let path = path(endpoint);
        let shown = app.app().get(&path).await;
        assert!(!String::from_utf8_lossy(&shown.body).contains(&secret[6..]), "the secret is shown once");
        let shown = shown.json()["endpoint"].clone();
        assert_eq!((&shown["id"], &shown["parked"], &shown["dead"]), (&endpoint["id"], &json!(0), &json!(0)));
        assert_eq!(app.app().get(ENDPOINTS).await.json()["endpoints"][0]["id"], endpoint["id"]);

        let change = json!({ "url": "https://app.example.org/other", "types": [CREATED, DELETED], "collections": ["things"] });
        let changed = patch(&app, &path, &change).await.json()["endpoint"].clone();
        for name in ["url", "types", "collections"] {
            assert_eq!(changed[name], change[name], "{name}");
        }
        assert_eq!(changed["format"], "jwt", "what is not sent stays");
        assert_eq!(act(&app.app(), &format!("{path}/pause")).await.json()["endpoint"]["state"], "PAUSED");
        assert_eq!(app.app().get(&path).await.json()["endpoint"]["state"], "PAUSED");
        let resumed = app.app().post(&format!("{path}/resume"), &json!({ "fromNow": true })).await;
        assert_eq!(resumed.json()["endpoint"]["state"], "ACTIVE");
        let another = act(&app.app(), &format!("{path}/rotate-secret")).await;
        assert_eq!(another.headers["cache-control"], "no-store");
        assert_ne!(another.json()["secret"], secret);
        assert_eq!(app.app().delete(&path).await.json(), json!({}));
        for (method, call) in [("GET", ""), ("DELETE", ""), ("PATCH", ""), ("POST", "/pause"), ("POST", "/resume"), ("POST", "/test"), ("POST", "/replay"), ("POST", "/rotate-secret"), ("GET", "/events")] {
            let body = if call == "/replay" { json!({ "dead": true }) } else { json!({}) };
            let body = (method != "GET" && method != "DELETE").then(|| body.to_string().into());
            let reply = app.app().send(method.parse().unwrap(), &format!("{path}{call}"), body).await;
            assert_eq!(reply.verdict(), "404 NOT_FOUND", "{method} {call}");
        }
    }

    async fn endpoint_without_an_active_key_says_so(engine) {
        let app = TestApp::new(engine).await;
        let id = application_without_key(&app).await;
        let made = make(&app, &json!({ "appId": id, "url": "https://app.example.org/", "types": [CREATED] })).await;
        let reason = made["endpoint"]["reason"].as_str().unwrap();
        assert!(reason.contains("key"), "{reason}");
        let pull = app.app().post(PULL, &json!({ "appId": id, "types": [CREATED] })).await;
        assert_eq!(pull.verdict(), "404 NOT_FOUND");
    }

    async fn faults_of_an_endpoint_are_told_at_once(engine) {
        let app = TestApp::new(engine).await;
        let body = json!({
            "appId": "nobody", "url": "ftp://x", "types": ["wix.data.v2.data_item_create"], "environment": "SANDBOX",
            "format": "xml", "maxBytes": 5, "timeoutMs": 60_000, "collections": [7],
        });
        let reply = app.app().post(ENDPOINTS, &body).await;
        let found = faults(&reply);
        for name in ["url", "types", "environment", "format", "maxBytes", "timeoutMs", "collections"] {
            assert!(found.iter().any(|it| it.starts_with(name)), "{name} in {found:?}");
        }
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(text.contains("did you mean wix.data.v2.data_item_created"), "{text}");
        let id = application(&app).await;
        let reply = app.app().post(ENDPOINTS, &json!({ "appId": "nobody", "url": "https://a.example/", "types": [CREATED] })).await;
        assert!(faults(&reply).contains("appId"));
        // Nothing is told of the network that an address lies in.
        for url in ["https://10.0.0.1/", "https://169.254.169.254/latest", "http://app.example.org/", "https://user:word@a.example/"] {
            let reply = app.app().post(ENDPOINTS, &json!({ "appId": id, "url": url, "types": [CREATED] })).await;
            assert!(faults(&reply).contains("url"), "{url}");
        }
        let made = make(&app, &json!({ "appId": id, "url": "https://a.example/", "types": [CREATED] })).await;
        let path = path(&made["endpoint"]);
        assert!(faults(&patch(&app, &path, &json!({ "types": [] })).await).contains("types"));
        assert!(faults(&app.app().post(&format!("{path}/replay"), &json!({ "since": "yesterday" })).await).contains("since"));
        for member in ["fromNow", "fromnow"] {
            assert!(faults(&app.app().post(&format!("{path}/resume"), &json!({ member: 7 })).await).contains(member));
        }
        assert!(faults(&app.app().get(&format!("{path}/events?state=LOST")).await).contains("state"));
        assert!(faults(&app.app().post(PULL, &json!({ "appId": id, "types": [CREATED], "limit": 0 })).await).contains("limit"));
    }

    async fn hundred_creations_at_once_make_twenty_endpoints(engine) {
        let app = TestApp::with_nodes(engine, 3).await;
        let id = application(&app).await;
        let body = json!({ "appId": id, "url": "https://app.example.org/", "types": [CREATED] });
        let key = app.app();
        let made = futures_util::future::join_all((0..100).map(|_| key.post(ENDPOINTS, &body))).await;
        let verdicts: Vec<String> = made.iter().map(Reply::verdict).collect();
        assert_eq!(verdicts.iter().filter(|it| *it == "200").count(), 20, "{verdicts:?}");
        assert!(verdicts.iter().all(|it| it == "200" || it == "400 TOO_MANY"), "{verdicts:?}");
        let listed = key.get(ENDPOINTS).await.json()["endpoints"].as_array().unwrap().clone();
        assert_eq!(listed.len(), 20);
        // One that is deleted makes room.
        assert_eq!(key.delete(&path(&listed[0])).await.verdict(), "200");
        assert_eq!(key.post(ENDPOINTS, &body).await.verdict(), "200");
        assert_eq!(key.post(ENDPOINTS, &body).await.verdict(), "400 TOO_MANY");
    }

    async fn endpoints_of_another_site_are_not_there(engine) {
        let app = TestApp::new(engine).await;
        let id = application(&app).await;
        let made = make(&app, &json!({ "appId": id, "url": "https://app.example.org/", "types": [CREATED] })).await;
        let path = path(&made["endpoint"]);
        let other = app.kit.store.site_create("Other", &app.kit.world).await.unwrap();
        let (_, secret) = app.app.identity.api_key_create(&other.id, "other").await.unwrap();
        let other = app.with_token(secret.expose());
        assert_eq!(other.get(ENDPOINTS).await.json(), json!({ "endpoints": [] }));
        for reply in [other.get(&path).await, other.delete(&path).await, act(&other, &format!("{path}/test")).await] {
            assert_eq!(reply.verdict(), "404 NOT_FOUND");
        }
        // Its applications are not this site's.
        let foreign = other.post(ENDPOINTS, &json!({ "appId": id, "url": "https://a.example/", "types": [CREATED] })).await;
        assert!(faults(&foreign).contains("appId"));
        assert_eq!(app.app().get(&path).await.verdict(), "200");
    }

    async fn application_of_others_has_endpoints_of_its_own(engine) {
        let app = TestApp::new(engine).await;
        let id = application(&app).await;
        let ours = make(&app, &json!({ "appId": id, "url": "https://app.example.org/", "types": [CREATED] })).await;
        let partner = app.installed("site:write items:read:things").await;
        let clients = app.app.identity.client_list(&app.site.id).await.unwrap();
        let own = clients.iter().find(|it| it.is_third_party).unwrap().id.clone();
        let wish = |app: &ClientId, kind: &str, collections: Value| {
            json!({ "appId": app, "url": "https://partner.example/hook", "types": [kind], "collections": collections })
        };
        for (body, field) in [
            (wish(&id, CREATED, json!(["things"])), "appId"),
            (wish(&own, CREATED, Value::Null), "types"),
            (wish(&own, CREATED, json!(["things", "others"])), "types"),
            (wish(&own, "wix.members.v1.member_created", Value::Null), "types"),
        ] {
            assert!(faults(&partner.post(ENDPOINTS, &body).await).contains(field), "{body}");
        }
        let made = partner.post(ENDPOINTS, &wish(&own, CREATED, json!(["things"]))).await;
        assert_eq!(made.verdict(), "200", "{:?}", made.body);
        let listed = partner.get(ENDPOINTS).await.json()["endpoints"].clone();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "its own alone: {listed}");
        assert_eq!(listed[0]["id"], made.json()["endpoint"]["id"]);
        let path = path(&ours["endpoint"]);
        for reply in [partner.get(&path).await, partner.delete(&path).await, act(&partner, &format!("{path}/test")).await] {
            assert_eq!(reply.verdict(), "404 NOT_FOUND");
        }
        // Who runs the site sees both; a key that is held to scopes has none.
        assert_eq!(app.app().get(ENDPOINTS).await.json()["endpoints"].as_array().map(Vec::len), Some(2));
        let held = app.key("site:read").await;
        assert_eq!(held.get(ENDPOINTS).await.json()["endpoints"], json!([]));
        assert_eq!(held.post(ENDPOINTS, &wish(&id, CREATED, Value::Null)).await.verdict(), "403 INSUFFICIENT_SCOPE");
    }

    async fn calls_that_wait_are_bounded(engine) {
        let mut app = TestApp::new(engine).await;
        let limits = HttpLimits { webhook_pulls: 2, ..HttpLimits::default() };
        app.restart(|it| it.settings = Arc::new(Settings { limits, ..Settings::default() }));
        let id = application(&app).await;
        things(&app).await;
        let key = app.app();
        let begun = key.post(PULL, &json!({ "appId": id, "types": [CREATED] })).await.json();
        let body = json!({ "appId": id, "types": [CREATED], "after": begun["token"], "waitMs": 20_000 });
        let mut waiting = Box::pin(futures_util::future::join_all((0..2).map(|_| key.post(PULL, &body))));
        tokio::select! {
            replies = &mut waiting => panic!("nothing has happened: {replies:?}"),
            () = sleep(Duration::from_millis(300)) => {}
        }
        let refused = key.post(PULL, &body).await;
        assert_eq!(refused.verdict(), "429 THROTTLED_FEATURE");
        assert!(refused.headers.contains_key("retry-after"));
        insert(&app, "one").await;
        for reply in waiting.await {
            assert_eq!(reply.json()["messages"][0]["entityId"], "one");
        }
        // One that was left gives its place back.
        let left = json!({ "appId": id, "after": begun["token"], "types": [DELETED], "waitMs": 20_000 });
        tokio::select! {
            _ = key.post(PULL, &left) => {}
            () = sleep(Duration::from_millis(200)) => {}
        }
        assert_eq!(key.post(PULL, &body).await.verdict(), "200");
    }

    async fn what_happens_arrives_at_the_receiver(engine) {
        let app = TestApp::new(engine).await;
        let (id, receiver) = (application(&app).await, Receiver::start().await);
        things(&app).await;
        let _serving = app.app.webhooks.start();
        let of = |format: &str| json!({ "appId": id, "url": receiver.url, "types": [CREATED], "collections": ["things"], "format": format });
        let endpoint = make(&app, &of("jwt")).await["endpoint"].clone();
        insert(&app, "one").await;
        let (headers, token) = receiver.messages(1).await.remove(0);
        assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
        let (data, body) = event(&token);
        assert_eq!((&data["eventType"], &data["instanceId"]), (&json!(CREATED), &json!(app.site.id)));
        assert_eq!((&body["entityId"], &body["createdEvent"]["entity"]["data"]["t"]), (&json!("one"), &json!("x")));
        assert_eq!(headers["webhook-id"], body["id"].as_str().unwrap());
        // A deletion was not asked for; what comes next is the second item, in the other form.
        let gone = json!({ "dataCollectionId": "things", "dataItemId": "one" });
        assert_eq!(app.app().post("/v2/items/remove", &gone).await.verdict(), "200");
        app.app().delete(&path(&endpoint)).await;
        make(&app, &of("standard")).await;
        insert(&app, "two").await;
        // What the one before had begun with may still come.
        let (_, body) = receiver.message(|headers| headers["content-type"] == "application/json").await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&body["type"], &body["data"]["entityId"]), (&json!(CREATED), &json!("two")));
    }

    async fn test_message_tells_what_the_receiver_answers(engine) {
        let app = TestApp::new(engine).await;
        let (id, receiver) = (application(&app).await, Receiver::start().await);
        let made = make(&app, &json!({ "appId": id, "url": receiver.url, "types": [CREATED] })).await;
        let test = format!("{}/test", path(&made["endpoint"]));
        let outcome = act(&app.app(), &test).await.json();
        assert_eq!((&outcome["delivered"], &outcome["status"], &outcome["excerpt"], &outcome["error"]), (&json!(true), &json!(200), &json!("seen"), &Value::Null));
        assert!(outcome["ms"].is_u64(), "{outcome}");
        assert_eq!(event(&receiver.messages(1).await[0].1).0["eventType"], CREATED, "of a type that the endpoint names");
        receiver.answer_with(500);
        assert_eq!(act(&app.app(), &test).await.json()["status"], 500);
        let nowhere = patch(&app, &path(&made["endpoint"]), &json!({ "url": "http://127.0.0.1:1/" })).await;
        assert_eq!(nowhere.verdict(), "200");
        let outcome = act(&app.app(), &test).await.json();
        assert!(outcome["status"].is_null() && outcome["error"].is_string(), "{outcome}");
    }

    async fn messages_are_pulled_from_a_place_on(engine) {
        let app = TestApp::new(engine).await;
        let id = application(&app).await;
        things(&app).await;
        let pull = async |body: Value| {
            let reply = app.app().post(PULL, &body).await;
            assert_eq!((reply.verdict().as_str(), &reply.headers["cache-control"]), ("200", &"no-store".parse().unwrap()));
            reply.json()
        };
        let begun = pull(json!({ "appId": id, "types": [CREATED] })).await;
        assert_eq!((&begun["messages"], &begun["gap"]), (&json!([]), &Value::Null));
        insert(&app, "one").await;
        let first = pull(json!({ "appId": id, "types": [CREATED], "after": begun["token"], "waitMs": 20_000 })).await;
        let message = &first["messages"][0];
        assert_eq!((&message["type"], &message["entityId"]), (&json!(CREATED), &json!("one")));
        assert_eq!(event(message["body"].as_str().unwrap()).1["entityId"], "one");
        assert_eq!(message["headers"]["webhook-id"], message["id"]);
        // Who waits is answered when something happens.
        let (next, ()) = tokio::join!(pull(json!({ "appId": id, "after": first["token"], "types": [DELETED], "waitMs": 20_000 })), async {
            insert(&app, "two").await;
            let gone = json!({ "dataCollectionId": "things", "dataItemId": "one" });
            assert_eq!(app.app().post("/v2/items/remove", &gone).await.verdict(), "200");
        });
        assert_eq!(next["messages"][0]["type"], DELETED, "{next}");
        app.kit.store.log_restored(&app.site.id).await.unwrap();
        let gap = pull(json!({ "appId": id, "types": [CREATED], "after": next["token"], "waitMs": 0 })).await;
        assert_eq!(gap["gap"], "epoch", "{gap}");
        let bad = app.app().post(PULL, &json!({ "appId": id, "types": [CREATED], "after": "nonsense" })).await;
        assert!(faults(&bad).contains("after"));
    }

    async fn events_that_wait_are_listed_given_up_and_sent_again(engine) {
        let mut app = TestApp::new(engine).await;
        restart(&mut app, WebhookLimits::default(), Times { early: vec![20], parked: vec![100], ..Times::default() });
        let (id, receiver) = (application(&app).await, Receiver::start().await);
        things(&app).await;
        let made = make(&app, &json!({ "appId": id, "url": receiver.url, "types": [CREATED, DELETED] })).await;
        let path = path(&made["endpoint"]);
        act(&app.app(), &format!("{path}/pause")).await;
        insert(&app, "one").await;
        let gone = json!({ "dataCollectionId": "things", "dataItemId": "one" });
        assert_eq!(app.app().post("/v2/items/remove", &gone).await.verdict(), "200");
        let replay = async |body: Value| app.app().post(&format!("{path}/replay"), &body).await;
        readable(&app, 2).await;
        // What is sent once more to one that is paused waits: the first of its entity, and the next behind it.
        assert_eq!(replay(json!({ "since": "2020-01-01T00:00:00.000Z", "entityId": "one" })).await.json()["count"], 2);
        let events = async |query: &str| app.app().get(&format!("{path}/events{query}")).await.json();
        let (parked, held) = (events("").await, events("?state=HELD&limit=1").await);
        let (first, second) = (&parked["events"][0], &held["events"][0]);
        assert_eq!((&first["type"], &first["state"], &first["entityId"]), (&json!(CREATED), &json!("PARKED"), &json!("one")));
        assert_eq!((&second["type"], &second["state"], &second["dataCollectionId"]), (&json!(DELETED), &json!("HELD"), &json!("things")));
        assert!(first["nextAttempt"].is_string() && second["nextAttempt"].is_null(), "{first} {second}");
        let next = held["next"].as_str().unwrap();
        assert_eq!(events(&format!("?state=HELD&limit=1&after={next}")).await["events"], json!([]));
        assert_eq!(app.app().get(&path).await.json()["endpoint"]["parked"], 2);
        let of_other_site = format!("another-{}", first["id"].as_str().unwrap());
        for missing in [of_other_site.as_str(), "nonsense", &format!("{}-999999999-0", app.site.id)] {
            assert_eq!(replay(json!({ "event": missing })).await.verdict(), "404 NOT_FOUND", "{missing}");
        }
        assert_eq!(replay(json!({ "event": first["id"] })).await.json()["count"], 1);
        // It is refused to the end.
        receiver.answer_with(400);
        let _serving = app.app.webhooks.start();
        assert_eq!(app.app().post(&format!("{path}/resume"), &json!({})).await.verdict(), "200");
        let mut dead = events("?state=DEAD").await;
        for _ in 0..600 {
            if dead["events"].as_array().is_some_and(|it| !it.is_empty()) {
                break;
            }
            sleep(Duration::from_millis(50)).await;
            dead = events("?state=DEAD").await;
        }
        let given_up = &dead["events"][0];
        assert_eq!((&given_up["id"], &given_up["state"]), (&first["id"], &json!("DEAD")));
        assert!(given_up["diedDate"].is_string() && given_up["lastError"].as_str().unwrap().contains("400"), "{given_up}");
        receiver.answer_with(200);
        assert_ne!(replay(json!({ "dead": true })).await.json()["count"], 0);
    }

    async fn event_types_are_those_of_the_log(engine) {
        let app = TestApp::new(engine).await;
        let listed = app.app().get("/_api/webhooks/v1/event-types").await.json()["eventTypes"].clone();
        let of = |name: &str| listed.as_array().unwrap().iter().filter(|it| it["type"] == name).count();
        assert_eq!([of(CREATED), of("wix.data.v2.index_updated"), of("AppInstalled")], [1, 1, 1], "each once");
    }

    async fn refused_events_are_listed_and_sent_again(engine) {
        let app = TestApp::new(engine).await;
        let (id, receiver) = (application(&app).await, Receiver::start().await);
        things(&app).await;
        let _serving = app.app.webhooks.start();
        let made = make(&app, &json!({ "appId": id, "url": receiver.url, "types": [CREATED] })).await;
        let path = path(&made["endpoint"]);
        insert(&app, "one").await;
        receiver.messages(1).await;
        let page = app.app().get(&format!("{path}/events?state=DEAD&limit=5")).await.json();
        assert_eq!(page["events"], json!([]));
        // What was taken is sent once more when it is asked for.
        let replay = app.app().post(&format!("{path}/replay"), &json!({ "since": "2020-01-01T00:00:00.000Z", "types": [CREATED] })).await;
        assert_eq!(replay.verdict(), "200", "{:?}", replay.body);
        let messages = receiver.messages(2).await;
        assert_eq!(messages[0].0["webhook-id"], messages[1].0["webhook-id"]);
        assert_eq!(app.app().post(&format!("{path}/replay"), &json!({ "dead": true })).await.json()["count"], 0);
    }
}
