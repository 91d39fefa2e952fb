//! Many documents on their way into one answer: read from one snapshot, and worked on where it holds up nobody.
//!
//! On SQLite the thread of the scan does both. On PostgreSQL a thread of its own works while the next documents are
//! on their way: the threads that answer requests must not be held up by what one of them asked for.

use crate::Document;
use std::ops::ControlFlow;
use stoa_kernel::Result;

/// What becomes of documents.
pub trait Fold: Send + 'static {
    type Output: Send + 'static;

    /// Takes the next document. After [`ControlFlow::Break`] there is none.
    ///
    /// # Errors
    /// What ends the whole; [`Fold::finish`] is not called then.
    fn take(&mut self, document: Document<'_>) -> Result<ControlFlow<()>>;

    /// What all of them came to.
    ///
    /// # Errors
    /// What keeps it from being answered.
    fn finish(self) -> Result<Self::Output>;
}

/// Lets the threads that answer requests go first, where both want the processor.
pub(crate) fn step_back() {
    #[cfg(target_os = "linux")]
    {
        /// A tenth of the share that other threads have: point reads beside ten long ones waited no longer than alone.
        const NICE: i32 = 10;
        if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE) {
            tracing::debug!("the priority of long reads stays as it is: {error}");
        }
    }
}
