//! Webhooks on both engines, sent to real receivers on this machine.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is the message of a test")]

mod apart;
mod breaker;
mod common;
mod delivery;
mod failing;
mod manage;
mod to_come;
mod withdrawn;
