//! What callers do with items: insert, change, remove, query, truncate.

pub(crate) mod aggregate;
pub(crate) mod bulk;
pub(crate) mod calls;
pub(crate) mod change;
pub(crate) mod distinct;
pub(crate) mod drafts;
mod highlight;
pub(crate) mod hooked;
pub(crate) mod insert;
pub(crate) mod ownership;
pub(crate) mod page_query;
pub(crate) mod query;
pub(crate) mod references;
pub(crate) mod remove;
pub(crate) mod reseal;
pub(crate) mod row;
pub(crate) mod search;
pub(crate) mod translation;
pub(crate) mod truncate;
pub(crate) mod unique;
pub(crate) mod visibility;
