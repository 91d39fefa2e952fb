//! The job that builds and removes indexes while the server runs.

use crate::services::Services;
use std::{sync::Arc, time::Duration};
use stoa_store::Site;

/// How often open sites are searched: for what another node asked for and didn't finish.
const PERIOD: Duration = Duration::from_secs(15);
/// How often it is decided which indexes are worth making, or are no longer.
const TEND: Duration = Duration::from_secs(60);
/// How soon work that failed is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// Sites that are opened at the start to see what was left unfinished. Others are searched once
/// they are opened.
const AT_START: usize = 256;

/// Runs until the process ends. One index is built at a time.
pub async fn run(services: Services) {
    let mut waiting = at_start(&services).await;
    let (mut period, mut tend) = (tokio::time::interval(PERIOD), tokio::time::interval(TEND));
    loop {
        let mut left = Vec::new();
        for site in waiting {
            match services.content.index_work_do(&site).await {
                Ok(false) => {}
                Ok(true) => left.push(site),
                Err(fault) => tracing::warn!(site = %site.id, "indexes could not be looked through: {fault:?}"),
            }
        }
        waiting = tokio::select! {
            sites = services.content.index_work_wait() => sites,
            _ = period.tick() => services.store.open_sites(),
            _ = tend.tick() => {
                tend_all(&services).await;
                Vec::new()
            }
            () = tokio::time::sleep(AGAIN), if !left.is_empty() => Vec::new(),
        };
        waiting.extend(left);
    }
}

async fn tend_all(services: &Services) {
    for site in services.store.open_sites() {
        if let Err(fault) = services.content.auto_indexes_tend(&site).await {
            tracing::warn!(site = %site.id, "the server's own indexes could not be tended: {fault:?}");
        }
    }
}

async fn at_start(services: &Services) -> Vec<Arc<Site>> {
    let all = services.store.sites_for_work().await.unwrap_or_else(|fault| {
        tracing::warn!("sites could not be listed: {fault:?}");
        Vec::new()
    });
    let mut sites = Vec::new();
    for id in all.into_iter().take(AT_START) {
        match services.store.site_for_work(&id).await {
            Ok(site) => sites.push(site),
            Err(fault) => tracing::warn!(site = %id, "a site could not be opened: {fault:?}"),
        }
    }
    sites
}
