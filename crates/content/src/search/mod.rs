//! The index of words of a collection in a site's tables: segments of lists ([`stoa_search`]), what a question reads of
//! them, and what keeps them ([decision 35](../../../../decisions/0035-search.md)).
//!
//! A segment is written in pieces, each a short transaction, so that other writers don't wait, and is seen once it is
//! published. What was cut off, and what merging replaced, is deleted in pieces as well.
//!
//! `layout` says which texts of an item are searched. A consumer of the site's log keeps the indexes (`serve`, `indexer`, `turn`):
//! it deals with what the log tells (`touched`), makes segments of rows (`rows`), merges them (`merge`), and sees to
//! collections that come, go and change (`look`, `state`). `ask` answers a question, within the bytes of its `memory`.

mod ask;
mod indexer;
mod layout;
mod look;
mod memory;
mod merge;
mod read;
mod row;
mod rows;
mod serve;
mod state;
mod touched;
mod turn;
mod write;

pub(crate) use ask::{Answered, Asked};
pub use layout::Layout;
pub use memory::SearchMemory;
pub use row::{Index, StoredSegment};
pub use serve::SearchLag;
pub use write::{NewSegment, Publication, pieces};

pub(crate) use state::{build_anew, note_damage};
