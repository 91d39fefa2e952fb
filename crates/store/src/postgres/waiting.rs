//! Inserts of single rows that wait for a statement ([`super::group`]).

use crate::{Error, InsertWithEvent, news::Announcer};
use parking_lot::Mutex;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};
use stoa_kernel::Result;
use stoa_sql::Value;
use tokio::sync::oneshot;

/// Inserts of one statement, and bytes after which it takes no more.
const MOST: usize = 256;
const MOST_BYTES: usize = 1 << 20;

/// Inserts that wait or are on their way, by what they begin with: `insert into T (…)`.
#[derive(Default)]
pub(super) struct Groups(Mutex<HashMap<String, Group>>);

#[derive(Default)]
struct Group {
    /// Tasks that send statements.
    tasks: usize,
    waiting: VecDeque<Waiting>,
}

pub(super) struct Waiting {
    pub insert: InsertWithEvent,
    pub answer: oneshot::Sender<Result<bool, Error>>,
    /// Of the database that is written to.
    pub announcer: Arc<Announcer>,
}

impl Groups {
    /// Puts an insert behind those that wait. `true`: a task more is to be begun for them.
    pub(super) fn add(&self, waiting: Waiting, most_tasks: usize) -> bool {
        let mut groups = self.0.lock();
        let group = match groups.get_mut(&waiting.insert.into) {
            Some(it) => it,
            None => groups.entry(waiting.insert.into.clone()).or_default(),
        };
        group.waiting.push_back(waiting);
        // However long a statement takes, those who left don't fill the memory meanwhile: whenever the line has doubled
        // they are taken out.
        if group.waiting.len().is_power_of_two() {
            group.waiting.retain(Waiting::is_awaited);
        }
        let is_begun = group.tasks < most_tasks;
        group.tasks += usize::from(is_begun);
        is_begun
    }

    /// What one statement takes of those that wait; keys within it differ. Nothing when none waits: the task is over.
    /// Those who left are taken out.
    pub(super) fn next(&self, into: &str) -> Option<Vec<Waiting>> {
        let mut groups = self.0.lock();
        let group = groups.get_mut(into)?;
        group.waiting.retain(Waiting::is_awaited);
        let (mut batch, mut keys, mut bytes) = (Vec::new(), HashSet::new(), 0);
        while batch.len() < MOST && bytes < MOST_BYTES {
            let is_next = group.waiting.front().is_some_and(|it| keys.insert(it.key().to_owned()));
            let Some(next) = is_next.then(|| group.waiting.pop_front()).flatten() else { break };
            bytes += next.bytes();
            batch.push(next);
        }
        if batch.is_empty() {
            group.tasks -= 1;
            if group.tasks == 0 {
                groups.remove(into);
            }
            return None;
        }
        Some(batch)
    }
}

impl Waiting {
    pub(super) fn key(&self) -> &str {
        if let Some(Value::Text(it)) = self.insert.row.first() { it } else { "" }
    }

    /// Announces it if it was written, and tells what became of it, unless the request was dropped.
    pub(super) fn answer(self, done: Result<bool, Error>) {
        if done == Ok(true) {
            self.announcer.announce();
        }
        let _ = self.answer.send(done);
    }

    fn is_awaited(&self) -> bool {
        !self.answer.is_closed()
    }

    fn bytes(&self) -> usize {
        let text = |it: &Value| if let Value::Text(it) = it { it.len() } else { 0 };
        self.insert.row.iter().map(text).sum::<usize>() + self.insert.event.payload.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending_entry::PendingEntry;

    const INTO: &str = "insert into t (name)";

    fn add(groups: &Groups, name: &str) -> oneshot::Receiver<Result<bool, Error>> {
        let (answer, answered) = oneshot::channel();
        let event = PendingEntry { site: "s".into(), kind: "made", payload: String::new(), now: 0 };
        let (values, row) = (vec!["$1".to_owned()], vec![Value::Text(name.to_owned())]);
        let insert = InsertWithEvent { into: INTO.to_owned(), values, key: "name", row, event };
        groups.add(Waiting { insert, answer, announcer: Arc::default() }, 1);
        answered
    }

    #[test]
    fn insert_whose_request_left_is_not_sent() {
        let groups = Groups::default();
        let next = || Some(groups.next(INTO)?.iter().map(|it| it.key().to_owned()).collect::<Vec<_>>());
        let (_first, left, _last) = (add(&groups, "a"), add(&groups, "b"), add(&groups, "c"));
        drop(left);
        assert_eq!(next(), Some(vec!["a".to_owned(), "c".to_owned()]));
        assert_eq!(next(), None);
    }

    #[test]
    fn inserts_whose_requests_left_fill_no_memory() {
        let groups = Groups::default();
        let stays: Vec<_> = (0..100).map(|n| add(&groups, &n.to_string())).collect();
        for _ in 0..10_000 {
            drop(add(&groups, "left"));
        }
        let waiting = groups.0.lock()[INTO].waiting.len();
        assert!(waiting <= 256, "{waiting} wait, of whom {} stayed", stays.len());
    }
}
