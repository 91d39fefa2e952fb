//! The joint between identity, which knows callers, and what works for them after their request.

use crate::TxFuture;
use stoa_kernel::{Caller, SiteId};

/// Whether a caller of the past may still call: a background job asks before each piece of its work. Identity
/// implements it, the server hands it to content; neither knows the other.
pub trait Standing: Send + Sync + 'static {
    /// Whether the caller is still who they were: an app whose key or client is not revoked, or an operator whose
    /// role on the site is not less. Sessions don't count: who signs out has asked for what goes on. Members and
    /// visitors are never: nothing goes on in their name.
    fn still<'t>(&'t self, site: &'t SiteId, caller: &'t Caller) -> TxFuture<'t, bool>;
}
