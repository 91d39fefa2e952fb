//! The index of words of a collection in a site's tables: segments of lists ([`stoa_search`]) and what a question reads
//! of them.
//!
//! A segment is written in pieces, each a short transaction, so that other writers don't wait, and is seen once it is
//! published. What was cut off, and what merging replaced, is deleted in pieces as well.

mod read;
mod row;
mod write;

pub use row::{Index, StoredSegment};
pub use write::{Publication, pieces};
