//! The job that takes up copies between environments which were cut off, and removes what they left behind.

use crate::services::Services;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// How often it is looked for copies on which no process works.
const PERIOD: Duration = Duration::from_secs(2);
/// How often open sites are searched for what copies left behind, in periods.
const TEND: u64 = 30;

/// Runs until the process ends. A failure is logged and tried again.
pub async fn run(services: Services) {
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for turn in 0_u64.. {
        ticks.tick().await;
        if let Err(fault) = services.content.environment_copies_resume(&services.store, None).await {
            tracing::warn!("copies between environments could not be looked for: {fault:?}");
        }
        if turn % TEND == 0 {
            tend(&services).await;
        }
    }
}

async fn tend(services: &Services) {
    for site in services.store.open_sites() {
        if let Err(fault) = services.content.environment_tend(&services.store, &site).await {
            tracing::warn!(site = %site.id, "what copies left behind can't be removed yet: {fault:?}");
        }
    }
}
