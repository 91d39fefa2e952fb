//! Consumers of logs among nodes: each has one node that works for it, and another when that is gone (decision 23).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_kernel::{Fault, Millis, SiteId, World};
use stoa_store::{
    Config, Consumers, Held, Names, Serving, Site, Store, TxFuture, Worker, boxed,
    outbox::{ConsumerRow, Lease, LeaseTimes, Position, Start},
};
use stoa_testkit::{Engine, TestStore, on_both_engines};
use tokio::runtime::Runtime;

/// Fast enough for tests.
const TIMES: LeaseTimes = LeaseTimes { look: 20, renewal: 100, life: 1_000 };
/// Leases that no one else takes unless they are given back.
const LASTING: LeaseTimes = LeaseTimes { life: 3_600_000, ..TIMES };
/// Longer than anything takes that is waited for.
const LONG: Millis = 60_000;

/// Works until its lease is lost, and says for what.
struct Works {
    node: usize,
    /// Which node works for which consumer, as far as known.
    log: Arc<Mutex<Vec<(usize, String)>>>,
    /// Whether it ends at once.
    is_brief: bool,
}

impl Worker for Works {
    fn work<'w>(&'w self, held: Held) -> TxFuture<'w, ()> {
        boxed!({
            self.log.lock().unwrap().push((self.node, held.consumer().to_owned()));
            while held.is_held() && !self.is_brief {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok::<(), Fault>(())
        })
    }
}

/// A node that works for consumers of the kind `job:`.
struct Node {
    consumers: Consumers,
    _serving: Serving,
}

impl Node {
    /// Within a runtime.
    fn start(store: &Arc<Store>, times: LeaseTimes, work: Works) -> Self {
        let consumers = Consumers::new(store.clone(), World::real(), times);
        let serving = consumers.serve(Names::Kind("job:"), Arc::new(work));
        Self { consumers, _serving: serving }
    }

    fn held(&self) -> usize {
        self.consumers.held().len()
    }
}

fn works(node: usize) -> Works {
    Works { node, log: Arc::default(), is_brief: false }
}

async fn site_with(kit: &TestStore, count: usize) -> Arc<Site> {
    let site = kit.store.site_create("test", &kit.world).await.unwrap();
    for n in 0..count {
        site.outbox().subscribe(&format!("job:{n}"), Start::Oldest).await.unwrap();
    }
    site
}

/// Waits until it is so.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    for _ in 0..LONG / 20 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}: not within a minute");
}

async fn row(site: &Site, name: &str) -> ConsumerRow {
    site.outbox().consumers().await.unwrap().into_iter().find(|it| it.name == name).unwrap()
}

async fn take(site: &Site, name: &str, node: &str) -> Lease {
    site.outbox().take(&row(site, name).await, node).await.unwrap().unwrap()
}

on_both_engines! {
    async fn consumers_are_worked_for_and_given_back(engine) {
        let kit = TestStore::new(engine).await;
        let site = site_with(&kit, 3).await;
        let node = Node::start(&kit.store, LASTING, works(0));
        until("all are held", async || node.held() == 3).await;
        site.outbox().subscribe("other:1", Start::Oldest).await.unwrap();
        site.outbox().subscribe("job:3", Start::Oldest).await.unwrap();
        until("the new one too", async || node.held() == 4).await;
        assert_eq!(row(&site, "other:1").await.node, None, "nothing works for its kind");
        assert_eq!(row(&site, "job:0").await.node.as_deref(), Some(kit.store.node()));
        site.outbox().unsubscribe("job:1").await.unwrap();
        until("what is gone is not worked for", async || node.held() == 3).await;
        node.consumers.leave().await;
        for row in site.outbox().consumers().await.unwrap() {
            assert_eq!(row.node, None, "{} is free", row.name);
        }
        assert_eq!(node.held(), 0);
    }

    async fn work_that_ends_is_taken_up_again(engine) {
        let kit = TestStore::new(engine).await;
        let _site = site_with(&kit, 1).await;
        let log: Arc<Mutex<Vec<(usize, String)>>> = Arc::default();
        let node = Node::start(&kit.store, TIMES, Works { node: 0, log: log.clone(), is_brief: true });
        until("it is worked for again and again", async || log.lock().unwrap().len() >= 3).await;
        node.consumers.leave().await;
    }

    async fn one_consumer_is_served_for_a_while(engine) {
        let kit = TestStore::new(engine).await;
        let (site, other) = (site_with(&kit, 2).await, site_with(&kit, 1).await);
        let consumers = Consumers::new(kit.store.clone(), World::real(), LASTING);
        let names = Names::One(site.id.clone(), "job:0".to_owned());
        let serving = consumers.serve(names, Arc::new(works(0)));
        until("it is held", async || consumers.held() == [(site.id.clone(), "job:0".to_owned())]).await;
        serving.end().await;
        assert!(consumers.held().is_empty());
        for (site, name) in [(&site, "job:0"), (&site, "job:1"), (&other, "job:0")] {
            assert_eq!(row(site, name).await.node, None);
        }
    }

    /// There are more than a node has room for.
    async fn more_consumers_than_places_take_turns(engine) {
        let kit = TestStore::new(engine).await;
        let _site = site_with(&kit, 70).await;
        let log: Arc<Mutex<Vec<(usize, String)>>> = Arc::default();
        let times = LeaseTimes { renewal: 40, ..TIMES };
        let node = Node::start(&kit.store, times, Works { node: 0, log: log.clone(), is_brief: false });
        until("each has had its turn", async || {
            assert!(node.held() <= 64, "{} at once", node.held());
            log.lock().unwrap().iter().map(|it| &it.1).collect::<BTreeSet<_>>().len() == 70
        })
        .await;
        node.consumers.leave().await;
    }

    /// A process that was killed gave nothing back.
    async fn consumers_go_on_after_a_restart(engine) {
        let kit = TestStore::new(engine).await;
        let id = {
            let site = site_with(&kit, 2).await;
            for name in ["job:0", "job:1"] {
                take(&site, name, "a process that was killed").await;
            }
            site.id.clone()
        };
        let (config, _guards) = kit.close();
        let store = Arc::new(Store::open(&config).await.unwrap());
        assert!(store.open_sites().is_empty(), "nothing opens the site but its consumers");
        let node = Node::start(&store, TIMES, works(0));
        until("they are worked for", async || node.held() == 2).await;
        assert!(node.consumers.held().iter().all(|it| it.0 == id));
        node.consumers.leave().await;
    }
}

/// A holder that stood still for longer than its lease, and then goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn holder_that_stood_still_moves_no_place() {
    let kit = TestStore::new(Engine::Postgres).await;
    let site = site_with(&kit, 1).await;
    let stopped = take(&site, "job:0", "a node that stands still").await;
    assert!(site.outbox().advance(&stopped, Position::default()).await.unwrap());
    let node = Node::start(&kit.store, TIMES, works(0));
    until("another takes over", async || node.held() == 1).await;
    let now = row(&site, "job:0").await;
    assert_eq!(now.node.as_deref(), Some(kit.store.node()));
    assert!(!site.outbox().advance(&stopped, Position::default()).await.unwrap());
    site.outbox().release(&stopped).await.unwrap();
    assert_eq!(row(&site, "job:0").await.node, now.node, "nor does it give back what isn't its own");
    node.consumers.leave().await;
}

/// What a stranger to the lease took, its holder loses at its next look.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_lease_ends_the_work() {
    let kit = TestStore::new(Engine::Postgres).await;
    let site = site_with(&kit, 1).await;
    let node = Node::start(&kit.store, LASTING, works(0));
    until("it is held", async || node.held() == 1).await;
    // The node writes its lease anew now and then, and of two at once one counts.
    let taken = loop {
        if let Some(it) = site.outbox().take(&row(&site, "job:0").await, "another").await.unwrap() {
            break it;
        }
    };
    until("the work ends", async || node.held() == 0).await;
    assert!(site.outbox().advance(&taken, Position::default()).await.unwrap());
}

/// A process of its own: its tasks end with its runtime, as those of a killed process, and nothing is given back.
struct Process {
    runtime: Runtime,
    node: Node,
    store: Arc<Store>,
    _directory: tempfile::TempDir,
}

impl Process {
    fn start(config: &Config, times: LeaseTimes, work: Works) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let config = Config { data: directory.path().to_owned(), ..config.clone() };
        let (store, node) = runtime.block_on(async {
            let store = Arc::new(Store::open(&config).await.unwrap());
            let node = Node::start(&store, times, work);
            (store, node)
        });
        Self { runtime, node, store, _directory: directory }
    }

    fn kill(self) {
        self.runtime.shutdown_background();
    }
}

/// Who holds which, as the database has it.
fn holders(rows: &[ConsumerRow]) -> BTreeMap<String, usize> {
    let mut holders = BTreeMap::new();
    for row in rows {
        *holders.entry(row.node.clone().unwrap_or_default()).or_default() += 1;
    }
    holders
}

#[test]
fn three_nodes_share_consumers_and_take_over_from_each_other() {
    let runtime = Runtime::new().unwrap();
    let kit = runtime.block_on(TestStore::new(Engine::Postgres));
    let site = runtime.block_on(site_with(&kit, 9));
    let log: Arc<Mutex<Vec<(usize, String)>>> = Arc::default();
    let start = |node| Process::start(&kit.config, TIMES, Works { node, log: log.clone(), is_brief: false });
    let shares = |wanted: Vec<usize>| {
        runtime.block_on(until("they are shared out", async || {
            let rows = site.outbox().consumers().await.unwrap();
            let mut counts: Vec<usize> = holders(&rows).into_iter().map(|it| it.1).collect();
            counts.sort_unstable();
            counts == wanted && rows.iter().all(|it| it.node.is_some())
        }));
    };
    let first = start(0);
    shares(vec![9]);
    let (second, third) = (start(1), start(2));
    shares(vec![3, 3, 3]);
    let dead = second.store.node().to_owned();
    second.kill();
    runtime.block_on(until("those of the dead node go on elsewhere", async || {
        let rows = site.outbox().consumers().await.unwrap();
        rows.iter().all(|it| it.node.as_ref().is_some_and(|it| *it != dead))
    }));
    let gone = third.store.node().to_owned();
    third.runtime.block_on(third.node.consumers.leave());
    runtime.block_on(third.store.leave());
    shares(vec![9]);
    let rows = runtime.block_on(site.outbox().consumers()).unwrap();
    assert!(rows.iter().all(|it| it.node.as_deref() != Some(gone.as_str())));
    let worked: BTreeSet<usize> = log.lock().unwrap().iter().map(|it| it.0).collect();
    assert_eq!(worked, BTreeSet::from([0, 1, 2]));
    first.kill();
    third.kill();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn site_that_cannot_be_opened_holds_up_no_other() {
    let kit = TestStore::new(Engine::Sqlite).await;
    let (broken, whole) = (site_with(&kit, 1).await.id.clone(), site_with(&kit, 1).await.id.clone());
    let (config, _guards) = kit.close();
    let file = |id: &SiteId| config.data.join("sites").join(format!("{id}.db"));
    let store = Arc::new(Store::open(&config).await.unwrap());
    std::fs::write(file(&broken), b"this was a site").unwrap();
    let node = Node::start(&store, TIMES, works(0));
    until("the other is worked for", async || node.consumers.held() == [(whole.clone(), "job:0".to_owned())]).await;
    node.consumers.leave().await;
}
