//! How values inside documents are named, before either engine's SQL is printed.

/// A value in a document: where the way to it starts, and the names that lead on from there.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentPath {
    pub root: Root,
    /// Names of members, one inside the other. Never an index: a name that looks like a number is a name.
    pub names: Vec<String>,
}

/// Where the way to a value starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The item's document.
    Document,
    /// The row `e<n>` of [`crate::Dialect::elements`] or [`crate::Dialect::leaves`].
    Element(usize),
}

/// Which end of an array stands for it in a sorted list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The smallest element.
    Ascending,
    /// The largest element.
    Descending,
}

impl DocumentPath {
    /// A field of the item.
    pub fn field(names: &[String]) -> Self {
        Self { root: Root::Document, names: names.to_vec() }
    }

    /// An element of an array.
    pub fn element(alias: usize) -> Self {
        Self { root: Root::Element(alias), names: Vec::new() }
    }
}

/// A name as a JSON string: both engines read names in paths so.
pub fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
