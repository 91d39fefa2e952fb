//! What waits apart, as the one who sends for an endpoint changes it. How much of an entity waits is read back from the
//! table by each change: what was put there twice, or by a replay, is counted once.

use crate::{
    delivery::{
        attempt::Report,
        queue::{EventState, Next, Queue, Queued},
        runner::{CALLS, Job, Origin, Runner, Stop},
        schedule::{after, spread},
    },
    message::source::one,
};
use std::sync::{Arc, atomic::Ordering::Relaxed};
use stoa_kernel::{Fault, Millis, clock::elapsing};
use stoa_store::{ReaderPool, Tx, TxFuture, boxed, outbox::Entry};

/// How often an event is tried that waited behind one that was given up.
const AS_A_FOLLOWER: usize = 2;
/// Dead events that one transaction forgets.
const FORGOTTEN: usize = 500;

impl Runner {
    /// Reads what waits, where it may be otherwise than it was taken for; has an event of each entity tried; and forgets
    /// the oldest dead ones where there are more than may be kept.
    pub(super) async fn refresh(&mut self) -> Result<(), Stop> {
        self.refreshed = elapsing();
        let (site, endpoint) = (self.site.id.clone(), self.endpoint.id.clone());
        let read = self.site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let queue = Queue { site: &site, endpoint: &endpoint };
                Ok((queue.entities(tx).await?, queue.count_dead(tx).await?))
            })
        });
        let (entities, dead) = read.await?;
        let idle: Vec<String> = entities.iter().filter(|it| !it.2).map(|it| it.0.clone()).collect();
        if !idle.is_empty() {
            let followed = self.write((idle, self.now()), |tx, queue, (idle, now)| {
                boxed!({
                    for entity in idle {
                        queue.follow(tx, entity, *now).await?;
                    }
                    Ok(())
                })
            });
            followed.await?;
        }
        let mut over = dead.saturating_sub(self.core.limits.webhook_parked);
        while over > 0 {
            let count = over.min(FORGOTTEN);
            self.write(count as i64, |tx, queue, count| boxed!(queue.forget_dead(tx, *count).await)).await?;
            over -= count;
        }
        self.apart = entities.into_iter().map(|it| (it.0, it.1)).collect();
        self.has_changed_apart = false;
        self.due = (!self.apart.is_empty()).then_some(Millis::MIN);
        Ok(())
    }

    /// Changes what waits of some entities, where so many events may be added. Where there are too many then, the oldest
    /// of who has the most are given up: reading never stops because of one entity.
    async fn change_apart<I, T, F>(&mut self, entities: Vec<String>, added: usize, input: I, body: F) -> Result<T, Stop>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx<'_>, &'t Queue<'t>, &'t I) -> TxFuture<'t, T> + Send + Sync + 'static,
    {
        let most = self.core.limits.webhook_parked;
        let room = (added > 0 && self.apart_count() + added > most).then_some((most, self.now()));
        let changed = self.write((entities, room, input, body), |tx, queue, (entities, room, input, body)| {
            boxed!({
                let answer = body(tx, queue, input).await?;
                let (mut given_up, mut others) = (0, Vec::new());
                if let Some((most, now)) = room {
                    given_up = queue.count(tx).await?.saturating_sub(*most);
                    others = queue.make_room(tx, given_up, *now).await?;
                }
                let mut counts = Vec::with_capacity(entities.len() + others.len());
                for entity in entities.iter().chain(&others) {
                    counts.push((entity.clone(), queue.count_of(tx, entity).await?));
                }
                Ok((answer, counts, given_up))
            })
        });
        let (answer, counts, given_up) = changed.await?;
        for (entity, count) in counts {
            match count {
                0 => self.apart.remove(&entity),
                _ => self.apart.insert(entity, count),
            };
        }
        if given_up > 0 {
            tracing::warn!(
                site = %self.site.id, endpoint = %self.endpoint.id, given_up, "too many events of an endpoint wait apart"
            );
            self.core.counts.died.fetch_add(given_up as u64, Relaxed);
        }
        self.has_changed_apart = true;
        self.due = Some(Millis::MIN);
        Ok(answer)
    }

    /// Puts events behind those of their entities that wait apart.
    pub(super) async fn hold(&mut self, events: Vec<Queued>) -> Result<(), Stop> {
        let (mut entities, count): (Vec<String>, _) =
            (events.iter().map(|it| it.entity.clone()).collect(), events.len());
        entities.sort_unstable();
        entities.dedup();
        let held = self.change_apart(entities, count, (events, self.now()), |tx, queue, (events, now)| {
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

    /// Sets an event apart that alone fails, with those of its entity that were read; later ones are held behind it.
    pub(super) async fn park(&mut self, job: &Job, report: &Report) -> Result<(), Stop> {
        let (entity, now) = (&job.event.entity, self.now());
        let mut queued = self.queued(&self.window.events(entity)).await?;
        let due = now + spread(after(1, &self.core.times.parked).unwrap_or_default(), &self.core.world);
        if let Some(first) = queued.first_mut() {
            *first = first.clone().parked(due, Some(report.what.clone()));
        }
        let count = queued.len();
        let parked = self.change_apart(vec![entity.clone()], count, queued, |tx, queue, queued| {
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
        self.tried.retain(|it| *it != job.key());
        self.save().await
    }

    /// One that waits apart failed again.
    pub(super) async fn refused_again(&mut self, event: &Queued, report: &Report) -> Result<(), Stop> {
        let (now, parked) = (self.now(), &self.core.times.parked);
        let tries = usize::try_from(event.attempts).unwrap_or_default() + 1;
        let wait = |failures| after(failures, parked).map(|it| spread(it, &self.core.world));
        let as_a_follower = if tries < AS_A_FOLLOWER { wait(tries) } else { None };
        let next = Next { now, wait: wait(tries + 1), as_a_follower };
        let input = (event.clone(), next, report.what.clone());
        let refused = self.change_apart(vec![event.entity.clone()], 0, input, |tx, queue, (event, next, what)| {
            boxed!(queue.refuse(tx, event, next, what).await)
        });
        if refused.await? {
            self.told_given_up(event, report);
        }
        Ok(())
    }

    /// The receiver doesn't want it: it is given up at once.
    pub(super) async fn unwanted(&mut self, origin: &Origin, report: &Report) -> Result<(), Stop> {
        let (event, job) = match origin {
            Origin::Apart(event) => ((**event).clone(), None),
            Origin::Log(job) => {
                let queued = self.queued(std::slice::from_ref(job)).await?.pop();
                (queued.ok_or_else(|| Fault::internal("an event without a row"))?, Some(job))
            }
        };
        let input = (event.clone(), report.what.clone(), self.now());
        let dead = self.change_apart(vec![event.entity.clone()], 0, input, |tx, queue, (event, what, now)| {
            boxed!({
                queue.put(tx, event).await?;
                queue.give_up(tx, event, what, *now).await
            })
        });
        dead.await?;
        if let Some(job) = job {
            self.window.done(&job.event.entity);
            self.tried.retain(|it| *it != job.key());
        }
        self.told_given_up(&event, report);
        Ok(())
    }

    fn told_given_up(&self, event: &Queued, report: &Report) {
        tracing::warn!(
            site = %self.site.id, endpoint = %self.endpoint.id, event = event.event_id(&self.site.id),
            "an event is given up: {}", report.what
        );
        self.core.counts.died.fetch_add(1, Relaxed);
    }

    /// One that waits apart is done with.
    pub(super) async fn finish(&mut self, event: &Queued) -> Result<(), Stop> {
        let input = (event.clone(), self.now());
        let finished = self.change_apart(vec![event.entity.clone()], 0, input, |tx, queue, (event, now)| {
            boxed!(queue.finish(tx, event, *now).await)
        });
        finished.await
    }

    /// Sends events that wait apart and are due by then, until so many are on their way.
    pub(super) async fn send_apart(&mut self, until: Millis, calls: usize) -> Result<(), Stop> {
        let (site, endpoint) = (self.site.id.clone(), self.endpoint.id.clone());
        let limit = (calls + self.flying_apart.len() + 1) as i64;
        let read = self.site.read(ReaderPool::Point, move |tx| {
            boxed!(Queue { site: &site, endpoint: &endpoint }.first(tx, limit).await)
        });
        let first = read.await?;
        self.due = None;
        if first.is_empty() && !self.apart.is_empty() {
            // It was changed by somebody else.
            return self.refresh().await;
        }
        for event in first {
            if self.flying_apart.contains(&event.entity) {
                continue;
            }
            let due = event.due.unwrap_or_default();
            if due > until || self.flying_apart.len() >= calls || self.flights.len() >= CALLS {
                self.due = Some(due);
                break;
            }
            let place = usize::try_from(event.place).unwrap_or_default();
            debug_assert_eq!(event.state, EventState::Parked);
            match one(&self.core, &self.site, &self.heard, &event.entry(&self.site.id), place).await? {
                Some(made) => self.launch(Origin::Apart(Box::new(event)), Arc::new(made)),
                // What it tells of is gone.
                None => self.finish(&event).await?,
            }
        }
        Ok(())
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
