//! The index of words that a search asks. Pure: no I/O, no clock.
//!
//! [`words`] says what the words of a text are, [`document`] how much they matter in an item, [`list`] keeps which
//! items hold a word, [`lists`] what is stored of the words of many items, [`segment`] makes and merges that, and
//! [`question`] finds and ranks what answers an expression. [`merging`] says when segments become one.

pub mod document;
pub mod list;
pub mod lists;
pub mod merging;
pub mod question;
pub mod rows;
pub mod segment;
mod varint;
pub mod words;

pub use varint::Damaged;
