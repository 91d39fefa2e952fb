//! What every handler can reach.

use crate::{ExchangeLog, Graphql, Settings, Waiting, metrics::Metrics, traffic::Traffic};
use std::sync::Arc;
use stoa_content::Content;
use stoa_identity::Identity;
use stoa_kernel::World;
use stoa_realtime::Realtime;
use stoa_store::Store;
use stoa_webhooks::Webhooks;

/// The state of the router; cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Arc<Store>,
    pub world: World,
    pub identity: Identity,
    pub content: Content,
    pub realtime: Realtime,
    pub webhooks: Webhooks,
    /// Calls that wait for messages of webhooks.
    pub waiting: Arc<Waiting>,
    pub graphql: Arc<Graphql>,
    pub settings: Arc<Settings>,
    /// What requests hold.
    pub traffic: Arc<Traffic>,
    /// What is counted for those who watch.
    pub metrics: Arc<Metrics>,
    /// Where a test wants to read what was asked and answered.
    pub exchanges: Option<ExchangeLog>,
}
