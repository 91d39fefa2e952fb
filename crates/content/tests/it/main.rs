//! Content against real stores, on both engines.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up has failed")]

mod async_jobs;
mod bulk;
mod catalogs;
mod collections;
mod common;
mod contention;
mod cursors;
mod environment_pair;
mod environment_workers;
mod environments;
mod events;
mod hook_failures;
mod hook_queries;
mod hooks;
mod indexes;
mod items;
mod jobs;
mod log;
mod malformed;
mod old_values;
mod page_link_definitions;
mod page_links;
mod patch;
mod permissions;
mod plugins;
mod query;
mod references;
mod rules;
mod search;
mod search_call;
mod search_extras;
mod search_job;
mod search_languages;
mod tasks;
mod transfer;
mod transfer_links;
mod translated;
mod translations;
mod turns;
mod wire;
