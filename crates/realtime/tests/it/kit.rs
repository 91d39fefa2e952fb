//! Nodes with a site, people whose rights change, and a client that keeps what it is told.

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use stoa_content::{Content, ContentLimits, Request};
use stoa_kernel::{Caller, Code, Fault, Network, Result, Role, World};
use stoa_realtime::{Asker, EventStream, Realtime, RealtimeLimits, StreamOpening, StreamRequest};
use stoa_store::{Area, Site, TxFuture, boxed, setting};
use stoa_testkit::{Engine, Node, TestStore};
use tokio::sync::oneshot;

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(20);
/// When nothing comes for so long, nothing is on its way.
pub const QUIET: Duration = Duration::from_millis(700);

pub struct Kit {
    pub test: TestStore,
    pub nodes: Vec<Process>,
}

/// A process with its own caches.
pub struct Process {
    pub site: Arc<Site>,
    pub content: Content,
    pub realtime: Realtime,
    node: Node,
}

/// Somebody who may have another role tomorrow, or none.
#[derive(Clone)]
pub struct Person(Arc<Mutex<Option<Caller>>>);

/// A client: what it holds of each subscription.
pub struct Client {
    site: Arc<Site>,
    pub stream: EventStream,
    pub held: BTreeMap<String, Held>,
    pub messages: VecDeque<Message>,
    /// The last id, which is good for all subscriptions once they are ready.
    pub place: Option<String>,
    pub is_over: bool,
    pub bye: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Held {
    pub items: BTreeMap<String, Value>,
    pub is_ready: bool,
    pub total: Option<i64>,
    /// The reason of a resync, or the code of a failure.
    pub ended: Option<String>,
    pub place: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub event: String,
    pub id: Option<String>,
    pub data: Value,
}

pub fn app() -> Caller {
    Caller::App { id: "key".into() }
}

pub fn editor() -> Caller {
    Caller::User { id: "edda".into(), role: Role::Editor, session: "s".into() }
}

pub fn member(id: &str) -> Caller {
    Caller::Member { id: id.into(), session: format!("session of {id}").into(), client: None }
}

pub fn visitor() -> Caller {
    Caller::Visitor { id: "v".into(), client: None }
}

pub fn address(n: u32) -> Network {
    Network::V4(n)
}

impl Person {
    pub fn new(caller: Caller) -> Self {
        Self(Arc::new(Mutex::new(Some(caller))))
    }

    /// Somebody who is another from now on, or nobody. It is to be announced.
    pub fn becomes(&self, caller: Option<Caller>) {
        *self.0.lock() = caller;
    }
}

impl Asker for Person {
    fn caller<'t>(&'t self) -> TxFuture<'t, Caller> {
        boxed!(self.0.lock().clone().ok_or_else(|| Fault::new(Code::Unauthenticated)))
    }
}

impl Kit {
    pub async fn new(engine: Engine) -> Self {
        Self::with(engine, 1, RealtimeLimits::default()).await
    }

    pub async fn with(engine: Engine, nodes: usize, limits: RealtimeLimits) -> Self {
        let test = TestStore::new(engine).await;
        let site = test.store.site_create("test", &test.world).await.unwrap();
        let mut processes = Vec::new();
        for node in test.nodes(nodes).await {
            let site = node.store.site(&site.id).await.unwrap();
            let content = Content::new(test.world.clone(), ContentLimits::default());
            content.hear(&node.store).await.unwrap();
            let realtime = Realtime::new(node.store.clone(), content.clone(), test.world.clone(), limits.clone());
            processes.push(Process { site, content, realtime, node });
        }
        Self { test, nodes: processes }
    }

    pub fn node(&self) -> &Process {
        &self.nodes[0]
    }

    pub fn world(&self) -> &World {
        &self.test.world
    }

    /// Opens a stream of these subscriptions on a node.
    pub async fn open_on(&self, node: usize, person: &Person, subscriptions: Value) -> Result<Client> {
        let process = &self.nodes[node];
        process.open(self.world(), person, subscriptions, address(1), None).await
    }

    pub async fn open(&self, caller: Caller, subscriptions: Value) -> Client {
        self.open_on(0, &Person::new(caller), subscriptions).await.unwrap()
    }

    /// Opens a stream and reads until its subscriptions have begun.
    pub async fn follow(&self, caller: Caller, subscriptions: Value) -> Client {
        let mut client = self.open(caller, subscriptions).await;
        client.begun().await;
        client
    }
}

impl Process {
    pub async fn open(
        &self,
        world: &World,
        person: &Person,
        subscriptions: Value,
        network: Network,
        session: Option<&str>,
    ) -> Result<Client> {
        let body = json!({ "subscriptions": subscriptions });
        let request = StreamRequest::parse(&body, self.realtime.limits(), self.content.limits())?;
        let opening = StreamOpening {
            site: self.site.clone(),
            asker: Arc::new(person.clone()),
            network,
            origin: Some(network),
            session: session.map(str::to_owned),
            request,
            until: world.now() + 1_800_000,
        };
        let held = subscriptions.as_array().unwrap().iter();
        let held = held.map(|it| (it["key"].as_str().unwrap().to_owned(), Held::default())).collect();
        let stream = self.realtime.open(opening).await?;
        Ok(Client {
            site: self.site.clone(),
            stream,
            held,
            messages: VecDeque::new(),
            place: None,
            is_over: false,
            bye: None,
        })
    }

    /// A collection `id` with these levels that can be followed.
    pub async fn create(&self, id: &str, read: &str, members: Value) {
        let levels =
            json!({ "itemRead": read, "itemInsert": "ANYONE", "itemUpdate": "ANYONE", "itemRemove": "ANYONE" });
        let fields = json!([
            { "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }, { "key": "color", "type": "TEXT" },
        ]);
        let mut object = json!({ "id": id, "fields": fields, "dataPermissions": levels, "realtime": true });
        members.as_object().unwrap().iter().for_each(|(name, it)| object[name.as_str()] = it.clone());
        self.content.collection_create(&self.site, &app(), &object).await.unwrap();
    }

    /// A call by the last part of its path; what it answers is of no interest here.
    pub async fn call(&self, caller: &Caller, path: &str, body: Value) -> Result<()> {
        let body = body.to_string();
        let (content, site, request) = (&self.content, &self.site, Request::parse(body.as_bytes())?);
        match path {
            "insert" => content.item_insert(site, caller, &request).await.map(drop),
            "update" => content.item_update(site, caller, &request).await.map(drop),
            "patch" => content.item_patch(site, caller, &request).await.map(drop),
            "remove" => content.item_remove(site, caller, &request).await.map(drop),
            "bulk-insert" => content.item_bulk_insert(site, caller, &request).await.map(drop),
            "bulk-save" => content.item_bulk_save(site, caller, &request).await.map(drop),
            "bulk-remove" => content.item_bulk_remove(site, caller, &request).await.map(drop),
            "truncate" => content.item_truncate(site, caller, &request).await,
            other => panic!("no call {other}"),
        }
    }

    pub async fn put(&self, caller: &Caller, path: &str, collection: &str, data: Value) -> Result<()> {
        let mut item = json!({ "data": data });
        item["id"] = item["data"]["_id"].clone();
        self.call(caller, path, json!({ "dataCollectionId": collection, "dataItem": item })).await
    }

    pub async fn insert(&self, collection: &str, data: Value) {
        self.put(&app(), "insert", collection, data).await.unwrap();
    }

    pub async fn update(&self, collection: &str, data: Value) {
        self.put(&app(), "update", collection, data).await.unwrap();
    }

    pub async fn remove(&self, collection: &str, id: &str) {
        let body = json!({ "dataCollectionId": collection, "dataItemId": id });
        self.call(&app(), "remove", body).await.unwrap();
    }

    pub async fn bulk(&self, path: &str, collection: &str, items: impl IntoIterator<Item = Value>) {
        let items: Vec<Value> = items.into_iter().map(|it| json!({ "id": it["_id"], "data": it })).collect();
        self.call(&app(), path, json!({ "dataCollectionId": collection, "dataItems": items })).await.unwrap();
    }

    /// What a query answers, by id.
    pub async fn query(&self, caller: &Caller, collection: &str, filter: &Value) -> Result<BTreeMap<String, Value>> {
        let request =
            json!({ "dataCollectionId": collection, "query": { "filter": filter, "paging": { "limit": 1000 } } });
        let Value::Object(members) = request else { unreachable!("an object") };
        let page = self.content.item_query(&self.site, caller, None, &members).await?;
        let items: Vec<Value> = serde_json::from_str(&format!("[{}]", page.elements)).unwrap();
        Ok(items.into_iter().map(|it| (it["id"].as_str().unwrap().to_owned(), it["data"].clone())).collect())
    }

    /// Gives a collection a plugin that is still to be built, as one from an older version may have it.
    pub async fn keep_plugin(&self, collection: &str, plugin: Value) {
        let kept = self.site.write_with((collection.to_owned(), plugin), |tx, (collection, plugin)| {
            boxed!({
                let sql = "select definition from stoa.collection where id = $1";
                let definition = tx.row(sql, &[collection.as_str().into()], |row| row.get::<String>(0)).await?;
                let mut definition: Value = serde_json::from_str(&definition.unwrap()).unwrap();
                definition["plugins"] = json!([plugin]);
                let sql = "update stoa.collection set definition = $1 where id = $2";
                tx.execute(sql, &[definition.to_string().into(), collection.as_str().into()]).await?;
                Ok(())
            })
        });
        kept.await.unwrap();
    }

    /// Says that somebody's rights are others now.
    pub async fn announce(&self) {
        self.site.withdrawals().announce(Area::Identity).await.unwrap();
    }

    /// Holds no lease any more and hears of no withdrawal, as one that has lost touch.
    pub async fn lose_touch(&self) {
        self.node.store.leave().await;
    }

    /// On PostgreSQL a transaction that has written and is running until the guard is gone: what commits after this can't be
    /// read from the log until then.
    pub async fn hold_readers_up(&self) -> Option<oneshot::Sender<()>> {
        if !self.site.is_shared() {
            return None;
        }
        let (begun, has_begun) = oneshot::channel();
        let (guard, is_over) = oneshot::channel::<()>();
        tokio::spawn(write_until(self.site.clone(), begun, is_over));
        has_begun.await.unwrap();
        Some(guard)
    }

    pub async fn levels(&self, collection: &str, read: &str) {
        let object = json!({ "id": collection, "dataPermissions": { "itemRead": read } });
        self.content.collection_patch(&self.site, &app(), &object).await.unwrap();
    }
}

impl Client {
    /// The next message, signs of life apart; nothing when none comes in this time, or the stream is over.
    pub async fn next(&mut self, within: Duration) -> Option<Message> {
        tokio::time::timeout(within, self.read()).await.ok().flatten()
    }

    async fn read(&mut self) -> Option<Message> {
        loop {
            let Some(bytes) = self.stream.next().await else {
                self.is_over = true;
                return None;
            };
            if let Some(message) = self.take(std::str::from_utf8(&bytes).unwrap()) {
                return Some(message);
            }
        }
    }

    /// The next message, which comes.
    pub async fn expect(&mut self) -> Message {
        self.next(PATIENCE).await.expect("a message")
    }

    /// Reads until all subscriptions have begun, or ended.
    pub async fn begun(&mut self) {
        while self.held.values().any(|it| !it.is_ready && it.ended.is_none()) {
            self.expect().await;
        }
    }

    /// Reads until nothing more comes, once all that was written can be read: on PostgreSQL a transaction of another test
    /// holds readers up.
    pub async fn quiet(&mut self) {
        for _ in 0..1_000 {
            let (outbox, now) = (self.site.outbox(), 0);
            let last = outbox.status(now).await.unwrap().last.unwrap_or_default();
            if outbox.end().await.unwrap().position.sequence() >= last {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        while self.next(QUIET).await.is_some() {}
    }

    /// The only subscription, after nothing more came.
    pub async fn now(&mut self) -> &Held {
        self.quiet().await;
        self.held.values().next().unwrap()
    }

    /// Takes a message in. A sign of life may move the place on.
    fn take(&mut self, text: &str) -> Option<Message> {
        assert!(text.ends_with("\n\n"), "{text:?}");
        let (mut event, mut id, mut data) = (None, None, None);
        for line in text.trim_end().lines() {
            let (name, value) = line.split_once(':').unwrap();
            let value = value.trim_start().to_owned();
            match name {
                "event" => event = Some(value),
                "id" => id = Some(value),
                "data" => data = Some(serde_json::from_str::<Value>(&value).unwrap()),
                "" => assert_eq!(value, "", "a sign of life"),
                other => panic!("no line {other}"),
            }
        }
        self.place = id.clone().or(self.place.take());
        let message = Message { event: event?, id, data: data.unwrap() };
        self.apply(&message);
        if message.event == "change" && message.id.is_some() {
            for held in self.held.values_mut().filter(|it| it.is_ready && it.ended.is_none()) {
                held.place.clone_from(&message.id);
            }
        }
        self.messages.push_back(message.clone());
        Some(message)
    }

    /// What a client does: puts what enters and changes, and lets go of what leaves.
    fn apply(&mut self, message: &Message) {
        if message.event == "bye" {
            self.bye = message.data["reconnectMs"].as_i64();
            return;
        }
        let held = self.held.get_mut(message.data["key"].as_str().unwrap()).unwrap();
        assert!(held.ended.is_none(), "after its end a subscription is told nothing: {message:?}");
        if message.event == "change" && !held.is_ready {
            assert_eq!(message.id, None, "before all have begun no place is good for all");
        }
        if message.event == "ready" {
            held.place.clone_from(&message.id);
        }
        let data = &message.data;
        match message.event.as_str() {
            "snapshot" => {
                assert!(!held.is_ready);
                for item in data["items"].as_array().unwrap() {
                    held.items.insert(item["_id"].as_str().unwrap().to_owned(), item.clone());
                }
            }
            "ready" => (held.is_ready, held.total) = (true, data["total"].as_i64()),
            "change" => {
                let id = data["id"].as_str().unwrap().to_owned();
                match data["type"].as_str().unwrap() {
                    "leave" => {
                        assert!(data.get("item").is_none());
                        held.items.remove(&id);
                    }
                    _ => {
                        assert_eq!(data["item"]["_id"], id.as_str());
                        held.items.insert(id, data["item"].clone());
                    }
                }
            }
            "resync" => held.ended = data["reason"].as_str().map(str::to_owned),
            "failed" => held.ended = data["code"].as_str().map(str::to_owned),
            other => panic!("no event {other}"),
        }
    }

    /// What was told of items, in short.
    pub fn changes(&self) -> Vec<String> {
        let short = |it: &Message| {
            let text = |name: &str| it.data[name].as_str().unwrap_or_default().to_owned();
            let deleted = if it.data["deleted"] == true { " deleted" } else { "" };
            format!("{} {}{deleted}", text("type"), text("id"))
        };
        self.messages.iter().filter(|it| it.event == "change").map(short).collect()
    }

    /// How the only subscription ended.
    pub fn ended(&self) -> Option<&str> {
        self.held.values().next().unwrap().ended.as_deref()
    }
}

/// Writes something that nobody asks for in a transaction that runs until then.
async fn write_until(site: Arc<Site>, begun: oneshot::Sender<()>, is_over: oneshot::Receiver<()>) {
    let signals = Mutex::new(Some((begun, is_over)));
    let write = site.write_with((site.id.clone(), signals), |tx, (site, signals)| {
        boxed!({
            setting::put(tx, site, "of no consequence", "1".to_owned()).await?;
            let signals = signals.lock().take();
            if let Some((begun, is_over)) = signals {
                begun.send(()).unwrap();
                let _ = is_over.await;
            }
            Ok(())
        })
    });
    write.await.unwrap();
}

/// One subscription `a` with a snapshot.
pub fn with_snapshot(collection: &str, members: Value) -> Value {
    one(collection, members, json!({ "snapshot": true }))
}

/// The same that goes on from a place.
pub fn from_place(collection: &str, members: Value, place: &str) -> Value {
    one(collection, members, json!({ "resume": place }))
}

fn one(collection: &str, members: Value, begin: Value) -> Value {
    let mut all = Map::from_iter([("key".to_owned(), json!("a")), ("dataCollectionId".to_owned(), json!(collection))]);
    for it in [members, begin] {
        all.extend(it.as_object().unwrap().clone());
    }
    json!([all])
}
