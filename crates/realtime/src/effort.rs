//! What judging rows for subscriptions costs: bounded for each network.

use parking_lot::Mutex;
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};
use stoa_content::feed::FeedView;
use stoa_kernel::{Code, Fault, Network, Result};

/// A wider network may ask for as much as so many networks in it.
const NETWORKS: usize = 10;

/// Conditions that are asked of each change, by the network whose subscriptions they are.
#[derive(Default)]
pub(crate) struct Efforts(Mutex<HashMap<Network, usize>>);

/// What one subscription asks for, until this is dropped.
pub(crate) struct Effort {
    all: Arc<Efforts>,
    network: Network,
    cost: usize,
}

/// What a view costs with each change: its conditions, and one for looking at the change at all.
pub(crate) fn cost(view: &FeedView) -> usize {
    1 + view.conditions()
}

impl Efforts {
    /// # Errors
    /// [`Code::Throttled`] when the network's subscriptions have so many conditions together.
    pub(crate) fn take(self: &Arc<Self>, network: Network, cost: usize, most: usize) -> Result<Effort> {
        let mut costs = self.0.lock();
        let is_over = |network: Network, most: usize| costs.get(&network).copied().unwrap_or(0) + cost > most;
        let wider = network.site();
        if is_over(network, most) || wider != network && is_over(wider, most.saturating_mul(NETWORKS)) {
            let text = format!("The subscriptions of this network have more than {most} conditions together.");
            return Err(Fault::because(Code::Throttled, text));
        }
        for it in networks(network) {
            *costs.entry(it).or_default() += cost;
        }
        Ok(Effort { all: self.clone(), network, cost })
    }
}

impl Drop for Effort {
    fn drop(&mut self) {
        let mut costs = self.all.0.lock();
        for it in networks(self.network) {
            if let Entry::Occupied(mut entry) = costs.entry(it) {
                *entry.get_mut() -= self.cost;
                if *entry.get() == 0 {
                    entry.remove();
                }
            }
        }
    }
}

/// The network, and the wider one if there is one.
fn networks(network: Network) -> impl Iterator<Item = Network> {
    let wider = Some(network.site()).filter(|it| *it != network);
    [Some(network), wider].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_bounded_by_network() {
        let efforts = Arc::<Efforts>::default();
        let take = |address: &str, cost| efforts.take(Network::of(address.parse().expect("an address")), cost, 10);
        let held = [take("192.0.2.1", 6), take("192.0.2.1", 4), take("192.0.2.2", 10)];
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(take("192.0.2.1", 1).err().map(|it| it.code()), Some(Code::Throttled));
        drop(held);
        let wider: Vec<_> = (0..11).map(|n| take(&format!("2001:db8:1:{n}::1"), 10)).collect();
        assert_eq!(wider.iter().filter(|it| it.is_ok()).count(), 10, "a /48 has ten shares");
        drop(wider);
        assert!(efforts.0.lock().is_empty(), "what nobody asks for any more is forgotten");
    }
}
