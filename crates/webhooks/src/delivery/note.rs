//! What is stored of an endpoint while it is worked for: its place, how it goes, and that it was given up.

use crate::{
    Core,
    delivery::{
        attempt::{REVOKED, Report, Verdict},
        counts::Gauge,
        runner::{Runner, Stop, hearing},
        schedule::{after_always, spread},
    },
    endpoint::{EndpointState, consumer, manage::app, row},
};
use std::sync::{Arc, atomic::Ordering::Relaxed};
use stoa_kernel::{Millis, clock::elapsing, limit::MINUTE};
use stoa_store::{Site, boxed, outbox};

/// How often it is stored that events arrive.
const NOTED: Millis = MINUTE;

impl Runner {
    /// Stores the place, not too often, and that events arrive.
    pub(super) async fn store(&mut self) -> Result<(), Stop> {
        let now = elapsing();
        if self.window.has_moved()
            && now - self.stored >= self.core.times.place
            && let Some(place) = self.window.take_place()
        {
            self.stored = now;
            if !self.held.advance(place.position).await? {
                return Err(Stop::Lost);
            }
        }
        match self.has_more_to_note && now - self.saved >= NOTED {
            true => self.save().await,
            false => Ok(()),
        }
    }

    /// Stores how it goes.
    pub(super) async fn save(&mut self) -> Result<(), Stop> {
        self.saved = elapsing();
        self.has_more_to_note = false;
        self.is_noted_failing = self.endpoint.health.failing_since.is_some();
        let saved =
            self.write(self.endpoint.clone(), |tx, queue, endpoint| boxed!(row::put(tx, queue.site, endpoint).await));
        saved.await
    }

    /// It is the endpoint that fails: from now on it is tried from time to time, next after `wait` if there is one.
    pub(super) async fn failed(&mut self, report: &Report, wait: Option<Millis>) -> Result<(), Stop> {
        let (now, times) = (self.now(), self.core.times.clone());
        let is_first = self.endpoint.state != EndpointState::Open;
        let health = &mut self.endpoint.health;
        health.failing_since.get_or_insert(now);
        health.probes = if is_first { 0 } else { health.probes + 1 };
        let wait = wait.unwrap_or_else(|| spread(after_always(health.probes + 1, &times.probes), &self.core.world));
        health.next_probe = Some(now + wait);
        (health.last_failure, health.last_error) = (Some(now), Some(report.error()));
        self.endpoint.state = EndpointState::Open;
        self.endpoint.reason = Some(match report.verdict {
            Verdict::Blocked => report.what.clone(),
            _ => format!("Events don't arrive: {}.", report.what),
        });
        if is_first {
            tracing::warn!(
                site = %self.site.id, endpoint = %self.endpoint.id,
                "a webhook endpoint fails and is tried from time to time: {}", report.what
            );
            self.open = Some(Gauge::new(&self.core.counts, |it| &it.open));
            for (_, entity) in std::mem::take(&mut self.retries) {
                self.window.give_back(&entity);
            }
            self.streak.taken();
        }
        self.save().await?;
        self.check_hope().await
    }

    /// Events arrive again.
    pub(super) async fn recovered(&mut self) -> Result<(), Stop> {
        if self.endpoint.state == EndpointState::Open {
            tracing::info!(site = %self.site.id, endpoint = %self.endpoint.id, "a webhook endpoint works again");
        }
        self.endpoint.state = EndpointState::Active;
        self.endpoint.reason = None;
        let health = &mut self.endpoint.health;
        (health.failing_since, health.probes, health.next_probe) = (None, 0, None);
        self.open = None;
        self.save().await
    }

    /// Rows are gone that were to be read.
    pub(super) async fn missed(&mut self) -> Result<(), Stop> {
        if self.endpoint.state == EndpointState::Open {
            return self.disable("It fails, and more was behind than the log keeps.", true).await;
        }
        tracing::warn!(site = %self.site.id, endpoint = %self.endpoint.id, "a webhook endpoint missed rows of the log");
        self.endpoint.health.gap = Some(self.now());
        self.save().await
    }

    /// From time to time: whether the application is still there and what it may hear, and whether there is hope.
    pub(super) async fn look(&mut self) -> Result<(), Stop> {
        self.looked = elapsing();
        match app(&self.core, &self.site, &self.endpoint.app).await? {
            Some(app) => self.heard.hearing = hearing(&self.core, &self.endpoint, &app).await?,
            None => return self.disable(REVOKED, false).await,
        }
        self.check_hope().await
    }

    /// Gives an endpoint up that took nothing for days, or is too far behind.
    async fn check_hope(&mut self) -> Result<(), Stop> {
        let (now, times) = (self.now(), &self.core.times);
        let health = &self.endpoint.health;
        if health.failing_since.is_some_and(|it| now - it > times.without_success) {
            let days = times.without_success / stoa_kernel::limit::DAY;
            return self.disable(&format!("Nothing has arrived for {days} days."), true).await;
        }
        let is_behind = self.window.front().is_some_and(|it| now - it.created > times.behind);
        // One that was resumed after a long time gets its chance.
        if is_behind && self.endpoint.state == EndpointState::Open && health.probes >= times.probes.len() {
            let days = times.behind / stoa_kernel::limit::DAY;
            return self.disable(&format!("It fails, and events wait for more than {days} days."), true).await;
        }
        Ok(())
    }

    /// Sends nothing any more until somebody resumes it.
    pub(super) async fn disable(&mut self, why: &str, is_told: bool) -> Result<(), Stop> {
        let before = self.endpoint.consumer();
        self.endpoint.state = EndpointState::Disabled;
        self.endpoint.reason = Some(why.to_owned());
        self.endpoint.health.next_probe = None;
        self.endpoint.updated = self.now();
        let disabled = self.write(
            (self.endpoint.clone(), before, consumer(&self.endpoint.id, false)),
            |tx, queue, (endpoint, before, after)| {
                boxed!({
                    row::put(tx, queue.site, endpoint).await?;
                    outbox::consumer_rename(tx, queue.site, before, after).await?;
                    Ok(())
                })
            },
        );
        disabled.await?;
        tracing::warn!(site = %self.site.id, endpoint = %self.endpoint.id, "a webhook endpoint is disabled: {why}");
        self.core.counts.disabled.fetch_add(1, Relaxed);
        if is_told {
            // The work for the endpoint may be dropped at any moment now.
            tokio::spawn(tell(self.core.clone(), self.site.clone(), self.receiver.target.to_string()));
        }
        Err(Stop::Lost)
    }
}

/// Tells the owners of a site that an endpoint was given up.
async fn tell(core: Arc<Core>, site: Arc<Site>, origin: String) {
    if let Err(fault) = core.identity.webhook_disabled_notify(&site, &origin).await {
        tracing::warn!(site = %site.id, "owners could not be told of a webhook endpoint: {fault:?}");
    }
}
