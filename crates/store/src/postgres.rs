//! PostgreSQL: a pool of connections, statements prepared once a connection.
//!
//! Writes are SERIALIZABLE and run again when they met another one. A transaction whose request was
//! dropped takes its connection with it, so none is left open in the pool.

use crate::{Alone, Error, InsertRows, InsertTold, Row, Tx, TxFuture, tx::EngineTx};
use bytes::BytesMut;
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use futures_util::{TryStreamExt, pin_mut};
use parking_lot::RwLock;
use std::{collections::HashSet, sync::Arc, time::Duration};
use stoa_kernel::{Fault, Result, clock::Counter};
use stoa_sql::{Value, params};
use tokio::sync::Semaphore;
use tokio_postgres::{
    NoTls,
    types::{IsNull, ToSql, Type, to_sql_checked},
};

/// Runs of one transaction before it is given up as too contended.
const RUNS: u32 = 20;
/// Long reads at the same time.
const SCANS: usize = 8;
/// A long read is ended after this long (protocol/content.md: WDE0028).
const SCAN_LIMIT: Duration = Duration::from_secs(30);

/// How long a change of the schema waits for those who are in its way.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Statements kept prepared on one connection; query texts vary with the names of fields.
const PREPARED: usize = 1000;

/// Connections that bounded reads share. Each carries many statements at once, one behind the other,
/// which saves a round trip's waiting and most of the system calls. As many as there are cores, within these
/// bounds: on two cores, with the database on them too, two carried a tenth more reads than four.
const SHARED: (usize, usize) = (2, 4);

pub(crate) struct Postgres {
    pool: Pool,
    scans: Semaphore,
    shared: Box<[RwLock<Option<Arc<Object>>>]>,
    turn: Counter,
}

/// How a write is guarded against others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    Serializable,
    /// For bodies that decide nothing on what they read, only on constraints.
    ReadCommitted,
}

impl Postgres {
    pub(crate) fn connect(url: &str, connections: usize) -> Result<Self, Error> {
        let config: tokio_postgres::Config =
            url.parse().map_err(|it: tokio_postgres::Error| Error::Other(format!("database URL: {it}")))?;
        let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let shared: Box<[_]> = (0..cores.clamp(SHARED.0, SHARED.1)).map(|_| RwLock::default()).collect();
        let pool = Pool::builder(manager)
            .max_size(connections + shared.len())
            .runtime(deadpool_postgres::Runtime::Tokio1)
            // Compiling a long filter took a minute where running it took milliseconds.
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(async move { client.batch_execute("set jit = off").await.map_err(HookError::Backend) })
            }))
            .wait_timeout(Some(Duration::from_secs(10)))
            .create_timeout(Some(Duration::from_secs(10)))
            .build()
            .map_err(|it| Error::Other(it.to_string()))?;
        Ok(Self { pool, scans: Semaphore::new(SCANS), shared, turn: Counter::default() })
    }

    pub(crate) async fn client(&self) -> Result<Object, Error> {
        self.pool.get().await.map_err(|it| Error::from_pool(&it))
    }

    pub(crate) fn close(&self) {
        self.shared.iter().for_each(|it| *it.write() = None);
        self.pool.close();
    }

    pub(crate) async fn write<T, F>(&self, isolation: Isolation, body: F) -> Result<T>
    where
        F: for<'t> Fn(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        for run in 1.. {
            let mut guard = Guard(Some(self.client().await?));
            let (result, error) = self.run(isolation, guard.client(), &body).await;
            let is_clean = !matches!(error, Some(Error::Unavailable(_) | Error::Unknown(_)));
            if is_clean {
                guard.release();
            }
            match error {
                Some(Error::Retry(_)) if run < RUNS => {
                    // Losers of a conflict step aside for a moment, longer each time, and not all as long:
                    // those who come back together meet again.
                    let turn = self.turn.next() % 8;
                    tokio::time::sleep(Duration::from_millis(u64::from(run) * (u64::from(run) + turn))).await;
                }
                _ => return result,
            }
        }
        unreachable!("the loop returns")
    }

    async fn run<T, F>(&self, isolation: Isolation, client: &Object, body: &F) -> (Result<T>, Option<Error>)
    where
        F: for<'t> Fn(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        let begin = match isolation {
            Isolation::Serializable => "begin isolation level serializable",
            Isolation::ReadCommitted => "begin isolation level read committed",
        };
        if let Err(error) = command(client, begin).await {
            return (Err(error.clone().into()), Some(error));
        }
        let mut tx = Tx::new(EngineTx::Postgres(PgTx { client }));
        let result = body(&mut tx).await;
        tx.told();
        let first_error = tx.first_error.take();
        match result {
            Ok(value) => match command(client, "commit").await {
                Ok(()) => (Ok(value), None),
                Err(Error::Unavailable(text)) => {
                    let error = Error::Unknown(text);
                    (Err(error.clone().into()), Some(error))
                }
                Err(error) => (Err(error.clone().into()), Some(error)),
            },
            Err(fault) => match command(client, "rollback").await {
                Ok(()) => (Err(fault), first_error),
                Err(error) => (Err(fault), Some(error)),
            },
        }
    }

    /// See [`crate::Database::insert_told`]. A statement on its own is its own transaction.
    pub(crate) async fn insert_told(&self, insert: &InsertTold) -> Result<bool> {
        let InsertTold { into, values, key, row, told } = insert;
        let n = row.len();
        let (values, site, kind, payload, now) = (values.join(", "), n + 1, n + 2, n + 3, n + 4);
        let sql = format!(
            "with new as ({into} values ({values}) on conflict do nothing returning {key}), \
             told as (insert into stoa.outbox (site, kind, payload, created) \
             select ${site}::text, ${kind}::text, ${payload}::text, ${now}::bigint from new) select 1 from new"
        );
        let mut params = row.clone();
        params.extend(params![&told.site, told.kind, told.payload.clone(), told.now]);
        for run in 1.. {
            let mut guard = Guard(Some(self.client().await?));
            let written = PgTx { client: guard.client() }.rows(&sql, &params, |_| Ok(())).await;
            match written {
                Ok(rows) => {
                    guard.release();
                    return Ok(!rows.is_empty());
                }
                Err(Error::Retry(_)) if run < RUNS => guard.release(),
                // It was on its way, and may have got there.
                Err(Error::Unavailable(text)) => return Err(Error::Unknown(text).into()),
                Err(error) => {
                    guard.release();
                    return Err(error.into());
                }
            }
        }
        unreachable!("the loop returns")
    }

    /// See [`crate::Database::alone`]. The connection is thrown away afterwards, and with it the lock that
    /// it holds for its session, however this ends.
    pub(crate) async fn alone(&self, work: &Alone) -> Result<bool, Error> {
        let guard = Guard(Some(self.client().await?));
        let mut tx = PgTx { client: guard.client() };
        command(tx.client, &format!("set lock_timeout = {}", LOCK_WAIT.as_millis())).await?;
        let key = [Value::Int(work.key.0), Value::Int(work.key.1)];
        let sql = "select 1 where pg_try_advisory_lock($1::integer, $2::integer)";
        if tx.rows(sql, &key, |_| Ok(())).await?.is_empty()
            || tx.rows(&work.only_if.0, &work.only_if.1, |_| Ok(())).await?.is_empty()
        {
            return Ok(false);
        }
        for it in &work.statements {
            command(tx.client, it).await?;
        }
        tx.execute(&work.then.0, &work.then.1).await?;
        Ok(true)
    }

    pub(crate) async fn point<T, F>(&self, body: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        let client = self.shared_client().await?;
        let mut tx = Tx::new(EngineTx::Postgres(PgTx { client: &client }));
        body(&mut tx).await
    }

    /// The next of the shared connections, made anew when the server closed it.
    async fn shared_client(&self) -> Result<Arc<Object>, Error> {
        let place = &self.shared[self.turn.next() as usize % self.shared.len()];
        if let Some(client) = place.read().as_ref().filter(|it| !it.is_closed()) {
            return Ok(client.clone());
        }
        let client = Arc::new(self.client().await?);
        *place.write() = Some(client.clone());
        Ok(client)
    }

    pub(crate) async fn scan<T, F>(&self, body: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        let _place = self.scans.acquire().await.map_err(|it| Error::Unavailable(it.to_string()))?;
        let mut scan = Scan(Some(self.client().await?));
        let mut tx = Tx::new(EngineTx::Postgres(PgTx { client: scan.client() }));
        let result = tokio::time::timeout(SCAN_LIMIT, body(&mut tx)).await;
        match result {
            Ok(result) => {
                scan.0 = None;
                result
            }
            Err(_) => Err(Error::Interrupted.into()),
        }
    }
}

/// A connection lent to one transaction or read.
pub(crate) struct PgTx<'t> {
    client: &'t Object,
}

impl PgTx<'_> {
    pub(crate) async fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, Error> {
        let statement = self.prepare(sql).await?;
        self.client.execute_raw(&statement, params.iter().map(Bound)).await.map_err(|it| Error::from_postgres(&it))
    }

    pub(crate) async fn rows<T>(
        &mut self,
        sql: &str,
        params: &[Value],
        mut each: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let statement = self.prepare(sql).await?;
        let params = params.iter().map(Bound);
        let rows = self.client.query_raw(&statement, params).await.map_err(|it| Error::from_postgres(&it))?;
        pin_mut!(rows);
        let mut found = Vec::new();
        while let Some(row) = rows.try_next().await.map_err(|it| Error::from_postgres(&it))? {
            found.push(each(&Row::Postgres(&row))?);
        }
        Ok(found)
    }

    /// One statement for all rows: each column travels as an array.
    pub(crate) async fn insert_rows(&mut self, insert: InsertRows<'_>) -> Result<Vec<bool>, Error> {
        let columns: Vec<Column<'_>> = (0..insert.values.len()).map(|i| Column::of(insert.rows, i)).collect();
        let arrays: Vec<String> =
            columns.iter().enumerate().map(|(i, it)| format!("${}::{}[]", i + 1, it.type_name())).collect();
        let names: Vec<String> = (1..=columns.len()).map(|n| format!("c{n}")).collect();
        let mut values = insert.values.join(", ");
        for n in (1..=columns.len()).rev() {
            values = values.replace(&format!("${n}"), &format!("u.c{n}"));
        }
        let sql = format!(
            "{} select {values} from unnest({}) with ordinality as u({}, n) order by u.n {} returning {}",
            insert.into,
            arrays.join(", "),
            names.join(", "),
            insert.on_conflict(),
            insert.key
        );
        let statement = self.prepare(&sql).await?;
        let rows = self.client.query_raw(&statement, &columns).await.map_err(|it| Error::from_postgres(&it))?;
        pin_mut!(rows);
        let mut new = HashSet::with_capacity(insert.rows.len());
        while let Some(row) = rows.try_next().await.map_err(|it| Error::from_postgres(&it))? {
            new.insert(row.try_get::<_, String>(0).map_err(|it| Error::Other(it.to_string()))?);
        }
        let is_new = |row: &Vec<Value>| matches!(&row[insert.key_index], Value::Text(key) if new.contains(key));
        Ok(insert.rows.iter().map(is_new).collect())
    }

    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), Error> {
        command(self.client, sql).await
    }

    async fn prepare(&self, sql: &str) -> Result<tokio_postgres::Statement, Error> {
        if self.client.statement_cache.size() >= PREPARED {
            self.client.statement_cache.clear();
        }
        self.client.prepare_cached(sql).await.map_err(|it| match Error::from_postgres(&it) {
            Error::Other(text) => Error::Other(format!("{text} in: {sql}")),
            error => error,
        })
    }
}

pub(crate) async fn command(client: &Object, sql: &str) -> Result<(), Error> {
    client.batch_execute(sql).await.map_err(|it| Error::from_postgres(&it))
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

/// A connection with a long read. When nobody waits for it any more the statement is cancelled and the
/// connection thrown away: back in the pool, the cancel might hit whoever has it next.
struct Scan(Option<Object>);

impl Scan {
    fn client(&self) -> &Object {
        self.0.as_ref().expect("the connection is there until the read is over")
    }
}

impl Drop for Scan {
    fn drop(&mut self) {
        let Some(client) = self.0.take() else { return };
        let token = client.cancel_token();
        drop(Object::take(client));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { token.cancel_query(NoTls).await });
        }
    }
}

type Encoded = std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>>;

#[derive(Debug)]
struct Bound<'v>(&'v Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match (self.0, ty) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Int(it), &Type::INT4) => i32::try_from(*it)?.to_sql(ty, out),
            (Value::Int(it), &Type::FLOAT8) => (*it as f64).to_sql(ty, out),
            (Value::Int(it), &Type::BOOL) => (*it != 0).to_sql(ty, out),
            (Value::Int(it), _) => it.to_sql(&Type::INT8, out),
            (Value::Real(it), _) => it.to_sql(&Type::FLOAT8, out),
            (Value::Text(it), &Type::JSONB | &Type::JSONPATH) => {
                out.extend_from_slice(&[1]);
                it.as_str().to_sql(&Type::TEXT, out)
            }
            (Value::Text(it), _) => it.as_str().to_sql(&Type::TEXT, out),
            (Value::Bytes(it), _) => it.as_slice().to_sql(&Type::BYTEA, out),
            (Value::Texts(it), _) => it.to_sql(&Type::TEXT_ARRAY, out),
        }
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}

/// One column of many rows.
#[derive(Debug)]
struct Column<'r> {
    rows: &'r [Vec<Value>],
    index: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Int,
    Real,
    Text,
    Bytes,
}

impl<'r> Column<'r> {
    fn of(rows: &'r [Vec<Value>], index: usize) -> Self {
        let kind = rows.iter().find_map(|row| match &row[index] {
            Value::Int(_) => Some(Kind::Int),
            Value::Real(_) => Some(Kind::Real),
            Value::Bytes(_) => Some(Kind::Bytes),
            Value::Text(_) | Value::Texts(_) => Some(Kind::Text),
            Value::Null => None,
        });
        Self { rows, index, kind: kind.unwrap_or(Kind::Text) }
    }

    fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Int => "bigint",
            Kind::Real => "float8",
            Kind::Text => "text",
            Kind::Bytes => "bytea",
        }
    }

    fn cells(&self) -> impl Iterator<Item = &Value> {
        self.rows.iter().map(|row| &row[self.index])
    }
}

impl ToSql for Column<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Encoded {
        match self.kind {
            Kind::Int => {
                let cells = self.cells().map(|it| if let Value::Int(it) = it { Some(*it) } else { None });
                cells.collect::<Vec<_>>().to_sql(ty, out)
            }
            Kind::Real => {
                let cells = self.cells().map(|it| if let Value::Real(it) = it { Some(*it) } else { None });
                cells.collect::<Vec<_>>().to_sql(ty, out)
            }
            Kind::Text => {
                let cells = self.cells().map(|it| if let Value::Text(it) = it { Some(it.as_str()) } else { None });
                cells.collect::<Vec<_>>().to_sql(ty, out)
            }
            Kind::Bytes => {
                let cells = self.cells().map(|it| if let Value::Bytes(it) = it { Some(it.as_slice()) } else { None });
                cells.collect::<Vec<_>>().to_sql(ty, out)
            }
        }
    }
    fn accepts(_: &Type) -> bool {
        true
    }
    to_sql_checked!();
}

/// The database must be UTF-8 (hazards: Strings).
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
