//! Inserts of single rows that wait for a statement ([`super::group`]).

use crate::{Error, InsertWithEvent};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet, VecDeque};
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
        let is_begun = group.tasks < most_tasks;
        group.tasks += usize::from(is_begun);
        is_begun
    }

    /// What one statement takes of those that wait; keys within it differ. Nothing when none waits: the task is over.
    pub(super) fn next(&self, into: &str) -> Option<Vec<Waiting>> {
        let mut groups = self.0.lock();
        let group = groups.get_mut(into)?;
        let (mut batch, mut keys, mut bytes) = (Vec::new(), HashSet::new(), 0);
        while batch.len() < MOST && bytes < MOST_BYTES {
            let Some(next) = group.waiting.pop_front_if(|it| keys.insert(it.key().to_owned())) else { break };
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

    fn bytes(&self) -> usize {
        let text = |it: &Value| if let Value::Text(it) = it { it.len() } else { 0 };
        self.insert.row.iter().map(text).sum::<usize>() + self.insert.event.payload.len()
    }
}
