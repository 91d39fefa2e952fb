//! Streams of changes: what a client subscribed to, told as it happens (decision 30).
//!
//! ```text
//! open ─▶ EventStream ── joins a Group of its SiteFeed ◀── one reader of the site's log
//!              ▲                       │ each row judged once a group
//!              └────── Mailbox ◀───────┘ bounded, one message an item
//! ```
//!
//! A stream's subscriptions are set up one after another: first each joins the group of those who are told the same, then
//! it reads its snapshot, or what it missed, and what the group was told meanwhile is delivered after that, as far as it
//! isn't in it already. Before anything is handed out the stream looks whether something was withdrawn; then it asks
//! again who asks, and what they may see.
//!
//! Nothing here knows HTTP or how a caller is recognised, and no node knows of another: where a client goes on is in the
//! ids of its messages.

mod change;
mod counts;
mod group;
mod limits;
mod mailbox;
mod message;
mod places;
mod request;
mod site_feed;
mod stream;
mod token;

pub use counts::RealtimeCounts;
pub use limits::RealtimeLimits;
pub use request::StreamRequest;
pub use stream::EventStream;

use counts::Counters;
use parking_lot::Mutex;
use places::{Claim, Places};
use site_feed::SiteFeed;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use stoa_content::{Content, Origin};
use stoa_kernel::{Caller, Code, Fault, Millis, Network, Result, SiteId, World};
use stoa_store::{Site, Store, TxFuture};
use tokio::sync::{Semaphore, watch};

/// The streams of this process. Cheap to clone.
#[derive(Clone)]
pub struct Realtime {
    core: Arc<Core>,
}

/// Who opens a stream, and for what.
pub struct StreamOpening {
    pub site: Arc<Site>,
    pub asker: Arc<dyn Asker>,
    /// Which network's places it takes.
    pub network: Network,
    /// Whose turn a snapshot takes.
    pub origin: Origin,
    /// Whose places it takes besides; nothing for callers without a session.
    pub session: Option<String>,
    pub request: StreamRequest,
    /// When what the caller came with ends.
    pub until: Millis,
}

/// Knows who a stream is for.
pub trait Asker: Send + Sync + 'static {
    /// Who asks, as of now; an error ends the stream. Called at the opening, and again after each withdrawal.
    fn caller<'t>(&'t self) -> TxFuture<'t, Caller>;
}

struct Core {
    store: Arc<Store>,
    content: Content,
    world: World,
    limits: RealtimeLimits,
    feeds: Mutex<HashMap<SiteId, Followed>>,
    places: Arc<Places>,
    counters: Arc<Counters>,
    /// Kilobytes that may wait of what subscriptions begin with.
    memory: Arc<Semaphore>,
    closing: watch::Sender<bool>,
    streams: AtomicU64,
}

/// A site that is followed.
struct Followed {
    feed: Arc<SiteFeed>,
    streams: usize,
}

/// Keeps a site's log being read.
struct Following {
    core: Arc<Core>,
    feed: Arc<SiteFeed>,
}

impl Realtime {
    pub fn new(store: Arc<Store>, content: Content, world: World, limits: RealtimeLimits) -> Self {
        let core = Core {
            store,
            content,
            world,
            feeds: Mutex::default(),
            places: Arc::default(),
            counters: Arc::default(),
            memory: Arc::new(Semaphore::new(kilobytes(limits.snapshot_memory.max(limits.snapshot_bytes)))),
            closing: watch::Sender::new(false),
            streams: AtomicU64::new(0),
            limits,
        };
        Self { core: Arc::new(core) }
    }

    pub fn limits(&self) -> &RealtimeLimits {
        &self.core.limits
    }

    /// Opens a stream. What is wrong with one of its subscriptions is told in it.
    ///
    /// # Errors
    /// What the asker answers; [`Code::Throttled`] when the session or the network has as many streams as it may have,
    /// [`Code::Unavailable`] when the site or the node has, and when this node stops.
    pub async fn open(&self, opening: StreamOpening) -> Result<EventStream> {
        let core = &self.core;
        if *core.closing.borrow() {
            return Err(Fault::because(Code::Unavailable, "This node is stopping; try again."));
        }
        let StreamOpening { site, network, session, .. } = &opening;
        let claim = Claim { site: site.id.clone(), network: *network, session: session.clone() };
        let place = core.places.take(claim, &core.limits)?;
        let withdrawn = core.store.withdrawals().watch();
        let seen = *withdrawn.borrow();
        core.store.withdrawals().held().await?;
        let caller = opening.asker.caller().await?;
        let following = Core::follow(core, &opening.site);
        following.feed.start().await?;
        let number = core.streams.fetch_add(1, Ordering::Relaxed);
        Ok(EventStream::new(stream::Opened { opening, following, place, number, caller, withdrawn, seen }))
    }

    /// How streams stand on this node.
    pub fn counts(&self) -> RealtimeCounts {
        let groups = self.core.feeds.lock().values().map(|it| it.feed.groups()).sum();
        self.core.counters.read(self.core.places.count(), groups)
    }

    /// Ends all streams, since this node stops, and opens none any more. Answers when their clients have been told, or
    /// after two seconds.
    pub async fn close(&self) {
        self.core.closing.send_replace(true);
        for _ in 0..100 {
            if self.core.places.count() == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Core {
    fn follow(core: &Arc<Self>, site: &Arc<Site>) -> Following {
        let mut feeds = core.feeds.lock();
        let followed = feeds.entry(site.id.clone()).or_insert_with(|| Followed {
            feed: SiteFeed::new(site.clone(), core.content.clone(), core.counters.clone()),
            streams: 0,
        });
        followed.streams += 1;
        Following { core: core.clone(), feed: followed.feed.clone() }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut feeds = self.core.feeds.lock();
        let Some(followed) = feeds.get_mut(&self.feed.site.id) else { return };
        followed.streams -= 1;
        if followed.streams == 0 {
            feeds.remove(&self.feed.site.id);
        }
    }
}

/// A number of bytes in permits.
fn kilobytes(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}
