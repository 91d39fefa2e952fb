//! Memory for what subscriptions begin with: so much in all, and of that so much for one network.

use crate::limits::RealtimeLimits;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};
use stoa_kernel::Network;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A wider network may hold as much as so many networks in it.
const NETWORKS: usize = 4;
/// Who finds no room for so long is to come back later.
const WAIT: Duration = Duration::from_secs(5);
/// Networks that are remembered before those are looked for that hold nothing any more.
const FEW: usize = 64;

/// Room in memory, in kilobytes.
pub(crate) struct Memory {
    all: Arc<Semaphore>,
    of_network: usize,
    networks: Mutex<Networks>,
}

/// The networks that hold room or wait for some, and a few that did.
struct Networks {
    shares: HashMap<Network, Weak<Semaphore>>,
    /// So many are remembered before those are forgotten that hold nothing: twice as many as held some the last time.
    most: usize,
}

/// Room that is given back when this is dropped: that of the network, of the wider one, and of the node.
pub(crate) struct Room(Vec<OwnedSemaphorePermit>);

impl Memory {
    /// Whatever the limits say there is room for one snapshot.
    pub(crate) fn new(limits: &RealtimeLimits) -> Self {
        let of = |bytes: usize| kilobytes(bytes.max(limits.snapshot_bytes));
        Self {
            all: Arc::new(Semaphore::new(of(limits.snapshot_memory))),
            of_network: of(limits.network_snapshot_memory),
            networks: Mutex::new(Networks { shares: HashMap::new(), most: FEW }),
        }
    }

    /// Room for so many bytes, after a few seconds at most; nothing when there was none. A network that has as much as it
    /// may have doesn't wait among those who wait for the node's.
    pub(crate) async fn hold(&self, network: Network, bytes: usize) -> Option<Room> {
        let permits = u32::try_from(kilobytes(bytes)).unwrap_or(u32::MAX);
        let taken = async {
            let mut room = Vec::with_capacity(3);
            for it in self.shares(network) {
                room.push(it.acquire_many_owned(permits).await.ok()?);
            }
            Some(Room(room))
        };
        tokio::time::timeout(WAIT, taken).await.ok().flatten()
    }

    /// Of what room for a network is taken, in this order.
    fn shares(&self, network: Network) -> Vec<Arc<Semaphore>> {
        let mut networks = self.networks.lock();
        if networks.shares.len() >= networks.most {
            networks.shares.retain(|_, it| it.strong_count() > 0);
            networks.most = FEW.max(2 * networks.shares.len());
        }
        let mut of = |network, most| {
            let known = networks.shares.entry(network).or_default();
            known.upgrade().unwrap_or_else(|| {
                let share = Arc::new(Semaphore::new(most));
                *known = Arc::downgrade(&share);
                share
            })
        };
        let wider = Some(network.site()).filter(|it| *it != network);
        let mut shares = vec![of(network, self.of_network)];
        shares.extend(wider.map(|it| of(it, self.of_network.saturating_mul(NETWORKS).min(Semaphore::MAX_PERMITS))));
        shares.push(self.all.clone());
        shares
    }
}

impl Room {
    /// Gives back what is more than so many bytes.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        for it in &mut self.0 {
            let surplus = it.num_permits().saturating_sub(kilobytes(bytes));
            drop(it.split(surplus));
        }
    }
}

/// A number of bytes in permits.
fn kilobytes(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        let snapshot_bytes = 65_536;
        let (network_snapshot_memory, snapshot_memory) = (2 * snapshot_bytes, 20 * snapshot_bytes);
        let limits = RealtimeLimits { snapshot_bytes, network_snapshot_memory, snapshot_memory, ..Default::default() };
        Memory::new(&limits)
    }

    fn network(text: &str) -> Network {
        Network::of(text.parse().expect("an address"))
    }

    async fn has_room(memory: &Memory, text: &str) -> Option<Room> {
        let held = memory.hold(network(text), 65_536);
        tokio::time::timeout(Duration::from_millis(20), held).await.ok().flatten()
    }

    #[tokio::test]
    async fn network_takes_no_more_than_its_share() {
        let memory = memory();
        let mut held = Vec::new();
        while let Some(room) = has_room(&memory, "192.0.2.1").await {
            held.push(room);
        }
        assert_eq!(held.len(), 2);
        let mut other = has_room(&memory, "192.0.2.2").await.expect("another network has its own");
        held[0].shrink(1_024);
        assert!(has_room(&memory, "192.0.2.1").await.is_none(), "not as much as this");
        drop(held);
        assert!(has_room(&memory, "192.0.2.1").await.is_some(), "those who gave up hold nothing");
        other.shrink(0);
        let mut wider = Vec::new();
        for n in 0..9 {
            wider.extend(has_room(&memory, &format!("2001:db8:1:{n}::1")).await);
        }
        assert_eq!(wider.len(), 8, "a /48 has four shares");
        drop((other, wider));
        for n in 0..1_000 {
            drop(has_room(&memory, &format!("198.51.{}.{}", n / 250, n % 250)).await);
        }
        let remembered = memory.networks.lock().shares.len();
        assert!(remembered <= FEW + 1, "networks that hold nothing are forgotten: {remembered}");
        assert_eq!(memory.all.available_permits(), 20 * 64);
    }
}
