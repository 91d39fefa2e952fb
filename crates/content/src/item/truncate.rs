//! What background jobs do to all items of a collection: emptying it, or purging a deleted field's values.
//!
//! A job goes in chunks, each a short transaction, so that other writers don't wait. Items written after it
//! began are left alone. How far it came is written down ([`crate::collection::job`]), so that the server takes
//! up a job that was cut off. A job ends before it is done when who asked for it loses the right to it. When it is done
//! it is told, and a truncate of a collection that asks for old values, or on a site where a reader asks for the items,
//! besides tells in each chunk which items went.

use crate::{
    Content,
    collection::{
        self, access,
        access::JobAccess,
        job::{self, Job, JobTask, NewJob, StalledJobs},
        statements::{Row, Statements},
        stored, translation,
    },
    event::write::{EventWriter, truncated_piece},
    reference::link,
    search,
    wire::request::Request,
};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, EntryKind, Fault, Result, SiteId, clock::Millis};
use stoa_sql::{Table, params};
use stoa_store::{
    ReaderPool, Site, Tx, boxed,
    outbox::{self, Asked},
};

/// Rows of a chunk, and bytes of their documents.
const ROWS: i64 = 500;
const BYTES: i64 = 1_000_000;
/// Links of a chunk: one item may have more than that.
const LINKS: u64 = 1000;

impl Content {
    /// Removes every item of a collection. Items that are inserted meanwhile stay. Answered when it is
    /// done; one that was cut off goes on by itself.
    ///
    /// # Errors
    /// WDE0025, and WDE0027 for everyone but owners and apps, also when they cease to be that before it is done.
    pub async fn item_truncate(&self, site: &Arc<Site>, caller: &Caller, request: &Request<'_>) -> Result<()> {
        let collection = collection::load(self, site, request.collection(caller)?).await?;
        let access = access::truncation(caller, &collection)?;
        let (table, now, id) = (collection.table, self.state.world.now(), self.state.world.uuid());
        let event = EventWriter::new(&site.id, &collection, caller, now).truncated();
        let begun = site.write_with((site.id.clone(), id, event, access), move |tx, (site, id, event, access)| {
            let job = NewJob { table, id: id.clone(), field: None, event: Some(event.clone()), now };
            boxed!(job::begin(tx, site, job, access).await)
        });
        begun.await?;
        run(self, site, table).await?;
        // Another process may have ended the job.
        match is_still(self, site.principals(), caller).await? {
            true => Ok(()),
            false => Err(Fault::new(Code::PermissionDenied)),
        }
    }

    /// Waits until readers have found collections whose jobs stand still.
    pub async fn stalled_jobs_wait(&self) -> Vec<StalledJobs> {
        self.state.jobs.wait().await
    }

    /// Takes up what another process left undone on a collection.
    ///
    /// # Errors
    /// When the database can't be asked or written.
    pub async fn stalled_jobs_do(&self, jobs: &StalledJobs) -> Result<()> {
        run(self, &jobs.site, jobs.table).await
    }
}

/// Whether a caller of a site ([`Site::principals`]) is still who they were, as far as this process can ask.
pub(crate) async fn is_still(content: &Content, site: &SiteId, caller: &Caller) -> Result<bool> {
    match content.state.standing.get() {
        Some(it) => it.still(site, caller).await,
        None => Ok(true),
    }
}

/// Does all that is to be done on a collection, whether or not the caller still waits for it.
pub(crate) async fn run(content: &Content, site: &Arc<Site>, table: Table) -> Result<()> {
    let (content, site) = (content.clone(), site.clone());
    let work = tokio::spawn(async move {
        while !step(&content, &site, table).await? {}
        Ok::<_, Fault>(())
    });
    work.await.unwrap_or_else(|it| Err(Fault::internal(format!("a background job ended: {it}"))))
}

/// One chunk of the oldest job; whether there was none left.
async fn step(content: &Content, site: &Site, table: Table) -> Result<bool> {
    let (now, site_id) = (content.state.world.now(), site.id.clone());
    let oldest = site.read(ReaderPool::Point, move |tx| boxed!(job::oldest(tx, &site_id, table.number).await));
    let Some(oldest) = oldest.await? else { return Ok(true) };
    let is_still = match &oldest.caller {
        Some(it) => is_still(content, site.principals(), it).await?,
        None => true,
    };
    let stepped = site.write_with((site.id.clone(), oldest.id), move |tx, (site, asked)| {
        boxed!({
            let Some(job) = job::oldest(tx, site, table.number).await? else { return Ok(true) };
            if job.id != *asked {
                return Ok(false);
            }
            let collection = stored::by_number(tx, site, table.number).await?;
            let keeps_old = collection.as_ref().is_some_and(|it| it.definition.keeps_old_values());
            let has_translations = collection.as_ref().is_some_and(|it| it.definition.holds_translations());
            let names_items = keeps_old || outbox::is_asked(tx, site, Asked::TruncatedItems).await?;
            let access = match (collection.filter(|_| is_still), &job.task) {
                (Some(it), JobTask::Truncate) => access::truncation_job(job.caller.as_ref(), &it.id),
                (Some(it), JobTask::Purge(_)) => access::purge_job(job.caller.as_ref(), &it.id, &it.definition.levels),
                (None, _) => None,
            };
            match access {
                Some(access) => Chunk { job, access, site, table, now, names_items, has_translations }.run(tx).await?,
                None => revoke(tx, &job, site, table).await?,
            }
            Ok(false)
        })
    });
    stepped.await
}

/// The last row of a chunk: of the rows of a table of items behind one, up to and with another, as many as one short
/// transaction works on. Sizes are read without the documents.
pub(crate) async fn chunk_end(tx: &mut Tx<'_>, table: &str, after: i64, upto: i64) -> Result<Option<i64>> {
    let sql = format!(
        "select max(rid) from (select rid, sum(size) over (order by rid) - size as before from \
         (select rid, octet_length(doc) as size from {table} where rid > $1 and rid <= $2 order by rid limit $3) few) \
         sized where before < $4"
    );
    let last = tx.row(&sql, &params![after, upto, ROWS, BYTES], |row| row.get::<Option<i64>>(0)).await?;
    Ok(last.flatten())
}

/// Ends a job where it is: nothing tells that it was done, so the index of words is made anew of what is left.
async fn revoke(tx: &mut Tx<'_>, job: &Job, site: &SiteId, table: Table) -> Result<()> {
    let (task, field) = match &job.task {
        JobTask::Truncate => ("TRUNCATE", ""),
        JobTask::Purge(field) => ("FIELD", field.as_str()),
    };
    tracing::warn!(
        %site, collection = table.number, job = job.id, task, field, rows_done = job.done, caller = ?job.caller,
        "a background job ends before it is done: who asked for it has lost the right to it"
    );
    job.remove(tx, site, table.number).await?;
    search::build_anew(tx, site, Some(table.number)).await
}

/// A job's next piece of work.
struct Chunk<'c> {
    job: Job,
    access: JobAccess,
    site: &'c SiteId,
    table: Table,
    now: Millis,
    /// Whether each chunk of a truncate tells which items went.
    names_items: bool,
    /// Whether items may have values in other languages.
    has_translations: bool,
}

impl Chunk<'_> {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<()> {
        let Self { job, access, site, table, now, .. } = self;
        let name = tx.dialect().table(*table);
        let Some(last) = chunk_end(tx, &name, job.done, job.upto).await? else { return self.end(tx).await };
        match &job.task {
            JobTask::Truncate => {
                let condition = "rid > $1 and rid <= $2 and created <= $3";
                let (these, params) = (format!("from {name} where {condition}"), params![job.done, last, job.started]);
                if let Some(lock) = tx.dialect().lock(&name, condition) {
                    tx.send(&lock, params.clone()).await?;
                }
                let read = |row: &stoa_store::Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?));
                let rows = tx.rows(&format!("select id, rid {these}"), &params, read).await?;
                let (ids, rows): (Vec<String>, Vec<i64>) = rows.into_iter().unzip();
                let removed = link::some_removed(tx, site, table.number, &ids, LINKS, access).await?;
                if removed >= LINKS {
                    // The other links of these items go first, and then the items do.
                    return job.touch(tx, site, table.number, *now).await;
                }
                if self.has_translations {
                    translation::remove(tx, site, table.number, &rows).await?;
                }
                tx.send(&format!("delete {these}"), params).await?;
                self.tell_removed(tx, &ids).await?;
            }
            JobTask::Purge(field) => {
                self.purge(tx, field, last).await?;
                if self.has_translations {
                    translation::remove_field(tx, (site, table.number), field, (job.done, last)).await?;
                }
            }
        }
        job.advance(tx, site, table.number, last, *now, access).await
    }

    async fn end(&self, tx: &mut Tx<'_>) -> Result<()> {
        self.job.remove(tx, self.site, self.table.number).await?;
        let kind = match &self.job.task {
            JobTask::Truncate => EntryKind::ItemsTruncated,
            JobTask::Purge(_) => EntryKind::FieldPurged,
        };
        match &self.job.event {
            Some(event) => outbox::put(tx, self.site, kind.name(), event.clone(), self.now).await,
            None => Ok(()),
        }
    }

    /// Tells which items a chunk of a truncate removed, where that is asked for.
    async fn tell_removed(&self, tx: &mut Tx<'_>, ids: &[String]) -> Result<()> {
        let whole = self.job.event.as_deref().filter(|_| self.names_items && !ids.is_empty());
        match whole.and_then(|it| truncated_piece(it, ids)) {
            Some(piece) => outbox::put(tx, self.site, EntryKind::ItemDeleted.name(), piece, self.now).await,
            None => Ok(()),
        }
    }

    /// Writes the items of a chunk that have the member without it. Nothing else of them changes.
    async fn purge(&self, tx: &mut Tx<'_>, field: &str, last: i64) -> Result<()> {
        let statements = Statements::new(tx.dialect(), self.table, "");
        let chunk = params![self.job.done, last];
        let rows = tx.rows(&statements.between, &chunk, |row| {
            let Some(without) = stoa_query::item::without(&row.doc(4)?, field) else { return Ok(None) };
            Ok(Some(Row::new(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, without)))
        });
        let rows: Vec<Row> = rows.await?.into_iter().flatten().collect();
        if rows.is_empty() {
            return Ok(());
        }
        let values: Vec<_> = rows.iter().map(Row::values).collect();
        // In the order of their ids, unless a unique index has its own: no value but that of the field changes.
        tx.insert_rows(statements.insert_rows(true, false, &values)).await?;
        Ok(())
    }
}
