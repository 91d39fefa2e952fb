//! The one writer of a SQLite file. Waiting transactions share a commit.
//!
//! A thread takes whatever waits in its queue, runs each transaction to its end as a savepoint of one
//! physical transaction, commits once, and only then answers them all. It never lingers: under light load a
//! transaction has a commit to itself. The rules, and what broke without them:
//! docs/hazards.md §Writers sharing a commit.

use super::{
    SqliteTx,
    log::{Gate, LONGEST_WAIT, Log},
};
use crate::{Error, Tx, TxFuture, news::Announcer, trace, tx::EngineTx};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use rusqlite::{Connection, OpenFlags};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
    task::{Context, Poll, Waker},
    thread::JoinHandle,
};
use stoa_kernel::{Fault, Result};
use tokio::sync::oneshot;

/// Transactions that may share one commit.
const BATCH: usize = 256;
/// Transactions that may wait; more are refused with [`Error::Crowded`] instead of eating memory.
const QUEUE: usize = 4096;

/// A handle to the writer thread; dropping the last one ends the thread after what it was given.
pub(crate) struct Writer {
    queue: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Opens the file for writing, creating it when it is missing, and starts the thread, which announces rows of the
    /// outbox after their commit.
    pub(crate) fn start(path: &Path, gate: Arc<Gate>, announcer: Arc<Announcer>) -> Result<Self, Error> {
        let conn = super::open(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        conn.execute_batch(
            "pragma busy_timeout = 10000; pragma journal_mode = wal; pragma synchronous = full; \
             pragma foreign_keys = on; pragma cache_size = -65536; pragma temp_store = memory; \
             pragma journal_size_limit = 16777216; pragma wal_autocheckpoint = 1000; \
             pragma secure_delete = fast;",
        )
        .map_err(|it| Error::from_sqlite(&it))?;
        let log = Log::new(path, gate);
        let (queue, jobs) = bounded(QUEUE);
        let thread = std::thread::Builder::new()
            .name("stoa-writer".to_owned())
            .spawn(move || run(conn, log, &jobs, &announcer))
            .map_err(|it| Error::Unavailable(it.to_string()))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Runs `body` in a transaction and answers after its commit is durable.
    pub(crate) async fn write<I, T, F>(&self, input: I, body: F) -> Result<T>
    where
        I: Send + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job = Box::new(Transaction {
            input,
            body,
            result: None,
            has_entry: false,
            has_erased: false,
            answer: Some(answer),
        });
        self.give(Work::Transaction(job))?;
        answered.await.unwrap_or_else(|_| Err(stopped().into()))
    }

    /// Rewrites the file without what was deleted from it, and empties its log. Those who write wait meanwhile.
    pub(crate) async fn compact(&self) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        self.give(Work::Compaction(answer))?;
        answered.await.unwrap_or_else(|_| Err(stopped()))
    }

    fn give(&self, work: Work) -> Result<(), Error> {
        let queue = self.queue.as_ref().ok_or_else(|| Error::Unavailable("closed".to_owned()))?;
        queue.try_send(work).map_err(|it| match it {
            TrySendError::Full(_) => Error::Crowded,
            TrySendError::Disconnected(_) => stopped(),
        })
    }

    /// See [`crate::Database::change_schema`]. One transaction, whose answer is in the engine's words.
    pub(crate) async fn change_schema(&self, work: crate::SchemaChange) -> Result<bool, Error> {
        let done = self.write(work, |tx, work| {
            crate::boxed!({
                let done = change_schema(tx, work).await;
                // What was changed before a refusal stays.
                tx.first_error = None;
                Ok(done)
            })
        });
        done.await.unwrap_or_else(|fault| Err(Error::Unavailable(format!("{fault:?}"))))
    }
}

/// A statement that fails undoes itself alone; those before it removed what was there, which stays so.
async fn change_schema(tx: &mut Tx<'_>, work: &crate::SchemaChange) -> Result<bool, Error> {
    if tx.row(&work.only_if.0, &work.only_if.1, |_| Ok(())).await?.is_none() {
        return Ok(false);
    }
    for it in &work.statements {
        tx.batch(it).await?;
    }
    match work.write_down(tx).await {
        Ok(()) => Ok(true),
        Err(fault) => Err(tx.first_error.clone().unwrap_or_else(|| Error::Other(format!("{fault:?}")))),
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.take();
        if let Some(thread) = self.thread.take() {
            // The last handle may be dropped by a job on the writer thread itself.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

fn stopped() -> Error {
    Error::Unavailable("the writer has stopped".to_owned())
}

/// What the thread is given.
enum Work {
    Transaction(Box<dyn Job>),
    /// Who asks is told how it ended.
    Compaction(oneshot::Sender<Result<(), Error>>),
}

/// A transaction in the queue, its result type erased.
trait Job: Send {
    /// Runs the body; `Err` tells that its savepoint must be undone.
    fn run(&mut self, conn: &mut Connection) -> Result<(), ()>;
    /// Gives the answer: the body's own result after a commit, or why there was none.
    fn answer(&mut self, commit: Result<(), Error>);
    /// Whether it was answered and had written to the outbox.
    fn is_news(&self) -> bool;
    /// Whether it erased what the log may still have.
    fn has_erased(&self) -> bool;
}

struct Transaction<I, T, F> {
    /// Lent to each run of the body.
    input: I,
    body: F,
    result: Option<Result<T>>,
    /// Whether the last run wrote to the outbox; after the answer, whether that is committed.
    has_entry: bool,
    has_erased: bool,
    answer: Option<oneshot::Sender<Result<T>>>,
}

impl<I, T, F> Job for Transaction<I, T, F>
where
    I: Send + 'static,
    T: Send + 'static,
    F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T> + Send + 'static,
{
    fn run(&mut self, conn: &mut Connection) -> Result<(), ()> {
        let mut tx = Tx::new(EngineTx::Sqlite(SqliteTx::new(conn)));
        let result = match catch_unwind(AssertUnwindSafe(|| complete((self.body)(&mut tx, &self.input)))) {
            Ok(result) => result,
            Err(_) => Err(Fault::internal("a transaction panicked")),
        };
        if let EngineTx::Sqlite(tx) = &tx.engine {
            trace::transaction(tx.changed);
            self.has_erased = tx.has_erased;
        }
        let result = tx.verdict(result);
        let verdict = result.as_ref().map(|_| ()).map_err(|_| ());
        self.has_entry = tx.has_entry && verdict.is_ok();
        self.result = Some(result);
        verdict
    }

    fn answer(&mut self, commit: Result<(), Error>) {
        let Some(answer) = self.answer.take() else { return };
        self.has_entry &= commit.is_ok();
        let result = match (commit, self.result.take()) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(Fault::internal("a transaction was not run")),
            (Err(error), _) => Err(error.into()),
        };
        // No caller waits when the request was dropped; the write has happened all the same.
        let _ = answer.send(result);
    }

    fn is_news(&self) -> bool {
        self.answer.is_none() && self.has_entry
    }

    fn has_erased(&self) -> bool {
        self.has_erased
    }
}

/// Polls a future that awaits nothing but its `Tx`: on SQLite every await is ready at once.
pub(super) fn complete<T>(mut future: TxFuture<'_, T>) -> Result<T> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Fault::internal("a transaction awaited something other than its Tx")),
    }
}

fn run(mut conn: Connection, mut log: Log, queue: &Receiver<Work>, announcer: &Announcer) {
    let mut is_fenced = false;
    let (mut batch, mut compactions) = (Vec::with_capacity(BATCH), Vec::new());
    loop {
        let first =
            match if log.is_waiting() { queue.recv_timeout(LONGEST_WAIT) } else { queue.recv().map_err(Into::into) } {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => {
                    log.tend(&conn, false);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
        for it in std::iter::once(first).chain(queue.try_iter().take(BATCH - 1)) {
            match it {
                Work::Transaction(job) => batch.push(job),
                Work::Compaction(answer) => compactions.push(answer),
            }
        }
        let outcome = match is_fenced.then(|| fence(&mut conn)) {
            Some(Err(error)) => Err(Error::Unavailable(format!("waiting for the disk: {error:?}"))),
            _ => commit_batch(&mut conn, &mut batch),
        };
        is_fenced = match &outcome {
            Err(Error::Unknown(_)) => true,
            Err(Error::Unavailable(_)) => is_fenced,
            _ => false,
        };
        let (mut is_news, mut has_erased) = (false, false);
        for mut job in batch.drain(..) {
            job.answer(outcome.clone());
            is_news |= job.is_news();
            has_erased |= job.has_erased();
        }
        if is_news {
            announcer.announce();
        }
        log.tend(&conn, has_erased);
        for answer in compactions.drain(..) {
            let done = if is_fenced {
                Err(Error::Unavailable("waiting for the disk".to_owned()))
            } else {
                compact(&conn, &mut log)
            };
            let _ = answer.send(done);
        }
    }
}

/// `vacuum` makes the new file beside the old one: on the disk, since a large one doesn't fit into memory.
fn compact(conn: &Connection, log: &mut Log) -> Result<(), Error> {
    let batch = |sql: &str| conn.execute_batch(sql).map_err(|it| Error::from_sqlite(&it));
    batch("pragma temp_store = file")?;
    let done = batch("vacuum");
    batch("pragma temp_store = memory")?;
    done?;
    log.empty(conn)
}

/// Runs all jobs in one physical transaction. A job whose body refuses is undone alone; if SQLite
/// itself gave up the transaction (full disk, interrupt), all of it is run again, one job at a time.
fn commit_batch(conn: &mut Connection, batch: &mut [Box<dyn Job>]) -> Result<(), Error> {
    if let [job] = batch {
        return commit_alone(conn, job.as_mut());
    }
    execute(conn, "begin immediate")?;
    for job in batch.iter_mut() {
        let kept = execute(conn, "savepoint job").map(|()| job.run(conn));
        if conn.is_autocommit() {
            return one_by_one(conn, batch);
        }
        let closed = match kept {
            Ok(Ok(())) => execute(conn, "release job"),
            Ok(Err(())) => execute(conn, "rollback to job").and_then(|()| execute(conn, "release job")),
            Err(error) => Err(error),
        };
        if closed.is_err() {
            let _ = execute(conn, "rollback");
            return one_by_one(conn, batch);
        }
    }
    commit(conn)
}

/// The slow path after a lost batch: each job has a transaction to itself, so the one at fault fails alone.
fn one_by_one(conn: &mut Connection, batch: &mut [Box<dyn Job>]) -> Result<(), Error> {
    for job in batch.iter_mut() {
        let outcome = commit_alone(conn, job.as_mut());
        let is_unknown = matches!(outcome, Err(Error::Unknown(_)));
        job.answer(outcome.clone());
        if is_unknown {
            return outcome;
        }
    }
    Ok(())
}

fn commit_alone(conn: &mut Connection, job: &mut dyn Job) -> Result<(), Error> {
    execute(conn, "begin immediate")?;
    let kept = job.run(conn);
    if conn.is_autocommit() {
        // SQLite rolled back by itself; the body's own error says why.
        return match kept {
            Err(()) => Ok(()),
            Ok(()) => Err(Error::Other("the transaction ended before its commit".to_owned())),
        };
    }
    match kept {
        Ok(()) => commit(conn),
        Err(()) => execute(conn, "rollback"),
    }
}

/// Commits durably. After a failed sync the outcome is unknown: the frames may be found by recovery.
fn commit(conn: &mut Connection) -> Result<(), Error> {
    match execute(conn, "commit") {
        Err(Error::Unavailable(text)) => {
            if !conn.is_autocommit() {
                let _ = execute(conn, "rollback");
            }
            Err(Error::Unknown(text))
        }
        Err(error) => {
            if !conn.is_autocommit() {
                let _ = execute(conn, "rollback");
            }
            Err(error)
        }
        Ok(()) => Ok(()),
    }
}

/// After an unknown outcome a transaction of our own must reach the disk before anything is
/// acknowledged again: it overwrites the frames that were never acknowledged.
fn fence(conn: &mut Connection) -> Result<(), Error> {
    execute(conn, "begin immediate")?;
    execute(conn, "update stoa.fence set count = count + 1")?;
    commit(conn)
}

fn execute(conn: &Connection, sql: &str) -> Result<(), Error> {
    let mut statement = conn.prepare_cached(sql).map_err(|it| Error::from_sqlite(&it))?;
    statement.raw_execute().map(|_| ()).map_err(|it| Error::from_sqlite(&it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::{pin::Pin, sync::mpsc};
    use stoa_kernel::Code;

    /// Begins a write, which then waits for its answer.
    fn waits(write: Pin<&mut impl Future>) -> bool {
        write.poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// Pages are split while rows come, and joined while they go.
    #[tokio::test]
    async fn what_is_erased_leaves_the_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("writer.sqlite");
        let writer = Writer::start(&path, Arc::default(), Arc::default()).expect("a writer");
        let execute = async |sql: String, erases: bool| {
            let done = writer.write((sql, erases), |tx, (sql, erases)| {
                crate::boxed!(Ok(if *erases { tx.erase(sql, &[]).await? } else { tx.execute(sql, &[]).await? }))
            });
            done.await.expect("done")
        };
        execute("create table t (word text primary key, n int, list blob) without rowid".to_owned(), false).await;
        for turn in 0..20 {
            let numbers = "with recursive m(i) as (select 0 union all select i + 1 from m where i < 199)";
            let sql = format!(
                "insert into t {numbers} select printf('secret%05dx', n), n, cast(printf('word%05dx', n) || \
                 hex(zeroblob(n * 7 % 3000)) as blob) from (select ({turn} * 200 + i) * 1999 % 4000 as n from m)"
            );
            assert_eq!(execute(sql, false).await, 200);
        }
        for turn in 0..10 {
            let sql = format!("delete from t where n % 3 = 0 and n >= {} and n < {}", turn * 400, (turn + 1) * 400);
            execute(sql, true).await;
        }
        drop(writer);
        let conn = Connection::open(&path).expect("the file");
        conn.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).expect("a checkpoint");
        let file = std::fs::read(&path).expect("the file");
        let number = |at: usize, name: &[u8]| -> Option<usize> {
            let digits = file[at..].strip_prefix(name)?.get(..6)?.strip_suffix(b"x")?;
            std::str::from_utf8(digits).ok()?.parse().ok()
        };
        // SQLite itself leaves some in unused space of pages that it splits.
        for name in [&b"secret"[..], b"word"] {
            let all: Vec<usize> = (0..file.len()).filter_map(|at| number(at, name)).collect();
            let left: Vec<_> = all.iter().filter(|n| *n % 3 == 0).collect();
            assert!(all.len() > 2_000 && left.len() <= 20, "{} in all, {left:?}", all.len());
        }
    }

    /// Rewritten, the file has nothing left of what was deleted, nor has its log, with readers beside it.
    #[tokio::test]
    async fn what_was_deleted_is_gone_after_a_compaction() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("writer.sqlite");
        let writer = Writer::start(&path, Arc::default(), Arc::default()).expect("a writer");
        let execute = async |sql: &'static str| {
            let done = writer.write(sql, |tx, sql| crate::boxed!(Ok(tx.execute(sql, &[]).await?)));
            done.await.expect("done")
        };
        execute("create table t (a integer primary key, word text)").await;
        execute(
            "insert into t with recursive m(i) as (select 1 union all select i + 1 from m where i < 5000) \
             select i, 'secret' || hex(randomblob(200)) from m",
        )
        .await;
        execute("insert into t values (9999, 'stays')").await;
        let files = || {
            let all = std::fs::read_dir(dir.path()).expect("files").map(|it| std::fs::read(it.expect("a file").path()));
            all.flat_map(|it| it.expect("bytes")).collect::<Vec<u8>>()
        };
        let has = |word: &[u8]| files().windows(word.len()).any(|it| it == word);
        execute("delete from t where word like 'secret%'").await;
        assert!(has(b"secret"));
        let reader = Connection::open(&path).expect("a reader");
        let stays = || reader.query_row("select word from t", [], |row| row.get::<_, String>(0)).expect("a row");
        assert_eq!(stays(), "stays");
        writer.compact().await.expect("compacted");
        assert!(!has(b"secret") && has(b"stays"));
        assert_eq!(stays(), "stays");
        assert_eq!(execute("delete from t").await, 1);
    }

    #[tokio::test]
    async fn writes_beyond_the_queue_are_told_to_come_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let writer =
            Writer::start(&dir.path().join("writer.sqlite"), Arc::default(), Arc::default()).expect("a writer");
        let (begun, has_begun) = oneshot::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let signals = (Mutex::new(Some(begun)), Mutex::new(may_go_on));
        let slow = writer.write(signals, |_, (begun, may_go_on)| {
            crate::boxed!({
                if let Some(it) = begun.lock().take() {
                    let _ = it.send(());
                }
                let _ = may_go_on.lock().recv();
                Ok(())
            })
        });
        let mut slow = Box::pin(slow);
        assert!(waits(slow.as_mut()));
        has_begun.await.expect("the first write has begun");
        let waiting = (0..QUEUE).map(|_| Box::pin(writer.write((), |_, ()| crate::boxed!(Ok(())))));
        let mut waiting: Vec<_> = waiting.collect();
        for it in &mut waiting {
            assert!(waits(it.as_mut()));
        }
        let refused = writer.write((), |_, ()| crate::boxed!(Ok(()))).await.expect_err("the queue is full");
        assert_eq!(refused.code(), Code::Unavailable);
        assert_eq!(refused.data()["retryAfterSeconds"], 1);
        assert_eq!(refused.log(), None);
        go_on.send(()).expect("sent");
        for it in waiting {
            it.await.expect("written");
        }
        slow.await.expect("written");
    }
}
