//! What is done for all logs of a process from time to time, and what is told of them.

use crate::{
    Outbox, Site, Store, boxed,
    outbox::{ConsumerRow, ConsumerStatus},
    site_log,
};
use std::{collections::BTreeSet, sync::atomic::Ordering};
use stoa_kernel::{Millis, Result, SiteId};

/// How far a consumer of some site is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerLag {
    pub site: SiteId,
    pub consumer: ConsumerStatus,
}

impl Store {
    /// Deletes rows of logs that are no longer needed, and notices that the data were replaced while the process runs.
    /// To be called every ten seconds or so; a failure is logged, and tried again the next time.
    pub async fn logs_tend(&self, now: Millis) {
        if let Some(pool) = self.pool()
            && let Err(error) = pool.find_origin().await
        {
            tracing::warn!("where the data are can't be asked: {error:?}");
        }
        for site in self.open_sites() {
            if let Err(fault) = self.log_tend(&site, now).await {
                tracing::warn!(site = %site.id, "an outbox could not be pruned: {fault:?}");
            }
        }
    }

    /// Removes the rows of a site's log that are over.
    ///
    /// # Errors
    /// What the engine says.
    pub async fn log_tend(&self, site: &Site, now: Millis) -> Result<()> {
        if let Some(pool) = self.pool() {
            let has_moved = *site.origin.lock() != pool.origin_text();
            if has_moved {
                self.settle_log(site, false).await?;
            }
            return site.outbox().prune(now).await.map(drop);
        }
        site.outbox().prune(now).await?;
        let sequence = site.outbox().end().await?.position.sequence();
        if sequence > site.remembered.load(Ordering::Relaxed) {
            site_log::remember_sequence(self.catalog(), &site.id, sequence).await?;
            site.remembered.fetch_max(sequence, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Begins a new epoch of a site's log, because its data were replaced by an earlier state of them, and answers it; and
    /// one of that of its SANDBOX.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::SiteUnknown`].
    pub async fn log_restored(&self, id: &SiteId) -> Result<String> {
        let site = self.site(id).await?;
        if let Some(sandbox) = self.sandbox(&site).await? {
            self.log_restored_of(&sandbox).await?;
        }
        self.log_restored_of(&site).await
    }

    async fn log_restored_of(&self, site: &Site) -> Result<String> {
        // Should this end half way, it is done when the site is opened.
        let distrusted =
            self.catalog().write_with(site.id.clone(), |tx, id| boxed!(Ok(site_log::distrust(tx, id).await?)));
        distrusted.await?;
        self.settle_log(site, true).await?;
        Ok(site.outbox().end().await?.epoch)
    }

    /// How far the consumers of all sites are; on SQLite of those that are open.
    pub async fn log_lags(&self, now: Millis) -> Result<Vec<ConsumerLag>> {
        let mut lags = Vec::new();
        let Some(pool) = self.pool() else {
            for site in self.open_sites() {
                lags.extend(lags_of(&site.id, site.outbox(), now).await?);
            }
            return Ok(lags);
        };
        let sites: BTreeSet<SiteId> = pool.consumers().await?.into_iter().map(|it: ConsumerRow| it.site).collect();
        for id in sites {
            lags.extend(lags_of(&id, Outbox::new(&id, self.catalog(), self.catalog()), now).await?);
        }
        Ok(lags)
    }
}

async fn lags_of(site: &SiteId, outbox: Outbox<'_>, now: Millis) -> Result<impl Iterator<Item = ConsumerLag>> {
    let of = site.clone();
    Ok(outbox.lags(now).await?.into_iter().map(move |consumer| ConsumerLag { site: of.clone(), consumer }))
}
