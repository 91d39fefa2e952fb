//! How many calls wait for messages at the same time: a few for a site, and for a network, so that a stranger with a key
//! of one site takes nothing from the others.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex},
};
use stoa_kernel::{Code, Fault, Network, Result, SiteId};

/// Calls that wait on all sites, for each that one site may have.
const IN_ALL: usize = 32;
/// When who is refused may come back.
const RETRY_SECONDS: u64 = 5;

/// The calls that wait. One for the process.
#[derive(Default)]
pub struct Waiting(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    sites: HashMap<SiteId, usize>,
    networks: HashMap<Network, usize>,
    all: usize,
}

/// A call that waits, until it is dropped.
pub(crate) struct Waiter {
    counts: Arc<Mutex<Counts>>,
    site: SiteId,
    network: Network,
}

impl Waiting {
    /// Counts a call, of which a site may have `most`, and a network as many on all sites.
    ///
    /// # Errors
    /// [`Code::Throttled`], where there are as many.
    pub(crate) fn enter(&self, site: &SiteId, network: Network, most: usize) -> Result<Waiter> {
        let mut counts = self.0.lock().unwrap_or_else(|it| it.into_inner());
        let of = |it: Option<&usize>| it.copied().unwrap_or(0);
        let what = match () {
            _ if of(counts.sites.get(site)) >= most => "of this site",
            _ if of(counts.networks.get(&network)) >= most => "from this network",
            _ if counts.all >= most.saturating_mul(IN_ALL) => "on this server",
            _ => {
                *counts.sites.entry(site.clone()).or_default() += 1;
                *counts.networks.entry(network).or_default() += 1;
                counts.all += 1;
                return Ok(Waiter { counts: self.0.clone(), site: site.clone(), network });
            }
        };
        let text = format!("Too many calls {what} wait for messages already.");
        Err(Fault::because(Code::Throttled, text).with("retryAfterSeconds", RETRY_SECONDS))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(|it| it.into_inner());
        leave(&mut counts.sites, &self.site);
        leave(&mut counts.networks, &self.network);
        counts.all -= 1;
    }
}

fn leave<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    match counts.get_mut(key) {
        Some(count) if *count > 1 => *count -= 1,
        _ => {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn network(host: u8) -> Network {
        Network::of(Ipv4Addr::new(192, 0, 2, host).into())
    }

    #[test]
    fn calls_that_wait_are_bounded_by_site_network_and_in_all() {
        let waiting = Waiting::default();
        let enter = |site: &str, host: u8| waiting.enter(&SiteId::from(site), network(host), 2);
        let first = enter("a", 1).unwrap();
        let _second = enter("a", 2).unwrap();
        assert!(enter("a", 3).is_err(), "the site has two");
        let _third = enter("b", 1).unwrap();
        assert!(enter("c", 1).is_err(), "the network has two");
        drop(first);
        let fourth = enter("a", 3).unwrap();
        drop(fourth);
        let rest: Vec<_> = (0..62).map(|n| enter(&format!("s{n}"), 100 + n as u8).unwrap()).collect();
        assert!(enter("one more", 99).is_err(), "64 in all");
        drop(rest);
        assert!(enter("one more", 99).is_ok());
    }

    #[test]
    fn nothing_is_kept_of_calls_that_have_ended() {
        let waiting = Waiting::default();
        for n in 0..50 {
            drop(waiting.enter(&SiteId::from(format!("s{n}").as_str()), network(n), 1).unwrap());
        }
        let counts = waiting.0.lock().unwrap();
        assert_eq!((counts.sites.len(), counts.networks.len(), counts.all), (0, 0, 0));
    }
}
