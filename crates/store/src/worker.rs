//! What works for consumers of logs, and what it holds meanwhile.

use crate::{
    News, Outbox, Site, Tx, TxFuture, boxed,
    lease::Lease,
    outbox::{self, Read},
    position::Position,
};
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};
use stoa_kernel::{Result, SiteId, clock::elapsing};

/// Which consumers.
#[derive(Debug, Clone)]
pub enum Names {
    /// All whose names begin so, on all sites and shared out among nodes: `webhook:`.
    Kind(&'static str),
    /// One of a site. This node takes it whenever it can.
    One(SiteId, String),
}

/// What works for consumers.
pub trait Worker: Send + Sync + 'static {
    /// Works for a consumer. It ends by itself when [`Held::is_held`] no longer holds or [`Held::advance`] says so, and
    /// is dropped at any moment from then on. After its end the consumer is taken again, a while later.
    fn work<'w>(&'w self, held: Held) -> TxFuture<'w, ()>;
}

/// A consumer that this node holds. Clones are the same.
#[derive(Clone)]
pub struct Held {
    site: Arc<Site>,
    lease: Lease,
    until: Arc<AtomicI64>,
}

impl Held {
    /// A consumer of a site that is held until a moment of this node's clock, which moves on with each renewal.
    pub(crate) fn new(site: Arc<Site>, lease: Lease, until: Arc<AtomicI64>) -> Self {
        Self { site, lease, until }
    }

    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    pub fn consumer(&self) -> &str {
        &self.lease.consumer
    }

    /// Its place when it was taken.
    pub fn position(&self) -> Position {
        self.lease.position
    }

    /// Whether the lease still holds, by the clock of this node.
    pub fn is_held(&self) -> bool {
        elapsing() < self.until.load(Ordering::SeqCst)
    }

    /// As [`Outbox::news`].
    pub fn news(&self) -> News {
        self.outbox().news()
    }

    /// As [`Outbox::read_for`].
    pub async fn read(&self, after: Position, kinds: &[&str], limit: usize) -> Result<Read> {
        self.outbox().read_for(after, kinds, limit).await
    }

    /// As [`Outbox::advance`].
    pub async fn advance(&self, position: Position) -> Result<bool> {
        Ok(self.is_held() && self.outbox().advance(&self.lease, position).await?)
    }

    /// Whether the lease is the one that is stored, and stays it until the end of the transaction: within that of what is
    /// written for the consumer. Without this check a holder that stood still would write over what the next one has
    /// written.
    pub async fn keep(&self, tx: &mut Tx<'_>) -> Result<bool> {
        outbox::keeps(tx, &self.site.id, &self.lease).await
    }

    /// Writes for the consumer, if the lease is the one that is stored, and stays it meanwhile. Nothing: it is another's by
    /// now, or the consumer is gone, and nothing was written.
    pub async fn write_with<I, T, F>(&self, input: I, body: F) -> Result<Option<T>>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t I) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        let written = self.site.write_with((self.clone(), input, body), |tx, (held, input, body)| {
            boxed!(if held.keep(tx).await? { body(tx, input).await.map(Some) } else { Ok(None) })
        });
        written.await
    }

    /// Whether the lease is the one that is stored, for those who only read.
    pub async fn is_stored(&self, tx: &mut Tx<'_>) -> Result<bool> {
        outbox::holds(tx, &self.site.id, &self.lease).await
    }

    fn outbox(&self) -> Outbox<'_> {
        self.site.outbox()
    }
}

impl Names {
    /// Whether nodes share them out.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Kind(_))
    }

    pub(crate) fn fit(&self, site: &SiteId, name: &str) -> bool {
        match self {
            Self::Kind(begin) => name.starts_with(begin),
            Self::One(of, whole) => of == site && whole == name,
        }
    }
}
