//! `stoa compact`: what is over goes, and then what deleted rows left in the files.

use crate::{failure::Failure, report::Output, services::Services};
use serde_json::{Value, json};
use stoa_kernel::{Code, Result, SiteId};

pub async fn run(services: &Services, output: &mut dyn Output) -> std::result::Result<Value, Failure> {
    services.identity.retention_run_catalog().await;
    services.store.sites_purge(services.world.now()).await?;
    for id in services.store.sites_for_work().await? {
        match tend(services, &id).await {
            Err(fault) if fault.code() != Code::SiteUnknown => {
                tracing::warn!(site = %id, "what is over can't all be removed yet: {fault:?}");
            }
            _ => {}
        }
    }
    let count = services.store.compact(&mut |count| output.progress(&json!({ "done": count }))).await?;
    Ok(json!({ "compacted": count }))
}

/// What housekeeping does for sites that are open, for one that may not have been for long.
async fn tend(services: &Services, id: &SiteId) -> Result<()> {
    let site = services.store.site_for_work(id).await?;
    services.identity.retention_run(&site).await;
    services.store.log_tend(&site, services.world.now()).await?;
    services.content.environment_tend(&services.store, &site).await
}
