//! Which environment a call is about (docs/protocol/content.md §3.0).

use crate::{
    Content, Options, TaskList,
    async_job::{call, tasks},
    collection, fault,
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Result};
use stoa_store::{Site, Store};

impl Content {
    /// The site that holds what a call on items means by `environment`: the site itself, or its SANDBOX. In the members of
    /// a call that is taken there the option is fulfilled, and no longer stands.
    ///
    /// SANDBOX and SANDBOX_PREFERRED are for those who work on the site, and apps. For others, and where there is no
    /// SANDBOX, the members stay as they are: SANDBOX is then refused where the call is read, as any option is, and
    /// SANDBOX_PREFERRED is LIVE. It is LIVE too where the SANDBOX has no such collection.
    ///
    /// # Errors
    /// When the catalogue or the SANDBOX can't be asked.
    pub async fn environment_of(
        &self,
        store: &Store,
        site: &Arc<Site>,
        caller: &Caller,
        members: &mut Map<String, Value>,
    ) -> Result<Arc<Site>> {
        let is_preferred = match members.get("environment").and_then(Value::as_str) {
            Some("SANDBOX") => false,
            Some("SANDBOX_PREFERRED") => true,
            _ => return Ok(site.clone()),
        };
        if !caller.bare().is_editor() {
            return Ok(site.clone());
        }
        let Some(id) = members.get("dataCollectionId").and_then(Value::as_str) else { return Ok(site.clone()) };
        let Some(sandbox) = store.sandbox(site).await? else { return Ok(site.clone()) };
        if is_preferred && !self.has_collection(&sandbox, id).await? {
            return Ok(site.clone());
        }
        members.remove("environment");
        Ok(sandbox)
    }

    /// The site that a call means by `environment` which is about no collection: SANDBOX_PREFERRED is LIVE.
    ///
    /// # Errors
    /// WDE0018 for what is no environment, WDE0027 for callers who can't use a SANDBOX, WDE0179 without one.
    pub async fn environment_of_all(
        &self,
        store: &Store,
        site: &Arc<Site>,
        caller: &Caller,
        members: &Map<String, Value>,
    ) -> Result<Arc<Site>> {
        match Options::parse(members)?.refuse_sandbox(caller) {
            Err(it) if it.code() == Code::SandboxDisabled => store.sandbox(site).await?.ok_or(it),
            answered => answered.map(|()| site.clone()),
        }
    }

    /// [`Content::async_job_status`] of a job in either environment: calls about jobs name none.
    ///
    /// # Errors
    /// NOT_FOUND when there is none that the caller may know of.
    pub async fn async_job_status_anywhere(
        &self,
        store: &Store,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
    ) -> Result<Value> {
        self.async_job_status(&self.environment_of_job(store, site, caller, id).await?, caller, id).await
    }

    /// The environment that has a job, or a task; the site itself where none has.
    ///
    /// # Errors
    /// When one of them can't be asked.
    pub async fn environment_of_job(
        &self,
        store: &Store,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
    ) -> Result<Arc<Site>> {
        if !caller.bare().is_editor() || call::is_there(site, id).await? {
            return Ok(site.clone());
        }
        Ok(store.sandbox(site).await?.unwrap_or_else(|| site.clone()))
    }

    /// A page of the tasks that the caller may know of in both environments, those of LIVE first, each the newest first.
    ///
    /// # Errors
    /// When one of them can't be asked.
    pub async fn task_list_everywhere(
        &self,
        store: &Store,
        site: &Arc<Site>,
        caller: &Caller,
        (offset, limit): (usize, usize),
    ) -> Result<TaskList> {
        let mut list = tasks::list(site, caller, offset, limit).await?;
        if !caller.bare().is_editor() {
            return Ok(list);
        }
        let Some(sandbox) = store.sandbox(site).await? else { return Ok(list) };
        let (before, left) = (offset.saturating_sub(list.total), limit - list.tasks.len().min(limit));
        let others = tasks::list(&sandbox, caller, before, left).await?;
        list.total += others.total;
        list.tasks.extend(others.tasks);
        Ok(list)
    }

    async fn has_collection(&self, site: &Site, id: &str) -> Result<bool> {
        match collection::load(self, site, id).await {
            Ok(_) => Ok(true),
            Err(it) if fault::is_collection_gone(&it) => Ok(false),
            Err(it) => Err(it),
        }
    }
}
