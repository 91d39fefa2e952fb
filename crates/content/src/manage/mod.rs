//! What those who run a site do with collections: definitions, permissions, indexes, relations.

pub(crate) mod collections;
pub(crate) mod indexes;
pub(crate) mod permissions;
pub(crate) mod relations;
