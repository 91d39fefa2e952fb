//! Jobs and events, written in the transaction that causes them and read by consumers one after another.
//!
//! ```text
//! put(tx, …)                                     in the causing transaction
//! subscribe → claim → read → (work) → advance → read → … → release
//! ```
//!
//! A consumer is a name on a site (`mail`, `webhooks`). Its position is stored, so after a crash it goes
//! on where it was: an entry is delivered at least once, and [`Entry::id`] stays the same each time. Of
//! several processes only one works for a consumer: the one that holds its lease.
//!
//! Reading never passes a row that is still to be committed (docs/hazards.md §Reading a log by seq > last).
//! On PostgreSQL a position is therefore the writing transaction and the number, in this order, and reading
//! stops at the oldest transaction that is running anywhere in the cluster: a long one delays, and loses nothing.
//!
//! What all consumers have read is deleted, in pieces. Without any consumer the newest [`KEPT`] rows
//! stay for [`KEPT_FOR`]; what a consumer has not read after [`UNREAD_FOR`] is given up.

pub use crate::pending_entry::{PendingEntry, put};

use crate::{Database, ReaderPool, Tx, boxed, postgres};
use deadpool_postgres::Object;
use stoa_kernel::{Fault, Result, SiteId, clock::Millis};
use stoa_sql::{Value, Writer, params};
use tokio::sync::Notify;

/// Rows that stay when a site has no consumer.
pub const KEPT: i64 = 1000;
/// How long they stay: ten minutes.
pub const KEPT_FOR: Millis = 10 * 60 * 1000;
/// How long a row waits for a slow consumer: fourteen days.
pub const UNREAD_FOR: Millis = 14 * 24 * 60 * 60 * 1000;

/// Rows deleted in one transaction, and bytes: a savepoint must not hold SQLite's writer for long.
const PIECE: i64 = 500;
const PIECE_BYTES: i64 = 4 << 20;
/// Rows looked at in one read, and bytes of payload: what a batch costs in memory.
const BATCH: i64 = 1000;
const BATCH_BYTES: i64 = 4 << 20;

/// A position between two rows: everything before it was read. Larger is later; the default is the beginning.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    transaction: i64,
    number: i64,
}

/// Where a new consumer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With the oldest row that is there.
    Oldest,
    /// With what comes from now on.
    Newest,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub site: SiteId,
    /// Counts up in the order of writing; of two changes of one thing the later has the higher number.
    pub sequence: i64,
    pub kind: String,
    pub payload: String,
    pub created: Millis,
    position: Position,
}

impl Entry {
    /// The same however often it is delivered.
    pub fn id(&self) -> String {
        format!("{}-{}", self.site.as_str(), self.sequence)
    }

    /// The position behind it.
    pub fn position(&self) -> Position {
        self.position
    }
}

/// What one read found.
#[derive(Debug)]
pub struct Batch {
    pub entries: Vec<Entry>,
    /// The position behind everything that was looked at, of whatever kind.
    pub end: Position,
    /// Nothing more could be read at that moment.
    pub is_last: bool,
}

/// The outbox of one site.
#[derive(Clone, Copy)]
pub struct Outbox<'s> {
    site: &'s SiteId,
    database: &'s Database,
    news: &'s Notify,
}

impl<'s> Outbox<'s> {
    /// The outbox of `site` in its database; `news` wakes those who wait for an entry.
    pub(crate) fn new(site: &'s SiteId, database: &'s Database, news: &'s Notify) -> Self {
        Self { site, database, news }
    }

    /// Tells consumers in this process that there is something to read; after the commit.
    pub fn announce(&self) {
        self.news.notify_waiters();
    }

    /// Waits for [`Outbox::announce`]. Other processes write as well, so wait for a limited time only.
    pub async fn announced(&self) {
        self.news.notified().await;
    }

    /// Makes a consumer known; one that is known keeps its position.
    pub async fn subscribe(&self, consumer: &str, start: Start) -> Result<()> {
        let known = "select 1 from stoa.outbox_consumer where site = $1 and name = $2";
        let row = params![self.site, consumer];
        let is_known = self
            .database
            .read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(known, &row, |_| Ok(())).await?.is_some())));
        if is_known.await? {
            return Ok(());
        }
        let position = match start {
            Start::Oldest => Position::default(),
            Start::Newest => self.end().await?,
        };
        let row = params![self.site, consumer, position.transaction, position.number];
        let subscribed = self.database.append_with(row, |tx, row| {
            boxed!({
                let sql = "insert into stoa.outbox_consumer (site, name, tx, seq, held_until) \
                           values ($1, $2, $3, $4, 0) on conflict (site, name) do nothing";
                tx.execute(sql, row).await?;
                Ok(())
            })
        });
        subscribed.await
    }

    /// Forgets a consumer; nothing is kept for it any more.
    pub async fn unsubscribe(&self, consumer: &str) -> Result<()> {
        let removed = self.database.append_with(params![self.site, consumer], |tx, row| {
            boxed!({
                let sql = "delete from stoa.outbox_consumer where site = $1 and name = $2";
                tx.execute(sql, row).await?;
                Ok(())
            })
        });
        removed.await
    }

    /// Takes or renews the lease of a consumer for `life` and answers its position; nothing while another
    /// holds it, or when the consumer isn't known. A holder's name is random and new with each process.
    pub async fn claim(&self, consumer: &str, holder: &str, now: Millis, life: Millis) -> Result<Option<Position>> {
        let sql = "update stoa.outbox_consumer set holder = $1, held_until = $2 \
                   where site = $3 and name = $4 and (holder = $5 or holder is null or held_until <= $6) \
                   returning tx, seq";
        let site = self.site.as_str();
        let params = params![holder, now + life, site, consumer, holder, now].to_vec();
        self.change(sql, params).await
    }

    /// The entries of these kinds behind `after`, at most `limit` and about 4 MB.
    pub async fn read(&self, after: Position, kinds: &[&str], limit: usize) -> Result<Batch> {
        let site = self.site.clone();
        let kinds: Vec<String> = kinds.iter().map(|it| (*it).to_owned()).collect();
        self.database.read(ReaderPool::Point, move |tx| boxed!(read(tx, site, after, kinds, limit.max(1)).await)).await
    }

    /// Stores that everything before `position` is dealt with, and renews the lease. False when the lease
    /// is another's by now: what was read will be, or was, delivered by that one too.
    pub async fn advance(
        &self,
        consumer: &str,
        holder: &str,
        position: Position,
        now: Millis,
        life: Millis,
    ) -> Result<bool> {
        let sql = "update stoa.outbox_consumer set tx = $1, seq = $2, held_until = $3 \
                   where site = $4 and name = $5 and holder = $6 returning tx, seq";
        let Position { transaction, number } = position;
        let params = params![transaction, number, now + life, self.site.as_str(), consumer, holder].to_vec();
        Ok(self.change(sql, params).await?.is_some())
    }

    /// Gives the lease back, so that another needs not wait for its end.
    pub async fn release(&self, consumer: &str, holder: &str) -> Result<()> {
        let sql = "update stoa.outbox_consumer set holder = null, held_until = 0 \
                   where site = $1 and name = $2 and holder = $3 returning tx, seq";
        let params = params![self.site.as_str(), consumer, holder].to_vec();
        self.change(sql, params).await.map(|_| ())
    }

    /// Deletes what no consumer needs any more and answers how many rows that were.
    pub async fn prune(&self, now: Millis) -> Result<u64> {
        let mut all = 0;
        loop {
            let piece =
                self.database.append_with(self.site.clone(), move |tx, site| boxed!(prune_piece(tx, site, now).await));
            let (gone, is_all) = piece.await?;
            all += gone;
            if is_all {
                return Ok(all);
            }
        }
    }

    /// The position behind everything that can be read now.
    async fn end(&self) -> Result<Position> {
        let mut after = Position::default();
        loop {
            let batch = self.read(after, &[], 1).await?;
            after = batch.end;
            if batch.is_last {
                return Ok(after);
            }
        }
    }

    /// Changes the row of a consumer, if it is as the statement wants it, and answers its position.
    async fn change(&self, sql: &'static str, params: Vec<Value>) -> Result<Option<Position>> {
        self.database.append_with(params, move |tx, params| boxed!(Ok(tx.row(sql, params, position).await?))).await
    }
}

fn position(row: &crate::Row<'_>) -> Result<Position, crate::Error> {
    Ok(Position { transaction: row.get(0)?, number: row.get(1)? })
}

/// First the sizes, then the payloads that fit: neither the number of rows nor their length is in our hands.
async fn read(tx: &mut Tx<'_>, site: SiteId, after: Position, kinds: Vec<String>, limit: usize) -> Result<Batch> {
    let mut sql = Writer::new(tx.dialect());
    let wanted = sql.param(kinds.clone());
    let wanted =
        format!("case when {} then cast(octet_length(payload) as bigint) end", sql.dialect().any_of("kind", &wanted));
    behind(sql.push(&format!("select tx, seq, {wanted} from stoa.outbox where site = ")), &site, after, BATCH);
    let (text, params) = sql.finish();
    let sizes = tx.rows(&text, &params, |row| Ok((position(row)?, row.get::<Option<i64>>(2)?))).await?;

    let (mut end, mut count, mut bytes, mut seen) = (after, 0, 0, 0);
    for (place, size) in &sizes {
        bytes += size.unwrap_or(0);
        if size.is_some() && (count == limit || (count > 0 && bytes > BATCH_BYTES)) {
            break;
        }
        (end, count, seen) = (*place, count + usize::from(size.is_some()), seen + 1);
    }
    let is_last = seen == sizes.len() && sizes.len() < BATCH as usize;
    if count == 0 {
        return Ok(Batch { entries: Vec::new(), end, is_last });
    }

    let mut sql = Writer::new(tx.dialect());
    let wanted = sql.param(kinds);
    let wanted = sql.dialect().any_of("kind", &wanted);
    let columns = "select tx, seq, kind, payload, created from stoa.outbox where ";
    behind(sql.push(&format!("{columns}{wanted} and site = ")), &site, after, count as i64);
    let (text, params) = sql.finish();
    let entry = |row: &crate::Row<'_>| {
        let position = position(row)?;
        let (kind, payload, created) = (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(Entry { site: site.clone(), sequence: position.number, kind, payload, created, position })
    };
    let mut entries = tx.rows(&text, &params, entry).await?;
    entries.retain(|it| it.position <= end);
    Ok(Batch { entries, end, is_last })
}

/// Completes `… where site = ` with the rows behind a position.
fn behind(sql: &mut Writer<'_>, site: &SiteId, after: Position, limit: i64) {
    sql.bind(site).push(" and ");
    let (transaction, number) = (sql.param(after.transaction), sql.param(after.number));
    let after = sql.dialect().outbox_after(&transaction, &number);
    sql.push(&after).push(" limit ").bind(limit);
}

/// Deletes some of the oldest rows; tells how many, and whether those were all.
async fn prune_piece(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<(u64, bool)> {
    let sql = "select tx, seq from stoa.outbox_consumer where site = $1 order by tx, seq limit 1";
    let slowest = tx.row(sql, &params![site], position).await?;
    let surplus = match slowest {
        Some(_) => 0,
        None => {
            let sql = "select count(*) from stoa.outbox where site = $1";
            tx.row(sql, &params![site], |row| row.get::<i64>(0)).await?.unwrap_or(0) - KEPT
        }
    };

    let mut sql = Writer::new(tx.dialect());
    sql.push("select tx, seq, created, cast(octet_length(payload) as bigint) from stoa.outbox where site = ");
    behind(&mut sql, site, Position::default(), PIECE);
    let (text, params) = sql.finish();
    let oldest = tx.rows(&text, &params, |row| Ok((position(row)?, row.get::<Millis>(2)?, row.get::<i64>(3)?))).await?;

    let (mut until, mut bytes, mut count) = (None, 0, 0);
    for (place, created, size) in &oldest {
        let is_needed = match slowest {
            Some(read) => *place > read && created + UNREAD_FOR > now,
            None => count >= surplus && created + KEPT_FOR > now,
        };
        if is_needed || bytes > PIECE_BYTES {
            break;
        }
        (until, bytes, count) = (Some(*place), bytes + size, count + 1);
    }
    let Some(until) = until else { return Ok((0, true)) };

    // The newest row stays: SQLite gives its number again when it is gone, and numbers must not come twice.
    let mut sql = Writer::new(tx.dialect());
    sql.push("delete from stoa.outbox where site = ").bind(site).push(" and ");
    let (transaction, number) = (sql.param(until.transaction), sql.param(until.number));
    let until = sql.dialect().outbox_until(&transaction, &number);
    sql.push(&until).push(" and seq < (select max(seq) from stoa.outbox)");
    let (text, params) = sql.finish();
    let gone = tx.execute(&text, &params).await?;
    Ok((gone, gone == 0 || (count < PIECE && bytes <= PIECE_BYTES)))
}

/// A database that was restored into a younger cluster holds numbers of transactions that are still to
/// come there. Its rows are put before everything new, and each consumer before what it may not have read.
pub(crate) async fn number_anew(client: &Object) -> Result<(), Fault> {
    let foreign = "select exists (select 1 from stoa.outbox where tx >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint) \
                   or exists (select 1 from stoa.outbox_consumer where tx >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint)";
    let row = client.query_one(foreign, &[]).await.map_err(|it| crate::Error::from_postgres(&it))?;
    if !row.try_get::<_, bool>(0).map_err(|it| crate::Error::from_postgres(&it))? {
        return Ok(());
    }
    let consumers = "update stoa.outbox_consumer c set tx = 0, seq = coalesce((select min(o.seq) - 1 from stoa.outbox o \
                     where o.site = c.site and (o.tx, o.seq) > (c.tx, c.seq)), c.seq)";
    postgres::command(client, consumers).await?;
    postgres::command(client, "update stoa.outbox set tx = 0").await?;
    Ok(())
}
