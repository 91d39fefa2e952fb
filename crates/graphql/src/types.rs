//! Collections and their fields, as a schema is made of them, and the types that they become.

use crate::print::Leaf;
use std::collections::HashMap;

/// A collection that a caller may know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionType {
    pub id: String,
    pub rights: Rights,
    /// The declared fields, the oldest first.
    pub fields: Vec<FieldType>,
}

/// What the caller may do with at least some items of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Rights {
    pub read: bool,
    pub insert: bool,
    pub update: bool,
    pub remove: bool,
}

/// A declared field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldType {
    pub key: String,
    pub kind: FieldKind,
}

/// What a field declares of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    Text,
    Number,
    Boolean,
    /// A moment: `{"$date": …}`.
    DateTime,
    /// A list of texts.
    Texts,
    Any,
    /// A reference to one item of the collection of this id.
    Single(String),
    /// References to items of the collection of this id.
    Multi(String),
}

/// The type of the items of a collection.
#[derive(Debug)]
pub(crate) struct ItemType {
    pub(crate) name: String,
    pub(crate) collection: String,
    pub(crate) fields: HashMap<String, ItemField>,
}

/// What a field of an item's type stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ItemField {
    /// The whole item.
    Data,
    /// The value that the item has at this key.
    Value(String, Leaf),
    /// The item of another type that is referred to; `usize` numbers the type.
    Single(String, usize),
    Multi(String, usize),
}

/// What is done to items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Write {
    Insert,
    Update,
    Save,
    Patch,
    Remove,
    BulkInsert,
    BulkUpdate,
    BulkSave,
    BulkPatch,
    BulkRemove,
}

impl Write {
    pub(crate) const ALL: [Self; 10] = [
        Self::Insert,
        Self::Update,
        Self::Save,
        Self::Patch,
        Self::Remove,
        Self::BulkInsert,
        Self::BulkUpdate,
        Self::BulkSave,
        Self::BulkPatch,
        Self::BulkRemove,
    ];

    /// As the fields of mutations begin.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Save => "save",
            Self::Patch => "patch",
            Self::Remove => "remove",
            Self::BulkInsert => "bulkInsert",
            Self::BulkUpdate => "bulkUpdate",
            Self::BulkSave => "bulkSave",
            Self::BulkPatch => "bulkPatch",
            Self::BulkRemove => "bulkRemove",
        }
    }

    pub fn is_bulk(self) -> bool {
        matches!(self, Self::BulkInsert | Self::BulkUpdate | Self::BulkSave | Self::BulkPatch | Self::BulkRemove)
    }

    pub(crate) fn is_allowed(self, rights: Rights) -> bool {
        match self {
            Self::Insert | Self::BulkInsert => rights.insert,
            Self::Update | Self::Patch | Self::BulkUpdate | Self::BulkPatch => rights.update,
            Self::Save | Self::BulkSave => rights.insert || rights.update,
            Self::Remove | Self::BulkRemove => rights.remove,
        }
    }
}
