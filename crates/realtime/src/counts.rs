//! What is counted, for those who watch the server.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How streams stand on this node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RealtimeCounts {
    /// Streams that are open.
    pub streams: u64,
    /// Subscriptions of these that are told of changes.
    pub subscriptions: u64,
    /// Groups of subscriptions that are told the same.
    pub groups: u64,
    /// Messages that were handed out since the start, signs of life apart.
    pub messages: u64,
    /// Subscriptions that were told to read again since the start, for whatever reason.
    pub resyncs: u64,
    /// Subscriptions since the start whose client read too slowly, and is told so when it reads on.
    pub overloads: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    subscriptions: AtomicU64,
    messages: AtomicU64,
    resyncs: AtomicU64,
    overloads: AtomicU64,
}

impl Counters {
    pub(crate) fn subscribed(&self) {
        self.subscriptions.fetch_add(1, Relaxed);
    }

    pub(crate) fn unsubscribed(&self) {
        self.subscriptions.fetch_sub(1, Relaxed);
    }

    pub(crate) fn message(&self) {
        self.messages.fetch_add(1, Relaxed);
    }

    pub(crate) fn resync(&self) {
        self.resyncs.fetch_add(1, Relaxed);
    }

    /// So many subscriptions whose client read too slowly.
    pub(crate) fn overload(&self, count: usize) {
        self.overloads.fetch_add(count as u64, Relaxed);
    }

    pub(crate) fn read(&self, streams: usize, groups: usize) -> RealtimeCounts {
        RealtimeCounts {
            streams: streams as u64,
            groups: groups as u64,
            subscriptions: self.subscriptions.load(Relaxed),
            messages: self.messages.load(Relaxed),
            resyncs: self.resyncs.load(Relaxed),
            overloads: self.overloads.load(Relaxed),
        }
    }
}
