//! Which request a hook is asked in, so that what its log says is found beside the lines of the server's.

tokio::task_local! {
    static REQUEST: String;
}

/// Does the work of a request. What its hooks say is kept with this id.
pub async fn within_request<T>(id: &str, work: impl Future<Output = T>) -> T {
    REQUEST.scope(id.to_owned(), work).await
}

/// The id of the request that this task works for; nothing for a command on the machine.
pub(super) fn id() -> Option<String> {
    REQUEST.try_with(String::clone).ok()
}
