//! The work for endpoints, one after the other by the leases that this node holds.

use crate::{
    Core,
    delivery::runner::{Runner, Stop},
    endpoint::{CONSUMERS, EndpointState},
};
use futures_util::{FutureExt, StreamExt};
use std::{sync::Arc, time::Duration};
use stoa_kernel::{EndpointId, Millis, Result, clock::elapsing};
use stoa_store::{Held, TxFuture, Worker, boxed};
use tokio::time::{sleep, timeout};

/// How soon another node, or this one, goes on with what was changed: until then nothing is begun again.
const CHANGED: Duration = Duration::from_secs(3);
/// How soon news are looked for again.
const NEWS: Duration = Duration::from_secs(60);

/// Sends for endpoints.
pub(crate) struct Sender(pub Arc<Core>);

impl Worker for Sender {
    fn work<'w>(&'w self, held: Held) -> TxFuture<'w, ()> {
        boxed!(work(self.0.clone(), held).await)
    }
}

async fn work(core: Arc<Core>, held: Held) -> Result<()> {
    let id = EndpointId::from(held.consumer().strip_prefix(CONSUMERS).unwrap_or_default());
    match serve(core, held.clone(), &id).await {
        Err(Stop::Fault(fault)) => Err(fault),
        // Whoever ended before its lease did would have to wait before it gets it again.
        Ok(()) | Err(Stop::Lost) => {
            let _ = timeout(CHANGED, async {
                while held.is_held() {
                    sleep(Duration::from_millis(100)).await;
                }
            })
            .await;
            Ok(())
        }
    }
}

async fn serve(core: Arc<Core>, held: Held, id: &EndpointId) -> Result<(), Stop> {
    let mut runner = Runner::open(core, held, id).await?;
    while runner.held.is_held() {
        runner.check_changes().await?;
        if elapsing() - runner.looked >= runner.core.times.look {
            runner.look().await?;
        }
        let is_reading = runner.has_more() && runner.has_room();
        if is_reading {
            runner.fill().await?;
        }
        runner.send().await?;
        runner.store().await?;
        match is_reading {
            true => {
                tokio::task::yield_now().await;
                while let Some(Some((flight, report))) = runner.flights.next().now_or_never() {
                    runner.landed(flight, report).await?;
                }
            }
            false => runner.wait().await?,
        }
    }
    Ok(())
}

impl Runner {
    /// Waits until there is something to do.
    async fn wait(&mut self) -> Result<(), Stop> {
        let pause = sleep(Duration::from_millis(self.pause().max(1).unsigned_abs()));
        let hears = self.is_end && self.has_room();
        tokio::select! {
            Some((flight, report)) = self.flights.next() => self.landed(flight, report).await?,
            is_news = self.news.wait(NEWS), if hears => self.is_end &= !is_news,
            _ = self.changes.changed() => self.changes.mark_changed(),
            () = pause => {}
        }
        Ok(())
    }

    /// How long nothing is to be done, unless something arrives.
    fn pause(&self) -> Millis {
        let (now, wall) = (elapsing(), self.now());
        let mut pause = self.looked + self.core.times.look - now;
        if self.window.has_moved() {
            pause = pause.min(self.stored + self.core.times.place - now);
        }
        for (at, _) in &self.retries {
            pause = pause.min(at - now);
        }
        if self.rests_until > now {
            return pause.min(self.rests_until - now);
        }
        let has_calls = self.flying_apart.len() < crate::delivery::runner::CALLS_APART;
        match self.endpoint.state {
            EndpointState::Open if self.flights.is_empty() => {
                let probe = self.endpoint.health.next_probe.map_or(Millis::MAX, |it| it.saturating_sub(wall));
                let has_one = self.window.count() > 0 || !self.apart.is_empty();
                if has_one { pause.min(probe) } else { pause }
            }
            EndpointState::Open => pause,
            _ if has_calls => self.due.map_or(pause, |it| pause.min(it.saturating_sub(wall))),
            _ => pause,
        }
    }
}
