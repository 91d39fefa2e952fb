//! A mixed write load of clients that know what must be there.
//!
//! Each writer has items, tags and links of its own and is alone with them. After an acknowledgement
//! its state is the one after the write; after a refusal the one before; when it heard nothing, or that
//! the outcome is unknown, it asks what is there, and that must be one of the two as a whole. So it does
//! with each server that it meets, before it writes anything that could hide what got lost.
//!
//! A bulk call is one transaction (docs/protocol/content.md §3.4): all its entries are there or none is.

use crate::process::{Deployment, Server};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_kernel::World;
use stoa_sql::{Table, params};
use stoa_store::{ReaderPool, Store, boxed};

const WRITERS: usize = 4;
/// Things a writer has at most: all are read to reconcile what is there.
const MANY: usize = 120;

/// What is there of one writer.
#[derive(Debug, Clone, Default, PartialEq)]
struct State {
    things: BTreeMap<String, Thing>,
    tags: BTreeSet<String>,
    links: BTreeSet<(String, String)>,
}

/// What writes leave in an item. A patch counts `v` up, so one that is lost or carried out twice shows
/// until the item is replaced, notes the number and appends it to the log.
#[derive(Debug, Clone, Default, PartialEq)]
struct Thing {
    v: i64,
    note: Option<i64>,
    log: Vec<i64>,
}

/// The whole load: writers between the runs of a server.
pub struct Load {
    key: String,
    writers: Vec<Writer>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    acknowledged: AtomicUsize,
    /// How often each refusal was answered.
    refusals: Mutex<BTreeMap<String, usize>>,
}

/// The load while it runs.
pub struct Running {
    threads: Vec<std::thread::JoinHandle<Writer>>,
    key: String,
    shared: Arc<Shared>,
}

impl Load {
    /// Makes the two collections; `things` refers to `tags`.
    pub fn new(server: &Server, key: &str) -> Self {
        let levels = json!({ "read": "ANYONE", "insert": "ADMIN", "update": "ADMIN", "remove": "ADMIN" });
        let to_tags = json!({ "multiReference": {
            "referencedCollectionId": "tags", "referencingFieldKey": "things", "referencingDisplayName": "things" } });
        let fields = json!([{ "key": "v", "type": "NUMBER" }, { "key": "tags", "type": "MULTI_REFERENCE", "typeMetadata": to_tags }]);
        for (id, fields) in [("tags", json!([{ "key": "v", "type": "NUMBER" }])), ("things", fields)] {
            let object = json!({ "id": id, "displayName": id, "fields": fields, "permissions": levels });
            let made =
                crate::process::post(&format!("{}/v2/collections", server.url), key, &json!({ "collection": object }));
            assert_eq!(made.as_ref().unwrap().0, 200, "{made:?}");
        }
        let writers = (0..WRITERS).map(|n| Writer::new(n, key)).collect();
        Self { key: key.to_owned(), writers, shared: Arc::default() }
    }

    pub fn start(self, server: &Server) -> Running {
        self.shared.stop.store(false, Ordering::Relaxed);
        let shared = self.shared;
        let start = |mut writer: Writer| {
            let (shared, url) = (shared.clone(), server.url.clone());
            writer.is_sure = false;
            std::thread::spawn(move || {
                while !shared.stop.load(Ordering::Relaxed) {
                    writer.turn(&url, &shared);
                }
                writer
            })
        };
        Running { threads: self.writers.into_iter().map(start).collect(), key: self.key, shared: shared.clone() }
    }

    pub fn acknowledged(&self) -> usize {
        self.shared.acknowledged.load(Ordering::Relaxed)
    }

    /// Every writer finds what it expects, through the server.
    pub fn reconcile(&mut self, server: &Server) {
        for writer in &mut self.writers {
            assert!(writer.reconcile(&server.url), "the server answers");
        }
    }

    /// No server runs: exactly the expected rows are in the tables, and every link has both its ends.
    pub fn check_tables(&self, deployment: &Deployment) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (things, tags, links) = runtime.block_on(tables(deployment));
        let all = |pick: fn(&State) -> Vec<String>| {
            self.writers.iter().flat_map(|it| pick(&it.state)).collect::<BTreeSet<_>>()
        };
        assert_eq!(things, all(|it| it.things.keys().cloned().collect()));
        assert_eq!(tags, all(|it| it.tags.iter().cloned().collect()));
        assert!(links.iter().all(|(thing, tag)| things.contains(thing) && tags.contains(tag)), "no link dangles");
        assert_eq!(links, self.writers.iter().flat_map(|it| it.state.links.iter().cloned()).collect());
    }
}

impl Running {
    pub fn stop(self) -> Load {
        self.shared.stop.store(true, Ordering::Relaxed);
        let writers = self.threads.into_iter().map(|it| it.join().unwrap()).collect();
        Load { key: self.key, writers, shared: self.shared }
    }

    pub fn refusals(&self) -> BTreeMap<String, usize> {
        self.shared.refusals.lock().unwrap().clone()
    }

    /// Waits until this many more writes are acknowledged.
    pub fn wait_for_progress(&self, more: usize) {
        let goal = self.shared.acknowledged.load(Ordering::Relaxed) + more;
        for _ in 0..3000 {
            if self.shared.acknowledged.load(Ordering::Relaxed) >= goal {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no write was acknowledged for thirty seconds: {:?}", self.refusals());
    }
}

async fn tables(deployment: &Deployment) -> (BTreeSet<String>, BTreeSet<String>, BTreeSet<(String, String)>) {
    let store = Store::open(&deployment.store_config()).await.unwrap();
    let (id, _) = store.sites().await.unwrap().remove(0);
    let site = store.site(&id).await.unwrap();
    let (key, number, dialect) = (id.clone(), site.number, site.dialect());
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let mut ids = Vec::new();
            for name in ["things", "tags"] {
                let sql = "select number from stoa.collection where site = $1 and id = $2";
                let table = tx.row(sql, &params![&key, name], |row| row.get(0)).await?.unwrap();
                let sql = format!("select id from {}", dialect.table(Table { site: number, number: table }));
                ids.push(tx.rows(&sql, &[], |row| row.get::<String>(0)).await?.into_iter().collect());
            }
            let sql = "select referring, referenced from stoa.item_link where site = $1";
            let links = tx.rows(sql, &params![&key], |row| Ok((row.get(0)?, row.get(1)?))).await?;
            Ok((ids.remove(0), ids.remove(0), links.into_iter().collect()))
        })
    });
    let found = read.await.unwrap();
    store.close();
    found
}

struct Writer {
    name: String,
    key: String,
    agent: ureq::Agent,
    state: State,
    /// What is there if the last write happened; it was not answered.
    pending: Option<State>,
    /// Whether this server was asked what is there, and nothing is pending.
    is_sure: bool,
    made: usize,
    random: u64,
}

/// A write, ready to be sent.
struct Write {
    path: &'static str,
    body: Value,
    /// Entries of a bulk call.
    entries: Option<usize>,
    after: State,
}

impl Writer {
    fn new(n: usize, key: &str) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = config.timeout_global(Some(Duration::from_secs(60))).build().into();
        let random = u64::from_le_bytes(World::real().bytes::<8>()) | 1;
        Self {
            name: format!("w{n}-"),
            key: key.to_owned(),
            agent,
            state: State::default(),
            pending: None,
            is_sure: false,
            made: 0,
            random,
        }
    }

    fn turn(&mut self, url: &str, shared: &Shared) {
        if !self.is_sure {
            if !self.reconcile(url) {
                std::thread::sleep(Duration::from_millis(10));
            }
            return;
        }
        let write = self.choose();
        match self.post(&format!("{url}{}", write.path), &write.body) {
            None => self.doubt(write.after),
            Some((200, answer)) => {
                let done = answer["bulkActionMetadata"]["totalSuccesses"].as_u64().map(|it| it as usize);
                assert!(write.entries.is_none() || write.entries == done, "{}: {answer}", write.path);
                self.state = write.after;
                shared.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            Some((status, answer)) => {
                assert_eq!(status, 503, "{}: {answer}", write.path);
                let code = answer["details"]["applicationError"]["code"].as_str().unwrap_or_else(|| panic!("{answer}"));
                *shared.refusals.lock().unwrap().entry(code.to_owned()).or_default() += 1;
                if code == "OUTCOME_UNKNOWN" {
                    self.doubt(write.after);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// The write happened or it didn't.
    fn doubt(&mut self, after: State) {
        self.pending = Some(after);
        self.is_sure = false;
    }

    /// Finds out what is there; false when the server doesn't tell.
    fn reconcile(&mut self, url: &str) -> bool {
        let Some(found) = self.read(url) else { return false };
        let is_done = self.pending.as_ref() == Some(&found);
        assert!(
            is_done || found == self.state,
            "{}: acknowledged {:?}, tried {:?}, found {found:?}",
            self.name,
            self.state,
            self.pending
        );
        (self.state, self.pending, self.is_sure) = (found, None, true);
        true
    }

    /// What there is of this writer.
    fn read(&self, url: &str) -> Option<State> {
        let mut found = State::default();
        for tag in self.items(url, "tags", json!([]))? {
            found.tags.insert(text(&tag["id"]));
        }
        for thing in self.items(url, "things", json!([{ "field": "tags", "limit": 1000 }]))? {
            let (id, data) = (text(&thing["id"]), &thing["data"]);
            found.links.extend(list(&data["tags"]).map(|tag| (id.clone(), text(&tag["_id"]))));
            let log = list(&data["log"]).map(|it| it.as_i64().unwrap()).collect();
            found.things.insert(id, Thing { v: data["v"].as_i64().unwrap(), note: data["note"]["n"].as_i64(), log });
        }
        Some(found)
    }

    fn items(&self, url: &str, collection: &str, includes: Value) -> Option<Vec<Value>> {
        let filter = json!({ "_id": { "$startsWith": self.name } });
        let query = json!({ "filter": filter, "paging": { "limit": 1000 } });
        let body = json!({ "dataCollectionId": collection, "query": query, "includeReferences": includes });
        let (status, answer) = self.post(&format!("{url}/v2/items/query"), &body)?;
        (status == 200).then(|| answer["dataItems"].as_array().unwrap().clone())
    }

    fn choose(&mut self) -> Write {
        let is_full = self.state.things.len() > MANY;
        match self.below(100) {
            0..25 if !is_full => self.insert("/v2/items", "things", None),
            25..40 if !is_full => self.insert("/v2/bulk/items/insert", "things", Some(8)),
            40..48 if !self.state.things.is_empty() => self.update("/v2/items/update", None),
            48..54 if self.state.things.len() > 5 => self.update("/v2/bulk/items/update", Some(5)),
            54..63 if !self.state.things.is_empty() => self.patch("/v2/items/patch", None),
            63..70 if self.state.things.len() > 5 => self.patch("/v2/bulk/items/patch", Some(5)),
            70..78 if !self.state.things.is_empty() => self.remove("things", 1),
            78..84 if self.state.things.len() > 4 => self.remove("things", 4),
            84..86 if self.state.tags.len() > 3 => self.remove("tags", 1),
            86..94 if !self.state.things.is_empty() && self.state.tags.len() > 3 => self.link(),
            94..97 if self.state.links.len() > 1 => self.unlink(),
            _ if is_full => self.remove("things", 4),
            _ => self.insert("/v2/items", "tags", None),
        }
    }

    fn insert(&mut self, path: &'static str, collection: &str, entries: Option<usize>) -> Write {
        let mut after = self.state.clone();
        let items: Vec<_> = (0..entries.unwrap_or(1))
            .map(|_| {
                self.made += 1;
                let id = format!("{}{:07}", self.name, self.made);
                match collection {
                    "tags" => drop(after.tags.insert(id.clone())),
                    _ => drop(after.things.insert(id.clone(), Thing { v: 1, ..Thing::default() })),
                }
                item(&id, 1)
            })
            .collect();
        Write { path, body: body(collection, items, entries), entries, after }
    }

    fn update(&mut self, path: &'static str, entries: Option<usize>) -> Write {
        let mut after = self.state.clone();
        let ids = self.some_things(entries.unwrap_or(1));
        let items = ids.iter().map(|id| {
            let thing = after.things.get_mut(id).unwrap();
            *thing = Thing { v: thing.v + 1, ..Thing::default() };
            item(id, thing.v)
        });
        let items: Vec<_> = items.collect();
        Write { path, body: body("things", items, entries), entries, after }
    }

    fn patch(&mut self, path: &'static str, entries: Option<usize>) -> Write {
        let mut after = self.state.clone();
        let mut ids = self.some_things(entries.unwrap_or(1));
        // Twice in a call: the second finds what the first left.
        if entries.is_some() {
            ids[1] = ids[0].clone();
        }
        let patches = ids.iter().map(|id| {
            let thing = after.things.get_mut(id).unwrap();
            thing.v += 1;
            thing.note = Some(thing.v);
            thing.log.push(thing.v);
            json!({ "dataItemId": id, "fieldModifications": [
                { "fieldPath": "v", "action": "INCREMENT_FIELD", "incrementFieldOptions": { "value": 1 } },
                { "fieldPath": "note.n", "action": "SET_FIELD", "setFieldOptions": { "value": thing.v } },
                { "fieldPath": "log", "action": "APPEND_TO_ARRAY", "appendToArrayOptions": { "value": thing.v } },
            ]})
        });
        let patches: Vec<_> = patches.collect();
        let body = match entries {
            None => json!({ "dataCollectionId": "things", "patch": patches[0] }),
            Some(_) => json!({ "dataCollectionId": "things", "patches": patches }),
        };
        Write { path, body, entries, after }
    }

    fn remove(&mut self, collection: &str, count: usize) -> Write {
        let mut after = self.state.clone();
        let ids = if collection == "tags" { self.some_tags(count) } else { self.some_things(count) };
        for id in &ids {
            after.things.remove(id);
            after.tags.remove(id);
            after.links.retain(|it| it.0 != *id && it.1 != *id);
        }
        let body = json!({ "dataCollectionId": collection, "dataItemIds": ids });
        Write { path: "/v2/bulk/items/remove", body, entries: Some(count), after }
    }

    fn link(&mut self) -> Write {
        let (thing, mut tags) = (self.some_things(1).remove(0), self.some_tags(3));
        // A link that is there is refused.
        tags.retain(|it| !self.state.links.contains(&(thing.clone(), it.clone())));
        if tags.is_empty() {
            return self.insert("/v2/items", "tags", None);
        }
        let mut after = self.state.clone();
        after.links.extend(tags.iter().map(|it| (thing.clone(), it.clone())));
        let links: Vec<_> = tags.iter().map(|it| reference(&thing, it)).collect();
        let body = json!({ "dataCollectionId": "things", "dataItemReferences": links });
        Write { path: "/v2/bulk/items/insert-references", body, entries: None, after }
    }

    fn unlink(&mut self) -> Write {
        let mut after = self.state.clone();
        let at = self.below(after.links.len() - 1);
        let gone: Vec<_> = after.links.iter().skip(at).take(2).cloned().collect();
        for it in &gone {
            after.links.remove(it);
        }
        let links: Vec<_> = gone.iter().map(|it| reference(&it.0, &it.1)).collect();
        let body = json!({ "dataCollectionId": "things", "dataItemReferences": links });
        Write { path: "/v2/bulk/items/remove-references", body, entries: None, after }
    }

    fn some_things(&mut self, count: usize) -> Vec<String> {
        let from = self.below(self.state.things.len() - count + 1);
        self.state.things.keys().skip(from).take(count).cloned().collect()
    }

    fn some_tags(&mut self, count: usize) -> Vec<String> {
        let from = self.below(self.state.tags.len() - count + 1);
        self.state.tags.iter().skip(from).take(count).cloned().collect()
    }

    fn below(&mut self, most: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % most as u64) as usize
    }

    fn post(&self, url: &str, body: &Value) -> Option<(u16, Value)> {
        let request =
            self.agent.post(url).header("authorization", &self.key).header("content-type", "application/json");
        let mut response = request.send(body.to_string()).ok()?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(64 << 20).read_to_string().ok()?;
        Some((status, serde_json::from_str(&text).ok()?))
    }
}

fn item(id: &str, version: i64) -> Value {
    json!({ "data": { "_id": id, "v": version, "text": "x".repeat(200) } })
}

fn body(collection: &str, items: Vec<Value>, entries: Option<usize>) -> Value {
    match (entries, items.as_slice()) {
        (None, [item]) => json!({ "dataCollectionId": collection, "dataItem": item }),
        _ => json!({ "dataCollectionId": collection, "dataItems": items }),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The elements of a list that may be missing.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn reference(thing: &str, tag: &str) -> Value {
    json!({ "referringItemFieldName": "tags", "referringItemId": thing, "referencedItemId": tag })
}
