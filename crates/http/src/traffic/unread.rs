//! An answer without an end, which its reader and the reaper share.

use axum::body::Bytes;
use futures_util::{Stream, StreamExt};
use std::{
    error::Error,
    fmt,
    pin::Pin,
    sync::{
        Mutex, MutexGuard, TryLockError,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

/// What such an answer is made of, and all that it holds.
pub(super) type Pieces = Pin<Box<dyn Stream<Item = Bytes> + Send>>;

/// Since when a piece of the answer waits for its reader. HTTP/2 asks for none while the client leaves no room for it, and
/// its socket is then not blocked.
#[derive(Default)]
pub(super) struct Unread {
    /// In ticks; 0 while the reader waits for the next piece.
    since: AtomicU32,
    /// What the connection had written by then.
    written: AtomicU64,
    /// Nothing where the answer was cut off.
    pieces: Mutex<Option<Pieces>>,
}

/// The answer was cut off, since its reader took nothing of it.
#[derive(Debug)]
pub(super) struct CutOff;

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was read of the answer for too long")
    }
}

impl Error for CutOff {}

impl Unread {
    pub(super) fn put(&self, pieces: Pieces) {
        *self.pieces() = Some(pieces);
    }

    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, CutOff>>> {
        match self.pieces().as_mut() {
            Some(it) => it.poll_next_unpin(context).map(|it| it.map(Ok)),
            None => Poll::Ready(Some(Err(CutOff))),
        }
    }

    /// Takes the pieces out, unless one is being asked for at this moment.
    pub(super) fn cut_off(&self) -> Option<Pieces> {
        match self.pieces.try_lock() {
            Ok(mut it) => it.take(),
            Err(TryLockError::Poisoned(it)) => it.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// A piece waits since this tick.
    pub(super) fn waits(&self, since: u32, written: u64) {
        self.written.store(written, Relaxed);
        self.since.store(since, Relaxed);
    }

    /// The reader waits.
    pub(super) fn is_awaited(&self) {
        self.since.store(0, Relaxed);
    }

    /// In ticks; 0 while the reader waits.
    pub(super) fn since(&self) -> u32 {
        self.since.load(Relaxed)
    }

    /// Bytes that the connection has written while a piece waits.
    pub(super) fn taken(&self, written: u64) -> u64 {
        written.saturating_sub(self.written.load(Relaxed))
    }

    fn pieces(&self) -> MutexGuard<'_, Option<Pieces>> {
        self.pieces.lock().unwrap_or_else(|it| it.into_inner())
    }
}
