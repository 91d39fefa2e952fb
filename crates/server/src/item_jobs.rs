//! The loops that take up background jobs on items which another process, or this one before, left undone.

use crate::services::Services;
use std::{collections::HashSet, sync::Arc, time::Duration};
use stoa_kernel::{Fault, SiteId};
use stoa_store::Site;
use tokio::time::MissedTickBehavior;

/// How often open sites are searched for jobs by filter.
const PERIOD: Duration = Duration::from_secs(5);
/// How often all others are looked at, as other nodes may have been stopped that knew of their jobs.
const ALL_PERIOD: Duration = Duration::from_secs(60 * 60);

/// Runs until the process ends. A collection's jobs hold up no other collection's.
pub async fn run(services: Services) {
    tokio::spawn(search(services.clone()));
    tokio::spawn(look_at_closed(services.clone()));
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

/// Looks at sites that nothing has opened, one after another: their jobs are then begun when it is time.
async fn look_at_closed(services: Services) {
    loop {
        let pause = match services.store.sites_for_work().await {
            Ok(all) => {
                let open: HashSet<_> = services.store.open_sites().iter().map(|it| it.id.clone()).collect();
                for id in all.into_iter().filter(|it| !open.contains(it)) {
                    if let Some(site) = open_site(&services, &id).await {
                        services.content.async_jobs_look(&site).await;
                    }
                }
                ALL_PERIOD
            }
            Err(fault) => {
                tracing::warn!("sites could not be listed: {fault:?}");
                PERIOD
            }
        };
        tokio::time::sleep(pause).await;
    }
}

async fn search(services: Services) {
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        for id in services.content.async_jobs_due() {
            if let Some(site) = open_site(&services, &id).await {
                services.content.async_jobs_start(&site);
            }
        }
        for site in services.store.open_sites() {
            services.content.async_jobs_start(&site);
        }
    }
}

/// Opens a site; one that can't be opened is tried again later.
async fn open_site(services: &Services, site: &SiteId) -> Option<Arc<Site>> {
    let opened = services.store.site_for_work(site).await;
    let noted = |fault: Fault| {
        tracing::warn!(%site, "a site could not be opened: {fault:?}");
        services.content.async_jobs_unseen(site, &fault);
    };
    opened.map_err(noted).ok()
}
