//! The other limit: the same statements by hand on the raw engine, with the same table and indexes.

use crate::{
    memory::processor_time,
    program::{Engine, Random, item, item_id},
};
use rusqlite::Connection;
use std::{
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use stoa_sql::{
    Dialect, Table,
    json::{DocumentPath, Root},
};

/// Ids and documents of one transaction.
pub type Batch = Vec<(String, String)>;

const TABLE: Table = Table { site: 9_999_999, number: 1 };

pub enum Raw {
    Sqlite { directory: tempfile::TempDir, items: usize },
    Postgres { url: String, items: usize },
}

impl Raw {
    pub fn make(engine: Engine, url: Option<&str>, items: usize) -> Self {
        let raw = match engine {
            Engine::Sqlite => Self::Sqlite { directory: tempfile::tempdir().unwrap(), items },
            Engine::Postgres => Self::Postgres { url: url.unwrap().to_owned(), items },
        };
        match &raw {
            Self::Sqlite { .. } => {
                let conn = raw.open();
                for sql in stoa_sql::Sqlite.create_items_table(TABLE) {
                    conn.execute_batch(&sql.replace("stoa.", "")).unwrap();
                }
            }
            Self::Postgres { .. } => raw.on_postgres(|client| {
                Box::pin(async move {
                    for sql in stoa_sql::Postgres.create_items_table(TABLE) {
                        client.batch_execute(&sql).await.unwrap();
                    }
                })
            }),
        }
        // pgbench can only make numbers, so there the ids are numbers.
        let id = move |n: usize| if engine == Engine::Sqlite { item_id(n) } else { n.to_string() };
        let batch =
            move |start: usize| (start..items.min(start + 1000)).map(|n| (id(n), item(n).to_string())).collect();
        raw.insert_all((0..items).step_by(1000).map(batch));
        raw
    }

    fn path(&self) -> PathBuf {
        match self {
            Self::Sqlite { directory, .. } => directory.path().join("raw.db"),
            Self::Postgres { .. } => PathBuf::new(),
        }
    }

    fn open(&self) -> Connection {
        let conn = Connection::open(self.path()).unwrap();
        conn.execute_batch("pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536; pragma mmap_size = 1073741824; pragma busy_timeout = 10000").unwrap();
        conn
    }

    /// One batch in one transaction.
    pub fn insert(&self, batch: &[(String, String)]) {
        match self {
            Self::Sqlite { .. } => insert_sqlite(&mut self.open(), batch),
            Self::Postgres { .. } => self.insert_postgres([batch.to_vec()].into_iter()),
        }
    }

    /// Many batches over one connection.
    pub fn insert_all(&self, batches: impl Iterator<Item = Batch> + 'static) {
        match self {
            Self::Sqlite { .. } => {
                let mut conn = self.open();
                batches.for_each(|it| insert_sqlite(&mut conn, &it));
            }
            Self::Postgres { .. } => self.insert_postgres(batches),
        }
    }

    fn insert_postgres(&self, batches: impl Iterator<Item = Batch> + 'static) {
        self.on_postgres(move |client| Box::pin(async move {
            let sql = format!(
                "insert into {} (id, created, updated, doc) select u.a, 1, 1, u.b from unnest($1::text[], $2::text[]) as u(a, b)",
                stoa_sql::Postgres.table(TABLE)
            );
            let statement = client.prepare(&sql).await.unwrap();
            for batch in batches {
                let (ids, docs): (Vec<&str>, Vec<&str>) = batch.iter().map(|(id, doc)| (id.as_str(), doc.as_str())).unzip();
                client.execute(&statement, &[&ids, &docs]).await.unwrap();
            }
        }));
    }

    /// An index over the numbers of a field, with the id behind them.
    pub fn index_price(&self) {
        let [price, ..] = self.fields();
        match self {
            Self::Sqlite { .. } => {
                self.open().execute_batch(&format!("create index c1_price on c1 ({price}, id)")).unwrap()
            }
            Self::Postgres { .. } => {
                let table = stoa_sql::Postgres.table(TABLE);
                let sql = format!("create index on {table} (({price}), id)");
                self.on_postgres(move |client| Box::pin(async move { client.batch_execute(&sql).await.unwrap() }));
            }
        }
    }

    /// Lets PostgreSQL do now, for both sides' tables, what it would begin to do in the middle of a
    /// measurement: it cleans and counts a table about a minute after it was filled.
    pub fn settle(&self) {
        self.on_postgres(|client| Box::pin(async move { client.batch_execute("vacuum (analyze)").await.unwrap() }));
    }

    /// A range of an indexed field, in its order.
    pub fn indexed_pages(&self, connections: usize, period: Duration) -> f64 {
        let [price, ..] = self.fields();
        match self {
            Self::Sqlite { .. } => {
                let sql = format!("select id, json(doc) from c1 where {price} >= ? order by {price}, id limit 51");
                self.in_threads(period, move |conn, random| page(conn, &sql, [random.below(9000) as f64]))
            }
            Self::Postgres { .. } => {
                let table = stoa_sql::Postgres.table(TABLE);
                let sql = format!("select id, doc from {table} where {price} >= :p order by {price}, id limit 51");
                self.pgbench(connections, period, &format!("\\set p random(0, 8999)\n{sql};\n"))
            }
        }
    }

    /// A filter without an index: one page, and how many there are.
    pub fn filtered_pages(&self, connections: usize, period: Duration) -> f64 {
        let [_, n, color] = self.fields();
        let filter = |from: &str| format!("where {n} > {from} and {color} = 'red'");
        match self {
            Self::Sqlite { items, .. } => {
                let (most, filter) = (*items, filter("?"));
                let find = format!("select id, json(doc) from c1 {filter} order by created desc, id desc limit 51");
                let count = format!("select count(*) from c1 {filter}");
                self.in_threads(period, move |conn, random| {
                    let from = [random.below(most / 2) as f64];
                    page(conn, &find, from);
                    let count: i64 = conn.prepare_cached(&count).unwrap().query_row(from, |row| row.get(0)).unwrap();
                    assert!(count > 50);
                })
            }
            Self::Postgres { items, .. } => {
                let (table, filter) = (stoa_sql::Postgres.table(TABLE), filter(":p"));
                let script = format!(
                    "\\set p random(0, {})\nselect id, doc from {table} {filter} order by created desc, id desc limit 51;\n\
                     select count(*) from {table} {filter};\n",
                    items / 2
                );
                self.pgbench(connections, period, &script)
            }
        }
    }

    /// The seconds that count, sum, average and extremes by one or two keys take.
    pub fn group_seconds(&self, keys: usize, is_parallel: bool) -> f64 {
        let [price, n, color] = self.fields();
        let key = if keys == 1 { color } else { format!("{color}, {price}") };
        let select = format!("select {key}, count(*), sum({n}), avg({n}), min({price}), max({price}) from");
        let numbers: Vec<_> = (1..=keys).map(|it| it.to_string()).collect();
        let by = format!("group by {}", numbers.join(", "));
        match self {
            Self::Sqlite { .. } => {
                let conn = self.open();
                let start = Instant::now();
                let mut statement = conn.prepare(&format!("{select} c1 {by}")).unwrap();
                let mut rows = statement.query(()).unwrap();
                while rows.next().unwrap().is_some() {}
                start.elapsed().as_secs_f64()
            }
            Self::Postgres { .. } => {
                let sql = format!("{select} {} {by}", stoa_sql::Postgres.table(TABLE));
                let workers = if is_parallel { 2 } else { 0 };
                let seconds = Arc::new(std::sync::OnceLock::new());
                let taken = seconds.clone();
                self.on_postgres(move |client| {
                    Box::pin(async move {
                        let set = format!("set jit = off; set max_parallel_workers_per_gather = {workers}");
                        client.batch_execute(&set).await.unwrap();
                        let start = Instant::now();
                        client.query(&sql, &[]).await.unwrap();
                        let _ = taken.set(start.elapsed().as_secs_f64());
                    })
                });
                seconds.get().copied().unwrap_or_default()
            }
        }
    }

    /// PostgreSQL: one item a transaction, and nothing to announce it.
    pub fn plain_inserts(&self, connections: usize, period: Duration) -> f64 {
        let (table, doc) = (stoa_sql::Postgres.table(TABLE), item(7).to_string());
        let doc = doc.replace('\'', "''").replace(':', ": ");
        let columns = "(id, created, updated, doc)";
        let script = format!("insert into {table} {columns} values (gen_random_uuid()::text, 1, 1, '{doc}');\n");
        self.pgbench(connections, period, &script)
    }

    /// SQLite: one synced commit an insert, on one connection in this process. PostgreSQL: pgbench.
    pub fn single_inserts(&self, connections: usize, period: Duration) -> f64 {
        let doc = item(7).to_string();
        match self {
            Self::Sqlite { .. } => synced_inserts(&self.open(), period),
            Self::Postgres { .. } => {
                let table = stoa_sql::Postgres.table(TABLE);
                let doc = doc.replace('\'', "''").replace(':', ": ");
                let event = r#"{"collection": "bulk", "identity": {"type": "APP", "id": "00000000"}, "items": ["#;
                // The item and the row of the outbox that announces it, in one statement as ours.
                let script = format!(
                    "with new as (insert into {table} (id, created, updated, doc) \
                     values (gen_random_uuid()::text, 1, 1, '{doc}') on conflict do nothing returning id) \
                     insert into stoa.outbox (site, kind, payload, created) \
                     select 'site', 'data_item_created', '{event}{doc}]}}', 1 from new;\n"
                );
                self.pgbench(connections, period, &script)
            }
        }
    }

    /// SQLite: one synced update a commit, on one connection in this process. PostgreSQL: pgbench, with the row of the
    /// outbox that announces it.
    pub fn single_updates(&self, connections: usize, period: Duration) -> f64 {
        let doc = item(7).to_string();
        match self {
            Self::Sqlite { items, .. } => {
                let (conn, mut random, mut done) = (self.open(), Random::new(), 0);
                let mut statement =
                    conn.prepare("update c1 set updated = updated + 1, doc = jsonb(?) where id = ?").unwrap();
                let start = Instant::now();
                while start.elapsed() < period {
                    statement.execute((&doc, item_id(random.below(*items)))).unwrap();
                    done += 1;
                }
                f64::from(done) / start.elapsed().as_secs_f64()
            }
            Self::Postgres { items, .. } => {
                let (table, doc) = (stoa_sql::Postgres.table(TABLE), doc.replace('\'', "''").replace(':', ": "));
                let event = r#"{"collection": "bulk", "identity": {"type": "APP", "id": "00000000"}, "items": ["#;
                let script = format!(
                    "\\set n random(0, {})\n\
                     with new as (update {table} set updated = updated + 1, doc = '{doc}' where id = :n returning id) \
                     insert into stoa.outbox (site, kind, payload, created) \
                     select 'site', 'data_item_updated', '{event}{doc}]}}', 1 from new;\n",
                    items - 1
                );
                self.pgbench(connections, period, &script)
            }
        }
    }

    /// How a price, a number and a color are read, as a hand would that wants these answers from items of
    /// any types: NULL unless of the right one.
    fn fields(&self) -> [String; 3] {
        let value_at = |name: &str| DocumentPath { root: Root::Document, names: vec![name.to_owned()] };
        let dialect: &dyn Dialect = match self {
            Self::Sqlite { .. } => &stoa_sql::Sqlite,
            Self::Postgres { .. } => &stoa_sql::Postgres,
        };
        [dialect.number(&value_at("price")), dialect.number(&value_at("n")), dialect.text(&value_at("color"))]
    }

    /// SQLite: as many threads as cores, each with a connection. PostgreSQL: pgbench with prepared statements.
    pub fn point_reads(&self, connections: usize, period: Duration) -> f64 {
        match self {
            Self::Sqlite { items, .. } => {
                let items = *items;
                self.in_threads(period, move |conn, random| {
                    let mut statement = conn.prepare_cached("select id, json(doc) from c1 where id = ?").unwrap();
                    let length = statement
                        .query_row([item_id(random.below(items))], |row| Ok(row.get_ref(1)?.as_str()?.len()))
                        .unwrap();
                    assert!(length > 100);
                })
            }
            Self::Postgres { items, .. } => self.pgbench(
                connections,
                period,
                &format!(
                    "\\set n random(0, {})\nselect id, doc from {} where id = :n;\n",
                    items - 1,
                    stoa_sql::Postgres.table(TABLE)
                ),
            ),
        }
    }

    pub fn pages(&self, connections: usize, period: Duration) -> f64 {
        let sql = "select id, json(doc) from c1 order by created desc, id desc limit 51 offset ?";
        match self {
            Self::Sqlite { .. } => self.in_threads(period, move |conn, random| {
                let mut statement = conn.prepare_cached(sql).unwrap();
                let mut rows = statement.query([random.below(200) as i64]).unwrap();
                let mut length = 0;
                while let Some(row) = rows.next().unwrap() {
                    length += row.get_ref(1).unwrap().as_str().unwrap().len();
                }
                assert!(length > 1000);
            }),
            Self::Postgres { .. } => self.pgbench(
                connections,
                period,
                &format!(
                    "\\set n random(0, 199)\nselect id, doc from {} order by created desc, id desc limit 51 offset :n;\n",
                    stoa_sql::Postgres.table(TABLE)
                ),
            ),
        }
    }

    /// Items a second, 1,000 a transaction, from two writers.
    pub fn bulk_inserts(&self, period: Duration) -> f64 {
        let start = Instant::now();
        let made = AtomicUsize::new(u64::from_le_bytes(stoa_kernel::World::real().bytes::<8>()) as u32 as usize);
        let done = AtomicUsize::new(0);
        let docs: Vec<String> = (0..1000).map(|n| item(n).to_string()).collect();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut conn = matches!(self, Self::Sqlite { .. }).then(|| self.open());
                    while start.elapsed() < period {
                        let batch: Vec<_> = docs
                            .iter()
                            .map(|doc| (format!("b{:x}", made.fetch_add(1, Ordering::Relaxed)), doc.clone()))
                            .collect();
                        match &mut conn {
                            Some(conn) => insert_sqlite(conn, &batch),
                            None => self.insert(&batch),
                        }
                        done.fetch_add(1000, Ordering::Relaxed);
                    }
                });
            }
        });
        done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
    }

    /// What [`Raw::indexed_pages`] comes to, and the processor time of this process for each page. Of
    /// PostgreSQL's, which is spent elsewhere, nothing is known.
    pub fn indexed_pages_and_cost(&self, connections: usize, period: Duration) -> (f64, f64) {
        let before = processor_time(std::process::id());
        let rate = self.indexed_pages(connections, period);
        (rate, (processor_time(std::process::id()) - before) / (rate * period.as_secs_f64()))
    }

    fn in_threads(&self, period: Duration, once: impl Fn(&Connection, &mut Random) + Send + Sync + 'static) -> f64 {
        let (once, stop, count) = (Arc::new(once), Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (conn, once, stop, count) = (self.open(), once.clone(), stop.clone(), count.clone());
                std::thread::spawn(move || {
                    let mut random = Random::new();
                    while !stop.load(Ordering::Relaxed) {
                        once(&conn, &mut random);
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let start = Instant::now();
        std::thread::sleep(period);
        let rate = count.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().for_each(|it| it.join().unwrap());
        rate
    }

    fn pgbench(&self, connections: usize, period: Duration, script: &str) -> f64 {
        let Self::Postgres { url, .. } = self else { return 0.0 };
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), script).unwrap();
        let seconds = period.as_secs().max(1).to_string();
        let output = Command::new(pgbench())
            .args(["-M", "prepared", "-n", "-c", &connections.to_string(), "-j", "1", "-T", &seconds, "-f"])
            .arg(file.path())
            .arg(url)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let tps = text.lines().find_map(|it| it.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
        tps.unwrap_or_else(|| panic!("pgbench: {text} {}", String::from_utf8_lossy(&output.stderr)))
    }

    fn on_postgres(
        &self,
        work: impl for<'c> FnOnce(&'c tokio_postgres::Client) -> std::pin::Pin<Box<dyn Future<Output = ()> + 'c>>,
    ) {
        let Self::Postgres { url, .. } = self else { return };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            work(&client).await;
            drop(client);
            let _ = connection.await;
        });
    }
}

fn page<P: rusqlite::Params>(conn: &Connection, sql: &str, params: P) {
    let mut statement = conn.prepare_cached(sql).unwrap();
    let mut rows = statement.query(params).unwrap();
    let mut length = 0;
    while let Some(row) = rows.next().unwrap() {
        length += row.get_ref(1).unwrap().as_str().unwrap().len();
    }
    assert!(length > 1000);
}

/// One insert a transaction, each synced, as fast as one connection goes.
fn synced_inserts(conn: &Connection, period: Duration) -> f64 {
    let sql = "insert into c1 (id, created, updated, doc) values (?, 1, 1, jsonb(?))";
    let (doc, world, mut done) = (item(7).to_string(), stoa_kernel::World::real(), 0);
    let mut statement = conn.prepare(sql).unwrap();
    let start = Instant::now();
    while start.elapsed() < period {
        statement.execute((world.uuid(), &doc)).unwrap();
        done += 1;
    }
    done as f64 / start.elapsed().as_secs_f64()
}

/// The same in a fresh file, for a process of its own under the library that slows syncs.
pub fn synced_inserts_alone(period: Duration) -> f64 {
    let raw = Raw::make(Engine::Sqlite, None, 0);
    synced_inserts(&raw.open(), period)
}

fn insert_sqlite(conn: &mut Connection, batch: &[(String, String)]) {
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    {
        let mut statement =
            tx.prepare_cached("insert into c1 (id, created, updated, doc) values (?, 1, 1, jsonb(?))").unwrap();
        for (id, doc) in batch {
            statement.execute((id, doc)).unwrap();
        }
    }
    tx.commit().unwrap();
}

/// pgbench of the newest installed PostgreSQL.
fn pgbench() -> PathBuf {
    let mut versions: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|it| it.path().join("bin/pgbench"))
        .filter(|it| it.exists())
        .collect();
    versions.sort();
    versions.pop().unwrap_or_else(|| PathBuf::from("pgbench"))
}
