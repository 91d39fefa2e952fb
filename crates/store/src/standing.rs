//! The joint between identity, which knows callers, and what works for them after their request.

use crate::TxFuture;
use stoa_kernel::{Caller, SessionId, SiteId};

/// What a request was let in with, as far as it can be withdrawn.
#[derive(Debug, Clone)]
pub struct Credential {
    /// With their session and client.
    pub caller: Caller,
    /// What an application's token was given for.
    pub grant: Option<SessionId>,
}

impl Credential {
    /// The session or grant, the caller and the client: what a revocation may name. Where an owner acts as a member there is
    /// no client, and the owner's own session stands in its place.
    pub fn subjects(&self) -> [&str; 3] {
        let grant = self.grant.as_ref().map_or("", |it| it.as_str());
        let (session, client) = match self.caller.bare() {
            Caller::Member { session, client, .. } => (session.as_str(), client.as_ref()),
            Caller::User { session, .. } => (session.as_str(), None),
            Caller::Visitor { client, .. } => ("", client.as_ref()),
            Caller::App { .. } | Caller::Scoped(_) => (grant, None),
        };
        let owner = self.caller.impersonator().and_then(|it| it.session.as_ref());
        let last = owner.map(|it| it.as_str()).or(client.map(|it| it.as_str()));
        [session, self.caller.id(), last.unwrap_or_default()]
    }
}

/// Whether a caller of the past may still call: a background job asks before each piece of its work. Identity
/// implements it, the server hands it to content; neither knows the other.
pub trait Standing: Send + Sync + 'static {
    /// Whether the caller is still who they were: an app whose key or client is not revoked, or an operator whose
    /// role on the site is not less. Sessions don't count: who signs out has asked for what goes on. Members and
    /// visitors are never: nothing goes on in their name.
    fn still<'t>(&'t self, site: &'t SiteId, caller: &'t Caller) -> TxFuture<'t, bool>;

    /// Whether a request would still be let in, its token's age apart: nothing that it was let in with is withdrawn. What an
    /// owner asked for as a member goes on no longer than they act as one. For
    /// what a caller, a member or a visitor too, asked for and didn't wait for. Revocations are kept for a day, so the
    /// question is not asked of requests that are older.
    fn holds<'t>(&'t self, site: &'t SiteId, credential: &'t Credential) -> TxFuture<'t, bool>;
}
