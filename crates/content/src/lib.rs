//! Collections and their items: what may be stored, by whom, and how it is read again.
//!
//! Operations are methods of [`Content`], a noun and then a verb, each for one site and one caller. A
//! request passes `collection::access` before anything is read or written, and what is allowed becomes a
//! [`stoa_query::Scope`] inside the statement, never a filter on its answer. Nothing here knows HTTP or
//! how a caller was recognised.

mod async_job;
mod collection;
mod document;
mod drafts;
mod environment;
pub mod event;
mod fault;
pub mod feed;
mod hook;
mod index;
mod item;
mod language;
mod limits;
mod log;
mod manage;
mod page;
mod reference;
pub mod schema;
pub mod search;
pub mod transfer;
mod wire;

pub use async_job::tasks::TaskList;
pub use collection::{
    Collection,
    job::StalledJobs,
    known::{ItemRights, KnownCollection, KnownCollections, KnownField, KnownKey},
    list::{CollectionList, ListOptions},
};
pub use environment::{
    copy::CopyWish,
    retention::{READ_OUT, UNDO_KEPT},
};
pub use event::read::{ContentChange, ContentEntry, ItemChange, ItemEvent, ItemEvents, LinkChanges};
pub use hook::{
    deploy::{HookVersion, HookWish},
    log::HookLogEntry,
    request::{let_in_by, within_request},
    trial::HookTrial,
};
pub use item::{
    bulk::{Action, Outcome},
    calls::Saved,
    visibility::Item,
};
pub use limits::{AutoIndex, ContentLimits};
pub use manage::indexes::IndexList;
pub use page::{Page, cursor::Cursors};
pub use reference::calls::ItemReference;
pub use schema::{
    index::Why,
    level::{Access, Grants, Level, Levels, Operation},
};
pub use wire::{
    options::Options,
    request::{GetRequest, Request, json},
    task::TaskRequest,
};

use async_job::run::JobRuns;
use collection::{cache::SchemaCache, job::JobQueue, site_key};
use drafts::Drafts;
use environment::copy::CopiesAtWork;
use hook::{log::HookLog, version::HookVersions};
use index::{auto::QueryStatistics, build::BuildQueue};
use item::ownership::RecordedVisitors;
use language::Language;
use page::cursor;
use serde_json::{Map, Value};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, OnceLock, atomic::AtomicI64},
};
use stoa_hooks::Host;
use stoa_kernel::{Caller, Network, Result, World};
use stoa_query::pipeline::SharedMemory;
use stoa_store::{Area, Memory, ReaderPool, Requester, Site, Standing, Store, TxFuture, boxed};
use tokio::sync::Semaphore;

/// The content of all sites of this process. Cheap to clone: clones share what they know of schemas.
#[derive(Clone)]
pub struct Content {
    state: Arc<State>,
}

/// Segments of indexes of words that are made at once, for all sites.
const INDEX_PLACES: usize = 2;

/// What the folders keep in memory.
struct State {
    world: World,
    limits: ContentLimits,
    schema_cache: SchemaCache,
    cursor_keys: cursor::Keys,
    site_keys: site_key::Keys,
    recorded_visitors: RecordedVisitors,
    build_queue: BuildQueue,
    query_statistics: QueryStatistics,
    jobs: JobQueue,
    job_runs: JobRuns,
    copies: CopiesAtWork,
    /// Who makes a segment of an index of words holds one: a segment takes tens of megabytes and a whole core.
    index_places: Arc<Semaphore>,
    /// When the place of deleted lists was given to others, by the clock that only goes forward; 0 if it never was.
    index_reclaimed: AtomicI64,
    /// What aggregations keep in memory, all together.
    pipeline_memory: Arc<SharedMemory>,
    search_memory: Arc<SharedMemory>,
    /// Who knows whether callers are still who they were.
    standing: OnceLock<Arc<dyn Standing>>,
    /// What runs the code of sites; without it none is asked.
    hook_host: OnceLock<Host>,
    hook_versions: HookVersions,
    hook_log: HookLog,
}

/// Where a read that may take long comes from: its turn among others is fair by network, and within one by
/// caller. Nothing for what the server or a command on the machine asks.
pub type Origin = Option<Network>;

impl Memory for State {
    fn forget(&self) -> TxFuture<'_, ()> {
        self.schema_cache.forget_all();
        self.site_keys.forget_all();
        self.hook_versions.forget_all();
        boxed!(Ok(()))
    }
}

/// What a call is made on, and by whom.
#[derive(Clone, Copy)]
struct RequestContext<'a> {
    content: &'a Content,
    site: &'a Site,
    caller: &'a Caller,
    drafts: Drafts,
    language: Language<'a>,
}

impl<'a> RequestContext<'a> {
    /// In no language but that of the items themselves.
    fn new(content: &'a Content, site: &'a Site, caller: &'a Caller, drafts: Drafts) -> Self {
        Self { content, site, caller, drafts, language: Language::default() }
    }

    /// With the drafts and in the language that the members of a request ask for.
    fn of_members(content: &'a Content, site: &'a Site, caller: &'a Caller, members: &'a Map<String, Value>) -> Self {
        Self::new(content, site, caller, Drafts::of(members)).in_language(Language::of(members))
    }

    fn in_language(self, language: Language<'a>) -> Self {
        Self { language, ..self }
    }
}

impl Content {
    pub fn new(world: World, limits: ContentLimits) -> Self {
        let pipeline_memory = SharedMemory::new(limits.pipelines_bytes);
        let search_memory = SharedMemory::new(limits.searches_bytes);
        let state = State {
            world,
            limits,
            schema_cache: Default::default(),
            cursor_keys: Default::default(),
            site_keys: Default::default(),
            recorded_visitors: Default::default(),
            build_queue: Default::default(),
            query_statistics: Default::default(),
            jobs: Default::default(),
            job_runs: Default::default(),
            copies: Default::default(),
            index_places: Arc::new(Semaphore::new(INDEX_PLACES)),
            index_reclaimed: AtomicI64::default(),
            pipeline_memory,
            search_memory,
            standing: OnceLock::new(),
            hook_host: OnceLock::new(),
            hook_versions: Default::default(),
            hook_log: Default::default(),
        };
        Self { state: Arc::new(state) }
    }

    /// Hears of definitions that other nodes on this store change, from now on.
    ///
    /// # Errors
    /// None at present.
    pub async fn hear(&self, store: &Store) -> Result<()> {
        store.withdrawals().remember(Area::Content, &self.state).await
    }

    /// Names who knows of callers, once, before requests are answered. Without it a background job goes by what
    /// its caller was when it began.
    pub fn keep_standing(&self, standing: Arc<dyn Standing>) {
        if self.state.standing.set(standing).is_err() {
            tracing::warn!("who knows of callers was named before");
        }
    }

    /// Names what runs the code of sites, once, before requests are answered. Without it no hook is asked.
    pub fn keep_hooks(&self, host: Host) {
        if self.state.hook_host.set(host).is_err() {
            tracing::warn!("what runs hooks was named before");
        }
    }

    /// Who waits for a turn to look at many items. The networks of one line share its turns, and so do the sessions of
    /// one person: there may be any number of either.
    fn scan(&self, caller: &Caller, origin: Origin) -> ReaderPool {
        ReaderPool::ScanFor(self.requester(caller, origin))
    }

    /// The same for what comes into one answer here.
    fn fold(&self, caller: &Caller, origin: Origin) -> ReaderPool {
        ReaderPool::FoldFor(self.requester(caller, origin))
    }

    fn requester(&self, caller: &Caller, origin: Origin) -> Requester {
        let mut hasher = DefaultHasher::new();
        (origin, caller.id()).hash(&mut hasher);
        let (caller, max_wait) = (hasher.finish(), self.state.limits.scan_wait);
        Requester { network: origin.map(Network::site), caller, max_wait }
    }

    /// Bytes that aggregations keep at the moment.
    pub fn pipeline_memory(&self) -> usize {
        self.state.pipeline_memory.used()
    }

    /// Aggregations that are at work at the moment, for whoever waits or for nobody any more.
    pub fn pipelines_running(&self) -> usize {
        self.state.pipeline_memory.running()
    }

    /// Bytes that searches keep at the moment.
    pub fn search_memory(&self) -> usize {
        self.state.search_memory.used()
    }

    /// Searches that are at work or wait for their turn at the moment, whether their callers wait or have left.
    pub fn searches_running(&self) -> usize {
        self.state.search_memory.running()
    }

    pub fn limits(&self) -> &ContentLimits {
        &self.state.limits
    }
}
