//! What a collection is declared to be: fields, permission levels, plugins, indexes, rules for values.

pub(crate) mod catalog;
pub(crate) mod definition;
pub(crate) mod encrypted;
pub mod field;
pub(crate) mod index;
pub(crate) mod level;
pub(crate) mod page_link;
pub(crate) mod plugin;
pub(crate) mod publishing;
pub(crate) mod relation;
pub(crate) mod rules;
pub(crate) mod special;
pub(crate) mod translatable;
