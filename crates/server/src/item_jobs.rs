//! The loops that take up background jobs on items which another process, or this one before, left undone.

use crate::services::Services;
use std::time::Duration;
use stoa_kernel::SiteId;
use tokio::time::MissedTickBehavior;

/// How often open sites are searched for jobs by filter.
const PERIOD: Duration = Duration::from_secs(5);
/// Sites that are opened for that at the start. Others are searched once they are opened.
const AT_START: usize = 256;

/// Runs until the process ends. A collection's jobs hold up no other collection's.
pub async fn run(services: Services) {
    tokio::spawn(search(services.clone()));
    loop {
        for jobs in services.content.stalled_jobs_wait().await {
            let content = services.content.clone();
            tokio::spawn(async move {
                if let Err(fault) = content.stalled_jobs_do(&jobs).await {
                    tracing::warn!(site = %jobs.site.id, "a background job stopped: {fault:?}");
                }
            });
        }
    }
}

async fn search(services: Services) {
    let all = services.store.sites_for_work().await.unwrap_or_else(|fault| {
        tracing::warn!("sites could not be listed: {fault:?}");
        Vec::new()
    });
    for id in all.into_iter().take(AT_START) {
        start(&services, &id).await;
    }
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        for id in services.content.async_jobs_due() {
            start(&services, &id).await;
        }
        for site in services.store.open_sites() {
            services.content.async_jobs_start(&site);
        }
    }
}

async fn start(services: &Services, site: &SiteId) {
    match services.store.site_for_work(site).await {
        Ok(it) => services.content.async_jobs_start(&it),
        Err(fault) => tracing::warn!(%site, "a site could not be opened: {fault:?}"),
    }
}
