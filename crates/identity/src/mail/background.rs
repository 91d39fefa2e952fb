//! What this process knows of the queues of all sites.

use crate::{
    encryption::Cipher,
    mail::queue::{Question, WAITING},
};
use parking_lot::{Mutex, RwLock};
use std::{
    collections::HashSet,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};
use stoa_kernel::{Result, SiteId};
use stoa_store::Site;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Messages on their way at the same time: in this process, and of one site. A slow mailbox holds
/// up no other site.
pub(super) const AT_ONCE: usize = 16;
pub(super) const SITE_AT_ONCE: usize = 4;
/// Sites whose queues are worked on at the same time: as many as may have a message under way.
pub(super) const SITES_AT_ONCE: usize = AT_ONCE;
/// Answers a question of the queue.
pub(crate) type Answerer =
    Box<dyn Fn(Arc<Site>, Question) -> Pin<Box<dyn Future<Output = Result<()>> + Send>> + Send + Sync>;

/// What delivering works with.
pub(crate) struct MailQueue {
    pub(super) cipher: Arc<Cipher>,
    /// Set once, by those who put questions into the queue.
    answerer: OnceLock<Answerer>,
    /// Sites where something waits, as far as this process knows.
    waiting: Mutex<HashSet<SiteId>>,
    /// Sites whose queue a task is emptying.
    delivering: Mutex<HashSet<SiteId>>,
    pub(super) wakeup: Notify,
    permits: Arc<Semaphore>,
    /// One request at a time empties a queue for itself.
    pub(super) local: tokio::sync::Mutex<()>,
    /// Recovery links that were asked for and wait.
    recoveries: AtomicUsize,
    /// What links in messages begin with.
    url: RwLock<Arc<str>>,
}

impl MailQueue {
    pub(crate) fn new(cipher: Arc<Cipher>) -> Self {
        Self {
            cipher,
            answerer: OnceLock::new(),
            waiting: Mutex::default(),
            delivering: Mutex::default(),
            wakeup: Notify::new(),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            local: tokio::sync::Mutex::default(),
            recoveries: AtomicUsize::new(0),
            url: RwLock::new("http://localhost".into()),
        }
    }

    /// Sets the function that answers questions.
    pub(crate) fn answer_with(&self, answerer: Answerer) {
        let _ = self.answerer.set(answerer);
    }

    pub(super) async fn answer(&self, site: Arc<Site>, question: Question) -> Result<()> {
        match self.answerer.get() {
            Some(answer) => answer(site, question).await,
            None => Ok(()),
        }
    }

    pub(crate) fn url(&self) -> Arc<str> {
        self.url.read().clone()
    }

    pub(super) fn set_url(&self, url: &str) {
        *self.url.write() = url.trim_end_matches('/').into();
    }

    /// Records that something waits at these sites.
    pub(super) fn wait(&self, sites: impl IntoIterator<Item = SiteId>) {
        self.waiting.lock().extend(sites);
    }

    /// Takes waiting sites on which no task works, as far as there are permits; the others keep waiting.
    pub(super) fn next_sites(&self) -> Vec<SiteId> {
        let (mut waiting, mut delivering) = (self.waiting.lock(), self.delivering.lock());
        let free = SITES_AT_ONCE.saturating_sub(delivering.len());
        let next: Vec<SiteId> = waiting.iter().filter(|it| !delivering.contains(*it)).take(free).cloned().collect();
        for id in &next {
            waiting.remove(id);
            delivering.insert(id.clone());
        }
        next
    }

    /// A task has ended its work on a site.
    pub(super) fn leave(&self, site: &SiteId) {
        let was_full = {
            let mut delivering = self.delivering.lock();
            let was_full = delivering.len() == SITES_AT_ONCE;
            delivering.remove(site);
            was_full
        };
        // Others waited for it.
        if was_full {
            self.wakeup.notify_one();
        }
    }

    /// At most so many permits to send, waiting for the first.
    pub(super) async fn permits(&self, most: usize) -> Vec<OwnedSemaphorePermit> {
        let first = self.permits.clone().acquire_owned().await;
        let others = std::iter::from_fn(|| self.permits.clone().try_acquire_owned().ok());
        first.into_iter().chain(others).take(most).collect()
    }

    /// Whether one more recovery link may be asked for; then [`MailQueue::recovery_end`] follows.
    pub(crate) fn recovery_begin(&self) -> bool {
        let more = |waiting: usize| (waiting < WAITING).then_some(waiting + 1);
        self.recoveries.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// Also for those that an earlier process was asked for.
    pub(crate) fn recovery_end(&self) {
        let less = |waiting: usize| waiting.checked_sub(1);
        let _ = self.recoveries.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
    }
}
