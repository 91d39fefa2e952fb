//! Streams without HTTP, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod ends;
mod kit;
mod meeting;
mod model;
mod resuming;
mod told;
mod withdrawn;
