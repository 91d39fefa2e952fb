//! Which request a hook is asked in, so that what its log says is found beside the lines of the server's, and no network
//! takes all places of a site.

use std::sync::OnceLock;
use stoa_kernel::{Network, SessionId};

struct Request {
    id: String,
    network: Network,
    seen: OnceLock<u64>,
    grant: OnceLock<SessionId>,
}

tokio::task_local! {
    static REQUEST: Request;
}

/// Does the work of a request of a network. What its hooks say is kept with this id.
pub async fn within_request<T>(id: &str, network: Network, work: impl Future<Output = T>) -> T {
    REQUEST.scope(Request { id: id.to_owned(), network, seen: OnceLock::new(), grant: OnceLock::new() }, work).await
}

/// Says by what this request is let in, which may be withdrawn while hooks run: how many withdrawals were `seen` before
/// anything was asked of it, and what its token was given for, if it is one of an application's.
pub fn let_in_by(seen: u64, grant: Option<&SessionId>) {
    let _ = REQUEST.try_with(|it| (it.seen.set(seen), grant.map(|grant| it.grant.set(grant.clone()))));
}

pub(super) fn seen() -> Option<u64> {
    REQUEST.try_with(|it| it.seen.get().copied()).ok().flatten()
}

pub(super) fn grant() -> Option<SessionId> {
    REQUEST.try_with(|it| it.grant.get().cloned()).ok().flatten()
}

/// The id of the request that this task works for; nothing for a command on the machine.
pub(super) fn id() -> Option<String> {
    REQUEST.try_with(|it| it.id.clone()).ok()
}

/// The network that it comes from.
pub(super) fn network() -> Option<Network> {
    REQUEST.try_with(|it| it.network).ok()
}
