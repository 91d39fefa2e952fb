//! What a node sees of the leases of others, judged by its own clock: others' clocks say nothing.

use crate::lease::{ConsumerRow, LeaseTimes};
use std::collections::HashMap;
use stoa_kernel::{Millis, SiteId};

/// A consumer of a site.
pub(crate) type Key = (SiteId, String);

/// What was free for so many looks is left to any node.
const LOOKS_OF_OTHERS: Millis = 3;

/// What was seen, and when.
pub(crate) struct Sights {
    node: String,
    times: LeaseTimes,
    /// Whether no other process can be at the data.
    is_alone: bool,
    consumers: HashMap<Key, Sight>,
    /// Of the nodes: the beat, and when it was first seen.
    nodes: HashMap<String, (i64, Millis)>,
}

struct Sight {
    row: ConsumerRow,
    since: Millis,
    /// Since when it may be taken.
    free_since: Option<Millis>,
}

impl Sights {
    pub(crate) fn new(node: &str, times: LeaseTimes, is_alone: bool) -> Self {
        Self { node: node.to_owned(), times, is_alone, consumers: HashMap::new(), nodes: HashMap::new() }
    }

    /// Takes note of the consumers as they are now; `works` says which of them this node works for.
    pub(crate) fn note(&mut self, rows: &[ConsumerRow], works: impl Fn(&Key) -> bool, now: Millis) {
        let mut before = std::mem::take(&mut self.consumers);
        for row in rows {
            let key = (row.site.clone(), row.name.clone());
            let sight = match before.remove(&key) {
                Some(it) if it.row == *row => it,
                _ => Sight { row: row.clone(), since: now, free_since: None },
            };
            let is_free = !works(&key) && self.is_free(&sight, now);
            let free_since = is_free.then(|| sight.free_since.unwrap_or(now));
            self.consumers.insert(key, Sight { free_since, ..sight });
        }
    }

    /// Takes note of the nodes and their beats as they are now.
    pub(crate) fn note_nodes(&mut self, nodes: Vec<(String, i64)>, now: Millis) {
        let before = std::mem::take(&mut self.nodes);
        for (id, beat) in nodes {
            // One that was not there before is new, or was: its next beat tells.
            let since = match before.get(&id) {
                Some((known, since)) if *known == beat => *since,
                _ => now,
            };
            self.nodes.insert(id, (beat, since));
        }
    }

    /// For how long a consumer may have been taken; nothing when it may not be.
    pub(crate) fn free_for(&self, row: &ConsumerRow, now: Millis) -> Option<Millis> {
        let sight = self.consumers.get(&(row.site.clone(), row.name.clone()))?;
        Some(now - sight.free_since?)
    }

    /// Whether a consumer is free, and nodes that have less than their share have left it.
    pub(crate) fn is_left(&self, row: &ConsumerRow, now: Millis) -> bool {
        self.free_for(row, now).is_some_and(|it| self.is_alone || it >= LOOKS_OF_OTHERS * self.times.look)
    }

    /// How many of the consumers are such.
    pub(crate) fn count(&self, is_counted: impl Fn(&Key) -> bool) -> usize {
        self.consumers.keys().filter(|it| is_counted(it)).count()
    }

    /// How many of so many consumers this node may take at once, so that others have as many.
    pub(crate) fn share(&self, consumers: usize, now: Millis) -> usize {
        let is_alive = |(_, since): &&(i64, Millis)| now - *since <= self.times.life;
        let others = self.nodes.iter().filter(|(id, _)| **id != self.node).map(|it| it.1).filter(is_alive).count();
        consumers.div_ceil(others + 1)
    }

    /// Whether no holder is left: none is named, it is this node in an earlier turn, or it showed no sign of life for
    /// as long as a lease holds.
    fn is_free(&self, sight: &Sight, now: Millis) -> bool {
        let Some(holder) = &sight.row.node else { return true };
        self.is_alone || *holder == self.node || now - sight.since >= self.times.life
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: LeaseTimes = LeaseTimes { look: 10, renewal: 50, life: 130 };

    fn row(name: &str, node: Option<&str>, number: i64, beat: i64) -> ConsumerRow {
        ConsumerRow { site: "s".into(), name: name.to_owned(), node: node.map(str::to_owned), number, beat }
    }

    #[test]
    fn lease_is_free_once_its_holder_was_silent_for_its_life() {
        let mut sights = Sights::new("me", TIMES, false);
        let held = row("a", Some("other"), 4, 1);
        for now in [1_000, 1_010, 1_129] {
            sights.note(std::slice::from_ref(&held), |_| false, now);
            assert_eq!(sights.free_for(&held, now), None, "at {now}");
        }
        let renewed = row("a", Some("other"), 4, 2);
        sights.note(std::slice::from_ref(&renewed), |_| false, 1_130);
        assert_eq!(sights.free_for(&renewed, 1_130), None, "it lives");
        sights.note(std::slice::from_ref(&renewed), |_| false, 1_259);
        assert_eq!(sights.free_for(&renewed, 1_259), None);
        sights.note(std::slice::from_ref(&renewed), |_| false, 1_260);
        sights.note(std::slice::from_ref(&renewed), |_| false, 1_300);
        assert_eq!(sights.free_for(&renewed, 1_300), Some(40));
        let taken = row("a", Some("third"), 5, 0);
        sights.note(std::slice::from_ref(&taken), |_| false, 1_310);
        assert_eq!(sights.free_for(&taken, 1_310), None, "another was quicker");
    }

    #[test]
    fn lease_without_a_holder_is_free_at_once() {
        let mut sights = Sights::new("me", TIMES, false);
        let rows = [row("none", None, 1, 7), row("mine", Some("me"), 1, 0), row("working", Some("me"), 1, 0)];
        sights.note(&rows, |key| key.1 == "working", 5);
        assert_eq!(rows.each_ref().map(|it| sights.free_for(it, 5)), [Some(0), Some(0), None]);
        sights.note(&[], |_| false, 6);
        assert_eq!(sights.free_for(&rows[0], 6), None, "a consumer that is gone");
        let mut alone = Sights::new("me", TIMES, true);
        let earlier = row("a", Some("an earlier process"), 1, 0);
        alone.note(std::slice::from_ref(&earlier), |_| false, 5);
        assert_eq!(alone.free_for(&earlier, 5), Some(0));
    }

    #[test]
    fn consumers_are_shared_out_among_nodes_that_live() {
        let mut sights = Sights::new("me", TIMES, false);
        assert_eq!(sights.share(7, 0), 7);
        let nodes = |beat: i64| vec![("me".to_owned(), beat), ("b".to_owned(), beat), ("dead".to_owned(), 3)];
        sights.note_nodes(nodes(1), 100);
        assert_eq!(sights.share(7, 100), 3);
        sights.note_nodes(nodes(2), 231);
        assert_eq!(sights.share(7, 231), 4, "one has shown no sign of life");
        sights.note_nodes(Vec::new(), 240);
        assert_eq!(sights.share(7, 240), 7);
    }
}
