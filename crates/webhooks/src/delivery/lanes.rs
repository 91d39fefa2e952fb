//! The threads that sign and send, and the places for calls.
//!
//! Signing takes a millisecond of a core, so a site that writes much could take the processor from those who write. These
//! threads have a low priority, and together no more than their share of all cores: each looks at its own processor time
//! before it begins with another message. Signing is done on them, and so is all of a call; databases are asked elsewhere,
//! since what waits for a database may hold up others.

use crate::WebhookLimits;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};
use stoa_kernel::{Fault, Millis, Result, SiteId, clock::elapsing};
use tokio::{
    runtime::{Builder, Handle},
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    task::JoinHandle,
    time::{Duration, sleep},
};

/// A fifteenth to a tenth of what other threads get where both want the processor.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;
/// Processor time that may be used ahead of the share, in milliseconds.
const AHEAD: f64 = 50.0;

/// The threads of a process.
pub(crate) struct Lanes {
    threads: Vec<Lane>,
    next: AtomicUsize,
    places: Places,
}

struct Lane {
    handle: Handle,
    share: Arc<Share>,
    /// Dropped, it ends the thread.
    _life: oneshot::Sender<()>,
}

impl Lanes {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] when the system has none.
    pub(crate) fn start(limits: &WebhookLimits) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, |it| it.get()) as f64;
        let share = cores * limits.webhook_processor_percent as f64 / 100.0;
        let count = share.ceil().max(1.0);
        let threads = (0..count as usize).map(|_| lane(share / count)).collect::<Result<_>>()?;
        Ok(Self { threads, next: AtomicUsize::new(0), places: Places::new(limits) })
    }

    /// A place for a call of a site, when there is one.
    pub(crate) async fn turn(&self, site: &SiteId) -> Turn<'_> {
        let _places = self.places.take(site).await;
        let lane = &self.threads[self.next.fetch_add(1, Relaxed) % self.threads.len()];
        Turn { lane, _places }
    }
}

/// A place for a call; it is free again when this is dropped.
pub(crate) struct Turn<'l> {
    lane: &'l Lane,
    _places: (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>),
}

impl Turn<'_> {
    /// Does the work on one of the threads, as soon as the share allows it. Dropping what is answered ends it.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] when the work panics.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let share = self.lane.share.clone();
        let task = self.lane.handle.spawn(async move {
            share.wait().await;
            work.await
        });
        let mut task = Task(task);
        (&mut task.0).await.map_err(Fault::internal)
    }
}

/// Ends the work with its owner.
struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn lane(share: f64) -> Result<Lane> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Fault::internal)?;
    let handle = runtime.handle().clone();
    let (life, ended) = oneshot::channel::<()>();
    let run = move || {
        lower_priority();
        let _ = runtime.block_on(ended);
        // Names may still be resolved on threads of their own; nothing waits for them.
        runtime.shutdown_background();
    };
    thread::Builder::new().name("webhooks".to_owned()).spawn(run).map_err(Fault::internal)?;
    Ok(Lane { handle, share: Arc::new(Share::new(share)), _life: life })
}

#[cfg(target_os = "linux")]
fn lower_priority() {
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE) {
        tracing::debug!("the priority of webhooks stays as it is: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

/// What a thread may use of a core.
struct Share {
    /// From 0 to 1.
    of_core: f64,
    state: Mutex<Spent>,
}

/// In milliseconds.
#[derive(Debug, Default)]
struct Spent {
    seen: Millis,
    used: f64,
    /// What may still be used, below 0 what was used too much.
    balance: f64,
}

impl Share {
    fn new(of_core: f64) -> Self {
        Self { of_core, state: Mutex::new(Spent { seen: elapsing(), ..Spent::default() }) }
    }

    /// Waits, on the thread that it is about, until it may use the processor.
    async fn wait(&self) {
        loop {
            let wait = self.state.lock().spend(elapsing(), thread_time(), self.of_core);
            if wait <= 0.0 {
                return;
            }
            sleep(Duration::from_millis(wait.ceil() as u64)).await;
        }
    }
}

impl Spent {
    /// How long to wait, when it is `now` and the thread has used `used` in all.
    fn spend(&mut self, now: Millis, used: f64, of_core: f64) -> f64 {
        let (passed, spent) = ((now - self.seen) as f64, used - self.used);
        self.balance = (self.balance + passed * of_core - spent).min(AHEAD);
        (self.seen, self.used) = (now, used);
        if self.balance >= 0.0 { 0.0 } else { -self.balance / of_core.max(0.001) }
    }
}

/// The processor time of this thread, in milliseconds.
fn thread_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1_000.0 + time.tv_nsec as f64 / 1_000_000.0
}

/// Places for calls: in all, and of each site. One that has many slow receivers waits for itself.
struct Places {
    all: Arc<Semaphore>,
    of_site: usize,
    sites: Mutex<HashMap<SiteId, Arc<Semaphore>>>,
}

impl Places {
    fn new(limits: &WebhookLimits) -> Self {
        let all = Arc::new(Semaphore::new(limits.webhook_calls));
        Self { all, of_site: limits.webhook_calls_of_site, sites: Mutex::default() }
    }

    async fn take(&self, site: &SiteId) -> (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>) {
        let of_site = {
            let mut sites = self.sites.lock();
            // Who has a place or waits for one holds the semaphore.
            sites.retain(|_, it| Arc::strong_count(it) > 1);
            sites.entry(site.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.of_site))).clone()
        };
        // That of the site first: who waits there must not hold what others could use. None is ever closed.
        let own = of_site.acquire_owned().await.ok();
        (own, self.all.clone().acquire_owned().await.ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_is_kept_over_time() {
        let mut spent = Spent::default();
        assert_eq!(spent.spend(1_000, 0.0, 0.5), 0.0, "what wasn't used is not kept for long");
        assert_eq!(spent.balance, AHEAD);
        assert_eq!(spent.spend(1_000, 60.0, 0.5), 20.0);
        assert_eq!(spent.spend(1_020, 60.0, 0.5), 0.0);
        assert_eq!(spent.spend(1_120, 160.0, 0.5), 100.0);
    }

    #[tokio::test]
    async fn site_waits_for_its_own_places() {
        let limits = WebhookLimits { webhook_calls: 3, webhook_calls_of_site: 2, ..WebhookLimits::default() };
        let places = Places::new(&limits);
        let (slow, other) = (SiteId::from("slow"), SiteId::from("other"));
        let held = [places.take(&slow).await, places.take(&slow).await];
        let waits = |site| tokio::time::timeout(Duration::from_millis(20), places.take(site));
        assert!(waits(&slow).await.is_err());
        let third = waits(&other).await.expect("a place of its own");
        assert!(waits(&other).await.is_err(), "three in all");
        drop(third);
        assert!(waits(&other).await.is_ok());
        drop(held);
        assert!(waits(&slow).await.is_ok());
    }
}
