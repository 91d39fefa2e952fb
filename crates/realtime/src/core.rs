//! What the streams of a process share.

use crate::{
    counts::Counters, effort::Efforts, limits::RealtimeLimits, memory::Memory, places::Places, site_feed::SiteFeed,
};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use stoa_content::Content;
use stoa_kernel::{SiteId, World};
use stoa_store::{Site, Store};
use tokio::sync::watch;

/// What the streams of a process share.
pub(crate) struct Core {
    pub store: Arc<Store>,
    pub content: Content,
    pub world: World,
    pub limits: RealtimeLimits,
    feeds: Mutex<HashMap<SiteId, Followed>>,
    pub places: Arc<Places>,
    pub counters: Arc<Counters>,
    pub efforts: Arc<Efforts>,
    /// For what subscriptions begin with.
    pub memory: Memory,
    pub closing: watch::Sender<bool>,
    streams: AtomicU64,
}

/// A site that is followed.
struct Followed {
    feed: Arc<SiteFeed>,
    streams: usize,
}

/// Keeps a site's log being read.
pub(crate) struct Following {
    pub core: Arc<Core>,
    pub feed: Arc<SiteFeed>,
}

impl Core {
    pub(crate) fn new(store: Arc<Store>, content: Content, world: World, limits: RealtimeLimits) -> Self {
        Self {
            store,
            content,
            world,
            feeds: Mutex::default(),
            places: Arc::default(),
            counters: Arc::default(),
            efforts: Arc::default(),
            memory: Memory::new(&limits),
            closing: watch::Sender::new(false),
            streams: AtomicU64::new(0),
            limits,
        }
    }

    /// A number for a new stream.
    pub(crate) fn number(&self) -> u64 {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.feeds.lock().values().map(|it| it.feed.groups()).sum()
    }

    /// Keeps the log of a site being read for one stream more.
    pub(crate) fn follow(core: &Arc<Self>, site: &Arc<Site>) -> Following {
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
