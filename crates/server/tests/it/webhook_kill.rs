//! The program is killed (SIGKILL) again and again while clients write and it sends to a webhook endpoint. Every change
//! that was committed arrives at least once, those of an item in their order counting first arrivals, and nothing that was
//! not committed. (`tests/webhook_model.rs` draws what receivers do, and much else, within one process.)

use crate::{
    process::{Deployment, Server, all_things, make_things, post},
    webhooks::read,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::Write as _,
    net::TcpListener,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::{JoinHandle, sleep},
    time::Duration,
};
use stoa_kernel::World;
use stoa_testkit::{Engine, rounds};

const TYPES: [&str; 3] = ["data_item_created", "data_item_updated", "data_item_deleted"];
const WRITERS: usize = 3;
/// Items that a writer changes by turns.
const ITEMS: usize = 4;
/// One of so many arrivals is refused, so never three in a row: the endpoint stays active.
const REFUSED: usize = 20;

#[test]
fn webhooks_of_a_killed_program_on_sqlite() {
    check(Engine::Sqlite, 1, rounds(6));
}

#[test]
fn webhooks_of_killed_nodes_on_postgres() {
    check(Engine::Postgres, 3, rounds(5));
}

fn check(engine: Engine, count: usize, kills: usize) {
    let deployment = Deployment::new(engine);
    let key = deployment.site_with_things();
    deployment.json(&["client", "create", "--name", "Journal", "--secret"]);
    let receiver = Receiver::start();
    let mut nodes = Nodes::start(&deployment, count);
    make_things(&nodes.servers[0], &key);
    let (url, types) = (receiver.url.as_str(), TYPES.join(","));
    deployment.json(&["webhook", "create", "--url", url, "--types", &types, "--format", "standard"]);

    let load = Load::start(&nodes, &key);
    for _ in 0..kills {
        load.wait_for_progress(5 + below(30));
        sleep(Duration::from_millis(below(60) as u64));
        nodes.kill_one();
    }
    load.wait_for_progress(5);
    let (acknowledged, items) = load.stop();
    assert!(acknowledged > 5 * kills, "the writers got somewhere: {acknowledged} acknowledged");
    compare(&receiver, &items, || all_things(&nodes.servers[0], &key).into_iter().collect());
}

fn below(most: usize) -> usize {
    u64::from_le_bytes(World::real().bytes::<8>()) as usize % most
}

/// Waits until everything has arrived and compares.
fn compare(receiver: &Receiver, items: &BTreeMap<String, Item>, things: impl Fn() -> HashMap<String, i64>) {
    let mut told = String::new();
    // A node that is gone is replaced within 15 s, and what was refused is sent again after 2.
    for _ in 0..600 {
        // What a killed node had handed to the database may be carried out later: what is there decides.
        let wanted = committed(items, &things());
        match receiver.difference(&wanted) {
            None => {
                sleep(Duration::from_millis(300));
                assert_eq!(receiver.difference(&committed(items, &things())), None, "something arrived afterwards");
                return;
            }
            Some(it) => told = it,
        }
        sleep(Duration::from_millis(100));
    }
    panic!("{told}");
}

/// A change of an item: the type's place in [`TYPES`] and, but for a deletion, the value of `n`, which no other has.
type Change = (usize, Option<i64>);

#[derive(Default)]
struct Item {
    /// What was acknowledged.
    changes: Vec<Change>,
    /// The last change, of which nothing was heard.
    doubtful: Option<Change>,
}

impl Item {
    fn is_there(&self) -> bool {
        self.changes.last().is_some_and(|it| it.0 < 2)
    }
}

/// The changes of each item that were committed, by what is there in the end.
fn committed(items: &BTreeMap<String, Item>, things: &HashMap<String, i64>) -> BTreeMap<String, Vec<Change>> {
    let of_item = |(id, item): (&String, &Item)| {
        let mut changes = item.changes.clone();
        let found = things.get(id).copied();
        if let Some(it) = item.doubtful.filter(|it| it.1 == found) {
            changes.push(it);
        }
        let last = changes.last().and_then(|it| it.1);
        assert_eq!(last, found, "{id}: what was acknowledged is there: {changes:?}");
        (!changes.is_empty()).then(|| (id.clone(), changes))
    };
    items.iter().filter_map(of_item).collect()
}

/// The program: once on SQLite, as nodes with a directory each on PostgreSQL.
struct Nodes<'d> {
    deployment: &'d Deployment,
    servers: Vec<Server>,
    beside: Vec<tempfile::TempDir>,
    /// Addresses; nothing while a node is away.
    urls: Arc<Mutex<Vec<Option<String>>>>,
}

impl<'d> Nodes<'d> {
    fn start(deployment: &'d Deployment, count: usize) -> Self {
        let beside = (1..count).map(|_| tempfile::tempdir().unwrap()).collect();
        let mut it = Self { deployment, servers: Vec::new(), beside, urls: Arc::default() };
        for n in 0..count {
            let server = it.serve(n);
            it.urls.lock().unwrap().push(Some(server.url.clone()));
            it.servers.push(server);
        }
        it
    }

    fn serve(&self, n: usize) -> Server {
        let data = if n == 0 { self.deployment.data() } else { self.beside[n - 1].path() };
        self.deployment.serve_at(data)
    }

    fn kill_one(&mut self) {
        let n = below(self.servers.len());
        // First it is killed, at whatever it does; then nobody writes to it.
        self.servers[n].kill();
        self.urls.lock().unwrap()[n] = None;
        self.servers[n] = self.serve(n);
        self.urls.lock().unwrap()[n] = Some(self.servers[n].url.clone());
    }
}

/// Writers, each alone with its items.
struct Load {
    threads: Vec<JoinHandle<BTreeMap<String, Item>>>,
    acknowledged: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Load {
    fn start(nodes: &Nodes<'_>, key: &str) -> Self {
        let (acknowledged, is_over) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let start = |n: usize| {
            let (urls, key) = (nodes.urls.clone(), key.to_owned());
            let mut writer = Writer { name: n, key, made: 0, next: 0, now: Vec::new(), items: BTreeMap::new() };
            let (acknowledged, is_over) = (acknowledged.clone(), is_over.clone());
            std::thread::spawn(move || {
                while !is_over.load(Relaxed) {
                    let url = {
                        let urls = urls.lock().unwrap();
                        urls[below(urls.len())].clone()
                    };
                    match url {
                        Some(url) => _ = acknowledged.fetch_add(usize::from(writer.turn(&url)), Relaxed),
                        None => sleep(Duration::from_millis(5)),
                    }
                }
                writer.items
            })
        };
        Self { threads: (0..WRITERS).map(start).collect(), acknowledged, is_over }
    }

    fn wait_for_progress(&self, more: usize) {
        let goal = self.acknowledged.load(Relaxed) + more;
        for _ in 0..3_000 {
            if self.acknowledged.load(Relaxed) >= goal {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("nothing is acknowledged any more");
    }

    fn stop(self) -> (usize, BTreeMap<String, Item>) {
        self.is_over.store(true, Relaxed);
        let items = self.threads.into_iter().flat_map(|it| it.join().unwrap()).collect();
        (self.acknowledged.load(Relaxed), items)
    }
}

struct Writer {
    name: usize,
    key: String,
    made: usize,
    /// The next value of `n`.
    next: i64,
    /// The items that it changes.
    now: Vec<String>,
    items: BTreeMap<String, Item>,
}

impl Writer {
    /// Writes once; whether it was acknowledged.
    fn turn(&mut self, url: &str) -> bool {
        while self.now.len() < ITEMS {
            let id = format!("w{}-{:05}", self.name, self.made);
            self.made += 1;
            self.items.insert(id.clone(), Item::default());
            self.now.push(id);
        }
        let ids: Vec<String> = match below(3) {
            0 => self.now[below(ITEMS)..].to_vec(),
            _ => vec![self.now[below(ITEMS)].clone()],
        };
        match below(10) {
            0..7 => self.save(url, &ids),
            7..9 => self.remove(url, &ids),
            _ => self.insert(url, &ids[0]),
        }
    }

    /// In one transaction.
    fn save(&mut self, url: &str, ids: &[String]) -> bool {
        let (mut items, mut changes) = (Vec::new(), Vec::new());
        for id in ids {
            self.next += 1;
            let is_there = self.items[id].is_there();
            items.push(json!({ "data": { "_id": id, "n": self.next } }));
            changes.push((id.clone(), (usize::from(is_there), Some(self.next))));
        }
        let body = json!({ "dataCollectionId": "things", "dataItems": items });
        self.note(post(&format!("{url}/v2/bulk/items/save"), &self.key, &body), changes)
    }

    fn remove(&mut self, url: &str, ids: &[String]) -> bool {
        let there: Vec<&String> = ids.iter().filter(|it| self.items[*it].is_there()).collect();
        if there.is_empty() {
            return false;
        }
        let changes = there.iter().map(|id| ((*id).clone(), (2, None))).collect();
        let body = json!({ "dataCollectionId": "things", "dataItemIds": there });
        self.note(post(&format!("{url}/v2/bulk/items/remove"), &self.key, &body), changes)
    }

    /// Refused where the item is there already, and then nothing is told.
    fn insert(&mut self, url: &str, id: &str) -> bool {
        self.next += 1;
        let body = json!({ "dataCollectionId": "things", "dataItem": { "data": { "_id": id, "n": self.next } } });
        let answer = post(&format!("{url}/v2/items"), &self.key, &body);
        if self.items[id].is_there() {
            assert!(answer.as_ref().is_none_or(|it| it.0 == 409 || it.0 == 503), "{answer:?}");
            return false;
        }
        self.note(answer, vec![(id.to_owned(), (0, Some(self.next)))])
    }

    /// Changes by what was answered. An item of which nothing is known for certain is never written again.
    fn note(&mut self, answer: Option<(u16, Value)>, changes: Vec<(String, Change)>) -> bool {
        let is_done = matches!(answer, Some((200, _)));
        assert!(answer.as_ref().is_none_or(|it| it.0 == 200 || it.0 == 503), "{answer:?}");
        for (id, change) in changes {
            let item = self.items.get_mut(&id).unwrap();
            if is_done {
                item.changes.push(change);
            } else {
                item.doubtful = Some(change);
                self.now.retain(|it| *it != id);
            }
        }
        is_done
    }
}

struct Receiver {
    url: String,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
}

struct Arrival {
    event: String,
    item: String,
    change: Change,
    is_taken: bool,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/webhook", listener.local_addr().unwrap());
        let arrivals = Arc::<Mutex<Vec<Arrival>>>::default();
        let kept = arrivals.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                std::thread::spawn(move || {
                    let Some((head, body)) = read(&stream) else { return };
                    let mut arrivals = kept.lock().unwrap();
                    let mut arrival = Arrival::of(&head, &body, true);
                    // None is refused twice: after a third time it would wait for longer than this test.
                    let is_first = !arrivals.iter().any(|it| it.event == arrival.event);
                    let is_taken = !is_first || !arrivals.len().is_multiple_of(REFUSED);
                    arrival.is_taken = is_taken;
                    arrivals.push(arrival);
                    drop(arrivals);
                    let status = if is_taken { 200 } else { 500 };
                    let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                    let _ = (&stream).write_all(answer.as_bytes());
                });
            }
        });
        Self { url, arrivals }
    }

    /// What distinguishes the first arrivals from what was committed, or an event that was not taken.
    fn difference(&self, wanted: &BTreeMap<String, Vec<Change>>) -> Option<String> {
        let (mut seen, mut taken) = (HashSet::new(), HashSet::new());
        let mut found: BTreeMap<&str, Vec<Change>> = BTreeMap::new();
        let arrivals = self.arrivals.lock().unwrap();
        for it in arrivals.iter() {
            if it.is_taken {
                taken.insert(&it.event);
            }
            if seen.insert(&it.event) {
                found.entry(&it.item).or_default().push(it.change);
            }
        }
        for (item, changes) in wanted {
            let arrived = found.remove(item.as_str()).unwrap_or_default();
            if arrived != *changes {
                return Some(format!("{item}: committed {changes:?}, arrived {arrived:?}"));
            }
        }
        if let Some(it) = found.iter().next() {
            return Some(format!("never committed: {it:?}"));
        }
        (seen != taken).then(|| format!("{} events arrived, {} were taken", seen.len(), taken.len()))
    }
}

impl Arrival {
    fn of(head: &str, body: &str, is_taken: bool) -> Self {
        let body: Value = serde_json::from_str(body).unwrap();
        let (kind, event) = (body["type"].as_str().unwrap(), &body["data"]);
        let of_type = TYPES.iter().position(|it| kind.ends_with(it)).unwrap();
        let id = event["id"].as_str().unwrap();
        assert!(head.contains(&format!("webhook-id: {}\r\n", id.to_lowercase())), "{head}");
        let entity = [&event["createdEvent"]["entity"], &event["updatedEvent"]["currentEntity"]][of_type.min(1)];
        let n = if of_type == 2 { None } else { entity["data"]["n"].as_i64() };
        let item = event["entityId"].as_str().unwrap().to_owned();
        Self { event: id.to_owned(), item, change: (of_type, n), is_taken }
    }
}
