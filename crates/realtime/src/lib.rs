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

mod behind;
mod change;
mod core;
mod counts;
mod effort;
mod group;
mod limits;
mod mailbox;
mod memory;
mod message;
mod opening;
mod places;
mod request;
mod site_feed;
mod stream;
mod token;

pub use counts::RealtimeCounts;
pub use limits::RealtimeLimits;
pub use opening::{Asker, StreamOpening};
pub use request::StreamRequest;
pub use stream::EventStream;

use crate::core::Core;
use places::Claim;
use std::{sync::Arc, time::Duration};
use stoa_content::Content;
use stoa_kernel::{Code, Fault, Result, World};
use stoa_store::Store;

/// The streams of this process. Cheap to clone.
#[derive(Clone)]
pub struct Realtime {
    core: Arc<Core>,
}

impl Realtime {
    pub fn new(store: Arc<Store>, content: Content, world: World, limits: RealtimeLimits) -> Self {
        Self { core: Arc::new(Core::new(store, content, world, limits)) }
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
        let key = following.feed.start(&core.world).await?;
        let number = core.number();
        Ok(EventStream::new(stream::Opened { opening, following, key, place, number, caller, withdrawn, seen }))
    }

    /// How streams stand on this node.
    pub fn counts(&self) -> RealtimeCounts {
        self.core.counters.read(self.core.places.count(), self.core.groups())
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
