//! Single inserts that wait share a statement, and with it a commit.
//!
//! A few statements of a table are on their way at the same time. An insert that comes meanwhile waits, and the next
//! statement takes all that wait by then: under light load each has a statement to itself, and none ever lingers for
//! others. A statement that the engine refuses wrote nothing; then its halves are tried, and theirs, until the insert
//! at fault fails alone: of 256 one costs some sixteen statements more, and not 256.

use super::{Guard, PgTx, Postgres, RUNS, waiting::Waiting};
use crate::{Error, InsertWithEvent, news::Announcer};
use std::{collections::HashSet, sync::Arc};
use stoa_kernel::Result;
use stoa_sql::{Value, params};
use tokio::sync::oneshot;

impl Postgres {
    /// See [`crate::Database::insert_with_event`]. One whose request is dropped before its statement is sent is not
    /// written.
    pub(crate) async fn insert_with_event(
        self: &Arc<Self>,
        insert: InsertWithEvent,
        announcer: &Arc<Announcer>,
    ) -> Result<bool> {
        let (answer, answered) = oneshot::channel();
        let into = insert.into.clone();
        // As many as there are shared connections, of which there are as many as cores.
        if self.groups.add(Waiting { insert, answer, announcer: announcer.clone() }, self.shared.len()) {
            let pool = self.clone();
            tokio::spawn(async move {
                while let Some(batch) = pool.groups.next(&into) {
                    pool.insert_batch(batch).await;
                }
            });
        }
        let gone = |_| Err(Error::Unknown("an insert was given up".to_owned()));
        Ok(answered.await.unwrap_or_else(gone)?)
    }

    async fn insert_batch(&self, batch: Vec<Waiting>) {
        let mut parts = vec![batch];
        while let Some(mut part) = parts.pop() {
            if let [one] = part.as_slice() {
                let done = self.insert_alone(&one.insert).await;
                part.into_iter().for_each(|it| it.answer(done.clone()));
                continue;
            }
            match self.insert_together(&part).await {
                Ok(new) => {
                    for it in part {
                        let is_new = new.contains(it.key());
                        it.answer(Ok(is_new));
                    }
                }
                Err(error @ (Error::Unknown(_) | Error::Unavailable(_) | Error::Crowded)) => {
                    part.into_iter().for_each(|it| it.answer(Err(error.clone())));
                }
                Err(_) => {
                    let rest = part.split_off(part.len() / 2);
                    parts.extend([rest, part]);
                }
            }
        }
    }

    /// The keys of those that were new. A statement on its own is its own transaction.
    async fn insert_together(&self, batch: &[Waiting]) -> Result<HashSet<String>, Error> {
        let Some(first) = batch.first() else { return Ok(HashSet::new()) };
        let rows: Vec<_> = batch.iter().map(|it| row(&it.insert)).collect();
        let rows: Vec<_> = rows.iter().map(Vec::as_slice).collect();
        let mut guard = Guard(Some(self.client().await?));
        let InsertWithEvent { into, values, key, .. } = &first.insert;
        let written = PgTx::new(guard.client()).insert_with_events(into, values, key, &rows).await;
        settle(&mut guard, written)
    }

    async fn insert_alone(&self, insert: &InsertWithEvent) -> Result<bool, Error> {
        let InsertWithEvent { into, values, key, .. } = insert;
        let n = values.len();
        let (values, site, kind, payload, now) = (values.join(", "), n + 1, n + 2, n + 3, n + 4);
        let sql = format!(
            "with new as ({into} values ({values}) on conflict do nothing returning {key}), \
             event as (insert into stoa.outbox (site, kind, payload, created) \
             select ${site}::text, ${kind}::text, ${payload}::text, ${now}::bigint from new) select 1 from new"
        );
        let params = row(insert);
        for run in 1.. {
            let mut guard = Guard(Some(self.client().await?));
            let written = PgTx::new(guard.client()).rows(&sql, &params, |_| Ok(())).await;
            match settle(&mut guard, written) {
                Err(Error::Retry(_)) if run < RUNS => {}
                written => return written.map(|rows| !rows.is_empty()),
            }
        }
        unreachable!("the loop returns")
    }
}

/// The item's columns and those of the outbox.
fn row(insert: &InsertWithEvent) -> Vec<Value> {
    let InsertWithEvent { row, event, .. } = insert;
    let mut all = row.clone();
    all.extend(params![&event.site, event.kind, event.payload.clone(), event.now]);
    all
}

/// Gives the connection back unless it is lost. What was on its way then may have got there.
fn settle<T>(guard: &mut Guard, written: Result<T, Error>) -> Result<T, Error> {
    match written {
        Err(Error::Unavailable(text)) => Err(Error::Unknown(text)),
        written => {
            guard.release();
            written
        }
    }
}
