//! The program as others start it: by its command line, as a process, killed without warning.

#![allow(clippy::unwrap_used, reason = "in a test a failed step is the failure")]

mod contract;
mod kill;
mod process;
mod sync;
