//! Answers without an end, which are sent piece by piece for as long as their reader stays.
//!
//! None of them counts as a request in progress, or ordinary calls of the same network would have no place left; who
//! makes such answers counts them. Here is only what keeps their connection open while they last, and what ends it when
//! a reader takes nothing.

use super::connection::{Connection, Unread};
use axum::body::{Body, Bytes};
use futures_util::{Stream, StreamExt};
use std::{convert::Infallible, pin::Pin, sync::Arc};

/// Counts with its connection until it is dropped.
pub(crate) struct OpenStream {
    unread: Arc<Unread>,
    /// Nothing where there is no socket.
    connection: Option<Arc<Connection>>,
}

impl OpenStream {
    pub(super) fn of(connection: Option<Arc<Connection>>) -> Self {
        let unread = Arc::<Unread>::default();
        if let Some(it) = &connection {
            it.stream_begins(unread.clone());
        }
        Self { unread, connection }
    }

    /// The pieces as the body of an answer.
    pub(crate) fn body(self, pieces: impl Stream<Item = Bytes> + Send + 'static) -> Body {
        let mut pieces: Pin<Box<dyn Stream<Item = Bytes> + Send>> = pieces.boxed();
        Body::from_stream(futures_util::stream::poll_fn(move |context| {
            let polled = pieces.poll_next_unpin(context);
            self.note(polled.is_ready());
            polled.map(|it| it.map(Ok::<_, Infallible>))
        }))
    }

    /// A piece was handed over, or there is none for who asks.
    fn note(&self, is_handed: bool) {
        if let Some(it) = &self.connection {
            self.unread.set(if is_handed { it.now() } else { 0 });
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if let Some(it) = &self.connection {
            it.stream_ends(&self.unread);
        }
    }
}
