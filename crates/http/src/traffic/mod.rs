//! What requests hold at this moment, in all and by network, and how much of it they may.
//!
//! Four things are counted: connections, requests in progress, bytes of bodies and bytes of answers. A request is
//! counted with the network that sent it, behind a trusted proxy too; a connection with its other end. An IPv6
//! network counts with the /48 that it belongs to as well.

mod answer;
mod connection;
mod request;
mod stream;
mod unread;
mod usage;

pub use connection::{Connection, End, OpenConnection};
pub(crate) use request::off_runtime;
pub use request::{InFlight, Kind, Route};
pub use usage::{Resource, Share, Shortage, TICK};

use crate::{Settings, limits::HttpLimits};
use connection::Connections;
use std::{net::SocketAddr, sync::Arc};
use stoa_kernel::Network;
use usage::Usage;

/// What all requests hold.
#[derive(Default)]
pub struct Traffic {
    usage: Arc<Usage>,
    connections: Arc<Connections>,
}

impl Traffic {
    /// Counts a connection that was accepted; nothing when there are as many as there may be, of its network or
    /// in all.
    pub fn open(&self, peer: SocketAddr, settings: &Settings) -> Option<OpenConnection> {
        let is_trusted = settings.trusts(peer.ip());
        let share = if is_trusted { self.usage.unbounded() } else { self.usage.share(Network::of(peer.ip())) };
        match self.connections.open(peer, is_trusted, share, &settings.limits) {
            Ok(it) => Some(it),
            Err(shortage) => {
                self.usage.refuse(Resource::Connections);
                tracing::debug!(%peer, "a connection was refused: no room ({shortage:?})");
                None
            }
        }
    }

    /// The share of a network, which is forgotten when nothing has it any more.
    pub fn share(&self, network: Network) -> Share {
        self.usage.share(network)
    }

    /// How much is held in all.
    pub fn used(&self, what: Resource) -> usize {
        self.usage.used(what)
    }

    /// How often it was refused because there was no room.
    pub fn refused(&self, what: Resource) -> u64 {
        self.usage.refused(what)
    }

    /// Lets a [`TICK`] pass: closes connections whose time is over, and where there is no room those that do
    /// nothing.
    pub fn reap(&self, limits: &HttpLimits) {
        self.connections.reap(&self.usage, limits);
    }

    /// Ends all connections, and tells how many there are.
    pub fn end_all(&self, end: End) -> usize {
        self.connections.end_all(end)
    }
}

#[cfg(test)]
mod tests;
