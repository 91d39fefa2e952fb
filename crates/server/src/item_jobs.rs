//! The loop that takes up background jobs on items which another process, or this one before, left undone.

use crate::services::Services;

/// Runs until the process ends. A collection's jobs hold up no other collection's.
pub async fn run(services: Services) {
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
