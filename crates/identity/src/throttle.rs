//! How often someone may try: token buckets in memory for registration, sign-in, new passwords and
//! recovery links.
//!
//! Never for visitors' tokens or refreshes: a refused refresh silently signs the member out
//! (identity.md 21, trap 4). An account's bucket for signing in belongs to one address as well, so that
//! nobody can lock another person out from elsewhere. New passwords are counted by account alone: only
//! whoever holds its token or link gets there.

use parking_lot::Mutex;
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId};

/// Buckets kept; full ones are forgotten first.
const BUCKETS: usize = 50_000;

/// How fast a bucket refills and how much it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub burst: f64,
    pub per_second: f64,
}

#[derive(Debug, Clone)]
pub struct Limits {
    /// Tries at one account of a site from one address.
    pub account: Rate,
    /// Sign-ins at all accounts of a site from one address; those that succeed don't count.
    pub address: Rate,
    /// Registrations at a site from one address: each may send a message to a stranger.
    pub registration: Rate,
    /// New passwords of one account, wherever they come from: each costs a hash.
    pub password: Rate,
    /// Recovery links asked for at a site from one address.
    pub recovery: Rate,
}

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tried {
    SignIn,
    Registration,
    Password,
    Recovery,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            account: Rate { burst: 20.0, per_second: 1.0 / 15.0 },
            address: Rate { burst: 300.0, per_second: 2.0 },
            registration: Rate { burst: 100.0, per_second: 0.2 },
            password: Rate { burst: 20.0, per_second: 1.0 / 60.0 },
            recovery: Rate { burst: 60.0, per_second: 0.1 },
        }
    }
}

pub(crate) struct Throttle {
    limits: Limits,
    hasher: RandomState,
    buckets: Mutex<HashMap<u64, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    left: f64,
    at: Millis,
    rate: Rate,
}

impl Bucket {
    fn refill(&mut self, now: Millis) {
        let passed = (now - self.at).max(0) as f64 / 1000.0;
        self.left = (self.left + passed * self.rate.per_second).min(self.rate.burst);
        self.at = now;
    }
}

/// A try that was let through.
#[must_use]
pub(crate) struct Try(Vec<u64>);

impl Throttle {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, hasher: RandomState::new(), buckets: Mutex::default() }
    }

    /// Takes from the buckets of what is tried, or from none and refuses with [`Code::Throttled`].
    pub(crate) fn attempt(
        &self,
        tried: Tried,
        now: Millis,
        site: &SiteId,
        address: IpAddr,
        account: &str,
    ) -> Result<Try> {
        let network = network(address);
        let by_account = || (self.hasher.hash_one((site.as_str(), network, account)), self.limits.account);
        let by_network = |rate| (self.hasher.hash_one((site.as_str(), network, tried)), rate);
        self.take(
            now,
            match tried {
                Tried::SignIn => vec![by_account(), by_network(self.limits.address)],
                Tried::Registration => vec![by_account(), by_network(self.limits.registration)],
                Tried::Recovery => vec![by_network(self.limits.recovery)],
                Tried::Password => {
                    vec![(self.hasher.hash_one((site.as_str(), tried, account)), self.limits.password)]
                }
            },
        )
    }

    fn take(&self, now: Millis, wanted: Vec<(u64, Rate)>) -> Result<Try> {
        let mut buckets = self.buckets.lock();
        if buckets.len() + 2 > BUCKETS {
            make_room(&mut buckets, now);
        }
        let mut wait = 0.0_f64;
        for &(key, rate) in &wanted {
            let bucket = buckets.entry(key).or_insert(Bucket { left: rate.burst, at: now, rate });
            bucket.refill(now);
            if bucket.left < 1.0 {
                wait = wait.max((1.0 - bucket.left) / rate.per_second);
            }
        }
        if wait > 0.0 {
            return Err(Fault::new(Code::Throttled).with("retryAfterSeconds", wait.ceil() as i64));
        }
        for (key, _) in &wanted {
            if let Some(bucket) = buckets.get_mut(key) {
                bucket.left -= 1.0;
            }
        }
        Ok(Try(wanted.into_iter().map(|it| it.0).collect()))
    }

    /// A try that succeeded does not count.
    pub(crate) fn refund(&self, done: Try) {
        let mut buckets = self.buckets.lock();
        for key in done.0 {
            if let Some(bucket) = buckets.get_mut(&key) {
                bucket.left = (bucket.left + 1.0).min(bucket.rate.burst);
            }
        }
    }
}

/// Forgets what is full again, and when that isn't enough, everything.
fn make_room(buckets: &mut HashMap<u64, Bucket>, now: Millis) {
    buckets.retain(|_, it| {
        it.refill(now);
        it.left < it.rate.burst
    });
    if buckets.len() + 2 > BUCKETS {
        buckets.clear();
    }
}

/// The network that one person is likely to have: an IPv4 address or the first half of an IPv6 one.
fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(it) => u64::from(it.to_bits()),
        IpAddr::V6(it) => (it.to_bits() >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn refuses_after_the_burst_and_refills() {
        let throttle = Throttle::new(Limits {
            account: Rate { burst: 2.0, per_second: 0.5 },
            address: Rate { burst: 3.0, per_second: 1.0 },
            registration: Rate { burst: 1.0, per_second: 1.0 },
            ..Limits::default()
        });
        let (site, here) = (SiteId::from("s"), IpAddr::V4(Ipv4Addr::LOCALHOST));
        let elsewhere = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        let attempt = |now, from, who| throttle.attempt(Tried::SignIn, now, &site, from, who);
        assert!(attempt(0, here, "a").is_ok() && attempt(0, here, "a").is_ok());
        assert_eq!(attempt(0, here, "a").err().map(|it| it.code()), Some(Code::Throttled));
        assert!(attempt(0, elsewhere, "a").is_ok(), "another address is not locked out");
        assert!(attempt(0, here, "b").is_ok());
        assert!(attempt(0, here, "c").is_err(), "the address has used up its tries");
        assert!(throttle.attempt(Tried::Registration, 0, &site, here, "c").is_ok(), "counted apart");
        assert!(throttle.attempt(Tried::Registration, 0, &site, here, "d").is_err());
        assert!(attempt(2_000, here, "a").is_ok());
        let done = attempt(4_000, here, "a");
        done.into_iter().for_each(|it| throttle.refund(it));
        assert!(attempt(4_000, here, "a").is_ok());
    }
}
