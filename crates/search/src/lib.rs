//! The index of words that a search asks. Pure: no I/O, no clock.
//!
//! [`words`] says what the words of a text are, and [`list`] keeps which items hold a word.

pub mod list;
pub mod words;
