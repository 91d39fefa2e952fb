//! The calls: a job is asked for, and how it stands.

use super::{
    row::{self, JobState, NewJob},
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
        begin(self, site, credential, Change::Patch, request).await
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
        begin(self, site, credential, Change::Remove, request).await
    }

    /// How a job stands, for who asked for it, and for owners and apps.
    ///
    /// # Errors
    /// NOT_FOUND when there is none that the caller may know of.
    pub async fn async_job_status(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        let missing = || Fault::because(Code::NotFound, "There is no such job.");
        if id.is_empty() || id.contains('\0') {
            return Err(missing());
        }
        let (site_id, job) = (site.id.clone(), id.to_owned());
        let state = site.read(ReaderPool::Point, move |tx| boxed!(row::state(tx, &site_id, &job).await)).await?;
        let state = state.filter(|it| may_know(caller, it)).ok_or_else(missing)?;
        if !state.is_ended() {
            self.async_jobs_start(site);
        }
        Ok(view(state))
    }
}

async fn begin(
    content: &Content,
    site: &Arc<Site>,
    credential: Credential,
    change: Change,
    request: &Request<'_>,
) -> Result<String> {
    let (caller, now) = (&credential.caller, content.state.world.now());
    let collection = collection::load(content, site, request.collection(caller)?).await?;
    access::items(caller, request.drafts(), &collection, change.needs().0)?;
    let task = Task::read(change, request)?;
    task.plan(RequestContext::new(content, site, caller, task.drafts), &collection, now).await?;
    let id = content.state.world.uuid();
    let (number, name) = (collection.table.number, collection.id.to_string());
    let job = NewJob { id: id.clone(), collection: number, collection_id: name, task, credential, now };
    let asked = Asked { site: site.clone(), job, limits: content.limits().clone() };
    let written =
        site.write_with(asked, |tx, asked| boxed!(row::insert(tx, &asked.site.id, &asked.job, &asked.limits).await));
    written.await?;
    content.async_jobs_start(site);
    Ok(id)
}

/// Whether a job is the caller's, or the caller's to see. Scopes hold here as for the items.
fn may_know(caller: &Caller, job: &JobState) -> bool {
    let is_own = (caller.identity_type(), caller.id()) == (job.asker.0.as_str(), job.asker.1.as_str());
    (is_own || caller.bare().is_privileged()) && caller.reaches(Area::Items, Right::Read, Some(&job.collection_id))
}

fn view(job: JobState) -> Value {
    let mut view = json!({
        "status": job.status, "successCount": job.succeeded, "failureCount": job.failed, "failures": job.failures,
    });
    if let Some(code) = job.fault {
        let description = Code::ALL.iter().find(|it| it.name() == code).map_or("", |it| it.sentence());
        view["error"] = json!({ "code": code, "description": description });
    }
    view
}
