//! What hooks said and how they failed, for those who write them. Calls that did neither are counted, not kept.
//!
//! Entries wait in memory and are written a little later, outside of the requests that they are about. Those of a site
//! that fill their place meanwhile are dropped.

use super::{deploy::may_manage, trial::outcome_name};
use crate::Content;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use stoa_hooks::{Called, Context, Failure, Hook, Version};
use stoa_kernel::{Caller, Result, SiteId, World, clock::Millis, date::iso_from_millis};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// Entries of a site that wait to be written.
const WAITING: usize = 100;
/// Entries of a site that isn't open, or no longer there, wait no longer.
const PATIENCE: Millis = 60_000;
/// Entries of a site that are kept.
const KEPT: i64 = 10_000;

/// A call of a hook that failed or said something.
#[derive(Debug, Clone, PartialEq)]
pub struct HookLogEntry {
    /// Later entries have greater ones.
    pub id: String,
    pub time: Millis,
    pub collection: String,
    pub hook: String,
    pub version: i64,
    /// The request that it was asked in; nothing for what a command on the machine did.
    pub request_id: Option<String>,
    pub milliseconds: i64,
    /// Such as `VALUE`, `THROWN` or `TIMED_OUT`.
    pub outcome: String,
    /// What it said to `console`.
    pub console: String,
}

impl HookLogEntry {
    pub fn to_json(&self) -> Json {
        json!({
            "id": self.id, "time": iso_from_millis(self.time), "collectionId": self.collection, "hook": self.hook,
            "version": self.version, "requestId": self.request_id, "milliseconds": self.milliseconds, "outcome": self.outcome,
            "console": self.console,
        })
    }
}

/// Entries that wait to be written.
#[derive(Default)]
pub(crate) struct HookLog {
    waiting: Mutex<HashMap<SiteId, Vec<HookLogEntry>>>,
}

impl HookLog {
    /// Keeps what is worth it of a call.
    pub(super) fn note(&self, world: &World, version: &Version, of: (Hook, &Context), called: &Called) {
        let is_quiet = called.console.is_empty() && called.outcome.is_ok();
        // What isn't tried is the server's matter, and may be very much.
        let is_tried = !matches!(called.outcome, Err(Failure::Busy | Failure::Failing));
        if is_quiet || !is_tried {
            return;
        }
        let ((hook, context), mut sites) = (of, self.waiting.lock());
        let waiting = sites.entry(version.site.clone()).or_default();
        if waiting.len() >= WAITING {
            return;
        }
        let (time, order) = (world.now(), u64::from_be_bytes(world.bytes::<8>()));
        waiting.push(HookLogEntry {
            // Of one moment those that came later have greater numbers.
            id: format!("{time:015}-{:03}-{order:016x}", waiting.len()),
            time,
            collection: context.collection_name.clone(),
            hook: hook.name().to_owned(),
            version: version.number,
            request_id: context.request_id.clone(),
            milliseconds: i64::try_from(called.took.as_millis()).unwrap_or(i64::MAX),
            outcome: outcome_name(&called.outcome).to_owned(),
            // No text of the database holds it.
            console: called.console.replace('\0', "\u{fffd}"),
        });
    }

    fn take(&self, site: &SiteId) -> Vec<HookLogEntry> {
        self.waiting.lock().remove(site).unwrap_or_default()
    }
}

impl Content {
    /// Drops what could not be written, as its site isn't open any more: for the housekeeping of a running server.
    pub fn hook_log_drop(&self) {
        let until = self.state.world.now() - PATIENCE;
        self.state.hook_log.waiting.lock().retain(|_, it| it.last().is_some_and(|it| it.time > until));
    }

    /// Writes what waits to be written of a site's log of hooks: for the housekeeping of a running server.
    ///
    /// # Errors
    /// Those of the engine; what could not be written is dropped.
    pub async fn hook_log_write(&self, site: &Site) -> Result<()> {
        let entries = self.state.hook_log.take(&site.id);
        if entries.is_empty() {
            return Ok(());
        }
        site.write_with((site.id.clone(), entries), |tx, (site, entries)| boxed!(write(tx, site, entries).await)).await
    }

    /// The entries after this one, the oldest first; without one the newest, as many as that.
    ///
    /// # Errors
    /// PERMISSION_DENIED for all but owners and apps.
    pub async fn hook_log_list(
        &self,
        site: &Site,
        caller: &Caller,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<HookLogEntry>> {
        may_manage(caller)?;
        let (id, after) = (site.id.clone(), after.map(str::to_owned));
        let read = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let select = "select id, created, collection, hook, version, milliseconds, outcome, console, request_id \
                              from stoa.hook_log where site = $1";
                match after {
                    Some(after) => {
                        let sql = format!("{select} and id > $2 order by id limit $3");
                        Ok(tx.rows(&sql, &params![&id, after, limit], entry).await?)
                    }
                    None => {
                        let sql = format!("{select} order by id desc limit $2");
                        let mut entries = tx.rows(&sql, &params![&id, limit], entry).await?;
                        entries.reverse();
                        Ok(entries)
                    }
                }
            })
        });
        read.await
    }
}

fn entry(row: &Row<'_>) -> std::result::Result<HookLogEntry, stoa_store::Error> {
    Ok(HookLogEntry {
        id: row.get(0)?,
        time: row.get(1)?,
        collection: row.get(2)?,
        hook: row.get(3)?,
        version: row.get(4)?,
        milliseconds: row.get(5)?,
        outcome: row.get(6)?,
        console: row.get(7)?,
        request_id: row.get(8)?,
    })
}

async fn write(tx: &mut Tx<'_>, site: &SiteId, entries: &[HookLogEntry]) -> Result<()> {
    let sql = "insert into stoa.hook_log \
               (site, id, created, collection, hook, version, milliseconds, outcome, console, request_id) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    for it in entries {
        let values = params![
            site,
            it.id.clone(),
            it.time,
            it.collection.clone(),
            it.hook.clone(),
            it.version,
            it.milliseconds,
            it.outcome.clone(),
            it.console.clone(),
            it.request_id.clone()
        ];
        tx.execute(sql, &values).await?;
    }
    let sql = "delete from stoa.hook_log where site = $1 and id <= \
               (select id from stoa.hook_log where site = $1 order by id desc limit 1 offset $2)";
    tx.execute(sql, &params![site, KEPT]).await?;
    Ok(())
}
