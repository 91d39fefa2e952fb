//! Which processes there are, and who has them.
//!
//! A place of the site and one of the server are taken before a process is; so at most so many run code that all of them
//! together stay within the memory of the server, each counted with all that it may take. Idle ones are counted with what
//! they have, and make room, the one that was idle longest first.

use super::{
    deaths::{Deaths, Turn},
    process::{HostProgram, Process},
    replies::Broken,
};
use crate::{
    call::{Call, Failure, Outcome},
    limits::HookLimits,
    message::{Settings, largest},
    version::Version,
};
use parking_lot::Mutex;
use std::{
    cell::OnceCell,
    collections::HashMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use stoa_kernel::{Network, SiteId, clock::elapsing};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

/// How many times as long as code ran that had to be stopped its place stays empty.
const PAUSES: u32 = 3;

pub struct Pool {
    pub limits: HookLimits,
    program: HostProgram,
    settings: Settings,
    /// Of processes that run code at the same time.
    places: Arc<Semaphore>,
    /// Of them those for trials, whichever sites they are of.
    trial_places: Arc<Semaphore>,
    state: Mutex<State>,
    counted: Counted,
    is_swept: AtomicBool,
}

#[derive(Default)]
struct State {
    sites: HashMap<SiteId, Arc<Site>>,
    /// The one that was idle longest is the first.
    idle: Vec<Idle>,
    /// Processes that run code, or are started to.
    running: usize,
    deaths: Deaths,
    is_closed: bool,
}

struct Site {
    code: Places,
    /// Those of requests to an application.
    plugin: Places,
    /// Of trials: code that is deployed, tried or tested.
    trial: Places,
    waiting: AtomicUsize,
    networks: Mutex<HashMap<Network, Arc<OfNetwork>>>,
}

/// So many may be used at the same time, and a quarter of them by one network.
struct Places {
    count: usize,
    free: Arc<Semaphore>,
}

impl Places {
    fn new(count: usize) -> Self {
        Self { count, free: Arc::new(Semaphore::new(count)) }
    }

    fn are_used(&self) -> bool {
        Arc::strong_count(&self.free) > 1
    }
}

/// What a network has of a site.
struct OfNetwork {
    /// Calls, those that wait as well.
    count: AtomicUsize,
    code: Arc<Semaphore>,
    plugin: Arc<Semaphore>,
}

/// The place of a call, also among those of its network.
pub struct Place {
    _of_network: Option<OwnedSemaphorePermit>,
    _of_site: OwnedSemaphorePermit,
}

struct Idle {
    process: Process,
    site: SiteId,
    since: Instant,
    /// Bytes that it has. They are looked up once they matter, since the system is asked for them.
    memory: OnceCell<usize>,
}

impl Idle {
    fn memory(&self, settings: Settings) -> usize {
        *self.memory.get_or_init(|| self.process.memory().unwrap_or_else(|| largest(settings)))
    }
}

#[derive(Default)]
struct Counted {
    calls: AtomicU64,
    thrown: AtomicU64,
    timed_out: AtomicU64,
    failed: AtomicU64,
    refused: AtomicU64,
    started: AtomicU64,
    died: AtomicU64,
}

/// What hooks did since the start, and what they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookFigures {
    pub calls: u64,
    /// Of the calls, those whose hook threw.
    pub thrown: u64,
    pub timed_out: u64,
    /// Those that failed otherwise: memory, size, a process that died or was not started.
    pub failed: u64,
    /// Those that were not tried: too many waited, or the hooks were failing.
    pub refused: u64,
    /// Processes that were started, and those that died or were killed for what they did.
    pub started: u64,
    pub died: u64,
    /// Processes there are.
    pub processes: usize,
    /// Bytes that they are counted with.
    pub memory: usize,
}

impl Pool {
    pub fn new(limits: HookLimits, program: HostProgram) -> Self {
        let settings = Settings::of(&limits);
        let fitting = (limits.hook_memory_of_server << 20) / largest(settings);
        let places = fitting.min(limits.hook_processes).max(1);
        Self {
            limits,
            program,
            settings,
            places: Arc::new(Semaphore::new(places)),
            trial_places: Arc::new(Semaphore::new((places / 3).max(1))),
            state: Mutex::default(),
            counted: Counted::default(),
            is_swept: AtomicBool::new(false),
        }
    }

    /// A right to run code of a version.
    ///
    /// # Errors
    /// Why there is none, in the time that is left.
    pub async fn lease(
        self: &Arc<Self>,
        version: &Version,
        network: Option<Network>,
        until: Instant,
    ) -> Result<Lease, Failure> {
        let (site, probe) = self.site_of(version)?;
        let share = self.share(&site, network)?;
        let of_network = share.as_ref().map(|it| Arc::clone(&it.of_network.code));
        let of_site = site.place((&site.code, of_network.as_ref()), self.limits.hook_waiting, until).await?;
        let of_server = placed(&self.places, until).await?;
        self.sweep_from_now_on();
        let pool = Arc::clone(self);
        let (of_server, of_site, id) = (Some(of_server), Some(of_site), version.site.clone());
        Ok(Lease { pool, id, site, process: None, runs: false, of_server, of_site, of_network, probe, share })
    }

    /// A right to ask the application of a version.
    ///
    /// # Errors
    /// Why there is none, in the time that is left.
    pub async fn plugin_place(
        self: &Arc<Self>,
        version: &Version,
        network: Option<Network>,
        until: Instant,
    ) -> Result<(Place, Option<Share>), Failure> {
        let (site, _) = self.site_of(version)?;
        let share = self.share(&site, network)?;
        self.sweep_from_now_on();
        let of_network = share.as_ref().map(|it| &it.of_network.plugin);
        let place = site.place((&site.plugin, of_network), self.limits.hook_waiting, until).await?;
        let (now, most) = (elapsing(), self.limits.hook_deaths);
        match self.state.lock().deaths.is_pausing(&version.site, version.number, now, most) {
            true => Err(Failure::Failing),
            false => Ok((place, share)),
        }
    }

    /// An application could not be asked, or said what is none of the answers.
    pub fn plugin_failed(&self, version: &Version, failure: &Failure, call: &Call) {
        let (site, number) = (&version.site, version.number);
        tracing::warn!(%site, version = number, collection = &*call.collection, hook = call.hook.name(), "an application failed to answer about a hook: {failure:?}");
        self.state.lock().deaths.note(site, number, elapsing());
    }

    /// A process for one use. A site has one of them at a time and all sites together a third of the server's places, so
    /// that those who try code can't take all.
    ///
    /// # Errors
    /// Why there is none, in the time that is left.
    pub async fn apart(self: &Arc<Self>, site: &SiteId, until: Instant) -> Result<Apart, Failure> {
        let site = self.places_of(&mut self.state.lock(), site);
        self.sweep_from_now_on();
        let of_site = site.place((&site.trial, None), self.limits.hook_waiting, until).await?;
        let of_server = [placed(&self.trial_places, until).await?, placed(&self.places, until).await?];
        self.make_room(1);
        let running = Running { pool: Arc::clone(self), _of_site: of_site, _of_server: of_server };
        let process = self.start(until).await?;
        Ok(Apart { process, _running: running })
    }

    /// A process broke while it ran this version's code.
    pub fn lost(&self, version: &Version, broken: &Broken, call: &Call) {
        self.counted.died.fetch_add(1, Ordering::Relaxed);
        let (site, number) = (&version.site, version.number);
        tracing::warn!(%site, version = number, collection = &*call.collection, hook = call.hook.name(), "a process of hooks was lost: {broken:?}");
        let rule = (self.limits.hook_deaths, self.limits.hook_rest);
        if let Some(pause) = self.state.lock().deaths.add(site, number, elapsing(), rule) {
            let seconds = pause / 1_000;
            tracing::error!(%site, version = number, seconds, "hooks are failing, and not asked for so long: their processes die");
        }
    }

    pub fn count(&self, outcome: &Result<Outcome, Failure>) {
        let counted = &self.counted;
        counted.calls.fetch_add(1, Ordering::Relaxed);
        let also = match outcome {
            Ok(_) => return,
            Err(Failure::Thrown(_)) => &counted.thrown,
            Err(Failure::TimedOut) => &counted.timed_out,
            Err(Failure::Busy | Failure::Failing) => &counted.refused,
            Err(Failure::OutOfMemory | Failure::TooLarge | Failure::Died | Failure::NotStarted) => &counted.failed,
        };
        also.fetch_add(1, Ordering::Relaxed);
    }

    pub fn figures(&self) -> HookFigures {
        let of = |it: &AtomicU64| it.load(Ordering::Relaxed);
        let state = self.state.lock();
        HookFigures {
            calls: of(&self.counted.calls),
            thrown: of(&self.counted.thrown),
            timed_out: of(&self.counted.timed_out),
            failed: of(&self.counted.failed),
            refused: of(&self.counted.refused),
            started: of(&self.counted.started),
            died: of(&self.counted.died),
            processes: state.running + state.idle.len(),
            memory: state.memory(self.settings),
        }
    }

    pub fn resume(&self, site: &SiteId) {
        self.state.lock().deaths.forget(site);
    }

    pub async fn shutdown(&self) {
        let idle = {
            let mut state = self.state.lock();
            state.is_closed = true;
            std::mem::take(&mut state.idle)
        };
        self.places.close();
        self.trial_places.close();
        for it in idle {
            it.process.end().await;
        }
    }

    /// The places of a version's site, and what becomes of its rest by this call.
    fn site_of(self: &Arc<Self>, version: &Version) -> Result<(Arc<Site>, Option<Probe>), Failure> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(Failure::NotStarted);
        }
        let probe = match state.deaths.turn(&version.site, version.number, elapsing()) {
            Turn::Asked => None,
            Turn::Probe => Some(Probe { pool: Arc::clone(self), site: version.site.clone(), number: version.number }),
            Turn::Refused => return Err(Failure::Failing),
        };
        Ok((self.places_of(&mut state, &version.site), probe))
    }

    fn places_of(&self, state: &mut State, site: &SiteId) -> Arc<Site> {
        let site = state.sites.entry(site.clone()).or_insert_with(|| {
            Arc::new(Site {
                code: Places::new(self.processes_of_site()),
                plugin: Places::new(self.limits.hook_plugin_calls),
                trial: Places::new(1),
                waiting: AtomicUsize::new(0),
                networks: Mutex::default(),
            })
        });
        Arc::clone(site)
    }

    fn processes_of_site(&self) -> usize {
        match self.limits.hook_processes_of_site {
            0 => std::thread::available_parallelism().map_or(1, |it| it.get() / 2).max(1),
            most => most,
        }
    }

    /// One of the calls that a network may have at a site: a quarter of those that may be made or wait.
    fn share(&self, site: &Arc<Site>, network: Option<Network>) -> Result<Option<Share>, Failure> {
        let Some(network) = network else { return Ok(None) };
        let quarter = |places: &Places| places.count.div_ceil(4);
        let most = quarter(&site.code) + self.limits.hook_waiting.div_ceil(4);
        let mut networks = site.networks.lock();
        let of_network = networks.entry(network).or_insert_with(|| {
            let places = |it: &Places| Arc::new(Semaphore::new(quarter(it)));
            Arc::new(OfNetwork { count: AtomicUsize::new(0), code: places(&site.code), plugin: places(&site.plugin) })
        });
        if of_network.count.load(Ordering::Relaxed) >= most {
            return Err(Failure::Busy);
        }
        of_network.count.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Share { of_network: Arc::clone(of_network), site: Arc::clone(site), network }))
    }

    /// An idle process of the site, rather one that has the version.
    fn take_idle(&self, version: &Version) -> Option<Process> {
        loop {
            let mut process = {
                let mut state = self.state.lock();
                let of_site = |it: &Idle| it.site == version.site;
                let has_it = state.idle.iter().rposition(|it| of_site(it) && it.process.has_loaded(version));
                let at = has_it.or_else(|| state.idle.iter().rposition(of_site))?;
                state.idle.remove(at).process
            };
            if process.is_alive() {
                return Some(process);
            }
        }
    }

    async fn start(&self, until: Instant) -> Result<Process, Failure> {
        self.counted.started.fetch_add(1, Ordering::Relaxed);
        let started = Process::start(&self.program, self.settings, until).await;
        started.map_err(|why| {
            if Instant::now() >= until {
                return Failure::TimedOut;
            }
            tracing::error!("a process of hooks is not started: {why}");
            Failure::NotStarted
        })
    }

    /// Counts so many more that run, and ends idle processes until all have room.
    fn make_room(&self, more: usize) {
        let mut ended = Vec::new();
        let mut state = self.state.lock();
        state.running += more;
        let most = self.limits.hook_memory_of_server << 20;
        while !state.idle.is_empty()
            && (state.exceeds(most, self.settings) || state.running + state.idle.len() > self.limits.hook_processes)
        {
            ended.push(state.idle.remove(0));
        }
        drop(state);
        // They are killed as they are dropped, which needs no lock.
        drop(ended);
    }

    /// Ends what is idle for too long, from the first use on.
    fn sweep_from_now_on(self: &Arc<Self>) {
        if self.is_swept.swap(true, Ordering::Relaxed) {
            return;
        }
        let pool = Arc::downgrade(self);
        let idle = Duration::from_millis(self.limits.hook_idle.unsigned_abs());
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(idle / 4).await;
                match Weak::upgrade(&pool) {
                    Some(pool) => pool.sweep(idle),
                    None => break,
                }
            }
        });
    }

    fn sweep(&self, idle: Duration) {
        let mut ended = Vec::new();
        let mut state = self.state.lock();
        while state.idle.first().is_some_and(|it| it.since.elapsed() >= idle) {
            ended.push(state.idle.remove(0));
        }
        let are_used = |it: &Site| [&it.code, &it.plugin, &it.trial].into_iter().any(Places::are_used);
        state.sites.retain(|_, it| Arc::strong_count(it) > 1 || are_used(it));
        state.deaths.sweep(elapsing());
        drop(state);
        drop(ended);
    }
}

impl State {
    fn memory(&self, settings: Settings) -> usize {
        self.running * largest(settings) + self.idle.iter().map(|it| it.memory(settings)).sum::<usize>()
    }

    /// Whether what there is has more than so much memory. What each may have at most is known without asking the system.
    fn exceeds(&self, most: usize, settings: Settings) -> bool {
        (self.running + self.idle.len()) * largest(settings) > most && self.memory(settings) > most
    }
}

impl Site {
    /// One of the site's places of a kind, and of the network's. So many may wait for one.
    async fn place(
        &self,
        of: (&Places, Option<&Arc<Semaphore>>),
        most: usize,
        until: Instant,
    ) -> Result<Place, Failure> {
        let free = |it: &Arc<Semaphore>| Arc::clone(it).try_acquire_owned().ok();
        let of_network = of.1.map(free);
        if let (None | Some(Some(_)), Some(of_site)) = (&of_network, free(&of.0.free)) {
            return Ok(Place { _of_network: of_network.flatten(), _of_site: of_site });
        }
        drop(of_network);
        let _waiting = Waiting::begin(&self.waiting, most)?;
        place(of, until).await
    }
}

/// A place, without a bound of how many wait.
async fn place((places, of_network): (&Places, Option<&Arc<Semaphore>>), until: Instant) -> Result<Place, Failure> {
    let _of_network = match of_network {
        Some(it) => Some(placed(it, until).await?),
        None => None,
    };
    Ok(Place { _of_network, _of_site: placed(&places.free, until).await? })
}

/// A call of a network, until this is dropped.
pub struct Share {
    of_network: Arc<OfNetwork>,
    site: Arc<Site>,
    network: Network,
}

impl Share {
    /// Another of the network's calls, which isn't held to a bound.
    fn again(&self) -> Self {
        self.of_network.count.fetch_add(1, Ordering::Relaxed);
        Self { of_network: Arc::clone(&self.of_network), site: Arc::clone(&self.site), network: self.network }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut networks = self.site.networks.lock();
        if self.of_network.count.fetch_sub(1, Ordering::Relaxed) == 1 {
            networks.remove(&self.network);
        }
    }
}

struct Waiting<'s>(&'s AtomicUsize);

impl<'s> Waiting<'s> {
    fn begin(count: &'s AtomicUsize, most: usize) -> Result<Self, Failure> {
        let waiting = Self(count);
        match count.fetch_add(1, Ordering::Relaxed) < most {
            true => Ok(waiting),
            false => Err(Failure::Busy),
        }
    }

    fn count(count: &'s AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn placed(places: &Arc<Semaphore>, until: Instant) -> Result<OwnedSemaphorePermit, Failure> {
    match timeout_at(until, Arc::clone(places).acquire_owned()).await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(_)) => Err(Failure::NotStarted),
        Err(_) => Err(Failure::TimedOut),
    }
}

/// A right to run code of a site, and the process that does. When it is dropped the process is idle; one that is out of it
/// meanwhile is killed as it is dropped, for what it still does is not known.
pub struct Lease {
    pool: Arc<Pool>,
    id: SiteId,
    site: Arc<Site>,
    process: Option<Process>,
    /// Whether it is counted among what runs.
    runs: bool,
    of_server: Option<OwnedSemaphorePermit>,
    of_site: Option<Place>,
    of_network: Option<Arc<Semaphore>>,
    probe: Option<Probe>,
    share: Option<Share>,
}

/// A call that shows whether a version that rests is asked again. Where it is dropped without that, another may.
struct Probe {
    pool: Arc<Pool>,
    site: SiteId,
    number: i64,
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.pool.state.lock().deaths.give_up(&self.site, self.number);
    }
}

impl Lease {
    /// The process, out of the lease.
    ///
    /// # Errors
    /// [`Failure::NotStarted`]
    pub async fn process(&mut self, version: &Version, until: Instant) -> Result<Process, Failure> {
        let process = self.process.take().or_else(|| self.pool.take_idle(version));
        let ran = std::mem::replace(&mut self.runs, true);
        self.pool.make_room(usize::from(!ran));
        match process {
            Some(process) => Ok(process),
            None => self.pool.start(until).await,
        }
    }

    /// The process answered, whatever that was.
    pub fn give_back(&mut self, process: Process) {
        self.process = Some(process);
        if let Some(it) = self.probe.take() {
            tracing::info!(site = %it.site, version = it.number, "hooks that were failing are asked again");
            self.pool.state.lock().deaths.mend(&it.site, it.number);
        }
    }

    /// Lets others run code, where some wait for that, and waits for the next turn.
    ///
    /// # Errors
    /// Why there is none, in the time that is left.
    pub async fn take_turns(&mut self, until: Instant) -> Result<(), Failure> {
        let others_wait = self.of_site.is_none() || self.site.waiting.load(Ordering::Relaxed) > 0;
        if others_wait || self.pool.places.available_permits() == 0 {
            self.rest();
            if others_wait {
                self.of_site = None;
                // It was let in once, so that it is refused by no bound, but others see that it waits.
                let _waiting = Waiting::count(&self.site.waiting);
                self.of_site = Some(place((&self.site.code, self.of_network.as_ref()), until).await?);
            }
            self.of_server = Some(placed(&self.pool.places, until).await?);
        }
        Ok(())
    }

    /// After code was stopped where it stood, having run for so long: where calls of its site wait, its place is free only
    /// when three times as long has passed. So endless code that others of its site wait for takes a quarter of the
    /// processors that its site may have, and one call by itself waits for nothing.
    pub fn cool_down(&mut self, ran: Duration) {
        if self.site.waiting.load(Ordering::Relaxed) == 0 {
            return;
        }
        self.rest();
        // The network has its place, too, until then.
        let held = (self.of_site.take(), self.share.as_ref().map(Share::again));
        tokio::spawn(async move {
            tokio::time::sleep(PAUSES * ran).await;
            drop(held);
        });
    }

    /// Gives the place of the server away. The process is idle meanwhile, and may have to make room.
    fn rest(&mut self) {
        let Some(place) = self.of_server.take() else { return };
        let process = self.process.take();
        let mut state = self.pool.state.lock();
        state.running -= usize::from(std::mem::take(&mut self.runs));
        if let Some(process) = process.filter(|_| !state.is_closed) {
            let (site, since, memory) = (self.id.clone(), Instant::now(), OnceCell::new());
            state.idle.push(Idle { process, site, since, memory });
        }
        drop(state);
        drop(place);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.rest();
    }
}

/// The places of something that runs beside the calls of a site.
struct Running {
    pool: Arc<Pool>,
    _of_site: Place,
    _of_server: [OwnedSemaphorePermit; 2],
}

impl Drop for Running {
    fn drop(&mut self) {
        self.pool.state.lock().running -= 1;
    }
}

/// A process that ends when this is dropped.
pub struct Apart {
    process: Process,
    _running: Running,
}

impl std::ops::Deref for Apart {
    type Target = Process;
    fn deref(&self) -> &Process {
        &self.process
    }
}

impl std::ops::DerefMut for Apart {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.process
    }
}
