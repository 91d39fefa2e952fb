//! What those who run a site do with collections: definitions, plugins, permissions, indexes, relations.

pub(crate) mod collections;
pub(crate) mod encryption;
pub(crate) mod indexes;
pub(crate) mod making;
pub(crate) mod paired;
pub(crate) mod permissions;
pub(crate) mod plugins;
pub(crate) mod relations;
