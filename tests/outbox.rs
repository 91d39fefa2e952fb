//! What the outbox promises its readers (docs/hazards.md §Reading a log by seq > last).

use std::{sync::Arc, time::Duration};
use stoa_kernel::clock::Millis;
use stoa_sql::params;
use stoa_store::{
    ReaderPool, Site, Store, boxed,
    outbox::{self, Batch, Entry, Position, Start},
};
use stoa_testkit::{Engine, TestStore, on_both_engines};

const LIFE: Millis = 1000;

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

/// The place of a new consumer that reads from the oldest row.
async fn begin(kit: &TestStore, site: &Site, consumer: &str) -> Position {
    wait_until_readable(site).await;
    let outbox = site.outbox();
    outbox.subscribe(consumer, Start::Oldest).await.unwrap();
    outbox.claim(consumer, "me", kit.world.now(), LIFE).await.unwrap().unwrap()
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
        let position = begin(&kit, &site, "test").await;
        let first = outbox.read(position, &["a"], 3).await.unwrap();
        assert_eq!((payloads(&first), first.is_last), (vec!["0", "1", "3"], false));
        assert!(first.entries.windows(2).all(|it| it[0].sequence < it[1].sequence && it[0].id() != it[1].id()));
        let again = outbox.read(position, &["a"], 3).await.unwrap();
        assert_eq!(first.entries, again.entries, "until it has advanced it reads the same, under the same ids");
        assert!(outbox.advance("test", "me", first.end, kit.world.now(), LIFE).await.unwrap());
        outbox.subscribe("test", Start::Oldest).await.unwrap();
        let position = outbox.claim("test", "me", kit.world.now(), LIFE).await.unwrap().unwrap();
        assert_eq!(position, first.end);
        let rest = outbox.read(position, &["a"], 3).await.unwrap();
        assert_eq!((payloads(&rest), rest.is_last), (vec!["4"], true));
        let none = outbox.read(rest.end, &["a"], 3).await.unwrap();
        assert_eq!((payloads(&none), none.is_last, none.end), (vec![], true, rest.end));
        let late = begin(&kit, &site, "other").await;
        assert_eq!(payloads(&outbox.read(late, &["b", "c"], 9).await.unwrap()), ["2"]);
        outbox.subscribe("new", Start::Newest).await.unwrap();
        let position = outbox.claim("new", "me", kit.world.now(), LIFE).await.unwrap().unwrap();
        assert!(outbox.read(position, &["a", "b"], 9).await.unwrap().entries.is_empty());
    }

    async fn batch_is_bounded_in_bytes(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        for _ in 0..5 {
            put(&kit, &site, "a", &"x".repeat(3 << 20)).await;
        }
        let mut position = begin(&kit, &site, "test").await;
        for n in 0..5 {
            let batch = site.outbox().read(position, &["a"], 100).await.unwrap();
            assert_eq!((batch.entries.len(), batch.is_last), (1, n == 4));
            position = batch.end;
        }
    }

    async fn consumer_runs_once_among_a_hundred(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        put(&kit, &site, "a", "1").await;
        site.outbox().subscribe("test", Start::Oldest).await.unwrap();
        let now = kit.world.now();
        let claims: Vec<_> = (0..100).map(|n| {
            let site = site.clone();
            tokio::spawn(async move { site.outbox().claim("test", &format!("p{n}"), now, LIFE).await.unwrap().map(|it| (n, it)) })
        }).collect();
        let mut winners = Vec::new();
        for it in claims {
            winners.extend(it.await.unwrap());
        }
        let [(winner, position)] = winners[..] else { panic!("{} hold the lease", winners.len()) };
        let (outbox, winner) = (site.outbox(), format!("p{winner}"));
        assert!(outbox.claim("unknown", "me", now, LIFE).await.unwrap().is_none());
        assert!(outbox.claim("test", &winner, now + LIFE - 1, LIFE).await.unwrap().is_some(), "its holder renews it");
        let end = outbox.read(position, &["a"], 1).await.unwrap().end;

        // It fell asleep; another takes over, and the first can't store its place any more.
        let later = now + 3 * LIFE;
        assert_eq!(outbox.claim("test", "next", later, LIFE).await.unwrap(), Some(position));
        assert!(!outbox.advance("test", &winner, end, later, LIFE).await.unwrap());
        outbox.release("test", &winner).await.unwrap();
        assert!(outbox.claim("test", "third", later, LIFE).await.unwrap().is_none());
        outbox.release("test", "next").await.unwrap();
        assert_eq!(outbox.claim("test", "third", later, LIFE).await.unwrap(), Some(position));
    }

    async fn rows_read_by_all_consumers_are_deleted(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let outbox = site.outbox();
        for n in 0..1200 {
            put(&kit, &site, "a", &n.to_string()).await;
        }
        let (quick, slow) = (begin(&kit, &site, "quick").await, begin(&kit, &site, "slow").await);
        let end = outbox.read(quick, &["a"], 1000).await.unwrap().end;
        assert!(outbox.advance("quick", "me", end, kit.world.now(), LIFE).await.unwrap());
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 0, "the slow one has read nothing");
        let half = outbox.read(slow, &["a"], 700).await.unwrap();
        assert!(outbox.advance("slow", "me", half.end, kit.world.now(), LIFE).await.unwrap());
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
        let position = begin(&kit, &site, "test").await;
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
    let mut position = begin(&kit, &site, "test").await;
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

/// Numbers of transactions begin again in a new cluster.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restored_database_is_read_on() {
    let kit = TestStore::new(Engine::Postgres).await;
    let id = {
        let site = site(&kit).await;
        put(&kit, &site, "a", "1").await;
        put(&kit, &site, "a", "2").await;
        let position = begin(&kit, &site, "test").await;
        let read = site.outbox().read(position, &["a"], 1).await.unwrap();
        assert!(site.outbox().advance("test", "me", read.end, kit.world.now(), LIFE).await.unwrap());
        let client = connect(&kit).await;
        let ahead = "update stoa.outbox set tx = tx + 1000000000; update stoa.outbox_consumer set tx = tx + 1000000000";
        client.batch_execute(ahead).await.unwrap();
        site.id.clone()
    };
    let (world, (config, _guards)) = (kit.world.clone(), kit.close());
    let store = Store::open(&config).await.unwrap();
    let site = store.site(&id).await.unwrap();
    let later = world.now() + 2 * LIFE;
    let mut position = site.outbox().claim("test", "next", later, LIFE).await.unwrap().unwrap();
    let now = world.now();
    let written =
        site.append_with(id.clone(), move |tx, id| boxed!(outbox::put(tx, id, "a", "3".to_owned(), now).await));
    written.await.unwrap();
    assert_eq!(read_all(&site, &mut position).await, ["2", "3"]);
}
