//! Jobs as rows of `stoa.async_job`.

use super::{
    LEASE,
    task::{Change, Task},
};
use crate::{collection::asker, limits::ContentLimits};
use serde_json::Value;
use stoa_kernel::{Caller, Code, Fault, Result, SessionId, SiteId, clock::Millis};
use stoa_sql::params;
use stoa_store::{Credential, Row, Tx};

/// What moves a job: who works on it, and how far they have come.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// Of the job.
    pub id: String,
    /// The name under which it was claimed.
    runner: String,
    /// The last id that is done.
    pub done: String,
}

/// A job that is worked on, by the process that has claimed it.
pub(super) struct AsyncJob {
    pub claim: Claim,
    /// The number of the collection, and its id.
    pub collection: i64,
    pub collection_id: String,
    pub task: Task,
    pub credential: Credential,
    pub created: Millis,
    /// The first of the items that could not be changed, with why.
    pub failures: Vec<Value>,
    pub attempts: i64,
}

/// A job that is to be done.
pub(super) struct NewJob {
    pub id: String,
    pub collection: i64,
    pub collection_id: String,
    pub task: Task,
    pub credential: Credential,
    pub now: Millis,
}

/// What one piece came to.
pub(super) struct Progress {
    pub done: String,
    pub succeeded: i64,
    pub failed: i64,
    pub failures: Vec<Value>,
}

/// How a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Succeeded,
    Failed(Code),
}

/// What is told of a job.
pub(super) struct JobState {
    pub status: String,
    pub succeeded: i64,
    pub failed: i64,
    pub failures: Value,
    /// The code that it failed with.
    pub fault: Option<String>,
    pub asker: (String, String),
    pub collection_id: String,
}

impl JobState {
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.status.as_str(), "SUCCEEDED" | "FAILED")
    }
}

/// Writes a job down.
///
/// # Errors
/// [`Code::Throttled`] when there are as many as there may be.
pub(super) async fn insert(tx: &mut Tx<'_>, site: &SiteId, job: &NewJob, limits: &ContentLimits) -> Result<()> {
    let caller = &job.credential.caller;
    let (kind, id) = (caller.identity_type(), caller.id().to_owned());
    refuse_many(tx, site, caller, limits).await?;
    let sql = "insert into stoa.async_job (site, id, collection, collection_id, kind, status, asker, asker_grant, \
               asker_kind, asker_id, request, created, done, succeeded, failed, failures, touched, attempts) \
               values ($1, $2, $3, $4, $5, 'INITIALIZED', $6, $7, $8, $9, $10, $11, '', 0, 0, '[]', $11, 0)";
    let (grant, task) = (job.credential.grant.as_ref(), &job.task);
    let row = params![
        site,
        &job.id,
        job.collection,
        &job.collection_id,
        task.change.name(),
        asker::print(caller),
        grant,
        kind,
        id,
        task.print(),
        job.now
    ];
    tx.send(sql, row).await?;
    Ok(())
}

/// Those to whom the site belongs are held to its number alone. Anyone can be any number of visitors, so these are one.
async fn refuse_many(tx: &mut Tx<'_>, site: &SiteId, caller: &Caller, limits: &ContentLimits) -> Result<()> {
    let sql = "select asker_kind, asker_id from stoa.async_job where site = $1 and ended is null";
    let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
    let open = tx.rows(sql, &params![site], read).await?;
    let (kind, id) = (caller.identity_type(), caller.id());
    let is_visitor = matches!(caller.bare(), Caller::Visitor { .. });
    let own = open.iter().filter(|it| it.0 == kind && (is_visitor || it.1 == id)).count();
    let (who, most) = if open.len() >= limits.async_jobs {
        ("The site has", limits.async_jobs)
    } else if caller.is_privileged() || own < limits.caller_async_jobs {
        return Ok(());
    } else if is_visitor {
        ("Visitors have", limits.caller_async_jobs)
    } else {
        ("The caller has", limits.caller_async_jobs)
    };
    let text = format!("{who} as many jobs as may wait and run at one time, {most}; try again later.");
    Err(Fault::because(Code::Throttled, text).with("most", most))
}

/// The jobs of a site on which no process works, the oldest first. Those of a kind that a later program has made are left to it.
pub(super) async fn claimable(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Vec<String>> {
    let sql = "select id from stoa.async_job where site = $1 and ended is null and (runner is null or touched < $2) \
               and kind in ('PATCH', 'REMOVE') order by created, id";
    Ok(tx.rows(sql, &params![site, now - LEASE], |row| row.get(0)).await?)
}

/// Takes a job on which no other process works; nothing when one does, or it has ended. One that can't be read ends.
pub(super) async fn claim(
    tx: &mut Tx<'_>,
    site: &SiteId,
    id: &str,
    runner: &str,
    now: Millis,
) -> Result<Option<AsyncJob>> {
    let sql = "update stoa.async_job set status = 'PROCESSING', runner = $1, touched = $2, attempts = attempts + 1 \
               where site = $3 and id = $4 and ended is null and (runner is null or touched < $5) \
               returning id, collection, collection_id, kind, request, asker, asker_grant, created, done, failures, \
               attempts";
    let read = |row: &Row<'_>| {
        let claim = Claim { id: row.get(0)?, runner: runner.to_owned(), done: row.get(8)? };
        let (change, request): (String, Option<String>) = (row.get(3)?, row.get(4)?);
        let (caller, grant): (String, Option<String>) = (row.get(5)?, row.get(6)?);
        let (Some(change), Ok(caller)) = (Change::of(&change), asker::parse(&caller)) else {
            return Ok((claim, None));
        };
        let job = AsyncJob {
            claim: claim.clone(),
            collection: row.get(1)?,
            collection_id: row.get(2)?,
            task: Task::parse(change, &request.unwrap_or_default()),
            credential: Credential { caller, grant: grant.map(SessionId::from) },
            created: row.get(7)?,
            failures: serde_json::from_str(row.text(9)?).unwrap_or_default(),
            attempts: row.get(10)?,
        };
        Ok((claim, Some(job)))
    };
    match tx.row(sql, &params![runner, now, site, id, now - LEASE], read).await? {
        Some((claim, None)) => {
            claim.end(tx, site, End::Failed(Code::Internal), now).await?;
            Ok(None)
        }
        found => Ok(found.and_then(|it| it.1)),
    }
}

/// Says that a process still works on its jobs.
pub(super) async fn beat(tx: &mut Tx<'_>, site: &SiteId, runner: &str, now: Millis) -> Result<()> {
    let sql =
        "update stoa.async_job set touched = $1 where site = $2 and runner = $3 and ended is null and touched < $1";
    tx.send(sql, params![now, site, runner]).await?;
    Ok(())
}

impl Claim {
    /// Keeps the job to this process until the end of the transaction. `false`: another works on it by now, or it has
    /// ended, and nothing may be written for it.
    pub(super) async fn keep(&self, tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<bool> {
        let sql = "update stoa.async_job set touched = $1, attempts = 0 \
                   where site = $2 and id = $3 and runner = $4 and done = $5 and ended is null";
        Ok(tx.execute(sql, &params![now, site, &self.id, &self.runner, &self.done]).await? == 1)
    }

    /// Moves the place of a job that was kept.
    pub(super) async fn advance(&self, tx: &mut Tx<'_>, site: &SiteId, progress: &Progress) -> Result<()> {
        let sql = "update stoa.async_job set done = $1, succeeded = succeeded + $2, failed = failed + $3, failures = $4 \
                   where site = $5 and id = $6";
        let failures = serde_json::to_string(&progress.failures).map_err(Fault::internal)?;
        let row = params![&progress.done, progress.succeeded, progress.failed, failures, site, &self.id];
        tx.send(sql, row).await?;
        Ok(())
    }

    /// Ends the job, if this process still works on it. What was asked for is of no use any more.
    pub(super) async fn end(&self, tx: &mut Tx<'_>, site: &SiteId, end: End, now: Millis) -> Result<()> {
        let (status, fault) = match end {
            End::Succeeded => ("SUCCEEDED", None),
            End::Failed(code) => ("FAILED", Some(code.name())),
        };
        let sql = "update stoa.async_job set status = $1, fault = $2, ended = $3, touched = $3, request = null, \
                   runner = null where site = $4 and id = $5 and runner = $6 and ended is null";
        tx.send(sql, params![status, fault, now, site, &self.id, &self.runner]).await?;
        Ok(())
    }
}

/// How a job stands.
pub(super) async fn state(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<Option<JobState>> {
    let sql = "select status, succeeded, failed, failures, fault, asker_kind, asker_id, collection_id \
               from stoa.async_job where site = $1 and id = $2";
    let read = |row: &Row<'_>| {
        Ok(JobState {
            status: row.get(0)?,
            succeeded: row.get(1)?,
            failed: row.get(2)?,
            failures: serde_json::from_str(row.text(3)?).unwrap_or_default(),
            fault: row.get(4)?,
            asker: (row.get(5)?, row.get(6)?),
            collection_id: row.get(7)?,
        })
    };
    Ok(tx.row(sql, &params![site, id], read).await?)
}
