//! What readers of a log are told: of commits at once, and of gaps where something is not there any more
//! (decision 23).

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use stoa_kernel::{Code, Fault, SiteId};
use stoa_sql::params;
use stoa_store::{
    Config, InsertWithEvent, News, ReaderPool, Site, Store, boxed,
    outbox::{self, Batch, Gap, GapReason, KEPT_BYTES, KEPT_FOR, PendingEntry, Position, RESTORED, Read, Start, Token},
};
use stoa_testkit::{Engine, TestStore, on_both_engines, postgres_url};

mod searched;

/// Longer than anything takes that is waited for.
const LONG: Duration = Duration::from_secs(30);

async fn site(kit: &TestStore) -> Arc<Site> {
    kit.store.site_create("test", &kit.world).await.unwrap()
}

async fn put(site: &Site, payload: &str) {
    let written = site.append_with((site.id.clone(), payload.to_owned()), |tx, (id, payload)| {
        boxed!(outbox::put(tx, id, "a", payload.clone(), 1_767_225_600_000).await)
    });
    written.await.unwrap();
}

/// Reads behind a place until there are so many rows: on PostgreSQL transactions of other databases hold readers up.
async fn read_until(site: &Site, mut after: Position, count: usize) -> (Vec<String>, Position) {
    let (mut news, mut found) = (site.outbox().news(), Vec::new());
    loop {
        let batch = site.outbox().read(after, &["a"], 100).await.unwrap();
        after = batch.end;
        found.extend(batch.entries.into_iter().map(|it| it.payload));
        if found.len() >= count && batch.is_last {
            return (found, after);
        }
        if batch.is_last {
            news.wait(Duration::from_millis(100)).await;
        }
    }
}

/// A token behind so many rows.
async fn token_behind(site: &Site, count: usize) -> Token {
    let (_, position) = read_until(site, Position::default(), count).await;
    Token { position, ..site.outbox().end().await.unwrap() }
}

async fn resumed(site: &Site, token: &Token) -> Result<Batch, Gap> {
    let token = Token::parse(&token.to_string()).unwrap();
    match site.outbox().resume(&token, &["a"], 100).await.unwrap() {
        Read::Batch(batch) => Ok(batch),
        Read::Gap(gap) => Err(gap),
    }
}

async fn reason(site: &Site, token: &Token) -> Option<GapReason> {
    resumed(site, token).await.err().map(|it| it.reason)
}

async fn epoch(site: &Site) -> String {
    site.outbox().end().await.unwrap().epoch
}

/// Runs a statement on a site's data.
async fn run(site: &Site, sql: &'static str) {
    site.append(move |tx| boxed!(Ok(tx.batch(sql).await?))).await.unwrap();
}

/// Waits for an announcement.
async fn heard(news: &mut News, what: &str) {
    assert!(news.wait(LONG).await, "{what} is announced");
}

on_both_engines! {
    async fn commits_are_announced_by_whatever_wrote_them(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        run(&site, "create table stoa.thing (id text primary key)").await;
        let mut news = site.outbox().news();
        let entry = PendingEntry { site: site.id.clone(), kind: "a", payload: "1".to_owned(), now: 1 };
        site.write_with(entry.clone(), |tx, it| boxed!(it.clone().put(tx).await)).await.unwrap();
        heard(&mut news, "a write").await;
        site.append_with(entry.clone(), |tx, it| boxed!(it.clone().put(tx).await)).await.unwrap();
        heard(&mut news, "an append").await;
        site.write_alone_with(entry.clone(), |tx, it| boxed!(it.clone().put(tx).await)).await.unwrap();
        heard(&mut news, "a write on its own").await;
        let insert = InsertWithEvent {
            into: "insert into stoa.thing (id)".to_owned(),
            values: vec!["$1".to_owned()],
            key: "id",
            row: params!["x"].to_vec(),
            event: entry,
        };
        assert!(site.insert_with_event(insert.clone()).await.unwrap());
        heard(&mut news, "an insert").await;
        assert_eq!(read_until(&site, Position::default(), 4).await.0, ["1"; 4]);
        assert!(!site.insert_with_event(insert).await.unwrap());
        assert_eq!(site.outbox().status(1).await.unwrap().rows, 4, "what was there is no news");
    }

    async fn undone_writes_leave_nothing_and_are_not_announced(engine) {
        let kit = TestStore::new(engine).await;
        let (site, other) = (site(&kit).await, site(&kit).await);
        let (mut news, mut of_other) = (site.outbox().news(), other.outbox().news());
        for _ in 0..3 {
            let undone = site.write_with(site.id.clone(), |tx, id| boxed!({
                outbox::put(tx, id, "a", "never".to_owned(), 1).await?;
                Err::<(), _>(Fault::new(Code::NotFound))
            }));
            assert_eq!(undone.await.unwrap_err().code(), Code::NotFound);
        }
        assert_eq!(site.outbox().status(1).await.unwrap().rows, 0);
        put(&other, "of another site").await;
        heard(&mut of_other, "a commit").await;
        assert_eq!(read_until(&other, Position::default(), 1).await.0, ["of another site"]);
        assert!(!news.wait(Duration::ZERO).await, "neither what was undone nor what another site wrote");
        assert!(site.outbox().read(Position::default(), &[], 10).await.unwrap().entries.is_empty());
    }

    async fn token_leads_on_from_where_its_reader_was(engine) {
        let kit = TestStore::new(engine).await;
        let (site, other) = (site(&kit).await, site(&kit).await);
        for payload in ["0", "1", "2"] {
            put(&site, payload).await;
        }
        put(&other, "another's").await;
        let token = token_behind(&site, 3).await;
        assert!(resumed(&site, &token).await.unwrap().entries.is_empty());
        put(&site, "3").await;
        read_until(&site, token.position, 1).await;
        let batch = resumed(&site, &token).await.unwrap();
        assert_eq!(batch.entries.iter().map(|it| it.payload.as_str()).collect::<Vec<_>>(), ["3"]);

        // Two events of the row were delivered.
        let part = Token { position: batch.end, delivered: Some(2), ..token.clone() };
        let again = resumed(&site, &part).await.unwrap();
        let skips: Vec<_> = again.entries.iter().map(|it| (it.payload.as_str(), part.skip(it.position()))).collect();
        assert_eq!(skips, [("3", 2)]);

        assert_eq!(reason(&other, &token).await, Some(GapReason::Epoch), "a token of another site");
        assert_ne!(epoch(&site).await, epoch(&other).await);
    }

    async fn epoch_lasts_until_the_data_are_restored(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        site.outbox().subscribe("test", Start::Oldest).await.unwrap();
        put(&site, "0").await;
        put(&site, "1").await;
        let (token, first) = (token_behind(&site, 2).await, epoch(&site).await);
        let begun = kit.store.log_restored(&site.id).await.unwrap();
        assert_eq!((&begun, begun == first), (&epoch(&site).await, false));
        put(&site, "2").await;
        let gap = resumed(&site, &token).await.unwrap_err();
        assert_eq!(gap.reason, GapReason::Epoch);
        let (rows, _) = read_until(&site, gap.oldest, 3).await;
        assert_eq!(rows, ["0", "1", "2"], "what is there can be read");
        let all = site.outbox().read(Position::default(), &[], 10).await.unwrap().entries;
        let numbers: Vec<i64> = all.iter().map(|it| it.sequence).collect();
        assert_eq!(all[2].kind, RESTORED);
        assert!(all[2].payload.contains(&begun) && numbers[2] > numbers[1] + 4_000_000_000, "{numbers:?}");

        // A consumer goes on; its place is part of the data.
        let lease = site.outbox().consumers().await.unwrap().pop().unwrap();
        let lease = site.outbox().take(&lease, "me").await.unwrap().unwrap();
        let Read::Batch(batch) = site.outbox().read_for(lease.position, &[], 10).await.unwrap() else { panic!("a gap") };
        assert_eq!(batch.entries.len(), 4);

        // Opened again it is what it was.
        let id = site.id.clone();
        drop(site);
        let (config, _guards) = kit.close();
        let store = Store::open(&config).await.unwrap();
        let site = store.site(&id).await.unwrap();
        assert_eq!(epoch(&site).await, begun);
        assert_eq!(site.outbox().status(1).await.unwrap().rows, 4);
    }

    async fn log_of_a_site_that_was_deleted_and_restored_begins_anew(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        put(&site, "0").await;
        let (id, token) = (site.id.clone(), token_behind(&site, 1).await);
        drop(site);
        kit.store.site_delete(&id, kit.world.now()).await.unwrap();
        kit.store.site_restore(&id, kit.world.now()).await.unwrap();
        let site = kit.store.site(&id).await.unwrap();
        assert_eq!(reason(&site, &token).await, Some(GapReason::Epoch));
        let settled = epoch(&site).await;
        kit.store.logs_tend(kit.world.now()).await;
        assert_eq!(epoch(&site).await, settled, "once");
    }

    async fn place_that_never_was_is_a_gap(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        for payload in ["0", "1", "2"] {
            put(&site, payload).await;
        }
        let token = token_behind(&site, 3).await;
        // An earlier state that was put back with all that tells of it.
        run(&site, "delete from stoa.outbox where payload = '2'").await;
        assert_eq!(reason(&site, &token).await, Some(GapReason::Epoch));
        let here = token_behind(&site, 2).await;
        assert_eq!(reason(&site, &here).await, None);
    }

    async fn place_before_deleted_rows_is_a_gap(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        for n in 0..5 {
            put(&site, &n.to_string()).await;
        }
        let outbox = site.outbox();
        for (name, start) in [("slow", Start::Oldest), ("quick", Start::Oldest)] {
            outbox.subscribe(name, start).await.unwrap();
        }
        let (early, late) = (token_behind(&site, 5).await, read_until(&site, Position::default(), 5).await.1);
        let early = Token { position: outbox.read(Position::default(), &[], 2).await.unwrap().end, ..early };
        let quick = outbox.take(&outbox.consumers().await.unwrap()[0], "me").await.unwrap().unwrap();
        assert!(outbox.advance(&quick, late).await.unwrap());
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 0, "the slow one holds them");
        assert_eq!(reason(&site, &early).await, None);

        // The slow one has been dead for too long.
        kit.clock.advance(outbox::UNREAD_FOR);
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 4);
        let gap = resumed(&site, &early).await.unwrap_err();
        assert_eq!(gap.reason, GapReason::Floor);
        assert_eq!(read_until(&site, gap.oldest, 1).await.0, ["4"], "the newest is there");
        let place = outbox.consumers().await.unwrap();
        let slow = outbox.take(&place[1], "me").await.unwrap().unwrap();
        let Read::Gap(told) = outbox.read_for(slow.position, &["a"], 9).await.unwrap() else { panic!("no gap") };
        assert_eq!(told, gap);
        assert!(outbox.lags(kit.world.now()).await.unwrap()[1].has_gap);

        // Until it comes back it holds nothing.
        put(&site, "5").await;
        read_until(&site, late, 1).await;
        let end = outbox.end().await.unwrap();
        assert!(outbox.advance(&quick, end.position).await.unwrap());
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 1);
        assert!(outbox.advance(&slow, told.oldest).await.unwrap());
        assert_eq!(reason(&site, &end).await, None, "the end of the log is behind all gaps");
    }

    async fn rows_stay_for_those_who_resume(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let outbox = site.outbox();
        outbox.subscribe("test", Start::Newest).await.unwrap();
        let keep = |reason: &'static str| site.write_with(site.id.clone(), move |tx, id| {
            boxed!(outbox::keep(tx, id, reason).await)
        });
        for reason in ["collection:a", "collection:b", "collection:a"] {
            keep(reason).await.unwrap();
        }
        for n in 0..5 {
            put(&site, &n.to_string()).await;
        }
        let start = Token { position: Position::default(), ..token_behind(&site, 5).await };
        let lease = outbox.take(&outbox.consumers().await.unwrap()[0], "me").await.unwrap().unwrap();
        let read_all = async || {
            let end = outbox.end().await.unwrap().position;
            assert!(outbox.advance(&lease, end).await.unwrap());
        };
        read_all().await;
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 0, "read by all, and kept");
        assert_eq!(resumed(&site, &start).await.unwrap().entries.len(), 5);
        let status = outbox.status(kit.world.now()).await.unwrap();
        assert_eq!((status.rows, status.bytes, status.reasons), (5, 5, vec!["collection:a".to_owned(), "collection:b".to_owned()]));

        let drop_reason = |reason: &'static str| site.write_with(site.id.clone(), move |tx, id| {
            boxed!(outbox::keep_no_longer(tx, id, reason).await)
        });
        for reason in ["collection:a", "collection:a", "never"] {
            drop_reason(reason).await.unwrap();
        }
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 0, "one reason is left");
        kit.clock.advance(KEPT_FOR);
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 4, "for ten minutes");
        drop_reason("collection:b").await.unwrap();
        put(&site, "5").await;
        read_until(&site, Position::default(), 2).await;
        read_all().await;
        assert_eq!(outbox.prune(kit.world.now()).await.unwrap(), 1, "no reason is left");
    }

    async fn kept_rows_have_a_bound_in_bytes(engine) {
        let kit = TestStore::new(engine).await;
        let site = site(&kit).await;
        let kept = site.write_with(site.id.clone(), |tx, id| boxed!(outbox::keep(tx, id, "test").await));
        kept.await.unwrap();
        let large = "x".repeat(4 << 20);
        let now = kit.world.now();
        for n in 0..18 {
            put(&site, &large).await;
            if n % 5 == 0 {
                site.outbox().prune(now).await.unwrap();
            }
        }
        let newest = site.outbox().status(now).await.unwrap().last;
        let mut left = 18;
        // On PostgreSQL those that can't be read yet are looked at later.
        for _ in 0..600 {
            site.outbox().prune(now).await.unwrap();
            left = site.outbox().status(now).await.unwrap().rows;
            if left < 16 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(left, KEPT_BYTES / ((4 << 20) + 100), "the newest that have 64 MB together");
        assert_eq!(site.outbox().status(now).await.unwrap().last, newest);
    }
}

/// Waits until a site's database is closed, and sees to it that all of it is in its file: where a reader is the last to
/// close it, some stays in the log beside it.
async fn closed(config: &Config, id: &SiteId) -> PathBuf {
    let file = config.data.join("sites").join(format!("{id}.db"));
    for database in [&file, &config.data.join("catalog.db")] {
        emptied(database).await;
        for _ in 0..1_000 {
            if !is_open(database) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(!is_open(database), "{} stays open", database.display());
    }
    file
}

/// Has all of a database in its file, and nothing in the log beside it.
pub(crate) async fn emptied(database: &Path) {
    let opened = rusqlite::Connection::open(database).unwrap();
    let mut left = 1;
    for _ in 0..1_000 {
        left = opened.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0)).unwrap();
        if left == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(left, 0, "{} stays in use", database.display());
    opened.close().unwrap();
}

/// Whether this process has a file open.
fn is_open(file: &Path) -> bool {
    let mut open = fs::read_dir("/proc/self/fd").unwrap().filter_map(|it| fs::read_link(it.ok()?.path()).ok());
    open.any(|it| it == file)
}

/// A store on SQLite with three rows, closed; a copy of its files from then; and a token of rows that came later.
struct Replaced {
    config: Config,
    id: SiteId,
    copies: PathBuf,
    token: Token,
    newest: i64,
    _guards: stoa_testkit::Guards,
}

impl Replaced {
    async fn new() -> Self {
        let kit = TestStore::new(Engine::Sqlite).await;
        let site = site(&kit).await;
        for payload in ["0", "1", "2"] {
            put(&site, payload).await;
        }
        let id = site.id.clone();
        drop(site);
        let (config, guards) = kit.close();
        let file = closed(&config, &id).await;
        let copies = config.data.join("outbox").join("copies");
        fs::create_dir(&copies).unwrap();
        fs::copy(&file, copies.join("site.db")).unwrap();
        fs::copy(config.data.join("catalog.db"), copies.join("catalog.db")).unwrap();

        let store = Store::open(&config).await.unwrap();
        let site = store.site(&id).await.unwrap();
        for payload in ["3", "4"] {
            put(&site, payload).await;
        }
        store.logs_tend(1_767_225_600_000).await;
        let token = token_behind(&site, 5).await;
        let newest = site.outbox().status(1).await.unwrap().last.unwrap();
        store.close();
        drop((site, store));
        closed(&config, &id).await;
        Self { config, id, copies, token, newest, _guards: guards }
    }

    fn file(&self) -> PathBuf {
        self.config.data.join("sites").join(format!("{}.db", self.id))
    }

    /// Writes over a file, which stays the same one.
    fn overwrite(&self, name: &str, to: &Path) {
        fs::write(to, fs::read(self.copies.join(name)).unwrap()).unwrap();
    }

    /// Opens it again, and makes sure that a place of before leads nowhere and no number comes twice.
    async fn check(self) {
        let store = Store::open(&self.config).await.unwrap();
        let site = store.site(&self.id).await.unwrap();
        assert_eq!(reason(&site, &self.token).await, Some(GapReason::Epoch));
        put(&site, "other").await;
        let rows = site.outbox().read(Position::default(), &["a"], 10).await.unwrap().entries;
        let payloads: Vec<_> = rows.iter().map(|it| it.payload.as_str()).collect();
        assert_eq!(payloads, ["0", "1", "2", "other"]);
        assert!(rows[3].sequence > self.newest, "{rows:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_that_was_put_in_place_of_a_site_is_noticed() {
    let replaced = Replaced::new().await;
    let beside = replaced.file().with_extension("new");
    fs::copy(replaced.copies.join("site.db"), &beside).unwrap();
    fs::rename(&beside, replaced.file()).unwrap();
    // The catalogue of then, too: it knows of nothing else.
    replaced.overwrite("catalog.db", &replaced.config.data.join("catalog.db"));
    replaced.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn site_that_was_written_over_is_behind_the_catalogue() {
    let replaced = Replaced::new().await;
    replaced.overwrite("site.db", &replaced.file());
    replaced.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_that_were_all_written_over_are_told_of_by_command() {
    let replaced = Replaced::new().await;
    replaced.overwrite("site.db", &replaced.file());
    replaced.overwrite("catalog.db", &replaced.config.data.join("catalog.db"));
    let store = Store::open(&replaced.config).await.unwrap();
    let site = store.site(&replaced.id).await.unwrap();
    assert_eq!(reason(&site, &replaced.token).await, Some(GapReason::Epoch), "its place is not there yet");
    drop(site);
    store.log_restored(&replaced.id).await.unwrap();
    store.close();
    drop(store);
    replaced.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_that_is_put_back_twice_gives_no_number_twice() {
    let replaced = Replaced::new().await;
    let mut newest = replaced.newest;
    for _ in 0..2 {
        replaced.overwrite("site.db", &replaced.file());
        replaced.overwrite("catalog.db", &replaced.config.data.join("catalog.db"));
        let store = Store::open(&replaced.config).await.unwrap();
        store.log_restored(&replaced.id).await.unwrap();
        let site = store.site(&replaced.id).await.unwrap();
        put(&site, "other").await;
        let rows = site.outbox().read(Position::default(), &[RESTORED, "a"], 10).await.unwrap().entries;
        let new = rows.iter().find(|it| it.kind == RESTORED).unwrap().sequence;
        assert!(new > newest, "{new} comes after {newest}");
        newest = rows.last().unwrap().sequence;
        store.close();
        drop((site, store));
        closed(&replaced.config, &replaced.id).await;
    }
}

/// A copy of a database is what a dump is that was restored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copy_of_a_database_is_noticed() {
    let kit = TestStore::new(Engine::Postgres).await;
    let site = site(&kit).await;
    put(&site, "0").await;
    let (id, token) = (site.id.clone(), token_behind(&site, 1).await);
    drop(site);
    let url = kit.config.database_url.clone().unwrap();
    kit.store.leave().await;
    let (config, _guards) = kit.close();
    let (server, name) = url.rsplit_once('/').unwrap();
    let copy = format!("{name}_copy");
    let (client, connection) = tokio_postgres::connect(&postgres_url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let make = format!("create database {copy} template {name}");
    for attempt in 0.. {
        // Its connections close a moment later.
        match client.batch_execute(&make).await {
            Ok(()) => break,
            Err(error) if attempt == 200 => panic!("{error}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let copied =
        Config { data: directory.path().to_owned(), database_url: Some(format!("{server}/{copy}")), ..config.clone() };
    let there = Store::open(&copied).await.unwrap();
    let site = there.site(&id).await.unwrap();
    assert_eq!(reason(&site, &token).await, Some(GapReason::Epoch), "in the copy");
    there.leave().await;
    there.close();
    drop((site, there));

    let store = Store::open(&config).await.unwrap();
    let site = store.site(&id).await.unwrap();
    assert_eq!(reason(&site, &token).await, None, "where it was");
    store.close();
    client.batch_execute(&format!("drop database if exists {copy} with (force)")).await.unwrap();
}

/// A database that became another one while its nodes ran.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_notice_that_the_data_are_elsewhere() {
    let kit = TestStore::new(Engine::Postgres).await;
    let site = site(&kit).await;
    put(&site, "0").await;
    let token = token_behind(&site, 1).await;
    assert_eq!(reason(&site, &token).await, None);
    run(&site, "update stoa.log set origin = 'where it was'").await;
    assert_eq!(reason(&site, &token).await, Some(GapReason::Epoch), "before anything was done about it");
    let id = site.id.clone();
    drop(site);
    let (config, _guards) = kit.close();
    let store = Store::open(&config).await.unwrap();
    let site = store.site(&id).await.unwrap();
    let fresh = site.outbox().end().await.unwrap();
    assert_eq!((reason(&site, &fresh).await, reason(&site, &token).await), (None, Some(GapReason::Epoch)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_other_nodes_are_heard_of() {
    let kit = TestStore::new(Engine::Postgres).await;
    let nodes = kit.nodes(2).await;
    let here = site(&kit).await;
    let there = nodes[1].store.site(&here.id).await.unwrap();
    let mut news = here.outbox().news();
    let mut place = Position::default();
    for n in 0..5 {
        put(&there, &n.to_string()).await;
        let mut found = Vec::new();
        while found.is_empty() {
            heard(&mut news, "a row of another node").await;
            let batch = here.outbox().read(place, &["a"], 10).await.unwrap();
            place = batch.end;
            found.extend(batch.entries.into_iter().map(|it| it.payload));
        }
        assert_eq!(found, [n.to_string()]);
    }
}

/// A row that is committed while an older transaction runs is announced when it can be read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_were_held_up_are_announced_later() {
    let kit = TestStore::new(Engine::Postgres).await;
    let site = site(&kit).await;
    let url = kit.config.database_url.as_deref().unwrap();
    let (older, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let mut news = site.outbox().news();
    older.batch_execute("begin; select pg_current_xact_id()").await.unwrap();
    put(&site, "0").await;
    heard(&mut news, "the commit").await;
    assert!(site.outbox().read(Position::default(), &["a"], 10).await.unwrap().entries.is_empty());
    let lags = site.outbox();
    lags.subscribe("test", Start::Newest).await.unwrap();
    let lag = &lags.lags(1_767_225_605_000).await.unwrap()[0];
    assert_eq!((lag.lag_rows, lag.lag), (1, 5_000), "those who watch see it wait");
    older.batch_execute("commit").await.unwrap();
    while site.outbox().read(Position::default(), &["a"], 10).await.unwrap().entries.is_empty() {
        heard(&mut news, "that it can be read").await;
    }
    let read = site.read(ReaderPool::Point, |tx| {
        boxed!(Ok(tx.row("select count(*) from stoa.outbox", &[], |row| row.get::<i64>(0)).await?))
    });
    assert_eq!(read.await.unwrap(), Some(1));
}
