//! Reading the log, and what waits apart, as far as there is room.

use crate::{
    delivery::{
        queue::{EventState, Queue, Queued},
        runner::{CALLS, CALLS_APART, Job, Origin, Place, Runner, Stop},
    },
    endpoint::EndpointState,
    message::source::{one, piece},
};
use std::sync::Arc;
use stoa_kernel::{Millis, clock::elapsing};
use stoa_store::{
    ReaderPool, boxed,
    outbox::{Entry, Read},
};

/// Events that are read ahead, and their bytes: what an endpoint costs in memory, beside the rows of one read.
const AHEAD: usize = 256;
const AHEAD_BYTES: usize = 2 << 20;
/// Events behind the place, those that were taken among them: what is sent again when a node dies.
const KEPT: usize = 4_096;
/// Rows of one read, and items that are made events of at once, and bytes of theirs.
const ROWS: usize = 64;
const PIECE: (usize, usize) = (64, 512 << 10);

impl Runner {
    /// Whether more events may be read from the log.
    pub(super) fn has_room(&self) -> bool {
        let is_full = self.apart_count() >= self.core.limits.webhook_parked;
        let has_room = match self.endpoint.state {
            // One to try it with.
            EndpointState::Open => self.window.count() == 0,
            _ => self.window.count() < AHEAD && self.window.bytes() < AHEAD_BYTES && self.window.kept() < KEPT,
        };
        has_room && !is_full
    }

    /// Whether there may be more to read.
    pub(super) fn has_more(&self) -> bool {
        !self.is_end || self.current.is_some() || !self.rows.is_empty()
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

    /// Puts events behind those of their entities that wait apart.
    async fn hold(&mut self, events: Vec<Queued>) -> Result<(), Stop> {
        for event in &events {
            *self.apart.entry(event.entity.clone()).or_default() += 1;
        }
        let now = self.now();
        let held = self.write((events, now), |tx, queue, (events, now)| {
            boxed!({
                for event in events {
                    queue.put(tx, event).await?;
                    queue.follow(tx, &event.entity, *now).await?;
                }
                Ok(())
            })
        });
        held.await
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
        if self.due.is_some_and(|it| it <= self.now()) && self.flying_apart.len() < CALLS_APART {
            self.send_apart(self.now(), CALLS_APART, false).await?;
        }
        while self.flights.len() < CALLS {
            let Some((job, _)) = self.window.next() else { break };
            let event = job.event.clone();
            self.launch(Origin::Log(job), event, false);
        }
        Ok(())
    }

    /// Tries an endpoint that fails with one event: another each time, as one alone may be why.
    async fn probe(&mut self) -> Result<(), Stop> {
        let is_time = self.endpoint.health.next_probe.is_none_or(|it| it <= self.now());
        if !is_time || !self.flights.is_empty() {
            return Ok(());
        }
        match self.window.next() {
            Some((job, _)) => {
                let event = job.event.clone();
                self.launch(Origin::Log(job), event, true);
            }
            None if !self.apart.is_empty() => self.send_apart(Millis::MAX, 1, true).await?,
            // There is nothing to try it with.
            None => {}
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

    /// Sends events that wait apart and are due by then, until so many are on their way.
    async fn send_apart(&mut self, until: Millis, calls: usize, is_probe: bool) -> Result<(), Stop> {
        let (site, endpoint) = (self.site.id.clone(), self.endpoint.id.clone());
        let limit = (calls + self.flying_apart.len() + 1) as i64;
        let read = self.site.read(ReaderPool::Point, move |tx| {
            boxed!(Queue { site: &site, endpoint: &endpoint }.first(tx, limit).await)
        });
        let first = read.await?;
        self.due = None;
        for event in first {
            if self.flying_apart.contains(&event.key()) {
                continue;
            }
            let due = event.due.unwrap_or_default();
            if due > until || self.flying_apart.len() >= calls {
                self.due = Some(due);
                break;
            }
            let place = usize::try_from(event.place).unwrap_or_default();
            debug_assert_eq!(event.state, EventState::Parked);
            match one(&self.core, &self.site, &self.heard, &event.entry(&self.site.id), place).await? {
                Some(made) => self.launch(Origin::Apart(Box::new(event)), Arc::new(made), is_probe),
                // What it tells of is gone.
                None => self.finish(&event).await?,
            }
        }
        Ok(())
    }
}
