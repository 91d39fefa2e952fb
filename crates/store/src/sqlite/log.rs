//! Keeps the write-ahead log small under continuous readers.
//!
//! SQLite restarts its log only at a moment when no reader uses it. Scans that overlap leave no
//! such moment, and the log would grow as long as they do. So when it has grown past [`LIMIT`], scans
//! that have not begun wait, those that run come to their end (they are bounded), and the writer empties
//! the log. Writes go on all the time, and so do point reads.

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// Bytes of the log from which on it is emptied.
const LIMIT: u64 = 32 << 20;
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
}

impl Log {
    pub(super) fn new(database: &Path, gate: Arc<Gate>) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-wal");
        Self { path: path.into(), gate, commits: 0, is_closing: false }
    }

    /// Whether the writer waits for scans to end.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_closing
    }

    /// Called between two commits.
    pub(super) fn tend(&mut self, conn: &Connection) {
        self.commits += 1;
        if !self.is_closing && self.commits >= COMMITS {
            self.commits = 0;
            self.is_closing = std::fs::metadata(&self.path).is_ok_and(|it| it.len() > LIMIT);
        }
        if self.is_closing && self.gate.close() {
            // Should it fail, a full disk for example, the next look finds the log as long as it was.
            if let Err(error) = conn.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())) {
                tracing::warn!("the write-ahead log could not be emptied: {error}");
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
