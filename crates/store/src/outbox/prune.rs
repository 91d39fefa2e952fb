//! Which rows of a log stay, and for how long.
//!
//! A row stays until every consumer has read it; that of one that reads no more until it is too old or too much has
//! gathered. Where a setting asks for it, rows stay for those who resume. Where nothing reads at all a few stay.
//! The log remembers the last row that went, its floor: who comes back from before it is told so.

use super::{
    log_row::{self, LogRow, position},
    read::behind_position,
};
use crate::{Database, Error, ReaderPool, Tx, boxed, position::Position};
use stoa_kernel::{Millis, Result, SiteId};
use stoa_sql::{Writer, params};

/// Rows that stay when a site has no consumer.
pub const KEPT: i64 = 1000;
/// How long they stay, and all rows where readers may resume: ten minutes.
pub const KEPT_FOR: Millis = 10 * 60 * 1000;
/// How many bytes stay for those who resume, unless they are older: 64 MB.
pub const KEPT_BYTES: i64 = 64 << 20;
/// How long a row waits for a slow consumer: fourteen days.
pub const UNREAD_FOR: Millis = 14 * 24 * 60 * 60 * 1000;
/// How many bytes wait for it: 1 GB.
pub const UNREAD_BYTES: i64 = 1 << 30;

/// Bytes that a row costs beside its payload.
const ROW_BYTES: i64 = 100;
/// Rows deleted in one transaction with what is remembered of it, and bytes: a savepoint must not hold SQLite's writer
/// for long.
const PIECE: i64 = 499;
const PIECE_BYTES: i64 = 4 << 20;
/// Rows whose bytes are counted at once.
const COUNTED: i64 = 2000;

/// Deletes what is no longer needed and answers how many rows that were.
pub(super) async fn prune(database: &Database, site: &SiteId, now: Millis) -> Result<u64> {
    let mut all = 0;
    loop {
        let Some(plan) = ask(database, site.clone(), now).await? else { return Ok(all) };
        let is_all = plan.is_all;
        let piece =
            database.append_with((site.clone(), plan), |tx, (site, plan)| boxed!(Ok(carry_out(tx, site, plan).await?)));
        match piece.await? {
            Some(gone) => all += gone,
            // Another node is at it.
            None => return Ok(all),
        }
        if is_all {
            return Ok(all);
        }
    }
}

async fn ask(database: &Database, site: SiteId, now: Millis) -> Result<Option<Plan>> {
    database.read(ReaderPool::Point, move |tx| boxed!(Ok(plan(tx, &site, now).await?))).await
}

/// What is to be done in one transaction.
#[derive(Debug)]
struct Plan {
    /// What it rests on.
    before: LogRow,
    /// Up to which row is deleted.
    until: Option<Position>,
    /// Up to which row bytes are counted then, and how many.
    counted: Position,
    bytes: i64,
    /// Whether nothing is left to do afterwards.
    is_all: bool,
}

/// A row that may go.
struct Old {
    position: Position,
    created: Millis,
    bytes: i64,
}

/// What decides whether a row stays.
struct Needs {
    now: Millis,
    /// The place of the slowest consumer.
    slowest: Option<Position>,
    has_reasons: bool,
    /// Rows above [`KEPT`], where nothing reads.
    surplus: i64,
}

impl Needs {
    /// Whether a row is needed that has so many before it, and with those behind it so many bytes.
    fn hold(&self, row: &Old, before: i64, bytes: i64) -> bool {
        let is_younger_than = |age: Millis| row.created + age > self.now;
        let is_unread = self.slowest.is_some_and(|read| row.position > read);
        let waits = is_unread && is_younger_than(UNREAD_FOR) && bytes <= UNREAD_BYTES;
        let can_be_resumed = self.has_reasons && is_younger_than(KEPT_FOR) && bytes <= KEPT_BYTES;
        let is_kept_anyway = self.slowest.is_none() && !self.has_reasons && before >= self.surplus;
        waits || can_be_resumed || (is_kept_anyway && is_younger_than(KEPT_FOR))
    }
}

/// What is to be done now; nothing when all is as it should be.
async fn plan(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Option<Plan>, Error> {
    let Some(before) = log_row::get(tx, site).await? else { return Ok(None) };
    let slowest = slowest(tx, site, before.floor).await?;
    let is_read = slowest.is_some() || before.has_reasons;
    let (mut counted, mut bytes, mut is_counted) = (before.counted.max(before.floor), before.bytes, true);
    if is_read {
        let rows = rows(tx, site, counted, COUNTED).await?;
        is_counted = (rows.len() as i64) < COUNTED;
        bytes += rows.iter().map(|it| it.bytes).sum::<i64>();
        counted = rows.last().map_or(counted, |it| it.position);
    }
    let surplus = if is_read { 0 } else { count(tx, site).await? - KEPT };
    let needs = Needs { now, slowest, has_reasons: before.has_reasons, surplus };
    // The newest row stays: SQLite gives its number again when it is gone, and numbers must not come twice.
    let newest = tx.row("select max(seq) from stoa.outbox", &[], |row| row.get::<Option<i64>>(0)).await?.flatten();

    let oldest = rows(tx, site, before.floor, PIECE).await?;
    let (mut until, mut deleted, mut gone) = (None, 0, 0);
    for row in &oldest {
        // As long as not all bytes are counted, more rows stay than need to.
        if Some(row.position.number) == newest || needs.hold(row, gone, bytes) || deleted > PIECE_BYTES {
            break;
        }
        if row.position <= counted {
            bytes = (bytes - row.bytes).max(0);
        }
        (until, deleted, gone) = (Some(row.position), deleted + row.bytes, gone + 1);
    }
    let counted = counted.max(until.unwrap_or_default());
    if until.is_none() && counted == before.counted {
        return Ok(None);
    }
    let is_all = is_counted && gone < PIECE && deleted <= PIECE_BYTES;
    Ok(Some(Plan { before, until, counted, bytes, is_all }))
}

/// Does it, and answers how many rows went; nothing when things were otherwise by then.
async fn carry_out(tx: &mut Tx<'_>, site: &SiteId, plan: &Plan) -> Result<Option<u64>, Error> {
    let Plan { before, until, counted, bytes, .. } = plan;
    let floor = until.unwrap_or(before.floor);
    let sql = "update stoa.log set floor_tx = $1, floor_seq = $2, counted_tx = $3, counted_seq = $4, bytes = $5 \
               where site = $6 and floor_tx = $7 and floor_seq = $8 and counted_tx = $9 and counted_seq = $10";
    let row = params![
        floor.transaction,
        floor.number,
        counted.transaction,
        counted.number,
        *bytes,
        site,
        before.floor.transaction,
        before.floor.number,
        before.counted.transaction,
        before.counted.number,
    ];
    if tx.execute(sql, &row).await? == 0 {
        return Ok(None);
    }
    let Some(until) = until else { return Ok(Some(0)) };
    let mut sql = Writer::new(tx.dialect());
    sql.push("delete from stoa.outbox where site = ").bind(site).push(" and ");
    let (transaction, number) = (sql.param(until.transaction), sql.param(until.number));
    let until = sql.dialect().outbox_until(&transaction, &number);
    sql.push(&until);
    let (text, params) = sql.finish();
    tx.execute(&text, &params).await.map(Some)
}

/// The place of the slowest consumer. One that has missed rows already holds up nothing: it begins again.
async fn slowest(tx: &mut Tx<'_>, site: &SiteId, floor: Position) -> Result<Option<Position>, Error> {
    let sql = "select tx, seq from stoa.outbox_consumer where site = $1 and (tx, seq) >= ($2, $3) \
               order by tx, seq limit 1";
    tx.row(sql, &params![site, floor.transaction, floor.number], position).await
}

async fn count(tx: &mut Tx<'_>, site: &SiteId) -> Result<i64, Error> {
    let sql = "select count(*) from stoa.outbox where site = $1";
    Ok(tx.row(sql, &params![site], |row| row.get::<i64>(0)).await?.unwrap_or(0))
}

/// The first rows behind a position.
async fn rows(tx: &mut Tx<'_>, site: &SiteId, after: Position, limit: i64) -> Result<Vec<Old>, Error> {
    let mut sql = Writer::new(tx.dialect());
    sql.push("select tx, seq, created, cast(octet_length(payload) as bigint) from stoa.outbox where site = ");
    behind_position(&mut sql, site, after, limit);
    let (text, params) = sql.finish();
    let old = |row: &crate::Row<'_>| {
        Ok(Old { position: position(row)?, created: row.get(2)?, bytes: row.get::<i64>(3)? + ROW_BYTES })
    };
    tx.rows(&text, &params, old).await
}
