//! What one pipeline may use, and all of them together.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use stoa_kernel::{Code, Fault, Result};

/// How much a pipeline may use.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Bytes that are kept at the same time: of groups, of rows that wait for their order, of results.
    pub bytes: usize,
    /// Rows that leave a stage, of all stages; the items are rows too.
    pub rows: u64,
    /// Bytes of the results' text.
    pub answer: usize,
}

/// Memory that several share: all pipelines of the process, or all searches.
#[derive(Debug)]
pub struct SharedMemory {
    used: AtomicUsize,
    most: usize,
    running: AtomicUsize,
}

/// Rows between two questions whether it is over.
const STEP: u64 = 8;
/// Bytes that are taken from the shared memory at once.
const CHUNK: usize = 1 << 20;
/// Bytes of one row.
const LARGEST_ROW: usize = 16 << 20;

/// What a pipeline has used so far.
pub(super) struct Budget {
    bounds: Bounds,
    share: Share,
    used: usize,
    rows: u64,
    is_over: Box<dyn Fn() -> bool + Send>,
}

impl SharedMemory {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { used: AtomicUsize::new(0), most, running: AtomicUsize::new(0) })
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Those that are at work.
    pub fn running(&self) -> usize {
        self.running.load(Relaxed)
    }
}

/// What one of those that share a memory has of it.
#[derive(Debug)]
pub struct Share {
    shared: Arc<SharedMemory>,
    taken: usize,
}

impl Share {
    pub fn new(shared: Arc<SharedMemory>) -> Self {
        shared.running.fetch_add(1, Relaxed);
        Self { shared, taken: 0 }
    }

    /// Sees to it that so many bytes are taken.
    ///
    /// # Errors
    /// UNAVAILABLE when others have all.
    pub fn hold(&mut self, bytes: usize) -> Result<()> {
        let Some(more) = bytes.checked_sub(self.taken).filter(|it| *it > 0) else { return Ok(()) };
        let more = more.next_multiple_of(CHUNK);
        let before = self.shared.used.fetch_add(more, Relaxed);
        self.taken += more;
        if before + more > self.shared.most {
            return Err(Fault::new(Code::Unavailable));
        }
        Ok(())
    }

    /// Gives back what is taken beyond so many bytes.
    pub fn shrink(&mut self, bytes: usize) {
        let less = self.taken.saturating_sub(bytes.next_multiple_of(CHUNK));
        self.taken -= less;
        self.shared.used.fetch_sub(less, Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shared.used.fetch_sub(self.taken, Relaxed);
        self.shared.running.fetch_sub(1, Relaxed);
    }
}

impl Budget {
    pub(super) fn new(bounds: Bounds, shared: Arc<SharedMemory>, is_over: Box<dyn Fn() -> bool + Send>) -> Self {
        Self { bounds, share: Share::new(shared), used: 0, rows: 0, is_over }
    }

    /// Counts a row that leaves a stage.
    ///
    /// # Errors
    /// WDE0080 when there are too many, WDE0028 when time is over or nobody waits for the answer.
    pub(super) fn row(&mut self) -> Result<()> {
        self.rows += 1;
        if self.rows > self.bounds.rows {
            let text = format!("The stages let more than {} rows through; filter before.", self.bounds.rows);
            return Err(Fault::because(Code::BadRequest, text));
        }
        if self.rows.is_multiple_of(STEP) && (self.is_over)() {
            return Err(Fault::new(Code::TimeLimit));
        }
        Ok(())
    }

    /// Counts bytes that are kept.
    ///
    /// # Errors
    /// WDE0092 when they are too many, UNAVAILABLE when others have all.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        self.used += bytes;
        if self.used > self.bounds.bytes {
            let text = format!(
                "Groups and rows that are put in order take more than {} bytes; filter before, or name fewer fields.",
                self.bounds.bytes
            );
            return Err(Fault::because(Code::SortTooLarge, text));
        }
        self.share.hold(self.used)
    }

    pub(super) fn give(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// # Errors
    /// WDE0109 when an answer is too large.
    pub(super) fn check_answer(&self, bytes: usize) -> Result<()> {
        if bytes > self.bounds.answer {
            let text = format!("The results are larger than {} bytes; ask for fewer.", self.bounds.answer);
            return Err(Fault::because(Code::PayloadTooLarge, text));
        }
        Ok(())
    }
}

/// The bytes that expressions may still go through for one row: the time that is between two questions.
pub(super) struct Work(Cell<usize>);

/// About a tenth of a second.
const MOST_WORK: usize = 64 << 20;

impl Work {
    pub(super) fn new() -> Self {
        Self(Cell::new(MOST_WORK))
    }

    /// # Errors
    /// WDE0080 when it is too much.
    pub(super) fn take(&self, bytes: usize) -> Result<()> {
        let left = self.0.get().checked_sub(bytes);
        let too_much = || {
            let text = format!("Expressions go through more than {MOST_WORK} bytes for one row.");
            Fault::because(Code::BadRequest, text)
        };
        self.0.set(left.ok_or_else(too_much)?);
        Ok(())
    }
}

/// The bytes that one row may still grow by.
pub(super) struct RowBudget {
    left: usize,
    pub(super) work: Work,
}

impl RowBudget {
    pub(super) fn new() -> Self {
        Self { left: LARGEST_ROW, work: Work::new() }
    }

    /// # Errors
    /// WDE0080 when the row is too large.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| {
            Fault::because(Code::BadRequest, format!("A projection makes a row larger than {LARGEST_ROW} bytes."))
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_can_be_given_back() {
        let shared = SharedMemory::new(3 * CHUNK);
        let (mut one, mut other) = (Share::new(shared.clone()), Share::new(shared.clone()));
        one.hold(CHUNK + 1).expect("room for two");
        other.hold(1).expect("room for one");
        assert_eq!(one.hold(2 * CHUNK + 1).expect_err("others have all").code(), Code::Unavailable);
        one.shrink(CHUNK + 1);
        assert_eq!(shared.used(), 3 * CHUNK);
        one.shrink(0);
        assert_eq!(shared.used(), CHUNK);
        other.hold(3 * CHUNK).expect("all of it");
        drop((one, other));
        assert_eq!(shared.used(), 0);
    }
}
