//! Keeps the write-ahead log small under continuous readers.
//!
//! SQLite restarts its log only at a moment when no reader uses it. Scans that overlap leave no
//! such moment, and the log would grow as long as they do. So when it has grown past [`LIMIT`], scans
//! that have not begun wait, those that run come to their end (they are bounded), and the writer empties
//! the log. Writes go on all the time, and so do point reads.

use crate::Error;
use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use stoa_kernel::clock::{Millis, elapsing};

/// Bytes of the log from which on it is emptied.
const LIMIT: u64 = 32 << 20;
/// How long what was erased stays in the log at most, while there are commits.
const KEPT: Millis = 60 * 60_000;
/// How long a scan is waited for before the log is emptied: longer than any takes.
const LONGEST_SCAN: Millis = 35_000;
/// Commits between two looks at its length.
const COMMITS: u32 = 16;
/// How often the writer looks whether the scans are over, when it has nothing else to do.
pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// What scans pass before they begin.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    opened: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    is_closed: bool,
}

/// A scan that runs.
pub(super) struct Pass<'g>(&'g Gate);

impl Gate {
    /// Waits while the gate is closed.
    pub(super) fn enter(&self) -> Pass<'_> {
        let mut state = self.state.lock();
        while state.is_closed {
            self.opened.wait(&mut state);
        }
        state.running += 1;
        Pass(self)
    }

    /// Lets no scan in any more; true when none runs.
    fn close(&self) -> bool {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.running == 0
    }

    fn open(&self) {
        self.state.lock().is_closed = false;
        self.opened.notify_all();
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.state.lock().running -= 1;
    }
}

/// The writer's view of the log.
pub(super) struct Log {
    path: PathBuf,
    gate: Arc<Gate>,
    commits: u32,
    is_closing: bool,
    /// When the first of what was erased was, by the clock that only goes forward; nothing if the log has none of it.
    erased: Option<Millis>,
}

impl Log {
    pub(super) fn new(database: &Path, gate: Arc<Gate>) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-wal");
        Self { path: path.into(), gate, commits: 0, is_closing: false, erased: None }
    }

    /// Whether the writer waits for scans to end.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_closing
    }

    /// Empties it now. Scans that have not begun wait until it is done.
    ///
    /// # Errors
    /// [`Error::Retry`] when somebody reads in it for longer than is waited.
    pub(super) fn empty(&mut self, conn: &Connection) -> Result<(), Error> {
        let until = elapsing() + LONGEST_SCAN;
        while !self.gate.close() && elapsing() < until {
            std::thread::sleep(LONGEST_WAIT);
        }
        let emptied = conn.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0));
        self.is_closing = false;
        self.gate.open();
        match emptied.map_err(|it| Error::from_sqlite(&it))? {
            0 => {
                self.erased = None;
                Ok(())
            }
            _ => Err(Error::Retry("somebody reads in the log".to_owned())),
        }
    }

    /// Called between two commits; whether the last one erased what the log may still have.
    pub(super) fn tend(&mut self, conn: &Connection, has_erased: bool) {
        if has_erased && self.erased.is_none() {
            self.erased = Some(elapsing());
        }
        self.is_closing |= self.erased.is_some_and(|it| elapsing() - it >= KEPT);
        self.commits += 1;
        if !self.is_closing && self.commits >= COMMITS {
            self.commits = 0;
            self.is_closing = std::fs::metadata(&self.path).is_ok_and(|it| it.len() > LIMIT);
        }
        if self.is_closing && self.gate.close() {
            // Should it fail, a full disk for example, the next look finds the log as long as it was.
            match conn.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, i64>(0)) {
                Ok(0) => self.erased = None,
                // A reader of the log keeps it: the next look is a while away.
                Ok(_) => self.erased = self.erased.map(|_| elapsing()),
                Err(error) => {
                    tracing::warn!("the write-ahead log could not be emptied: {error}");
                    self.erased = self.erased.map(|_| elapsing());
                }
            }
            self.is_closing = false;
            self.gate.open();
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.gate.open();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_erased_leaves_the_log() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("log.sqlite");
        let conn = Connection::open(&path).expect("a database");
        conn.execute_batch("pragma journal_mode = wal; create table t (a)").expect("a table");
        let mut log = Log::new(&path, Arc::default());
        let length = || std::fs::metadata(dir.path().join("log.sqlite-wal")).map_or(0, |it| it.len());
        log.tend(&conn, true);
        assert!(length() > 0, "at once it isn't emptied");
        log.erased = log.erased.map(|it| it - KEPT);
        log.tend(&conn, false);
        assert_eq!((length(), log.erased), (0, None));
    }
}
