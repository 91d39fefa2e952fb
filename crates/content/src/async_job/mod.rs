//! Changes of all items that a filter finds, done after the request that asks for them (docs/protocol/content.md §3.5).
//!
//! ```text
//! call ── row INITIALIZED ──▶ run ── claim ──▶ step ── look (beside the writer) ── piece (one transaction) ──▶ ended
//! ```
//!
//! Items are gone through in the order of their ids. Each piece looks up a few that the filter finds, and changes them in
//! a short transaction that also moves the place of the job: killed at any moment, what was done is done once. Nothing
//! that was allowed is remembered: each piece asks whether the caller is still let in, and resolves rights, filter and
//! modifications again against the collection as it is, and whether it has hooks that would have to be asked. So a job
//! changes what its caller could find with a query and change with a call at that moment, and fails when that is nothing any
//! more, or when a hook of the change would be passed over. Hooks of queries aren't asked: what they would leave out is found.
//!
//! A task that publishes items at a time, or takes them back, goes through them twice: it marks those that the filter finds,
//! with the time and its id, and when the time has come changes those that still have its mark. The item is the truth: a mark
//! that another task took away or put in the place of it, or an edit that did what was to be done, leaves nothing to do.
//! Cancelled, it goes through them to take its marks away. The first pass may last a day, as any job; for what waits, who asked
//! must still be who they were ([`stoa_store::Standing::still`]), signed in or not.
//!
//! ```text
//! first (marks) ── nothing marked ──▶ ended       due ──▶ ended       clear ──▶ ended, cancelled
//!       └── waits until its time ─────────────────▲ └── cancelled ────▲
//! ```
//!
//! A process works on the jobs of a site in turns, a piece of each, and says each second that it does, however long a look
//! takes. One that is not worked on for [`LEASE`] is taken up by the process that sees it next; the row knows who works, and
//! a piece of any other changes nothing.

pub(crate) mod call;
mod own;
mod pass;
mod piece;
mod row;
pub(crate) mod run;
mod task;
pub(crate) mod tasks;

use stoa_kernel::clock::Millis;

/// How long the process that works on a job may be silent before another takes it up.
const LEASE: Millis = 3_000;

/// How often the process that works on jobs says so.
const BEAT: Millis = 1_000;

/// How long a job may take. Revocations are kept for longer ([`stoa_store::Standing::holds`]).
const LIFE: Millis = 24 * 60 * 60_000;

/// How often a job is taken up without a piece being done in between.
const ATTEMPTS: i64 = 10;
