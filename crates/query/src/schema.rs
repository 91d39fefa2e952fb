//! What a collection's fields are, as far as a query depends on it.
//!
//! Fields that the schema doesn't know may be stored, filtered and sorted all the same
//! (protocol/content.md 21.10): values carry their own types.

use crate::plan::Key;
use std::{collections::HashMap, sync::Arc};

/// The declared fields of a collection, by key, and the indexes that are ready for use.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub fields: HashMap<String, Kind>,
    pub indexes: Arc<[IndexSpec]>,
}

/// An index that somebody asked for (protocol/content.md section 7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Its number within the collection, of which its name is made.
    pub number: i64,
    /// One to three.
    pub fields: Vec<Key>,
    /// No two items have the same value. Missing and null are no values; an array counts as a whole.
    pub unique: bool,
    /// Texts are folded: it serves what is asked of folded texts, and no order.
    pub case_insensitive: bool,
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
