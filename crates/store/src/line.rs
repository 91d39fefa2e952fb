//! The line of those who want to scan: in turns by network, and within a network by caller.
//!
//! A scan can't be divided, so who comes next is all that can be fair. Of the networks that wait, the one whose
//! scans took least comes next, and of its callers the one who waited longest for a turn. No network has all
//! places, so that one is left for those who come from elsewhere. Waiting is bounded in number and in time:
//! beyond it the request is refused, with a time after which to come back.

use crate::{Error, trace};
use parking_lot::Mutex;
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};
use stoa_kernel::{Millis, Network};
use tokio::sync::oneshot;

/// Who asks for a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requester {
    /// Nothing for the server's own work.
    pub network: Option<Network>,
    /// Tells the callers of a network apart.
    pub caller: u64,
    /// How long it waits for its turn, in milliseconds.
    pub max_wait: Millis,
}

impl Requester {
    /// The server itself.
    pub const SERVER: Self = Self { network: None, caller: 0, max_wait: 30_000 };
}

/// How many scan and wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    /// Scans at the same time, in all and of one network.
    pub running: usize,
    pub running_of_one: usize,
    /// Scans that wait, in all and of one network.
    pub waiting: usize,
    pub waiting_of_one: usize,
}

pub(crate) struct Line {
    places: Places,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: usize,
    waiting: usize,
    /// Numbers those who wait, in order of arrival.
    last: u64,
    networks: HashMap<Option<Network>, Queue>,
}

/// Who scans and waits of one network.
#[derive(Default)]
struct Queue {
    running: usize,
    waiting: usize,
    /// What its scans took, as far as it counts beside other networks.
    used: Duration,
    /// Each caller with those who wait, the caller whose turn is next in front.
    callers: VecDeque<(u64, VecDeque<Waiter>)>,
}

struct Waiter {
    number: u64,
    turn: oneshot::Sender<Turn>,
}

/// The right to scan, until it is dropped.
pub(crate) struct Turn {
    line: Arc<Line>,
    network: Option<Network>,
    began: Instant,
}

impl Line {
    pub(crate) fn new(places: Places) -> Arc<Self> {
        Arc::new(Self { places, state: Mutex::default() })
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// [`Error::Busy`] when too many wait already, or the requester has waited for as long as it may.
    pub(crate) async fn turn(self: &Arc<Self>, requester: Requester) -> Result<Turn, Error> {
        let Requester { network, caller, max_wait } = requester;
        let (number, mut answer) = {
            let mut state = self.state.lock();
            if state.may_run(network, self.places) {
                state.run(network);
                drop(state);
                trace::scan(0);
                return Ok(self.begin(network));
            }
            let of_one = state.networks.get(&network).map_or(0, |it| it.waiting);
            if state.waiting >= self.places.waiting || of_one >= self.places.waiting_of_one {
                return Err(Error::Busy);
            }
            let (turn, answer) = oneshot::channel();
            (state.wait(network, caller, turn), answer)
        };
        let _leaving = Leaving { line: self, network, caller, number };
        let _waiting = Waiting::begin();
        let max_wait = Duration::from_millis(max_wait.unsigned_abs());
        match tokio::time::timeout(max_wait, &mut answer).await {
            Ok(Ok(turn)) => Ok(turn),
            // The turn may have come at the last moment, and is given on then.
            Ok(Err(_)) | Err(_) => Err(Error::Busy),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "measures how long scans take, not a time that is stored")]
    fn begin(self: &Arc<Self>, network: Option<Network>) -> Turn {
        Turn { line: self.clone(), network, began: Instant::now() }
    }

    /// Gives free places to those who wait.
    fn fill(self: &Arc<Self>) {
        loop {
            let next = self.state.lock().next(self.places);
            let Some((network, waiter)) = next else { return };
            // Outside of the lock: a turn that comes too late is dropped, which gives it on.
            let _ = waiter.turn.send(self.begin(network));
        }
    }
}

impl State {
    fn may_run(&self, network: Option<Network>, places: Places) -> bool {
        let of_one = self.networks.get(&network).map_or(0, |it| it.running);
        self.running < places.running && of_one < places.running_of_one
    }

    /// The queue of a network. One that comes in counts as having used what the others have at least.
    fn queue(&mut self, network: Option<Network>) -> &mut Queue {
        let least = self.networks.values().map(|it| it.used).min().unwrap_or_default();
        self.networks.entry(network).or_insert_with(|| Queue { used: least, ..Queue::default() })
    }

    fn run(&mut self, network: Option<Network>) {
        self.running += 1;
        self.queue(network).running += 1;
    }

    fn wait(&mut self, network: Option<Network>, caller: u64, turn: oneshot::Sender<Turn>) -> u64 {
        self.last += 1;
        self.waiting += 1;
        let waiter = Waiter { number: self.last, turn };
        let queue = self.queue(network);
        queue.waiting += 1;
        match queue.callers.iter_mut().find(|it| it.0 == caller) {
            Some((_, waiters)) => waiters.push_back(waiter),
            None => queue.callers.push_back((caller, VecDeque::from([waiter]))),
        }
        self.last
    }

    /// Takes out who comes next, if there is a place.
    fn next(&mut self, places: Places) -> Option<(Option<Network>, Waiter)> {
        let waiting = self.networks.iter().filter(|(network, it)| it.waiting > 0 && self.may_run(**network, places));
        let network = *waiting.min_by_key(|(_, it)| (it.used, it.first()))?.0;
        let queue = self.networks.get_mut(&network)?;
        let (caller, mut waiters) = queue.callers.pop_front()?;
        let waiter = waiters.pop_front()?;
        if !waiters.is_empty() {
            queue.callers.push_back((caller, waiters));
        }
        queue.waiting -= 1;
        self.waiting -= 1;
        self.run(network);
        Some((network, waiter))
    }

    fn forget_idle(&mut self, network: Option<Network>) {
        if self.networks.get(&network).is_some_and(|it| it.running == 0 && it.waiting == 0) {
            self.networks.remove(&network);
        }
    }
}

impl Queue {
    /// The number of who waits longest.
    fn first(&self) -> u64 {
        self.callers.iter().filter_map(|it| it.1.front()).map(|it| it.number).min().unwrap_or(u64::MAX)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        {
            let mut state = self.line.state.lock();
            state.running -= 1;
            let queue = state.queue(self.network);
            queue.running -= 1;
            queue.used += self.began.elapsed();
            state.forget_idle(self.network);
        }
        self.line.fill();
    }
}

/// Tells how long one waited, when that is over in whichever way.
struct Waiting(Instant);

impl Waiting {
    #[expect(clippy::disallowed_methods, reason = "measures how long scans wait, not a time that is stored")]
    fn begin() -> Self {
        Self(Instant::now())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        trace::scan(self.0.elapsed().as_micros().try_into().unwrap_or(u64::MAX));
    }
}

/// Takes who waits out of the line, if still there: the request was dropped, or has waited for as long as it may.
struct Leaving<'l> {
    line: &'l Arc<Line>,
    network: Option<Network>,
    caller: u64,
    number: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.line.state.lock();
        let Some(queue) = state.networks.get_mut(&self.network) else { return };
        let Some(at) = queue.callers.iter().position(|it| it.0 == self.caller) else { return };
        let waiters = &mut queue.callers[at].1;
        let Some(n) = waiters.iter().position(|it| it.number == self.number) else { return };
        let gone = waiters.remove(n);
        if waiters.is_empty() {
            queue.callers.remove(at);
        }
        queue.waiting -= 1;
        state.waiting -= 1;
        state.forget_idle(self.network);
        drop(state);
        drop(gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const PLACES: Places = Places { running: 3, running_of_one: 2, waiting: 10, waiting_of_one: 6 };

    fn from(network: u8, caller: u64) -> Requester {
        let network = Some(Network::of(Ipv4Addr::new(192, 0, 2, network).into()));
        Requester { network, caller, max_wait: 60_000 }
    }

    /// Asks for a turn, and tells by a name when it has come.
    struct Scene {
        line: Arc<Line>,
        turns: tokio::sync::mpsc::UnboundedReceiver<(&'static str, Turn)>,
        told: tokio::sync::mpsc::UnboundedSender<(&'static str, Turn)>,
    }

    impl Scene {
        fn new() -> Self {
            let (told, turns) = tokio::sync::mpsc::unbounded_channel();
            Self { line: Line::new(PLACES), turns, told }
        }

        /// Stands in line before this returns, unless it has a turn already.
        async fn ask(&self, name: &'static str, requester: Requester) -> tokio::task::JoinHandle<()> {
            let (line, told) = (self.line.clone(), self.told.clone());
            let task = tokio::spawn(async move {
                if let Ok(turn) = line.turn(requester).await {
                    let _ = told.send((name, turn));
                }
            });
            tokio::task::yield_now().await;
            task
        }

        async fn next(&mut self) -> (&'static str, Turn) {
            self.turns.recv().await.expect("a turn")
        }

        fn is_still(&mut self) -> bool {
            self.turns.try_recv().is_err()
        }
    }

    #[tokio::test]
    async fn network_leaves_a_place_to_others() {
        let mut scene = Scene::new();
        for name in ["a1", "a2", "a3", "a4"] {
            scene.ask(name, from(1, 1)).await;
        }
        let running = [scene.next().await, scene.next().await];
        assert_eq!([running[0].0, running[1].0], ["a1", "a2"]);
        assert!(scene.is_still(), "a third place is free, but not for the same network");
        scene.ask("b1", from(2, 1)).await;
        let other = scene.next().await;
        assert_eq!(other.0, "b1");
        drop(running);
        assert_eq!([scene.next().await.0, scene.next().await.0], ["a3", "a4"]);
        drop(other);
        assert!(scene.line.state.lock().networks.is_empty(), "nothing is kept of who is gone");
    }

    #[tokio::test]
    async fn turns_go_to_the_network_that_used_least() {
        let mut scene = Scene::new();
        for name in ["a1", "a2", "a3", "a4", "a5"] {
            scene.ask(name, from(1, 1)).await;
        }
        let mut running = vec![scene.next().await, scene.next().await];
        scene.ask("c", from(3, 1)).await;
        running.push(scene.next().await);
        scene.ask("b1", from(2, 1)).await;
        scene.ask("b2", from(2, 1)).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        drop(running.remove(0));
        let first = scene.next().await;
        assert_eq!(first.0, "b1", "who came later, but from a network that has used nothing");
        drop(first);
        assert_eq!(scene.next().await.0, "b2");
    }

    #[tokio::test]
    async fn callers_of_a_network_take_turns() {
        let mut scene = Scene::new();
        let mut running = Vec::new();
        for name in ["x", "y"] {
            scene.ask(name, from(1, 9)).await;
            running.push(scene.next().await);
        }
        for (name, caller) in [("a1", 1), ("a2", 1), ("a3", 1), ("b1", 2), ("c1", 3)] {
            scene.ask(name, from(1, caller)).await;
        }
        let mut order = Vec::new();
        running.pop();
        for _ in 0..5 {
            let (name, turn) = scene.next().await;
            order.push(name);
            drop(turn);
        }
        assert_eq!(order, ["a1", "b1", "c1", "a2", "a3"]);
    }

    #[tokio::test]
    async fn waiting_is_bounded_in_number() {
        let mut scene = Scene::new();
        for _ in 0..8 {
            scene.ask("a", from(1, 1)).await;
        }
        let running = [scene.next().await, scene.next().await];
        let refused = scene.line.turn(from(1, 2)).await.err();
        assert_eq!(refused, Some(Error::Busy), "six of the network wait");
        scene.ask("b", from(2, 1)).await;
        let third = scene.next().await;
        for _ in 0..4 {
            scene.ask("c", from(3, 1)).await;
        }
        let refused = scene.line.turn(from(4, 1)).await.err();
        assert_eq!(refused, Some(Error::Busy), "ten wait in all");
        drop((running, third));
    }

    #[tokio::test]
    async fn waiting_is_bounded_in_time() {
        let mut scene = Scene::new();
        for _ in 0..2 {
            scene.ask("a", from(1, 1)).await;
        }
        let running = [scene.next().await, scene.next().await];
        let refused = scene.line.turn(Requester { max_wait: 20, ..from(1, 1) }).await.err();
        assert_eq!(refused, Some(Error::Busy));
        assert_eq!(scene.line.state.lock().waiting, 0, "who was refused has left the line");
        drop(running);
    }

    #[tokio::test]
    async fn requests_that_are_dropped_leave_the_line() {
        let mut scene = Scene::new();
        for _ in 0..2 {
            scene.ask("a", from(1, 1)).await;
        }
        let running = [scene.next().await, scene.next().await];
        let gone = scene.ask("gone", from(1, 1)).await;
        scene.ask("stays", from(1, 2)).await;
        gone.abort();
        let _ = gone.await;
        assert_eq!(scene.line.state.lock().waiting, 1);
        drop(running);
        assert_eq!(scene.next().await.0, "stays");
        assert!(scene.is_still());
    }
}
