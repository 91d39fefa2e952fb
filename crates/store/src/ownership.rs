//! The joint between identity, where visitors become members, and the crates that keep what members own.

use crate::{Site, Tx, TxFuture};
use stoa_kernel::{MemberId, VisitorId};

/// What becomes of a visitor's things when the visitor becomes a member
/// (docs/hazards.md §Ownership from visitor to member). Content implements it, the server hands it to
/// identity; neither knows the other.
pub trait Ownership: Send + Sync + 'static {
    /// Passes the visitor's things to the member, in the transaction that issues the member's first
    /// session. A bounded number of them, so that the writer is not held up: `true` when more are left,
    /// which further calls with the same two pass on.
    fn pass<'t>(
        &'t self,
        tx: &'t mut Tx<'_>,
        site: &'t Site,
        visitor: &'t VisitorId,
        member: &'t MemberId,
    ) -> TxFuture<'t, bool>;
}
