//! How large an answer may grow.

use stoa_kernel::{Code, Fault, Result};

/// The bytes that an answer may still grow by.
pub(crate) struct ResponseBudget {
    pub left: usize,
    most: usize,
}

impl ResponseBudget {
    pub(crate) fn new(most: usize) -> Self {
        Self { left: most, most }
    }

    /// # Errors
    /// WDE0109 when the answer would grow too large.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.exceeded())?;
        Ok(())
    }

    pub(crate) fn exceeded(&self) -> Fault {
        let text = format!("The items and what they refer to are larger than {} bytes; ask for fewer.", self.most);
        Fault::because(Code::PayloadTooLarge, text)
    }
}
