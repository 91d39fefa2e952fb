//! Keys that are replaced because they are old (decision 56).

use crate::{failure::Failure, sealing, services::Services};
use std::time::Duration;
use stoa_identity::token::key_lease::KeyLease;
use tokio::time::MissedTickBehavior;

/// How often it is looked for keys that are too old.
const PERIOD: Duration = Duration::from_secs(60 * 60);

/// Runs until the process ends. A failure is logged and tried again at the next tick.
pub async fn run(services: Services) {
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match services.identity.token_keys_rotate_by_age().await {
            Ok(made) if made.is_empty() => {}
            Ok(made) => tracing::info!("{} keys of tokens were too old: others sign from now on", made.len()),
            Err(fault) => tracing::warn!("keys of tokens that are too old could not be replaced: {fault:?}"),
        }
        if let Err(failure) = seal(&services).await {
            tracing::warn!("sealing keys that are too old could not be replaced: {}", failure.message);
        }
    }
}

async fn seal(services: &Services) -> Result<(), Failure> {
    let Some((lease, rotation)) = services.identity.seal_begin_by_age().await? else { return Ok(()) };
    tracing::info!("sealing keys are too old: everything is sealed again, with others");
    let sealed = tokio::select! {
        sealed = sealing::seal_again(services, &rotation, |_| {}) => Some(sealed?),
        () = keep(&lease) => None,
    };
    match sealed {
        Some(sealed) => {
            tracing::info!("{sealed} texts were sealed again with the new keys");
            Ok(lease.end().await?)
        }
        // Another node goes on with it.
        None => Ok(()),
    }
}

/// Renews a lease until it is another's.
async fn keep(lease: &KeyLease) {
    loop {
        tokio::time::sleep(Duration::from_millis(KeyLease::RENEWAL.unsigned_abs())).await;
        match lease.renew().await {
            Ok(true) => {}
            Ok(false) => return,
            Err(fault) => tracing::warn!("the lease on sealing keys could not be renewed: {fault:?}"),
        }
    }
}
