//! What the catalogue remembers of the logs of sites, and what follows when a site has something else.
//!
//! A site's data can be replaced by an earlier state of them: a file copied back, a dump restored. Numbers that its log
//! gave since then are then given to other rows, so that places from before would lead astray: the log begins a new
//! epoch. It is noticed when a site is opened, by any of these:
//!
//! - the data are elsewhere than where the epoch began: another file, another database, table or cluster, or another
//!   timeline of it;
//! - a site's file is behind what the catalogue remembers of it, or of another epoch.
//!
//! Where all of this is put back just as it was, whoever does so has to say it: `stoa log restored`.

use crate::{Database, ReaderPool, Row, Tx, boxed, outbox};
use std::{os::unix::fs::MetadataExt, path::Path, time::UNIX_EPOCH};
use stoa_kernel::{Fault, Millis, Result, SiteId};
use stoa_sql::params;

/// A site's log and the catalogue that remembers it.
pub(crate) struct Settling<'s> {
    pub catalog: &'s Database,
    pub database: &'s Database,
    pub site: &'s SiteId,
    /// Where the data are.
    pub origin: String,
    /// A new epoch, should one be needed.
    pub epoch: String,
    /// Whether it is known that the data were replaced.
    pub is_restored: bool,
    pub now: Millis,
}

/// What the catalogue remembers of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Remembered {
    epoch: String,
    sequence: i64,
    has_consumers: bool,
}

/// Compares, begins a new epoch if one must begin, and answers the highest number of the log.
pub(crate) async fn settle(settling: Settling<'_>) -> Result<i64> {
    let Settling { catalog, database, site, origin, epoch, is_restored, now } = settling;
    let (remembered, found) = (remembered(catalog, site).await?, outbox::find(database, site).await?);
    // On PostgreSQL the two are in one database, and rows of a log may all be gone.
    let is_behind =
        |sequence: i64| remembered.as_ref().is_some_and(|it| !database.is_shared() && it.sequence > sequence);
    let is_known = |epoch: &str| remembered.as_ref().is_none_or(|it| it.epoch == epoch);
    let (epoch, sequence, has_consumers) = match found {
        Some(it) if !is_restored && it.origin == origin && is_known(&it.epoch) && !is_behind(it.sequence) => {
            (it.epoch, it.sequence, it.has_consumers)
        }
        found => {
            let before = found.map(|it| it.epoch);
            if before.is_some() {
                tracing::warn!(%site, "the data of this site were restored or copied: its log begins a new epoch");
            }
            let least = remembered.as_ref().map_or(0, |it| it.sequence + 1).max(leap_of(now));
            let new = outbox::NewEpoch { site: site.clone(), before, epoch, origin, least, now };
            let epoch = outbox::begin(database, new).await?;
            let found = outbox::find(database, site).await?;
            (epoch, found.as_ref().map_or(0, |it| it.sequence), found.is_some_and(|it| it.has_consumers))
        }
    };
    let had_consumers = remembered.as_ref().is_some_and(|it| it.has_consumers);
    let current = match database.is_shared() {
        true => Remembered { epoch, sequence: 0, has_consumers: false },
        // One that subscribes at this moment has said so.
        false => Remembered { epoch, sequence, has_consumers: has_consumers || had_consumers },
    };
    if remembered.as_ref() != Some(&current)
        && let Err(fault) = remember(catalog, site, current).await
    {
        // A full disk must not keep a site from being read; the next time it is opened this is done again.
        tracing::warn!(%site, "the catalogue can't remember how far the log of a site is: {fault:?}");
    }
    Ok(sequence)
}

/// The least number of an epoch that begins at a time: what a backup has says nothing of the numbers that were given
/// since it was made, nor of those after it was restored before. Four thousand a millisecond from 2020 on are as many as
/// no log has, and JSON's numbers hold them until 2089.
fn leap_of(now: Millis) -> i64 {
    const YEAR_2020: Millis = 1_577_836_800_000;
    (now - YEAR_2020).max(0) << 12
}

/// Which file it is: a copy that was put in its place is another one. A number that became free is given again, so that
/// the time of making belongs to it, where the file system keeps that.
pub(crate) fn origin_of(file: &Path) -> Result<String> {
    let metadata = std::fs::metadata(file).map_err(|it| Fault::internal(format!("{}: {it}", file.display())))?;
    let made = metadata.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    Ok(format!("{}/{}", metadata.ino(), made.map_or(0, |it| it.as_nanos())))
}

/// Lets the next comparison of a site find that its log is of another epoch.
pub(crate) async fn distrust(tx: &mut Tx<'_>, site: &SiteId) -> Result<(), crate::Error> {
    let sql = "insert into stoa.site_log (site, epoch, sequence) values ($1, '', 0) \
               on conflict (site) do update set epoch = excluded.epoch";
    tx.execute(sql, &params![site]).await.map(drop)
}

/// Remembers the highest number of a log.
pub(crate) async fn remember_sequence(catalog: &Database, site: &SiteId, sequence: i64) -> Result<()> {
    let remembered = catalog.append_with(site.clone(), move |tx, site| {
        boxed!({
            let sql = "update stoa.site_log set sequence = $1 where site = $2 and sequence < $1";
            tx.execute(sql, &params![sequence, site]).await?;
            Ok(())
        })
    });
    remembered.await
}

/// Sites whose log may have consumers, on SQLite.
pub(crate) async fn sites_with_consumers(catalog: &Database) -> Result<Vec<SiteId>> {
    let read = catalog.read(ReaderPool::Point, |tx| {
        boxed!({
            let sql = "select l.site from stoa.site_log l join stoa.site s on s.id = l.site \
                       where l.has_consumers = 1 and s.deleted is null";
            Ok(tx.rows(sql, &[], |row| Ok(SiteId::from(row.text(0)?))).await?)
        })
    });
    read.await
}

async fn remembered(catalog: &Database, site: &SiteId) -> Result<Option<Remembered>> {
    let site = site.clone();
    let read = catalog.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select epoch, sequence, has_consumers from stoa.site_log where site = $1";
            let read = |row: &Row<'_>| {
                let has_consumers = row.get::<i64>(2)? == 1;
                Ok(Remembered { epoch: row.get(0)?, sequence: row.get(1)?, has_consumers })
            };
            Ok(tx.row(sql, &params![&site], read).await?)
        })
    });
    read.await
}

async fn remember(catalog: &Database, site: &SiteId, current: Remembered) -> Result<()> {
    let remembered = catalog.append_with((site.clone(), current), |tx, (site, current)| {
        boxed!({
            let sql = "insert into stoa.site_log as l (site, epoch, sequence, has_consumers) values ($1, $2, $3, $4) \
                       on conflict (site) do update set epoch = excluded.epoch, sequence = excluded.sequence, \
                       has_consumers = case when excluded.has_consumers = 1 then 1 else l.has_consumers end";
            let Remembered { epoch, sequence, has_consumers } = current;
            tx.execute(sql, &params![site, epoch, *sequence, *has_consumers]).await?;
            Ok(())
        })
    });
    remembered.await
}
