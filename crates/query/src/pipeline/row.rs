//! Rows between stages.

use super::value::Value;
use std::ops::ControlFlow;

/// A row on its way, and its place among the others.
pub(super) struct Row {
    pub(super) value: Value,
    pub(super) rank: Rank,
}

/// Where a row stands: by the keys of the last sort, then by its item's id or its group's key, then by the elements of
/// arrays that it was unwound from. Empty where nobody asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rank {
    pub(super) keys: Vec<String>,
    pub(super) id: Box<str>,
    pub(super) positions: String,
}

/// Whether more rows would change anything.
pub(super) type Flow = ControlFlow<()>;

pub(super) const MORE: Flow = ControlFlow::Continue(());
pub(super) const DONE: Flow = ControlFlow::Break(());

impl Row {
    pub(super) fn of_group(value: Value, key: Box<str>) -> Self {
        Self { value, rank: Rank { id: key, ..Rank::default() } }
    }
}
