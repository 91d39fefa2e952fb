//! Background jobs on all items of a collection, as they are stored: a truncate, or the purge of a deleted
//! field's values. What they do is in [`crate::item::truncate`].
//!
//! What is to be done is written down in the transaction that decides it, and how far it came in every
//! chunk. The process that begins a job works until it is done. When that one is stopped, a reader of the
//! collection finds that the job wasn't touched for [`LEASE`] and notes it, and the server's loop takes it
//! up.
//!
//! Who asked for a job is written down with it. Each chunk asks for their right again, and a job whose caller has
//! lost it ends where it is.

use crate::{
    collection::{
        access::{JobAccess, ManageAccess},
        asker, stored,
    },
    fault,
};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use stoa_kernel::{Caller, Result, SiteId, clock::Millis};
use stoa_sql::{Table, params};
use stoa_store::{Error, Row, Site, Tx};

/// How long the process that works on a job may be silent before another takes it up.
pub(crate) const LEASE: Millis = 10_000;

/// What a job does to every item.
pub(crate) enum JobTask {
    Truncate,
    /// Takes this member out.
    Purge(String),
}

/// A row of `stoa.sweep`.
pub(crate) struct Job {
    pub id: String,
    pub task: JobTask,
    /// The last row that was there when it began.
    pub upto: i64,
    pub started: Millis,
    /// The last row that is done.
    pub done: i64,
    /// The event for the outbox when it is done.
    pub event: Option<String>,
    /// Who asked for it; nothing for the jobs of older versions, and no session for those of some.
    pub caller: Option<Caller>,
}

/// A job that is to be done.
pub(crate) struct NewJob<'a> {
    pub table: Table,
    pub id: String,
    /// The field that was deleted; without one it is a truncate.
    pub field: Option<&'a str>,
    pub event: Option<String>,
    pub now: Millis,
}

/// A collection whose jobs stand still.
pub struct StalledJobs {
    pub site: Arc<Site>,
    pub(crate) table: Table,
}

/// Collections whose readers found that jobs stand still, for the loop that takes them up.
#[derive(Default)]
pub(crate) struct JobQueue {
    stalled: Mutex<Vec<(Weak<Site>, Table)>>,
    added: tokio::sync::Notify,
}

impl JobQueue {
    pub(crate) fn add(&self, site: &Site, table: Table) {
        let Some(shared) = site.shared() else { return };
        let mut stalled = self.stalled.lock();
        let is_other = |site: &Site, other: Table| site.id != shared.id || other.number != table.number;
        stalled.retain(|(site, other)| site.upgrade().is_some_and(|site| is_other(&site, *other)));
        stalled.push((Arc::downgrade(&shared), table));
        self.added.notify_one();
    }

    /// Waits until there is something to take up.
    pub(crate) async fn wait(&self) -> Vec<StalledJobs> {
        loop {
            let stalled = std::mem::take(&mut *self.stalled.lock());
            let open =
                stalled.into_iter().filter_map(|(site, table)| Some(StalledJobs { site: site.upgrade()?, table }));
            let open: Vec<_> = open.collect();
            if !open.is_empty() {
                return open;
            }
            self.added.notified().await;
        }
    }
}

/// Writes down what is to be done, and who asks for it.
///
/// # Errors
/// UNAVAILABLE with `reason: "REPLACED"` for a table that a copy between environments has just replaced, WDE0025 for that
/// of a collection that was deleted.
pub(crate) async fn begin(tx: &mut Tx<'_>, site: &SiteId, job: NewJob<'_>, access: &ManageAccess) -> Result<()> {
    let NewJob { table, id, field, event, now } = job;
    let sql = "select id from stoa.collection where site = $1 and number = $2 and deleted is not null";
    let gone = tx.row(sql, &params![site, table.number], |row| row.get::<String>(0)).await?;
    if let Some(id) = gone {
        return Err(if stored::is_hidden(&id) { Error::Replaced.into() } else { fault::collection_not_found(&id) });
    }
    let kind = if field.is_some() { "FIELD" } else { "TRUNCATE" };
    let sql = format!(
        "insert into stoa.sweep (site, collection, id, kind, field, upto, started, done, touched, event, asker) \
         select $1, $2, $3, $4, $5, coalesce(max(rid), 0), $6, 0, $7, $8, $9 from {}",
        tx.dialect().table(table)
    );
    let (field, caller) = (field.map(str::to_owned), access.caller().map(asker::print));
    tx.send(&sql, params![site, table.number, id, kind, field, now, now, event, caller]).await?;
    Ok(())
}

/// The deleted fields whose values are still being purged.
pub(crate) async fn purged_fields(tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<Vec<String>> {
    let sql = "select field from stoa.sweep where site = $1 and collection = $2 and field is not null";
    Ok(tx.rows(sql, &params![site, collection], |row| row.get(0)).await?)
}

/// The job of a collection that began first.
pub(crate) async fn oldest(tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<Option<Job>> {
    let sql = "select id, field, upto, started, done, event, asker from stoa.sweep \
               where site = $1 and collection = $2 order by started, id limit 1";
    let read = |row: &Row<'_>| {
        let (field, caller): (Option<String>, Option<String>) = (row.get(1)?, row.get(6)?);
        Ok(Job {
            id: row.get(0)?,
            task: field.map_or(JobTask::Truncate, JobTask::Purge),
            upto: row.get(2)?,
            started: row.get(3)?,
            done: row.get(4)?,
            event: row.get(5)?,
            caller: caller.as_deref().map(asker::parse).transpose()?,
        })
    };
    Ok(tx.row(sql, &params![site, collection], read).await?)
}

/// When a collection's jobs were last worked on, if there are any.
pub(crate) async fn touched(tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<Option<Millis>> {
    let sql = "select max(touched) from stoa.sweep where site = $1 and collection = $2";
    Ok(tx.row(sql, &params![site, collection], |row| row.get::<Option<i64>>(0)).await?.flatten())
}

impl Job {
    /// Writes down that rows up to `last` are done.
    pub(crate) async fn advance(
        &self,
        tx: &mut Tx<'_>,
        site: &SiteId,
        collection: i64,
        last: i64,
        now: Millis,
        _access: &JobAccess,
    ) -> Result<()> {
        let sql = "update stoa.sweep set done = $1, touched = $2 where site = $3 and collection = $4 and id = $5";
        tx.send(sql, params![last, now, site, collection, &self.id]).await?;
        Ok(())
    }

    /// Writes down that it is being worked on.
    pub(crate) async fn touch(&self, tx: &mut Tx<'_>, site: &SiteId, collection: i64, now: Millis) -> Result<()> {
        let sql = "update stoa.sweep set touched = $1 where site = $2 and collection = $3 and id = $4";
        tx.send(sql, params![now, site, collection, &self.id]).await?;
        Ok(())
    }

    pub(crate) async fn remove(&self, tx: &mut Tx<'_>, site: &SiteId, collection: i64) -> Result<()> {
        let sql = "delete from stoa.sweep where site = $1 and collection = $2 and id = $3";
        tx.send(sql, params![site, collection, &self.id]).await?;
        Ok(())
    }
}
