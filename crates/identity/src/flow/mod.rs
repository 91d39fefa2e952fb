//! Sign-in, sign-up and recovery in progress.

pub mod wire;
