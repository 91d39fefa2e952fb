//! Jobs as rows of `stoa.async_job`.

use super::{
    LEASE,
    pass::{OwnChange, Pass},
    task::{Change, Task},
};
use crate::{collection::asker, limits::ContentLimits, wire::task::TaskRequest};
use serde_json::Value;
use stoa_kernel::{Caller, Code, Fault, Result, SessionId, SiteId, clock::Millis};
use stoa_sql::{Writer, params};
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
    pub pass: Pass,
    /// The ids of the items that it marked, in order, while they are few.
    pub marked: Option<Vec<String>>,
}

/// A job that is to be done.
pub(super) struct NewJob {
    pub id: String,
    pub collection: i64,
    pub collection_id: String,
    pub task: Task,
    pub credential: Credential,
    pub now: Millis,
    /// What a client is told of its task, type and options.
    pub shown: Option<Value>,
}

/// What one piece came to.
pub(super) struct Progress {
    pub done: String,
    pub succeeded: i64,
    pub failed: i64,
    pub failures: Vec<Value>,
    pub marked: Option<Vec<String>>,
}

/// How a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Succeeded,
    Failed(Code),
    /// The marks are taken away, as far as that went; why is written already.
    Cleared,
}

/// What stands in the place of a code where a task was cancelled (docs/protocol/content.md §9).
pub(super) const CANCELLED: &str = "CANCELLED";

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
    pub id: String,
    /// What its client is told of a task.
    pub task: Option<Value>,
    pub started: Option<Millis>,
    pub ended: Option<Millis>,
    /// How many items it marked.
    pub estimated: i64,
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
    let is_scheduled = job.task.own()?.is_some_and(|it| it.schedule().is_some());
    refuse_many(tx, site, (caller, is_scheduled), limits).await?;
    let sql = "insert into stoa.async_job (site, id, collection, collection_id, kind, status, asker, asker_grant, \
               asker_kind, asker_id, request, created, done, succeeded, failed, failures, touched, attempts, task, \
               marked) \
               values ($1, $2, $3, $4, $5, 'INITIALIZED', $6, $7, $8, $9, $10, $11, '', 0, 0, '[]', $12, 0, $13, $14)";
    let (grant, task) = (job.credential.grant.as_ref(), &job.task);
    let created = match task.change {
        Change::Own(OwnChange::Status) => after_others(tx, site, job).await?,
        _ => job.now,
    };
    let shown = job.shown.as_ref().map(Value::to_string);
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
        created,
        job.now,
        shown,
        is_scheduled.then_some("[]")
    ];
    tx.send(sql, row).await?;
    Ok(())
}

/// Later than all that sets the status of items of the collection and has not ended, however the clocks of nodes differ.
async fn after_others(tx: &mut Tx<'_>, site: &SiteId, job: &NewJob) -> Result<Millis> {
    let sql = "select max(created) from stoa.async_job where site = $1 and collection = $2 and kind = 'STATUS' \
               and ended is null";
    let last = tx.row(sql, &params![site, job.collection], |row| row.get::<Option<Millis>>(0)).await?.flatten();
    Ok(last.map_or(job.now, |it| job.now.max(it + 1)))
}

/// Those to whom the site belongs are held to its number alone. Anyone can be any number of visitors, so these are one.
/// Tasks that wait for their time have places of their own.
async fn refuse_many(
    tx: &mut Tx<'_>,
    site: &SiteId,
    (caller, is_scheduled): (&Caller, bool),
    limits: &ContentLimits,
) -> Result<()> {
    let sql = "select asker_kind, asker_id, pass from stoa.async_job where site = $1 and ended is null";
    let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<i64>(2)?));
    let all = tx.rows(sql, &params![site], read).await?;
    let (open, waiting): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| Pass::of(it.2) == Pass::First);
    if is_scheduled && waiting.len() >= limits.scheduled_tasks {
        let most = limits.scheduled_tasks;
        let text = format!("The site has as many tasks as may wait for their time, {most}.");
        return Err(Fault::because(Code::Throttled, text).with("most", most));
    }
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

/// Those that this program knows; others are left to the later program that has made them.
const KINDS: &str = "('PATCH', 'REMOVE', 'COPY', 'EDIT', 'STATUS')";

/// Whether it is the turn of a `job`. What sets the status of items of one collection is done one after another, a schedule
/// first when it is asked for (its marks) and then at its time, so that the last word is that of the latest.
const IS_NEXT: &str = "(job.kind <> 'STATUS' or job.pass = 2 or not exists (select 1 from stoa.async_job earlier \
     where earlier.site = job.site and earlier.collection = job.collection and earlier.kind = 'STATUS' \
     and earlier.ended is null and earlier.pass < 2 and \
     (case when earlier.pass = 1 and earlier.due > earlier.created then earlier.due else earlier.created end, \
     earlier.created, earlier.id) < \
     (case when job.pass = 1 and job.due > job.created then job.due else job.created end, job.created, job.id)))";

/// The jobs of a site on which no process works and whose turn it is, the oldest first.
pub(super) async fn claimable(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Vec<String>> {
    let sql = format!(
        "select id from stoa.async_job job where site = $1 and ended is null and (runner is null or touched < $2) \
         and (due is null or due <= $3) and kind in {KINDS} and {IS_NEXT} order by created, id"
    );
    Ok(tx.rows(&sql, &params![site, now - LEASE, now], |row| row.get(0)).await?)
}

/// When jobs of a site are to be looked for again: when the next of the tasks that wait is to be done, and soon when there
/// are others that have not ended.
pub(super) async fn next_due(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Option<Millis>> {
    let sql = format!(
        "select min(coalesce(due, $1)) from stoa.async_job where site = $2 and ended is null and kind in {KINDS}"
    );
    Ok(tx.row(&sql, &params![now + LEASE, site], |row| row.get::<Option<Millis>>(0)).await?.flatten())
}

/// Takes a job on which no other process works; nothing when one does, or it has ended, or it isn't its turn. One that can't
/// be read ends.
pub(super) async fn claim(
    tx: &mut Tx<'_>,
    site: &SiteId,
    id: &str,
    runner: &str,
    now: Millis,
) -> Result<Option<AsyncJob>> {
    let sql = format!(
        "update stoa.async_job as job set status = 'PROCESSING', runner = $1, touched = $2, attempts = attempts + 1, \
         started = coalesce(started, $2) \
         where site = $3 and id = $4 and ended is null and (runner is null or touched < $5) \
         and (due is null or due <= $2) and {IS_NEXT} \
         returning id, collection, collection_id, kind, request, asker, asker_grant, created, done, failures, \
         attempts, pass, marked"
    );
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
            pass: Pass::of(row.get(11)?),
            marked: row.get::<Option<String>>(12)?.and_then(|it| serde_json::from_str(&it).ok()),
        };
        Ok((claim, Some(job)))
    };
    match tx.row(&sql, &params![runner, now, site, id, now - LEASE], read).await? {
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
        let sql = "update stoa.async_job set done = $1, succeeded = succeeded + $2, failed = failed + $3, failures = $4, \
                   marked = $5 where site = $6 and id = $7";
        let failures = serde_json::to_string(&progress.failures).map_err(Fault::internal)?;
        let marked = progress.marked.as_ref().map(serde_json::to_string).transpose().map_err(Fault::internal)?;
        let row = params![&progress.done, progress.succeeded, progress.failed, failures, marked, site, &self.id];
        tx.send(sql, row).await?;
        Ok(())
    }

    /// Has a job that has marked its items wait for its time. The filter is of no use any more, and may be about persons.
    pub(super) async fn wait(
        &self,
        tx: &mut Tx<'_>,
        site: &SiteId,
        task: &Task,
        (due, now): (Millis, Millis),
    ) -> Result<()> {
        let sql = "update stoa.async_job set pass = 1, due = $1, done = '', estimated = succeeded, succeeded = 0, \
                   runner = null, touched = $2, attempts = 0, request = $3 \
                   where site = $4 and id = $5 and runner = $6 and ended is null and pass = 0";
        let row = params![due, now, task.without_filter().print(), site, &self.id, &self.runner];
        if tx.execute(sql, &row).await? == 1 {
            forget_values(tx, site, &self.id).await?;
        }
        Ok(())
    }

    /// Has a job that can't mark more items take its marks away, if this process still works on it.
    pub(super) async fn give_up(
        &self,
        tx: &mut Tx<'_>,
        site: &SiteId,
        task: &Task,
        (code, now): (Code, Millis),
    ) -> Result<()> {
        match self.keep(tx, site, now).await? {
            true => clear(tx, site, &self.id, task, (code.name(), now)).await,
            false => Ok(()),
        }
    }

    /// Trouble that is not of the job's making counts for no attempt.
    pub(super) async fn excuse(&self, tx: &mut Tx<'_>, site: &SiteId) -> Result<()> {
        let sql = "update stoa.async_job set attempts = 0 where site = $1 and id = $2 and runner = $3";
        tx.send(sql, params![site, &self.id, &self.runner]).await?;
        Ok(())
    }

    /// Ends the job, if this process still works on it. What was asked for is of no use any more.
    pub(super) async fn end(&self, tx: &mut Tx<'_>, site: &SiteId, end: End, now: Millis) -> Result<()> {
        let (status, fault) = match end {
            End::Succeeded => ("SUCCEEDED", None),
            End::Failed(code) => ("FAILED", Some(code.name())),
            End::Cleared => ("FAILED", None),
        };
        let sql = "update stoa.async_job set status = $1, fault = coalesce(fault, $2), ended = $3, touched = $3, \
                   request = null, marked = null, runner = null \
                   where site = $4 and id = $5 and runner = $6 and ended is null";
        if tx.execute(sql, &params![status, fault, now, site, &self.id, &self.runner]).await? == 1 {
            forget_values(tx, site, &self.id).await?;
        }
        Ok(())
    }
}

/// A task is told without its filter and without values from now on: they may be about persons.
async fn forget_values(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<()> {
    let sql = "select task from stoa.async_job where site = $1 and id = $2";
    let shown = tx.row(sql, &params![site, id], |row| row.get::<Option<String>>(0)).await?.flatten();
    let shown = shown.and_then(|it| serde_json::from_str(&it).ok()).map(TaskRequest::without_values);
    let sql = "update stoa.async_job set task = $1 where site = $2 and id = $3";
    tx.send(sql, params![shown.map(|it| it.to_string()), site, id]).await?;
    Ok(())
}

/// Has a job that marks items, or has, go through them again and take its marks away. What it marked is not done.
async fn clear(tx: &mut Tx<'_>, site: &SiteId, id: &str, task: &Task, (fault, now): (&str, Millis)) -> Result<()> {
    let sql = "update stoa.async_job set pass = 2, due = null, done = '', runner = null, attempts = 0, \
               fault = $1, touched = $2, request = $3, \
               estimated = case when pass = 0 then succeeded else estimated end, \
               succeeded = case when pass = 0 then 0 else succeeded end \
               where site = $4 and id = $5 and ended is null and fault is null";
    if tx.execute(sql, &params![fault, now, task.without_filter().print(), site, id]).await? == 1 {
        forget_values(tx, site, id).await?;
    }
    Ok(())
}

/// Cancels a task that has not ended. One that marks items, or has, goes through them again and takes its marks away.
pub(super) async fn cancel(tx: &mut Tx<'_>, site: &SiteId, id: &str, now: Millis) -> Result<()> {
    let sql =
        "select kind, request from stoa.async_job where site = $1 and id = $2 and ended is null and fault is null";
    let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?));
    let Some((kind, request)) = tx.row(sql, &params![site, id], read).await? else { return Ok(()) };
    let task = Change::of(&kind).map(|it| Task::parse(it, &request.unwrap_or_default()));
    let marks = |it: &Task| it.own().is_ok_and(|it| it.is_some_and(|it| it.schedule().is_some()));
    match task.filter(marks) {
        Some(task) => clear(tx, site, id, &task, (CANCELLED, now)).await,
        None => {
            let sql = "update stoa.async_job set status = 'FAILED', fault = $1, ended = $2, touched = $2, \
                       request = null, runner = null where site = $3 and id = $4 and ended is null";
            tx.send(sql, params![CANCELLED, now, site, id]).await?;
            forget_values(tx, site, id).await
        }
    }
}

const STATE: &str = "status, succeeded, failed, failures, fault, asker_kind, asker_id, collection_id, id, task, started, \
                     ended, estimated";

/// How a job stands.
pub(super) async fn state(tx: &mut Tx<'_>, site: &SiteId, id: &str) -> Result<Option<JobState>> {
    let sql = format!("select {STATE} from stoa.async_job where site = $1 and id = $2");
    Ok(tx.row(&sql, &params![site, id], read_state).await?)
}

fn read_state(row: &Row<'_>) -> std::result::Result<JobState, stoa_store::Error> {
    Ok(JobState {
        status: row.get(0)?,
        succeeded: row.get(1)?,
        failed: row.get(2)?,
        failures: serde_json::from_str(row.text(3)?).unwrap_or_default(),
        fault: row.get(4)?,
        asker: (row.get(5)?, row.get(6)?),
        collection_id: row.get(7)?,
        id: row.get(8)?,
        task: row.get::<Option<String>>(9)?.and_then(|it| serde_json::from_str(&it).ok()),
        started: row.get(10)?,
        ended: row.get(11)?,
        estimated: row.get(12)?,
    })
}

/// Which tasks of a site are listed.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// Those of one caller, by identity type and id; all without.
    pub asker: Option<(String, String)>,
    /// Those on these collections; on all without.
    pub collections: Option<Vec<String>>,
    pub offset: i64,
    pub limit: i64,
}

/// A page of tasks, the newest first, and how many there are.
pub(super) async fn tasks(tx: &mut Tx<'_>, site: &SiteId, wanted: &Wanted) -> Result<(Vec<JobState>, i64)> {
    let select = |tx: &Tx<'_>, columns: &str, is_page: bool| {
        let mut sql = Writer::new(tx.dialect());
        sql.push("select ").push(columns).push(" from stoa.async_job where site = ").bind(site);
        sql.push(" and task is not null");
        if let Some((kind, id)) = &wanted.asker {
            sql.push(" and asker_kind = ").bind(kind.as_str()).push(" and asker_id = ").bind(id.as_str());
        }
        if let Some(ids) = &wanted.collections {
            let ids = sql.param(ids.clone());
            let among = sql.dialect().any_of("collection_id", &ids);
            sql.push(" and ").push(&among);
        }
        if is_page {
            sql.push(" order by created desc, id desc limit ").bind(wanted.limit);
            sql.push(" offset ").bind(wanted.offset);
        }
        sql.finish()
    };
    let (sql, params) = select(tx, "count(*)", false);
    let total = tx.row(&sql, &params, |row| row.get::<i64>(0)).await?.unwrap_or_default();
    let (sql, params) = select(tx, STATE, true);
    Ok((tx.rows(&sql, &params, read_state).await?, total))
}

/// The ids of the collections that tasks are about.
pub(super) async fn task_collections(tx: &mut Tx<'_>, site: &SiteId) -> Result<Vec<String>> {
    let sql = "select distinct collection_id from stoa.async_job where site = $1 and task is not null";
    Ok(tx.rows(sql, &params![site], |row| row.get(0)).await?)
}
