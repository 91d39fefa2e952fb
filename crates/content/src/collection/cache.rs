//! Definitions of collections in memory, so that a request spends no statement on them.
//!
//! A node that changes a definition forgets it at once, and acknowledges the change when the other nodes on the same
//! PostgreSQL have forgotten theirs ([`stoa_store::Withdrawals`]). Each reads a definition again [`LIFE`] after it
//! last did besides, in case a node crashed in between.

use crate::{
    Content,
    collection::{
        Collection, job,
        known::Definitions,
        stored::{is_deleted, live},
    },
    fault,
    schema::relation,
};
use parking_lot::Mutex;
use quick_cache::{Equivalent, sync::Cache};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};
use stoa_kernel::{Code, Result, SiteId, clock::Millis};
use stoa_store::{Area, ReaderPool, Site, boxed};

/// How long a definition is used without being read again.
pub(crate) const LIFE: Millis = 2_000;
/// Definitions kept.
const ENTRIES: usize = 10_000;
/// Sites whose definitions are kept all together.
const SITES: usize = 100;
const TURNS: usize = 16;

/// The collection that item operations work on, from memory as a rule. Background jobs that stand still are
/// queued on the way.
///
/// # Errors
/// WDE0025 when there is none, WDE0026 when it was deleted.
pub(crate) async fn load(content: &Content, site: &Site, id: &str) -> Result<Arc<Collection>> {
    // No collection has such an id, and one engine refuses U+0000 in a statement.
    if id.is_empty() || id.bytes().any(|it| it.is_ascii_control()) {
        return Err(fault::collection_not_found(id));
    }
    let (cache, now) = (&content.state.schema_cache, content.state.world.now());
    if let Some(known) = cache.get(&site.id, id, now) {
        return Ok(known);
    }
    let ticket = cache.ticket();
    let (site_id, name) = (site.id.clone(), id.to_owned());
    let found = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let Some(stored) = live(tx, &site_id, &name).await? else {
                let was_there = is_deleted(tx, &site_id, &name).await?;
                return if was_there { Err(fault::collection_deleted(&name)) } else { Ok(None) };
            };
            let links = relation::links(tx, &site_id, stored.number, &stored.definition.fields).await?;
            let job_touched = job::touched(tx, &site_id, stored.number).await?;
            Ok(Some((stored, links, job_touched)))
        })
    });
    let (stored, links, job_touched) = found.await?.ok_or_else(|| fault::collection_not_found(id))?;
    let collection = Arc::new(Collection { links, ..Collection::new(site, stored) });
    cache.keep(&ticket, &site.id, collection.clone(), now);
    if job_touched.is_some_and(|it| now - it > job::LEASE) {
        content.state.jobs.add(site, collection.table);
    }
    Ok(collection)
}

/// The same for calls on the collection itself, to which a deleted one is as good as none.
///
/// # Errors
/// WDE0025.
pub(crate) async fn load_existing(content: &Content, site: &Site, id: &str) -> Result<Arc<Collection>> {
    let found = load(content, site, id).await;
    found.map_err(|it| if it.code() == Code::CollectionDeleted { fault::collection_not_found(id) } else { it })
}

/// Forgets definitions that were changed, on this node and then on all others: before the change is acknowledged.
///
/// # Errors
/// What the engine says when the others can't be waited for. The change is durable by then.
pub(crate) async fn announce(content: &Content, site: &Site, ids: impl IntoIterator<Item = &str>) -> Result<()> {
    ids.into_iter().for_each(|it| content.state.schema_cache.forget(&site.id, it));
    site.withdrawals().announce(Area::Content).await
}

/// The definitions that this process knows.
pub(crate) struct SchemaCache {
    entries: Cache<Key, Entry>,
    /// All of a site, and when they were read.
    sites: Cache<SiteId, (Arc<Definitions>, Millis)>,
    /// Who reads all definitions of a site; sites with one remainder wait for each other.
    turns: [tokio::sync::Mutex<()>; TURNS],
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
struct BorrowedKey<'a>(&'a SiteId, &'a str);

impl Equivalent<Key> for BorrowedKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.0 == key.0 && *self.1 == *key.1
    }
}

/// Taken before a definition is read; tells whether it may still be kept afterwards.
pub(crate) struct Ticket(u64);

impl SchemaCache {
    /// The definition, if it is known and was read recently.
    pub(crate) fn get(&self, site: &SiteId, id: &str, now: Millis) -> Option<Arc<Collection>> {
        let entry = self.entries.get(&BorrowedKey(site, id))?;
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

    /// All definitions of a site, if they are known and were read recently.
    pub(crate) fn all(&self, site: &SiteId, now: Millis) -> Option<Arc<Definitions>> {
        let (definitions, read_at) = self.sites.get(site)?;
        (now - read_at < LIFE).then_some(definitions)
    }

    /// Waits until nobody else reads all definitions of a site.
    pub(crate) async fn turn_to_read(&self, site: &SiteId) -> tokio::sync::MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        site.hash(&mut hasher);
        let turn = usize::try_from(hasher.finish() % TURNS as u64).unwrap_or(0);
        self.turns[turn].lock().await
    }

    pub(crate) fn keep_all(&self, ticket: &Ticket, site: &SiteId, definitions: Arc<Definitions>, now: Millis) {
        let forgotten = self.forgotten.lock();
        if *forgotten == ticket.0 {
            self.sites.insert(site.clone(), (definitions, now));
        }
    }

    /// Forgets the definition that has this number.
    pub(crate) fn forget_number(&self, site: &SiteId, number: i64) {
        let mut forgotten = self.forgotten.lock();
        *forgotten += 1;
        self.sites.remove(site);
        self.entries.retain(|key, entry| key.0 != *site || entry.collection.table.number != number);
    }

    /// Forgets all definitions: another node changed one of them.
    pub(crate) fn forget_all(&self) {
        let mut forgotten = self.forgotten.lock();
        *forgotten += 1;
        self.sites.clear();
        self.entries.clear();
    }

    pub(crate) fn forget(&self, site: &SiteId, id: &str) {
        let mut forgotten = self.forgotten.lock();
        *forgotten += 1;
        self.sites.remove(site);
        self.entries.remove(&BorrowedKey(site, id));
    }
}

impl Default for SchemaCache {
    fn default() -> Self {
        Self {
            entries: Cache::new(ENTRIES),
            sites: Cache::new(SITES),
            turns: Default::default(),
            forgotten: Mutex::new(0),
        }
    }
}
