//! Indexes: how they are built, and which ones the site makes by itself.

pub(crate) mod auto;
pub(crate) mod build;
