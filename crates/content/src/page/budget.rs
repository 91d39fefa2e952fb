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

    /// Counts texts that others take the place of, by their bytes before and after.
    ///
    /// # Errors
    /// As for [`Self::take`].
    pub(crate) fn replace(&mut self, before: usize, after: usize) -> Result<()> {
        self.left = self.left.saturating_add(before);
        self.take(after)
    }

    /// What is left beside so many bytes.
    ///
    /// # Errors
    /// As for [`Self::take`].
    pub(crate) fn beside(&self, bytes: usize) -> Result<Self> {
        let mut rest = Self { left: self.left, most: self.most };
        rest.take(bytes).map(|()| rest)
    }

    pub(crate) fn exceeded(&self) -> Fault {
        let text = format!("The items and what they refer to are larger than {} bytes; ask for fewer.", self.most);
        Fault::because(Code::PayloadTooLarge, text)
    }
}
