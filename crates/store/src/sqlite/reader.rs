//! Readers of a SQLite file, in two pools.
//!
//! Bounded point reads and index lookups run at once on the caller's thread, and so does what shows itself
//! to be short. Everything that scans runs on a small pool of its own, bounded in number and cancelled
//! when no caller waits for it any more or its time is over (docs/hazards.md §Readers and long work).

use super::{SqliteTx, log::Gate, map};
use crate::{
    Error, Requester, Tx, TxFuture,
    deadline::{CancelOnDrop, Deadline},
    fold::step_back,
    line::{Line, Places},
    tx::EngineTx,
};
use crossbeam_channel::{Receiver, Sender, bounded};
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    thread::ThreadId,
    time::Duration,
};
use stoa_kernel::Result;
use tokio::sync::oneshot;

/// Scans at the same time: as many as one network may have, and one.
const SCANS: Places = Places { running: 3, running_of_one: 2, waiting: 256, waiting_of_one: 128 };
/// Idle connections kept for point reads.
const IDLE: usize = 8;
/// What a read may take on the caller's thread: so many times so many steps of SQLite's machine, a
/// millisecond or two.
const SHORT: u32 = 20;
const STEPS: i32 = 1000;
/// A scan is ended after this long (docs/protocol/content.md §15).
const SCAN_LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Readers {
    path: PathBuf,
    /// Each with the thread that used it last.
    idle: Mutex<Vec<(ThreadId, Connection)>>,
    scans: Sender<Scan>,
    line: Arc<Line>,
}

type Scan = Box<dyn FnOnce(&mut Connection) + Send>;

impl Readers {
    pub(crate) fn start(path: &Path, gate: &Arc<Gate>) -> Result<Self, Error> {
        let (scans, waiting) = bounded::<Scan>(SCANS.running);
        for n in 0..SCANS.running {
            let (conn, waiting, gate) = (open(path)?, waiting.clone(), gate.clone());
            std::thread::Builder::new()
                .name(format!("stoa-scan-{n}"))
                .spawn(move || run(conn, &waiting, &gate))
                .map_err(|it| Error::Unavailable(it.to_string()))?;
        }
        let first = (std::thread::current().id(), open(path)?);
        Ok(Self { path: path.to_owned(), idle: Mutex::new(vec![first]), scans, line: Line::new(SCANS) })
    }

    /// A bounded read, here and now.
    pub(crate) fn point<T, F>(&self, body: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        let mut conn = self.idle_connection()?;
        let result = with(&mut conn, Deadline::default(), body);
        self.keep(conn);
        result
    }

    /// The same as long as it takes no more than a few steps; nothing if it would.
    pub(crate) fn short<T, F>(&self, body: F) -> Option<Result<T>>
    where
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        let mut conn = match self.idle_connection() {
            Ok(conn) => conn,
            Err(error) => return Some(Err(error.into())),
        };
        let left = Arc::new(AtomicU32::new(SHORT));
        let counter = left.clone();
        // Once at nothing it stays there, so that no later statement of the body runs on.
        let is_over = move || counter.fetch_update(Relaxed, Relaxed, |it| it.checked_sub(1)).is_err();
        let _ = conn.progress_handler(STEPS, Some(is_over));
        let result = with(&mut conn, Deadline::default(), body);
        let _ = conn.progress_handler(0, None::<fn() -> bool>);
        self.keep(conn);
        (result.is_ok() || left.load(Relaxed) > 0).then_some(result)
    }

    /// The one that this thread used last, if there is one: each maps the file for itself, and a core that
    /// went from one map to another would have to learn every page of it again.
    fn idle_connection(&self) -> Result<Connection, Error> {
        let mut idle = self.idle.lock();
        let me = std::thread::current().id();
        let mine = idle.iter().rposition(|(thread, _)| *thread == me).or(idle.len().checked_sub(1));
        let conn = mine.map(|it| idle.swap_remove(it).1);
        drop(idle);
        conn.map_or_else(|| open(&self.path), Ok)
    }

    fn keep(&self, conn: Connection) {
        let mut idle = self.idle.lock();
        if idle.len() < IDLE && conn.is_autocommit() {
            idle.push((std::thread::current().id(), conn));
        }
    }

    /// A read that may take long, in the pool for scans.
    pub(crate) async fn scan<T, F>(&self, requester: Requester, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T> + Send + 'static,
    {
        let turn = self.line.turn(requester).await?;
        let (answer, answered) = oneshot::channel();
        let gone = Arc::new(AtomicBool::new(false));
        let _cancel = CancelOnDrop(gone.clone());
        let scan: Scan = Box::new(move |conn| {
            let _turn = turn;
            if gone.load(Relaxed) {
                return;
            }
            let deadline = Deadline::new(gone, SCAN_LIMIT);
            limit(conn, deadline.clone());
            let result = with(conn, deadline, body);
            let _ = conn.progress_handler(0, None::<fn() -> bool>);
            let _ = answer.send(result);
        });
        // There is room for as many as have a turn.
        if self.scans.try_send(scan).is_err() {
            return Err(Error::Unavailable("no thread takes long reads".to_owned()).into());
        }
        answered.await.unwrap_or_else(|_| Err(Error::Interrupted.into()))
    }
}

pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    let conn = super::open(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.execute_batch(&format!(
        "pragma busy_timeout = 10000; pragma query_only = on; pragma cache_size = -16384; \
         pragma mmap_size = {}; pragma temp_store = memory;",
        map::LARGEST
    ))
    .map_err(|it| Error::from_sqlite(&it))?;
    map::keep(&conn)?;
    Ok(conn)
}

fn run(mut conn: Connection, waiting: &Receiver<Scan>, gate: &Gate) {
    step_back();
    while let Ok(scan) = waiting.recv() {
        let _pass = gate.enter();
        // A panic in a body must not take its reader with it.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scan(&mut conn)));
    }
}

/// Stops the statement when the caller has gone or the time is over.
fn limit(conn: &mut Connection, deadline: Deadline) {
    let _ = conn.progress_handler(10_000, Some(move || deadline.is_over()));
}

fn with<T, F>(conn: &mut Connection, deadline: Deadline, body: F) -> Result<T>
where
    F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
{
    let mut tx = Tx::new(EngineTx::Sqlite(SqliteTx::new(conn)));
    tx.deadline = deadline;
    let result = super::writer::complete(body(&mut tx));
    drop(tx);
    // A reader that stayed in an old state of the data would show it to all that come after.
    if !conn.is_autocommit() {
        let _ = conn.execute_batch("rollback");
    }
    result
}
