//! How many streams there are, and whose: each takes a place that has an end.

use crate::limits::RealtimeLimits;
use parking_lot::Mutex;
use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    sync::Arc,
};
use stoa_kernel::{Code, Fault, Network, Result, SiteId};

/// A wider network may have as many streams as so many networks in it.
const NETWORKS: usize = 10;
/// In how many seconds who found no place may ask again.
const RETRY: u64 = 5;

#[derive(Default)]
pub(crate) struct Places(Mutex<Taken>);

#[derive(Default)]
struct Taken {
    node: usize,
    sites: HashMap<SiteId, usize>,
    networks: HashMap<Network, usize>,
    sessions: HashMap<(SiteId, String), usize>,
}

/// Who asks for a place.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub site: SiteId,
    pub network: Network,
    pub session: Option<String>,
}

/// The place of a stream, free again when this is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    claim: Claim,
}

impl Places {
    /// # Errors
    /// [`Code::Throttled`] when the session or the network has as many as it may have, [`Code::Unavailable`] when the site
    /// or the node has.
    pub(crate) fn take(self: &Arc<Self>, claim: Claim, limits: &RealtimeLimits) -> Result<Place> {
        let mut taken = self.0.lock();
        let has = |count: Option<&usize>, most: usize| count.is_some_and(|it| *it >= most);
        let session = claim.session.as_ref().map(|it| (claim.site.clone(), it.clone()));
        if session.is_some_and(|it| has(taken.sessions.get(&it), limits.session_streams)) {
            return Err(throttled("This session", limits.session_streams));
        }
        let wider = claim.network.site();
        if has(taken.networks.get(&claim.network), limits.network_streams)
            || wider != claim.network && has(taken.networks.get(&wider), limits.network_streams * NETWORKS)
        {
            return Err(throttled("This network", limits.network_streams));
        }
        if has(taken.sites.get(&claim.site), limits.site_streams) || taken.node >= limits.node_streams {
            let text = "There are too many streams at the moment; try again.";
            return Err(Fault::because(Code::Unavailable, text).with("retryAfterSeconds", RETRY));
        }
        taken.add(&claim);
        Ok(Place { places: self.clone(), claim })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().node
    }
}

fn throttled(who: &str, most: usize) -> Fault {
    let text = format!("{who} has {most} streams, which is as many as it may have.");
    Fault::because(Code::Throttled, text).with("retryAfterSeconds", RETRY)
}

impl Place {
    /// Whose it is.
    pub(crate) fn network(&self) -> Network {
        self.claim.network
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.0.lock().remove(&self.claim);
    }
}

impl Taken {
    fn add(&mut self, claim: &Claim) {
        self.node += 1;
        *self.sites.entry(claim.site.clone()).or_default() += 1;
        for network in networks(claim) {
            *self.networks.entry(network).or_default() += 1;
        }
        if let Some(session) = &claim.session {
            *self.sessions.entry((claim.site.clone(), session.clone())).or_default() += 1;
        }
    }

    fn remove(&mut self, claim: &Claim) {
        self.node -= 1;
        release(&mut self.sites, claim.site.clone());
        for network in networks(claim) {
            release(&mut self.networks, network);
        }
        if let Some(session) = &claim.session {
            release(&mut self.sessions, (claim.site.clone(), session.clone()));
        }
    }
}

fn networks(claim: &Claim) -> impl Iterator<Item = Network> + use<> {
    let wider = Some(claim.network.site()).filter(|it| *it != claim.network);
    [Some(claim.network), wider].into_iter().flatten()
}

fn release<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: K) {
    if let Entry::Occupied(mut it) = counts.entry(key) {
        *it.get_mut() -= 1;
        if *it.get() == 0 {
            it.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(site: &str, address: &str, session: Option<&str>) -> Claim {
        let network = Network::of(address.parse().expect("an address"));
        Claim { site: site.into(), network, session: session.map(str::to_owned) }
    }

    fn limits() -> RealtimeLimits {
        RealtimeLimits {
            session_streams: 2,
            network_streams: 3,
            site_streams: 5,
            node_streams: 7,
            ..Default::default()
        }
    }

    #[test]
    fn places_are_bounded_by_session_network_site_and_node() {
        let (places, limits) = (Arc::new(Places::default()), limits());
        let take = |site, address, session| places.take(claim(site, address, session), &limits);
        let mut held = vec![take("a", "192.0.2.1", Some("s")), take("a", "192.0.2.2", Some("s"))];
        let code = |it: Result<Place>| it.err().map(|it| it.code());
        assert_eq!(code(take("a", "192.0.2.3", Some("s"))), Some(Code::Throttled), "the session has two");
        held.push(take("b", "192.0.2.3", Some("s")));
        assert!(held.iter().all(Result::is_ok), "sessions are a site's");
        held.extend([take("a", "192.0.2.1", None), take("b", "192.0.2.1", None)]);
        assert_eq!(code(take("b", "192.0.2.1", None)), Some(Code::Throttled), "the network has three");
        held.extend([take("a", "192.0.2.5", None), take("a", "192.0.2.6", None)]);
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(code(take("a", "192.0.2.7", None)), Some(Code::Unavailable), "the site has five, the node seven");
        assert_eq!(code(take("c", "192.0.2.7", None)), Some(Code::Unavailable));
        held.clear();
        assert_eq!(places.count(), 0);
        let taken = places.0.lock();
        assert!(taken.sites.is_empty() && taken.networks.is_empty() && taken.sessions.is_empty());
    }

    #[test]
    fn wider_network_is_bounded_as_well() {
        let places = Arc::new(Places::default());
        let limits = RealtimeLimits { network_streams: 1, ..limits() };
        let limits = RealtimeLimits { site_streams: 100, node_streams: 100, ..limits };
        let take = |n: usize| places.take(claim("a", &format!("2001:db8:1:{n}::1"), None), &limits);
        let held: Vec<_> = (0..10).map(take).collect();
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(take(10).err().map(|it| it.code()), Some(Code::Throttled));
    }
}
