//! What follows from how an attempt went.

use crate::{
    delivery::{
        attempt::{Report, Verdict},
        runner::{Origin, Runner, Stop},
        schedule::{after, spread},
    },
    endpoint::EndpointState,
};
use std::sync::atomic::Ordering::Relaxed;
use stoa_kernel::{Millis, clock::elapsing, limit::SECOND};

/// Events that are remembered because an endpoint that fails has refused them.
const TRIED: usize = 256;

impl Runner {
    /// An attempt has come to its end.
    pub(super) async fn landed(&mut self, origin: Origin, report: Report) -> Result<(), Stop> {
        if let Origin::Apart(it) = &origin {
            self.flying_apart.remove(&it.entity);
            // Until it is known better.
            self.due = Some(Millis::MIN);
        }
        self.is_lively = true;
        let counts = &self.core.counts;
        match &report.verdict {
            Verdict::Taken => counts.taken.fetch_add(1, Relaxed),
            Verdict::Unreached => counts.unreached.fetch_add(1, Relaxed),
            Verdict::Blocked | Verdict::Busy => 0,
            _ => counts.refused.fetch_add(1, Relaxed),
        };
        match &report.verdict {
            Verdict::Taken => self.taken(origin).await,
            Verdict::Refused => self.refused(origin, &report).await,
            Verdict::Unwanted => {
                self.unwanted(&origin, &report).await?;
                self.answered().await
            }
            Verdict::Unreached | Verdict::Blocked => self.failed(&report, None).await,
            Verdict::Later(wait) => {
                // Who says "at once" each time is called no sooner than who says nothing.
                let shortest = after(1, &self.core.times.probes).unwrap_or(SECOND);
                self.failed(&report, Some((*wait).min(self.core.times.longest_wait).max(shortest))).await
            }
            Verdict::Gone => self.disable(&report.what, false).await,
            Verdict::Busy => {
                self.give_back(&origin);
                self.rests_until = elapsing() + SECOND;
                Ok(())
            }
        }
    }

    async fn taken(&mut self, origin: Origin) -> Result<(), Stop> {
        self.endpoint.health.last_success = Some(self.now());
        self.has_more_to_note = true;
        match origin {
            Origin::Log(job) => {
                self.tried.retain(|it| *it != job.key());
                self.window.done(&job.event.entity);
            }
            Origin::Apart(event) => self.finish(&event).await?,
        }
        self.answered().await
    }

    /// The receiver said of an event what becomes of it: it works.
    async fn answered(&mut self) -> Result<(), Stop> {
        self.streak.taken();
        match self.endpoint.state {
            EndpointState::Open => self.recovered().await,
            _ => Ok(()),
        }
    }

    /// It may be the event alone.
    async fn refused(&mut self, origin: Origin, report: &Report) -> Result<(), Stop> {
        if self.is_cut_off && report.status.is_some() && self.endpoint.state == EndpointState::Open {
            // It is there again. Whether it takes events is found out like that of any other.
            self.recovered().await?;
        }
        match self.endpoint.state {
            EndpointState::Open => self.probe_refused(origin, report).await,
            _ => self.refused_alone(origin, report).await,
        }
    }

    /// The one event that an endpoint that fails is tried with.
    async fn probe_refused(&mut self, origin: Origin, report: &Report) -> Result<(), Stop> {
        match origin {
            Origin::Log(job) => {
                self.tried.retain(|it| *it != job.key());
                self.tried.push(job.key());
                if self.tried.len() > TRIED {
                    self.tried.remove(0);
                }
            }
            // Before that it would be given up sooner than in two days.
            Origin::Apart(event) if event.due.is_none_or(|it| it <= self.now()) => {
                self.refused_again(&event, report).await?;
            }
            Origin::Apart(_) => {}
        }
        self.failed(report, None).await
    }

    /// An event, while others are taken as far as is known.
    async fn refused_alone(&mut self, origin: Origin, report: &Report) -> Result<(), Stop> {
        self.endpoint.health.last_failure = Some(self.now());
        self.endpoint.health.last_error = Some(report.error());
        let job = match origin {
            Origin::Apart(event) => return self.refused_again(&event, report).await,
            Origin::Log(job) => job,
        };
        if self.tried.contains(&job.key()) {
            // It was refused before another one was taken.
            return self.park(&job, report).await;
        }
        let failures = self.window.failed(&job.event.entity);
        if self.streak.failed(&job.event.id) {
            return self.failed(report, None).await;
        }
        match after(failures, &self.core.times.early) {
            Some(wait) => {
                let at = elapsing() + spread(wait, &self.core.world);
                self.retries.push((at, job.event.entity.clone()));
                Ok(())
            }
            None => self.park(&job, report).await,
        }
    }

    /// It may be sent again.
    fn give_back(&mut self, origin: &Origin) {
        if let Origin::Log(job) = origin {
            self.window.give_back(&job.event.entity);
        }
    }
}
