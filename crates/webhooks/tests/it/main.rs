//! Webhooks on both engines, sent to real receivers on this machine.

mod apart;
mod common;
mod delivery;
mod failing;
mod manage;
