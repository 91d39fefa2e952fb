//! One piece of a job: a few items looked up beside the writer, and changed in one short transaction.

use super::{
    ATTEMPTS, LIFE,
    pass::{Moment, Pass},
    row::{AsyncJob, Claim, End, Progress},
    task::{self, Plan, Task},
};
use crate::{
    Content, RequestContext,
    collection::{self, Collection},
    fault,
    item::{
        change::{Change, Mode, PendingChange},
        references,
        remove::Removal,
        row::{NewValue, WriteContext},
    },
    reference::link,
    wire::patch::Patch,
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result, SiteId, clock::Millis};
use stoa_query::{Filter, compile};
use stoa_sql::{Writer, params};
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// Items that one look goes through, and looks that find nothing before that is noted.
const LOOKED_AT: i64 = 2_000;
const LOOKS: usize = 10;
/// Items that one piece changes, and bytes of their documents with what is added to each.
const ITEMS: usize = 100;
const BYTES: usize = 1_000_000;
/// Values that the modifications of a piece may look through, a bit less than one call may
/// ([`crate::wire::patch::PatchBudget`]); one that is looked through has two bytes at least.
const VALUES: usize = 1_900_000;
/// Links that it writes, unless one item has more.
const LINKS: usize = 1_000;
/// Failures of single items that are told.
const FAILURES: usize = 20;
/// Items whose ids are kept when they are marked. Where there are more, all are gone through again.
const MARKED: usize = 100;

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    More,
    /// The job has ended, or is another process's.
    Over,
}

/// Does the next piece of a job.
///
/// # Errors
/// What may be otherwise the next time. What a caller would be refused for ends the job.
pub(super) async fn step(content: &Content, site: &Arc<Site>, job: &mut AsyncJob) -> Result<Step> {
    let done = match refusal(content, site, job).await {
        Ok(Some(code)) => Err(Fault::new(code)),
        Ok(None) => piece(content, site, job).await,
        Err(fault) => return Err(excuse(site, job, fault).await),
    };
    match done {
        Ok(Some(step)) => Ok(step),
        Ok(None) => pass_done(content, site, job).await,
        Err(fault) if is_verdict(&fault) || is_over(content, job) => fail(content, site, job, fault.code()).await,
        Err(fault) => Err(excuse(site, job, fault).await),
    }
}

/// What waited for its time doesn't fail because the server has no room, or no database, for a while.
async fn excuse(site: &Site, job: &AsyncJob, fault: Fault) -> Fault {
    let is_excused = fault.code() == Code::Throttled || fault.code().status() == 503;
    if is_excused && job.pass != Pass::First {
        let excused = site
            .write_with((site.id.clone(), job.claim.clone()), |tx, (site, claim)| boxed!(claim.excuse(tx, site).await));
        if let Err(fault) = excused.await {
            tracing::debug!(site = %site.id, "an attempt can't be taken back: {fault:?}");
        }
    }
    fault
}

/// The next piece, looked up and written; nothing when none is left.
async fn piece(content: &Content, site: &Arc<Site>, job: &mut AsyncJob) -> Result<Option<Step>> {
    let Some(mut found) = next(content, site, job).await? else { return Ok(None) };
    let mut refused = None;
    loop {
        match write(content, site, job, found.clone(), refused.take()).await {
            // A unique index that is not known of yet: only the items that breach it are to fail.
            Err(fault) if fault.code() == Code::UniqueConflict && found.ids.len() > 1 => found.cut(1),
            Err(fault) if fault.code() == Code::UniqueConflict => refused = Some(fault),
            written => return written.map(Some),
        }
    }
}

/// What follows when no items are left: a job that has marked some waits for its time.
async fn pass_done(content: &Content, site: &Arc<Site>, job: &AsyncJob) -> Result<Step> {
    let schedule = job.task.own()?.and_then(|it| it.schedule());
    let (Pass::First, Some((_, due))) = (job.pass, schedule) else {
        return end(content, site, job, End::Succeeded).await;
    };
    if job.marked.as_ref().is_some_and(Vec::is_empty) {
        return end(content, site, job, End::Succeeded).await;
    }
    let times = (due, content.state.world.now());
    let waits = site
        .write_with((site.id.clone(), job.claim.clone(), job.task.clone()), move |tx, (site, claim, task)| {
            boxed!(claim.wait(tx, site, task, times).await)
        });
    waits.await?;
    Ok(Step::Over)
}

/// Whether a job has had its time, and as many attempts as it may have. What waited for its time is done however late it
/// is: the program may have been stopped for days.
fn is_over(content: &Content, job: &AsyncJob) -> bool {
    let is_old = job.pass == Pass::First && content.state.world.now() - job.created > LIFE;
    is_old || job.attempts > ATTEMPTS
}

/// Why the job may not go on, whatever it does.
async fn refusal(content: &Content, site: &Site, job: &AsyncJob) -> Result<Option<Code>> {
    if is_over(content, job) {
        return Ok(Some(Code::TimeLimit));
    }
    if job.pass == Pass::Clear {
        return Ok(None);
    }
    let (principals, caller) = (site.principals(), &job.credential.caller);
    let holds = match content.state.standing.get() {
        // Who has signed out since has asked for what is done now.
        Some(it) if job.pass == Pass::Due && matches!(caller.bare(), Caller::User { .. }) => {
            it.still(principals, caller).await?
        }
        Some(it) => it.holds(principals, &job.credential).await?,
        None => true,
    };
    Ok((!holds).then_some(Code::PermissionDenied))
}

/// Whether a fault is what a caller would be answered again and again.
fn is_verdict(fault: &Fault) -> bool {
    fault.code().status() < 500 && fault.code() != Code::Throttled
}

/// Ends a job that failed. One that was to mark items takes its marks away before: nothing will be done at their time.
async fn fail(content: &Content, site: &Site, job: &AsyncJob, code: Code) -> Result<Step> {
    tracing::info!(site = %site.id, job = job.claim.id, code = code.name(), "a job by filter ends before it is done");
    let marks = job.task.own().is_ok_and(|it| it.is_some_and(|it| it.schedule().is_some()));
    if job.pass != Pass::First || !marks {
        return end(content, site, job, End::Failed(code)).await;
    }
    let why = (code, content.state.world.now());
    let given_up = site
        .write_with((site.id.clone(), job.claim.clone(), job.task.clone()), move |tx, (site, claim, task)| {
            boxed!(claim.give_up(tx, site, task, why).await)
        });
    given_up.await?;
    Ok(Step::Over)
}

async fn end(content: &Content, site: &Site, job: &AsyncJob, end: End) -> Result<Step> {
    let end = if job.pass == Pass::Clear { End::Cleared } else { end };
    let now = content.state.world.now();
    let ended = site.write_with((site.id.clone(), job.claim.clone()), move |tx, (site, claim)| {
        boxed!(claim.end(tx, site, end, now).await)
    });
    ended.await?;
    Ok(Step::Over)
}

/// What the next piece works on.
#[derive(Clone)]
struct Found {
    ids: Vec<String>,
    /// The last id that is done with it.
    last: String,
}

impl Found {
    /// The first few of the items.
    fn cut(&mut self, count: usize) {
        if count < self.ids.len() {
            self.ids.truncate(count);
            self.last = self.ids.last().cloned().unwrap_or_default();
        }
    }
}

/// Finds the next items; nothing when none is left.
async fn next(content: &Content, site: &Arc<Site>, job: &AsyncJob) -> Result<Option<Found>> {
    let (collection, plan) = resolve(content, site, job).await?;
    let mut after = job.claim.done.clone();
    let mut found = None;
    for _ in 0..LOOKS {
        let looked = match job.marked.as_ref().filter(|_| job.pass != Pass::First) {
            Some(ids) => {
                let left = ids.iter().filter(|it| **it > after).cloned().collect();
                look_at(site, &collection, left, &job.task).await?
            }
            None => look(site, &collection, &plan.wanted, (&job.task, &after)).await?,
        };
        let Some(looked) = looked else { break };
        after.clone_from(&looked.last);
        let is_empty = looked.ids.is_empty();
        found = Some(looked);
        if !is_empty {
            break;
        }
    }
    Ok(found)
}

/// The task by the rights and the definition of now.
///
/// # Errors
/// WDE0025 when the collection is another one by now, and as for [`task::Task::plan`].
async fn resolve(content: &Content, site: &Arc<Site>, job: &AsyncJob) -> Result<(Arc<Collection>, Plan)> {
    let collection = collection::load(content, site, &job.collection_id).await?;
    // Its own marks may always be taken away, also by a caller who may set none.
    let clearer = Caller::App { id: job.claim.id.clone().into() };
    if collection.table.number != job.collection {
        return Err(fault::collection_not_found(&job.collection_id));
    }
    let caller = if job.pass == Pass::Clear { &clearer } else { &job.credential.caller };
    let context = RequestContext::new(content, site, caller, job.task.drafts);
    let plan = job.task.plan(context, &collection, job.moment()).await?;
    Ok((collection, plan))
}

/// Looks at items by their ids, which are in order. Nothing when there are none.
async fn look_at(site: &Site, collection: &Collection, ids: Vec<String>, task: &Task) -> Result<Option<Found>> {
    let Some(end) = ids.last().cloned() else { return Ok(None) };
    let (table, room) = (collection.statements.name.clone(), Room::of(task));
    let looked = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            let among = tx.dialect().any_of("id", "$1");
            let sql = format!("select id, cast(octet_length(doc) as bigint) from {table} where {among}");
            let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?));
            let mut found = tx.rows(&sql, &params![ids], read).await?;
            found.sort_unstable();
            Ok(Some(room.few(found, end)))
        })
    });
    looked.await
}

/// Looks through the next items by id, whatever indexes there are: each look has the same size. Nothing when there are no
/// more.
async fn look(
    site: &Site,
    collection: &Collection,
    wanted: &Filter,
    (task, after): (&Task, &str),
) -> Result<Option<Found>> {
    let (table, wanted, after) = (collection.statements.name.clone(), wanted.clone(), after.to_owned());
    let (site_id, number) = (site.id.clone(), collection.table.number);
    let (change, room) = (task.change, Room::of(task));
    let looked = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = format!("select max(id) from (select id from {table} where id > $1 order by id limit $2) few");
            let end = tx.row(&sql, &params![&after, LOOKED_AT], |row| row.get::<Option<String>>(0)).await?;
            let Some(end) = end.flatten() else { return Ok(None) };
            let mut sql = Writer::new(tx.dialect());
            // A select with a limit is done by itself, so that the filter doesn't choose another way through the table.
            sql.push("select id, cast(octet_length(doc) as bigint) from (select * from ").push(&table);
            sql.push(" where id > ").bind(after).push(" and id <= ").bind(end.as_str());
            sql.push(" order by id limit 1000000) few where ");
            compile::condition(&mut sql, &wanted);
            sql.push(" order by id");
            let (sql, params) = sql.finish();
            let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?));
            let mut found = room.few(tx.rows(&sql, &params, read).await?, end);
            if change == task::Change::Remove && !found.ids.is_empty() {
                found.cut(link::items_within(tx, &site_id, number, &found.ids, LINKS).await?);
            }
            Ok(Some(found))
        })
    });
    looked.await
}

/// What a piece has room for.
#[derive(Clone, Copy)]
struct Room {
    /// Of documents, with what each may come to have more.
    bytes: usize,
    added: usize,
}

impl Room {
    fn of(task: &Task) -> Self {
        let looks = task.modifications().max(1);
        Self { bytes: BYTES.min(VALUES * 2 / looks), added: task.print().len() }
    }

    /// As many of these items, each with its size, as a piece changes; one at least.
    fn few(self, items: Vec<(String, i64)>, end: String) -> Found {
        let (mut ids, mut bytes, count) = (Vec::new(), 0, items.len());
        for (id, size) in items {
            bytes += usize::try_from(size).unwrap_or(usize::MAX / 2) + self.added;
            if ids.len() == ITEMS || !ids.is_empty() && bytes > self.bytes {
                break;
            }
            ids.push(id);
        }
        let last = ids.last().filter(|_| ids.len() < count).cloned();
        Found { ids, last: last.unwrap_or(end) }
    }
}

/// What a piece does to its items.
enum Work {
    Patch(Change),
    Remove(Removal),
    /// Nothing, because there is none, or because the engine refuses the one that there is.
    Leave(Option<Fault>),
}

/// A piece of work, which moves the job to `last`.
struct Piece {
    site: SiteId,
    claim: Claim,
    found: Found,
    work: Work,
    failures: Vec<Value>,
    /// The ids that were marked before; those of the first pass come to them.
    marked: Option<Vec<String>>,
    pass: Pass,
    now: Millis,
}

impl Piece {
    /// What it came to; nothing when another process works on the job.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Option<Progress>> {
        if !self.claim.keep(tx, &self.site, self.now).await? {
            return Ok(None);
        }
        let outcomes: Vec<Result<()>> = match &self.work {
            Work::Patch(it) => it.write(tx).await?.into_iter().map(|it| it.map(drop)).collect(),
            Work::Remove(it) => it.run(tx).await?.into_iter().map(|it| it.map(drop)).collect(),
            Work::Leave(fault) => fault.iter().map(|it| Err(Fault::because(it.code(), it.message()))).collect(),
        };
        let progress = self.progress(outcomes);
        self.claim.advance(tx, &self.site, &progress).await?;
        Ok(Some(progress))
    }

    /// An item that is gone by now, or that the filter or the caller's rights leave out, counts for nothing.
    fn progress(&self, outcomes: Vec<Result<()>>) -> Progress {
        let (done, failures) = (self.found.last.clone(), self.failures.clone());
        let mut progress = Progress { done, succeeded: 0, failed: 0, failures, marked: self.marked.clone() };
        for (id, outcome) in self.found.ids.iter().zip(outcomes) {
            match outcome {
                Ok(()) => {
                    progress.succeeded += i64::from(self.pass != Pass::Clear);
                    if self.pass == Pass::First {
                        progress.marked.iter_mut().for_each(|it| it.push(id.clone()));
                    }
                }
                Err(fault) if fault.code() == Code::ItemNotFound => {}
                Err(fault) => {
                    progress.failed += 1;
                    if progress.failures.len() < FAILURES {
                        let error = json!({ "code": fault.code().name(), "description": fault.message() });
                        progress.failures.push(json!({ "itemId": id, "error": error }));
                    }
                }
            }
        }
        progress.marked.iter_mut().for_each(|it| it.sort_unstable());
        progress.marked = progress.marked.filter(|it| it.len() <= MARKED);
        progress
    }
}

/// Writes a piece; `refused` says why its item can't be changed.
async fn write(
    content: &Content,
    site: &Arc<Site>,
    job: &mut AsyncJob,
    mut found: Found,
    refused: Option<Fault>,
) -> Result<Step> {
    let work = match found.ids.is_empty() || refused.is_some() {
        true => Work::Leave(refused),
        false => change(content, site, job, &mut found).await?,
    };
    let piece = Piece {
        site: site.id.clone(),
        claim: job.claim.clone(),
        found,
        work,
        failures: job.failures.clone(),
        marked: job.marked.clone(),
        pass: job.pass,
        now: content.state.world.now(),
    };
    let Some(progress) = site.write_with(piece, |tx, piece| boxed!(piece.run(tx).await)).await? else {
        return Ok(Step::Over);
    };
    (job.claim.done, job.failures, job.attempts) = (progress.done, progress.failures, 0);
    job.marked = progress.marked;
    Ok(Step::More)
}

impl AsyncJob {
    fn moment(&self) -> Moment<'_> {
        Moment { job: &self.claim.id, began: self.created, pass: self.pass }
    }
}

/// What becomes of the items, or of the first few of them if they bring along many links.
async fn change(content: &Content, site: &Arc<Site>, job: &AsyncJob, found: &mut Found) -> Result<Work> {
    let (collection, plan) = resolve(content, site, job).await?;
    let (task, caller, condition) = (&job.task, &job.credential.caller, Some(plan.condition));
    let mut context = WriteContext::load(content, site, plan.access).await?;
    if task.change == task::Change::Remove {
        let context = Arc::new(context);
        return Ok(Work::Remove(Removal { context, ids: found.ids.clone(), condition, shows: false, seen: None }));
    }
    if let Some(own) = task.own()? {
        let modifications = own.modifications(job.moment(), content.limits().query.item())?;
        let pending =
            |id: &String| PendingChange { id: id.clone(), value: NewValue::Patch(modifications.clone()), seen: None };
        let changes = found.ids.iter().map(pending).collect();
        let context = Arc::new(context);
        return Ok(Work::Patch(Change { context, mode: Mode::Update, changes, condition }));
    }
    let asked = RequestContext::new(content, site, caller, task.drafts);
    let mut references = references::of_collection(asked, &collection, true).await?;
    let mut changes = Vec::with_capacity(found.ids.len());
    for (n, id) in found.ids.iter().enumerate() {
        if n > 0 && references.link_count() / n * (n + 1) > LINKS {
            break;
        }
        let patch = references.take_patch(n, &task.patch(id))?;
        let patch = Patch::parse(&patch, caller, &collection.schema, content.limits().query.item())?;
        changes.push(PendingChange { id: patch.id, value: NewValue::Patch(patch.modifications), seen: None });
    }
    context.references = Arc::new(references);
    found.cut(changes.len());
    let context = Arc::new(context);
    Ok(Work::Patch(Change { context, mode: Mode::Update, changes, condition }))
}
