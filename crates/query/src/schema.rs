//! What a collection's fields are, as far as a query depends on it.
//!
//! Fields that the schema doesn't know may be stored, filtered and sorted all the same
//! (protocol/content.md 21.10): values carry their own types.

use crate::plan::{Key, Scope};
use std::{collections::HashMap, sync::Arc};
use stoa_sql::Table;

/// The declared fields of a collection, by key, and the indexes that are ready for use.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub fields: HashMap<String, Kind>,
    pub indexes: Arc<[IndexSpec]>,
    /// Multi-references that a filter may ask for, by key.
    pub links: HashMap<String, Arc<Links>>,
}

/// Where the links of a multi-reference field are, and which of them the caller may know of.
///
/// To a filter the field is the array of the ids of the items that it leads to, and missing when there
/// are none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Links {
    pub field: String,
    pub site: String,
    pub relation: i64,
    /// The column of `stoa.item_link` with the ids of the items that have the field.
    pub near: &'static str,
    /// The column with the ids of the items that it leads to.
    pub far: &'static str,
    /// The table of those items.
    pub table: Table,
    /// Which of those items the caller may read.
    pub scope: Scope,
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
    /// Links that are kept beside the item, where sorts don't look, and filters only with [`Schema::links`]
    /// (WDE0119).
    MultiReference,
    /// Values that are stored encrypted: filters, sorts and indexes get nothing of them, nor of what is
    /// inside them (WDE0119).
    Encrypted,
}
