//! A database of either engine: the catalogue or one site.

use crate::{
    Error, InsertRows, InsertWithEvent, Requester, SchemaChange, Tx, TxFuture, boxed,
    news::{Announcer, News},
    postgres::{Isolation, Lane, Postgres, Start},
    sqlite::{Gate, Readers, Writer},
};
use std::{path::Path, sync::Arc};
use stoa_kernel::{Result, SiteId};

/// Where a read may run (docs/hazards.md §Readers and long work).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderPool {
    /// Bounded by an index: at once, beside everything else.
    Point,
    /// May look at many rows: apart, bounded in number, cancelled when no caller waits. The server's own work.
    Scan,
    /// The same for a request, in a fair turn with others.
    ScanFor(Requester),
    /// A scan for a request whose rows come into one answer here ([`Fold`](crate::Fold)), and so keep this node busy too.
    FoldFor(Requester),
}

impl ReaderPool {
    /// Who scans; nothing for a bounded read.
    fn requester(self) -> Option<Requester> {
        match self {
            Self::Point => None,
            Self::Scan => Some(Requester::SERVER),
            Self::ScanFor(it) | Self::FoldFor(it) => Some(it),
        }
    }
}

pub struct Database {
    engine: Engine,
    /// Rows of its outbox are announced here once they are committed.
    announcer: Arc<Announcer>,
}

enum Engine {
    Sqlite { writer: Writer, readers: Readers },
    Postgres(Arc<Postgres>, Lane),
}

impl Database {
    pub(crate) fn sqlite(path: &Path) -> Result<Self, Error> {
        // The writer comes first: it turns on the log that readers need.
        let (gate, announcer) = (Arc::new(Gate::default()), Arc::new(Announcer::default()));
        let writer = Writer::start(path, gate.clone(), announcer.clone())?;
        Ok(Self { engine: Engine::Sqlite { writer, readers: Readers::start(path, &gate)? }, announcer })
    }

    /// `number` is the site's; 0 is the catalogue's.
    pub(crate) fn postgres(pool: Arc<Postgres>, number: i64) -> Self {
        Self { engine: Engine::Postgres(pool, Lane::of(number)), announcer: Arc::default() }
    }

    pub fn dialect(&self) -> &'static dyn stoa_sql::Dialect {
        match &self.engine {
            Engine::Sqlite { .. } => &stoa_sql::Sqlite,
            Engine::Postgres(..) => &stoa_sql::Postgres,
        }
    }

    /// Runs `body` in a transaction: serial on SQLite, SERIALIZABLE on PostgreSQL. It may be run more
    /// than once, must await nothing but its `Tx`, and is acknowledged only when the commit is durable. One that
    /// met others too often runs alone in the end, so that contention alone refuses nothing.
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
        self.transact(|lane| lane.shared(Isolation::Serializable), input, body).await
    }

    /// [`Database::write_with`] for a body that meets every other one of its kind, such as one that takes the next
    /// number of all: no other transaction of this database runs beside it, instead of being run again.
    pub async fn write_alone_with<I, T, F>(&self, input: I, body: F) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        self.transact(Lane::alone, input, body).await
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
        self.transact(|lane| lane.shared(Isolation::ReadCommitted), input, body).await
    }

    /// Runs a transaction, which begins as `start` says, and announces what it wrote to the outbox.
    async fn transact<I, T, F>(&self, start: fn(Lane) -> Start, input: I, body: F) -> Result<T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        match &self.engine {
            // Its thread announces, whether or not the request is still there.
            Engine::Sqlite { writer, .. } => writer.write(input, body).await,
            Engine::Postgres(pool, lane) => {
                let (result, is_news) = pool.write(start(*lane), &input, body).await;
                if is_news {
                    self.announcer.announce();
                }
                result
            }
        }
    }

    /// Inserts one row together with the row of the outbox that announces it, in one transaction; on
    /// PostgreSQL in one statement, which those that wait at the same time share. `false`: something unique was
    /// taken, and nothing was written.
    pub async fn insert_with_event(&self, insert: InsertWithEvent) -> Result<bool> {
        match &self.engine {
            Engine::Sqlite { writer, .. } => {
                let write = writer.write(insert, |tx, insert| {
                    boxed!({
                        let InsertWithEvent { into, values, key, row, event } = insert;
                        let rows = [row.as_slice()];
                        let (key_index, replace, keeps_order) = (0, None, true);
                        let rows = InsertRows { into, values, key, key_index, replace, keeps_order, rows: &rows };
                        let is_new = tx.insert_rows(rows).await?.contains(&true);
                        if is_new {
                            event.clone().put(tx).await?;
                        }
                        Ok(is_new)
                    })
                });
                write.await
            }
            Engine::Postgres(pool, _) => pool.insert_with_event(insert, &self.announcer).await,
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
            Engine::Postgres(pool, _) => {
                let done = pool.change_schema(&work).await;
                if work.event.is_some() && done == Ok(true) {
                    self.announcer.announce();
                }
                done
            }
        }
    }

    /// Wakes a reader of a site's log after commits: those of this node at once, those of others soon.
    pub(crate) fn listen(&self, site: &SiteId) -> News {
        let news = self.announcer.listen();
        if let Engine::Postgres(pool, _) = &self.engine {
            pool.listen(site, &self.announcer);
        }
        news
    }

    /// An expression for where the data are, within a query of `stoa.log`: what differs from its column `origin` is a
    /// copy. A file was compared when it was opened.
    pub(crate) fn origin(&self) -> &'static str {
        match &self.engine {
            Engine::Sqlite { .. } => "origin",
            Engine::Postgres(pool, _) => pool.origin_expression(),
        }
    }

    /// Whether other processes may work on it at the same time.
    pub fn is_shared(&self) -> bool {
        matches!(self.engine, Engine::Postgres(..))
    }

    /// Whether an index can be built beside those who write.
    pub fn builds_online(&self) -> bool {
        matches!(self.engine, Engine::Postgres(..))
    }

    /// Gives the place of deleted rows of a table to others, so that their bytes go, where the engine doesn't overwrite them
    /// at once. Others write meanwhile.
    ///
    /// # Errors
    /// What the engine says.
    pub async fn reclaim(&self, table: &'static str) -> Result<()> {
        match &self.engine {
            Engine::Sqlite { .. } => Ok(()),
            Engine::Postgres(pool, _) => pool.vacuum(table).await,
        }
    }

    /// Rewrites all tables without what was deleted from them; on PostgreSQL those of all sites.
    pub(crate) async fn compact(&self) -> Result<()> {
        match &self.engine {
            Engine::Sqlite { writer, .. } => Ok(writer.compact().await?),
            Engine::Postgres(pool, _) => pool.compact().await,
        }
    }

    /// Runs a read. Each statement sees what was committed when it began.
    pub async fn read<T, F>(&self, pool: ReaderPool, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T> + Send + 'static,
    {
        match (&self.engine, pool.requester()) {
            (Engine::Sqlite { readers, .. }, None) => readers.point(body),
            (Engine::Sqlite { readers, .. }, Some(requester)) => readers.scan(requester, body).await,
            (Engine::Postgres(pool, _), None) => pool.point(body).await,
            (Engine::Postgres(it, _), Some(requester)) if matches!(pool, ReaderPool::FoldFor(_)) => {
                it.fold(requester, body).await
            }
            (Engine::Postgres(it, _), Some(requester)) => it.scan(requester, body).await,
        }
    }

    /// Runs a read whose statements all see one state of the data, in the caller's turn among scans: on PostgreSQL it
    /// needs a connection for itself.
    pub async fn read_snapshot<T, F>(&self, requester: Requester, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T> + Send + 'static,
    {
        let read = self.read(ReaderPool::ScanFor(requester), move |tx| {
            boxed!({
                tx.batch(tx.dialect().begin_snapshot()).await?;
                let result = body(tx).await;
                // A statement that was refused has ended nothing.
                let ended = tx.batch("rollback").await;
                let value = result?;
                ended?;
                Ok(value)
            })
        });
        read.await
    }

    /// Runs a read that can be begun twice. A scan on SQLite is begun at once, within a budget of steps, and
    /// goes to the pool of scans only when that is too little: handing a read to another thread costs more than
    /// most reads. On PostgreSQL the work is done elsewhere.
    pub async fn query<T, F>(&self, pool: ReaderPool, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T> + Clone + Send + 'static,
    {
        if let (Engine::Sqlite { readers, .. }, Some(_)) = (&self.engine, pool.requester())
            && let Some(result) = readers.short(body.clone())
        {
            return result;
        }
        self.read(pool, body).await
    }
}
