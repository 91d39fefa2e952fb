//! The consumers of logs that this node works for.
//!
//! What works for a kind of consumers says so ([`Consumers::serve`]). From then on the node looks who holds which, takes
//! what no node holds, in random order and no more than its share, renews what it holds, and lets go of what it holds
//! beyond its share. A node that dies shows no sign of life any more, and others take over what it held, each judging by
//! its own clock that only goes forward. A holder that stood still for too long may go on for a moment: its place
//! doesn't move, since the number of its lease isn't the stored one any more.
//!
//! On SQLite no other process is at the data: what an earlier process held is free, and leases last.

use crate::{
    Store,
    lease::{ConsumerRow, LeaseTimes},
    sights::{Key, Sights},
    site_log,
    tasks::{State, Task},
    worker::{Held, Names, Worker},
};
use parking_lot::Mutex;
use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Weak,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};
use stoa_kernel::{Millis, Result, SiteId, World, clock::elapsing};
use tokio::sync::Notify;

/// Consumers that a node works for at the same time.
const MOST: usize = 64;
/// How long one look may take.
const LONGEST_LOOK: Duration = Duration::from_secs(5);
/// So many renewals a consumer keeps its node when others wait for a free place: two minutes, in which what works for it
/// can come to an end with three attempts of half a minute each.
const TURN: Millis = 24;
/// Consumers that give way to others at one renewal.
const TURNS: usize = 8;

/// What this node works for. Clones are the same.
#[derive(Clone)]
pub struct Consumers(Arc<Shared>);

/// For as long as it lives, its worker gets consumers.
pub struct Serving {
    shared: Arc<Shared>,
    id: u64,
}

impl Consumers {
    /// Of a node that works for none yet.
    pub fn new(store: Arc<Store>, world: World, times: LeaseTimes) -> Self {
        let (state, changing, woken) = (Mutex::default(), tokio::sync::Mutex::default(), Arc::default());
        Self(Arc::new(Shared { store, world, times, state, changing, woken }))
    }

    /// Lets a worker work for consumers, from within a runtime.
    pub fn serve(&self, names: Names, worker: Arc<dyn Worker>) -> Serving {
        let mut state = self.0.state.lock();
        state.last += 1;
        let id = state.last;
        state.workers.insert(id, (names, worker));
        if !state.is_running {
            state.is_running = true;
            tokio::spawn(run(Arc::downgrade(&self.0)));
        }
        self.0.woken.notify_one();
        Serving { shared: self.0.clone(), id }
    }

    /// The consumers that this node holds, by site and name.
    pub fn held(&self) -> Vec<(SiteId, String)> {
        self.0.state.lock().tasks.keys().cloned().collect()
    }

    /// Stops all work and gives all leases back. Before [`Store::leave`].
    pub async fn leave(&self) {
        self.0.state.lock().workers.clear();
        self.0.stop(|_| true).await;
        if let Some(pool) = self.0.store.pool()
            && let Err(error) = pool.consumers_release(self.0.store.node()).await
        {
            tracing::debug!("leases could not be given back: {error:?}");
        }
    }
}

impl Serving {
    /// Stops the work and gives its leases back.
    pub async fn end(self) {
        let (shared, id) = (self.shared.clone(), self.id);
        drop(self);
        shared.stop(|it| it.worker == id).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.shared.state.lock().workers.remove(&self.id);
        self.shared.woken.notify_one();
    }
}

struct Shared {
    store: Arc<Store>,
    world: World,
    times: LeaseTimes,
    state: Mutex<State>,
    /// Held while a lease is taken or given back: who ends a worker waits for what is on its way.
    changing: tokio::sync::Mutex<()>,
    woken: Arc<Notify>,
}

/// What a loop remembers from look to look.
struct Memory {
    sights: Sights,
    renewed: Millis,
    /// Consumers that this node leaves alone until then.
    resting: HashMap<Key, Millis>,
    /// Sites that have none for any worker, which need not be opened until then.
    idle: HashMap<SiteId, Millis>,
}

/// Looks from time to time, until nothing is to be worked for.
async fn run(shared: Weak<Shared>) {
    let mut memory = None;
    loop {
        let Some(all) = shared.upgrade() else { return };
        if all.is_over() {
            if let Some(pool) = all.store.pool() {
                let _ = pool.node_works(all.store.node(), false).await;
            }
            return;
        }
        let memory = memory.get_or_insert_with(|| all.memory());
        all.stop_ended(memory).await;
        match tokio::time::timeout(LONGEST_LOOK, all.look(memory)).await {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => tracing::debug!("who works for which consumer can't be asked: {fault:?}"),
            Err(_) => tracing::debug!("who works for which consumer can't be asked in time"),
        }
        let (woken, look) = (all.woken.clone(), Duration::from_millis(all.times.look.unsigned_abs()));
        drop(all);
        let _ = tokio::time::timeout(look, woken.notified()).await;
    }
}

impl Shared {
    fn memory(&self) -> Memory {
        let sights = Sights::new(self.store.node(), self.times, self.store.pool().is_none());
        let renewed = elapsing() - self.times.renewal;
        Memory { sights, renewed, resting: HashMap::new(), idle: HashMap::new() }
    }

    /// Whether the loop has nothing left to do; then it is begun again when there is.
    fn is_over(&self) -> bool {
        let mut state = self.state.lock();
        state.is_running = !(state.workers.is_empty() && state.tasks.is_empty());
        !state.is_running
    }

    /// Ends what has ended, what has lost its worker, and what is no longer held.
    async fn stop_ended(&self, memory: &mut Memory) {
        let now = elapsing();
        let workers: HashSet<u64> = self.state.lock().workers.keys().copied().collect();
        let is_over = |it: &Task| {
            it.work.is_finished() || !workers.contains(&it.worker) || now >= it.until.load(Ordering::SeqCst)
        };
        for key in self.stop(is_over).await {
            memory.resting.insert(key, now + self.times.renewal);
        }
    }

    /// One look at all consumers, and what follows from it.
    async fn look(&self, memory: &mut Memory) -> Result<()> {
        if let Some(pool) = self.store.pool() {
            if elapsing() - memory.renewed >= self.times.renewal {
                memory.renewed = elapsing();
                self.renew(memory).await?;
            }
            memory.sights.note_nodes(pool.nodes().await?, elapsing());
        }
        let rows = self.rows(memory).await?;
        self.drop_lost(&rows);
        let now = elapsing();
        {
            let state = self.state.lock();
            memory.sights.note(&rows, |key| state.tasks.contains_key(key), now);
        }
        memory.resting.retain(|_, until| *until > now);
        self.take(rows, memory).await
    }

    /// Renews what this node holds, and lets go of what it has too much of.
    async fn renew(&self, memory: &mut Memory) -> Result<()> {
        let Some(pool) = self.store.pool() else { return Ok(()) };
        let sent = elapsing();
        let renewed = pool.consumers_renew(self.store.node()).await?;
        let shares_out = self.state.lock().workers.values().any(|it| it.0.is_shared());
        pool.node_works(self.store.node(), shares_out).await?;
        let numbers: HashMap<Key, i64> = renewed.into_iter().map(|it| ((it.site, it.name), it.number)).collect();
        for (key, task) in &self.state.lock().tasks {
            if numbers.get(key) == Some(&task.lease.number) {
                task.until.fetch_max(sent + self.times.life, Ordering::SeqCst);
            }
        }
        let surplus = {
            let state = self.state.lock();
            let mut shared: Vec<_> = state.tasks.iter().filter(|it| it.1.is_shared).collect();
            let share = memory.sights.share(memory.sights.count(|key| state.is_shared(key)), sent);
            // Those that were taken last go first.
            shared.sort_by_key(|it| -it.1.since);
            let count = shared.len().saturating_sub(share);
            shared.into_iter().take(count).map(|it| it.0.clone()).collect::<HashSet<Key>>()
        };
        self.rest(surplus, memory).await;
        Ok(())
    }

    /// Gives leases back, for other nodes to take.
    async fn rest(&self, keys: HashSet<Key>, memory: &mut Memory) {
        let until = elapsing() + 2 * self.times.renewal;
        let is_meant = |it: &Task| keys.contains(&(it.site.id.clone(), it.lease.consumer.clone()));
        for key in self.stop(is_meant).await {
            memory.resting.insert(key, until);
        }
    }

    /// The consumers as they are now: on PostgreSQL all, on SQLite those of sites that this node works for or has room
    /// to open.
    async fn rows(&self, memory: &mut Memory) -> Result<Vec<ConsumerRow>> {
        if let Some(pool) = self.store.pool() {
            return Ok(pool.consumers().await?);
        }
        let now = elapsing();
        memory.idle.retain(|_, until| *until > now);
        let worked: HashSet<SiteId> = self.state.lock().tasks.values().map(|it| it.site.id.clone()).collect();
        let mut sites = site_log::sites_with_consumers(self.store.catalog()).await?;
        sites.retain(|it| !memory.idle.contains_key(it));
        self.shuffle(&mut sites);
        sites.sort_by_key(|it| !worked.contains(it));
        sites.truncate(MOST + TURNS);
        let mut rows = Vec::new();
        for id in sites {
            let found = self.rows_of(&id).await.unwrap_or_else(|fault| {
                tracing::warn!(site = %id, "the consumers of a site can't be read: {fault:?}");
                Vec::new()
            });
            let is_fitting = |row: &ConsumerRow| self.state.lock().worker_of(row).is_some();
            if !found.iter().any(is_fitting) {
                memory.idle.insert(id, now + self.times.renewal);
            }
            rows.extend(found);
        }
        Ok(rows)
    }

    async fn rows_of(&self, site: &SiteId) -> Result<Vec<ConsumerRow>> {
        self.store.site_for_work(site).await?.outbox().consumers().await
    }

    /// Ends the work for consumers that are gone, or another node's.
    fn drop_lost(&self, rows: &[ConsumerRow]) {
        let held: HashMap<(&SiteId, &str), &ConsumerRow> =
            rows.iter().map(|it| ((&it.site, it.name.as_str()), it)).collect();
        self.state.lock().tasks.retain(|(site, name), task| {
            let row = held.get(&(site, name.as_str()));
            row.is_some_and(|it| it.number == task.lease.number && it.node.as_deref() == Some(task.lease.node.as_str()))
        });
    }

    /// Takes what is free, within this node's share and room.
    async fn take(&self, rows: Vec<ConsumerRow>, memory: &mut Memory) -> Result<()> {
        let now = elapsing();
        let all = rows.iter().filter(|row| self.state.lock().is_shared(&(row.site.clone(), row.name.clone()))).count();
        let share = memory.sights.share(all, now);
        let is_free = |row: &ConsumerRow| {
            let key = (row.site.clone(), row.name.clone());
            memory.sights.free_for(row, now).is_some() && !memory.resting.contains_key(&key)
        };
        let mut free: Vec<ConsumerRow> = rows.into_iter().filter(is_free).collect();
        self.shuffle(&mut free);
        let mut waiting = 0;
        for row in free {
            let Some((id, is_shared)) = self.state.lock().worker_of(&row) else { continue };
            let (held, shared) = self.state.lock().counts();
            let is_left = memory.sights.is_left(&row, now);
            if held >= MOST {
                waiting += usize::from(is_left);
            } else if !is_shared || shared < share || is_left {
                self.take_one(&row, id, is_shared).await;
            }
        }
        if waiting > 0 {
            self.give_way(waiting, memory).await;
        }
        Ok(())
    }

    /// Takes one, if it is still as it was seen, and begins to work for it.
    async fn take_one(&self, row: &ConsumerRow, worker: u64, is_shared: bool) {
        let _changing = self.changing.lock().await;
        let since = elapsing();
        let taken = async {
            let site = self.store.site_for_work(&row.site).await?;
            let lease = site.outbox().take(row, self.store.node()).await?;
            Ok::<_, stoa_kernel::Fault>(lease.map(|it| (site, it)))
        };
        let (site, lease) = match taken.await {
            Ok(Some(it)) => it,
            Ok(None) => return,
            Err(fault) => {
                tracing::debug!(site = %row.site, consumer = row.name, "a lease can't be taken: {fault:?}");
                return;
            }
        };
        let end = if self.store.pool().is_some() { since + self.times.life } else { Millis::MAX };
        let until = Arc::new(AtomicI64::new(end));
        let held = Held::new(site.clone(), lease.clone(), until.clone());
        let serves = self.state.lock().workers.get(&worker).map(|it| it.1.clone());
        let Some(serves) = serves else {
            // It serves no longer.
            let _ = site.outbox().release(&lease).await;
            return;
        };
        let work = tokio::spawn(work(serves, held));
        let key = (row.site.clone(), row.name.clone());
        let task = Task { worker, is_shared, site, lease, until, since, work };
        self.state.lock().tasks.insert(key, task);
    }

    /// Lets others that wait have a turn, where there are more consumers than all nodes have room for.
    async fn give_way(&self, waiting: usize, memory: &mut Memory) {
        let since = elapsing() - TURN * self.times.renewal;
        let longest = {
            let state = self.state.lock();
            let mut shared: Vec<_> = state.tasks.iter().filter(|it| it.1.is_shared && it.1.since <= since).collect();
            shared.sort_by_key(|it| it.1.since);
            shared.into_iter().take(waiting.min(TURNS)).map(|it| it.0.clone()).collect::<HashSet<Key>>()
        };
        self.rest(longest, memory).await;
    }

    /// Ends the work of these tasks and gives their leases back; answers of which consumers.
    async fn stop(&self, which: impl Fn(&Task) -> bool) -> Vec<Key> {
        let _changing = self.changing.lock().await;
        let removed: Vec<(Key, Task)> = self.state.lock().tasks.extract_if(|_, it| which(it)).collect();
        for (_, task) in &removed {
            task.work.abort();
        }
        let release = async {
            for ((site, consumer), task) in &removed {
                if let Err(fault) = task.site.outbox().release(&task.lease).await {
                    tracing::debug!(%site, consumer, "a lease can't be given back: {fault:?}");
                }
            }
        };
        if tokio::time::timeout(LONGEST_LOOK, release).await.is_err() {
            tracing::debug!("leases can't be given back in time");
        }
        removed.into_iter().map(|it| it.0).collect()
    }

    fn shuffle<T>(&self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            let other = u64::from_le_bytes(self.world.bytes::<8>()) % (at as u64 + 1);
            list.swap(at, other as usize);
        }
    }
}

/// Works for a consumer; what it fails with is logged.
async fn work(worker: Arc<dyn Worker>, held: Held) {
    let (site, consumer) = (held.site().id.clone(), held.consumer().to_owned());
    if let Err(fault) = worker.work(held).await {
        tracing::warn!(%site, consumer, "work for a consumer of the log stopped: {fault:?}");
    }
}
