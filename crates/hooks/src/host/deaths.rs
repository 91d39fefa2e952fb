//! Which version's processes die so often that none is started any more.

use std::collections::{HashMap, VecDeque};
use stoa_kernel::{Millis, SiteId, limit::MINUTE};

#[derive(Default)]
pub struct Deaths {
    /// By number, so that versions of several environments don't forget each other's.
    sites: HashMap<SiteId, HashMap<i64, OfVersion>>,
}

#[derive(Default)]
struct OfVersion {
    /// When, within the last minute.
    times: VecDeque<Millis>,
    is_failing: bool,
}

impl Deaths {
    /// Counts the death of a process; true where it is the one that makes the hooks fail. Trials have no number.
    pub fn add(&mut self, site: &SiteId, number: i64, now: Millis, most: usize) -> bool {
        if number == 0 {
            return false;
        }
        let it = self.sites.entry(site.clone()).or_default().entry(number).or_default();
        it.times.push_back(now);
        it.times.retain(|time| now - time < MINUTE);
        let was_failing = it.is_failing;
        it.is_failing |= it.times.len() >= most;
        it.is_failing && !was_failing
    }

    pub fn is_failing(&self, site: &SiteId, number: i64) -> bool {
        self.sites.get(site).and_then(|it| it.get(&number)).is_some_and(|it| it.is_failing)
    }

    /// Counts that an application failed.
    pub fn note(&mut self, site: &SiteId, number: i64, now: Millis) {
        if number != 0 {
            let it = self.sites.entry(site.clone()).or_default().entry(number).or_default();
            it.times.push_back(now);
            it.times.retain(|time| now - time < MINUTE);
        }
    }

    /// Whether an application failed so often within the last minute that it is not asked.
    pub fn is_pausing(&self, site: &SiteId, number: i64, now: Millis, most: usize) -> bool {
        let times = self.sites.get(site).and_then(|it| it.get(&number)).map(|it| &it.times);
        times.is_some_and(|it| it.iter().filter(|time| now - **time < MINUTE).count() >= most)
    }

    pub fn forget(&mut self, site: &SiteId) {
        self.sites.remove(site);
    }

    /// Drops what no longer counts.
    pub fn sweep(&mut self, now: Millis) {
        for versions in self.sites.values_mut() {
            versions.retain(|_, it| it.is_failing || it.times.back().is_some_and(|time| now - time < MINUTE));
        }
        self.sites.retain(|_, it| !it.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn application_that_fails_is_asked_again_when_a_minute_has_passed() {
        let (mut deaths, site) = (Deaths::default(), SiteId::from("s"));
        for time in [0, 1_000, 2_000] {
            assert!(!deaths.is_pausing(&site, 1, time, 3), "{time}");
            deaths.note(&site, 1, time);
        }
        assert!(deaths.is_pausing(&site, 1, 59_999, 3));
        assert!(!deaths.is_pausing(&site, 2, 59_999, 3), "another version");
        assert!(!deaths.is_pausing(&site, 1, 60_000, 3));
        deaths.note(&site, 1, 60_000);
        assert!(deaths.is_pausing(&site, 1, 60_999, 3));
        assert!(!deaths.is_failing(&site, 1));
        deaths.forget(&site);
        assert!(!deaths.is_pausing(&site, 1, 60_999, 3));
    }

    #[test]
    fn five_deaths_within_a_minute_make_a_version_fail() {
        let (mut deaths, site) = (Deaths::default(), SiteId::from("s"));
        for second in [0, 10, 20, 30, 61] {
            assert!(!deaths.add(&site, 1, second * 1_000, 5), "{second}");
        }
        assert!(deaths.add(&site, 1, 62_000, 5), "the fifth of the last minute");
        assert!(!deaths.add(&site, 1, 62_000, 5), "told once");
        deaths.sweep(1_000_000);
        assert!(deaths.is_failing(&site, 1) && !deaths.is_failing(&site, 2));
        assert!(!deaths.add(&site, 2, 62_000, 5), "another version starts at zero");
        assert!(deaths.is_failing(&site, 1), "another version's deaths don't mend it");
        deaths.forget(&site);
        deaths.add(&site, 2, 62_000, 5);
        deaths.sweep(200_000);
        assert!(deaths.sites.is_empty());
    }

    #[test]
    fn resumed_hooks_are_asked_again_and_trials_never_fail() {
        let (mut deaths, site) = (Deaths::default(), SiteId::from("s"));
        assert!(deaths.add(&site, 1, 0, 1));
        deaths.forget(&site);
        assert!(!deaths.is_failing(&site, 1));
        assert!(!deaths.add(&site, 0, 0, 1) && !deaths.is_failing(&site, 0));
    }
}
