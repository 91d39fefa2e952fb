//! What the outbox promises its readers (docs/hazards.md §Reading a log by seq > last).

use std::{sync::Arc, time::Duration};
use stoa_kernel::Code;
use stoa_sql::params;
use stoa_store::{
    ReaderPool, Site, Store, boxed,
    outbox::{self, Batch, Entry, Lease, Position, Start},
};
use stoa_testkit::{Engine, TestStore, on_both_engines};

async fn site(kit: &TestStore) -> Arc<Site> {
    kit.store.site_create("test", &kit.world).await.unwrap()
}

async fn put(kit: &TestStore, site: &Site, kind: &'static str, payload: &str) {
    let now = kit.world.now();
    let written = site.append_with((site.id.clone(), payload.to_owned()), move |tx, (id, payload)| {
        boxed!(outbox::put(tx, id, kind, payload.clone(), now).await)
    });
    written.await.unwrap();
}

/// Waits until every row so far can be read: on PostgreSQL transactions of other databases hold readers up too.
async fn wait_until_readable(site: &Site) {
    for _ in 0..2000 {
        if read_on(site, &mut Position::default()).await.len() as i64 == rows(site).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("another transaction has been running for twenty seconds");
}

/// Makes a consumer known that reads from the oldest row, and takes its lease.
async fn begin(site: &Site, consumer: &str) -> Lease {
    wait_until_readable(site).await;
    site.outbox().subscribe(consumer, Start::Oldest).await.unwrap();
    take(site, consumer, "me").await.unwrap()
}

/// Takes the lease of a consumer as it is now, whoever holds it.
async fn take(site: &Site, consumer: &str, node: &str) -> Option<Lease> {
    let consumers = site.outbox().consumers().await.unwrap();
    let seen = consumers.iter().find(|it| it.name == consumer)?;
    site.outbox().take(seen, node).await.unwrap()
}

fn payloads(batch: &Batch) -> Vec<&str> {
    batch.entries.iter().map(|it| it.payload.as_str()).collect()
}

async fn rows(site: &Site) -> i64 {
    let key = site.id.clone();
    let count = site.read(ReaderPool::Point, move |tx| {
        let sql = "select count(*) from stoa.outbox where site = $1";
        boxed!(Ok(tx.row(sql, &params![&key], |row| row.get::<i64>(0)).await?))
    });
    count.await.unwrap().unwrap()
}

on_both_engines! {
    async fn consumer_reads_its_kinds_in_order_and_resumes(engine) {
        let kit = TestStore::new(engine).await;
        let (site, other) = (site(&kit).await, site(&kit).await);
        put(&kit, &other, "a", "another site's").await;
        for n in 0..5 {
            put(&kit, &site, if n == 2 { "b" } else { "a" }, &n.to_string()).await;
        }
        let outbox = site.outbox();
        let lease = begin(&site, "test").await;
        let first = outbox.read(lease.position, &["a"], 3).await.unwrap();
        assert_eq!((payloads(&first), first.is_last), (vec!["0", "1", "3"], false));
        assert!(first.entries.windows(2).all(|it| it[0].sequence < it[1].sequence && it[0].id() != it[1].id()));
        let again = outbox.read(lease.position, &["a"], 3).await.unwrap();
        assert_eq!(first.entries, again.entries, "until it has advanced it reads the same, under the same ids");
        assert!(outbox.advance(&lease, first.end).await.unwrap());
        outbox.subscribe("test", Start::Oldest).await.unwrap();
        let position = take(&site, "test", "me").await.unwrap().position;
        assert_eq!(position, first.end);
        let rest = outbox.read(position, &["a"], 3).await.unwrap();
        assert_eq!((payloads(&rest), rest.is_last), (vec!["4"], true));
        let none = outbox.read(rest.end, &["a"], 3).await.unwrap();
        assert_eq!((payloads(&none), none.is_last, none.end), (vec![], true, rest.end));
        let late = begin(&site, "other").await.position;
        assert_eq!(payloads(&outbox.read(late, &["b", "c"], 9).await.unwrap()), ["2"]);
        assert_eq!(payloads(&outbox.read(late, &[], 9).await.unwrap()), ["0", "1", "2", "3", "4"]);
        outbox.subscribe("new", Start::Newest).await.unwrap();
        let position = take(&site, "new", "me").await.unwrap().position;
        assert!(outbox.read(position, &["a", "b"], 9).await.unwrap().entries.is_empty());
    }

    async fn batch_is_bounded_in_bytes(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        for _ in 0..5 {
            put(&kit, &site, "a", &"x".repeat(3 << 20)).await;
        }
        let mut position = begin(&site, "test").await.position;
        for n in 0..5 {
            let batch = site.outbox().read(position, &["a"], 100).await.unwrap();
            assert_eq!((batch.entries.len(), batch.is_last), (1, n == 4));
            position = batch.end;
        }
    }

    async fn lease_is_taken_once_among_a_hundred(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        put(&kit, &site, "a", "1").await;
        wait_until_readable(&site).await;
        site.outbox().subscribe("test", Start::Oldest).await.unwrap();
        let seen = site.outbox().consumers().await.unwrap().pop().unwrap();
        let takes: Vec<_> = (0..100).map(|n| {
            let (site, seen) = (site.clone(), seen.clone());
            tokio::spawn(async move { site.outbox().take(&seen, &format!("p{n}")).await.unwrap() })
        }).collect();
        let mut leases = Vec::new();
        for it in takes {
            leases.extend(it.await.unwrap());
        }
        let [lease] = leases.as_slice() else { panic!("{} hold the lease", leases.len()) };
        let outbox = site.outbox();
        assert!(take(&site, "unknown", "me").await.is_none());
        let end = outbox.read(lease.position, &["a"], 1).await.unwrap().end;

        // It stood still; another takes over, and the first can't store its place any more, nor give the lease back.
        let next = take(&site, "test", "next").await.unwrap();
        assert_eq!(next.position, lease.position);
        assert!(!outbox.advance(lease, end).await.unwrap());
        outbox.release(lease).await.unwrap();
        assert!(outbox.consumers().await.unwrap()[0].node.as_deref() == Some("next"));
        assert!(outbox.advance(&next, end).await.unwrap());
        outbox.release(&next).await.unwrap();
        assert_eq!(outbox.consumers().await.unwrap()[0].node, None);
        assert!(!outbox.advance(&next, Position::default()).await.unwrap(), "what was given back is no lease");
        let own = take(&site, "test", "next").await.unwrap();
        assert_eq!(own.position, end);
        assert!(!outbox.advance(&next, Position::default()).await.unwrap(), "an earlier turn of the same node");
        assert!(outbox.unsubscribe("test").await.unwrap() && !outbox.unsubscribe("test").await.unwrap());
        assert!(!outbox.advance(&own, end).await.unwrap(), "the consumer is gone");
    }

    async fn names_of_consumers_are_checked(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let long = "a".repeat(100);
        for good in ["a", "webhook:0a-1_2", &long] {
            site.outbox().subscribe(good, Start::Newest).await.unwrap();
        }
        let longer = "a".repeat(101);
        for wrong in ["", "A", "a b", "a\"", "a\n", "ä", &longer] {
            let refused = site.outbox().subscribe(wrong, Start::Newest).await.unwrap_err();
            assert_eq!(refused.code(), Code::Validation, "{wrong}");
        }
        assert_eq!(site.outbox().consumers().await.unwrap().len(), 3);
    }

    async fn rows_read_by_all_consumers_are_deleted(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let outbox = site.outbox();
        for n in 0..1200 {
            put(&kit, &site, "a", &n.to_string()).await;
        }
        let (quick, slow) = (begin(&site, "quick").await, begin(&site, "slow").await);
        let end = outbox.read(quick.position, &["a"], 1000).await.unwrap().end;
        assert!(outbox.advance(&quick, end).await.unwrap());
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 0, "the slow one has read nothing");
        let half = outbox.read(slow.position, &["a"], 700).await.unwrap();
        assert!(outbox.advance(&slow, half.end).await.unwrap());
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 700);
        assert_eq!(payloads(&outbox.read(half.end, &["a"], 1).await.unwrap()), ["700"]);

        kit.clock.advance(outbox::UNREAD_FOR);
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 499, "given up after fourteen days");
    }

    async fn outbox_without_a_consumer_stays_small(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        for n in 0..1300 {
            put(&kit, &site, "a", &n.to_string()).await;
        }
        wait_until_readable(&site).await;
        assert_eq!(site.outbox().prune(kit.world.now()).await.unwrap(), 300);
        kit.clock.advance(outbox::KEPT_FOR);
        site.outbox().prune(kit.world.now()).await.unwrap();
        assert_eq!(rows(&site).await, 1, "the newest keeps its number taken");
        let position = begin(&site, "test").await.position;
        let last = outbox_last(&site, position).await;
        put(&kit, &site, "a", "next").await;
        wait_until_readable(&site).await;
        assert!(outbox_last(&site, position).await > last);
    }

    async fn large_rows_are_read_in_batches(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        for _ in 0..8 {
            put(&kit, &site, "a", &"x".repeat(1 << 20)).await;
        }
        wait_until_readable(&site).await;
        kit.clock.advance(outbox::KEPT_FOR);
        assert_eq!(site.outbox().prune(kit.world.now()).await.unwrap(), 7);
    }
}

async fn outbox_last(site: &Site, position: Position) -> i64 {
    site.outbox().read(position, &["a"], 10).await.unwrap().entries.last().unwrap().sequence
}

/// A connection of our own, to hold a transaction open.
async fn connect(kit: &TestStore) -> tokio_postgres::Client {
    let url = kit.config.database_url.as_deref().unwrap();
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn put_by_hand(client: &tokio_postgres::Client, site: &Site, payload: &str) {
    let sql = "insert into stoa.outbox (site, kind, payload, created) values ($1, 'a', $2, 1)";
    client.execute(sql, &[&site.id.as_str(), &payload]).await.unwrap();
}

/// Reads to the end, storing nothing.
async fn read_on(site: &Site, position: &mut Position) -> Vec<Entry> {
    let mut found = Vec::new();
    loop {
        let batch = site.outbox().read(*position, &["a", "b"], 100).await.unwrap();
        found.extend(batch.entries);
        *position = batch.end;
        if batch.is_last {
            return found;
        }
    }
}

/// Reads what there is, and on until nothing holds the readers up.
async fn read_all(site: &Site, position: &mut Position) -> Vec<String> {
    let early = read_on(site, position).await;
    wait_until_readable(site).await;
    early.into_iter().chain(read_on(site, position).await).map(|it| it.payload).collect()
}

async fn texts(site: &Site, position: &mut Position) -> Vec<String> {
    read_on(site, position).await.into_iter().map(|it| it.payload).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_commit_of_a_lower_number_is_not_skipped() {
    let kit = TestStore::new(Engine::Postgres).await;
    let site = site(&kit).await;
    let (first, second) = (connect(&kit).await, connect(&kit).await);
    put(&kit, &site, "a", "0").await;
    let mut position = begin(&site, "test").await.position;
    assert_eq!(read_all(&site, &mut position).await, ["0"]);

    // The older transaction takes the lower number and commits last.
    first.batch_execute("begin").await.unwrap();
    put_by_hand(&first, &site, "1").await;
    put(&kit, &site, "a", "2").await;
    let early = texts(&site, &mut position).await;
    first.batch_execute("commit").await.unwrap();
    assert_eq!([early, read_all(&site, &mut position).await].concat(), ["1", "2"]);

    // The older transaction takes the higher number, and the younger one with the lower number commits last.
    first.batch_execute("begin; select pg_current_xact_id()").await.unwrap();
    second.batch_execute("begin").await.unwrap();
    put_by_hand(&second, &site, "3").await;
    put_by_hand(&first, &site, "4").await;
    first.batch_execute("commit").await.unwrap();
    let early = texts(&site, &mut position).await;
    second.batch_execute("commit").await.unwrap();
    let mut all = [early, read_all(&site, &mut position).await].concat();
    all.sort();
    assert_eq!(all, ["3", "4"]);

    // One that is undone holds no reader up afterwards.
    first.batch_execute("begin").await.unwrap();
    put_by_hand(&first, &site, "never").await;
    put(&kit, &site, "a", "5").await;
    first.batch_execute("rollback").await.unwrap();
    assert_eq!(read_all(&site, &mut position).await, ["5"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn place_is_behind_what_was_committed_once_that_can_be_read() {
    let kit = TestStore::new(Engine::Postgres).await;
    let site = site(&kit).await;
    let outbox = site.outbox();
    outbox.until_readable(0).await.unwrap();
    let older = connect(&kit).await;
    older.batch_execute("begin; select pg_current_xact_id()").await.unwrap();
    put(&kit, &site, "a", "before").await;
    outbox.until_readable(100).await.unwrap();
    let early = outbox.end().await.unwrap().position;
    let (ended, _) = tokio::join!(outbox.until_readable(20_000), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        older.batch_execute("commit").await.unwrap();
    });
    ended.unwrap();
    let late = outbox.end().await.unwrap().position;
    put(&kit, &site, "a", "after").await;
    wait_until_readable(&site).await;
    for (mut place, told) in [(early, vec!["before", "after"]), (late, vec!["after"])] {
        assert_eq!(texts(&site, &mut place).await, told);
    }
}

/// Numbers of transactions begin again in a new cluster.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restored_database_is_read_on() {
    let kit = TestStore::new(Engine::Postgres).await;
    let id = {
        let site = site(&kit).await;
        put(&kit, &site, "a", "1").await;
        put(&kit, &site, "a", "2").await;
        let lease = begin(&site, "test").await;
        let read = site.outbox().read(lease.position, &["a"], 1).await.unwrap();
        assert!(site.outbox().advance(&lease, read.end).await.unwrap());
        let client = connect(&kit).await;
        let ahead = "update stoa.outbox set tx = tx + 1000000000; update stoa.outbox_consumer set tx = tx + 1000000000";
        client.batch_execute(ahead).await.unwrap();
        site.id.clone()
    };
    let (world, (config, _guards)) = (kit.world.clone(), kit.close());
    let store = Store::open(&config).await.unwrap();
    let site = store.site(&id).await.unwrap();
    let mut position = take(&site, "test", "next").await.unwrap().position;
    let now = world.now();
    let written =
        site.append_with(id.clone(), move |tx, id| boxed!(outbox::put(tx, id, "a", "3".to_owned(), now).await));
    written.await.unwrap();
    assert_eq!(read_all(&site, &mut position).await, ["2", "3"]);
}
