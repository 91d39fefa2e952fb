//! The bytes of an answer, counted for as long as they are in memory.

use super::{Connection, Resource, Share};
use axum::body::Bytes;
use std::sync::Arc;

/// Counts until the last part of the bytes is dropped, which is when the socket has taken it: a part keeps all of them
/// in memory, and a connection that has asked for a part has not written it yet.
pub(super) struct HeldAnswer {
    bytes: Bytes,
    /// Bytes that are counted.
    held: usize,
    share: Arc<Share>,
    connection: Option<Arc<Connection>>,
}

impl HeldAnswer {
    /// Of so many bytes, which are counted in the share already.
    pub(super) fn new(bytes: Bytes, held: usize, share: Arc<Share>, connection: Option<Arc<Connection>>) -> Self {
        if let Some(it) = &connection {
            it.answer_waits(held);
        }
        Self { bytes, held, share, connection }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for HeldAnswer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for HeldAnswer {
    fn drop(&mut self) {
        self.share.give(Resource::Answers, self.held);
        if let Some(it) = &self.connection {
            it.answer_is_gone(self.held);
        }
    }
}
