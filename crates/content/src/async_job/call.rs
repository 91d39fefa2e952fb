//! The calls: a job is asked for, and how it stands.

use super::{
    pass::{Moment, Pass},
    row::{self, CANCELLED, JobState, NewJob},
    task::{Change, Task},
};
use crate::{
    Content, RequestContext,
    collection::{self, access},
    limits::ContentLimits,
    wire::request::Request,
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Area, Caller, Code, Fault, Result, Right};
use stoa_store::{Credential, ReaderPool, Site, boxed};

/// A job that is to be written down.
struct Asked {
    site: Arc<Site>,
    job: NewJob,
    limits: ContentLimits,
}

impl Content {
    /// Changes fields of all items that a filter finds among those which the caller may read and change. Answers the id
    /// of the job that does it.
    ///
    /// # Errors
    /// WDE0016 without a filter, WDE0025, WDE0027, THROTTLED_FEATURE for too many jobs, WDE0119 for encrypted fields and
    /// where hooks would have to be asked, and what makes a filter or a patch invalid.
    pub async fn item_patch_by_filter(
        &self,
        site: &Arc<Site>,
        credential: Credential,
        request: &Request<'_>,
    ) -> Result<String> {
        let task = Task::read(Change::Patch, request);
        begin(self, site, credential, request, (Change::Patch, task), None).await
    }

    /// Removes all items that a filter finds among those which the caller may read and remove. Answers the id of the job
    /// that does it.
    ///
    /// # Errors
    /// As for [`Content::item_patch_by_filter`]; WDE0027 for a filter that holds always, for all but owners and apps.
    pub async fn item_remove_by_filter(
        &self,
        site: &Arc<Site>,
        credential: Credential,
        request: &Request<'_>,
    ) -> Result<String> {
        let task = Task::read(Change::Remove, request);
        begin(self, site, credential, request, (Change::Remove, task), None).await
    }

    /// How a job stands, for who asked for it, and for owners and apps.
    ///
    /// # Errors
    /// NOT_FOUND when there is none that the caller may know of.
    pub async fn async_job_status(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        let state = known(self, site, caller, id).await?;
        let state = state.ok_or_else(|| Fault::because(Code::NotFound, "There is no such job."))?;
        Ok(view(state))
    }
}

/// Whether a site has a job of this id, for any caller.
pub(crate) async fn is_there(site: &Site, id: &str) -> Result<bool> {
    Ok(state(site, id).await?.is_some())
}

/// How a job stands that the caller may know of. One that goes on is looked after.
pub(super) async fn known(content: &Content, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Option<JobState>> {
    let state = state(site, id).await?.filter(|it| may_know(caller, it));
    if state.as_ref().is_some_and(|it| !it.is_ended()) {
        content.async_jobs_start(site);
    }
    Ok(state)
}

async fn state(site: &Site, id: &str) -> Result<Option<JobState>> {
    if id.is_empty() || id.contains('\0') {
        return Ok(None);
    }
    let (site_id, job) = (site.id.clone(), id.to_owned());
    site.read(ReaderPool::Point, move |tx| boxed!(row::state(tx, &site_id, &job).await)).await
}

/// Writes a job down if its caller may do what it does; `shown` is what a client is told of its task.
pub(super) async fn begin(
    content: &Content,
    site: &Arc<Site>,
    credential: Credential,
    request: &Request<'_>,
    (change, task): (Change, Result<Task>),
    shown: Option<Value>,
) -> Result<String> {
    let (caller, now) = (&credential.caller, content.state.world.now());
    let collection = collection::load(content, site, request.collection(caller)?).await?;
    access::items(caller, request.drafts(), &collection, change.needs().0)?;
    let (task, id) = (task?, content.state.world.uuid());
    let moment = Moment { job: &id, began: now, pass: Pass::First };
    task.plan(RequestContext::new(content, site, caller, task.drafts), &collection, moment).await?;
    let (number, name) = (collection.table.number, collection.id.to_string());
    let job = NewJob { id: id.clone(), collection: number, collection_id: name, task, credential, now, shown };
    let asked = Asked { site: site.clone(), job, limits: content.limits().clone() };
    let written =
        site.write_with(asked, |tx, asked| boxed!(row::insert(tx, &asked.site.id, &asked.job, &asked.limits).await));
    written.await?;
    content.async_jobs_start(site);
    Ok(id)
}

/// Whether a job is the caller's, or the caller's to see. Scopes hold here as for the items.
fn may_know(caller: &Caller, job: &JobState) -> bool {
    may(caller, job, Right::Read)
}

pub(super) fn may(caller: &Caller, job: &JobState, right: Right) -> bool {
    let is_own = (caller.identity_type(), caller.id()) == (job.asker.0.as_str(), job.asker.1.as_str());
    (is_own || caller.bare().is_privileged()) && caller.reaches(Area::Items, right, Some(&job.collection_id))
}

fn view(job: JobState) -> Value {
    let mut view = json!({
        "status": job.status, "successCount": job.succeeded, "failureCount": job.failed, "failures": job.failures,
    });
    if let Some(code) = job.fault {
        view["error"] = error(&code);
    }
    view
}

/// Why a job failed.
pub(super) fn error(code: &str) -> Value {
    let sentence = Code::ALL.iter().find(|it| it.name() == code).map(|it| it.sentence());
    let cancelled = (code == CANCELLED).then_some("The task was cancelled.");
    json!({ "code": code, "description": sentence.or(cancelled).unwrap_or_default() })
}
