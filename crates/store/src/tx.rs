//! A transaction, or a read, of either engine: the only match on the engine outside opening and migrating.

use crate::{Error, Fold, InsertRows, Row, deadline::Deadline, postgres::PgTx, sqlite::SqliteTx, trace};
use stoa_kernel::{Fault, Result};
use stoa_sql::{Dialect, Value};

/// What the closure of a write or a read works with.
///
/// Statements number their parameters `$1`, `$2` … in the order of first appearance; that order is
/// checked when SQLite prepares a text, so a statement that would bind differently fails in tests.
pub struct Tx<'t> {
    pub(crate) engine: EngineTx<'t>,
    /// The first refusal of the engine in this run: tells the conductor whether to run again.
    pub(crate) first_error: Option<Error>,
    /// Whether a row was written to the outbox: it is announced after the commit.
    pub(crate) has_entry: bool,
    /// When a read is to end.
    pub(crate) deadline: Deadline,
}

pub(crate) enum EngineTx<'t> {
    Sqlite(SqliteTx<'t>),
    Postgres(PgTx<'t>),
}

impl<'t> Tx<'t> {
    pub(crate) fn new(engine: EngineTx<'t>) -> Self {
        Self { engine, first_error: None, has_entry: false, deadline: Deadline::default() }
    }

    /// The body's own result, unless it passed over a refusal of the engine: then nothing of it is kept.
    pub(crate) fn verdict<T>(&self, result: Result<T>) -> Result<T> {
        match &self.first_error {
            Some(error) => result.and_then(|_| Err(error.clone().into())),
            None => result,
        }
    }
}

impl Tx<'_> {
    pub fn dialect(&self) -> &'static dyn Dialect {
        match &self.engine {
            EngineTx::Sqlite(_) => &stoa_sql::Sqlite,
            EngineTx::Postgres(_) => &stoa_sql::Postgres,
        }
    }

    /// Runs a statement and answers how many rows it changed.
    pub async fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, Error> {
        trace::statement(sql);
        let done = match (refuse_nul(params), &mut self.engine) {
            (Err(error), _) => Err(error),
            (_, EngineTx::Sqlite(tx)) => tx.execute(sql, params),
            (_, EngineTx::Postgres(tx)) => tx.execute(sql, params).await,
        };
        self.note(done)
    }

    /// Deletes rows whose bytes are to leave the disk as well. SQLite overwrites them in the file at once, but for a few of
    /// which it has a copy in unused space of a page, and empties its log within two hours; PostgreSQL has them until
    /// [`crate::Database::reclaim`] gave their place to others.
    pub async fn erase(&mut self, sql: &str, params: &[Value]) -> Result<u64, Error> {
        trace::statement(sql);
        let done = match (refuse_nul(params), &mut self.engine) {
            (Err(error), _) => Err(error),
            (_, EngineTx::Sqlite(tx)) => tx.erase(sql, params),
            (_, EngineTx::Postgres(tx)) => tx.execute(sql, params).await,
        };
        self.note(done)
    }

    /// Runs a statement whose count is not needed. PostgreSQL is not waited for: what it refuses is reported by a later
    /// statement, or by the commit at the latest, so a caller that maps a refusal to an answer uses [`Tx::execute`].
    pub async fn send(&mut self, sql: &str, params: impl AsRef<[Value]> + Into<Vec<Value>>) -> Result<(), Error> {
        trace::statement(sql);
        let sent = match (refuse_nul(params.as_ref()), &mut self.engine) {
            (Err(error), _) => Err(error),
            (_, EngineTx::Sqlite(tx)) => tx.execute(sql, params.as_ref()).map(drop),
            (_, EngineTx::Postgres(tx)) => tx.send(sql, params.into()).await,
        };
        self.note(sent)
    }

    /// Runs a statement and maps every row. The row is borrowed: copy only what must be kept.
    pub async fn rows<T: Send>(
        &mut self,
        sql: &str,
        params: &[Value],
        each: impl FnMut(&Row<'_>) -> Result<T, Error> + Send,
    ) -> Result<Vec<T>, Error> {
        trace::statement(sql);
        let rows = match (refuse_nul(params), &mut self.engine) {
            (Err(error), _) => Err(error),
            (_, EngineTx::Sqlite(tx)) => tx.rows(sql, params, each),
            (_, EngineTx::Postgres(tx)) => tx.rows(sql, params, each).await,
        };
        self.note(rows)
    }

    /// Runs a statement whose rows are documents, of which there may be any number, and answers what they come to.
    /// Only in a read: on PostgreSQL it is a transaction of its own.
    pub async fn fold<F: Fold>(&mut self, sql: &str, params: &[Value], fold: F) -> Result<F::Output> {
        trace::statement(sql);
        refuse_nul(params)?;
        match &mut self.engine {
            EngineTx::Sqlite(tx) => tx.fold(sql, params, fold),
            EngineTx::Postgres(tx) => tx.fold(sql, params, fold).await,
        }
    }

    /// Does work that takes the processor for long, in a read: not on a thread that other calls need. The work looks at
    /// its deadline now and then.
    pub async fn compute<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Deadline) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let deadline = self.deadline.clone();
        match &self.engine {
            // The thread is one for scans.
            EngineTx::Sqlite(_) => work(&deadline),
            EngineTx::Postgres(_) => {
                tokio::task::spawn_blocking(move || work(&deadline)).await.map_err(Fault::internal)?
            }
        }
    }

    /// The first row, if there is one.
    pub async fn row<T: Send>(
        &mut self,
        sql: &str,
        params: &[Value],
        each: impl FnMut(&Row<'_>) -> Result<T, Error> + Send,
    ) -> Result<Option<T>, Error> {
        Ok(self.rows(sql, params, each).await?.into_iter().next())
    }

    /// Inserts rows and tells for each whether it was written: without [`InsertRows::replace`], whether
    /// its key and all else that is unique was new.
    ///
    /// The keys within one call must differ from each other.
    pub async fn insert_rows(&mut self, insert: InsertRows<'_>) -> Result<Vec<bool>, Error> {
        trace::statement(insert.into);
        let done = match &mut self.engine {
            EngineTx::Sqlite(tx) => tx.insert_rows(insert),
            EngineTx::Postgres(tx) => tx.insert_rows(insert).await,
        };
        self.note(done)
    }

    /// Runs several statements without parameters, for schema changes.
    pub async fn batch(&mut self, sql: &str) -> Result<(), Error> {
        let done = match &mut self.engine {
            EngineTx::Sqlite(tx) => tx.batch(sql),
            EngineTx::Postgres(tx) => tx.batch(sql).await,
        };
        self.note(done)
    }

    /// Says that this run rests on what is no longer so: on PostgreSQL the transaction is run again, as if
    /// the engine had found it. On SQLite nothing can come between.
    pub fn again(&mut self, why: &str) -> Fault {
        let error = Error::Retry(why.to_owned());
        self.first_error = Some(error.clone());
        error.into()
    }

    fn note<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let (Err(error), None) = (&result, &self.first_error) {
            self.first_error = Some(error.clone());
        }
        result
    }
}

/// PostgreSQL can't hold U+0000 in text, so neither engine is given it (docs/hazards.md §Strings).
fn refuse_nul(params: &[Value]) -> Result<(), Error> {
    let has_nul = |it: &Value| match it {
        Value::Text(text) => text.as_bytes().contains(&0),
        Value::Texts(list) => list.iter().any(|text| text.as_bytes().contains(&0)),
        _ => false,
    };
    if params.iter().any(has_nul) { Err(Error::Nul) } else { Ok(()) }
}
