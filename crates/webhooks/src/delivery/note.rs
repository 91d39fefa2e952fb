//! What is stored of an endpoint while it is worked for: its place, how it goes, and that it was given up.

use crate::{
    Core,
    access::Hearing,
    delivery::{
        attempt::{NOT_INSTALLED, REVOKED, Report, Verdict},
        counts::Gauge,
        runner::{Runner, Stop, hearing},
        schedule::{after_always, spread},
        window::Window,
    },
    endpoint::{EndpointState, consumer, manage::app, row},
};
use futures_util::stream::FuturesUnordered;
use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering::Relaxed},
};
use stoa_kernel::{Code, Millis, clock::elapsing, limit::MINUTE};
use stoa_store::{Site, boxed, outbox};

/// How often it is stored that events arrive.
const NOTED: Millis = MINUTE;
/// How much more seldom the place is stored where nothing was sent: many endpoints hear little of what is written.
const UNSENT: Millis = 20;

impl Runner {
    /// Stores the place, not too often, and that events arrive.
    pub(super) async fn store(&mut self) -> Result<(), Stop> {
        let now = elapsing();
        if self.window.has_moved() && now >= self.next_store() {
            self.store_place().await?;
        }
        match self.has_more_to_note && now - self.saved >= NOTED {
            true => self.save().await,
            false => Ok(()),
        }
    }

    /// When the place may be stored again: seldom where nothing was sent since.
    pub(super) fn next_store(&self) -> Millis {
        let place = self.core.times.place;
        self.stored + if self.is_lively { place } else { place * UNSENT }
    }

    /// Stores the place, if it has moved.
    pub(super) async fn store_place(&mut self) -> Result<(), Stop> {
        let Some(place) = self.window.take_place() else { return Ok(()) };
        (self.stored, self.is_lively) = (elapsing(), false);
        match self.held.advance(place.position).await? {
            true => self.place = place,
            false => return Err(Stop::Lost),
        }
        Ok(())
    }

    /// Forgets what was read and not taken, and what is on its way: it is read again from the place. So nothing is told
    /// later that may not be told by then, and what failed together is one failure.
    pub(super) async fn forget(&mut self) -> Result<(), Stop> {
        self.flights = FuturesUnordered::new();
        self.flying_apart.clear();
        self.due = (!self.apart.is_empty()).then_some(Millis::MIN);
        self.retries.clear();
        self.streak.taken();
        self.store_place().await?;
        (self.window, self.read_to, self.is_end) = (Window::new(), self.place, false);
        (self.rows, self.current) = (VecDeque::new(), None);
        Ok(())
    }

    /// Stores how it goes.
    pub(super) async fn save(&mut self) -> Result<(), Stop> {
        self.saved = elapsing();
        self.has_more_to_note = false;
        let saved =
            self.write(self.endpoint.clone(), |tx, queue, endpoint| boxed!(row::put(tx, queue.site, endpoint).await));
        saved.await
    }

    /// It is the endpoint that fails: from now on it is tried from time to time, next after `wait` if there is one. What
    /// else was on its way is cut off, so one failure of the endpoint is one here.
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
            self.is_cut_off = matches!(report.verdict, Verdict::Unreached | Verdict::Blocked);
        }
        self.save().await?;
        self.check_hope().await?;
        self.forget().await
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
        (self.open, self.is_cut_off) = (None, false);
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

    /// Before something is read or sent, not too often: whether the application is still there, and what it may hear.
    pub(super) async fn look(&mut self) -> Result<(), Stop> {
        self.looked = elapsing();
        let Some(app) = app(&self.core, &self.site.id, &self.endpoint.app).await? else {
            return self.disable(REVOKED, false).await;
        };
        match hearing(&self.core, &self.endpoint, &app).await {
            Ok(hearing) => {
                self.heard.hearing = hearing;
                (self.is_hearing_known, self.is_barred) = (true, false);
                Ok(())
            }
            // Nothing is read for it, so nothing is lost.
            Err(fault) if fault.code() == Code::OauthUnauthorized => {
                (self.heard.hearing, self.is_barred) = (Hearing::nothing(), true);
                self.failed(&Report::of(Verdict::Blocked, NOT_INSTALLED), None).await
            }
            // What was known is good for a while longer.
            Err(fault) if self.is_hearing_known => {
                tracing::debug!(site = %self.site.id, "what an application may hear can't be read: {fault:?}");
                Ok(())
            }
            Err(fault) => Err(fault.into()),
        }
    }

    /// Gives an endpoint up that took nothing for days, or is too far behind.
    async fn check_hope(&mut self) -> Result<(), Stop> {
        let (now, times) = (self.now(), &self.core.times);
        let health = &self.endpoint.health;
        // One that was resumed after a long time, or had nothing to take meanwhile, gets its chance.
        if health.probes < times.probes.len() {
            return Ok(());
        }
        if health.failing_since.is_some_and(|it| now - it > times.without_success) {
            let days = times.without_success / stoa_kernel::limit::DAY;
            return self.disable(&format!("Nothing has arrived for {days} days."), true).await;
        }
        let is_behind = self.window.front().is_some_and(|it| now - it.created > times.behind);
        if is_behind {
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
