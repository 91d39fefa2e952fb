//! Asks a service whether a password is known from a leak, by the range query of Pwned Passwords: the first five digits
//! of its SHA-1 are sent, and the service answers with the rest of every hash that it knows and that begins so. It
//! learns neither the password nor whether it knows it.
//!
//! Nobody is kept from choosing a password because a service fails: a question is short, few are asked at the same
//! time, each network has a share of these, and a service that fails several times in a row is left alone for a while.

use crate::{
    reach::{Call, Reach, Target, Unreached},
    turns::{TurnLimits, Turns},
};
use bytes::Bytes;
use hyper::{
    HeaderMap, Method,
    header::{ACCEPT, HeaderName, HeaderValue},
};
use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use stoa_kernel::Millis;

/// Digits of a hash that are sent, and those that stay here.
const PREFIX: usize = 5;
const SUFFIX: usize = 35;
/// The largest answer that is read, in bytes: several times what a padded one has.
const LARGEST: usize = 256 * 1024;
/// After so many failures in a row nothing is asked for [`PAUSE`], then by one question at a time.
const FAILURES: u32 = 3;
const PAUSE: Millis = 60_000;

/// How much the service may hold up.
#[derive(Debug, Clone)]
pub struct HashRangeLimits {
    /// For a question, from its beginning to its end.
    pub timeout: Duration,
    /// For waiting for a turn before it.
    pub wait: Duration,
    /// Questions at the same time.
    pub at_once: usize,
    /// Those of one network among them.
    pub of_network: usize,
    /// Further ones of a network that may wait for their turn.
    pub waiting: usize,
}

impl Default for HashRangeLimits {
    fn default() -> Self {
        let (timeout, wait) = (Duration::from_millis(1_500), Duration::from_millis(500));
        Self { timeout, wait, at_once: 16, of_network: 4, waiting: 16 }
    }
}

/// How questions went since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HashRangeCounts {
    pub known: u64,
    pub unknown: u64,
    /// Those without an answer, the ones included that were not asked.
    pub unanswered: u64,
}

/// Asks one service. Cheap to clone; what it bounds, it bounds for all who hold a copy.
#[derive(Clone)]
pub struct HashRanges(Arc<Inner>);

struct Inner {
    reach: Reach,
    /// Without a slash at its end.
    url: String,
    timeout: Duration,
    turns: Turns,
    breaker: Mutex<Breaker>,
    known: AtomicU64,
    unknown: AtomicU64,
    unanswered: AtomicU64,
}

/// Why there is no answer. The text is for the log and holds nothing of a hash.
#[derive(Debug)]
enum Unanswered {
    /// Others kept it from being asked.
    Busy,
    Failed(String),
}

impl HashRanges {
    /// One that asks `GET url/PREFIX`. Connects nowhere yet.
    ///
    /// # Errors
    /// A sentence for the operator, who chooses the address.
    pub fn new(reach: Reach, url: &str, limits: HashRangeLimits) -> Result<Self, String> {
        let target = Target::parse(url)?;
        if target.has_query() {
            return Err("an address without a query (?) is expected".to_owned());
        }
        reach.check(&target).map_err(|it| it.to_string())?;
        let HashRangeLimits { timeout, wait, at_once, of_network, waiting } = limits;
        let turns = Turns::new(TurnLimits { in_all: at_once, of_lane: of_network, waiting_of_lane: waiting, wait });
        Ok(Self(Arc::new(Inner {
            reach,
            url: url.trim_end_matches('/').to_owned(),
            timeout,
            turns,
            breaker: Mutex::default(),
            known: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
        })))
    }

    /// Whether the service knows a hash (SHA-1); `None` when it could not be asked. `network` tells those apart who have
    /// it asked.
    pub async fn knows(&self, hash: &[u8], network: u64, now: Millis) -> Option<bool> {
        let digits: String = hash.iter().map(|it| format!("{it:02X}")).collect();
        let answer = Inner::ask(&self.0, digits, network, now).await;
        let count = match answer {
            Some(true) => &self.0.known,
            Some(false) => &self.0.unknown,
            None => &self.0.unanswered,
        };
        count.fetch_add(1, Relaxed);
        answer
    }

    pub fn counts(&self) -> HashRangeCounts {
        let Inner { known, unknown, unanswered, .. } = &*self.0;
        let [known, unknown, unanswered] = [known, unknown, unanswered].map(|it| it.load(Relaxed));
        HashRangeCounts { known, unknown, unanswered }
    }
}

impl Inner {
    async fn ask(inner: &Arc<Self>, digits: String, network: u64, now: Millis) -> Option<bool> {
        let turn = inner.turns.take(&network.to_string()).await?;
        if !inner.breaker().lets(now) {
            return None;
        }
        let inner = inner.clone();
        // A task of its own: who hangs up has asked all the same, and what the breaker is told is told.
        let asking = tokio::spawn(async move {
            let said = inner.call(&digits).await;
            inner.note(&said, now);
            drop(turn);
            said.ok()
        });
        asking.await.ok().flatten()
    }

    async fn call(&self, digits: &str) -> Result<bool, Unanswered> {
        let failed = |why: &str| Unanswered::Failed(why.to_owned());
        let (prefix, suffix) = digits.split_at_checked(PREFIX).ok_or_else(|| failed("the hash is none"))?;
        let target = Target::parse(&format!("{}/{prefix}", self.url)).map_err(failed)?;
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("text/plain")),
            // Answers are filled up to much the same length, so that it doesn't tell an onlooker what was asked.
            (HeaderName::from_static("add-padding"), HeaderValue::from_static("true")),
        ]);
        let (method, body, timeout) = (Method::GET, Bytes::new(), self.timeout);
        let call = Call { target: &target, method, headers, body, timeout, answer_bytes: LARGEST };
        let answer = match self.reach.call(call).await {
            Ok(answer) => answer,
            Err(Unreached::Busy) => return Err(Unanswered::Busy),
            Err(why) => return Err(Unanswered::Failed(why.to_string())),
        };
        if answer.status != 200 {
            return Err(Unanswered::Failed(format!("it answered {}", answer.status)));
        }
        if !answer.is_whole {
            return Err(Unanswered::Failed(format!("it said more than {LARGEST} bytes")));
        }
        holds(&answer.body, suffix).ok_or_else(|| failed("what it said is no range of hashes"))
    }

    /// Tells the breaker how a question went, and the log where that changes something.
    fn note(&self, said: &Result<bool, Unanswered>, now: Millis) {
        let why = match said {
            Err(Unanswered::Busy) => return,
            Err(Unanswered::Failed(why)) => Some(why),
            Ok(_) => None,
        };
        let has_turned = self.breaker().note(why.is_none(), now);
        match why {
            Some(why) if has_turned => tracing::warn!(
                "the service of leaked passwords can't be asked: {why}; new passwords are taken without it until it answers"
            ),
            Some(why) => tracing::debug!("the service of leaked passwords can't be asked: {why}"),
            None if has_turned => tracing::info!("the service of leaked passwords answers again"),
            None => {}
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(|it| it.into_inner())
    }
}

/// What keeps a service that fails from being asked.
#[derive(Default)]
struct Breaker {
    /// In a row.
    failed: u32,
    /// When the next question may be asked, once there were enough.
    until: Millis,
}

impl Breaker {
    /// Whether a question may be asked now. After a pause one may, and the others do without until it has an answer.
    fn lets(&mut self, now: Millis) -> bool {
        let pause = self.until - PAUSE..self.until;
        if self.failed >= FAILURES && pause.contains(&now) {
            return false;
        }
        self.until = now + PAUSE;
        true
    }

    /// Notes how a question went; whether the service is left alone from now on, or not any more.
    fn note(&mut self, has_answered: bool, now: Millis) -> bool {
        let was_left_alone = self.failed >= FAILURES;
        self.failed = if has_answered { 0 } else { self.failed.saturating_add(1) };
        self.until = now + PAUSE;
        was_left_alone != (self.failed >= FAILURES)
    }
}

/// Whether a range has a hash with this end; `None` when the text is no range. Lines with a count of 0 fill it up.
fn holds(text: &[u8], suffix: &str) -> Option<bool> {
    let text = std::str::from_utf8(text).ok()?;
    let mut is_known = false;
    for line in text.lines() {
        let (rest, count) = line.split_once(':')?;
        let is_hash = rest.len() == SUFFIX && rest.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_hash || count.is_empty() || !count.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        is_known |= rest.eq_ignore_ascii_case(suffix) && count.bytes().any(|it| it != b'0');
    }
    Some(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "1E4C9B93F3F0682250B6CF8331B7EE68FD8";

    #[test]
    fn range_is_lines_of_hashes_and_counts() {
        let other = "0".repeat(SUFFIX);
        for known in [format!("{REST}:3"), format!("{other}:0\r\n{}:10\r\n", REST.to_lowercase())] {
            assert_eq!(holds(known.as_bytes(), REST), Some(true), "{known}");
        }
        for unknown in [String::new(), format!("{other}:3\n"), format!("{REST}:0\r\n{other}:1")] {
            assert_eq!(holds(unknown.as_bytes(), REST), Some(false), "{unknown}");
        }
        for bad in [
            "<html></html>".to_owned(),
            REST.to_owned(),
            format!("{REST}:"),
            format!("{REST}:-1"),
            format!("{REST}:1\n\n{other}:1"),
            format!("{}:1", &REST[1..]),
            format!("{REST}:1\nand so on"),
            "{}".to_owned(),
        ] {
            assert_eq!(holds(bad.as_bytes(), REST), None, "{bad}");
        }
        assert_eq!(holds(&[0xff, 0xfe], REST), None);
    }

    #[test]
    fn breaker_lets_one_question_through_after_each_pause() {
        let mut breaker = Breaker::default();
        let start = 1_000_000;
        for at in 0..3 {
            assert!(breaker.lets(start + at));
            assert_eq!(breaker.note(false, start + at), at == 2, "told once");
        }
        assert!(!breaker.lets(start + 10));
        assert!(!breaker.lets(start + PAUSE));
        assert!(breaker.lets(start + PAUSE + 2), "one looks whether it is back");
        assert!(!breaker.lets(start + PAUSE + 3), "and one alone");
        assert!(!breaker.note(false, start + PAUSE + 2), "that it still fails is not told again");
        assert!(breaker.lets(start + 2 * PAUSE + 2));
        assert!(breaker.note(true, start + 2 * PAUSE + 2), "it is back");
        assert!(breaker.lets(start + 2 * PAUSE + 3));
        assert!(!breaker.note(false, start + 2 * PAUSE + 3), "one failure is none yet");
        assert!(breaker.lets(start + 2 * PAUSE + 4));
        let mut ahead = Breaker { failed: FAILURES, until: start + 9 * PAUSE };
        assert!(ahead.lets(start), "a clock that was set back holds nothing up");
    }
}
