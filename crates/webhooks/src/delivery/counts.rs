//! What this process did, for those who watch it.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
};

/// Numbers of this process.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub taken: AtomicU64,
    pub refused: AtomicU64,
    pub unreached: AtomicU64,
    pub parked: AtomicU64,
    pub died: AtomicU64,
    pub disabled: AtomicU64,
    /// Endpoints that this node sends for, and those of them that fail.
    pub served: AtomicI64,
    pub open: AtomicI64,
}

/// What webhooks of this process did since it began, and what it holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookCounts {
    /// Deliveries that were taken, were refused or answered too late, and did not get there.
    pub taken: u64,
    pub refused: u64,
    pub unreached: u64,
    /// Events that were set apart, and that were given up.
    pub parked: u64,
    pub died: u64,
    /// Endpoints that were disabled because they failed for days, or asked for it.
    pub disabled: u64,
    /// Endpoints that this process sends for now, and those of them that fail.
    pub served: i64,
    pub open: i64,
}

impl Counts {
    pub(crate) fn read(&self) -> WebhookCounts {
        WebhookCounts {
            taken: self.taken.load(Relaxed),
            refused: self.refused.load(Relaxed),
            unreached: self.unreached.load(Relaxed),
            parked: self.parked.load(Relaxed),
            died: self.died.load(Relaxed),
            disabled: self.disabled.load(Relaxed),
            served: self.served.load(Relaxed),
            open: self.open.load(Relaxed),
        }
    }
}

/// Counts one more for as long as it lives.
pub(crate) struct Gauge {
    counts: Arc<Counts>,
    which: fn(&Counts) -> &AtomicI64,
}

impl Gauge {
    pub(crate) fn new(counts: &Arc<Counts>, which: fn(&Counts) -> &AtomicI64) -> Self {
        which(counts).fetch_add(1, Relaxed);
        Self { counts: counts.clone(), which }
    }
}

impl Drop for Gauge {
    fn drop(&mut self) {
        (self.which)(&self.counts).fetch_sub(1, Relaxed);
    }
}
