//! How readers of logs hear of what other nodes wrote.
//!
//! Nothing is notified inside a transaction: the lock of the queue would be held over each commit's sync, and writers
//! would wait for one another. A node asks instead, one statement for all sites that have readers on it, and not at all
//! where none has. What it asks for is the newest row that can be read, so a row that was written under a transaction
//! that is still open is told of when it can be read, and a commit of this node that was too early for its reader as
//! well.

use super::{Postgres, listeners::Question};
use crate::{Error, news::Announcer};
use std::{
    sync::{Arc, Weak},
    time::Duration,
};
use stoa_kernel::{Millis, SiteId, clock::elapsing};

/// Between two questions.
const PERIOD: Duration = Duration::from_millis(250);
/// The same for a while after something was written: most often more follows.
const BUSY_PERIOD: Duration = Duration::from_millis(50);
/// How long that is, in milliseconds.
const BUSY: Millis = 2_000;
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(5);

/// The newest row of each listed site that can be read, where it is newer than the one that is known.
const NEWEST: &str = "select w.site, o.tx, o.seq \
    from unnest($1::text[], $2::bigint[], $3::bigint[]) as w(site, tx, seq) cross join lateral \
    (select n.tx, n.seq from stoa.outbox n where n.site = w.site collate \"C\" and (n.tx, n.seq) > (w.tx, w.seq) \
    and n.tx < pg_snapshot_xmin(pg_current_snapshot())::text::bigint order by n.tx desc, n.seq desc limit 1) o";

impl Postgres {
    /// Announces rows of other nodes for as long as something listens.
    pub(crate) fn listen(self: &Arc<Self>, site: &SiteId, announcer: &Arc<Announcer>) {
        if self.listeners.add(site, announcer) {
            tokio::spawn(ask(Arc::downgrade(self)));
        }
    }

    /// Asks, announces what is new, and answers whether anything was.
    async fn answer(&self, question: &Question) -> Result<bool, Error> {
        let client = self.shared_client().await?;
        let statement = client.prepare_cached(NEWEST).await.map_err(|it| Error::from_postgres(&it))?;
        let Question { sites, transactions, numbers, .. } = question;
        let rows = client.query(&statement, &[sites, transactions, numbers]).await;
        let rows = rows.map_err(|it| Error::from_postgres(&it))?;
        for row in &rows {
            self.listeners.announce(row.get(0), (row.get(1), row.get(2)));
        }
        Ok(!rows.is_empty())
    }
}

/// Asks from time to time until nothing listens.
async fn ask(pool: Weak<Postgres>) {
    let mut busy_until = elapsing() + BUSY;
    loop {
        tokio::time::sleep(if elapsing() < busy_until { BUSY_PERIOD } else { PERIOD }).await;
        let Some(pool) = pool.upgrade() else { return };
        let Some(question) = pool.listeners.question() else { return };
        let is_new = match tokio::time::timeout(ANSWER, pool.answer(&question)).await {
            Ok(Ok(is_new)) => is_new,
            Ok(Err(error)) => {
                tracing::debug!("what other nodes wrote can't be asked: {error:?}");
                false
            }
            Err(_) => false,
        };
        if is_new || question.is_busy {
            busy_until = elapsing() + BUSY;
        }
    }
}
