//! Reading the log as far as there is room, and sending what was read.

use crate::{
    delivery::{
        queue::Queued,
        runner::{CALLS, CALLS_APART, Job, Origin, Place, Runner, Stop},
    },
    endpoint::EndpointState,
    message::source::piece,
};
use std::sync::Arc;
use stoa_kernel::{Millis, clock::elapsing};
use stoa_store::outbox::{Entry, Read};

/// Events that are read ahead, and their bytes: what an endpoint costs in memory, beside the rows of one read.
const AHEAD: usize = 256;
const AHEAD_BYTES: usize = 2 << 20;
/// Events behind the place, those that were taken among them: what is sent again when a node dies.
const KEPT: usize = 4_096;
/// How long rows gather before they are read, once all were: a read costs those who write as much for one as for many.
const GATHER: Millis = 20;
/// Rows of one read, and items that are made events of at once, and bytes of theirs.
const ROWS: usize = 64;
const PIECE: (usize, usize) = (64, 512 << 10);

impl Runner {
    /// Whether more events may be read from the log.
    pub(super) fn has_room(&self) -> bool {
        let has_room = self.window.count() < AHEAD && self.window.bytes() < AHEAD_BYTES && self.window.kept() < KEPT;
        let is_wanted = match self.endpoint.state {
            // One to try it with, when it is time; and none is given up for that.
            EndpointState::Open => {
                let is_full = self.apart_count() + PIECE.0 > self.core.limits.webhook_parked;
                self.is_probe_due() && !self.has_untried() && (self.apart.is_empty() || !is_full)
            }
            _ => true,
        };
        has_room && is_wanted
    }

    /// Whether there may be more to read.
    pub(super) fn has_more(&self) -> bool {
        !self.is_end || self.current.is_some() || !self.rows.is_empty()
    }

    /// Whether there may be something to read now, and room for it.
    pub(super) fn may_fill(&self) -> bool {
        let has_rows = self.current.is_some() || !self.rows.is_empty();
        self.has_more() && self.has_room() && (has_rows || elapsing() >= self.gathers_until)
    }

    /// One step: reads rows, or makes events of a piece of one.
    pub(super) async fn fill(&mut self) -> Result<(), Stop> {
        if let Some((entry, next)) = self.current.take() {
            return self.expand(entry, next).await;
        }
        match self.rows.pop_front() {
            Some(entry) => {
                self.window.begin(Place { position: entry.position(), created: entry.created });
                self.expand(entry, 0).await
            }
            None => self.read().await,
        }
    }

    async fn read(&mut self) -> Result<(), Stop> {
        match self.held.read(self.read_to.position, &self.kinds, ROWS).await? {
            Read::Batch(batch) => {
                self.read_to = Place { position: batch.end, created: self.now() };
                self.is_end = batch.is_last;
                if batch.is_last {
                    self.gathers_until = elapsing() + GATHER;
                }
                self.rows.extend(batch.entries);
            }
            Read::Gap(gap) => {
                self.missed().await?;
                self.read_to = Place { position: gap.oldest, created: self.now() };
            }
        }
        self.pass();
        Ok(())
    }

    /// Makes events of a row, from a place on.
    async fn expand(&mut self, entry: Entry, next: usize) -> Result<(), Stop> {
        let piece = piece(&self.core, &self.site, &self.heard, &entry, (next, PIECE)).await?;
        let (mut behind, now) = (Vec::new(), self.now());
        for event in piece.events {
            match self.apart.contains_key(&event.entity) {
                true => behind.push(Queued::new(&event, &entry, now)?),
                false => {
                    let (entity, size) = (event.entity.clone(), event.size());
                    self.window.add(&entity, size, Arc::new(Job { event: Arc::new(event), row: entry.position() }));
                }
            }
        }
        if !behind.is_empty() {
            self.hold(behind).await?;
        }
        match piece.is_last {
            true => {
                self.window.end();
                self.pass();
            }
            false => self.current = Some((entry, piece.next)),
        }
        Ok(())
    }

    /// Where nothing is left of what was read, the place moves behind all of it.
    fn pass(&mut self) {
        if self.rows.is_empty() && self.current.is_none() {
            self.window.pass(self.read_to);
        }
    }

    /// Sends what may be sent now.
    pub(super) async fn send(&mut self) -> Result<(), Stop> {
        if elapsing() < self.rests_until {
            return Ok(());
        }
        self.retry();
        if self.endpoint.state == EndpointState::Open {
            return self.probe().await;
        }
        if self.due.is_some_and(|it| it <= self.now()) && self.has_calls_apart() {
            self.send_apart(self.now(), CALLS_APART).await?;
        }
        while self.flights.len() < CALLS {
            let Some(job) = self.window.next() else { break };
            match self.heard.still_hears(&job.event) {
                true => self.launch(Origin::Log(job.clone()), job.event.clone()),
                false => self.window.done(&job.event.entity),
            }
        }
        Ok(())
    }

    /// Whether one more of those that wait apart may be on its way.
    pub(super) fn has_calls_apart(&self) -> bool {
        self.flying_apart.len() < CALLS_APART && self.flights.len() < CALLS
    }

    /// Whether it is time to try an endpoint that fails.
    pub(super) fn is_probe_due(&self) -> bool {
        self.flights.is_empty() && self.endpoint.health.next_probe.is_none_or(|it| it <= self.now())
    }

    /// Whether an event was read that the endpoint was not tried with since it fails.
    fn has_untried(&self) -> bool {
        self.window.has_where(|job| !self.tried.contains(&job.key()))
    }

    /// Tries an endpoint that fails with one event: another each time, as one alone may be why. What was refused already
    /// comes when nothing else is there, that which was tried last at the end.
    async fn probe(&mut self) -> Result<(), Stop> {
        if !self.is_probe_due() || (self.has_more() && self.has_room()) {
            return Ok(());
        }
        let mut job = self.window.next_where(|job| !self.tried.contains(&job.key()));
        if job.is_none() && !self.apart.is_empty() {
            self.send_apart(Millis::MAX, 1).await?;
            if !self.flights.is_empty() {
                return Ok(());
            }
        }
        for key in &self.tried {
            job = job.or_else(|| self.window.next_where(|job| job.key() == *key));
        }
        if let Some(job) = job {
            self.launch(Origin::Log(job.clone()), job.event.clone());
        }
        Ok(())
    }

    /// Gives back those whose next attempt is due.
    fn retry(&mut self) {
        let now = elapsing();
        let due: Vec<String> = self.retries.extract_if(.., |it| it.0 <= now).map(|it| it.1).collect();
        for entity in due {
            self.window.give_back(&entity);
        }
    }
}
