//! Redirect sessions.

pub mod request;
