//! Accounts that are guessed at from many addresses: after some attempts each further one has to wait, twice
//! as long every time.
//!
//! An attempt counts before its password is checked, so a hundred at once are no way around; one that
//! succeeds is taken back. Addresses without an account are counted alike. What a person does about it is
//! in `crate::defence::device`: a browser that the account knows passes, and a recovery link ends it.

use std::collections::HashMap;
use stoa_kernel::Millis;

/// Accounts kept; those with the fewest strikes are forgotten first.
const KEPT: usize = 50_000;

/// How long attempts at an account have to wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lockout {
    /// Attempts that don't wait.
    pub free: f64,
    /// The first wait.
    pub first: Millis,
    /// No wait is longer.
    pub longest: Millis,
    /// An attempt is forgotten after this long.
    pub forgotten: Millis,
}

impl Default for Lockout {
    fn default() -> Self {
        Self::from(&crate::IdentityLimits::default())
    }
}

impl From<&crate::IdentityLimits> for Lockout {
    fn from(limits: &crate::IdentityLimits) -> Self {
        Self {
            free: limits.lockout_free as f64,
            first: limits.lockout_first,
            longest: limits.lockout_longest,
            forgotten: limits.lockout_forgotten,
        }
    }
}

impl Lockout {
    /// Doublings that are counted: after these a wait is the longest in any case.
    fn doublings(&self) -> f64 {
        (self.longest.max(1) as f64 / self.first.max(1) as f64).max(1.0).log2().ceil()
    }

    /// The wait after so many attempts.
    fn wait(&self, attempts: f64) -> Millis {
        // Attempts fade bit by bit.
        let over = (attempts - self.free).round();
        if over < 0.0 {
            return 0;
        }
        (self.first as f64 * over.min(self.doublings()).exp2()).min(self.longest as f64) as Millis
    }
}

/// What is remembered of an account.
#[derive(Clone, Copy)]
struct Strikes {
    count: f64,
    at: Millis,
    /// No unknown browser may attempt before.
    until: Millis,
}

impl Strikes {
    fn fade(&mut self, now: Millis, rule: &Lockout) {
        let passed = (now - self.at).max(0) as f64 / rule.forgotten.max(1) as f64;
        self.count = (self.count - passed).max(0.0);
        self.at = now;
    }
}

/// Attempts at accounts, by a number that stands for site and account.
#[derive(Default)]
pub(crate) struct Locks(HashMap<u64, Strikes>);

impl Locks {
    /// How long the next attempt has to wait, in milliseconds.
    pub(crate) fn wait(&self, key: u64, now: Millis) -> Millis {
        self.0.get(&key).map_or(0, |it| (it.until - now).max(0))
    }

    /// Counts an attempt that may be made. Answers whether it is the one after which others begin to wait.
    pub(crate) fn strike(&mut self, key: u64, now: Millis, rule: &Lockout) -> bool {
        if self.0.len() >= KEPT && !self.0.contains_key(&key) {
            self.evict(now, rule);
        }
        let strikes = self.0.entry(key).or_insert(Strikes { count: 0.0, at: now, until: 0 });
        strikes.fade(now, rule);
        let before = strikes.count;
        strikes.count = (before + 1.0).min(rule.free + rule.doublings());
        strikes.until = now + rule.wait(strikes.count);
        before.round() < rule.free && strikes.count.round() >= rule.free
    }

    /// Takes an attempt back that succeeded.
    pub(crate) fn absolve(&mut self, key: u64) {
        if let Some(strikes) = self.0.get_mut(&key) {
            strikes.count = (strikes.count - 1.0).max(0.0);
            strikes.until = 0;
        }
    }

    /// Forgets an account: its password is another one now.
    pub(crate) fn forget(&mut self, key: u64) {
        self.0.remove(&key);
    }

    fn evict(&mut self, now: Millis, rule: &Lockout) {
        self.0.retain(|_, it| {
            it.fade(now, rule);
            it.count > 0.0
        });
        if self.0.len() < KEPT {
            return;
        }
        let mut counts: Vec<f64> = self.0.values().map(|it| it.count).collect();
        let middle = counts.len() / 2;
        let median = *counts.select_nth_unstable_by(middle, f64::total_cmp).1;
        self.0.retain(|_, it| it.count > median);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Lockout = Lockout { free: 3.0, first: 1_000, longest: 5_000, forgotten: 60_000 };

    #[test]
    fn lockout_reaches_the_longest_wait_from_any_first_one() {
        let day = 86_400_000;
        for (first, longest) in [(1_000, day), (1_000, 1_500), (5_000, 1_000), (1, day)] {
            let (mut locks, rule) = (Locks::default(), Lockout { free: 1.0, first, longest, forgotten: 100 * day });
            let mut now = 0;
            let waits = [(); 40].map(|()| {
                locks.strike(1, now, &rule);
                let wait = locks.wait(1, now);
                now += wait;
                wait
            });
            assert_eq!((waits[0], waits[39]), (first.min(longest), longest));
        }
    }

    #[test]
    fn lockout_waits_grow_and_are_forgotten() {
        let mut locks = Locks::default();
        assert_eq!([0; 3].map(|now| locks.strike(1, now, &RULE)), [false, false, true], "told once");
        let mut now = 0;
        for wait in [1_000, 2_000, 4_000, 5_000, 5_000] {
            assert_eq!(locks.wait(1, now), wait);
            now += wait;
            assert_eq!(locks.wait(1, now), 0);
            assert!(!locks.strike(1, now, &RULE));
        }
        assert_eq!(locks.wait(2, now), 0, "another account");
        locks.absolve(1);
        assert_eq!(locks.wait(1, now), 0, "an attempt that succeeded");
        now += 60 * 60_000;
        assert_eq!([0; 3].map(|_| locks.strike(1, now, &RULE)), [false, false, true], "long ago");
        locks.forget(1);
        assert_eq!(locks.wait(1, now), 0);
    }

    #[test]
    fn lockout_keeps_a_guessed_account_in_a_flood() {
        let mut locks = Locks::default();
        for _ in 0..5 {
            locks.strike(0, 0, &RULE);
        }
        for other in 1..=2 * KEPT as u64 {
            locks.strike(other, 0, &RULE);
        }
        assert!(locks.0.len() <= KEPT);
        assert_eq!(locks.wait(0, 0), 4_000);
    }
}
