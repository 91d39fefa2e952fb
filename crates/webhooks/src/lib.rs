//! Webhooks: what the log of a site tells is sent to the addresses of applications (decision 29).
//!
//! Each endpoint is a consumer of the log with a place of its own, so nothing is written for an event while all goes well.
//! At least once, in order for each entity, with the same id each time. What is signed, and how, is in `message`; which
//! event is sent when, in `delivery`; who manages endpoints, in `endpoint`. HTTP and the command line are not here.

mod access;
mod call;
mod delivery;
mod endpoint;
mod limits;
mod message;
mod plugin;

pub use call::{
    events::{EventPage, EventQuery, WaitingEvent},
    pull::{Pull, Pulled},
    replay::{Replay, Replayed},
    test::TestOutcome,
};
pub use delivery::{counts::WebhookCounts, queue::EventState};
pub use endpoint::{
    change::{EndpointChange, Resumption},
    secret::EndpointSecret,
    status::EndpointStatus,
    wish::EndpointWish,
    {Endpoint, EndpointState, Format},
};
pub use limits::{Times, WebhookLimits};
pub use message::Message;

use call::test::Tests;
use delivery::{counts::Counts, lanes::Lanes, worker::Sender};
use parking_lot::Mutex;
use plugin::Signing;
use std::sync::Arc;
use stoa_content::Content;
use stoa_identity::Identity;
use stoa_kernel::{Result, World};
use stoa_outbound::Reach;
use stoa_store::{Consumers, Names, Serving};
use tokio::sync::watch;

/// What other crates hold of webhooks. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks {
    core: Arc<Core>,
}

/// What webhooks are made of.
#[derive(Clone)]
pub struct Parts {
    pub content: Content,
    pub identity: Identity,
    /// The way out.
    pub reach: Reach,
    /// The consumers that this node works for.
    pub consumers: Consumers,
    pub world: World,
    pub limits: WebhookLimits,
    pub times: Times,
}

/// What the folders work with.
struct Core {
    parts: Parts,
    counts: Arc<Counts>,
    /// Goes up with each change of an endpoint by this process.
    changes: watch::Sender<u64>,
    tests: Tests,
    signing: Signing,
    /// Started when first something is sent.
    lanes: Mutex<Option<Arc<Lanes>>>,
}

impl Webhooks {
    /// Sends nothing yet.
    pub fn new(parts: Parts) -> Self {
        let (changes, _) = watch::channel(0);
        Self {
            core: Arc::new(Core {
                parts,
                counts: Arc::default(),
                changes,
                tests: Tests::default(),
                signing: Signing::default(),
                lanes: Mutex::default(),
            }),
        }
    }

    /// Sends for endpoints, as many as are this node's share, for as long as what is answered lives. From within a
    /// runtime.
    pub fn start(&self) -> Serving {
        self.core.consumers.serve(Names::Kind(endpoint::CONSUMERS), Arc::new(Sender(self.core.clone())))
    }

    /// What this process did.
    pub fn counts(&self) -> WebhookCounts {
        self.core.counts.read()
    }
}

impl Core {
    /// An endpoint is another one now: whoever sends for it in this process looks at once. Other nodes find that their
    /// lease is gone.
    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// The threads that sign and send.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Internal`] when the system has none.
    fn lanes(&self) -> Result<Arc<Lanes>> {
        let mut lanes = self.lanes.lock();
        match &*lanes {
            Some(it) => Ok(it.clone()),
            None => Ok(lanes.insert(Arc::new(Lanes::start(&self.limits)?)).clone()),
        }
    }
}

impl std::ops::Deref for Core {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.parts
    }
}
