//! Who works for a consumer of a log, until when.

use crate::position::Position;
use stoa_kernel::{Millis, SiteId};

/// The right to move a consumer's place. Whoever takes it next has a higher number, and the place moves only under the
/// number that is stored: a holder that stood still can't move it any more, whatever it believes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub consumer: String,
    /// The place when it was taken.
    pub position: Position,
    /// The node that holds it.
    pub(crate) node: String,
    pub(crate) number: i64,
}

/// What is stored of a consumer's lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerRow {
    pub site: SiteId,
    pub name: String,
    /// The node that holds the lease.
    pub node: Option<String>,
    /// Goes up with each holder.
    pub(crate) number: i64,
    /// Goes up as long as the holder lives.
    pub(crate) beat: i64,
}

/// How leases pass from node to node, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct LeaseTimes {
    /// Between two looks at who holds which.
    pub look: Millis,
    /// Between two renewals.
    pub renewal: Millis,
    /// How long a lease holds, counted by its holder from when the renewal was sent, and by the others from when they
    /// first saw it: so they wait longer.
    pub life: Millis,
}

/// How long the consumers of a node that died stand still at most, in milliseconds.
const LONGEST_PAUSE: Millis = 15_000;

impl Default for LeaseTimes {
    fn default() -> Self {
        const TIMES: LeaseTimes = LeaseTimes { look: 1_000, renewal: 5_000, life: 13_000 };
        // Its last sign of life is seen a look late, and its end another.
        const { assert!(TIMES.look + TIMES.life + TIMES.look <= LONGEST_PAUSE && 2 * TIMES.renewal < TIMES.life) };
        TIMES
    }
}
