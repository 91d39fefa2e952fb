//! Who opens a stream.

use crate::request::StreamRequest;
use std::sync::Arc;
use stoa_content::Origin;
use stoa_kernel::{Caller, Millis, Network};
use stoa_store::{Site, TxFuture};

/// Who opens a stream, and for what.
pub struct StreamOpening {
    pub site: Arc<Site>,
    pub asker: Arc<dyn Asker>,
    /// Which network's places it takes.
    pub network: Network,
    /// Whose turn a snapshot takes.
    pub origin: Origin,
    /// Whose places it takes besides; nothing for callers without a session.
    pub session: Option<String>,
    pub request: StreamRequest,
    /// When what the caller came with ends.
    pub until: Millis,
}

/// Knows who a stream is for.
pub trait Asker: Send + Sync + 'static {
    /// Who asks, as of now; an error ends the stream. Called at the opening, and again after each withdrawal.
    fn caller<'t>(&'t self) -> TxFuture<'t, Caller>;
}
