//! The program as others start it: by its command line, as a process, killed without warning.

#![allow(clippy::unwrap_used, reason = "in a test a failed step is the failure")]

mod accounts;
mod attacks;
mod audit;
mod captcha;
mod cluster;
mod collections;
mod command_line;
mod compact;
mod contract;
mod directory;
mod disk;
mod environments;
mod faults;
mod hooks;
mod keys;
mod kill;
mod limits;
mod links;
mod log;
mod mail;
mod mail_sender;
mod members;
mod metrics;
mod mixed;
mod nodes;
mod outbox;
mod owners;
mod places;
mod process;
mod realtime;
mod rotation;
mod search_kill;
mod sites;
mod sync;
mod traffic;
mod upgrade;
mod watch;
mod webhook_kill;
mod webhooks;
