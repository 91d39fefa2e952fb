//! What is wrong with a request, all of it, each with its path: `query.filter.$and[0].price.$gt`.

use std::fmt::Write;
use stoa_kernel::{Fault, Faults, Result, Violation};

/// The faults of a request that were found so far, and where its reader is.
#[derive(Default)]
pub(super) struct Report {
    path: String,
    faults: Faults,
}

/// The length of a path to come back to.
pub(super) struct Mark(usize);

impl Report {
    /// Of a part of a request.
    pub(super) fn at(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Goes on to a member, until [`Report::leave`].
    pub(super) fn enter(&mut self, name: &str) -> Mark {
        let mark = Mark(self.path.len());
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(shortened(name));
        mark
    }

    /// Goes on to an element of a list.
    pub(super) fn enter_element(&mut self, index: usize) -> Mark {
        let mark = Mark(self.path.len());
        let _ = write!(self.path, "[{index}]");
        mark
    }

    pub(super) fn leave(&mut self, mark: Mark) {
        self.path.truncate(mark.0);
    }

    /// What was read here, unless it is wrong.
    pub(super) fn keep<T>(&mut self, read: Result<T>) -> Option<T> {
        self.faults.take(read.map_err(|it| at(it, &self.path)))
    }

    /// What was read of a member; what stands for nothing if it is wrong.
    pub(super) fn member<T: Default>(&mut self, name: &str, read: Result<T>) -> T {
        let mark = self.enter(name);
        let kept = self.keep(read);
        self.leave(mark);
        kept.unwrap_or_default()
    }

    /// Whether something was wrong so far.
    pub(super) fn is_wrong(&self) -> bool {
        !self.faults.are_none()
    }

    /// Whether no more faults would be told.
    pub(super) fn is_full(&self) -> bool {
        self.faults.is_full()
    }

    /// # Errors
    /// All that is wrong, with the code of the first.
    pub(super) fn finish<T>(self, read: T) -> Result<T> {
        self.faults.refuse().map(|()| read)
    }
}

/// The beginning of a name, which is enough for who looks for it: an answer is no longer than it must be.
pub(crate) fn shortened(name: &str) -> &str {
    name.char_indices().nth(100).map_or(name, |(end, _)| &name[..end])
}

/// A fault with the path of what is wrong.
pub(crate) fn at(fault: Fault, path: &str) -> Fault {
    let text = fault.message().to_owned();
    fault.violating(vec![Violation::new(path, "FORMAT", text)])
}
