//! How much of what a request may ask for and an item may be (docs/protocol/content.md §19).
//!
//! What an engine's statements can't do without is no limit of this kind and stays a constant: how many
//! conditions a filter has, how long its lists are.

use crate::item::{self, MAX_DEPTH};

stoa_kernel::limits! {
    /// Limits of items and of what is asked of them.
    #[derive(Debug, Clone)]
    pub struct QueryLimits {
        /// Bytes of an item as it is stored (WDE0009).
        item_bytes: usize = 524_288, 1_024..=4_194_304;
        /// Levels of objects and arrays in an item, the item being the first (WDE0168).
        item_depth: usize = 32, 4..=MAX_DEPTH;
        /// Items of a page by offset (WDE0036).
        query_limit: usize = 1_000, 50..=10_000;
        /// Items of a page by cursor (WDE0036).
        cursor_limit: usize = 100, 50..=10_000;
        /// Levels of `$and`, `$or` and `$not` in a filter (WDE0169).
        filter_depth: usize = 16, 4..=32;
        /// References that one request includes (WDE0080).
        includes: usize = 100, 1..=500;
        /// Items of each multi-reference that is included (WDE0036).
        include_limit: usize = 1_000, 50..=10_000;
        /// Names in `includeReferencedItems`, the older form of including (WDE0080).
        include_names: usize = 50, 1..=500;
        /// Results of a page of a pipeline (WDE0036).
        pipeline_results: usize = 10_000, 50..=100_000;
        /// Items of a page of a search (WDE0036).
        search_limit: usize = 1_000, 100..=10_000;
        /// Stages of a pipeline (WDE0080).
        pipeline_stages: usize = 100, 1..=100;
        /// Names in `includeFieldGroups` (WDE0080).
        field_groups: usize = 100, 1..=1_000;
    }
}

impl QueryLimits {
    /// How large an item may be.
    pub fn item(&self) -> item::ItemLimits {
        item::ItemLimits { bytes: self.item_bytes, depth: self.item_depth }
    }
}
