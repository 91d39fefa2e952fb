//! Which version's processes die so often that it is left alone for a while.
//!
//! ```text
//! asked ── so many deaths within a minute ──▶ rests ── the pause is over ──▶ one call is let through
//!   ▲                                           ▲                                │            │
//!   │                                           └── twice as long: it dies ──────┘            │
//!   └──────────────────────────────────────────── it is answered ◀──────────────────────────────┘
//! ```

use std::collections::{HashMap, VecDeque};
use stoa_kernel::{Millis, SiteId, limit::MINUTE};

/// How often a pause is doubled.
const DOUBLINGS: u32 = 4;
/// How long it is remembered after its end that a version rested, where nobody asks it.
const MEMORY: Millis = 60 * MINUTE;

#[derive(Default)]
pub struct Deaths {
    /// By number: a version that is activated doesn't forget those of the one before.
    sites: HashMap<SiteId, HashMap<i64, OfVersion>>,
}

#[derive(Default)]
struct OfVersion {
    /// When, within the last minute.
    times: VecDeque<Millis>,
    rest: Option<Rest>,
}

struct Rest {
    until: Millis,
    doubled: u32,
    /// Whether a call was let through that has no answer yet.
    is_probed: bool,
}

/// Whether a version's code is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Asked,
    /// For this call, which shows whether it is from now on.
    Probe,
    Refused,
}

impl Deaths {
    /// Counts the death of a process; for how long the version is left alone now, if it is. Trials have no number.
    pub fn add(&mut self, site: &SiteId, number: i64, now: Millis, (most, pause): (usize, Millis)) -> Option<Millis> {
        if number == 0 {
            return None;
        }
        let it = self.sites.entry(site.clone()).or_default().entry(number).or_default();
        it.note(now);
        let doubled = match &it.rest {
            // Calls that had begun before.
            Some(rest) if now < rest.until => return None,
            Some(rest) => (rest.doubled + 1).min(DOUBLINGS),
            None if it.times.len() >= most => 0,
            None => return None,
        };
        let length = pause << doubled;
        it.rest = Some(Rest { until: now + length, doubled, is_probed: false });
        Some(length)
    }

    /// Whether a call is let through. A probe ends with [`Self::add`], [`Self::mend`] or [`Self::give_up`].
    pub fn turn(&mut self, site: &SiteId, number: i64, now: Millis) -> Turn {
        match self.rest(site, number) {
            None => Turn::Asked,
            Some(rest) if now < rest.until || rest.is_probed => Turn::Refused,
            Some(rest) => {
                rest.is_probed = true;
                Turn::Probe
            }
        }
    }

    /// The probe was answered.
    pub fn mend(&mut self, site: &SiteId, number: i64) {
        if let Some(versions) = self.sites.get_mut(site) {
            versions.remove(&number);
        }
    }

    /// The probe never came to run; another call may be one.
    pub fn give_up(&mut self, site: &SiteId, number: i64) {
        if let Some(rest) = self.rest(site, number) {
            rest.is_probed = false;
        }
    }

    /// Counts that an application failed.
    pub fn note(&mut self, site: &SiteId, number: i64, now: Millis) {
        if number != 0 {
            self.sites.entry(site.clone()).or_default().entry(number).or_default().note(now);
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
            versions.retain(|_, it| {
                let is_resting = it.rest.as_ref().is_some_and(|it| now - it.until < MEMORY);
                is_resting || it.times.back().is_some_and(|time| now - time < MINUTE)
            });
        }
        self.sites.retain(|_, it| !it.is_empty());
    }

    fn rest(&mut self, site: &SiteId, number: i64) -> Option<&mut Rest> {
        self.sites.get_mut(site)?.get_mut(&number)?.rest.as_mut()
    }
}

impl OfVersion {
    fn note(&mut self, now: Millis) {
        self.times.push_back(now);
        self.times.retain(|time| now - time < MINUTE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: (usize, Millis) = (5, MINUTE);

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
        assert_eq!(deaths.turn(&site, 1, 60_999), Turn::Asked);
        deaths.forget(&site);
        assert!(!deaths.is_pausing(&site, 1, 60_999, 3));
    }

    #[test]
    fn version_rests_after_five_deaths_within_a_minute() {
        let (mut deaths, site) = (Deaths::default(), SiteId::from("s"));
        for second in [0, 10, 20, 30, 61] {
            assert_eq!(deaths.add(&site, 1, second * 1_000, RULE), None, "{second}");
            assert_eq!(deaths.turn(&site, 1, second * 1_000), Turn::Asked);
        }
        assert_eq!(deaths.add(&site, 1, 62_000, RULE), Some(MINUTE), "the fifth of the last minute");
        assert_eq!(deaths.add(&site, 1, 62_000, RULE), None, "told once");
        assert_eq!((deaths.turn(&site, 1, 121_999), deaths.turn(&site, 2, 121_999)), (Turn::Refused, Turn::Asked));
        assert_eq!(deaths.add(&site, 2, 62_000, RULE), None, "another version begins anew");
        deaths.sweep(62_000 + MINUTE + MEMORY - 1);
        assert_eq!(deaths.sites.len(), 1);
        deaths.sweep(62_000 + MINUTE + MEMORY);
        assert!(deaths.sites.is_empty());
    }

    #[test]
    fn pauses_of_one_that_dies_again_grow_and_one_call_at_a_time_is_probed() {
        let (mut deaths, site, mut now) = (Deaths::default(), SiteId::from("s"), 0);
        assert_eq!(deaths.add(&site, 1, now, (1, MINUTE)), Some(MINUTE));
        for (pause, next) in [(1, 2), (2, 4), (4, 8), (8, 16), (16, 16), (16, 16)] {
            now += pause * MINUTE;
            assert_eq!(deaths.turn(&site, 1, now - 1), Turn::Refused);
            assert_eq!((deaths.turn(&site, 1, now), deaths.turn(&site, 1, now)), (Turn::Probe, Turn::Refused));
            deaths.give_up(&site, 1);
            assert_eq!((deaths.turn(&site, 1, now), deaths.turn(&site, 1, now)), (Turn::Probe, Turn::Refused));
            assert_eq!(deaths.add(&site, 1, now, (1, MINUTE)), Some(next * MINUTE));
        }
        now += 16 * MINUTE;
        assert_eq!(deaths.turn(&site, 1, now), Turn::Probe);
        deaths.mend(&site, 1);
        assert_eq!((deaths.turn(&site, 1, now), deaths.turn(&site, 1, now)), (Turn::Asked, Turn::Asked));
        assert_eq!(deaths.add(&site, 1, now, (1, MINUTE)), Some(MINUTE), "from the beginning");
    }

    #[test]
    fn resumed_hooks_are_asked_again_and_trials_never_fail() {
        let (mut deaths, site) = (Deaths::default(), SiteId::from("s"));
        assert_eq!(deaths.add(&site, 1, 0, (1, MINUTE)), Some(MINUTE));
        deaths.forget(&site);
        assert_eq!(deaths.turn(&site, 1, 0), Turn::Asked);
        assert_eq!((deaths.add(&site, 0, 0, (1, MINUTE)), deaths.turn(&site, 0, 0)), (None, Turn::Asked));
    }
}
