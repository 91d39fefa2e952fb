//! A copy from its beginning to its end. It is written down in the catalogue first, where a site has one at a time; a node
//! that is at work on it says so, and one that says nothing any more is followed by another, which begins it again. Whether
//! it has happened is told by the environment that it goes to.

use super::{
    fence::{Fence, is_lost, lost},
    owner,
    retention::{abandon, discard, expire_others},
    snapshot::{Snapshot, not_carried, obstacle},
    stage,
    swap::{self, State},
    switch::{self, done},
    undo,
};
use crate::{
    Content,
    collection::{
        access, cache,
        stored::{self, live},
    },
    fault,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use stoa_kernel::{Caller, Code, Fault, Millis, Result};
use stoa_store::{CopyRecord, CopyStatus, Environment, ReaderPool, Site, Store, boxed};

/// How often it is said that a copy is worked on: well within the time after which others take it up.
const BEAT: Duration = Duration::from_secs(2);
/// How often a copy is taken up before it is given up.
const ATTEMPTS: i64 = 10;

/// What is to be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyWish {
    /// Where from; to the other one.
    pub source: Environment,
    /// The ids of collections; none for all that a copy can carry.
    pub collections: Vec<String>,
}

/// The two environments of a copy.
pub(super) struct Places {
    pub source: Arc<Site>,
    pub target: Arc<Site>,
}

/// What a copy takes along, and what it leaves, with the reason.
pub(super) struct Selection {
    pub carried: Vec<String>,
    pub left: Vec<(String, &'static str)>,
}

impl Content {
    /// Begins a copy: it is written down, and [`Content::environment_work`] is to be called with it next. Answers with it
    /// which collections it leaves: `[{"collectionId","reason"}]`.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged, WDE0179 without a SANDBOX, WDE0025, WDE0119 for a collection that is named
    /// and can't be carried, WDE0080 when there is nothing to copy, ALREADY_EXISTS while another copy is at work.
    pub async fn environment_copy_begin(
        &self,
        store: &Store,
        site: &Arc<Site>,
        caller: &Caller,
        wish: &CopyWish,
    ) -> Result<(CopyRecord, Value)> {
        access::command(caller)?;
        let selection = select(&places(store, site, wish.source).await?, &wish.collections).await?;
        if selection.carried.is_empty() {
            return Err(Fault::because(Code::BadRequest, "There is no collection to copy."));
        }
        let left = left(&selection);
        let copy = CopyRecord {
            id: self.state.world.uuid(),
            site: site.id.clone(),
            source: wish.source,
            status: CopyStatus::Running,
            collections: selection.carried,
            items: 0,
            started: self.state.world.now(),
            ended: None,
            attempts: 1,
            fault: None,
            // The store has a name for who works on it.
            runner: String::new(),
        };
        Ok((store.copy_begin(copy).await?, left))
    }

    /// Works on a copy that this node has begun or taken up, until it has ended, whether or not this is awaited. How it
    /// ended is in the catalogue.
    ///
    /// # Errors
    /// What it failed with.
    pub async fn environment_work(&self, store: &Arc<Store>, copy: CopyRecord) -> Result<()> {
        let (content, store) = (self.clone(), store.clone());
        let work = tokio::spawn(async move { work(&content, &store, &copy).await });
        work.await.unwrap_or_else(|it| Err(Fault::internal(format!("a copy ended: {it}"))))
    }

    /// Takes up the copies on which no process works any more, of one site or of all, one after the other. To be called now and
    /// then.
    ///
    /// # Errors
    /// When the catalogue can't be asked.
    pub async fn environment_copies_resume(&self, store: &Arc<Store>, site: Option<&Site>) -> Result<()> {
        let open = store.copies_open().await?;
        for copy in open.into_iter().filter(|it| site.is_none_or(|site| site.id == it.site)) {
            // One that this process is at work on looks left where the catalogue was not to be written for a while.
            if self.state.copies.has(&copy.id) {
                continue;
            }
            if let Some(copy) = store.copy_claim(copy, self.state.world.now()).await? {
                tracing::info!(site = %copy.site, copy = copy.id, "a copy between environments is taken up");
                // How it ends is written down.
                let _ = self.environment_work(store, copy).await;
            }
        }
        Ok(())
    }
}

/// The environments of a site, the one to copy from first.
///
/// # Errors
/// WDE0179 without a SANDBOX.
pub(super) async fn places(store: &Store, site: &Arc<Site>, source: Environment) -> Result<Places> {
    let sandbox = store.sandbox(site).await?.ok_or_else(|| Fault::new(Code::SandboxDisabled))?;
    Ok(match source {
        Environment::Live => Places { source: site.clone(), target: sandbox },
        Environment::Sandbox => Places { source: sandbox, target: site.clone() },
    })
}

/// The environment that a copy goes to.
///
/// # Errors
/// WDE0179 without a SANDBOX, where that is it.
pub(super) async fn target(store: &Store, site: &Arc<Site>, source: Environment) -> Result<Arc<Site>> {
    match source {
        Environment::Live => store.sandbox(site).await?.ok_or_else(|| Fault::new(Code::SandboxDisabled)),
        Environment::Sandbox => Ok(site.clone()),
    }
}

/// Those of the collections with these ids, or of all, that can be copied.
///
/// # Errors
/// WDE0025 and WDE0119 for those that are named.
pub(super) async fn select(places: &Places, named: &[String]) -> Result<Selection> {
    let [there, here] = [obstacles(&places.source).await?, obstacles(&places.target).await?];
    let mut ids: Vec<&String> = match named {
        [] => there.keys().collect(),
        named => named.iter().collect(),
    };
    ids.sort();
    ids.dedup();
    let mut selection = Selection { carried: Vec::new(), left: Vec::new() };
    for id in ids {
        let obstacle = there.get(id).ok_or_else(|| fault::collection_not_found(id))?;
        match obstacle.or_else(|| here.get(id).copied().flatten()) {
            None => selection.carried.push(id.clone()),
            Some(what) if named.is_empty() => selection.left.push((id.clone(), what)),
            Some(what) => return Err(not_carried(id, what)),
        }
    }
    Ok(selection)
}

/// What is left of a selection, as it is told.
pub(super) fn left(selection: &Selection) -> Value {
    selection.left.iter().map(|(id, what)| json!({ "collectionId": id, "reason": what })).collect()
}

/// The collections of a site, each with what stands in the way of copying it.
pub(super) async fn obstacles(site: &Site) -> Result<HashMap<String, Option<&'static str>>> {
    let id = site.id.clone();
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let mut all = HashMap::new();
            for stored in stored::all_live(tx, &id).await? {
                let obstacle = obstacle(tx, &id, &stored).await?;
                all.insert(stored.id, obstacle);
            }
            Ok(all)
        })
    });
    read.await
}

/// The copies that this process is at work on.
#[derive(Default)]
pub(crate) struct CopiesAtWork(Mutex<HashSet<String>>);

impl CopiesAtWork {
    fn has(&self, id: &str) -> bool {
        self.0.lock().contains(id)
    }

    /// Nothing where it is at work on it already.
    fn add<'s>(&'s self, id: &'s str) -> Option<AtWork<'s>> {
        let is_first = self.0.lock().insert(id.to_owned());
        // Made only then: where one is dropped, the work is over.
        is_first.then(|| AtWork(self, id))
    }
}

struct AtWork<'s>(&'s CopiesAtWork, &'s str);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.0.lock().remove(self.1);
    }
}

async fn work(content: &Content, store: &Arc<Store>, copy: &CopyRecord) -> Result<()> {
    let Some(_at_work) = content.state.copies.add(&copy.id) else { return Err(lost()) };
    let (items, now) = (AtomicU64::new(0), || content.state.world.now());
    // Where it can't be asked what has happened, here and below, the copy stays open, and is taken up again.
    let (fence, ended) = match target_of(store, copy).await {
        Ok(target) => {
            let fence = Fence::raise(store, &target, copy, now()).await?;
            let ended = tokio::select! {
                ended = attempt(content, store, copy, &fence, &items) => ended,
                // Another has it now, which ends it.
                lost = beat(content, store, copy, &items) => return Err(lost),
            };
            (Some(fence), ended)
        }
        // There is nothing to copy to any more.
        Err(fault) if matches!(fault.code(), Code::SiteUnknown | Code::SandboxDisabled) => (None, Err(fault)),
        Err(fault) => return Err(fault),
    };
    if let Err(fault) = &ended {
        tracing::warn!(site = %copy.site, copy = copy.id, "a copy between environments failed: {fault:?}");
        // What is staged by now is that of another who has taken it up.
        if is_lost(fault) || !store.copy_touch(copy, items.load(Relaxed), now()).await? {
            return Err(lost());
        }
    }
    let has_happened = match (&ended, &fence) {
        (Ok(()), _) => true,
        (Err(_), Some(fence)) if has_happened(fence, copy, now()).await? => {
            announce(content, fence, copy).await?;
            true
        }
        (Err(_), _) => false,
    };
    let status = match (copy.status, has_happened) {
        (CopyStatus::Undoing, true) => CopyStatus::Undone,
        (CopyStatus::Undoing, false) | (_, true) => CopyStatus::Succeeded,
        (_, false) => CopyStatus::Failed,
    };
    if let (CopyStatus::Succeeded, CopyStatus::Running, Some(fence)) = (status, copy.status, &fence) {
        expire_others(fence, &copy.id, now()).await?;
    }
    let fault = ended.as_ref().err().filter(|_| !has_happened);
    let told = fault.map(|it| (it.code().name().to_owned(), it.message().to_string()));
    let count = Some(items.load(Relaxed)).filter(|it| *it > 0);
    store.copy_end(copy, status, count, told, now()).await?;
    if let Some(fence) = &fence
        && let Err(fault) = content.environment_tend(store, &fence.target).await
    {
        tracing::warn!(site = %copy.site, copy = copy.id, "what a copy left behind stays for now: {fault:?}");
    }
    if has_happened { Ok(()) } else { ended }
}

/// Whether a copy, or its undoing, has happened though something failed. From then on it can't any more.
async fn has_happened(fence: &Fence, copy: &CopyRecord, now: Millis) -> Result<bool> {
    if copy.status == CopyStatus::Undoing {
        // Waits for a transaction whose end was not heard of.
        fence.target.write_alone_with(fence.clone(), |tx, fence| boxed!(fence.check(tx).await)).await?;
        return undo::is_undone(&fence.target, &copy.id).await;
    }
    abandon(fence, &copy.id, now).await?;
    Ok(!done(&fence.target, &copy.id).await?.is_empty())
}

async fn attempt(content: &Content, store: &Store, copy: &CopyRecord, fence: &Fence, items: &AtomicU64) -> Result<()> {
    let target = &fence.target;
    if copy.status == CopyStatus::Undoing {
        return match undo::is_undone(target, &copy.id).await? {
            true => announce(content, fence, copy).await,
            false => undo::undo(content, fence, &copy.id, copy.collections.len()).await,
        };
    }
    // No worker before this one changes what is read here.
    let begun = swap::read(target, Some(&copy.id)).await?;
    if begun.iter().any(|it| it.state == State::Done) {
        return announce(content, fence, copy).await;
    }
    for it in begun {
        discard(target, it, content.state.world.now()).await?;
    }
    if copy.attempts > ATTEMPTS {
        return Err(Fault::because(Code::Unavailable, format!("The copy was cut off {ATTEMPTS} times.")));
    }
    let site = store.site(&copy.site).await?;
    let Places { source, .. } = places(store, &site, copy.source).await?;
    switch::check(target, &copy.collections).await?;
    let snapshot = Snapshot::take(&source, &copy.collections).await?;
    let staged = stage::stage(content, fence, &copy.id, snapshot, items).await?;
    for it in &staged {
        owner::settle(target, &it.collection, &it.swap).await?;
    }
    switch::switch(content, fence, staged).await
}

/// Has all nodes forget the definitions that a copy replaced: the worker that replaced them may not have come to it.
async fn announce(content: &Content, fence: &Fence, copy: &CopyRecord) -> Result<()> {
    cache::announce(content, &fence.target, copy.collections.iter().map(String::as_str)).await
}

async fn target_of(store: &Store, copy: &CopyRecord) -> Result<Arc<Site>> {
    target(store, &store.site(&copy.site).await?, copy.source).await
}

/// Says again and again that this node is at work, until it isn't the copy's any more.
async fn beat(content: &Content, store: &Store, copy: &CopyRecord, items: &AtomicU64) -> Fault {
    loop {
        tokio::time::sleep(BEAT).await;
        match store.copy_touch(copy, items.load(Relaxed), content.state.world.now()).await {
            Ok(true) => {}
            Ok(false) => return lost(),
            Err(fault) => tracing::debug!(copy = copy.id, "work on a copy can't be told: {fault:?}"),
        }
    }
}

/// Whether a site has a collection of this id, and its definition.
pub(super) async fn definition(site: &Site, id: &str) -> Result<Option<stored::StoredCollection>> {
    let (site_id, id) = (site.id.clone(), id.to_owned());
    site.read(ReaderPool::Point, move |tx| boxed!(live(tx, &site_id, &id).await)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_worker_on_a_copy_leaves_the_first_alone() {
        let copies = CopiesAtWork::default();
        let first = copies.add("copy").expect("no worker yet");
        assert!(copies.add("copy").is_none());
        assert!(copies.has("copy"), "the first is at work still");
        drop(first);
        assert!(!copies.has("copy"));
        assert!(copies.add("copy").is_some());
    }
}
