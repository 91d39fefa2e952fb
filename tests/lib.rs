//! The tests of the whole program live in `main.rs` and its modules.
