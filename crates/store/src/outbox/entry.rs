//! What readers of a log get.

use crate::position::Position;
use stoa_kernel::{Millis, SiteId};

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub site: SiteId,
    /// Counts up in the order of writing; of two changes of one thing the later has the higher number. None is given
    /// twice, also when a backup was restored.
    pub sequence: i64,
    pub kind: String,
    pub payload: String,
    pub created: Millis,
    pub(super) position: Position,
}

impl Entry {
    /// The same however often it is delivered.
    pub fn id(&self) -> String {
        format!("{}-{}", self.site.as_str(), self.sequence)
    }

    /// One that is kept elsewhere, as it was read; where it stood among others is not known any more.
    pub fn kept(site: SiteId, sequence: i64, kind: String, payload: String, created: Millis) -> Self {
        Self { site, sequence, kind, payload, created, position: Position::default() }
    }

    /// The position behind it.
    pub fn position(&self) -> Position {
        self.position
    }
}

/// What one read found.
#[derive(Debug)]
pub struct Batch {
    pub entries: Vec<Entry>,
    /// The position behind everything that was looked at, of whatever kind.
    pub end: Position,
    /// Nothing more could be read at that moment.
    pub is_last: bool,
}

/// What a reader gets that goes on from a place of its own.
#[derive(Debug)]
pub enum Read {
    Batch(Batch),
    /// Something that it was to read is not there any more: it must look at things as they are now.
    Gap(Gap),
}

/// Why reading can't go on, and where it can begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    pub reason: GapReason,
    /// Before the oldest row that is there.
    pub oldest: Position,
}

/// Why reading can't go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapReason {
    /// The place is one of another epoch: of data that were replaced by a backup, or copied.
    Epoch,
    /// Rows behind the place were deleted.
    Floor,
}

impl GapReason {
    /// Its name, for those who are told.
    pub fn name(self) -> &'static str {
        match self {
            Self::Epoch => "epoch",
            Self::Floor => "floor",
        }
    }
}
