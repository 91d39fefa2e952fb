//! How much is held, in all and by network: gauges, and the share of a network in them.

use crate::limits::HttpLimits;
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, LazyLock, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use stoa_kernel::{Code, Fault, Network};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// How often time passes here; times are as exact as this.
pub const TICK: Duration = Duration::from_millis(250);
/// A /48 has as much as so many of its networks.
const SITE_SHARES: usize = 4;
/// Bytes up to which a piece finds room where larger ones don't.
const SMALL_PIECE: usize = 64 * 1024;
/// How long a network goes without one of its turns after it was used for what is refused: 4 MB that hold as many values
/// as they can take 10 ms.
const REST: Duration = Duration::from_millis(100);
/// A network that got an answer of so many bytes is expected to ask for another.
pub(super) const LARGE_ANSWER: usize = 1024 * 1024;
/// Turns at work that keeps a thread: half of the cores stay with short requests.
static TURNS: LazyLock<usize> =
    LazyLock::new(|| (std::thread::available_parallelism().map_or(1, |it| it.get()) / 2).max(1));
/// Locks of the table of networks.
const SHARDS: usize = 16;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    Connections,
    Requests,
    /// Bytes of bodies, with what is parsed of them.
    Bodies,
    /// Bytes of answers that their readers haven't taken.
    Answers,
}

/// Where there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// The network has as much as it may.
    Network,
    /// All networks together have.
    Server,
}

impl Shortage {
    /// What the caller is told: to come back in a second.
    pub fn fault(self, why: &str) -> Fault {
        let (code, text) = match self {
            Self::Network => (Code::Throttled, format!("Your network has too much in progress here ({why}).")),
            Self::Server => (Code::Unavailable, format!("The service is busy ({why}); try again.")),
        };
        Fault::because(code, text).with("retryAfterSeconds", 1)
    }
}

/// The most of a resource.
#[derive(Debug, Clone, Copy)]
struct Caps {
    network: usize,
    server: usize,
}

impl Resource {
    fn caps(self, limits: &HttpLimits) -> Caps {
        match self {
            Self::Connections => Caps { network: limits.network_connections, server: limits.connections },
            // Over one connection of HTTP/2 come many.
            Self::Requests => Caps { network: limits.network_connections, server: usize::MAX },
            Self::Bodies => Caps { network: limits.network_bodies_bytes, server: limits.bodies_bytes },
            Self::Answers => Caps { network: limits.network_answers_bytes, server: limits.answers_bytes },
        }
    }
}

/// What one network holds, or all of them.
#[derive(Default)]
pub(super) struct Gauges {
    used: [AtomicUsize; 4],
    /// Whether a connection was refused since it last ran.
    pub(super) is_crowded: AtomicBool,
    /// Bytes of the last large answer, less the longer ago it was.
    expected: AtomicUsize,
    large: Lane,
    /// Reads whose answers are expected to be large.
    reads: Lane,
    /// Wakes one of those who wait for room here. All at once would cost more than what they wait for: a crowd that
    /// waits would be woken by each short request.
    freed: Notify,
    waiting: AtomicUsize,
}

/// Turns that a network may have at once at work that keeps a thread.
struct Lane(Arc<Semaphore>);

impl Default for Lane {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(*TURNS)))
    }
}

impl Gauges {
    fn of(&self, what: Resource) -> &AtomicUsize {
        &self.used[what as usize]
    }
}

/// What is held in all, and what each network holds.
pub(super) struct Usage {
    all: Gauges,
    networks: [Mutex<HashMap<Network, Arc<Gauges>>>; SHARDS],
    hasher: RandomState,
    /// Ticks since the start, from 1.
    pub(super) now: AtomicU32,
    /// Whether answers lacked room in all since it last ran.
    pub(super) is_short: AtomicBool,
    /// Turns at parsing large bodies and compressing large answers.
    turns: Arc<Semaphore>,
    /// What was refused because there was no room.
    refused: [AtomicU64; 4],
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            all: Gauges::default(),
            networks: Default::default(),
            hasher: RandomState::new(),
            now: AtomicU32::new(1),
            is_short: AtomicBool::new(false),
            turns: Arc::new(Semaphore::new(*TURNS)),
            refused: Default::default(),
        }
    }
}

impl Usage {
    /// The share of a network, which is forgotten when nothing has it any more.
    pub(super) fn share(self: &Arc<Self>, network: Network) -> Share {
        let own = self.gauges(network);
        let site = (network.site() != network).then(|| (network.site(), self.gauges(network.site())));
        Share { usage: self.clone(), own: Some((network, own)), site }
    }

    /// A share that is bounded by what there is in all only.
    pub(super) fn unbounded(self: &Arc<Self>) -> Share {
        Share { usage: self.clone(), own: None, site: None }
    }

    /// How often it was refused because there was no room.
    pub(super) fn refused(&self, what: Resource) -> u64 {
        self.refused[what as usize].load(Relaxed)
    }

    /// Counts a refusal.
    pub(super) fn refuse(&self, what: Resource) {
        self.refused[what as usize].fetch_add(1, Relaxed);
    }

    /// How much is held in all.
    pub(super) fn used(&self, what: Resource) -> usize {
        self.all.of(what).load(Relaxed)
    }

    /// How many networks hold anything.
    #[cfg(test)]
    pub(super) fn networks(&self) -> usize {
        self.networks.iter().map(|it| it.lock().expect("unpoisoned").len()).sum()
    }

    pub(super) fn gauges(&self, network: Network) -> Arc<Gauges> {
        self.shard(network).entry(network).or_default().clone()
    }

    fn shard(&self, network: Network) -> MutexGuard<'_, HashMap<Network, Arc<Gauges>>> {
        let shard = self.hasher.hash_one(network) as usize % SHARDS;
        self.networks[shard].lock().unwrap_or_else(|it| it.into_inner())
    }

    fn forget(&self, network: Network, gauges: &Arc<Gauges>) {
        let mut shard = self.shard(network);
        // The table's and the caller's: no one else can get one while the table is locked. Who leaves large answers
        // unread and comes back is known for a while.
        if Arc::strong_count(gauges) == 2 && gauges.expected.load(Relaxed) == 0 {
            shard.remove(&network);
        }
    }

    /// A turn if one is free at once.
    pub(super) fn free_turn(&self) -> Option<OwnedSemaphorePermit> {
        self.turns.clone().try_acquire_owned().ok()
    }

    /// Makes the large answers of a network count less for what is expected of its next one, and forgets networks that
    /// nothing has and of which nothing is expected: when the last two shares were given up at the same moment, neither
    /// was the last.
    pub(super) fn forget_networks(&self) {
        for shard in &self.networks {
            shard.lock().unwrap_or_else(|it| it.into_inner()).retain(|_, gauges| {
                let expected = gauges.expected.load(Relaxed);
                let less = Some(expected - expected / 8).filter(|it| *it >= LARGE_ANSWER).unwrap_or(0);
                gauges.expected.store(less, Relaxed);
                Arc::strong_count(gauges) > 1 || less > 0
            });
        }
    }
}

/// What a network may hold.
pub struct Share {
    pub(super) usage: Arc<Usage>,
    own: Option<(Network, Arc<Gauges>)>,
    /// The /48 of an IPv6 network.
    site: Option<(Network, Arc<Gauges>)>,
}

/// A turn at work that keeps a thread.
pub(crate) struct Turn {
    /// Of the widest network that has turns of its own.
    network: Option<(Arc<Gauges>, OwnedSemaphorePermit)>,
    _core: Option<OwnedSemaphorePermit>,
}

impl Turn {
    /// Ends it, and keeps it from the network for a moment.
    pub(crate) fn rest(self) {
        let Self { network: Some(network), .. } = self else { return };
        tokio::spawn(async move {
            tokio::time::sleep(REST).await;
            drop(network);
        });
    }
}

impl Share {
    /// Waits for a turn at work that would keep a thread from short requests.
    pub(super) async fn turn(&self) -> Turn {
        let network = match self.site.as_ref().or(self.own.as_ref()) {
            Some((_, gauges)) => {
                let turn = gauges.large.0.clone().acquire_owned().await.ok();
                turn.map(|it| (gauges.clone(), it))
            }
            None => None,
        };
        Turn { network, _core: self.usage.turns.clone().acquire_owned().await.ok() }
    }

    /// Waits for a turn at a read whose answer is expected to be large. Without it one network that asks for many at
    /// once has the engine and the cores for as long as those take.
    pub(super) async fn read_turn(&self) -> Option<OwnedSemaphorePermit> {
        let (_, gauges) = self.site.as_ref().or(self.own.as_ref())?;
        gauges.reads.0.clone().acquire_owned().await.ok()
    }

    fn levels(&self, caps: Caps) -> impl Iterator<Item = (&Gauges, usize, Shortage)> {
        let own = self.own.iter().map(move |it| (&*it.1, caps.network, Shortage::Network));
        let site =
            self.site.iter().map(move |it| (&*it.1, caps.network.saturating_mul(SITE_SHARES), Shortage::Network));
        own.chain(site).chain([(&self.usage.all, caps.server, Shortage::Server)])
    }

    pub(super) fn gauges(&self) -> impl Iterator<Item = &Gauges> {
        self.levels(Caps { network: 0, server: 0 }).map(|it| it.0)
    }

    /// Takes so much if there is room. What nothing is held of is always given once, so that a limit that is
    /// lower than one piece doesn't refuse it for ever.
    pub(crate) fn take(&self, what: Resource, amount: usize, limits: &HttpLimits) -> Result<(), Shortage> {
        self.take_or_where(what, amount, limits).map_err(|it| it.1)
    }

    /// The same; a refusal says where there is no room.
    fn take_or_where(&self, what: Resource, amount: usize, limits: &HttpLimits) -> Result<(), (&Gauges, Shortage)> {
        for (taken, (gauges, cap, shortage)) in self.levels(what.caps(limits)).enumerate() {
            // The last quarter is for small pieces, so that short requests go on while large ones wait.
            let cap = if shortage == Shortage::Server && amount > SMALL_PIECE { cap / 4 * 3 } else { cap };
            let before = gauges.of(what).fetch_add(amount, Relaxed);
            if before > 0 && before.saturating_add(amount) > cap {
                for gauges in self.gauges().take(taken + 1) {
                    gauges.of(what).fetch_sub(amount, Relaxed);
                }
                if what == Resource::Connections {
                    gauges.is_crowded.store(true, Relaxed);
                }
                return Err((gauges, shortage));
            }
        }
        Ok(())
    }

    /// Takes so much whether or not there is room.
    pub(crate) fn force(&self, what: Resource, amount: usize) {
        for gauges in self.gauges() {
            gauges.of(what).fetch_add(amount, Relaxed);
        }
    }

    /// Gives back what was taken.
    pub(crate) fn give(&self, what: Resource, amount: usize) {
        let is_waited_for = matches!(what, Resource::Bodies | Resource::Answers);
        for gauges in self.gauges() {
            gauges.of(what).fetch_sub(amount, Relaxed);
            if is_waited_for && gauges.waiting.load(Relaxed) > 0 {
                gauges.freed.notify_one();
            }
        }
    }

    /// Takes so much as soon as there is room.
    ///
    /// # Errors
    /// Where there was none for as long as the limits say.
    pub(crate) async fn wait(&self, what: Resource, amount: usize, limits: &HttpLimits) -> Result<(), Shortage> {
        let Err((mut full, _)) = self.take_or_where(what, amount, limits) else { return Ok(()) };
        let until = tokio::time::Instant::now() + Duration::from_millis(limits.room_time.unsigned_abs());
        loop {
            // What was freed before this one counts as waiting, or woke one that lacks more, wakes no one: it looks
            // again soon.
            let soon = until.min(tokio::time::Instant::now() + TICK);
            let waiting = Waiting::at(full);
            let _ = tokio::time::timeout_at(soon, full.freed.notified()).await;
            drop(waiting);
            match self.take_or_where(what, amount, limits) {
                Ok(()) => {
                    // There may be room for the next one too.
                    if full.waiting.load(Relaxed) > 0 {
                        full.freed.notify_one();
                    }
                    return Ok(());
                }
                Err((_, shortage)) if tokio::time::Instant::now() >= until => return Err(shortage),
                Err((gauges, _)) => full = gauges,
            }
        }
    }

    /// How much the network holds, or all of them where it isn't counted by itself.
    pub(super) fn used(&self, what: Resource) -> usize {
        self.own.as_ref().map_or(&self.usage.all, |it| &*it.1).of(what).load(Relaxed)
    }

    /// Whether the network, or the /48 around it, holds more of it than it may.
    pub(crate) fn is_over(&self, what: Resource, limits: &HttpLimits) -> bool {
        let mut own = self.levels(what.caps(limits)).filter(|it| it.2 == Shortage::Network);
        own.any(|(gauges, cap, _)| gauges.of(what).load(Relaxed) > cap)
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.gauges().any(|it| it.is_crowded.load(Relaxed))
    }

    /// Bytes that the next answer may well have.
    pub(super) fn expected_answer(&self) -> usize {
        self.own.as_ref().map_or(0, |it| it.1.expected.load(Relaxed))
    }

    pub(super) fn expect_answer(&self, bytes: usize) {
        if let Some((_, gauges)) = &self.own {
            gauges.expected.fetch_max(bytes, Relaxed);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        for (network, gauges) in self.own.iter().chain(&self.site) {
            self.usage.forget(*network, gauges);
        }
    }
}

struct Waiting<'g>(&'g Gauges);

impl<'g> Waiting<'g> {
    fn at(gauges: &'g Gauges) -> Self {
        gauges.waiting.fetch_add(1, Relaxed);
        Self(gauges)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
    }
}
