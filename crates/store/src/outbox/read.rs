//! Reading a log, and noticing that something to be read is not there any more.

use super::{
    entry::{Batch, Entry, Gap, GapReason, Read},
    log_row::{self, position},
};
use crate::{Error, Row, Tx, position::Position};
use stoa_kernel::{Millis, Result, SiteId};
use stoa_sql::{Writer, params};

/// Rows looked at in one read, and bytes of payload: what a batch costs in memory.
const BATCH: i64 = 1000;
const BATCH_BYTES: i64 = 4 << 20;

/// What is to be read.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub site: SiteId,
    pub after: Position,
    /// Only rows of these; of every kind if there are none.
    pub kinds: Vec<String>,
    /// Only rows that were written at this time or later.
    pub since: Option<Millis>,
    pub limit: usize,
}

/// The rows behind a position that was never told to others. First the sizes, then the payloads that fit: neither the
/// number of rows nor their length is in our hands.
pub(super) async fn batch(tx: &mut Tx<'_>, wanted: &Wanted) -> Result<Batch, Error> {
    let mut sql = Writer::new(tx.dialect());
    let size = format!("case when {} then cast(octet_length(payload) as bigint) end", of_kinds(&mut sql, wanted));
    let since = written_since(&mut sql, wanted);
    behind(sql.push(&format!("select tx, seq, {size} from stoa.outbox where {since} and site = ")), wanted, BATCH);
    let (text, params) = sql.finish();
    let sizes = tx.rows(&text, &params, |row| Ok((position(row)?, row.get::<Option<i64>>(2)?))).await?;

    let (mut end, mut count, mut bytes, mut seen) = (wanted.after, 0, 0, 0);
    for (place, size) in &sizes {
        bytes += size.unwrap_or(0);
        if size.is_some() && (count == wanted.limit || (count > 0 && bytes > BATCH_BYTES)) {
            break;
        }
        (end, count, seen) = (*place, count + usize::from(size.is_some()), seen + 1);
    }
    let is_last = seen == sizes.len() && sizes.len() < BATCH as usize;
    if count == 0 {
        return Ok(Batch { entries: Vec::new(), end, is_last });
    }

    let mut sql = Writer::new(tx.dialect());
    let (kinds, since) = (of_kinds(&mut sql, wanted), written_since(&mut sql, wanted));
    behind(sql.push(&format!("{COLUMNS} where {kinds} and {since} and site = ")), wanted, count as i64);
    let (text, params) = sql.finish();
    let mut entries = tx.rows(&text, &params, |row| entry(&wanted.site, row)).await?;
    entries.retain(|it| it.position <= end);
    Ok(Batch { entries, end, is_last })
}

/// The rows behind a position that are there, whether or not reading comes to them yet: for few of few kinds.
pub(super) async fn committed(tx: &mut Tx<'_>, wanted: &Wanted) -> Result<Vec<Entry>, Error> {
    let mut sql = Writer::new(tx.dialect());
    let kinds = of_kinds(&mut sql, wanted);
    sql.push(&format!("{COLUMNS} where {kinds} and site = "));
    sql.bind(&wanted.site).push(" and ");
    let (transaction, number) = (sql.param(wanted.after.transaction), sql.param(wanted.after.number));
    let unread = sql.dialect().outbox_unread(&transaction, &number);
    sql.push(&unread).push(" limit ").bind(wanted.limit as i64);
    let (text, params) = sql.finish();
    tx.rows(&text, &params, |row| entry(&wanted.site, row)).await
}

/// The row of this number, once it can be read.
pub(super) async fn one(tx: &mut Tx<'_>, site: &SiteId, sequence: i64) -> Result<Option<Entry>, Error> {
    let mut sql = Writer::new(tx.dialect());
    let number = sql.param(sequence);
    behind_position(sql.push(&format!("{COLUMNS} where seq = {number} and site = ")), site, Position::default(), 1);
    let (text, params) = sql.finish();
    tx.row(&text, &params, |row| entry(site, row)).await
}

/// Of [`entry`].
const COLUMNS: &str = "select tx, seq, kind, payload, created from stoa.outbox";

fn entry(site: &SiteId, row: &Row<'_>) -> Result<Entry, Error> {
    let position = position(row)?;
    let (kind, payload, created) = (row.get(2)?, row.get(3)?, row.get(4)?);
    Ok(Entry { site: site.clone(), sequence: position.number, kind, payload, created, position })
}

/// The rows behind the place of a consumer.
pub(super) async fn of_consumer(tx: &mut Tx<'_>, wanted: &Wanted) -> Result<Read, Error> {
    let batch = batch(tx, wanted).await?;
    // Asked for after the rows: what was deleted before they were read is seen.
    let oldest = log_row::floor(tx, &wanted.site).await?;
    Ok(match wanted.after < oldest {
        true => Read::Gap(Gap { reason: GapReason::Floor, oldest }),
        false => Read::Batch(batch),
    })
}

/// The rows behind a place that was told to others and came back: of an epoch, and with the newest row that had been
/// read then. `origin` is where the data are, as an expression.
pub(super) async fn resumed(
    tx: &mut Tx<'_>,
    wanted: &Wanted,
    epoch: &str,
    newest: Position,
    origin: &str,
) -> Result<Read, Error> {
    let batch = batch(tx, wanted).await?;
    let sql = format!("select epoch, origin = {origin}, floor_tx, floor_seq from stoa.log where site = $1");
    let read = |row: &Row<'_>| {
        let oldest = Position { transaction: row.get(2)?, number: row.get(3)? };
        Ok((row.text(0)? == epoch && row.get::<bool>(1)?, oldest))
    };
    let (is_same, oldest) = tx.row(&sql, &params![&wanted.site], read).await?.unwrap_or_default();
    let is_there = is_same
        && match batch.entries.is_empty() {
            // A place before rows that are there.
            false => true,
            // None is behind the end, unless an older state of the data was put back unseen.
            true => newest <= log_row::end(tx, &wanted.site).await?,
        };
    Ok(match (is_there, wanted.after < oldest) {
        (false, _) => Read::Gap(Gap { reason: GapReason::Epoch, oldest }),
        (_, true) => Read::Gap(Gap { reason: GapReason::Floor, oldest }),
        _ => Read::Batch(batch),
    })
}

/// The condition for the kinds that are wanted.
fn of_kinds(sql: &mut Writer<'_>, wanted: &Wanted) -> String {
    if wanted.kinds.is_empty() {
        return "1 = 1".to_owned();
    }
    let kinds = sql.param(wanted.kinds.clone());
    sql.dialect().any_of("kind", &kinds)
}

/// The condition for the time from which on rows are wanted.
fn written_since(sql: &mut Writer<'_>, wanted: &Wanted) -> String {
    match wanted.since {
        Some(time) => format!("created >= {}", sql.param(time)),
        None => "1 = 1".to_owned(),
    }
}

/// Completes `… where site = ` with the rows behind a position.
fn behind(sql: &mut Writer<'_>, wanted: &Wanted, limit: i64) {
    behind_position(sql, &wanted.site, wanted.after, limit);
}

/// The same without a wish.
pub(super) fn behind_position(sql: &mut Writer<'_>, site: &SiteId, after: Position, limit: i64) {
    sql.bind(site).push(" and ");
    let (transaction, number) = (sql.param(after.transaction), sql.param(after.number));
    let after = sql.dialect().outbox_after(&transaction, &number);
    sql.push(&after).push(" limit ").bind(limit);
}
