//! How writers stand beside each other: together, or one alone (decision 19).
//!
//! Transactions that meet are run again, and under contention they would meet again and again. So one that lost
//! a few times waits until it is the only one, which the engine sees to by a lock on a table of its own, the
//! lane: all writers hold it together, and who runs alone holds it against them. The lock is taken before the
//! transaction's snapshot, so what it reads then is what the last of the others left. The engine's queue for
//! the lock is in order of arrival, on all nodes together; on one node only the first of those who want to be
//! alone waits there, so that the others hold no connection meanwhile.

/// Lanes that there are (migration 14).
pub(super) const LANES: usize = 16;

/// The lane of a database: sites share them by their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lane(usize);

/// How a write is guarded against others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    Serializable,
    /// For bodies that decide nothing on what they read, only on constraints.
    ReadCommitted,
}

/// How a write begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(super) isolation: Isolation,
    pub(super) lane: usize,
    /// From its first run on, instead of when it met others too often.
    pub(super) is_alone: bool,
}

impl Lane {
    pub(crate) fn of(number: i64) -> Self {
        Self(number.rem_euclid(LANES as i64) as usize)
    }

    pub(crate) fn shared(self, isolation: Isolation) -> Start {
        Start { isolation, lane: self.0, is_alone: false }
    }

    pub(crate) fn alone(self) -> Start {
        Start { isolation: Isolation::Serializable, lane: self.0, is_alone: true }
    }
}

impl Start {
    /// The statements of one message that begin a transaction. A lock of a table takes no snapshot.
    pub(super) fn begin(&self, is_alone: bool) -> String {
        let level = match self.isolation {
            Isolation::Serializable => "serializable",
            Isolation::ReadCommitted => "read committed",
        };
        let mode = if is_alone { "share row exclusive" } else { "row exclusive" };
        format!("begin isolation level {level}; lock table stoa.write_lane_{} in {mode} mode", self.lane)
    }
}
