//! Webhooks: what the log of a site tells is sent to the addresses of applications (decision 29).
//!
//! Each endpoint is a consumer of the log with a place of its own, so nothing is written for an event while all goes well.
//! At least once, in order for each entity, with the same id each time. What is signed, and how, is in `message`; which
//! event is sent when, in `delivery`; who manages endpoints, in `endpoint`. HTTP and the command line are not here.

mod access;
mod endpoint;
mod limits;

pub use endpoint::{
    change::EndpointChange,
    secret::EndpointSecret,
    status::EndpointStatus,
    wish::EndpointWish,
    {Endpoint, EndpointState, Format},
};
pub use limits::{Times, WebhookLimits};

use std::sync::Arc;
use stoa_content::Content;
use stoa_identity::Identity;
use stoa_kernel::World;
use stoa_outbound::Reach;
use stoa_store::Consumers;

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
}

impl Webhooks {
    /// Sends nothing yet.
    pub fn new(parts: Parts) -> Self {
        Self { core: Arc::new(Core { parts }) }
    }
}

impl std::ops::Deref for Core {
    type Target = Parts;
    fn deref(&self) -> &Parts {
        &self.parts
    }
}
