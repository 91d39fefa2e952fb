//! Jobs as tasks of the data client: asked for, told of, listed and cancelled (docs/protocol/content.md §9).

use super::{
    call::{begin, error, known, may},
    own::Own,
    row::{self, JobState, Wanted},
    task::{Change, Task, within},
};
use crate::{
    Content,
    wire::{request::Request, task::TaskRequest},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Area, Caller, Code, Fault, Result, Right, date};
use stoa_store::{Credential, ReaderPool, Site, boxed};

/// A page of tasks as wire objects.
pub struct TaskList {
    pub tasks: Vec<Value>,
    pub total: usize,
}

impl Content {
    /// Begins a task on the items that its filter finds among those which the caller may read and change.
    ///
    /// # Errors
    /// As for [`Content::item_patch_by_filter`] and [`Content::item_remove_by_filter`]; WDE0075 for keys of fields that
    /// can't be; WDE0080 for a status where the collection doesn't have the plugin PUBLISH.
    pub async fn task_create(&self, site: &Arc<Site>, credential: Credential, request: TaskRequest) -> Result<Value> {
        let TaskRequest { kind, options, shown } = request;
        let caller = credential.caller.clone();
        let request = Request::of(options);
        let filter = request.members.get("filter").map_or_else(|| json!({}), with_system_names);
        let (change, printed) = match Own::print(&kind) {
            Some((change, printed)) => (Change::Own(change), printed),
            None => (Change::Remove, Value::Null),
        };
        let task = Task::new(change, &request, filter, printed).and_then(|it| within(&shown.to_string()).map(|()| it));
        let task = (change, task);
        let id = begin(self, site, credential, &request, task, Some(shown.clone())).await?;
        let mut task = self.task_get(site, &caller, &id).await?;
        // As it was asked for: it may have ended by now, and its filter be forgotten.
        if let (Some(task), Value::Object(shown)) = (task.as_object_mut(), shown) {
            task.extend(shown);
        }
        Ok(task)
    }

    /// How a task stands, for who asked for it, and for owners and apps.
    ///
    /// # Errors
    /// NOT_FOUND when there is none that the caller may know of.
    pub async fn task_get(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        known(self, site, caller, id).await?.and_then(view).ok_or_else(missing)
    }

    /// Cancels a task that has not ended: nothing more is done, and what is marked to be published or taken back at a
    /// time is so no longer. One that has ended stays as it is.
    ///
    /// # Errors
    /// NOT_FOUND when there is none that the caller may know of, WDE0027 where scopes let it be read alone.
    pub async fn task_cancel(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        let state = known(self, site, caller, id).await?.filter(|it| it.task.is_some()).ok_or_else(missing)?;
        if !may(caller, &state, Right::Write) {
            return Err(Fault::new(Code::PermissionDenied));
        }
        let now = self.state.world.now();
        let cancelled = site.write_with((site.id.clone(), state.id), move |tx, (site, id)| {
            boxed!(row::cancel(tx, site, id, now).await)
        });
        cancelled.await?;
        self.task_get(site, caller, id).await
    }
}

/// A page of the tasks that the caller may know of, the newest first.
///
/// # Errors
/// When they can't be read.
pub(crate) async fn list(site: &Site, caller: &Caller, offset: usize, limit: usize) -> Result<TaskList> {
    let own = || (caller.identity_type().to_owned(), caller.id().to_owned());
    let asker = (!caller.bare().is_privileged()).then(own);
    let number = |it: usize| i64::try_from(it).unwrap_or(i64::MAX);
    let mut wanted = Wanted { asker, collections: None, offset: number(offset), limit: number(limit) };
    let (id, caller) = (site.id.clone(), caller.clone());
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            if caller.scopes().is_some() {
                let reaches = |it: &String| caller.reaches(Area::Items, Right::Read, Some(it));
                let all = row::task_collections(tx, &id).await?;
                wanted.collections = Some(all.into_iter().filter(reaches).collect());
            }
            row::tasks(tx, &id, &wanted).await
        })
    });
    let (states, total) = read.await?;
    Ok(TaskList { tasks: states.into_iter().filter_map(view).collect(), total: usize::try_from(total).unwrap_or(0) })
}

/// A filter with the names that items have for their own: on the way of tasks the packages call `_id`, `_createdDate` and
/// `_updatedDate` otherwise, at every depth (docs/protocol/content.md §6.1).
fn with_system_names(filter: &Value) -> Value {
    match filter {
        Value::Object(members) => {
            let named = members.iter().map(|(name, value)| {
                let name = match name.as_str() {
                    "id" => "_id",
                    "createdDate" => "_createdDate",
                    "updatedDate" => "_updatedDate",
                    other => other,
                };
                (name.to_owned(), with_system_names(value))
            });
            Value::Object(named.collect())
        }
        Value::Array(values) => values.iter().map(with_system_names).collect(),
        other => other.clone(),
    }
}

fn missing() -> Fault {
    Fault::because(Code::NotFound, "There is no such task.")
}

/// A task as it is told; nothing for another job.
fn view(job: JobState) -> Option<Value> {
    let mut view = job.task?;
    let status = match job.status.as_str() {
        // What it has marked is still to be unmarked.
        _ if job.fault.is_some() => "FAILED",
        "INITIALIZED" => "NEW",
        "SUCCEEDED" => "COMPLETED",
        "FAILED" => "FAILED",
        _ => "RUNNING",
    };
    let of_item = |it: &Value| {
        let mut failure = it["error"].clone();
        failure["data"] = json!({ "itemId": it["itemId"] });
        failure
    };
    let failures: Vec<Value> = job
        .fault
        .as_deref()
        .map(error)
        .into_iter()
        .chain(job.failures.as_array().into_iter().flatten().map(of_item))
        .collect();
    view["id"] = job.id.into();
    view["status"] = status.into();
    view["itemsSucceeded"] = job.succeeded.into();
    view["itemsFailed"] = job.failed.into();
    view["estimatedItemCount"] = job.estimated.max(job.succeeded + job.failed).into();
    view["failures"] = failures.into();
    for (name, at) in [("startedAt", job.started), ("finishedAt", job.ended)] {
        if let Some(at) = at {
            view[name] = date::iso_from_millis(at).into();
        }
    }
    Some(view)
}
