//! The way out of a test.

use stoa_kernel::World;
use stoa_outbound::{Exceptions, Reach, ReachConfig};

/// One that may call this machine, as that of a server that listens on loopback only: what tests call is there.
pub fn local_reach() -> Reach {
    let exceptions = Exceptions { loopback: true, ..Exceptions::default() };
    Reach::new(&ReachConfig { exceptions, ..ReachConfig::default() }, World::real()).unwrap()
}
