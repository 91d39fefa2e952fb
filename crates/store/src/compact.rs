//! Data without what was deleted from them.
//!
//! Rows that are deleted leave bytes behind: on SQLite in pages that no row uses any more and in the log, on PostgreSQL until
//! others take their place. A compaction rewrites everything.

use crate::Store;
use stoa_kernel::{Code, Fault, Result};

impl Store {
    /// Compacts the catalogue and every site that was not deleted, one after another, and answers how many sites those were.
    /// Who writes to a site waits until it is done; on PostgreSQL who reads, too.
    ///
    /// # Errors
    /// What the engine says; [`Code::Unavailable`] with the ids of sites that could not be compacted, after all others were.
    pub async fn compact(&self, each: &mut dyn FnMut(u64)) -> Result<u64> {
        self.catalog().compact().await?;
        let (sites, mut count, mut failed) = (self.sites_for_work().await?, 0, Vec::new());
        // There all sites are in the tables of the catalogue's database.
        if self.pool().is_some() {
            return Ok(sites.len() as u64);
        }
        for id in sites {
            let compacted = async { self.site_for_work(&id).await?.compact().await };
            match compacted.await {
                Ok(()) => {
                    count += 1;
                    each(count);
                }
                Err(fault) if fault.code() == Code::SiteUnknown => {}
                Err(fault) => {
                    tracing::warn!(site = %id, "a site could not be compacted: {fault:?}");
                    failed.push(id.to_string());
                }
            }
        }
        match failed.is_empty() {
            true => Ok(count),
            false => Err(Fault::because(Code::Unavailable, format!("Not compacted: {}.", failed.join(", ")))),
        }
    }
}
