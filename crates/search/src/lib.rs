//! The index of words that a search asks. Pure: no I/O, no clock.
//!
//! [`words`] says what the words of a text are, [`document`] how much they matter in an item, [`list`] keeps which
//! items hold a word, [`segment`] puts the lists of many items together, and [`question`] finds and ranks what answers an expression.

pub mod document;
pub mod list;
pub mod question;
pub mod segment;
pub mod words;
