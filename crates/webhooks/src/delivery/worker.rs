//! The work for endpoints, one after the other by the leases that this node holds.

use crate::{
    Core,
    delivery::runner::{QUIET, Runner, Stop},
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
        if runner.needs_look() {
            runner.look().await?;
        }
        if runner.needs_refresh() {
            runner.refresh().await?;
        }
        let is_reading = runner.may_fill();
        if is_reading {
            runner.fill().await?;
        }
        runner.send().await?;
        runner.store().await?;
        match is_reading {
            true => {
                tokio::task::yield_now().await;
                while let Some(Some((origin, report))) = runner.flights.next().now_or_never() {
                    runner.landed(origin, report).await?;
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
            Some((origin, report)) = self.flights.next() => self.landed(origin, report).await?,
            is_news = self.news.wait(NEWS), if hears => self.is_end &= !is_news,
            _ = self.changes.changed(), if elapsing() >= self.next_check() => self.changes.mark_changed(),
            () = pause => {}
        }
        Ok(())
    }

    /// Whether there is something to read or to send now.
    fn has_work(&self) -> bool {
        let has_something = self.has_more() || self.window.count() > 0 || !self.apart.is_empty();
        has_something && (self.endpoint.state != EndpointState::Open || self.is_probe_due())
    }

    /// Whether what may be heard is to be looked at again.
    fn needs_look(&self) -> bool {
        let since = elapsing() - self.looked;
        match self.has_work() {
            true => self.is_barred || !self.is_hearing_known || since >= self.core.times.look,
            false => self.endpoint.state != EndpointState::Open && since >= self.core.times.look * QUIET,
        }
    }

    /// Whether what waits apart is to be read again.
    fn needs_refresh(&self) -> bool {
        let is_due = elapsing() - self.refreshed >= self.core.times.look * QUIET;
        is_due && (self.has_changed_apart || !self.apart.is_empty())
    }

    /// How long nothing is to be done, unless something arrives.
    fn pause(&self) -> Millis {
        let (now, wall) = (elapsing(), self.now());
        let (look, is_open) = (self.core.times.look, self.endpoint.state == EndpointState::Open);
        let mut pause = match self.has_work() {
            true => self.looked + look - now,
            false if is_open => look * QUIET,
            false => self.looked + look * QUIET - now,
        };
        if self.next_check() > now {
            pause = pause.min(self.next_check() - now);
        }
        if self.gathers_until > now && self.has_more() && self.has_room() {
            pause = pause.min(self.gathers_until - now);
        }
        if self.window.has_moved() {
            pause = pause.min(self.next_store() - now);
        }
        for (at, _) in &self.retries {
            pause = pause.min(at - now);
        }
        if self.rests_until > now {
            return pause.min(self.rests_until - now);
        }
        match self.endpoint.state {
            EndpointState::Open if !self.is_probe_due() && self.flights.is_empty() => {
                let probe = self.endpoint.health.next_probe.map_or(Millis::MAX, |it| it.saturating_sub(wall));
                pause.min(probe)
            }
            EndpointState::Open => pause,
            _ if self.has_calls_apart() => self.due.map_or(pause, |it| pause.min(it.saturating_sub(wall))),
            _ => pause,
        }
    }
}
