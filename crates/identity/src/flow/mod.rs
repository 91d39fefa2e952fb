//! Sign-in, sign-up, recovery and signing out on the account pages.
//!
//! A flow is a stored [`state::State`] and a pure [`step::step`]; the server conducts it (`conduct`) and
//! the page draws one step at a time (`wire`). The pages never decide what comes next.

pub(crate) mod by_provider;
mod conduct;
mod effects;
pub(crate) mod open;
mod page;
mod problem;
mod record;
#[cfg(test)]
mod samples;
pub mod state;
pub mod step;
#[cfg(test)]
mod typescript;
mod view;
#[cfg(test)]
mod walk;
pub mod wire;

pub use wire::{FlowInput, FlowKind, FlowStart, FlowView};

use crate::browser::Cookies;
use stoa_kernel::Fault;

/// The next step, and what else the answer carries.
#[derive(Debug)]
pub struct FlowAnswer {
    pub view: FlowView,
    pub cookies: Cookies,
}

/// A refusal as something that the person can put right on the page.
///
/// # Errors
/// The fault, when it is nothing that they can do something about.
pub fn problem_of(fault: Fault) -> Result<wire::Problem, Fault> {
    problem::of(fault)
}
