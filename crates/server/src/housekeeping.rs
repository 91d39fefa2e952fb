//! Periodic deletion of rows that are no longer of use.

use crate::services::Services;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

const PERIOD: Duration = Duration::from_secs(60 * 60);
/// The outbox grows with every write, so it is cut often.
const OUTBOX_PERIOD: Duration = Duration::from_secs(10);

/// Runs until the process ends. A failure is logged and tried again at the next tick.
pub async fn run(services: Services) {
    tokio::spawn(prune_outboxes(services.clone()));
    let mut ticks = tokio::time::interval(PERIOD);
    loop {
        ticks.tick().await;
        services.identity.retention_run_catalog().await;
        for site in services.store.open_sites() {
            services.identity.retention_run(&site).await;
        }
    }
}

async fn prune_outboxes(services: Services) {
    let mut ticks = tokio::time::interval(OUTBOX_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        for site in services.store.open_sites() {
            if let Err(fault) = site.outbox().prune(services.world.now()).await {
                tracing::warn!(site = %site.id, "an outbox could not be pruned: {fault:?}");
            }
        }
    }
}
