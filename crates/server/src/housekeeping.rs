//! Periodic deletion of rows that are no longer of use.

use crate::services::Services;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

const PERIOD: Duration = Duration::from_secs(60 * 60);
/// Each so many periods, beginning with the first, sites are opened for it that are not open.
const ALL_SITES_PERIODS: u64 = 24;
/// Logs grow with every write, so they are cut often.
const LOG_PERIOD: Duration = Duration::from_secs(10);

/// How soon a name or a deletion of a site is seen that another process on the same database made.
const REFRESH_PERIOD: Duration = Duration::from_secs(1);

/// How soon what hooks say can be read.
const HOOK_LOG_PERIOD: Duration = Duration::from_secs(1);

/// Runs until the process ends. A failure is logged and tried again at the next tick.
pub async fn run(services: Services) {
    tokio::spawn(tend_logs(services.clone()));
    tokio::spawn(refresh_sites(services.clone()));
    tokio::spawn(write_hook_logs(services.clone()));
    let mut ticks = tokio::time::interval(PERIOD);
    for tick in 0_u64.. {
        ticks.tick().await;
        services.identity.retention_run_catalog().await;
        let open = services.store.open_sites();
        let seen_to = open.iter().map(|it| it.id.clone()).collect();
        for site in open {
            services.identity.retention_run(&site).await;
        }
        if tick % ALL_SITES_PERIODS == 0 {
            services.identity.retention_run_others(&seen_to).await;
        }
        match services.store.sites_purge(services.world.now()).await {
            Ok(0) => {}
            Ok(count) => tracing::info!("{count} sites that were deleted long ago are gone for good"),
            Err(fault) => tracing::warn!("deleted sites could not be removed: {fault:?}"),
        }
    }
}

async fn refresh_sites(services: Services) {
    let mut ticks = tokio::time::interval(REFRESH_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(fault) = services.store.sites_refresh(services.world.now()).await {
            tracing::warn!("changes of sites could not be read: {fault:?}");
        }
    }
}

async fn write_hook_logs(services: Services) {
    let mut ticks = tokio::time::interval(HOOK_LOG_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        services.write_hook_logs().await;
    }
}

async fn tend_logs(services: Services) {
    let mut ticks = tokio::time::interval(LOG_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        services.store.logs_tend(services.world.now()).await;
    }
}
