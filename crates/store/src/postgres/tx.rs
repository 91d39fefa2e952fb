//! A connection lent to one transaction or read, and what is on its way there.

use super::value::{Bound, Column};
use crate::{Error, InsertRows, Row, trace};
use deadpool_postgres::Object;
use futures_util::{
    TryStreamExt,
    future::{join, join_all},
    pin_mut,
};
use std::{
    collections::HashSet,
    future::{poll_fn, ready},
    pin::{Pin, pin},
    task::Poll,
};
use stoa_sql::Value;
use tokio_postgres::Statement;

/// Statements kept prepared on one connection; query texts vary with the names of fields.
const PREPARED: usize = 1000;

/// Statements of one transaction that are on their way at the same time.
const SENT: usize = 16;

/// A connection lent to one transaction or read.
///
/// The server answers in the order in which it was asked, so a caller that needs no answer doesn't wait for it: what
/// was sent is awaited together with what comes next. A statement that is refused spoils its transaction, whose
/// commit is then a rollback, so none of the later ones takes effect.
pub(crate) struct PgTx<'t> {
    client: &'t Object,
    pending: Vec<PendingStatement<'t>>,
    /// The answer to `begin` is still to come: only what changes nothing may be sent before.
    is_beginning: bool,
    /// Rows that its statements changed.
    changed: u64,
}

/// A statement on its way, and how many rows it changes.
type PendingStatement<'t> = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send + 't>>;

impl<'t> PgTx<'t> {
    pub(super) fn new(client: &'t Object) -> Self {
        Self { client, pending: Vec::new(), is_beginning: false, changed: 0 }
    }

    pub(super) fn client(&self) -> &'t Object {
        self.client
    }

    /// A transaction whose `begin` travels with its first statement.
    pub(super) async fn begin(client: &'t Object, begin: &'t str) -> Result<Self, Error> {
        let mut tx = Self::new(client);
        tx.put(async move { command(client, begin).await.map(|()| 0) }).await?;
        tx.is_beginning = true;
        Ok(tx)
    }

    pub(super) async fn commit(&mut self) -> Result<(), Error> {
        let client = self.client;
        let done = self.drain(command(client, "commit")).await;
        trace::transaction(self.changed);
        done.map_err(|error| match error {
            // It was on its way, and may have got there.
            Error::Unavailable(text) => Error::Unknown(text),
            error => error,
        })
    }

    pub(super) async fn rollback(&mut self) -> Result<(), Error> {
        self.pending.clear();
        command(self.client, "rollback").await
    }

    /// Sends a statement without waiting for its answer.
    pub(crate) async fn send(&mut self, sql: &str, params: Vec<Value>) -> Result<(), Error> {
        let statement = self.prepare(sql).await?;
        self.begun().await?;
        let client = self.client;
        self.put(async move {
            let params = params.iter().map(Bound);
            client.execute_raw(&statement, params).await.map_err(|it| Error::from_postgres(&it))
        })
        .await
    }

    /// Puts a request behind those that were sent.
    async fn put(&mut self, request: impl Future<Output = Result<u64, Error>> + Send + 't) -> Result<(), Error> {
        let mut request: PendingStatement<'t> = Box::pin(request);
        let changed = match first_poll(request.as_mut()).await {
            Poll::Ready(done) => self.drain(ready(done)).await?,
            Poll::Pending if self.pending.len() == SENT => self.drain(request).await?,
            Poll::Pending => {
                self.pending.push(request);
                return Ok(());
            }
        };
        self.changed += changed;
        Ok(())
    }

    /// Waits until it is known that the transaction has begun.
    async fn begun(&mut self) -> Result<(), Error> {
        if self.is_beginning { self.drain(ready(Ok(()))).await } else { Ok(()) }
    }

    /// Waits for `last` and for all that was sent before; the first refusal counts.
    async fn drain<T>(&mut self, last: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.is_beginning = false;
        if self.pending.is_empty() {
            return last.await;
        }
        let (pending, last) = join(join_all(self.pending.drain(..)), last).await;
        for changed in pending {
            self.changed += changed?;
        }
        last
    }

    pub(crate) async fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, Error> {
        let statement = self.prepare(sql).await?;
        self.begun().await?;
        let client = self.client;
        let done = async {
            client.execute_raw(&statement, params.iter().map(Bound)).await.map_err(|it| Error::from_postgres(&it))
        };
        let changed = self.drain(done).await?;
        self.changed += changed;
        Ok(changed)
    }

    pub(crate) async fn rows<T>(
        &mut self,
        sql: &str,
        params: &[Value],
        mut each: impl FnMut(&Row<'_>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let statement = self.prepare(sql).await?;
        if !sql.starts_with("select") {
            self.begun().await?;
        }
        let client = self.client;
        let found = async {
            let params = params.iter().map(Bound);
            let rows = client.query_raw(&statement, params).await.map_err(|it| Error::from_postgres(&it))?;
            pin_mut!(rows);
            let mut found = Vec::new();
            while let Some(row) = rows.try_next().await.map_err(|it| Error::from_postgres(&it))? {
                found.push(each(&Row::Postgres(&row))?);
            }
            Ok(found)
        };
        self.drain(found).await
    }

    /// One statement for all rows: each column travels as an array.
    pub(crate) async fn insert_rows(&mut self, insert: InsertRows<'_>) -> Result<Vec<bool>, Error> {
        let columns: Vec<Column<'_>> = (0..insert.values.len()).map(|i| Column::of(insert.rows, i)).collect();
        let (given, values) = (unnested(&columns), of_given(insert.values));
        let order = match columns.get(insert.key_index).filter(|_| !insert.keeps_order) {
            Some(key) => format!("u.c{}{}", insert.key_index + 1, key.order()),
            None => "u.n".to_owned(),
        };
        let sql = format!(
            "{} select {values} from {given} order by {order} {} returning {}",
            insert.into,
            insert.on_conflict(),
            insert.key
        );
        let new = self.inserted_keys(&sql, &columns).await?;
        self.changed += insert.rows.len() as u64;
        let is_new = |row: &&[Value]| matches!(&row[insert.key_index], Value::Text(key) if new.contains(key));
        Ok(insert.rows.iter().map(is_new).collect())
    }

    /// Inserts rows whose keys differ, and for each that is new the row of the outbox that announces it, all in one
    /// statement. A row has the columns of `values` and then those of its event: site, kind, payload and time. Answers
    /// the keys that were new.
    pub(super) async fn insert_with_events(
        &mut self,
        into: &str,
        values: &[String],
        key: &str,
        rows: &[&[Value]],
    ) -> Result<HashSet<String>, Error> {
        let n = values.len();
        let columns: Vec<Column<'_>> = (0..n + 4).map(|i| Column::of(rows, i)).collect();
        let (given, values) = (unnested(&columns), of_given(values));
        let (site, kind, payload, now) = (n + 1, n + 2, n + 3, n + 4);
        let sql = format!(
            "with given as materialized (select * from {given}), \
             new as ({into} select {values} from given as u order by u.c1 collate \"C\" \
             on conflict do nothing returning {key}), \
             event as (insert into stoa.outbox (site, kind, payload, created) \
             select u.c{site}, u.c{kind}, u.c{payload}, u.c{now} from given as u \
             join new on new.{key} = u.c1 collate \"C\" order by u.n) select {key} from new"
        );
        self.inserted_keys(&sql, &columns).await
    }

    async fn inserted_keys(&mut self, sql: &str, columns: &[Column<'_>]) -> Result<HashSet<String>, Error> {
        let statement = self.prepare(sql).await?;
        self.begun().await?;
        let client = self.client;
        let new = async {
            let rows = client.query_raw(&statement, columns).await.map_err(|it| Error::from_postgres(&it))?;
            pin_mut!(rows);
            let mut new = HashSet::new();
            while let Some(row) = rows.try_next().await.map_err(|it| Error::from_postgres(&it))? {
                new.insert(row.try_get::<_, String>(0).map_err(|it| Error::Other(it.to_string()))?);
            }
            Ok(new)
        };
        self.drain(new).await
    }

    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.begun().await?;
        self.drain(command(self.client, sql)).await
    }

    /// At once when the connection knows the statement.
    async fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        let client = self.client;
        if client.statement_cache.size() >= PREPARED {
            client.statement_cache.clear();
        }
        let mut statement = pin!(async {
            client.prepare_cached(sql).await.map_err(|it| match Error::from_postgres(&it) {
                Error::Other(text) => Error::Other(format!("{text} in: {sql}")),
                error => error,
            })
        });
        match first_poll(statement.as_mut()).await {
            Poll::Ready(Ok(statement)) => Ok(statement),
            Poll::Ready(Err(error)) => self.drain(ready(Err(error))).await,
            Poll::Pending => self.drain(statement).await,
        }
    }
}

/// A row source `u` with the rows of these columns, which are called `c1`, `c2` …, and `n`, their number.
fn unnested(columns: &[Column<'_>]) -> String {
    let array = |(i, it): (usize, &Column<'_>)| format!("${}::{}[]", i + 1, it.type_name());
    let arrays: Vec<_> = columns.iter().enumerate().map(array).collect();
    let names: String = (1..=columns.len()).map(|n| format!("c{n}, ")).collect();
    format!("unnest({}) with ordinality as u({names}n)", arrays.join(", "))
}

/// Expressions of columns `$1`, `$2` …, as expressions of [`unnested`] rows.
fn of_given(values: &[String]) -> String {
    let mut list = values.join(", ");
    for n in (1..=values.len()).rev() {
        list = list.replace(&format!("${n}"), &format!("u.c{n}"));
    }
    list
}

/// Polls a request for the first time, which writes it to the connection.
async fn first_poll<F: Future + ?Sized>(mut request: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(request.as_mut().poll(context))).await
}

/// Runs a statement without parameters that answers nothing.
pub(crate) async fn command(client: &Object, sql: &str) -> Result<(), Error> {
    client.batch_execute(sql).await.map_err(|it| Error::from_postgres(&it))
}
