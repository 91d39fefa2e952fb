//! Which request a hook is asked in, so that what its log says is found beside the lines of the server's, and no network
//! takes all places of a site.

use stoa_kernel::Network;

struct Request {
    id: String,
    network: Network,
}

tokio::task_local! {
    static REQUEST: Request;
}

/// Does the work of a request of a network. What its hooks say is kept with this id.
pub async fn within_request<T>(id: &str, network: Network, work: impl Future<Output = T>) -> T {
    REQUEST.scope(Request { id: id.to_owned(), network }, work).await
}

/// The id of the request that this task works for; nothing for a command on the machine.
pub(super) fn id() -> Option<String> {
    REQUEST.try_with(|it| it.id.clone()).ok()
}

/// The network that it comes from.
pub(super) fn network() -> Option<Network> {
    REQUEST.try_with(|it| it.network).ok()
}
