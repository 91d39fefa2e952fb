//! When a read is to end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// A read is over when its time is, or when nobody waits for it any more; one without a limit never is.
#[derive(Debug, Clone, Default)]
pub struct Deadline {
    gone: Arc<AtomicBool>,
    until: Option<Instant>,
}

impl Deadline {
    #[expect(clippy::disallowed_methods, reason = "a monotonic limit on one read, not a time that is stored")]
    pub(crate) fn new(gone: Arc<AtomicBool>, limit: Duration) -> Self {
        Self { gone, until: Some(Instant::now() + limit) }
    }

    #[expect(clippy::disallowed_methods, reason = "a monotonic limit on one read, not a time that is stored")]
    pub fn is_over(&self) -> bool {
        self.gone.load(Relaxed) || self.until.is_some_and(|it| Instant::now() > it)
    }
}

/// Says that nobody waits any more, when it is dropped.
pub(crate) struct CancelOnDrop(pub Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
