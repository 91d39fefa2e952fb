//! A site with an application, and receivers on this machine that answer as a test wants.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde_json::{Map, Value, json};
use std::{collections::HashMap, sync::Arc, time::Duration};
use stoa_content::{Content, ContentLimits, Request};
use stoa_identity::{
    Config, Identity,
    client::{Client, NewClient},
};
use stoa_kernel::{Caller, EndpointId, World};
use stoa_outbound::{Exceptions, Reach, ReachConfig, Recorder};
use stoa_store::{Consumers, Serving, Site, Store, outbox::LeaseTimes};
use stoa_testkit::{Engine, TestStore};
use stoa_webhooks::{Endpoint, EndpointSecret, EndpointWish, Parts, Times, WebhookLimits, Webhooks};
use tokio::{net::TcpListener, task::JoinHandle};

pub const CREATED: &str = "wix.data.v2.data_item_created";
pub const UPDATED: &str = "wix.data.v2.data_item_updated";
pub const DELETED: &str = "wix.data.v2.data_item_deleted";
pub const ITEMS: [&str; 3] = [CREATED, UPDATED, DELETED];

pub fn app() -> Caller {
    Caller::App { id: "key".into() }
}

/// Times that a test can wait for.
pub fn quick() -> Times {
    Times {
        place: 10,
        look: 50,
        early: vec![20, 40],
        parked: vec![100, 150, 200],
        probes: vec![60, 120],
        longest_wait: 400,
        ..Times::default()
    }
}

/// One process, with a site that has an application and a collection `c`.
pub struct Kit {
    pub store: TestStore,
    pub world: World,
    pub site: Arc<Site>,
    pub identity: Identity,
    pub content: Content,
    pub webhooks: Webhooks,
    pub client: Client,
    pub mail: Arc<Recorder>,
    pub serving: Option<Serving>,
}

impl Kit {
    pub async fn new(engine: Engine) -> Self {
        Self::with(engine, quick(), WebhookLimits::default()).await
    }

    /// One that sends.
    pub async fn with(engine: Engine, times: Times, limits: WebhookLimits) -> Self {
        let store = TestStore::new(engine).await;
        let (world, mail) = (World::real(), Arc::new(Recorder::default()));
        let site = store.store.site_create("Test", &world).await.unwrap();
        let (identity, content, webhooks) = open(&store.store, &world, &mail, times, limits).await;
        let client = application(&identity, &site).await;
        let serving = Some(webhooks.start());
        let kit = Self { store, world, site, identity, content, webhooks, client, mail, serving };
        kit.collection("c").await;
        kit
    }

    pub async fn collection(&self, id: &str) {
        let level = "ANYONE";
        let levels = json!({ "itemRead": level, "itemInsert": level, "itemUpdate": level, "itemRemove": level });
        let object = json!({ "id": id, "fields": [{ "key": "n", "type": "NUMBER" }], "dataPermissions": levels });
        self.content.collection_create(&self.site, &app(), &object).await.unwrap();
    }

    /// An endpoint for a receiver, with these members of its wish besides.
    pub async fn endpoint(&self, receiver: &Receiver, types: &[&str], more: Value) -> (Endpoint, EndpointSecret) {
        let mut wish = json!({ "appId": self.client.id, "url": receiver.url, "types": types });
        more.as_object().unwrap().iter().for_each(|(name, it)| wish[name.as_str()] = it.clone());
        let wish = EndpointWish::parse(&wish).unwrap();
        self.webhooks.endpoint_create(&self.site, &app(), wish).await.unwrap()
    }

    pub async fn insert(&self, id: &str, n: i64) {
        self.insert_into("c", json!({ "_id": id, "n": n })).await;
    }

    pub async fn insert_into(&self, collection: &str, data: Value) {
        let body = json!({ "dataCollectionId": collection, "dataItem": { "data": data } }).to_string();
        let request = Request::parse(body.as_bytes()).unwrap();
        self.content.item_insert(&self.site, &app(), &request).await.unwrap();
    }

    pub async fn insert_many(&self, ids: impl Iterator<Item = String>) {
        let items: Vec<Value> = ids.map(|id| json!({ "data": { "_id": id, "n": 0 } })).collect();
        let body = json!({ "dataCollectionId": "c", "dataItems": items }).to_string();
        self.content.item_bulk_insert(&self.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
    }

    /// Inserts items or writes over them, in one statement.
    pub async fn save_many(&self, ids: impl Iterator<Item = String>, n: usize) {
        let items: Vec<Value> = ids.map(|id| json!({ "data": { "_id": id, "n": n } })).collect();
        let body = json!({ "dataCollectionId": "c", "dataItems": items }).to_string();
        self.content.item_bulk_save(&self.site, &app(), &Request::parse(body.as_bytes()).unwrap()).await.unwrap();
    }

    pub async fn update(&self, id: &str, n: i64) {
        let data = json!({ "_id": id, "n": n });
        let body = json!({ "dataCollectionId": "c", "dataItem": { "data": data } }).to_string();
        let request = Request::parse(body.as_bytes()).unwrap();
        self.content.item_update(&self.site, &app(), &request).await.unwrap();
    }

    pub async fn remove(&self, id: &str) {
        let body = json!({ "dataCollectionId": "c", "dataItemId": id }).to_string();
        let request = Request::parse(body.as_bytes()).unwrap();
        self.content.item_remove(&self.site, &app(), &request).await.unwrap();
    }

    /// The endpoint as it is shown.
    pub async fn status(&self, id: &EndpointId) -> Value {
        self.webhooks.endpoint_get(&self.site, &app(), id).await.unwrap().to_json()
    }

    /// Waits until the endpoint is shown so.
    pub async fn until(&self, id: &EndpointId, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..1_500 {
            let status = self.status(id).await;
            if is_so(&status) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never {what}: {}", self.status(id).await);
    }

    /// Waits until this process sends for no endpoint: it learns of a pause a moment after the answer.
    pub async fn until_idle(&self) {
        for _ in 0..1_500 {
            if self.webhooks.counts().served == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it still sends: {:?}", self.webhooks.counts());
    }

    /// A further node on the same data, on PostgreSQL.
    pub async fn node(&self, store: &Arc<Store>) -> Webhooks {
        let (_, _, webhooks) = open(store, &self.world, &self.mail, quick(), WebhookLimits::default()).await;
        webhooks
    }
}

/// What a process has on a store.
async fn open(
    store: &Arc<Store>,
    world: &World,
    mail: &Arc<Recorder>,
    times: Times,
    limits: WebhookLimits,
) -> (Identity, Content, Webhooks) {
    let exceptions = Exceptions { loopback: true, ..Exceptions::default() };
    let reach = Reach::new(&ReachConfig { exceptions, ..ReachConfig::default() }, world.clone()).unwrap();
    let opened = Identity::open(store.clone(), world.clone(), mail.clone(), reach.clone(), Config::default()).await;
    let (identity, content) = (opened.unwrap(), Content::new(world.clone(), ContentLimits::default()));
    identity.url_set("https://stoa.example");
    let leases = LeaseTimes { look: 40, renewal: 150, life: 400 };
    let webhooks = Webhooks::new(Parts {
        content: content.clone(),
        identity: identity.clone(),
        reach,
        consumers: Consumers::new(store.clone(), world.clone(), leases),
        world: world.clone(),
        limits,
        times,
    });
    (identity, content, webhooks)
}

/// An application with an active key.
pub async fn application(identity: &Identity, site: &Site) -> Client {
    let new = NewClient { name: "App".to_owned(), with_secret: true, ..NewClient::default() };
    let (client, _) = identity.client_create(&site.id, new).await.unwrap();
    identity.app_key_rotate(&site.id, &client.id).await.unwrap();
    identity.app_key_activate(&site.id, &client.id, None).await.unwrap();
    client
}

/// What a receiver answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reply {
    Status(u16),
    /// With a header.
    With(u16, &'static str, &'static str),
    /// After this long.
    Late(u64),
    /// Takes the request and closes the connection.
    Drop,
}

/// What a receiver got.
#[derive(Debug, Clone)]
pub struct Got {
    pub headers: HeaderMap,
    pub body: String,
    pub reply: Reply,
}

type Answers = Arc<dyn Fn(&Got) -> Reply + Send + Sync>;

#[derive(Clone)]
struct Seen {
    got: Arc<Mutex<Vec<Got>>>,
    answers: Arc<Mutex<Answers>>,
}

/// A receiver on this machine.
pub struct Receiver {
    pub url: String,
    seen: Seen,
    task: JoinHandle<()>,
}

impl Receiver {
    /// One that answers 200.
    pub async fn new() -> Self {
        Self::answering(|_| Reply::Status(200)).await
    }

    pub async fn answering(answers: impl Fn(&Got) -> Reply + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", answers).await
    }

    /// One at an address, for example where another one was.
    pub async fn at(address: &str, answers: impl Fn(&Got) -> Reply + Send + Sync + 'static) -> Self {
        let seen = Seen { got: Arc::default(), answers: Arc::new(Mutex::new(Arc::new(answers))) };
        let listener = TcpListener::bind(address).await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = Router::new().route("/hook", post(receive)).with_state(seen.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, seen, task }
    }

    /// Its host and port.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/hook")
    }

    pub fn answer(&self, answers: impl Fn(&Got) -> Reply + Send + Sync + 'static) {
        *self.seen.answers.lock() = Arc::new(answers);
    }

    /// What arrived, taken or not.
    pub fn got(&self) -> Vec<Got> {
        self.seen.got.lock().clone()
    }

    /// The events that were taken, in the order of their first arrival: id, type, entity and body.
    pub fn taken(&self) -> Vec<Event> {
        let (mut ids, mut events) = (std::collections::HashSet::new(), Vec::new());
        for got in self.got() {
            let is_taken = matches!(got.reply, Reply::Status(200..300) | Reply::With(200..300, ..));
            let event = Event::of(&got);
            if is_taken && ids.insert(event.id.clone()) {
                events.push(event);
            }
        }
        events
    }

    /// Waits until so many different events were taken.
    pub async fn until(&self, count: usize) -> Vec<Event> {
        for _ in 0..3_000 + count {
            // Of thousands none is looked at before there can be so many.
            if self.seen.got.lock().len() >= count {
                let taken = self.taken();
                if taken.len() >= count {
                    return taken;
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{} of {count} events arrived: {:?}", self.taken().len(), self.taken());
    }

    /// Waits until so many requests came.
    pub async fn until_got(&self, count: usize) -> Vec<Got> {
        for _ in 0..1_500 {
            let got = self.got();
            if got.len() >= count {
                return got;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{} of {count} requests came", self.got().len());
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn receive(State(seen): State<Seen>, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8(body.to_vec()).unwrap();
    let mut got = Got { headers, body, reply: Reply::Drop };
    let answers = seen.answers.lock().clone();
    let reply = answers(&got);
    got.reply = reply;
    seen.got.lock().push(got);
    let status = |it: u16| StatusCode::from_u16(it).unwrap();
    match reply {
        Reply::Status(it) => (status(it), "what the receiver says").into_response(),
        Reply::With(it, name, value) => {
            let mut response = status(it).into_response();
            response.headers_mut().insert(name, HeaderValue::from_static(value));
            response
        }
        Reply::Late(millis) => {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            StatusCode::OK.into_response()
        }
        // What ends a handler ends the connection.
        Reply::Drop => std::panic::resume_unwind(Box::new("the receiver dies")),
    }
}

/// An event as a receiver reads it, whichever the format.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: String,
    pub event_type: String,
    pub entity: String,
    pub body: Value,
}

impl Event {
    pub fn of(got: &Got) -> Self {
        let text = |it: &Value| it.as_str().unwrap().to_owned();
        let id = got.headers["webhook-id"].to_str().unwrap().to_owned();
        let (event_type, body) = match got.headers["content-type"].to_str().unwrap() {
            "application/json" => {
                let body: Value = serde_json::from_str(&got.body).unwrap();
                (text(&body["type"]), body["data"].clone())
            }
            _ => {
                let data: Value = serde_json::from_str(claims(&got.body)["data"].as_str().unwrap()).unwrap();
                (text(&data["eventType"]), serde_json::from_str(data["data"].as_str().unwrap()).unwrap())
            }
        };
        Self { id, event_type, entity: body["entityId"].as_str().unwrap_or_default().to_owned(), body }
    }
}

/// The claims of a token, unverified.
pub fn claims(token: &str) -> Map<String, Value> {
    let claims = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
}

/// The claims of a token that is signed by a key of the application.
pub async fn verified(kit: &Kit, token: &str) -> Map<String, Value> {
    let parts: Vec<&str> = token.split('.').collect();
    assert_eq!(parts.len(), 3, "{token}");
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let header: Value = serde_json::from_slice(&decode(parts[0])).unwrap();
    assert_eq!((&header["alg"], &header["typ"]), (&json!("RS256"), &json!("JWT")));
    let keys = kit.identity.app_jwks(&kit.client.id).await.unwrap();
    let key = keys["keys"].as_array().unwrap().iter().find(|it| it["kid"] == header["kid"]).expect("a key of ours");
    let (n, e) = (decode(key["n"].as_str().unwrap()), decode(key["e"].as_str().unwrap()));
    let signed = format!("{}.{}", parts[0], parts[1]);
    let key = RsaPublicKeyComponents { n, e };
    key.verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &decode(parts[2])).expect("the signature is good");
    claims(token)
}

/// Whether each entity's events came in the order in which they happened.
pub fn in_order(events: &[Event]) {
    let mut last: HashMap<&str, i64> = HashMap::new();
    for event in events {
        let sequence: i64 = event.body["entityEventSequence"].as_str().unwrap().parse().unwrap();
        let before = last.insert(&event.entity, sequence);
        assert!(before.is_none_or(|it| it < sequence), "{} came after what happened later", event.id);
    }
}
