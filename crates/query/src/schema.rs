//! What a collection's fields are, as far as a query depends on it.
//!
//! Fields that the schema doesn't know may be stored, filtered and sorted all the same
//! (protocol/content.md 21.10): values carry their own types.

use std::collections::HashMap;

/// The declared fields of a collection, by key.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub fields: HashMap<String, Kind>,
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
    /// Links that are kept beside the item, where filters and sorts don't look (WDE0119).
    MultiReference,
}
