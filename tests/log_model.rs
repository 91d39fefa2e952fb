//! Readers of logs against random writers, while nodes are killed, leases stolen, rows deleted and logs begun anew
//! (decision 23). Whatever happens, a consumer of each site sees what was committed there, in order, and nothing else;
//! what it has dealt with doesn't come again.

use crate::log_reader::{Journal, Reader};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_kernel::{Code, Fault, Millis, SiteId, World};
use stoa_store::{
    Config, Consumers, Names, Serving, Site, Store, boxed,
    outbox::{self, LeaseTimes, Start},
};
use stoa_testkit::{Engine, TestStore, rounds};
use tokio::runtime::Runtime;

const TIMES: LeaseTimes = LeaseTimes { look: 20, renewal: 100, life: 700 };
/// When all is written: about what the clock of the store says, so that nothing is too old.
const NOW: Millis = 1_767_225_600_000;
const CONSUMER: &str = "model:1";
/// What happens in a round.
const STEPS: usize = 40;
/// Writers of a burst, and what each does then.
const WRITERS: usize = 3;
const WRITES: u64 = 6;

#[test]
fn log_model_holds_on_sqlite() {
    (0..rounds(3)).for_each(|seed| check(Engine::Sqlite, seed as u64));
}

#[test]
fn log_model_holds_on_postgres() {
    (0..rounds(3)).for_each(|seed| check(Engine::Postgres, seed as u64));
}

fn check(engine: Engine, seed: u64) {
    let runtime = Runtime::new().unwrap();
    let mut model = Model::new(&runtime, engine, seed);
    for _ in 0..STEPS {
        model.step();
    }
    model.finish();
}

fn draw(world: &World, below: u64) -> u64 {
    u64::from_le_bytes(world.bytes::<8>()) % below
}

/// Per site and writer what was committed, in order.
type Committed = Arc<Mutex<BTreeMap<(String, usize), Vec<String>>>>;

struct Model<'r> {
    runtime: &'r Runtime,
    seed: u64,
    chance: World,
    kit: TestStore,
    sites: Vec<Arc<Site>>,
    nodes: Vec<Node>,
    journal: Journal,
    committed: Committed,
    /// Counts writes.
    next: u64,
}

/// A node with a runtime of its own: killed, its tasks end with it, and nothing is given back.
struct Node {
    runtime: Runtime,
    store: Arc<Store>,
    _consumers: Consumers,
    _serving: Serving,
    _directory: Option<tempfile::TempDir>,
}

impl Node {
    /// On PostgreSQL a process of its own. On SQLite there is one process, of which only the readers are killed.
    fn start(kit: &TestStore, journal: &Journal) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let directory = kit.config.database_url.as_ref().map(|_| tempfile::tempdir().unwrap());
        let (store, consumers, serving) = runtime.block_on(async {
            let store = match &directory {
                None => kit.store.clone(),
                Some(it) => {
                    let config = Config { data: it.path().to_owned(), ..kit.config.clone() };
                    Arc::new(Store::open(&config).await.unwrap())
                }
            };
            let consumers = Consumers::new(store.clone(), World::real(), TIMES);
            let serving = consumers.serve(Names::Kind("model:"), Arc::new(Reader::new(journal.clone())));
            (store, consumers, serving)
        });
        Self { runtime, store, _consumers: consumers, _serving: serving, _directory: directory }
    }

    fn kill(self) {
        self.runtime.shutdown_background();
    }
}

impl<'r> Model<'r> {
    fn new(runtime: &'r Runtime, engine: Engine, seed: u64) -> Self {
        let kit = runtime.block_on(TestStore::new(engine));
        let chance = World::fixed(0, seed.wrapping_mul(7_919).wrapping_add(17)).0;
        let journal = Journal::default();
        let sites: Vec<_> = (0..2)
            .map(|n| {
                runtime.block_on(async {
                    let site = kit.store.site_create(&format!("site {n}"), &kit.world).await.unwrap();
                    site.outbox().subscribe(CONSUMER, Start::Oldest).await.unwrap();
                    site
                })
            })
            .collect();
        let count = if engine == Engine::Postgres { 3 } else { 1 };
        let nodes = (0..count).map(|_| Node::start(&kit, &journal)).collect();
        let committed = Arc::default();
        Self { runtime, seed, chance, kit, sites, nodes, journal, committed, next: 0 }
    }

    fn draw(&self, below: u64) -> u64 {
        draw(&self.chance, below)
    }

    fn step(&mut self) {
        match self.draw(20) {
            0..9 => self.write(),
            9..12 => std::thread::sleep(Duration::from_millis(self.draw(60))),
            12..14 => self.kill(),
            14..17 => self.steal(),
            17..19 => self.prune(),
            _ => self.restore(),
        }
    }

    /// Writers side by side, each at a site and a node of its choice. Some of what they write is undone.
    fn write(&mut self) {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let id = self.sites[self.draw(2) as usize].id.clone();
                let node = self.nodes[self.draw(self.nodes.len() as u64) as usize].store.clone();
                let store = if self.draw(2) == 0 { self.kit.store.clone() } else { node };
                let (chance, committed) = (World::fixed(0, self.draw(u64::MAX)).0, self.committed.clone());
                let first = self.next + writer as u64 * WRITES;
                async move {
                    let site = store.site(&id).await.unwrap();
                    for n in first..first + WRITES {
                        let payload = format!("\"{id} {writer} {n}\"");
                        if write(&site, &payload, &chance).await {
                            let of = (id.to_string(), writer);
                            committed.lock().unwrap().entry(of).or_default().push(payload);
                        }
                    }
                }
            })
            .collect();
        self.next += WRITERS as u64 * WRITES;
        self.runtime.block_on(async {
            // A node's store works in any runtime, but its connections end with its own, so no node is killed now.
            let writing: Vec<_> = writers.into_iter().map(|it| tokio::spawn(it)).collect();
            for it in writing {
                it.await.unwrap();
            }
        });
    }

    /// Kills a node at whatever it does, and starts another.
    fn kill(&mut self) {
        let place = self.draw(self.nodes.len() as u64) as usize;
        self.nodes.swap_remove(place).kill();
        self.nodes.push(Node::start(&self.kit, &self.journal));
    }

    /// Takes a lease from whoever holds it, as a node does that believes it dead, and gives it back.
    fn steal(&self) {
        let (site, pause) = (self.sites[self.draw(2) as usize].clone(), self.draw(30));
        self.runtime.block_on(async {
            let outbox = site.outbox();
            let seen = outbox.consumers().await.unwrap().pop().unwrap();
            if let Some(lease) = outbox.take(&seen, "thief").await.unwrap() {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                outbox.release(&lease).await.unwrap();
            }
        });
    }

    fn prune(&self) {
        let site = &self.sites[self.draw(2) as usize];
        self.runtime.block_on(site.outbox().prune(self.kit.world.now())).unwrap();
    }

    fn restore(&self) {
        let site = &self.sites[self.draw(2) as usize];
        self.runtime.block_on(self.kit.store.log_restored(&site.id)).unwrap();
    }

    /// Waits until all of it is read, and compares.
    fn finish(self) {
        let committed = std::mem::take(&mut *self.committed.lock().unwrap());
        let count: usize = committed.values().map(Vec::len).sum();
        for _ in 0..3_000 {
            if self.journal.distinct() >= count {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        for site in &self.sites {
            let of_site = committed.iter().filter(|it| it.0.0 == site.id.as_str());
            let wanted: BTreeMap<usize, Vec<String>> =
                of_site.map(|((_, writer), payloads)| (*writer, payloads.clone())).collect();
            if let Err(why) = self.journal.check(&site.id, &wanted) {
                panic!("seed {}, {}: {why}", self.seed, site.id);
            }
        }
        assert_eq!(self.journal.distinct(), count, "seed {}", self.seed);
        for node in self.nodes {
            node.kill();
        }
    }
}

/// Where a row is to be written, and what.
fn row(site: &Site, payload: &str) -> (SiteId, String) {
    (site.id.clone(), payload.to_owned())
}

/// Writes a row, in one of the ways that there are; whether it was committed.
async fn write(site: &Site, payload: &str, chance: &World) -> bool {
    let (way, row) = (draw(chance, 4), row(site, payload));
    let done = match way {
        0 => site.write_with(row, |tx, (id, it)| boxed!(outbox::put(tx, id, "a", it.clone(), NOW).await)).await,
        1 | 2 => site.append_with(row, |tx, (id, it)| boxed!(outbox::put(tx, id, "b", it.clone(), NOW).await)).await,
        _ => {
            let undone = site.append_with(row, |tx, (id, it)| {
                boxed!({
                    outbox::put(tx, id, "a", it.replace(' ', " undone "), NOW).await?;
                    Err(Fault::new(Code::NotFound))
                })
            });
            undone.await
        }
    };
    assert_eq!(done.is_ok(), way < 3, "{done:?}");
    done.is_ok()
}
