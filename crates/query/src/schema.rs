//! What a collection's fields are, as far as a query depends on it.
//!
//! Fields that the schema doesn't know may be stored, filtered and sorted all the same
//! (docs/protocol/content.md §21.10): values carry their own types.

pub use crate::plan::{IndexSpec, Links};

use std::{collections::HashMap, sync::Arc};

/// The declared fields of a collection, by key, and the indexes that are ready for use.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub fields: HashMap<String, Kind>,
    pub indexes: Arc<[IndexSpec]>,
    /// Multi-references that a filter may ask for, by key.
    pub links: HashMap<String, Arc<Links>>,
}

/// The kinds of field that a query treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any type whose values stand for themselves.
    Plain,
    /// A list: at most one of these may be sorted by (WDE0121).
    Array,
    /// The id of an item in another collection, compared as text.
    Reference,
    /// Links that are kept beside the item, where sorts don't look, and filters only with [`Schema::links`]
    /// (WDE0119).
    MultiReference,
    /// Values that are stored encrypted: filters, sorts and indexes get nothing of them, nor of what is
    /// inside them (WDE0119).
    Encrypted,
    /// Values that are calculated when an item is shown: filters, sorts and indexes read what is stored, so they can't
    /// name it (WDE0119).
    Calculated {
        /// Whether writers may set a value all the same.
        is_mutable: bool,
    },
}
