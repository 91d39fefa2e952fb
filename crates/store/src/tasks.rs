//! What works for consumers on this node, and for which at the moment.

use crate::{
    Site,
    lease::{ConsumerRow, Lease},
    sights::Key,
    worker::{Names, Worker},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, atomic::AtomicI64},
};
use stoa_kernel::Millis;
use tokio::task::JoinHandle;

/// Workers, and the work that they do.
#[derive(Default)]
pub(crate) struct State {
    pub workers: BTreeMap<u64, (Names, Arc<dyn Worker>)>,
    /// The number that was given last to one of them.
    pub last: u64,
    pub tasks: HashMap<Key, Task>,
    pub is_running: bool,
}

/// Work for one consumer.
pub(crate) struct Task {
    pub worker: u64,
    pub is_shared: bool,
    pub site: Arc<Site>,
    pub lease: Lease,
    pub until: Arc<AtomicI64>,
    pub since: Millis,
    pub work: JoinHandle<()>,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl State {
    /// What works for a consumer, and whether it is shared out among nodes.
    pub(crate) fn worker_of(&self, row: &ConsumerRow) -> Option<(u64, bool)> {
        let fitting = self.workers.iter().find(|(_, (names, _))| names.fit(&row.site, &row.name));
        fitting.map(|(id, (names, _))| (*id, names.is_shared()))
    }

    pub(crate) fn is_shared(&self, (site, name): &Key) -> bool {
        self.workers.values().any(|(names, _)| names.is_shared() && names.fit(site, name))
    }

    /// Consumers that are worked for, and those of them that are shared out.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.tasks.len(), self.tasks.values().filter(|it| it.is_shared).count())
    }
}
