//! Consumers of a site's log: their places, and the leases under which these move.

use super::log_row;
use crate::{
    Database, Row, Tx, boxed,
    lease::{ConsumerRow, Lease},
    position::Position,
};
use stoa_kernel::{Code, Fault, Result, SiteId};
use stoa_sql::params;

/// Where a new consumer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With the oldest row that is there.
    Oldest,
    /// With what comes from now on.
    Newest,
}

/// Letters of a consumer's name. It stands in what is told to those who watch the server.
const LONGEST_NAME: usize = 100;

/// Refuses what can't be the name of a consumer: lower-case letters, digits and `:-_`, up to a hundred.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_letter = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b":-_".contains(&it);
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_letter) {
        return Ok(());
    }
    let text = format!("a consumer's name has 1 to {LONGEST_NAME} of the characters a to z, 0 to 9, `:`, `-` and `_`");
    Err(Fault::because(Code::Validation, text))
}

/// Makes a consumer known; one that is known keeps its place.
pub(super) async fn subscribe(database: &Database, site: &SiteId, name: &str, start: Start) -> Result<()> {
    let subscribed = database.append_with((site.clone(), name.to_owned()), move |tx, (site, name)| {
        boxed!(consumer_subscribe(tx, site, name, start).await)
    });
    subscribed.await
}

/// [`super::Outbox::subscribe`] within a transaction, after [`super::Outbox::expect_consumers`].
///
/// # Errors
/// [`Code::Validation`] for what can't be a name.
pub async fn consumer_subscribe(tx: &mut Tx<'_>, site: &SiteId, name: &str, start: Start) -> Result<()> {
    check_name(name)?;
    let position = start.position(tx, site).await?;
    let sql = "insert into stoa.outbox_consumer (site, name, tx, seq) values ($1, $2, $3, $4) \
               on conflict (site, name) do nothing";
    tx.execute(sql, &params![site, name, position.transaction, position.number]).await?;
    Ok(())
}

/// Gives a consumer another name, under which it keeps its place. Whoever works for it has lost its lease then, also
/// when the name stays the same: what it knows of its task is out of date. `false`: there is none.
pub async fn consumer_rename(tx: &mut Tx<'_>, site: &SiteId, from: &str, to: &str) -> Result<bool> {
    check_name(to)?;
    let sql = "update stoa.outbox_consumer set name = $1, holder = null, lease = lease + 1, beat = 0 \
               where site = $2 and name = $3";
    Ok(tx.execute(sql, &params![to, site, from]).await? == 1)
}

/// Moves the place of a consumer, whoever works for it.
pub async fn consumer_move(tx: &mut Tx<'_>, site: &SiteId, name: &str, start: Start) -> Result<()> {
    let position = start.position(tx, site).await?;
    let sql = "update stoa.outbox_consumer set tx = $1, seq = $2, holder = null, lease = lease + 1, beat = 0 \
               where site = $3 and name = $4";
    tx.execute(sql, &params![position.transaction, position.number, site, name]).await?;
    Ok(())
}

/// [`super::Outbox::unsubscribe`] within a transaction.
pub async fn consumer_unsubscribe(tx: &mut Tx<'_>, site: &SiteId, name: &str) -> Result<bool> {
    let sql = "delete from stoa.outbox_consumer where site = $1 and name = $2";
    Ok(tx.execute(sql, &params![site, name]).await? > 0)
}

/// Whether a lease is still the one that is stored, and keeps it so until the end of the transaction: for what a holder
/// writes beside its place. Whoever takes the lease at the same moment waits, and sees what was written. Looked at alone
/// the row would not be among what a transaction is checked against, since leases are taken without such checks.
pub(crate) async fn keeps(tx: &mut Tx<'_>, site: &SiteId, lease: &Lease) -> Result<bool> {
    let sql =
        "update stoa.outbox_consumer set lease = lease where site = $1 and name = $2 and lease = $3 and holder = $4";
    Ok(tx.execute(sql, &params![site, &lease.consumer, lease.number, &lease.node]).await? == 1)
}

/// Whether a lease is still the one that is stored.
pub(crate) async fn holds(tx: &mut Tx<'_>, site: &SiteId, lease: &Lease) -> Result<bool> {
    let sql = "select 1 from stoa.outbox_consumer where site = $1 and name = $2 and lease = $3 and holder = $4";
    let found = tx.row(sql, &params![site, &lease.consumer, lease.number, &lease.node], |_| Ok(())).await?;
    Ok(found.is_some())
}

impl Start {
    async fn position(self, tx: &mut Tx<'_>, site: &SiteId) -> Result<Position> {
        Ok(match self {
            Self::Oldest => log_row::floor(tx, site).await?,
            Self::Newest => log_row::end(tx, site).await?,
        })
    }
}

/// Forgets a consumer; nothing is kept for it any more. `false`: there was none.
pub(super) async fn unsubscribe(database: &Database, site: &SiteId, name: &str) -> Result<bool> {
    let removed = database.append_with((site.clone(), name.to_owned()), |tx, (site, name)| {
        boxed!(consumer_unsubscribe(tx, site, name).await)
    });
    removed.await
}

/// Takes the lease of a consumer that is as it was seen, and whose holder, if it has one, is gone. Nothing when it is
/// otherwise by now.
pub(super) async fn take(database: &Database, seen: &ConsumerRow, node: &str) -> Result<Option<Lease>> {
    let taken = database.append_with((seen.clone(), node.to_owned()), |tx, (seen, node)| {
        boxed!({
            let sql = "update stoa.outbox_consumer set holder = $1, lease = lease + 1, beat = 0 \
                       where site = $2 and name = $3 and lease = $4 and beat = $5 returning tx, seq, lease";
            let row = params![node, &seen.site, &seen.name, seen.number, seen.beat];
            let lease = |row: &Row<'_>| {
                let (position, number) = (log_row::position(row)?, row.get(2)?);
                Ok(Lease { consumer: seen.name.clone(), position, node: node.clone(), number })
            };
            Ok(tx.row(sql, &row, lease).await?)
        })
    });
    taken.await
}

/// Stores that everything before the position is dealt with. `false`: the lease is another's by now, or the consumer is
/// gone, and nothing was stored.
pub(super) async fn advance(database: &Database, site: &SiteId, lease: &Lease, to: Position) -> Result<bool> {
    let moved = database.append_with((site.clone(), lease.clone()), move |tx, (site, lease)| {
        boxed!({
            let sql = "update stoa.outbox_consumer set tx = $1, seq = $2 \
                       where site = $3 and name = $4 and lease = $5 and holder = $6";
            let row = params![to.transaction, to.number, site, &lease.consumer, lease.number, &lease.node];
            Ok(tx.execute(sql, &row).await? == 1)
        })
    });
    moved.await
}

/// Gives a lease back, so that no node needs to wait for its end.
pub(super) async fn release(database: &Database, site: &SiteId, lease: &Lease) -> Result<()> {
    let released = database.append_with((site.clone(), lease.clone()), |tx, (site, lease)| {
        boxed!({
            let sql = "update stoa.outbox_consumer set holder = null \
                       where site = $1 and name = $2 and lease = $3 and holder = $4";
            tx.execute(sql, &params![site, &lease.consumer, lease.number, &lease.node]).await?;
            Ok(())
        })
    });
    released.await
}

/// The consumers of a site, and who holds them.
pub(super) async fn all(tx: &mut Tx<'_>, site: &SiteId) -> Result<Vec<ConsumerRow>> {
    let sql = "select name, holder, lease, beat from stoa.outbox_consumer where site = $1 order by name";
    let consumer = |row: &Row<'_>| {
        let (name, node, number, beat) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(ConsumerRow { site: site.clone(), name, node, number, beat })
    };
    Ok(tx.rows(sql, &params![site], consumer).await?)
}
