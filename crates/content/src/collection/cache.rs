//! Definitions of collections in memory, so that a request spends no statement on them.
//!
//! A node that changes a definition forgets it at once. Other nodes on the same PostgreSQL read it anew
//! at most [`LIFE`] after they last did: for so long they may apply older levels or fields.

use crate::Collection;
use parking_lot::Mutex;
use quick_cache::{Equivalent, sync::Cache};
use std::{hash::Hash, sync::Arc};
use stoa_kernel::{SiteId, clock::Millis};

/// How long a definition is believed without a look.
pub(crate) const LIFE: Millis = 2_000;
/// Definitions kept.
const ENTRIES: usize = 10_000;

pub(crate) struct SchemaCache {
    entries: Cache<Key, Entry>,
    /// Counts forgettings: what was read before one must not be kept after it.
    forgotten: Mutex<u64>,
}

#[derive(Clone)]
struct Entry {
    collection: Arc<Collection>,
    read_at: Millis,
}

#[derive(PartialEq, Eq, Hash)]
struct Key(SiteId, Box<str>);

/// The same key, borrowed.
#[derive(Hash)]
struct Look<'a>(&'a SiteId, &'a str);

impl Equivalent<Key> for Look<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.0 == key.0 && *self.1 == *key.1
    }
}

/// Taken before a definition is read; tells whether it may still be kept afterwards.
pub(crate) struct Ticket(u64);

impl SchemaCache {
    /// The definition, if it is known and was read recently.
    pub(crate) fn get(&self, site: &SiteId, id: &str, now: Millis) -> Option<Arc<Collection>> {
        let entry = self.entries.get(&Look(site, id))?;
        (now - entry.read_at < LIFE).then_some(entry.collection)
    }

    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(*self.forgotten.lock())
    }

    pub(crate) fn keep(&self, ticket: &Ticket, site: &SiteId, collection: Arc<Collection>, now: Millis) {
        let forgotten = self.forgotten.lock();
        if *forgotten == ticket.0 {
            let key = Key(site.clone(), collection.id.as_str().into());
            self.entries.insert(key, Entry { collection, read_at: now });
        }
    }

    /// Forgets whichever definition has this number.
    pub(crate) fn forget_number(&self, site: &SiteId, number: i64) {
        let mut forgotten = self.forgotten.lock();
        *forgotten += 1;
        self.entries.retain(|key, it| key.0 != *site || it.collection.table.number != number);
    }

    pub(crate) fn forget(&self, site: &SiteId, id: &str) {
        let mut forgotten = self.forgotten.lock();
        *forgotten += 1;
        self.entries.remove(&Look(site, id));
    }
}

impl Default for SchemaCache {
    fn default() -> Self {
        Self { entries: Cache::new(ENTRIES), forgotten: Mutex::new(0) }
    }
}
