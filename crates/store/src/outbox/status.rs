//! How a site's log stands, for those who run the server.

use super::log_row;
use crate::{Database, Error, ReaderPool, Row, Tx, boxed, position::Position};
use std::collections::HashMap;
use stoa_kernel::{Millis, Result, SiteId};
use stoa_sql::{Writer, params};

/// Unread rows of a consumer that are counted at most: more are said to be so many.
pub const MOST_COUNTED: i64 = 100_000;

/// How a log stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogStatus {
    pub epoch: String,
    /// The numbers of the first and the last row that are there.
    pub first: Option<i64>,
    pub last: Option<i64>,
    pub rows: i64,
    /// Of all payloads.
    pub bytes: i64,
    /// Why rows stay for those who resume.
    pub reasons: Vec<String>,
    pub consumers: Vec<ConsumerStatus>,
}

/// How far a consumer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerStatus {
    pub name: String,
    /// The number of the row that it read last; 0 before the first.
    pub sequence: i64,
    /// Rows that it has not read, up to [`MOST_COUNTED`].
    pub lag_rows: i64,
    /// How long the oldest of them has waited.
    pub lag: Millis,
    /// Whether rows that it had not read were deleted.
    pub has_gap: bool,
    /// The node that works for it.
    pub node: Option<String>,
}

/// How a site's log stands.
pub(super) async fn of(database: &Database, site: &SiteId, now: Millis) -> Result<LogStatus> {
    let site = site.clone();
    let read = database.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = "select count(*), cast(coalesce(sum(octet_length(payload)), 0) as bigint), min(seq), max(seq) \
                       from stoa.outbox where site = $1";
            let sums = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            let (rows, bytes, first, last) = tx.row(sql, &params![&site], sums).await?.unwrap_or((0, 0, None, None));
            let sql = "select reason from stoa.log_reason where site = $1 order by reason";
            let reasons = tx.rows(sql, &params![&site], |row| row.get(0)).await?;
            let epoch = log_row::get(tx, &site).await?.map(|it| it.epoch).unwrap_or_default();
            let consumers = consumers(tx, &site, now).await?;
            Ok(LogStatus { epoch, first, last, rows, bytes, reasons, consumers })
        })
    });
    read.await
}

/// How far the consumers of a site are.
pub(super) async fn lags(database: &Database, site: &SiteId, now: Millis) -> Result<Vec<ConsumerStatus>> {
    let site = site.clone();
    database.read(ReaderPool::Point, move |tx| boxed!(Ok(consumers(tx, &site, now).await?))).await
}

async fn consumers(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Vec<ConsumerStatus>, Error> {
    let floor = log_row::floor(tx, site).await?;
    let sql = "select tx, seq, name, holder from stoa.outbox_consumer where site = $1 order by name";
    let each = |row: &Row<'_>| Ok((log_row::position(row)?, row.get(2)?, row.get(3)?));
    let all: Vec<(Position, String, Option<String>)> = tx.rows(sql, &params![site], each).await?;
    let mut found = Vec::with_capacity(all.len());
    for (place, name, node) in all {
        let (lag_rows, oldest) = unread(tx, site, place, MOST_COUNTED).await?;
        let lag = oldest.map_or(0, |it| (now - it).max(0));
        found.push(ConsumerStatus {
            name,
            sequence: place.sequence().max(0),
            lag_rows,
            lag,
            has_gap: place < floor,
            node,
        });
    }
    Ok(found)
}

/// How many rows a consumer of a site has not read, up to `most`, and how long the first of them has waited; nothing if
/// there is no such consumer.
pub(super) async fn lag(
    tx: &mut Tx<'_>,
    site: &SiteId,
    name: &str,
    most: i64,
    now: Millis,
) -> Result<Option<(i64, Millis)>, Error> {
    let sql = "select tx, seq from stoa.outbox_consumer where site = $1 and name = $2";
    let Some(place) = tx.row(sql, &params![site, name], log_row::position).await? else { return Ok(None) };
    let (rows, oldest) = unread(tx, site, place, most).await?;
    Ok(Some((rows, oldest.map_or(0, |it| (now - it).max(0)))))
}

/// How long each of these consumers has left a row unread, by the first such row alone.
pub(super) async fn waits(
    tx: &mut Tx<'_>,
    site: &SiteId,
    names: &[String],
    now: Millis,
) -> Result<HashMap<String, Millis>, Error> {
    let sql = "select tx, seq, name from stoa.outbox_consumer where site = $1";
    let each = |row: &Row<'_>| Ok((log_row::position(row)?, row.get(2)?));
    let places: Vec<(Position, String)> = tx.rows(sql, &params![site], each).await?;
    let mut waits = HashMap::new();
    for (place, name) in places.into_iter().filter(|it| names.contains(&it.1)) {
        let (_, oldest) = unread(tx, site, place, 1).await?;
        waits.insert(name, oldest.map_or(0, |it| (now - it).max(0)));
    }
    Ok(waits)
}

/// How many rows are behind a place, up to so many, whether or not they can be read yet, and when the first was written.
async fn unread(tx: &mut Tx<'_>, site: &SiteId, place: Position, most: i64) -> Result<(i64, Option<Millis>), Error> {
    let mut sql = Writer::new(tx.dialect());
    sql.push("select count(*), min(created) from (select created from stoa.outbox where site = ")
        .bind(site)
        .push(" and ");
    let (transaction, number) = (sql.param(place.transaction), sql.param(place.number));
    let behind = sql.dialect().outbox_unread(&transaction, &number);
    sql.push(&behind).push(" limit ").bind(most).push(") as unread");
    let (text, params) = sql.finish();
    let found = tx.row(&text, &params, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    Ok(found.unwrap_or((0, None)))
}
