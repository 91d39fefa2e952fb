//! Which event is sent when, and what follows from how it went.
//!
//! ```text
//! log ─▶ Window ─▶ attempt ─▶ taken ─▶ the place moves
//!          ▲  │       └─▶ it alone failed: again in 2 s, in 10 s, then parked with its entity held ─▶ … ─▶ dead
//!          └──┘             the endpoint failed: OPEN, one probe in 10 s, 1, 5, 15, 30, 60 min …
//! ```
//!
//! `window`, `schedule` and `streak` decide without input and output; `runner` does what they say for one endpoint, for as
//! long as this node holds its lease; `queue` keeps what waits apart.

mod apart;
pub(crate) mod attempt;
pub(crate) mod counts;
mod fill;
mod landed;
pub(crate) mod lanes;
mod note;
pub(crate) mod queue;
pub(crate) mod runner;
mod schedule;
mod streak;
mod window;
pub(crate) mod worker;
