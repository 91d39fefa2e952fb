//! A store of its own for each test: a fresh directory, or a fresh database in the test cluster.

use std::{path::PathBuf, sync::Arc};
use stoa_kernel::{World, clock::FixedClock};
use stoa_store::{Config, Store};
use tokio::sync::OnceCell;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// Which engine a test runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// An open store that disappears with the value.
pub struct TestStore {
    pub store: Arc<Store>,
    pub world: World,
    pub clock: Arc<FixedClock>,
    pub config: Config,
    guards: Guards,
}

/// One of the processes that work on the same data.
pub struct Node {
    pub store: Arc<Store>,
    _directory: Option<tempfile::TempDir>,
}

/// What keeps the directory and the database of a test alive.
pub struct Guards {
    _directory: tempfile::TempDir,
    _database: Option<TestDatabase>,
}

impl TestStore {
    pub async fn new(engine: Engine) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let database = match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(TestDatabase::migrated().await),
        };
        let config = Config {
            data: directory.path().to_owned(),
            database_url: database.as_ref().map(|it| it.url.clone()),
            connections: 8,
            open_sites: Config::OPEN_SITES,
        };
        let store = Arc::new(Store::open(&config).await.unwrap());
        // 2026-01-01: any fixed day, so that printed times don't change.
        let (world, clock) = World::fixed(1_767_225_600_000, 1);
        Self { store, world, clock, config, guards: Guards { _directory: directory, _database: database } }
    }

    /// Further nodes on the same data, so that there are `count` with this one: on PostgreSQL each is a store with a
    /// directory of its own, and SQLite has but one.
    pub async fn nodes(&self, count: usize) -> Vec<Node> {
        let mut nodes = vec![Node { store: self.store.clone(), _directory: None }];
        while self.config.database_url.is_some() && nodes.len() < count {
            let directory = tempfile::tempdir().unwrap();
            let config = Config { data: directory.path().to_owned(), ..self.config.clone() };
            let store = Arc::new(Store::open(&config).await.unwrap());
            nodes.push(Node { store, _directory: Some(directory) });
        }
        nodes
    }

    /// Closes the store, so that another can be opened on the same data while the guards live.
    pub fn close(self) -> (Config, Guards) {
        self.store.close();
        (self.config, self.guards)
    }

    pub fn data(&self) -> PathBuf {
        self.config.data.clone()
    }
}

/// The cluster for tests. `make test` starts one; a test that needs it and has none fails.
pub fn postgres_url() -> String {
    #[expect(clippy::disallowed_methods, reason = "the one setting of the tests")]
    let url = std::env::var("STOA_TEST_POSTGRES");
    url.expect("set STOA_TEST_POSTGRES, or run the tests through scripts/with-postgres")
}

/// A database that is dropped with the value.
pub struct TestDatabase {
    name: String,
    url: String,
}

impl TestDatabase {
    /// Makes one from a test that has no runtime.
    pub fn blocking_create() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(Self::create())
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// An empty one.
    async fn create() -> Self {
        Self::copy_of("template0").await
    }

    /// One that has its tables: a copy, so that a program runs the migrations once and not for each test.
    async fn migrated() -> Self {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        Self::copy_of(TEMPLATE.get_or_init(make_template).await).await
    }

    async fn copy_of(template: &str) -> Self {
        let name = format!("stoa_test_{}", World::real().token::<12>().replace('-', "_").to_lowercase());
        // As files: block by block a copy goes through the log, and takes seven times as long.
        run(&format!("create database {name} encoding 'UTF8' template {template} strategy file_copy")).await;
        Self { url: url_of(&name), name }
    }
}

/// Makes the database that others are copied from, and deletes that of an earlier program: one stays behind on a
/// server that isn't the tests' own. So no two programs may run at once on one server; ours each get their own.
async fn make_template() -> String {
    let earlier = "select datname from pg_database where datname like 'stoa\\_template\\_%'";
    for name in names(earlier).await {
        run(&format!("drop database if exists {name}")).await;
    }
    let made = TestDatabase::create().await;
    let directory = tempfile::tempdir().unwrap();
    let config = Config {
        data: directory.path().to_owned(),
        database_url: Some(made.url.clone()),
        connections: 2,
        open_sites: 1,
    };
    let store = Store::open(&config).await.unwrap();
    store.leave().await;
    store.close();
    drop(store);
    let name = made.name.replace("stoa_test", "stoa_template");
    // The server waits for a moment until its connections are gone.
    run(&format!("alter database {} rename to {name}", made.name)).await;
    name
}

fn url_of(database: &str) -> String {
    let base = postgres_url();
    let (server, _) = base.rsplit_once('/').expect("STOA_TEST_POSTGRES ends with a database name");
    format!("{server}/{database}")
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let name = self.name.clone();
        // The test's runtime is going away; a thread with its own waits for the server.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(run(&format!("drop database if exists {name} with (force)")));
        });
        let _ = dropping.join();
    }
}

async fn run(sql: &str) {
    names(sql).await;
}

/// Runs statements, and answers the first column of their rows.
async fn names(sql: &str) -> Vec<String> {
    let (client, connection) = tokio_postgres::connect(&postgres_url(), NoTls).await.expect("the test cluster answers");
    let connection = tokio::spawn(connection);
    let answers = client.simple_query(sql).await.unwrap();
    drop(client);
    let _ = connection.await;
    let row = |it| match it {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    };
    answers.into_iter().filter_map(row).collect()
}
