//! Where a job is: what decides on its items beside its task.

use stoa_kernel::clock::Millis;

/// Changes that only tasks ask for ([`super::own`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnChange {
    Copy,
    Edit,
    Status,
}

/// Which time a job goes through the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// Does what was asked for, or marks what is to be published or taken back at a time.
    First,
    /// Publishes or takes back what the first one marked.
    Due,
    /// Takes the marks away, as the task was cancelled.
    Clear,
}

impl Pass {
    pub(super) fn number(self) -> i64 {
        match self {
            Self::First => 0,
            Self::Due => 1,
            Self::Clear => 2,
        }
    }

    pub(super) fn of(number: i64) -> Self {
        [Self::Due, Self::Clear].into_iter().find(|it| it.number() == number).unwrap_or(Self::First)
    }
}

/// What of a job decides on the items, beside its task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment<'j> {
    pub job: &'j str,
    pub began: Millis,
    pub pass: Pass,
}
