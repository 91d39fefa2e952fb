//! Has the indexes of words of all sites kept.

use crate::services::Services;
use std::{collections::HashSet, time::Duration};
use tokio::time::MissedTickBehavior;

/// How soon the index of a site is begun with that is new, or opened for the first time.
const PERIOD: Duration = Duration::from_secs(1);
/// Sites that are opened for that at the start. Others are found once they are opened.
const AT_START: usize = 256;

/// Runs until the process ends. Whichever node has room works for a site once its log has the consumer.
pub async fn run(services: Services) {
    let all = services.store.sites_for_work().await.unwrap_or_else(|fault| {
        tracing::warn!("sites could not be listed: {fault:?}");
        Vec::new()
    });
    for id in all.into_iter().take(AT_START) {
        if let Err(fault) = services.store.site_for_work(&id).await {
            tracing::warn!(site = %id, "a site could not be opened: {fault:?}");
        }
    }
    let (mut subscribed, mut ticks) = (HashSet::new(), tokio::time::interval(PERIOD));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        for site in services.store.open_sites() {
            if subscribed.contains(&site.id) {
                continue;
            }
            match services.content.search_subscribe(&site).await {
                Ok(()) => drop(subscribed.insert(site.id.clone())),
                Err(fault) => tracing::warn!(site = %site.id, "its index of words can't be begun: {fault:?}"),
            }
        }
    }
}
