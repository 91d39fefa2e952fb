//! Real processes that run real code, and some that only pretend to.

#![allow(clippy::unwrap_used, reason = "in a test a failed step is the failure")]

mod calls;
mod confinement;
mod hostile;
mod limits;
mod world;

use stoa_kernel::World;

/// Test programs are started as processes of hooks with this word, which names no test.
const AS_HOOK_HOST: &str = "as-hook-host";

/// The process of hooks, where this program is started as one.
#[test]
fn hook_host() {
    if std::env::args().any(|it| it == AS_HOOK_HOST) {
        stoa_hooks::child::run(&World::real()).unwrap();
    }
}
