//! Webhooks against random writers, while receivers behave badly, nodes are killed, endpoints are paused, disabled and
//! resumed, and keys and secrets are replaced (decision 29). Whatever happens, every committed change arrives at least
//! once, those of an item in their order counting first arrivals, nothing that was rolled back, and nothing of another site.

use crate::webhook_receiver::{Arrival, Receiver};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::{hmac, signature};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_content::{Content, ContentLimits, Request};
use stoa_identity::{Config as IdentityConfig, Identity, client::NewClient};
use stoa_kernel::{Caller, ClientId, Code, EndpointId, Fault, World};
use stoa_outbound::Recorder;
use stoa_store::{Config, Consumers, Serving, Site, Store, boxed, outbox, outbox::LeaseTimes};
use stoa_testkit::{Engine, TestStore, local_reach, rounds};
use stoa_webhooks::{EndpointState, EndpointWish, Parts, Resumption, Times, WebhookLimits, Webhooks};
use tokio::runtime::Runtime;

const LEASES: LeaseTimes = LeaseTimes { look: 20, renewal: 100, life: 700 };
const TYPES: [&str; 3] =
    ["wix.data.v2.data_item_created", "wix.data.v2.data_item_updated", "wix.data.v2.data_item_deleted"];
const COLLECTION: &str = "things";
/// What happens in a round.
const STEPS: usize = 40;
/// Writers of a burst, how many items each has to itself, and what it does then.
const WRITERS: u64 = 3;
const ITEMS: u64 = 3;
const WRITES: u64 = 5;
const SITES: u64 = 2;

#[test]
fn webhook_model_holds_on_sqlite() {
    (0..rounds(2)).for_each(|seed| check(Engine::Sqlite, seed as u64));
}

#[test]
fn webhook_model_holds_on_postgres() {
    (0..rounds(2)).for_each(|seed| check(Engine::Postgres, seed as u64));
}

fn check(engine: Engine, seed: u64) {
    let runtime = Runtime::new().unwrap();
    let mut model = Model::new(&runtime, engine, seed);
    for _ in 0..STEPS {
        model.step();
    }
    model.finish();
}

pub fn draw(world: &World, below: u64) -> u64 {
    u64::from_le_bytes(world.bytes::<8>()) % below
}

fn caller() -> Caller {
    Caller::App { id: "model".into() }
}

/// Soon enough for a test; nothing is given up.
fn times() -> Times {
    Times {
        place: 20,
        look: 30,
        early: vec![20, 60],
        parked: vec![100; 10_000],
        probes: vec![50, 100, 200],
        longest_wait: 1_000,
        ..Times::default()
    }
}

/// Of a site and an item: the changes that were committed, in order, as the type's index in [`TYPES`] and the value of `n`.
type Committed = Arc<Mutex<BTreeMap<(String, String), Vec<(usize, Option<u64>)>>>>;

struct Model<'r> {
    runtime: &'r Runtime,
    seed: u64,
    chance: World,
    kit: TestStore,
    /// What writes, and manages endpoints.
    home: Parts,
    sites: Vec<Watched>,
    nodes: Vec<Node>,
    committed: Committed,
    next: u64,
}

/// A site with its endpoints.
struct Watched {
    site: Arc<Site>,
    app: ClientId,
    endpoints: Vec<Watching>,
}

struct Watching {
    id: EndpointId,
    is_standard: bool,
    receiver: Receiver,
    /// All that it had.
    secrets: Mutex<Vec<String>>,
}

/// A node with a runtime of its own: killed, its tasks end with it, and nothing is given back.
struct Node {
    runtime: Runtime,
    _serving: Serving,
    _directory: Option<tempfile::TempDir>,
}

impl Node {
    /// On PostgreSQL a process of its own. On SQLite there is one process, of which only what sends is killed.
    fn start(kit: &TestStore, home: &Parts) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let directory = kit.config.database_url.as_ref().map(|_| tempfile::tempdir().unwrap());
        let serving = runtime.block_on(async {
            let parts = match &directory {
                None => Parts { consumers: Consumers::new(kit.store.clone(), World::real(), LEASES), ..home.clone() },
                Some(it) => {
                    let config = Config { data: it.path().to_owned(), ..kit.config.clone() };
                    parts(Arc::new(Store::open(&config).await.unwrap())).await
                }
            };
            Webhooks::new(parts).start()
        });
        Self { runtime, _serving: serving, _directory: directory }
    }

    fn kill(self) {
        self.runtime.shutdown_background();
    }
}

/// What a node is made of.
async fn parts(store: Arc<Store>) -> Parts {
    let (world, mail) = (World::real(), Arc::new(Recorder::default()));
    let opened = Identity::open(store.clone(), world.clone(), mail, local_reach(), IdentityConfig::default());
    let (identity, content) = (opened.await.unwrap(), Content::new(world.clone(), ContentLimits::default()));
    content.keep_standing(identity.standing());
    content.hear(&store).await.unwrap();
    Parts {
        content,
        identity,
        reach: local_reach(),
        consumers: Consumers::new(store, world.clone(), LEASES),
        world,
        limits: WebhookLimits::default(),
        times: times(),
    }
}

impl<'r> Model<'r> {
    fn new(runtime: &'r Runtime, engine: Engine, seed: u64) -> Self {
        let kit = runtime.block_on(TestStore::new(engine));
        let chance = World::fixed(0, seed.wrapping_mul(7_919).wrapping_add(31)).0;
        let home = runtime.block_on(parts(kit.store.clone()));
        let sites =
            (0..SITES).map(|n| runtime.block_on(Watched::make(&kit, &home, seed * 100 + n * 10))).collect::<Vec<_>>();
        let count = if engine == Engine::Postgres { 3 } else { 1 };
        let nodes = (0..count).map(|_| Node::start(&kit, &home)).collect();
        Self { runtime, seed, chance, kit, home, sites, nodes, committed: Arc::default(), next: 0 }
    }

    fn draw(&self, below: u64) -> u64 {
        draw(&self.chance, below)
    }

    fn webhooks(&self) -> Webhooks {
        Webhooks::new(self.home.clone())
    }

    fn step(&mut self) {
        match self.draw(40) {
            0..16 => self.write(),
            16..22 => std::thread::sleep(Duration::from_millis(self.draw(200))),
            22..26 => self.kill(),
            26..30 => self.pause(),
            30..36 => self.resume(),
            36 => self.rotate_key(),
            37 => self.rotate_secret(),
            _ => self.prune(),
        }
    }

    /// Writers side by side, each at a site and with items of its own.
    fn write(&mut self) {
        let first = self.next;
        self.next += WRITERS * WRITES;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| Writer {
                content: self.home.content.clone(),
                site: self.sites[self.draw(SITES) as usize].site.clone(),
                chance: World::fixed(0, self.draw(u64::MAX)).0,
                committed: self.committed.clone(),
                writer,
                first: first + writer * WRITES,
            })
            .collect();
        self.runtime.block_on(async {
            let writing: Vec<_> = writers.into_iter().map(|it| tokio::spawn(it.write())).collect();
            for it in writing {
                it.await.unwrap();
            }
        });
    }

    /// Kills a node at whatever it does, and starts another.
    fn kill(&mut self) {
        let place = self.draw(self.nodes.len() as u64) as usize;
        self.nodes.swap_remove(place).kill();
        self.nodes.push(Node::start(&self.kit, &self.home));
    }

    fn any(&self) -> (&Watched, &Watching) {
        let site = &self.sites[self.draw(SITES) as usize];
        (site, &site.endpoints[self.draw(site.endpoints.len() as u64) as usize])
    }

    fn pause(&self) {
        let (watched, endpoint) = self.any();
        let paused = self.webhooks();
        self.runtime.block_on(paused.endpoint_pause(&watched.site, &caller(), &endpoint.id)).unwrap();
    }

    fn resume(&self) {
        let (watched, endpoint) = self.any();
        let resumed = self.webhooks();
        self.runtime
            .block_on(resumed.endpoint_resume(&watched.site, &caller(), &endpoint.id, Resumption::default()))
            .unwrap();
    }

    fn rotate_key(&self) {
        let watched = &self.sites[self.draw(SITES) as usize];
        self.runtime.block_on(watched.next_key(&self.home.identity));
    }

    fn rotate_secret(&self) {
        let (watched, endpoint) = self.any();
        let rotated = self.webhooks();
        let secret =
            self.runtime.block_on(rotated.endpoint_secret_rotate(&watched.site, &caller(), &endpoint.id)).unwrap();
        endpoint.secrets.lock().unwrap().push(secret.expose().to_owned());
    }

    fn prune(&self) {
        let site = &self.sites[self.draw(SITES) as usize].site;
        self.runtime.block_on(site.outbox().prune(self.home.world.now())).unwrap();
    }

    /// Lets all receivers take everything, waits until they have it, and compares.
    fn finish(self) {
        let webhooks = self.webhooks();
        for watched in &self.sites {
            for it in &watched.endpoints {
                it.receiver.improve();
                self.runtime
                    .block_on(webhooks.endpoint_resume(&watched.site, &caller(), &it.id, Resumption::default()))
                    .unwrap();
            }
        }
        let committed = std::mem::take(&mut *self.committed.lock().unwrap());
        for watched in &self.sites {
            let keys = self.runtime.block_on(self.home.identity.app_jwks(&watched.app)).unwrap();
            let of_site = committed.iter().filter(|it| it.0.0 == watched.site.id.as_str());
            let wanted: BTreeMap<String, Vec<_>> =
                of_site.map(|((_, item), changes)| (item.clone(), changes.clone())).collect();
            for (n, endpoint) in watched.endpoints.iter().enumerate() {
                if let Err(why) = endpoint.wait(&wanted).and_then(|()| endpoint.check(watched, &wanted, &keys)) {
                    let status =
                        self.runtime.block_on(webhooks.endpoint_get(&watched.site, &caller(), &endpoint.id)).unwrap();
                    panic!("seed {}, endpoint {n} of {}: {why}\n{}", self.seed, watched.site.id, status.to_json());
                }
            }
            for status in self.runtime.block_on(webhooks.endpoint_list(&watched.site, &caller())).unwrap() {
                assert_eq!((status.endpoint.state, status.dead), (EndpointState::Active, 0), "seed {}", self.seed);
            }
        }
        for node in self.nodes {
            node.kill();
        }
    }
}

impl Watched {
    /// A site with an application and an endpoint of each format.
    async fn make(kit: &TestStore, home: &Parts, seed: u64) -> Self {
        let site = kit.store.site_create("Test", &home.world).await.unwrap();
        let collection = json!({
            "id": COLLECTION, "fields": [{ "key": "n", "type": "NUMBER" }],
            "permissions": { "insert": "ANYONE", "update": "ANYONE", "remove": "ANYONE", "read": "ANYONE" },
        });
        home.content.collection_create(&site, &caller(), &collection).await.unwrap();
        let new = NewClient { name: "Receiver".to_owned(), with_secret: true, ..NewClient::default() };
        let (client, _) = home.identity.client_create(&site.id, new).await.unwrap();
        let mut watched = Self { site, app: client.id, endpoints: Vec::new() };
        watched.next_key(&home.identity).await;
        for (n, format) in ["jwt", "standard"].into_iter().enumerate() {
            let receiver = Receiver::start(seed + n as u64).await;
            let wish = EndpointWish::parse(&json!({
                "appId": watched.app, "url": receiver.url(), "types": TYPES, "format": format, "timeoutMs": 1_000,
            }));
            let webhooks = Webhooks::new(home.clone());
            let (endpoint, secret) = webhooks.endpoint_create(&watched.site, &caller(), wish.unwrap()).await.unwrap();
            watched.endpoints.push(Watching {
                id: endpoint.id,
                is_standard: format == "standard",
                receiver,
                secrets: Mutex::new(vec![secret.expose().to_owned()]),
            });
        }
        watched
    }

    async fn next_key(&self, identity: &Identity) {
        identity.app_key_rotate(&self.site.id, &self.app).await.unwrap();
        identity.app_key_activate(&self.site.id, &self.app, None).await.unwrap();
    }
}

/// Changes items that no other writer changes at the time.
struct Writer {
    content: Content,
    site: Arc<Site>,
    chance: World,
    committed: Committed,
    writer: u64,
    first: u64,
}

impl Writer {
    async fn write(self) {
        for n in self.first..self.first + WRITES {
            let items: HashSet<u64> = (0..=draw(&self.chance, 2)).map(|_| draw(&self.chance, ITEMS)).collect();
            let items: Vec<String> =
                items.into_iter().map(|it| format!("{}-{}-{it}", self.site.id, self.writer)).collect();
            match draw(&self.chance, 12) {
                0 => self.undo(&items[0]).await,
                1..4 => self.remove(&items).await,
                _ => self.save(&items, n).await,
            }
        }
    }

    async fn save(&self, items: &[String], n: u64) {
        // Some are larger than what is sent whole.
        let pad = "\"".repeat(if draw(&self.chance, 10) == 0 { 60_000 } else { 0 });
        let bodies: Vec<Value> = items.iter().map(|id| json!({ "_id": id, "n": n, "pad": pad })).collect();
        let body = json!({ "dataCollectionId": COLLECTION, "dataItems": bodies.iter().map(|it| json!({ "data": it, "id": it["_id"] })).collect::<Vec<_>>() });
        let body = body.to_string();
        let request = Request::parse(body.as_bytes()).unwrap();
        self.content.item_bulk_save(&self.site, &caller(), &request).await.unwrap();
        for id in items {
            self.note(id, |is_there| Some((usize::from(is_there), Some(n))));
        }
    }

    async fn remove(&self, items: &[String]) {
        let body = json!({ "dataCollectionId": COLLECTION, "dataItemIds": items }).to_string();
        let request = Request::parse(body.as_bytes()).unwrap();
        self.content.item_bulk_remove(&self.site, &caller(), &request).await.unwrap();
        for id in items {
            self.note(id, |is_there| is_there.then_some((2, None)));
        }
    }

    /// A write that tells the log of an item and is rolled back.
    async fn undo(&self, item: &str) {
        let payload = json!({
            "collection": COLLECTION, "identity": { "type": "APP", "id": "model" },
            "items": [{ "_id": item, "n": "undone" }],
        });
        let undone = self.site.write_with((self.site.id.clone(), payload.to_string()), |tx, (site, payload)| {
            boxed!({
                outbox::put(tx, site, "data_item_created", payload.clone(), 1).await?;
                Err::<(), _>(Fault::new(Code::NotFound))
            })
        });
        assert_eq!(undone.await.unwrap_err().code(), Code::NotFound);
    }

    /// Writes down a change, by whether the item was there before it.
    fn note(&self, id: &str, change: impl FnOnce(bool) -> Option<(usize, Option<u64>)>) {
        let mut committed = self.committed.lock().unwrap();
        let changes = committed.entry((self.site.id.to_string(), id.to_owned())).or_default();
        let is_there = changes.last().is_some_and(|it| it.0 < 2);
        changes.extend(change(is_there));
    }
}

/// An event as it arrived.
struct Event {
    id: String,
    of_type: usize,
    item: String,
    /// Nothing where the item's data were left out.
    n: Option<u64>,
    is_taken: bool,
}

impl Watching {
    /// Waits until so many events were taken.
    fn wait(&self, wanted: &BTreeMap<String, Vec<(usize, Option<u64>)>>) -> Result<(), String> {
        let count: usize = wanted.values().map(Vec::len).sum();
        let mut taken = 0;
        for _ in 0..1_500 {
            let arrivals = self.receiver.arrivals();
            taken =
                arrivals.iter().filter(|it| it.is_taken).map(|it| &it.head["webhook-id"]).collect::<HashSet<_>>().len();
            if taken >= count {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("{taken} of {count} events were taken"))
    }

    /// Whether the site's changes arrived, those of an item in their order, and nothing else.
    fn check(
        &self,
        watched: &Watched,
        wanted: &BTreeMap<String, Vec<(usize, Option<u64>)>>,
        keys: &Value,
    ) -> Result<(), String> {
        let (mut seen, mut taken) = (HashSet::new(), HashSet::new());
        let mut found: BTreeMap<String, Vec<(usize, Option<u64>)>> = BTreeMap::new();
        for arrival in self.receiver.arrivals() {
            let event = self.read(&arrival, watched, keys)?;
            if event.is_taken {
                taken.insert(event.id.clone());
            }
            if seen.insert(event.id) {
                found.entry(event.item).or_default().push((event.of_type, event.n));
            }
        }
        if taken != seen {
            return Err(format!("{} events arrived, {} were taken", seen.len(), taken.len()));
        }
        for (item, changes) in wanted.iter().filter(|it| !it.1.is_empty()) {
            let arrived = found.remove(item).unwrap_or_default();
            let mut pairs = arrived.iter().zip(changes);
            let fits = pairs.all(|(is, was)| is.0 == was.0 && (is.1.is_none() || is.1 == was.1));
            if arrived.len() != changes.len() || !fits {
                return Err(format!("{item}: committed {changes:?}, arrived {arrived:?}"));
            }
        }
        if found.is_empty() { Ok(()) } else { Err(format!("never committed: {found:?}")) }
    }

    /// An arrival, whose signatures must be of the site's own.
    fn read(&self, arrival: &Arrival, watched: &Watched, keys: &Value) -> Result<Event, String> {
        let Arrival { head, body, is_taken } = arrival;
        if !self.secrets.lock().unwrap().iter().any(|it| is_signed(it, head, body)) {
            return Err(format!("no secret signed {head:?}"));
        }
        let (event_type, event) = match self.is_standard {
            true => {
                let body: Value = serde_json::from_str(body).map_err(|it| it.to_string())?;
                (body["type"].as_str().unwrap_or_default().to_owned(), body["data"].clone())
            }
            false => {
                let claims = verified(body, keys).ok_or("no key signed the token")?;
                let data: Value = serde_json::from_str(claims["data"].as_str().unwrap_or_default()).unwrap();
                if data["instanceId"] != json!(watched.site.id) || claims["aud"] != json!(watched.app) {
                    return Err(format!("of another site: {data}"));
                }
                let event = serde_json::from_str(data["data"].as_str().unwrap_or_default()).unwrap();
                (data["eventType"].as_str().unwrap_or_default().to_owned(), event)
            }
        };
        let of_type =
            TYPES.iter().position(|it| *it == event_type).ok_or_else(|| format!("not named: {event_type}"))?;
        let entity = [&event["createdEvent"]["entity"], &event["updatedEvent"]["currentEntity"]][of_type.min(1)];
        let id = event["id"].as_str().unwrap_or_default().to_owned();
        if head.get("webhook-id") != Some(&id) {
            return Err(format!("another id: {event}"));
        }
        let item = event["entityId"].as_str().unwrap_or_default().to_owned();
        Ok(Event { id, of_type, item, n: entity["data"]["n"].as_u64(), is_taken: *is_taken })
    }
}

/// Whether a secret made one of the signatures of a request (Standard Webhooks).
fn is_signed(secret: &str, head: &std::collections::HashMap<String, String>, body: &str) -> bool {
    let key = STANDARD.decode(secret.trim_start_matches("whsec_")).unwrap();
    let signed = format!("{}.{}.{body}", head["webhook-id"], head["webhook-timestamp"]);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes());
    let wanted = format!("v1,{}", STANDARD.encode(tag));
    head["webhook-signature"].split(' ').any(|it| it == wanted)
}

/// The claims of a token that one of these keys signed.
fn verified(token: &str, keys: &Value) -> Option<Value> {
    let (signed, signature) = token.rsplit_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let bytes = |key: &Value, name: &str| URL_SAFE_NO_PAD.decode(key[name].as_str().unwrap_or_default()).unwrap();
    keys["keys"].as_array()?.iter().find(|key| {
        let public = signature::RsaPublicKeyComponents { n: bytes(key, "n"), e: bytes(key, "e") };
        public.verify(&signature::RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &signature).is_ok()
    })?;
    let claims = URL_SAFE_NO_PAD.decode(signed.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&claims).ok()
}
