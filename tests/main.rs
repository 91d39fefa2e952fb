//! The whole program from outside, on both engines: one module a subject.

#![allow(clippy::unwrap_used, reason = "in a test a failed step is the failure")]

mod account;
mod addresses;
mod aggregates;
mod answers;
mod app_keys;
mod async_jobs;
mod caching;
mod codes;
mod community;
mod cursors;
mod defence;
mod filters;
mod graphql;
mod hooks;
mod hosts;
mod identity;
mod indexes;
mod interface;
mod limits;
mod log_epoch;
mod log_leases;
mod log_model;
mod log_reader;
mod mail;
mod malformed;
mod matrix;
mod members_api;
mod members_whole;
mod oracle;
mod outbox;
mod ownership;
mod permissions;
mod profile;
mod realtime;
mod references;
mod sealed;
mod semantics;
mod sites;
mod store;
mod tokens;
mod traffic;
mod webhook_model;
mod webhook_receiver;
mod webhooks;
