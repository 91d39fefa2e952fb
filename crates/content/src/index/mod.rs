//! Indexes: how their rows move along the diagram, how they are built, and which ones the site makes by itself.

pub(crate) mod auto;
pub(crate) mod build;
pub(crate) mod consent;
pub(crate) mod step;
