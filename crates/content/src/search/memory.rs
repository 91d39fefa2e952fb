//! What a search keeps in memory at once: lists, and what it makes of them.

use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_query::pipeline::{Share, SharedMemory};

/// The memory of one search, out of what all of them share.
#[derive(Debug)]
pub struct SearchMemory {
    most: usize,
    used: usize,
    share: Share,
}

impl SearchMemory {
    pub fn new(most: usize, shared: Arc<SharedMemory>) -> Self {
        Self { most, used: 0, share: Share::new(shared) }
    }

    /// Counts bytes that are kept.
    ///
    /// # Errors
    /// WDE0092 when they are too many, UNAVAILABLE when others have all.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        self.used = self.used.saturating_add(bytes);
        if self.used > self.most {
            let text = format!(
                "The words are held by so many items that a search takes more than {} bytes; ask for longer or rarer words.",
                self.most
            );
            return Err(Fault::because(Code::SortTooLarge, text));
        }
        self.share.hold(self.used)
    }

    /// Bytes that are kept.
    pub fn used(&self) -> usize {
        self.used
    }

    /// No more than so many bytes are kept any longer, whether or not there was room for those beyond.
    pub fn shrink(&mut self, bytes: usize) {
        self.used = self.used.min(bytes);
        self.share.shrink(self.used);
    }
}
