//! Messages that wait for a client: bounded, and one an item.

use crate::{
    change::{Change, Modified, Net},
    message::{End, Resync},
};
use parking_lot::Mutex;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use stoa_store::outbox::{Position, ReadPoint};
use tokio::sync::Notify;

/// How much may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub messages: usize,
    pub bytes: usize,
}

/// The messages of one stream. Those who put them in never wait.
pub(crate) struct Mailbox {
    queue: Mutex<Queue>,
    /// There is something new.
    pub wake: Notify,
}

/// In the order in which they are delivered, which is that of their rows. What is said of an item takes the place of what
/// was said of it before, and goes to the end: so before the row of the first that waits everything was delivered.
struct Queue {
    bounds: Bounds,
    entries: BTreeMap<u64, Entry>,
    by_item: HashMap<(u8, String), u64>,
    next: u64,
    bytes: usize,
    subscriptions: Vec<State>,
}

/// Of a subscription.
#[derive(Debug, Clone, Default)]
struct State {
    /// What it was told otherwise; nothing as long as that isn't known.
    point: Option<ReadPoint>,
    /// It goes on from a place, so that its client holds what it was shown by the rights of that time.
    is_resumed: bool,
    /// Nothing is told to it any more.
    has_ended: bool,
    /// Ends that wait until it is known whether what it begins with has them already.
    ends: usize,
}

/// Of a subscription that is still beginning so many ends wait, each at its position, and any of them may count. With more it
/// ends, and its client begins again.
const ENDS: usize = 16;

struct Entry {
    subscription: u8,
    what: What,
}

enum What {
    Change(Waiting),
    /// At a position of the log; nothing for an end that isn't told by one of its rows.
    End(Option<Position>, End),
}

/// A change, and what is said of those that it took the place of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub change: Arc<Change>,
    /// Behind the row of the first of them.
    since: Position,
    /// Whether the client holds the item before it reads this.
    was_held: bool,
    /// The fields that all of them changed; nothing where it is the change's own.
    modified: Option<Vec<Box<str>>>,
    /// Whether the item went and came in between.
    is_broken: bool,
}

/// What waits when a message was taken out: before the row of the first of them everything has been delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    Nothing,
    /// Behind the row of the first.
    From(Position),
    /// The first is of no row.
    Unknown,
}

/// The next message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Change(usize, Waiting),
    End(usize, End),
}

impl Waiting {
    fn new(change: Arc<Change>) -> Self {
        let was_held = change.net != Net::Enter;
        Self { since: change.position, change, was_held, modified: None, is_broken: false }
    }

    /// This for one who has some of what it took the place of: what came in between isn't known any more.
    fn without_history(self) -> Self {
        Self { is_broken: true, ..Self::new(self.change) }
    }

    /// This, and then the other.
    fn followed_by(self, change: Arc<Change>) -> Self {
        let is_whole = |it: Net| it == Net::Update;
        let is_broken = self.is_broken || !is_whole(self.change.net) || !is_whole(change.net);
        let modified = (!is_broken).then(|| {
            let mut all = self.modified.unwrap_or_else(|| self.change.modified.clone());
            all.extend(change.modified.iter().filter(|it| !all.contains(it)).cloned().collect::<Vec<_>>());
            all
        });
        Self { change, modified, is_broken, ..self }
    }

    /// What it comes to. An item that came and went is told as gone, since the client may hold it from an earlier stream.
    pub(crate) fn net(&self) -> Net {
        match (self.change.net, self.was_held) {
            (Net::Leave, _) => Net::Leave,
            (_, false) => Net::Enter,
            (_, true) => Net::Update,
        }
    }

    pub(crate) fn modified(&self) -> Modified<'_> {
        match (&self.modified, self.is_broken) {
            (_, true) => Modified::Unknown,
            (Some(all), false) => Modified::Fields(all),
            (None, false) => Modified::Fields(&self.change.modified),
        }
    }
}

impl Mailbox {
    pub(crate) fn new(subscriptions: usize, bounds: Bounds) -> Self {
        let queue = Queue {
            bounds,
            entries: BTreeMap::new(),
            by_item: HashMap::new(),
            next: 0,
            bytes: 0,
            subscriptions: vec![State::default(); subscriptions],
        };
        Self { queue: Mutex::new(queue), wake: Notify::new() }
    }

    /// Tells a subscription of a change, and answers how many subscriptions are told to read again because that was too
    /// much. Nobody is woken: that is for when all that the row tells is here.
    pub(crate) fn put(&self, subscription: u8, change: &Arc<Change>) -> usize {
        self.queue.lock().put(subscription, change)
    }

    /// Ends a subscription at a position of the log; without one whatever it begins with.
    pub(crate) fn end(&self, subscription: u8, position: Option<Position>, end: &End) {
        self.queue.lock().end(subscription, position, end);
    }

    /// Says that who may read was changed at a position of the log. Whoever was there has been asked again; but one who
    /// came back may have come after the change, before its row could be read.
    pub(crate) fn rights(&self, subscription: u8, position: Position) {
        let mut queue = self.queue.lock();
        if queue.subscriptions[usize::from(subscription)].is_resumed {
            queue.end(subscription, Some(position), &End::Resync(Resync::Permission));
        }
    }

    /// Says that a subscription goes on from a place, before it is told anything.
    pub(crate) fn resume(&self, subscription: u8) {
        self.queue.lock().subscriptions[usize::from(subscription)].is_resumed = true;
    }

    /// From now on a subscription is told what a point of the log doesn't include, of what came meanwhile as well.
    pub(crate) fn begin(&self, subscription: u8, point: ReadPoint) {
        self.queue.lock().begin(subscription, point);
    }

    /// Tells a subscription nothing any more.
    pub(crate) fn forget(&self, subscription: u8) {
        self.queue.lock().forget(subscription);
    }

    /// The next message, and what waits then. Rows behind `told` may not be here as a whole yet, and wait.
    pub(crate) fn next(&self, told: Option<Position>) -> Option<(Next, Rest)> {
        let mut queue = self.queue.lock();
        if let Some(Rest::From(position)) = queue.entries.first_key_value().map(|it| it.1.rest())
            && told.is_none_or(|told| position > told)
        {
            return None;
        }
        let next = queue.next()?;
        Some((next, queue.entries.first_key_value().map_or(Rest::Nothing, |it| it.1.rest())))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.lock().entries.is_empty()
    }
}

impl Entry {
    fn position(&self) -> Option<Position> {
        match &self.what {
            What::Change(waiting) => Some(waiting.change.position),
            What::End(position, _) => *position,
        }
    }

    fn rest(&self) -> Rest {
        self.position().map_or(Rest::Unknown, Rest::From)
    }
}

impl Queue {
    fn put(&mut self, subscription: u8, change: &Arc<Change>) -> usize {
        let state = &self.subscriptions[usize::from(subscription)];
        if state.has_ended || state.point.as_ref().is_some_and(|it| it.includes(change.position)) {
            return 0;
        }
        let key = (subscription, change.id.clone());
        let earlier = self.by_item.remove(&key).and_then(|it| self.take(it));
        let waiting = match earlier {
            Some(What::Change(earlier)) => earlier.followed_by(change.clone()),
            _ => Waiting::new(change.clone()),
        };
        self.bytes += change.size();
        self.by_item.insert(key, self.next);
        self.push(subscription, What::Change(waiting));
        let is_over = self.entries.len() > self.bounds.messages || self.bytes > self.bounds.bytes;
        if is_over { self.overflow() } else { 0 }
    }

    /// Those whose messages wait are told to read again; how many there are.
    fn overflow(&mut self) -> usize {
        let mut concerned: Vec<u8> = self.entries.values().map(|it| it.subscription).collect();
        concerned.sort_unstable();
        concerned.dedup();
        concerned.retain(|it| !self.subscriptions[usize::from(*it)].has_ended);
        for subscription in &concerned {
            self.end_now(*subscription, None, &End::Resync(Resync::Overload));
        }
        concerned.len()
    }

    fn end(&mut self, subscription: u8, position: Option<Position>, end: &End) {
        let state = &self.subscriptions[usize::from(subscription)];
        match (&state.point, position) {
            _ if state.has_ended => {}
            (Some(point), Some(position)) if point.includes(position) => {}
            // Perhaps what it is about to begin with has it already.
            (None, Some(_)) if state.ends < ENDS => {
                self.subscriptions[usize::from(subscription)].ends += 1;
                self.push(subscription, What::End(position, end.clone()));
            }
            _ => self.end_now(subscription, position, end),
        }
    }

    fn end_now(&mut self, subscription: u8, position: Option<Position>, end: &End) {
        self.forget(subscription);
        self.push(subscription, What::End(position, end.clone()));
    }

    fn begin(&mut self, subscription: u8, point: ReadPoint) {
        let state = &mut self.subscriptions[usize::from(subscription)];
        if state.has_ended {
            return;
        }
        state.point = Some(point.clone());
        self.remove_all(|_, it| it.subscription == subscription && it.position().is_some_and(|it| point.includes(it)));
        for it in self.entries.values_mut().filter(|it| it.subscription == subscription) {
            if let What::Change(waiting) = &mut it.what
                && point.includes(waiting.since)
            {
                *waiting = waiting.clone().without_history();
            }
        }
        let is_end = |it: &Entry| it.subscription == subscription && matches!(it.what, What::End(..));
        // It stays where its row is among those of others.
        if let Some(end) = self.entries.iter().find(|it| is_end(it.1)).map(|it| *it.0) {
            self.subscriptions[usize::from(subscription)].has_ended = true;
            self.remove_all(|at, it| it.subscription == subscription && at != end);
        }
    }

    fn forget(&mut self, subscription: u8) {
        self.subscriptions[usize::from(subscription)].has_ended = true;
        self.remove_all(|_, it| it.subscription == subscription);
    }

    fn remove_all(&mut self, is_to_go: impl Fn(u64, &Entry) -> bool) {
        let all: Vec<u64> = self.entries.iter().filter(|(at, it)| is_to_go(**at, it)).map(|it| *it.0).collect();
        for it in all {
            self.remove(it);
        }
    }

    fn push(&mut self, subscription: u8, what: What) {
        self.entries.insert(self.next, Entry { subscription, what });
        self.next += 1;
    }

    fn remove(&mut self, at: u64) {
        let subscription = self.entries.get(&at).map(|it| it.subscription);
        if let (Some(What::Change(waiting)), Some(subscription)) = (self.take(at), subscription) {
            self.by_item.remove(&(subscription, waiting.change.id.clone()));
        }
    }

    /// Takes an entry out, whose item is still to be forgotten.
    fn take(&mut self, at: u64) -> Option<What> {
        let what = self.entries.remove(&at)?.what;
        if let What::Change(waiting) = &what {
            self.bytes -= waiting.change.size();
        }
        Some(what)
    }

    fn next(&mut self) -> Option<Next> {
        let (at, entry) = self.entries.first_key_value()?;
        let (at, subscription) = (*at, entry.subscription);
        let what = self.take(at)?;
        let next = match what {
            What::Change(waiting) => {
                self.by_item.remove(&(subscription, waiting.change.id.clone()));
                Next::Change(usize::from(subscription), waiting)
            }
            What::End(_, end) => Next::End(usize::from(subscription), end),
        };
        if self.entries.is_empty() {
            // Most streams wait most of the time, and there are many.
            self.entries = BTreeMap::new();
            self.by_item = HashMap::new();
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests;
