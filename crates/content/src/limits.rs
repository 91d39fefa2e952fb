//! How much of what: each a configuration value with the default of protocol/content.md section 19.

use crate::AutoIndex;

/// Limits of content calls.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Items or ids of one bulk call (WDE0006, WDE0069).
    pub bulk: usize,
    /// Patches of one bulk call (WDE0006).
    pub patches: usize,
    /// Collections of one site.
    pub collections: usize,
    /// Characters of an item's id.
    pub id: usize,
    /// Bytes of the items of one page (WDE0109): a thousand of the largest would be half a gigabyte.
    pub page_bytes: usize,
    /// Indexes of a collection with up to three fields that its makers may make (WDE0160).
    pub regular_indexes: usize,
    /// Unique ones (WDE0160).
    pub unique_indexes: usize,
    /// Those that the server may make by itself.
    pub auto_indexes: usize,
    /// When it does so.
    pub auto_index: AutoIndex,
}

impl Limits {
    pub(crate) const REGULAR_INDEXES: usize = 3;
    pub(crate) const UNIQUE_INDEXES: usize = 1;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bulk: 1000,
            patches: 100,
            collections: 1000,
            id: 128,
            page_bytes: 32 * 1024 * 1024,
            regular_indexes: Self::REGULAR_INDEXES,
            unique_indexes: Self::UNIQUE_INDEXES,
            auto_indexes: 3,
            auto_index: AutoIndex::default(),
        }
    }
}
