//! How often something may be attempted: token buckets in memory for registration, sign-in, new passwords, recovery
//! links, captcha tokens, codes by telephone and what a sign-in writes down. They are of three kinds, by network address, by
//! account and for a whole site, and an attempt takes from all that concern it, or from none.
//!
//! Never for visitors' tokens or refreshes: a refused refresh silently signs the member out
//! (docs/protocol/identity.md §21.4). A person refused because of what others attempted may still sign in from a
//! browser that the account knows (`crate::defence::device`), which has a bucket of its own. New passwords are
//! counted by account alone: only the holder of its token or link gets there.

pub use super::lockout::Lockout;

use super::lockout::Locks;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId};

/// Buckets kept; the fullest are forgotten first.
const BUCKETS: usize = 50_000;

/// How fast a bucket refills and how much it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    pub burst: f64,
    pub per_second: f64,
}

impl Rate {
    fn hourly(burst: usize, per_hour: usize) -> Self {
        Self { burst: burst as f64, per_second: per_hour as f64 / 3_600.0 }
    }
}

#[derive(Debug, Clone)]
pub struct ThrottleLimits {
    /// Attempts at one account of a site from one address.
    pub account: Rate,
    /// Sign-ins at one account from anywhere but the browsers that it knows.
    pub lockout: Lockout,
    /// Sign-ins from one browser that the account knows, once others have used up the rest.
    pub device: Rate,
    /// Sign-ins at all accounts of a site from one address; those that succeed don't count.
    pub address: Rate,
    /// Registrations at a site from one address: each may send a message to a stranger. Codes to addresses that members want as
    /// many, by themselves.
    pub registration: Rate,
    /// New passwords of one account, wherever they come from: each costs a hash. Changes of its second factors as many, by
    /// themselves.
    pub password: Rate,
    /// Copies of what is known of one member, wherever they are asked for.
    pub export: Rate,
    /// Recovery links asked for at a site from one address.
    pub recovery: Rate,
    /// Tokens that a site's captcha provider is asked about, from one address; good ones don't count.
    pub captcha: Rate,
    /// Codes by telephone that are asked for at a site from one address. How many are sent is counted in the database
    /// (`crate::telephone`).
    pub telephone: Rate,
    /// Flows and redirect sessions begun at a site from one address: each is a row that lives for a while.
    pub flow: Rate,
    /// The same for a whole site, wherever it comes from.
    pub site: SiteLimits,
}

/// What a site takes from all addresses together, the browsers that its accounts know not counted.
#[derive(Debug, Clone)]
pub struct SiteLimits {
    /// Those that succeed don't count.
    pub sign_in: Rate,
    pub registration: Rate,
    pub recovery: Rate,
    pub flow: Rate,
}

/// What is attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AttemptKind {
    SignIn,
    /// A second factor, or a passkey in the place of a password. Wrong codes are counted by member in the database (`crate::factor`).
    Factor,
    /// A change of an account's second factors: each may send a message.
    FactorChange,
    /// A copy of what is known of a member.
    Export,
    /// A code that goes to an address which a member wants: it may be a stranger's.
    EmailChange,
    Registration,
    Password,
    Recovery,
    Captcha,
    /// A code by telephone.
    Telephone,
    Flow,
}

impl Default for ThrottleLimits {
    fn default() -> Self {
        Self::from(&crate::IdentityLimits::default())
    }
}

impl From<&crate::IdentityLimits> for ThrottleLimits {
    fn from(limits: &crate::IdentityLimits) -> Self {
        Self {
            account: Rate::hourly(limits.account_burst, limits.account_per_hour),
            lockout: Lockout::from(limits),
            device: Rate::hourly(limits.device_burst, limits.device_per_hour),
            address: Rate::hourly(limits.address_burst, limits.address_per_hour),
            registration: Rate::hourly(limits.registration_burst, limits.registration_per_hour),
            password: Rate::hourly(limits.password_burst, limits.password_per_hour),
            export: Rate::hourly(limits.export_burst, limits.export_per_hour),
            recovery: Rate::hourly(limits.recovery_burst, limits.recovery_per_hour),
            captcha: Rate::hourly(limits.captcha_burst, limits.captcha_per_hour),
            telephone: Rate::hourly(limits.telephone_burst, limits.telephone_per_hour),
            flow: Rate::hourly(limits.flow_burst, limits.flow_per_hour),
            site: SiteLimits {
                sign_in: Rate::hourly(limits.site_sign_in_burst, limits.site_sign_in_per_hour),
                registration: Rate::hourly(limits.site_registration_burst, limits.site_registration_per_hour),
                recovery: Rate::hourly(limits.site_recovery_burst, limits.site_recovery_per_hour),
                flow: Rate::hourly(limits.site_flow_burst, limits.site_flow_per_hour),
            },
        }
    }
}

pub(crate) struct Throttle {
    limits: ThrottleLimits,
    hasher: RandomState,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    buckets: HashMap<u64, Bucket>,
    locks: Locks,
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

    /// Seconds until there is enough for one attempt.
    fn wait(&self) -> f64 {
        ((1.0 - self.left) / self.rate.per_second).max(0.0)
    }
}

/// An attempt that was let through.
#[must_use]
#[derive(Debug)]
pub(crate) struct Permit {
    buckets: Vec<u64>,
    lock: Option<u64>,
    /// The account has to wait from now on: this is reported once.
    pub(crate) is_last_free: bool,
}

impl Throttle {
    pub(crate) fn new(limits: ThrottleLimits) -> Self {
        Self { limits, hasher: RandomState::new(), counts: Mutex::default() }
    }

    /// Takes from the buckets of what is attempted, or from none and refuses with [`Code::Throttled`].
    pub(crate) fn attempt(
        &self,
        kind: AttemptKind,
        now: Millis,
        site: &SiteId,
        address: IpAddr,
        account: &str,
    ) -> Result<Permit> {
        let (limits, network) = (&self.limits, network(address));
        let by_account = || (self.hasher.hash_one((site.as_str(), network, account)), limits.account);
        let by_network = |rate| (self.hasher.hash_one((site.as_str(), network, kind)), rate);
        let by_site = |rate| (self.hasher.hash_one((site.as_str(), kind)), rate);
        let anywhere = |rate| (self.hasher.hash_one((site.as_str(), kind, account)), rate);
        match kind {
            AttemptKind::SignIn => {
                let lock = Some(self.lock_of(site, account));
                self.take(now, &[by_account(), by_network(limits.address), by_site(limits.site.sign_in)], lock)
            }
            // Not for the site as a whole, as for captcha tokens.
            AttemptKind::Factor => self.take(now, &[by_network(limits.address)], None),
            AttemptKind::Registration => {
                let site = by_site(limits.site.registration);
                self.take(now, &[by_account(), by_network(limits.registration), site], None)
            }
            AttemptKind::Recovery => {
                self.take(now, &[by_network(limits.recovery), by_site(limits.site.recovery)], None)
            }
            // Not for the site as a whole: one sender of nonsense would use up what all need.
            AttemptKind::Captcha => self.take(now, &[by_network(limits.captcha)], None),
            AttemptKind::Telephone => self.take(now, &[by_network(limits.telephone)], None),
            AttemptKind::Flow => self.take(now, &[by_network(limits.flow), by_site(limits.site.flow)], None),
            // By the network that asks, and by the address that gets the message.
            AttemptKind::EmailChange => {
                self.take(now, &[by_network(limits.registration), anywhere(limits.password)], None)
            }
            AttemptKind::Export => self.take(now, &[anywhere(limits.export)], None),
            AttemptKind::Password | AttemptKind::FactorChange => self.take(now, &[anywhere(limits.password)], None),
        }
    }

    /// A sign-in from a browser that the account knows: it has a bucket of its own.
    pub(crate) fn attempt_known(&self, now: Millis, site: &SiteId, device: &[u8]) -> Result<Permit> {
        let key = self.hasher.hash_one((site.as_str(), "device", device));
        self.take(now, &[(key, self.limits.device)], None)
    }

    fn take(&self, now: Millis, wanted: &[(u64, Rate)], lock: Option<u64>) -> Result<Permit> {
        let Counts { buckets, locks } = &mut *self.counts.lock();
        let mut wait = lock.map_or(0, |key| locks.wait(key, now)) as f64 / 1000.0;
        for (key, _) in wanted {
            // One that is not there is full.
            if let Some(bucket) = buckets.get_mut(key) {
                bucket.refill(now);
                wait = wait.max(bucket.wait());
            }
        }
        if wait > 0.0 {
            return Err(Fault::new(Code::Throttled).with("retryAfterSeconds", wait.ceil() as i64));
        }
        if buckets.len() + wanted.len() > BUCKETS {
            evict(buckets, now);
        }
        for &(key, rate) in wanted {
            buckets.entry(key).or_insert(Bucket { left: rate.burst, at: now, rate }).left -= 1.0;
        }
        let is_last_free = lock.is_some_and(|key| locks.strike(key, now, &self.limits.lockout));
        Ok(Permit { buckets: wanted.iter().map(|it| it.0).collect(), lock, is_last_free })
    }

    /// An attempt that succeeded does not count.
    pub(crate) fn refund(&self, permit: Permit) {
        let Counts { buckets, locks } = &mut *self.counts.lock();
        for key in permit.buckets {
            if let Some(bucket) = buckets.get_mut(&key) {
                bucket.left = (bucket.left + 1.0).min(bucket.rate.burst);
            }
        }
        if let Some(key) = permit.lock {
            locks.absolve(key);
        }
    }

    /// Gives a network back what a code by telephone took from it that was asked for in another request.
    pub(crate) fn give_back_telephone(&self, site: &SiteId, address: IpAddr) {
        let key = self.hasher.hash_one((site.as_str(), network(address), AttemptKind::Telephone));
        self.refund(Permit { buckets: vec![key], lock: None, is_last_free: false });
    }

    /// What was guessed of an account is worth nothing any more.
    pub(crate) fn unlock(&self, site: &SiteId, account: &str) {
        let key = self.lock_of(site, account);
        self.counts.lock().locks.forget(key);
    }

    fn lock_of(&self, site: &SiteId, account: &str) -> u64 {
        self.hasher.hash_one((site.as_str(), "lock", account))
    }
}

/// Forgets what is full again, and when that isn't enough, the fuller half of the rest.
fn evict(buckets: &mut HashMap<u64, Bucket>, now: Millis) {
    buckets.retain(|_, it| {
        it.refill(now);
        it.left < it.rate.burst
    });
    if buckets.len() < BUCKETS / 2 {
        return;
    }
    let used = |it: &Bucket| it.rate.burst - it.left;
    let mut all: Vec<f64> = buckets.values().map(used).collect();
    let middle = all.len() / 2;
    let median = *all.select_nth_unstable_by(middle, f64::total_cmp).1;
    buckets.retain(|_, it| used(it) > median);
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
    fn throttle_refuses_after_the_burst_and_refills() {
        let throttle = Throttle::new(ThrottleLimits {
            account: Rate { burst: 2.0, per_second: 0.5 },
            address: Rate { burst: 3.0, per_second: 1.0 },
            registration: Rate { burst: 1.0, per_second: 1.0 },
            ..ThrottleLimits::default()
        });
        let (site, here) = (SiteId::from("s"), IpAddr::V4(Ipv4Addr::LOCALHOST));
        let elsewhere = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        let attempt = |now, from, who| throttle.attempt(AttemptKind::SignIn, now, &site, from, who);
        assert!(attempt(0, here, "a").is_ok() && attempt(0, here, "a").is_ok());
        assert_eq!(attempt(0, here, "a").err().map(|it| it.code()), Some(Code::Throttled));
        assert!(attempt(0, elsewhere, "a").is_ok(), "another address is not locked out");
        assert!(attempt(0, here, "b").is_ok());
        assert!(attempt(0, here, "c").is_err(), "the address has used up its attempts");
        assert!(throttle.attempt(AttemptKind::Registration, 0, &site, here, "c").is_ok(), "counted apart");
        assert!(throttle.attempt(AttemptKind::Registration, 0, &site, here, "d").is_err());
        assert!(attempt(2_000, here, "a").is_ok());
        let done = attempt(4_000, here, "a");
        done.into_iter().for_each(|it| throttle.refund(it));
        assert!(attempt(4_000, here, "a").is_ok());
    }
    #[test]
    fn throttle_bounds_each_site_alone() {
        let site = SiteLimits { sign_in: Rate { burst: 5.0, per_second: 1.0 }, ..ThrottleLimits::default().site };
        let throttle = Throttle::new(ThrottleLimits { site, ..ThrottleLimits::default() });
        let attempt = |site: &str, n: u8| {
            let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, n));
            throttle.attempt(AttemptKind::SignIn, 0, &SiteId::from(site), from, &format!("{n}"))
        };
        assert!((0..5).all(|n| attempt("s", n).is_ok()));
        let refused = attempt("s", 5).err().map(|it| (it.code(), it.data().get("retryAfterSeconds").cloned()));
        assert_eq!(refused, Some((Code::Throttled, Some(1.into()))));
        assert!(attempt("t", 6).is_ok(), "another site");
        assert!(throttle.attempt_known(0, &SiteId::from("s"), b"a browser").is_ok());
    }

    #[test]
    fn throttle_of_second_factors_is_used_up_for_no_other_network() {
        let throttle = Throttle::new(ThrottleLimits::default());
        let site = SiteId::from("s");
        let from = |n: u8| IpAddr::V4(Ipv4Addr::new(10, 0, 0, n));
        for n in 0..20 {
            while throttle.attempt(AttemptKind::Factor, 0, &site, from(n), "").is_ok() {}
        }
        assert!(throttle.attempt(AttemptKind::Factor, 0, &site, from(20), "").is_ok());
    }

    #[test]
    fn throttle_keeps_nothing_of_what_it_refuses() {
        let throttle = Throttle::new(ThrottleLimits {
            address: Rate { burst: 1.0, per_second: 0.1 },
            ..ThrottleLimits::default()
        });
        let (site, here) = (SiteId::from("s"), IpAddr::V4(Ipv4Addr::LOCALHOST));
        for n in 0..1_000 {
            let _ = throttle.attempt(AttemptKind::SignIn, 0, &site, here, &format!("{n}"));
        }
        assert_eq!(throttle.counts.lock().buckets.len(), 3);
    }

    #[test]
    fn throttle_keeps_the_busiest_in_a_flood_of_addresses() {
        let (mut buckets, here) = (HashMap::new(), Rate { burst: 10.0, per_second: 0.01 });
        buckets.insert(u64::MAX, Bucket { left: 0.0, at: 0, rate: here });
        for n in 0..BUCKETS as u64 {
            buckets.insert(n, Bucket { left: 9.0, at: 0, rate: here });
        }
        evict(&mut buckets, 0);
        assert!(buckets.len() < BUCKETS && buckets.contains_key(&u64::MAX));
    }

    #[test]
    fn throttle_rates_are_the_configured_ones() {
        type Set = fn(&mut crate::IdentityLimits) -> (&mut usize, &mut usize);
        type Row = (&'static str, Set, AttemptKind, fn(u8) -> u8, fn(u8) -> u8);
        let (one, many) = (|_: u8| 0, |n: u8| n);
        let rows: [Row; 12] = [
            ("account", |it| (&mut it.account_burst, &mut it.account_per_hour), AttemptKind::SignIn, one, one),
            ("address", |it| (&mut it.address_burst, &mut it.address_per_hour), AttemptKind::SignIn, one, many),
            (
                "registration",
                |it| (&mut it.registration_burst, &mut it.registration_per_hour),
                AttemptKind::Registration,
                one,
                many,
            ),
            ("password", |it| (&mut it.password_burst, &mut it.password_per_hour), AttemptKind::Password, many, one),
            ("recovery", |it| (&mut it.recovery_burst, &mut it.recovery_per_hour), AttemptKind::Recovery, one, many),
            ("captcha", |it| (&mut it.captcha_burst, &mut it.captcha_per_hour), AttemptKind::Captcha, one, many),
            (
                "telephone",
                |it| (&mut it.telephone_burst, &mut it.telephone_per_hour),
                AttemptKind::Telephone,
                one,
                many,
            ),
            ("flow", |it| (&mut it.flow_burst, &mut it.flow_per_hour), AttemptKind::Flow, one, many),
            (
                "site_sign_in",
                |it| (&mut it.site_sign_in_burst, &mut it.site_sign_in_per_hour),
                AttemptKind::SignIn,
                many,
                many,
            ),
            (
                "site_registration",
                |it| (&mut it.site_registration_burst, &mut it.site_registration_per_hour),
                AttemptKind::Registration,
                many,
                many,
            ),
            (
                "site_recovery",
                |it| (&mut it.site_recovery_burst, &mut it.site_recovery_per_hour),
                AttemptKind::Recovery,
                many,
                many,
            ),
            ("site_flow", |it| (&mut it.site_flow_burst, &mut it.site_flow_per_hour), AttemptKind::Flow, many, many),
        ];
        let site = SiteId::from("s");
        for (name, set, kind, address, account) in rows {
            let mut limits = crate::IdentityLimits::default();
            let (burst, per_hour) = set(&mut limits);
            (*burst, *per_hour) = (3, 360);
            let throttle = Throttle::new(ThrottleLimits::from(&limits));
            let attempt = |now, n: u8| {
                let from = IpAddr::V4(Ipv4Addr::new(10, 0, 0, address(n)));
                throttle.attempt(kind, now, &site, from, &format!("{}", account(n)))
            };
            assert!((0..3).all(|n| attempt(0, n).is_ok()), "{name}");
            let refused = attempt(0, 3).err().map(|it| (it.code(), it.data().get("retryAfterSeconds").cloned()));
            assert_eq!(refused, Some((Code::Throttled, Some(10.into()))), "{name}");
            assert!(attempt(9_900, 4).is_err() && attempt(10_000, 5).is_ok(), "{name}");
        }
        let limits =
            crate::IdentityLimits { device_burst: 3, device_per_hour: 360, ..crate::IdentityLimits::default() };
        let throttle = Throttle::new(ThrottleLimits::from(&limits));
        assert!((0..3).all(|_| throttle.attempt_known(0, &site, b"a browser").is_ok()));
        assert!(throttle.attempt_known(0, &site, b"a browser").is_err());
    }
}
