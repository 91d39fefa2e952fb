//! The line before the threads that hash: each request that waits there belongs to an account and to a network, and
//! these take turns, whatever the sign-ins come to. Many accounts of one network delay each other, and no others.
//!
//! A request that ends makes room at once. The line is bounded in all, for a network and for an account in it. Where
//! it is full, a request of a network or account with fewer in line takes the place of the last of the longest.

use parking_lot::Mutex;
use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    sync::Arc,
    time::Duration,
};
use stoa_kernel::{Code, Fault, Millis, Network, Result};
use tokio::sync::oneshot;

/// Hashes that one thread makes in a second, about: from it follows when to come back.
const A_SECOND: usize = 40;

/// How many may wait, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLimits {
    /// In the whole process.
    pub all: usize,
    /// From one network: an IPv4 address, the first 64 bits of an IPv6 one; twice as many from its first 48 bits.
    pub network: usize,
    /// For one account, from one network.
    pub account: usize,
    /// In milliseconds.
    pub wait: Millis,
}

/// Who asks for a hash: the key of a wide network, of a narrow one in it, and of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share([u64; 3]);

impl Share {
    /// The wide network that asks, as a number that means nothing outside this process.
    pub(crate) fn network(self) -> u64 {
        self.0[0]
    }
}

/// Turns are given out to those who wait, as many at the same time as there are.
pub(super) struct Line {
    limits: LineLimits,
    turns: usize,
    hasher: RandomState,
    state: Mutex<State>,
}

struct State {
    /// Turns that are free.
    free: usize,
    queue: Queue,
    last_id: u64,
}

/// The right to have one password hashed, until it is dropped.
pub(crate) struct Turn(Option<Arc<Line>>);

/// Those who wait, by the rest of their keys. Keys that have somebody in line take turns; of one account the first
/// who came goes first.
#[derive(Default)]
struct Queue {
    order: VecDeque<u64>,
    beneath: HashMap<u64, Queue>,
    /// Beneath the last key.
    waiters: VecDeque<Waiter>,
    len: usize,
}

struct Waiter {
    id: u64,
    /// Dropped without a turn when another takes the place.
    turn: oneshot::Sender<Turn>,
}

/// A place in line, given up when it is dropped.
struct Place<'a> {
    line: &'a Line,
    share: Share,
    id: u64,
}

impl Line {
    /// `turns`: how many may be at work at the same time.
    pub(super) fn new(limits: LineLimits, turns: usize) -> Self {
        let state = Mutex::new(State { free: turns, queue: Queue::default(), last_id: 0 });
        Self { limits, turns, hasher: RandomState::new(), state }
    }

    pub(super) fn share(&self, address: IpAddr, site: &str, account: &str) -> Share {
        let network = Network::of(address);
        let keys = [(network.site(), "", ""), (network, "", ""), (network, site, account)];
        Share(keys.map(|it| self.hasher.hash_one(it)))
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// [`Code::Throttled`] when too many wait, or for too long.
    pub(super) async fn turn(self: &Arc<Self>, share: Share) -> Result<Turn> {
        let (place, turn) = {
            let state = &mut *self.state.lock();
            if state.free > 0 && state.queue.len == 0 {
                state.free -= 1;
                return Ok(Turn(Some(self.clone())));
            }
            self.make_room(&mut state.queue, share)?;
            let (sender, turn) = oneshot::channel();
            state.last_id += 1;
            state.queue.push(&share.0, Waiter { id: state.last_id, turn: sender });
            (Place { line: self, share, id: state.last_id }, turn)
        };
        let waited = tokio::time::timeout(Duration::from_millis(self.limits.wait.unsigned_abs()), turn).await;
        let turn = waited.ok().and_then(|it| it.ok());
        drop(place);
        turn.ok_or_else(|| self.refused(self.limits.all))
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.state.lock().queue.len
    }

    /// Makes sure that one more may wait.
    fn make_room(&self, queue: &mut Queue, Share(share): Share) -> Result<()> {
        let LineLimits { all, network, account, .. } = self.limits;
        // Those of one account are served in the order in which they came.
        let of_account = queue.len_of(&share);
        if of_account >= account {
            return Err(self.refused(of_account));
        }
        // The narrow ones first: a place that is given up there is one in all.
        for (keys, most) in [(&share[..2], network), (&share[..1], 2 * network), (&share[..0], all)] {
            let waiting = queue.len_of(keys);
            if waiting >= most && !queue.give_up_one(keys, share[keys.len()]) {
                return Err(self.refused(waiting));
            }
        }
        Ok(())
    }

    fn refused(&self, waiting: usize) -> Fault {
        let seconds = waiting.div_ceil(A_SECOND * self.turns.max(1)).max(1);
        Fault::new(Code::Throttled)
            .with("retryAfterSeconds", seconds)
            .logged("too many wait for a password to be hashed")
    }

    /// Passes a turn on to the one who is next.
    fn pass_on(self: Arc<Self>) {
        loop {
            let next = {
                let state = &mut *self.state.lock();
                match state.queue.pop() {
                    Some(waiter) => waiter,
                    None => {
                        state.free += 1;
                        return;
                    }
                }
            };
            match next.turn.send(Turn(Some(self.clone()))) {
                Ok(()) => return,
                // Gone meanwhile: the turn is not given back here, but to another.
                Err(mut turn) => drop(turn.0.take()),
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(line) = self.0.take() {
            line.pass_on();
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.line.state.lock().queue.remove(&self.share.0, self.id);
    }
}

impl Queue {
    fn push(&mut self, keys: &[u64], waiter: Waiter) {
        self.len += 1;
        let Some((key, rest)) = keys.split_first() else { return self.waiters.push_back(waiter) };
        let beneath = self.beneath.entry(*key).or_insert_with(|| {
            self.order.push_back(*key);
            Self::default()
        });
        beneath.push(rest, waiter);
    }

    /// The next in line; the keys on the way to it go to the end of their row.
    fn pop(&mut self) -> Option<Waiter> {
        let Some(key) = self.order.pop_front() else {
            let waiter = self.waiters.pop_front()?;
            self.len -= 1;
            return Some(waiter);
        };
        let beneath = self.beneath.get_mut(&key)?;
        let waiter = beneath.pop()?;
        self.len -= 1;
        match beneath.len {
            0 => drop(self.beneath.remove(&key)),
            _ => self.order.push_back(key),
        }
        Some(waiter)
    }

    /// Takes out the last of the longest row beneath these keys, if that is longer than the one of `next` will be. Its
    /// request is told so when the sender of its turn is gone.
    fn give_up_one(&mut self, keys: &[u64], next: u64) -> bool {
        let Some((key, rest)) = keys.split_first() else {
            let own = self.beneath.get(&next).map_or(0, |it| it.len);
            let longest = self.beneath.values().map(|it| it.len).max().unwrap_or(0);
            return own + 1 < longest && self.pop_last().is_some();
        };
        let is_given_up = self.beneath.get_mut(key).is_some_and(|it| it.give_up_one(rest, next));
        self.len -= usize::from(is_given_up);
        is_given_up
    }

    /// The last of those whose row is the longest.
    fn pop_last(&mut self) -> Option<Waiter> {
        let longest = self.beneath.iter().max_by_key(|it| it.1.len).map(|it| *it.0);
        let Some(key) = longest else {
            let waiter = self.waiters.pop_back()?;
            self.len -= 1;
            return Some(waiter);
        };
        let waiter = self.beneath.get_mut(&key)?.pop_last()?;
        self.len -= 1;
        self.forget_if_empty(key);
        Some(waiter)
    }

    /// Takes one out, if it is still there.
    fn remove(&mut self, keys: &[u64], id: u64) -> bool {
        let is_removed = match keys.split_first() {
            None => match self.waiters.iter().position(|it| it.id == id) {
                Some(at) => self.waiters.remove(at).is_some(),
                None => false,
            },
            Some((key, rest)) => self.beneath.get_mut(key).is_some_and(|it| it.remove(rest, id)),
        };
        if is_removed {
            self.len -= 1;
            if let Some(key) = keys.first() {
                self.forget_if_empty(*key);
            }
        }
        is_removed
    }

    fn forget_if_empty(&mut self, key: u64) {
        if self.beneath.get(&key).is_some_and(|it| it.len == 0) {
            self.beneath.remove(&key);
            self.order.retain(|it| *it != key);
        }
    }

    fn len_of(&self, keys: &[u64]) -> usize {
        match keys.split_first() {
            None => self.len,
            Some((key, rest)) => self.beneath.get(key).map_or(0, |it| it.len_of(rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::JoinHandle;

    const LIMITS: LineLimits = LineLimits { all: 12, network: 6, account: 4, wait: 60_000 };

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// One who waits, and writes its name down when its turn has come.
    struct Crowd {
        line: Arc<Line>,
        went: Arc<Mutex<Vec<&'static str>>>,
    }

    impl Crowd {
        fn new(limits: LineLimits) -> Self {
            Self { line: Arc::new(Line::new(limits, 1)), went: Arc::default() }
        }

        async fn join(&self, name: &'static str, from: &str, account: &str) -> JoinHandle<Option<Code>> {
            let (line, went) = (self.line.clone(), self.went.clone());
            let share = line.share(ip(from), "site", account);
            let joined = tokio::spawn(async move {
                match line.turn(share).await {
                    Ok(_turn) => {
                        went.lock().push(name);
                        None
                    }
                    Err(fault) => {
                        assert!(fault.data()["retryAfterSeconds"].as_u64().is_some_and(|it| it >= 1));
                        Some(fault.code())
                    }
                }
            });
            tokio::task::yield_now().await;
            joined
        }

        fn waiting(&self) -> usize {
            self.line.state.lock().queue.len
        }

        fn free(&self) -> usize {
            self.line.state.lock().free
        }
    }

    #[tokio::test]
    async fn networks_and_then_accounts_take_turns() -> Result<()> {
        let crowd = Crowd::new(LIMITS);
        let busy = crowd.line.turn(crowd.line.share(ip("10.0.0.9"), "site", "x")).await?;
        let mut all = Vec::new();
        for (name, from, account) in [
            ("a1", "10.0.0.1", "a"),
            ("a2", "10.0.0.1", "a"),
            ("a3", "10.0.0.1", "a"),
            ("b1", "10.0.0.1", "b"),
            ("six one", "2001:db8:0:1::1", "a"),
            ("six two", "2001:db8:0:2::1", "a"),
            ("six three", "2001:db8:0:2::2", "a"),
            ("c1", "10.0.0.2", "a"),
            ("mapped", "::ffff:10.0.0.2", "a"),
        ] {
            all.push(crowd.join(name, from, account).await);
        }
        drop(busy);
        for it in all {
            assert_eq!(it.await.expect("ran"), None);
        }
        let went = ["a1", "six one", "c1", "b1", "six two", "mapped", "a2", "six three", "a3"];
        assert_eq!(*crowd.went.lock(), went);
        assert_eq!((crowd.free(), crowd.waiting()), (1, 0));
        Ok(())
    }

    #[tokio::test]
    async fn line_is_bounded_and_the_longest_row_gives_way() -> Result<()> {
        let crowd = Crowd::new(LIMITS);
        let busy = crowd.line.turn(crowd.line.share(ip("10.0.0.9"), "site", "x")).await?;
        let mut first = Vec::new();
        for n in 0..4 {
            first.push(crowd.join("a", "10.0.0.1", "a").await);
            assert_eq!(crowd.waiting(), n + 1);
        }
        let refused = Some(Code::Throttled);
        assert_eq!(crowd.join("a", "10.0.0.1", "a").await.await.expect("ran"), refused, "of one account");
        first.push(crowd.join("b", "10.0.0.1", "b").await);
        first.push(crowd.join("c", "10.0.0.1", "c").await);
        // Accounts of a network that is full give way until all have as many.
        for account in ["d", "e", "f"] {
            first.push(crowd.join("g", "10.0.0.1", account).await);
            assert_eq!(crowd.waiting(), 6);
        }
        assert_eq!(crowd.join("d", "10.0.0.1", "g").await.await.expect("ran"), refused, "of one network");
        let mut second = Vec::new();
        for account in ["a", "b", "c", "d", "e", "f"] {
            second.push(crowd.join("e", "10.0.0.2", account).await);
        }
        assert_eq!(crowd.waiting(), 12);
        // Full: one from elsewhere takes the place of the last of a longest row.
        let mut third = Vec::new();
        for from in ["10.0.0.3", "10.0.0.4", "10.0.0.5"] {
            third.push(crowd.join("f", from, "a").await);
        }
        assert_eq!(crowd.waiting(), 12);
        assert_eq!(crowd.join("e", "10.0.0.2", "g").await.await.expect("ran"), refused);
        drop(busy);
        let mut out = 0;
        for it in first.into_iter().chain(second) {
            out += usize::from(it.await.expect("ran") == refused);
        }
        assert_eq!(out, 6);
        for it in third {
            assert_eq!(it.await.expect("ran"), None);
        }
        assert_eq!((crowd.went.lock().len(), crowd.free()), (12, 1));
        Ok(())
    }

    #[tokio::test]
    async fn wide_network_of_ipv6_is_bounded_as_one() -> Result<()> {
        let crowd = Crowd::new(LineLimits { all: 100, ..LIMITS });
        let _busy = crowd.line.turn(crowd.line.share(ip("10.0.0.9"), "site", "x")).await?;
        for n in 0..40 {
            crowd.join("one", &format!("2001:db8:0:{n:x}::1"), "a").await;
        }
        assert_eq!(crowd.waiting(), 12);
        crowd.join("other", "2001:db8:1::1", "a").await;
        assert_eq!(crowd.waiting(), 13);
        Ok(())
    }

    #[tokio::test]
    async fn those_who_leave_or_wait_too_long_keep_no_place() -> Result<()> {
        let crowd = Crowd::new(LineLimits { wait: 30, ..LIMITS });
        let busy = crowd.line.turn(crowd.line.share(ip("10.0.0.9"), "site", "x")).await?;
        let gone = crowd.join("gone", "10.0.0.1", "a").await;
        gone.abort();
        assert!(gone.await.is_err());
        assert_eq!(crowd.waiting(), 0);
        let late = crowd.join("late", "10.0.0.1", "a").await;
        assert_eq!(late.await.expect("ran"), Some(Code::Throttled));
        assert_eq!(crowd.waiting(), 0);
        drop(busy);
        assert_eq!(crowd.join("next", "10.0.0.1", "a").await.await.expect("ran"), None);
        Ok(())
    }

    /// A turn that was given to one who leaves at that moment goes to another.
    #[tokio::test]
    async fn turn_is_never_lost() -> Result<()> {
        let crowd = Crowd::new(LineLimits { all: 1_000, network: 1_000, account: 1_000, wait: 60_000 });
        for round in 0..200 {
            let busy = crowd.line.turn(crowd.line.share(ip("10.0.0.9"), "site", "x")).await?;
            let first = crowd.join("first", "10.0.0.1", "a").await;
            let second = crowd.join("second", "10.0.0.1", "a").await;
            if round % 2 == 0 {
                drop(busy);
                first.abort();
            } else {
                first.abort();
                drop(busy);
            }
            let _ = first.await;
            assert_eq!(second.await.expect("ran"), None);
            assert_eq!((crowd.free(), crowd.waiting()), (1, 0));
        }
        Ok(())
    }
}
