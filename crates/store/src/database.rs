//! A database of either engine: the catalogue or one site.

use crate::{
    Error, InsertRows, InsertWithEvent, SchemaChange, Tx, TxFuture, boxed,
    postgres::{Isolation, Postgres},
    sqlite::{Gate, Readers, Writer},
};
use std::{path::Path, sync::Arc};
use stoa_kernel::Result;

/// Where a read may run (docs/hazards.md §Readers and long work).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderPool {
    /// Bounded by an index: at once, beside everything else.
    Point,
    /// May look at many rows: apart, bounded in number, cancelled when no caller waits.
    Scan,
}

pub struct Database {
    engine: Engine,
}

enum Engine {
    Sqlite { writer: Writer, readers: Readers },
    Postgres(Arc<Postgres>),
}

impl Database {
    pub(crate) fn sqlite(path: &Path) -> Result<Self, Error> {
        // The writer comes first: it turns on the log that readers need.
        let gate = Arc::new(Gate::default());
        let writer = Writer::start(path, gate.clone())?;
        Ok(Self { engine: Engine::Sqlite { writer, readers: Readers::start(path, &gate)? } })
    }

    pub(crate) fn postgres(pool: Arc<Postgres>) -> Self {
        Self { engine: Engine::Postgres(pool) }
    }

    pub fn dialect(&self) -> &'static dyn stoa_sql::Dialect {
        match &self.engine {
            Engine::Sqlite { .. } => &stoa_sql::Sqlite,
            Engine::Postgres(_) => &stoa_sql::Postgres,
        }
    }

    /// Runs `body` in a transaction: serial on SQLite, SERIALIZABLE on PostgreSQL. It may be run more
    /// than once, must await nothing but its `Tx`, and is acknowledged only when the commit is durable.
    pub async fn write<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        self.write_with((), move |tx, ()| body(tx)).await
    }

    /// [`Database::write`] for a body that needs owned values: the store keeps `input` and lends it to each
    /// run, so that nothing is cloned for a second one.
    ///
    /// ```text
    /// site.write_with((id, change), |tx, (id, change)| boxed!(apply(tx, id, change).await)).await
    /// ```
    pub async fn write_with<I, T, F>(&self, input: I, body: F) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        match &self.engine {
            Engine::Sqlite { writer, .. } => writer.write(input, body).await,
            Engine::Postgres(pool) => pool.write(Isolation::Serializable, &input, body).await,
        }
    }

    /// Like [`Database::write`] for a body that decides nothing on what it reads: inserts whose
    /// conflicts a constraint finds. Cheaper on PostgreSQL.
    pub async fn append<T, F>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        self.append_with((), move |tx, ()| body(tx)).await
    }

    /// [`Database::append`], with an input as in [`Database::write_with`].
    pub async fn append_with<I, T, F>(&self, input: I, body: F) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        match &self.engine {
            Engine::Sqlite { writer, .. } => writer.write(input, body).await,
            Engine::Postgres(pool) => pool.write(Isolation::ReadCommitted, &input, body).await,
        }
    }

    /// Inserts one row together with the row of the outbox that announces it, in one transaction; on
    /// PostgreSQL in one statement and one round trip. `false`: something unique was taken, and nothing
    /// was written.
    pub async fn insert_with_event(&self, insert: InsertWithEvent) -> Result<bool> {
        match &self.engine {
            Engine::Sqlite { writer, .. } => {
                let write = writer.write(insert, |tx, insert| {
                    boxed!({
                        let InsertWithEvent { into, values, key, row, event } = insert;
                        let rows =
                            InsertRows { into, values, key, key_index: 0, replace: None, rows: &[row.as_slice()] };
                        let is_new = tx.insert_rows(rows).await?.contains(&true);
                        if is_new {
                            event.clone().put(tx).await?;
                        }
                        Ok(is_new)
                    })
                });
                write.await
            }
            Engine::Postgres(pool) => pool.insert_with_event(&insert).await,
        }
    }

    /// Changes the schema while no other process does so under the same key. `false`: another process is at
    /// it, or it isn't to be done any more, and nothing was done.
    ///
    /// On PostgreSQL each statement stands outside of any transaction and waits for locks only a few
    /// seconds; on SQLite they are one transaction, and all other writes wait for it.
    ///
    /// # Errors
    /// What the engine says; [`Error::Retry`] when something held a lock for too long.
    pub async fn change_schema(&self, work: SchemaChange) -> Result<bool, Error> {
        match &self.engine {
            Engine::Sqlite { writer, .. } => writer.change_schema(work).await,
            Engine::Postgres(pool) => pool.change_schema(&work).await,
        }
    }

    /// Whether other processes may work on it at the same time.
    pub fn is_shared(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Whether an index can be built beside those who write.
    pub fn builds_online(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Runs a read. Each statement sees what was committed when it began.
    pub async fn read<T, F>(&self, pool: ReaderPool, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T> + Send + 'static,
    {
        match (&self.engine, pool) {
            (Engine::Sqlite { readers, .. }, ReaderPool::Point) => readers.point(body),
            (Engine::Sqlite { readers, .. }, ReaderPool::Scan) => readers.scan(body).await,
            (Engine::Postgres(pool), ReaderPool::Point) => pool.point(body).await,
            (Engine::Postgres(pool), ReaderPool::Scan) => pool.scan(body).await,
        }
    }

    /// Runs a read that can be begun twice. A scan on SQLite is begun at once, within a budget of steps, and
    /// goes to the pool of scans only when that is too little: handing a read to another thread costs more than
    /// most reads. On PostgreSQL the work is done elsewhere.
    pub async fn query<T, F>(&self, pool: ReaderPool, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T> + Clone + Send + 'static,
    {
        if let (Engine::Sqlite { readers, .. }, ReaderPool::Scan) = (&self.engine, pool)
            && let Some(result) = readers.short(body.clone())
        {
            return result;
        }
        self.read(pool, body).await
    }
}
