//! What follows from how an attempt went.

use crate::{
    delivery::{
        attempt::{Report, Verdict},
        queue::{EventState, Queued},
        runner::{Flight, Job, Origin, Runner, Stop},
        schedule::{after, spread},
    },
    endpoint::EndpointState,
};
use std::sync::{Arc, atomic::Ordering::Relaxed};
use stoa_kernel::{Fault, Millis, clock::elapsing, limit::SECOND};
use stoa_store::{boxed, outbox::Entry};

impl Runner {
    /// An attempt has come to its end.
    pub(super) async fn landed(&mut self, flight: Flight, report: Report) -> Result<(), Stop> {
        if let Origin::Apart(it) = &flight.origin {
            self.flying_apart.remove(&it.key());
            // Until it is known better.
            self.due = Some(Millis::MIN);
        }
        let counts = &self.core.counts;
        match &report.verdict {
            Verdict::Taken => counts.taken.fetch_add(1, Relaxed),
            Verdict::Unreached => counts.unreached.fetch_add(1, Relaxed),
            Verdict::Blocked | Verdict::Busy => 0,
            _ => counts.refused.fetch_add(1, Relaxed),
        };
        match &report.verdict {
            Verdict::Taken => self.taken(flight).await,
            Verdict::Refused => self.refused(flight, &report).await,
            Verdict::Unwanted => self.unwanted(flight, &report).await,
            Verdict::Unreached | Verdict::Blocked => {
                self.give_back(&flight);
                self.failed(&report, None).await
            }
            Verdict::Later(wait) => {
                self.give_back(&flight);
                self.failed(&report, Some((*wait).min(self.core.times.longest_wait))).await
            }
            Verdict::Gone => self.disable(&report.what, false).await,
            Verdict::Busy => {
                self.give_back(&flight);
                self.rests_until = elapsing() + SECOND;
                Ok(())
            }
        }
    }

    async fn taken(&mut self, flight: Flight) -> Result<(), Stop> {
        self.streak.taken();
        self.endpoint.health.last_success = Some(self.now());
        self.endpoint.health.failing_since = None;
        self.has_more_to_note = true;
        match flight.origin {
            Origin::Log(job) => self.window.done(&job.event.entity),
            Origin::Apart(event) => self.finish(&event).await?,
        }
        match self.endpoint.state == EndpointState::Open || self.is_noted_failing {
            true => self.recovered().await,
            false => Ok(()),
        }
    }

    /// It may be the event alone.
    async fn refused(&mut self, flight: Flight, report: &Report) -> Result<(), Stop> {
        let now = self.now();
        self.endpoint.health.failing_since.get_or_insert(now);
        if flight.is_probe || self.endpoint.state == EndpointState::Open {
            self.give_back(&flight);
            return if flight.is_probe { self.failed(report, None).await } else { Ok(()) };
        }
        self.endpoint.health.last_failure = Some(now);
        self.endpoint.health.last_error = Some(report.error());
        match flight.origin {
            Origin::Apart(event) => self.refused_again(&event, report).await,
            Origin::Log(job) => {
                let failures = self.window.failed(&job.event.entity);
                if self.streak.failed(&job.event.id) {
                    self.window.give_back(&job.event.entity);
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
        }
    }

    /// Sets an event apart that alone fails, with those of its entity that were read; later ones are held behind it.
    async fn park(&mut self, job: &Job, report: &Report) -> Result<(), Stop> {
        let (entity, now) = (&job.event.entity, self.now());
        let mut queued = self.queued(&self.window.events(entity)).await?;
        let due = now + spread(after(1, &self.core.times.parked).unwrap_or_default(), &self.core.world);
        if let Some(first) = queued.first_mut() {
            *first = first.clone().parked(due, Some(report.what.clone()));
        }
        let count = queued.len();
        let parked = self.write(queued, |tx, queue, queued| {
            boxed!({
                for event in queued {
                    queue.put(tx, event).await?;
                }
                Ok(())
            })
        });
        parked.await?;
        tracing::info!(
            site = %self.site.id, endpoint = %self.endpoint.id, event = job.event.id, held = count - 1,
            "an event that alone failed is set apart: {}", report.what
        );
        self.core.counts.parked.fetch_add(1, Relaxed);
        self.window.remove(entity);
        *self.apart.entry(entity.clone()).or_default() += count;
        self.due = Some(self.due.map_or(due, |it| it.min(due)));
        self.save().await
    }

    /// One that waits apart failed again.
    async fn refused_again(&mut self, event: &Queued, report: &Report) -> Result<(), Stop> {
        let failures = usize::try_from(event.attempts).unwrap_or_default() + 2;
        let Some(wait) = after(failures, &self.core.times.parked) else { return self.give_up(event, report).await };
        let due = self.now() + spread(wait, &self.core.world);
        let postponed = self.write((event.clone(), due, report.what.clone()), |tx, queue, (event, due, what)| {
            boxed!(queue.postpone(tx, event, *due, what).await)
        });
        postponed.await
    }

    /// The receiver doesn't want it: it is given up at once.
    async fn unwanted(&mut self, flight: Flight, report: &Report) -> Result<(), Stop> {
        let job = match flight.origin {
            Origin::Apart(event) => return self.give_up(&event, report).await,
            Origin::Log(job) => job,
        };
        let now = self.now();
        let queued = self.queued(std::slice::from_ref(&job)).await?;
        let dead = self.write((queued, report.what.clone(), now), |tx, queue, (queued, what, now)| {
            boxed!({
                for event in queued {
                    queue.put(tx, event).await?;
                    queue.give_up(tx, event, what, *now).await?;
                }
                Ok(())
            })
        });
        dead.await?;
        self.core.counts.died.fetch_add(1, Relaxed);
        self.window.done(&job.event.entity);
        Ok(())
    }

    async fn give_up(&mut self, event: &Queued, report: &Report) -> Result<(), Stop> {
        let given_up = self.write((event.clone(), report.what.clone(), self.now()), |tx, queue, (event, what, now)| {
            boxed!(queue.give_up(tx, event, what, *now).await)
        });
        given_up.await?;
        tracing::warn!(
            site = %self.site.id, endpoint = %self.endpoint.id, event = event.event_id(&self.site.id),
            "an event is given up: {}", report.what
        );
        self.core.counts.died.fetch_add(1, Relaxed);
        self.left(&event.entity);
        Ok(())
    }

    /// One that waits apart is done with.
    pub(super) async fn finish(&mut self, event: &Queued) -> Result<(), Stop> {
        let finished = self
            .write((event.clone(), self.now()), |tx, queue, (event, now)| boxed!(queue.finish(tx, event, *now).await));
        finished.await?;
        self.left(&event.entity);
        Ok(())
    }

    /// One of an entity waits apart no longer; the next of it is due.
    fn left(&mut self, entity: &str) {
        if let Some(count) = self.apart.get_mut(entity) {
            *count -= 1;
            if *count == 0 {
                self.apart.remove(entity);
            }
        }
        self.due = Some(Millis::MIN);
    }

    /// It may be sent again.
    pub(super) fn give_back(&mut self, flight: &Flight) {
        if let Origin::Log(job) = &flight.origin {
            self.window.give_back(&job.event.entity);
        }
    }

    /// Events of the log as they are kept apart: their rows are read again.
    async fn queued(&mut self, jobs: &[Arc<Job>]) -> Result<Vec<Queued>, Stop> {
        let (mut queued, now) = (Vec::with_capacity(jobs.len()), self.now());
        let mut row: Option<Entry> = None;
        for job in jobs {
            if row.as_ref().is_none_or(|it| it.sequence != job.event.sequence) {
                let batch = self.site.outbox().read(job.row.before_row(), &self.kinds, 1).await?;
                row = batch.entries.into_iter().find(|it| it.sequence == job.event.sequence);
            }
            let gone = || Fault::internal(format!("the row of event {} is gone", job.event.id));
            let row = row.as_ref().ok_or_else(gone)?;
            queued.push(Queued { state: EventState::Held, ..Queued::new(&job.event, row, now)? });
        }
        Ok(queued)
    }
}
