//! What those who run a site do with its environments: make a SANDBOX and delete it, take copies back, and ask how all
//! stands.

use super::{
    copy::{CopyWish, left, places, select, target},
    difference,
    retention::UNDO_KEPT,
    switch::done,
};
use crate::{Content, collection::access};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result, date::iso_from_millis};
use stoa_store::{CopyRecord, CopyStatus, Site, Store};

impl Content {
    /// Makes an empty SANDBOX.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged, ALREADY_EXISTS when there is one.
    pub async fn environment_create(&self, store: &Store, site: &Site, caller: &Caller) -> Result<()> {
        access::command(caller)?;
        store.sandbox_create(site, &self.state.world).await.map(drop)
    }

    /// Deletes the SANDBOX, or these collections of it: those are then read from LIVE by SANDBOX_PREFERRED.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged, WDE0179 without a SANDBOX, ALREADY_EXISTS while a copy is at work, WDE0025.
    pub async fn environment_delete(
        &self,
        store: &Store,
        site: &Site,
        caller: &Caller,
        collections: &[String],
    ) -> Result<()> {
        access::command(caller)?;
        if collections.is_empty() {
            return store.sandbox_delete(site, self.state.world.now()).await;
        }
        let sandbox = store.sandbox(site).await?.ok_or_else(|| Fault::new(Code::SandboxDisabled))?;
        for id in collections {
            self.collection_delete(&sandbox, caller, id).await?;
        }
        Ok(())
    }

    /// What a copy would change, as far as it can be told before: of each collection at most so many ids of items that it
    /// would add, change and remove. It is read piece by piece, so it is not one moment's picture of what is being written.
    ///
    /// # Errors
    /// As for a copy.
    pub async fn environment_diff(
        &self,
        store: &Store,
        site: &Arc<Site>,
        caller: &Caller,
        wish: &CopyWish,
        ids: usize,
    ) -> Result<Value> {
        access::command(caller)?;
        let places = places(store, site, wish.source).await?;
        let selection = select(&places, &wish.collections).await?;
        let mut collections = Vec::with_capacity(selection.carried.len());
        for id in &selection.carried {
            collections.push(difference::of_collection(&places, id, ids).await?);
        }
        let only_there = difference::only_in_target(&places).await?;
        let (from, to) = (wish.source.name(), wish.source.other().name());
        Ok(json!({
            "from": from, "to": to, "collections": collections, "left": left(&selection), "untouched": only_there,
        }))
    }

    /// Begins to undo a copy, the latest that succeeded unless one is named; [`Content::environment_work`] is to be called
    /// with it next.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged, NOT_FOUND when there is no such copy, or what it replaced isn't kept any
    /// more; ALREADY_EXISTS while another copy is at work.
    pub async fn environment_undo_begin(
        &self,
        store: &Store,
        site: &Arc<Site>,
        caller: &Caller,
        id: Option<&str>,
    ) -> Result<CopyRecord> {
        access::command(caller)?;
        let missing = || Fault::because(Code::NotFound, "There is no copy that can be undone.");
        let copy = store.copy(&site.id, id).await?.ok_or_else(missing)?;
        let target = target(store, site, copy.source).await?;
        if copy.status == CopyStatus::Succeeded && done(&target, &copy.id).await?.is_empty() {
            return Err(missing());
        }
        store.copy_undo_begin(copy, self.state.world.now()).await
    }

    /// How a copy stands, as [`Content::environment_status`] shows it.
    ///
    /// # Errors
    /// NOT_FOUND.
    pub async fn environment_copy_get(&self, store: &Store, site: &Arc<Site>, id: &str) -> Result<Value> {
        let copy = store.copy(&site.id, Some(id)).await?;
        view(store, site, &copy.ok_or_else(|| Fault::because(Code::NotFound, format!("There is no copy {id}.")))?).await
    }

    /// The environments of a site and the copies between them, the latest first.
    ///
    /// # Errors
    /// WDE0027 unless the caller is privileged.
    pub async fn environment_status(&self, store: &Store, site: &Arc<Site>, caller: &Caller) -> Result<Value> {
        access::command(caller)?;
        let mut environments = vec![json!({ "name": "LIVE", "collections": difference::ids(site).await? })];
        if let Some(sandbox) = store.sandbox(site).await? {
            environments.push(json!({ "name": "SANDBOX", "collections": difference::ids(&sandbox).await? }));
        }
        let mut copies = Vec::new();
        for it in store.copies(&site.id).await? {
            copies.push(view(store, site, &it).await?);
        }
        Ok(json!({ "environments": environments, "copies": copies }))
    }
}

async fn view(store: &Store, site: &Arc<Site>, copy: &CopyRecord) -> Result<Value> {
    let CopyRecord { id, source, status, collections, items, started, attempts, .. } = copy;
    let mut view = json!({
        "copyId": id, "from": source.name(), "to": source.other().name(), "status": status.name(),
        "collections": collections, "items": items, "attempts": attempts, "started": iso_from_millis(*started),
    });
    if let Some(ended) = copy.ended {
        view["ended"] = json!(iso_from_millis(ended));
    }
    if let Some((code, text)) = &copy.fault {
        // What has succeeded failed to be undone.
        match status {
            CopyStatus::Failed => view["error"] = json!({ "code": code, "description": text }),
            CopyStatus::Succeeded => view["undoError"] = json!({ "code": code, "description": text }),
            _ => {}
        }
    }
    if *status == CopyStatus::Succeeded
        && let Ok(target) = target(store, site, *source).await
        && let Some(swap) = done(&target, id).await?.first()
    {
        view["canBeUndoneUntil"] = json!(iso_from_millis(swap.changed + UNDO_KEPT));
    }
    Ok(view)
}
