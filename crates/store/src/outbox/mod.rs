//! Jobs and events of a site, its log: written in the transaction that causes them and read by consumers one after
//! another ([decision 23](../../../../decisions/0023-the-log.md)).
//!
//! ```text
//! put(tx, …)                                                    in the causing transaction
//! subscribe → (a lease, see `Consumers`) → read_for → (work) → advance → read_for → …
//! ```
//!
//! A consumer is a name on a site (`webhook:…`). Its place is stored, so after a crash it goes on where it was: an entry
//! is delivered at least once, and [`Entry::id`] stays the same each time. Of several processes only one works for a
//! consumer: the one that holds its lease, under whose number alone the place moves.
//!
//! Reading never passes a row that is still to be committed (docs/hazards.md §Reading a log by seq > last).
//! On PostgreSQL a position is therefore the writing transaction and the number, in this order, and reading
//! stops at the oldest transaction that is running anywhere in the cluster: a long one delays, and loses nothing.
//!
//! Readers who keep their place themselves have it as a [`Token`], which is good for one epoch of the log: after a
//! restore there is another. A reader whose place is behind what was deleted (`prune.rs` says which rows stay, and for how
//! long) gets a [`Gap`].

mod asked;
mod consumer;
mod entry;
mod log_row;
mod prune;
mod read;
mod read_point;
mod status;

pub use crate::{
    lease::{ConsumerRow, Lease, LeaseTimes},
    news::News,
    pending_entry::{PendingEntry, put},
    position::{Position, Token},
};
pub use asked::{Asked, ask, is_asked};
pub use consumer::{Start, consumer_move, consumer_rename, consumer_subscribe, consumer_unsubscribe};
pub use entry::{Batch, Entry, Gap, GapReason, Read};
pub use log_row::{RESTORED, keep, keep_no_longer};
pub use prune::{KEPT, KEPT_BYTES, KEPT_FOR, UNREAD_BYTES, UNREAD_FOR};
pub use read_point::{ReadPoint, Visible};
pub use status::{ConsumerStatus, LogStatus, MOST_COUNTED};

pub(crate) use consumer::{holds, keeps};
pub(crate) use log_row::{NewEpoch, begin, find};
pub(crate) use read_point::read_point;

use crate::{Database, ReaderPool, Requester, boxed};
use read::Wanted;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};
use stoa_kernel::{Millis, Result, SiteId, clock::elapsing};
use stoa_sql::params;

/// The outbox of one site.
#[derive(Clone, Copy)]
pub struct Outbox<'s> {
    site: &'s SiteId,
    database: &'s Database,
    catalog: &'s Database,
}

impl<'s> Outbox<'s> {
    /// The outbox of `site` in its database.
    pub(crate) fn new(site: &'s SiteId, database: &'s Database, catalog: &'s Database) -> Self {
        Self { site, database, catalog }
    }

    /// Wakes a reader after commits: those of this node at once, those of others within a third of a second. To be
    /// asked for before reading, so that nothing is missed between reading and waiting.
    pub fn news(&self) -> News {
        self.database.listen(self.site)
    }

    /// Makes a consumer known; one that is known keeps its place.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Validation`] for what can't be a name.
    pub async fn subscribe(&self, consumer: &str, start: Start) -> Result<()> {
        consumer::check_name(consumer)?;
        if self.is_subscribed(consumer).await? {
            return Ok(());
        }
        self.expect_consumers().await?;
        consumer::subscribe(self.database, self.site, consumer, start).await
    }

    /// Has a site with consumers opened for them after a restart: before [`consumer_subscribe`].
    pub async fn expect_consumers(&self) -> Result<()> {
        if self.database.is_shared() {
            return Ok(());
        }
        let noted = self.catalog.append_with(self.site.clone(), |tx, site| {
            boxed!({
                let sql = "update stoa.site_log set has_consumers = 1 where site = $1";
                tx.execute(sql, &params![site]).await?;
                Ok(())
            })
        });
        noted.await
    }

    /// Whether the consumer is known.
    pub async fn is_subscribed(&self, consumer: &str) -> Result<bool> {
        Ok(self.consumers().await?.iter().any(|it| it.name == consumer))
    }

    /// Forgets a consumer; nothing is kept for it any more. `false`: there was none.
    pub async fn unsubscribe(&self, consumer: &str) -> Result<bool> {
        consumer::unsubscribe(self.database, self.site, consumer).await
    }

    /// The consumers that are known, by name, and which nodes work for them.
    pub async fn consumers(&self) -> Result<Vec<ConsumerRow>> {
        let site = self.site.clone();
        self.database.read(ReaderPool::Point, move |tx| boxed!(consumer::all(tx, &site).await)).await
    }

    /// Takes the lease of a consumer which, as it was seen, no node held, or one that is gone: how long it said nothing
    /// is for the caller to judge. Nothing when it is otherwise by now.
    pub async fn take(&self, seen: &ConsumerRow, node: &str) -> Result<Option<Lease>> {
        consumer::take(self.database, seen, node).await
    }

    /// Stores that everything before the position is dealt with. `false`: the lease is another's by now, or the consumer
    /// is gone, and nothing was stored: what was read will be, or was, delivered by another.
    pub async fn advance(&self, lease: &Lease, position: Position) -> Result<bool> {
        consumer::advance(self.database, self.site, lease, position).await
    }

    /// Gives a lease back, so that no node needs to wait for its end.
    pub async fn release(&self, lease: &Lease) -> Result<()> {
        consumer::release(self.database, self.site, lease).await
    }

    /// The entries of these kinds behind `after`, at most `limit` and about 4 MB; without kinds, those of every kind.
    /// For whoever knows that nothing behind `after` was deleted, or wants what is there.
    pub async fn read(&self, after: Position, kinds: &[&str], limit: usize) -> Result<Batch> {
        let wanted = self.wanted(after, kinds, limit);
        self.database.read(ReaderPool::Point, move |tx| boxed!(Ok(read::batch(tx, &wanted).await?))).await
    }

    /// The same, of rows that were written at `since` or later. All rows behind `after` may be looked at for that.
    pub async fn read_since(&self, after: Position, since: Millis, kinds: &[&str], limit: usize) -> Result<Batch> {
        let wanted = Wanted { since: Some(since), ..self.wanted(after, kinds, limit) };
        // In turns with others: by site, since who asks isn't known here.
        let mut hasher = DefaultHasher::new();
        self.site.hash(&mut hasher);
        let pool = ReaderPool::ScanFor(Requester { caller: hasher.finish(), ..Requester::SERVER });
        self.database.read(pool, move |tx| boxed!(Ok(read::batch(tx, &wanted).await?))).await
    }

    /// The row of this number, if it is there and can be read.
    pub async fn row(&self, sequence: i64) -> Result<Option<Entry>> {
        let site = self.site.clone();
        self.database.read(ReaderPool::Point, move |tx| boxed!(Ok(read::one(tx, &site, sequence).await?))).await
    }

    /// The same as [`Self::read`] for a consumer: a gap where rows behind its place were deleted.
    pub async fn read_for(&self, after: Position, kinds: &[&str], limit: usize) -> Result<Read> {
        let wanted = self.wanted(after, kinds, limit);
        self.database.read(ReaderPool::Point, move |tx| boxed!(Ok(read::of_consumer(tx, &wanted).await?))).await
    }

    /// The same behind a token that was told to others; a gap also where it is of another epoch.
    pub async fn resume(&self, token: &Token, kinds: &[&str], limit: usize) -> Result<Read> {
        let (wanted, origin) = (self.wanted(token.after(), kinds, limit), self.database.origin());
        let Token { epoch, position, .. } = token.clone();
        let read = self
            .database
            .read(ReaderPool::Point, move |tx| boxed!(Ok(read::resumed(tx, &wanted, &epoch, position, origin).await?)));
        read.await
    }

    /// The entries of these kinds behind a token, at most `most`, also those that [`Self::resume`] doesn't come to yet
    /// because of a transaction that is still running: all whose effect can be seen. For whoever must know what was
    /// changed before anything is read.
    pub async fn committed(&self, token: &Token, kinds: &[&str], most: usize) -> Result<Vec<Entry>> {
        let wanted = self.wanted(token.after(), kinds, most);
        self.database.read(ReaderPool::Point, move |tx| boxed!(Ok(read::committed(tx, &wanted).await?))).await
    }

    /// A place behind all that can be read now, to be told to others.
    pub async fn end(&self) -> Result<Token> {
        let site = self.site.clone();
        let read = self.database.read(ReaderPool::Point, move |tx| {
            boxed!({
                let epoch = log_row::get(tx, &site).await?.map(|it| it.epoch).unwrap_or_default();
                Ok(Token { epoch, position: log_row::end(tx, &site).await?, delivered: None })
            })
        });
        read.await
    }

    /// Waits until all that is committed now can be read, at most for so many milliseconds: on PostgreSQL a row stands
    /// behind each older transaction that is still running. Before a place that is to be behind what is known already.
    pub async fn until_readable(&self, longest: Millis) -> Result<()> {
        if !self.database.is_shared() {
            return Ok(());
        }
        let (site, begun) = (self.site.clone(), elapsing());
        let newest = self.database.read(ReaderPool::Point, move |tx| {
            boxed!({
                let sql = "select max(tx) from stoa.outbox where site = $1";
                Ok(tx.row(sql, &params![&site], |row| row.get::<Option<i64>>(0)).await?.flatten())
            })
        });
        let newest = newest.await?.unwrap_or_default();
        while self.end().await?.position.transaction < newest && elapsing() - begun < longest {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Deletes what no reader needs any more and answers how many rows that were.
    pub async fn prune(&self, now: Millis) -> Result<u64> {
        prune::prune(self.database, self.site, now).await
    }

    /// How the log stands at this time.
    pub async fn status(&self, now: Millis) -> Result<LogStatus> {
        status::of(self.database, self.site, now).await
    }

    /// How far its consumers are.
    pub async fn lags(&self, now: Millis) -> Result<Vec<ConsumerStatus>> {
        status::lags(self.database, self.site, now).await
    }

    /// How many rows one of its consumers has not read, up to `most`, and how long the first of them has waited, in
    /// milliseconds; nothing if there is no such consumer.
    pub async fn lag(&self, consumer: &str, most: i64, now: Millis) -> Result<Option<(i64, Millis)>> {
        let (site, name) = (self.site.clone(), consumer.to_owned());
        let read = self
            .database
            .read(ReaderPool::Point, move |tx| boxed!(Ok(status::lag(tx, &site, &name, most, now).await?)));
        read.await
    }

    /// How long each of these consumers has left a row unread, in milliseconds; those that are none are left out.
    pub async fn waits(&self, consumers: &[String], now: Millis) -> Result<HashMap<String, Millis>> {
        let (site, names) = (self.site.clone(), consumers.to_vec());
        let read =
            self.database.read(ReaderPool::Point, move |tx| boxed!(Ok(status::waits(tx, &site, &names, now).await?)));
        read.await
    }

    fn wanted(&self, after: Position, kinds: &[&str], limit: usize) -> Wanted {
        let kinds = kinds.iter().map(|it| (*it).to_owned()).collect();
        Wanted { site: self.site.clone(), after, kinds, since: None, limit: limit.max(1) }
    }
}
