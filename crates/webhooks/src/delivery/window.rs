//! The events of an endpoint that were read and not taken yet, and how far all is done.
//!
//! Events of one entity stand in a lane, in order, and its first one alone may be on its way. A row is done when all its
//! events are, and the place is behind the last row that has none undone before it. Nothing here reads, sends or waits.

use std::{
    collections::{HashMap, VecDeque},
    fmt::Debug,
};

/// `P` is a place in the log, `E` an event.
#[derive(Debug)]
pub(super) struct Window<P, E> {
    rows: VecDeque<Row<P>>,
    /// The number of the first of them: they are counted from 0.
    first: u64,
    /// Behind all that is done, until it is asked for.
    place: Option<P>,
    lanes: HashMap<String, Lane<E>>,
    /// Entities whose first event may be sent, those that wait longest first.
    ready: VecDeque<String>,
    /// Events that are not done, and their bytes.
    count: usize,
    bytes: usize,
    /// Events of the rows that are kept, done or not.
    kept: usize,
}

#[derive(Debug)]
struct Row<P> {
    /// Behind it, and behind what follows of which nothing is to be sent.
    own: P,
    end: P,
    /// Events that are not done.
    left: usize,
    events: usize,
    /// Whether no more events of it come.
    is_whole: bool,
}

#[derive(Debug)]
struct Lane<E> {
    events: VecDeque<Queued<E>>,
    /// Whether the first one is on its way, or waits for its next attempt.
    is_busy: bool,
}

#[derive(Debug)]
struct Queued<E> {
    row: u64,
    bytes: usize,
    failures: usize,
    event: E,
}

impl<P: Copy + Debug, E: Clone> Window<P, E> {
    pub(super) fn new() -> Self {
        Self {
            rows: VecDeque::new(),
            first: 0,
            place: None,
            lanes: HashMap::new(),
            ready: VecDeque::new(),
            count: 0,
            bytes: 0,
            kept: 0,
        }
    }

    /// Begins the next row, behind which the log is at `end`.
    pub(super) fn begin(&mut self, end: P) {
        self.rows.push_back(Row { own: end, end, left: 0, events: 0, is_whole: false });
    }

    /// Adds an event to the row that was begun last.
    pub(super) fn add(&mut self, entity: &str, bytes: usize, event: E) {
        let Some(row) = self.rows.back_mut() else { return };
        (row.left, row.events) = (row.left + 1, row.events + 1);
        let row = self.first + self.rows.len() as u64 - 1;
        (self.count, self.bytes, self.kept) = (self.count + 1, self.bytes + bytes, self.kept + 1);
        let lane = self.lanes.entry(entity.to_owned()).or_insert_with(|| {
            self.ready.push_back(entity.to_owned());
            Lane { events: VecDeque::new(), is_busy: false }
        });
        lane.events.push_back(Queued { row, bytes, failures: 0, event });
    }

    /// Ends the row that was begun last.
    pub(super) fn end(&mut self) {
        if let Some(row) = self.rows.back_mut() {
            row.is_whole = true;
        }
        self.settle();
    }

    /// Nothing is to be sent up to there.
    pub(super) fn pass(&mut self, end: P) {
        match self.rows.back_mut() {
            Some(row) if row.is_whole => row.end = end,
            Some(_) => {}
            None => self.place = Some(end),
        }
    }

    /// The next event that may be sent. It is on its way until one of `done`, `give_back` or `remove` is called with its
    /// entity.
    pub(super) fn next(&mut self) -> Option<E> {
        self.next_where(|_| true)
    }

    /// The next of those that a condition holds for.
    pub(super) fn next_where(&mut self, is_meant: impl Fn(&E) -> bool) -> Option<E> {
        // A lane may have gone since.
        self.ready.retain(|it| self.lanes.get(it).is_some_and(|lane| !lane.is_busy));
        let at = self.ready.iter().position(|it| self.first(it).is_some_and(&is_meant))?;
        let entity = self.ready.remove(at)?;
        let lane = self.lanes.get_mut(&entity)?;
        lane.is_busy = true;
        lane.events.front().map(|it| it.event.clone())
    }

    /// Whether one that may be sent is such that a condition holds for it.
    pub(super) fn has_where(&self, is_meant: impl Fn(&E) -> bool) -> bool {
        let is_ready = |it: &&String| self.lanes.get(*it).is_some_and(|lane| !lane.is_busy);
        self.ready.iter().filter(is_ready).any(|it| self.first(it).is_some_and(&is_meant))
    }

    fn first(&self, entity: &str) -> Option<&E> {
        self.lanes.get(entity)?.events.front().map(|it| &it.event)
    }

    /// The first event of an entity was taken.
    pub(super) fn done(&mut self, entity: &str) {
        let Some(lane) = self.lanes.get_mut(entity) else { return };
        lane.is_busy = false;
        let first = lane.events.pop_front();
        match lane.events.is_empty() {
            true => drop(self.lanes.remove(entity)),
            false => self.ready.push_back(entity.to_owned()),
        }
        self.forget(first);
        self.settle();
    }

    /// It failed, and stays on its way; how often it has.
    pub(super) fn failed(&mut self, entity: &str) -> usize {
        let first = self.lanes.get_mut(entity).and_then(|it| it.events.front_mut());
        first.map_or(0, |it| {
            it.failures += 1;
            it.failures
        })
    }

    /// It may be sent again, after all others that may be.
    pub(super) fn give_back(&mut self, entity: &str) {
        if let Some(lane) = self.lanes.get_mut(entity).filter(|it| it.is_busy) {
            lane.is_busy = false;
            self.ready.push_back(entity.to_owned());
        }
    }

    /// Takes all events of an entity out, in order: they wait elsewhere.
    pub(super) fn remove(&mut self, entity: &str) -> Vec<E> {
        let Some(lane) = self.lanes.remove(entity) else { return Vec::new() };
        let events = lane.events.iter().map(|it| it.event.clone()).collect();
        self.forget(lane.events);
        self.settle();
        events
    }

    /// The events of an entity, in order.
    pub(super) fn events(&self, entity: &str) -> Vec<E> {
        self.lanes.get(entity).map_or_else(Vec::new, |it| it.events.iter().map(|it| it.event.clone()).collect())
    }

    /// The place behind all that is done, if it has moved since it was asked for.
    pub(super) fn take_place(&mut self) -> Option<P> {
        self.place.take()
    }

    pub(super) fn has_moved(&self) -> bool {
        self.place.is_some()
    }

    /// The place behind the first row that isn't done.
    pub(super) fn front(&self) -> Option<P> {
        self.rows.front().map(|it| it.own)
    }

    /// Events that are not done.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Events of rows that are not all done: what is sent again when another node goes on from the place.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    fn forget(&mut self, events: impl IntoIterator<Item = Queued<E>>) {
        for it in events {
            (self.count, self.bytes) = (self.count - 1, self.bytes - it.bytes);
            if let Some(row) = self.rows.get_mut((it.row - self.first) as usize) {
                row.left -= 1;
            }
        }
    }

    /// Moves the place over the rows that are done.
    fn settle(&mut self) {
        while self.rows.front().is_some_and(|it| it.is_whole && it.left == 0)
            && let Some(row) = self.rows.pop_front()
        {
            (self.first, self.kept, self.place) = (self.first + 1, self.kept - row.events, Some(row.end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stoa_kernel::World;

    type Numbers = Window<u32, u32>;

    fn row(window: &mut Numbers, end: u32, events: &[(&str, u32)]) {
        window.begin(end);
        for (entity, event) in events {
            window.add(entity, 10, *event);
        }
        window.end();
    }

    #[test]
    fn place_moves_to_the_first_row_that_is_not_done() {
        let mut window = Numbers::new();
        window.pass(1);
        assert_eq!((window.take_place(), window.take_place()), (Some(1), None));
        row(&mut window, 2, &[("a", 20), ("b", 21)]);
        row(&mut window, 3, &[("c", 30)]);
        window.pass(4);
        assert_eq!((window.count(), window.bytes(), window.kept(), window.front()), (3, 30, 3, Some(2)));
        for expected in [20, 21, 30] {
            assert_eq!(window.next(), Some(expected));
        }
        assert_eq!(window.next(), None);
        window.done("c");
        window.done("a");
        assert_eq!((window.take_place(), window.count(), window.kept()), (None, 1, 3));
        window.done("b");
        assert_eq!((window.take_place(), window.count(), window.kept(), window.bytes()), (Some(4), 0, 0, 0));
    }

    #[test]
    fn row_without_end_holds_the_place() {
        let mut window = Numbers::new();
        window.begin(1);
        window.add("a", 10, 1);
        assert_eq!(window.next(), Some(1));
        window.done("a");
        window.pass(9);
        assert_eq!(window.take_place(), None);
        window.end();
        assert_eq!(window.take_place(), Some(1));
    }

    #[test]
    fn one_event_of_an_entity_is_on_its_way() {
        let mut window = Numbers::new();
        row(&mut window, 1, &[("a", 1), ("b", 2), ("a", 3)]);
        assert_eq!((window.next(), window.next(), window.next()), (Some(1), Some(2), None));
        assert_eq!(window.failed("a"), 1);
        window.give_back("a");
        assert_eq!(window.next(), Some(1));
        window.give_back("b");
        window.done("a");
        assert_eq!((window.next(), window.next()), (Some(2), Some(3)));
    }

    #[test]
    fn events_that_wait_elsewhere_hold_nothing_up() {
        let mut window = Numbers::new();
        row(&mut window, 1, &[("a", 1), ("a", 2)]);
        row(&mut window, 2, &[("b", 3), ("a", 4)]);
        assert_eq!(window.next(), Some(1));
        assert_eq!(window.events("a"), [1, 2, 4]);
        assert_eq!(window.remove("a"), [1, 2, 4]);
        assert_eq!((window.take_place(), window.count()), (Some(1), 1));
        // One that comes later stands in a lane of its own.
        row(&mut window, 3, &[("a", 5)]);
        assert_eq!((window.next(), window.next(), window.next()), (Some(3), Some(5), None));
        window.done("b");
        window.done("a");
        assert_eq!(window.take_place(), Some(3));
        // What was told too late changes nothing.
        window.done("a");
        window.give_back("a");
        assert_eq!((window.failed("a"), window.remove("a"), window.next()), (0, Vec::new(), None));
    }

    #[test]
    fn one_of_those_that_are_meant_is_next() {
        let mut window = Numbers::new();
        row(&mut window, 1, &[("a", 1), ("b", 2), ("c", 3)]);
        assert!(window.has_where(|it| *it == 2) && !window.has_where(|it| *it == 9));
        assert_eq!((window.next_where(|it| *it == 9), window.next_where(|it| *it > 1)), (None, Some(2)));
        assert!(!window.has_where(|it| *it == 2), "it is on its way");
        assert_eq!((window.next(), window.next(), window.next()), (Some(1), Some(3), None));
    }

    /// Whatever comes in which order: each entity in order, each event once, and the place never passes one undone.
    #[test]
    fn window_keeps_order_under_chance() {
        let (world, _) = World::fixed(0, 7);
        let chance = |below: u32| u32::from_le_bytes(world.bytes::<4>()) % below;
        for _ in 0..200 {
            let mut window = Numbers::new();
            let (mut end, mut number, mut place) = (0, 0, 0);
            let mut undone: Vec<(u32, String, u32)> = Vec::new();
            let mut flying: Vec<(String, u32)> = Vec::new();
            for _ in 0..100 {
                match chance(6) {
                    0 => {
                        end += 1;
                        window.begin(end);
                        for _ in 0..chance(4) {
                            number += 1;
                            let entity = chance(5).to_string();
                            window.add(&entity, 1, number);
                            undone.push((end, entity, number));
                        }
                        window.end();
                    }
                    1 | 2 => {
                        if let Some(event) = window.next() {
                            let (_, entity, _) = undone.iter().find(|it| it.2 == event).expect("undone").clone();
                            let first = undone.iter().find(|it| it.1 == entity).expect("some");
                            assert_eq!(first.2, event, "the first of its entity");
                            assert!(flying.iter().all(|it| it.0 != entity), "one at a time");
                            flying.push((entity, event));
                        }
                    }
                    3 if !flying.is_empty() => {
                        let (entity, event) = flying.swap_remove(chance(flying.len() as u32) as usize);
                        window.done(&entity);
                        undone.retain(|it| it.2 != event);
                    }
                    4 if !flying.is_empty() => {
                        let (entity, _) = flying.swap_remove(chance(flying.len() as u32) as usize);
                        window.give_back(&entity);
                    }
                    5 if chance(4) == 0 && !flying.is_empty() => {
                        let (entity, _) = flying.swap_remove(chance(flying.len() as u32) as usize);
                        let removed = window.remove(&entity);
                        undone.retain(|it| !removed.contains(&it.2));
                        assert!(undone.iter().all(|it| it.1 != entity));
                    }
                    _ => {}
                }
                place = window.take_place().unwrap_or(place);
                let first = undone.iter().map(|it| it.0).min().unwrap_or(end + 1);
                assert_eq!(place, first - 1, "as far as possible");
                assert_eq!(window.count(), undone.len());
            }
        }
    }
}
