//! What is known of a site's log as a whole, its row in `stoa.log`, and why its rows stay.

use crate::{Database, Error, ReaderPool, Row, Tx, boxed, position::Position};
use stoa_kernel::{Fault, Millis, Result, SiteId};
use stoa_sql::params;

/// The kind of the row that stands in a log where its data were replaced by a backup.
pub const RESTORED: &str = "log_restored";

/// The row of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogRow {
    pub epoch: String,
    /// Behind the last row that was deleted.
    pub floor: Position,
    /// Behind the last row whose bytes were counted.
    pub counted: Position,
    /// Bytes of the rows between floor and counted.
    pub bytes: i64,
    /// Whether some setting asks for rows to stay.
    pub has_reasons: bool,
}

/// The row of a site's log; nothing before the site was opened.
pub(super) async fn get(tx: &mut Tx<'_>, site: &SiteId) -> Result<Option<LogRow>, Error> {
    let sql = "select epoch, floor_tx, floor_seq, counted_tx, counted_seq, bytes, \
               (select count(*) from stoa.log_reason where site = $1) from stoa.log where site = $1";
    let read = |row: &Row<'_>| {
        Ok(LogRow {
            epoch: row.get(0)?,
            floor: Position { transaction: row.get(1)?, number: row.get(2)? },
            counted: Position { transaction: row.get(3)?, number: row.get(4)? },
            bytes: row.get(5)?,
            has_reasons: row.get::<i64>(6)? > 0,
        })
    };
    tx.row(sql, &params![site], read).await
}

/// Behind the last row that was deleted.
pub(super) async fn floor(tx: &mut Tx<'_>, site: &SiteId) -> Result<Position, Error> {
    Ok(get(tx, site).await?.map(|it| it.floor).unwrap_or_default())
}

/// Behind the newest row that can be read.
pub(super) async fn end(tx: &mut Tx<'_>, site: &SiteId) -> Result<Position, Error> {
    let newest = tx.dialect().outbox_newest();
    let sql = format!("select tx, seq from stoa.outbox where site = $1 and {newest}");
    let newest = tx.row(&sql, &params![site], position).await?;
    Ok(newest.unwrap_or_default().max(floor(tx, site).await?))
}

/// Lets the rows of a site's log stay for those who resume, for ten minutes or 64 MB, as long as there is any reason.
pub async fn keep(tx: &mut Tx<'_>, site: &SiteId, reason: &str) -> Result<()> {
    let sql = "insert into stoa.log_reason (site, reason) values ($1, $2) on conflict (site, reason) do nothing";
    tx.execute(sql, &params![site, reason]).await?;
    Ok(())
}

/// Takes such a reason away, which need not be there.
pub async fn keep_no_longer(tx: &mut Tx<'_>, site: &SiteId, reason: &str) -> Result<()> {
    let sql = "delete from stoa.log_reason where site = $1 and reason = $2";
    tx.execute(sql, &params![site, reason]).await?;
    Ok(())
}

/// A site's log when its database is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub epoch: String,
    pub origin: String,
    /// The highest number in it, 0 without a row.
    pub sequence: i64,
    pub has_consumers: bool,
}

/// What a database has of a site's log.
pub(crate) async fn find(database: &Database, site: &SiteId) -> Result<Option<Found>> {
    let site = site.clone();
    let read = database.read(ReaderPool::Point, move |tx| {
        boxed!({
            let sql = "select epoch, origin, (select count(*) from stoa.outbox_consumer where site = $1) \
                       from stoa.log where site = $1";
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<i64>(2)? > 0));
            let Some((epoch, origin, has_consumers)) = tx.row(sql, &params![&site], read).await? else {
                return Ok(None);
            };
            let sequence = end(tx, &site).await?.sequence();
            Ok(Some(Found { epoch, origin, sequence, has_consumers }))
        })
    });
    read.await
}

/// A new epoch of a site's log.
#[derive(Debug, Clone)]
pub(crate) struct NewEpoch {
    pub site: SiteId,
    /// The one before; nothing for the first.
    pub before: Option<String>,
    pub epoch: String,
    pub origin: String,
    /// No number below is given from here on.
    pub least: i64,
    pub now: Millis,
}

/// Begins an epoch, unless another has begun meanwhile, and answers the one that it is then. After the first, a row of
/// the kind [`RESTORED`] tells readers, and no number that was given before is given again.
pub(crate) async fn begin(database: &Database, new: NewEpoch) -> Result<String> {
    let begun = database.append_with(new, |tx, new| {
        boxed!({
            let NewEpoch { site, before, epoch, origin, least, now } = new;
            match before {
                None => {
                    let sql = "insert into stoa.log (site, epoch, origin, floor_tx, floor_seq, counted_tx, counted_seq, \
                               bytes) values ($1, $2, $3, 0, 0, 0, 0, 0) on conflict (site) do nothing";
                    tx.execute(sql, &params![site, epoch, origin]).await?;
                }
                Some(before) => {
                    let sql = "update stoa.log set epoch = $1, origin = $2 where site = $3 and epoch = $4";
                    if tx.execute(sql, &params![epoch, origin, site, before]).await? == 1 {
                        put_restored(tx, site, epoch, *least, *now).await?;
                    }
                }
            }
            let sql = "select epoch from stoa.log where site = $1";
            Ok(tx.row(sql, &params![site], |row| row.get::<String>(0)).await?)
        })
    });
    begun.await?.ok_or_else(|| Fault::internal("a log has no epoch"))
}

async fn put_restored(tx: &mut Tx<'_>, site: &SiteId, epoch: &str, least: i64, now: Millis) -> Result<()> {
    let leap = tx.dialect().outbox_leap("$5");
    let sql = format!("insert into stoa.outbox (site, kind, payload, created, seq) values ($1, $2, $3, $4, {leap})");
    let payload = format!("{{\"epoch\":{}}}", stoa_sql::json::quoted(epoch));
    tx.execute(&sql, &params![site, RESTORED, payload, now, least]).await?;
    tx.has_entry = true;
    Ok(())
}

/// The position in the first two columns of a row.
pub(super) fn position(row: &Row<'_>) -> Result<Position, Error> {
    Ok(Position { transaction: row.get(0)?, number: row.get(1)? })
}
