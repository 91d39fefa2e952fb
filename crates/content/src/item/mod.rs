//! What callers do with items: insert, change, remove, query, truncate.

pub(crate) mod bulk;
pub(crate) mod calls;
pub(crate) mod ownership;
pub(crate) mod query;
pub(crate) mod references;
pub(crate) mod truncate;
pub(crate) mod unique;
pub(crate) mod write;
