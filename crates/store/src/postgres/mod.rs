//! PostgreSQL: a pool of connections, statements prepared once a connection.
//!
//! Writes are SERIALIZABLE and run again when they met another one, in the end alone ([`lane`]). A transaction
//! whose request was dropped takes its connection with it, so none is left open in the pool.

mod consumers;
mod fold;
mod group;
mod lane;
mod listeners;
mod long_reads;
mod news;
mod origin;
mod purge;
mod restored;
mod tx;
mod value;
mod waiting;

pub(crate) use lane::{Isolation, Lane, Start};
pub(crate) use restored::number_anew;
pub(crate) use tx::{PgTx, command};

use crate::{Error, Requester, SchemaChange, Tx, TxFuture, tx::EngineTx};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use long_reads::LongReads;
use parking_lot::RwLock;
use std::{sync::Arc, time::Duration};
use stoa_kernel::{Fault, Result, clock::Counter};
use stoa_sql::Value;
use tokio::task::JoinHandle;
use tokio_postgres::NoTls;

/// Runs of one transaction beside others; after these it runs alone ([`lane`]).
const SHARED_RUNS: u32 = 3;
/// Runs before it is given up: alone, it meets only inserts of single rows.
const RUNS: u32 = 20;
/// How long a request waits for a connection: as long as the longest that the others may have theirs.
const CONNECTION_WAIT: Duration = Duration::from_secs(30);
/// A transaction is ended whose node does nothing with it for so long: a node that stands still would keep the rows
/// that it wrote, and its lane, from all others.
const IDLE_LIMIT: Duration = Duration::from_secs(10);

/// How long a change of the schema waits for those who are in its way.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Connections that bounded reads share. Each carries many statements at once, one behind the other,
/// which saves a round trip's waiting and most of the system calls. As many as there are cores, within these
/// bounds: on two cores, with the database on them too, two carried a tenth more reads than four.
const SHARED: (usize, usize) = (2, 4);

pub(crate) struct Postgres {
    config: tokio_postgres::Config,
    pool: Pool,
    /// What may look at many rows, and of that what comes into one answer here.
    scans: LongReads,
    folds: LongReads,
    shared: Box<[RwLock<Option<Arc<Object>>>]>,
    /// For each lane, who of this process runs alone or waits to.
    alone: [tokio::sync::Mutex<()>; lane::LANES],
    groups: waiting::Groups,
    listeners: listeners::Listeners,
    origin: RwLock<origin::Origin>,
    counter: Counter,
}

impl Postgres {
    pub(crate) fn connect(url: &str, connections: usize) -> Result<Self, Error> {
        let config: tokio_postgres::Config =
            url.parse().map_err(|it: tokio_postgres::Error| Error::Other(format!("database URL: {it}")))?;
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let shared: Box<[_]> = (0..cores.clamp(SHARED.0, SHARED.1)).map(|_| RwLock::default()).collect();
        let pool_of = |most| {
            Pool::builder(Manager::from_config(config.clone(), NoTls, recycling.clone()))
                .max_size(most)
                .runtime(deadpool_postgres::Runtime::Tokio1)
                .post_create(Hook::async_fn(|client, _| {
                    Box::pin(async move { client.batch_execute(&session_settings()).await.map_err(HookError::Backend) })
                }))
                .wait_timeout(Some(CONNECTION_WAIT))
                .create_timeout(Some(Duration::from_secs(10)))
                .build()
                .map_err(|it| Error::Other(it.to_string()))
        };
        let pool = pool_of(connections + shared.len())?;
        let scans = LongReads::of_database(pool.clone(), cores);
        let folds = LongReads::of_both(pool_of, cores)?;
        let alone = std::array::from_fn(|_| tokio::sync::Mutex::default());
        let (groups, listeners, counter) = Default::default();
        Ok(Self { config, pool, scans, folds, shared, alone, groups, listeners, origin: RwLock::default(), counter })
    }

    pub(crate) async fn client(&self) -> Result<Object, Error> {
        self.pool.get().await.map_err(|it| Error::from_pool(&it))
    }

    /// A connection beside those of the pool.
    pub(crate) async fn own_connection(&self) -> Result<OwnConnection, Error> {
        let (client, connection) = self.config.connect(NoTls).await.map_err(|it| Error::from_postgres(&it))?;
        Ok(OwnConnection(client, tokio::spawn(connection)))
    }

    pub(crate) fn close(&self) {
        self.shared.iter().for_each(|it| *it.write() = None);
        self.pool.close();
        self.folds.close();
    }

    /// What the body answers after its commit, and whether there are new rows in the outbox.
    pub(crate) async fn write<I, T, F>(&self, start: Start, input: &I, body: F) -> (Result<T>, bool)
    where
        F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T>,
    {
        let mut alone = None;
        for run in 1.. {
            if alone.is_none() && (start.is_alone || run > SHARED_RUNS) {
                alone = Some(self.alone[start.lane].lock().await);
            }
            let mut guard = match self.client().await {
                Ok(client) => Guard(Some(client)),
                Err(error) => return (Err(error.into()), false),
            };
            let begin = start.begin(alone.is_some());
            let Run { result, error, is_news } = self.run(&begin, guard.client(), input, &body).await;
            let is_clean = !matches!(error, Some(Error::Unavailable(_) | Error::Unknown(_)));
            if is_clean {
                guard.release();
            }
            match error {
                Some(Error::Retry(_)) if run < RUNS => {
                    // Losers of a conflict step aside for a moment, longer each time, and not all as long:
                    // those who come back together meet again.
                    let jitter = self.counter.next() % 8;
                    tokio::time::sleep(Duration::from_millis(u64::from(run) * (u64::from(run) + jitter))).await;
                }
                _ => return (result, is_news),
            }
        }
        unreachable!("the loop returns")
    }

    async fn run<I, T, F>(&self, begin: &str, client: &Object, input: &I, body: &F) -> Run<T>
    where
        F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T>,
    {
        let mut tx = match PgTx::begin(client, begin).await {
            Ok(tx) => Tx::new(EngineTx::Postgres(tx)),
            Err(error) => return Run::failed(error),
        };
        let result = body(&mut tx, input).await;
        let result = tx.verdict(result);
        let Tx { engine: EngineTx::Postgres(mut tx), first_error, has_entry, .. } = tx else {
            unreachable!("it was made for this engine")
        };
        match result {
            Ok(value) => match tx.commit().await {
                Ok(()) => Run { result: Ok(value), error: None, is_news: has_entry },
                Err(error) => Run::failed(error),
            },
            Err(fault) => {
                let error = tx.rollback().await.err().or(first_error);
                Run { result: Err(fault), error, is_news: false }
            }
        }
    }

    /// See [`crate::Database::change_schema`]. The connection is thrown away afterwards, and with it the lock that
    /// it holds for its session, however this ends.
    pub(crate) async fn change_schema(&self, work: &SchemaChange) -> Result<bool, Error> {
        let guard = Guard(Some(self.client().await?));
        let client = guard.client();
        let mut tx = PgTx::new(client);
        command(client, &format!("set lock_timeout = {}", LOCK_WAIT.as_millis())).await?;
        let key = [Value::Int(work.key.0), Value::Int(work.key.1)];
        let sql = "select 1 where pg_try_advisory_lock($1::integer, $2::integer)";
        if tx.rows(sql, &key, |_| Ok(())).await?.is_empty()
            || tx.rows(&work.only_if.0, &work.only_if.1, |_| Ok(())).await?.is_empty()
        {
            return Ok(false);
        }
        for it in &work.statements {
            command(client, it).await?;
        }
        let Run { result, error, .. } =
            self.run("begin", client, work, &|tx, work| crate::boxed!(work.write_down(tx).await)).await;
        match (result, error) {
            (Ok(()), _) => Ok(true),
            (Err(_), Some(error)) => Err(error),
            (Err(fault), None) => Err(Error::Other(format!("{fault:?}"))),
        }
    }

    pub(crate) async fn point<T, F>(&self, body: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        let client = self.shared_client().await?;
        let mut tx = Tx::new(EngineTx::Postgres(PgTx::new(&client)));
        body(&mut tx).await
    }

    /// The next of the shared connections, opened again when the server closed it. For short statements, with which
    /// it carries those of others.
    pub(crate) async fn shared_client(&self) -> Result<Arc<Object>, Error> {
        let slot = &self.shared[self.counter.next() as usize % self.shared.len()];
        if let Some(client) = slot.read().as_ref().filter(|it| !it.is_closed()) {
            return Ok(client.clone());
        }
        let client = Arc::new(self.client().await?);
        *slot.write() = Some(client.clone());
        Ok(client)
    }

    /// A read that may look at many rows.
    pub(crate) async fn scan<T, F>(&self, requester: Requester, body: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        self.scans.run(requester, body).await
    }

    /// A read whose rows come into one answer here.
    pub(crate) async fn fold<T, F>(&self, requester: Requester, body: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        self.folds.run(requester, body).await
    }
}

/// One run of a transaction.
struct Run<T> {
    result: Result<T>,
    /// What the engine refused: it may be run again.
    error: Option<Error>,
    /// Whether it committed rows of the outbox.
    is_news: bool,
}

impl<T> Run<T> {
    fn failed(error: Error) -> Self {
        Self { result: Err(error.clone().into()), error: Some(error), is_news: false }
    }
}

/// Compiling a long filter took a minute where running it took milliseconds, so nothing is compiled.
fn session_settings() -> String {
    format!("set jit = off; set idle_in_transaction_session_timeout = {}", IDLE_LIMIT.as_millis())
}

/// A connection that belongs to no pool, and the task that carries what is sent on it: closed when dropped.
pub(crate) struct OwnConnection(pub tokio_postgres::Client, JoinHandle<Result<(), tokio_postgres::Error>>);

impl Drop for OwnConnection {
    fn drop(&mut self) {
        self.1.abort();
    }
}

/// Keeps a connection with an unfinished transaction out of the pool.
struct Guard(Option<Object>);

impl Guard {
    fn client(&self) -> &Object {
        self.0.as_ref().expect("the guard holds its connection until it is released")
    }
    fn release(&mut self) {
        self.0.take();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}

/// The database must be UTF-8 (docs/hazards.md §Strings).
pub(crate) async fn check_encoding(client: &Object) -> Result<(), Fault> {
    let row = client.query_one("show server_encoding", &[]).await.map_err(|it| Error::from_postgres(&it))?;
    let encoding: String = row.try_get(0).map_err(|it| Error::Other(it.to_string()))?;
    if encoding != "UTF8" {
        return Err(Fault::because(
            stoa_kernel::Code::Unavailable,
            format!("the PostgreSQL database has encoding {encoding}; Stoa needs UTF8"),
        ));
    }
    Ok(())
}

/// The server's version, for example `15.18`. Older than 15 is refused.
pub(crate) async fn version(client: &Object) -> Result<String, Fault> {
    let row = client.query_one("show server_version", &[]).await.map_err(|it| Error::from_postgres(&it))?;
    let version: String = row.try_get(0).map_err(|it| Error::Other(it.to_string()))?;
    let major: u32 = version.split(['.', ' ']).next().and_then(|it| it.parse().ok()).unwrap_or(0);
    if major < 15 {
        let text = format!("PostgreSQL {version} is too old; Stoa needs 15 or newer");
        return Err(Fault::because(stoa_kernel::Code::Unavailable, text));
    }
    Ok(version)
}
