//! Documents of a long read, fetched in portions within one read-only transaction: a stream that is dropped half
//! way would have to be drained, and a statement without a snapshot of its own would see a write between two portions.

use super::{
    tx::{PgTx, command},
    value::Bound,
};
use crate::{
    Document, Error,
    fold::{Fold, step_back},
};
use futures_util::{TryFutureExt, TryStreamExt, future::try_join, pin_mut};
use stoa_kernel::{Fault, Result};
use stoa_sql::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::{Row, RowStream};

/// Rows of a portion. The planner must not prefer a statement that begins early to one that ends early, and whoever
/// works on a portion may take a while.
const BEGIN: &str = "begin isolation level repeatable read read only; set local cursor_tuple_fraction = 1; \
                     set local idle_in_transaction_session_timeout = 60000";
const FETCH: &str = "fetch 1000 from stoa_fold";
/// Documents are handed over when they are as many, or their bytes.
const ROWS: usize = 1000;
const BYTES: usize = 1 << 20;

/// What is handed to the thread that works: rows as they arrived, so that it reads them as well.
enum Portion {
    Rows(Vec<Row>),
    End,
}

impl PgTx<'_> {
    pub(crate) async fn fold<F: Fold>(&mut self, sql: &str, params: &[Value], fold: F) -> Result<F::Output> {
        let (portions, taken) = mpsc::channel(2);
        let (answer, answered) = oneshot::channel();
        std::thread::Builder::new()
            .name("stoa-fold".to_owned())
            .spawn(move || {
                step_back();
                if let Some(result) = work(fold, taken) {
                    let _ = answer.send(result);
                }
            })
            .map_err(|it| Error::Unavailable(it.to_string()))?;
        let read = self.portions(sql, params, &portions).await;
        // The connection goes back to the others, whatever came of it.
        let ended = command(self.client(), "rollback").await;
        read?;
        ended?;
        let _ = portions.send(Portion::End).await;
        answered.await.unwrap_or_else(|_| Err(Fault::internal("the thread of a long read ended without an answer")))
    }

    async fn portions(&mut self, sql: &str, params: &[Value], portions: &mpsc::Sender<Portion>) -> Result<(), Error> {
        let client = self.client();
        let refused = |it: tokio_postgres::Error| Error::from_postgres(&it);
        command(client, BEGIN).await?;
        let declared = format!("declare stoa_fold no scroll cursor for {sql}");
        let statement = client.prepare(&declared).await.map_err(refused)?;
        client.execute_raw(&statement, params.iter().map(Bound)).await.map_err(refused)?;
        let fetch = client.prepare(FETCH).await.map_err(refused)?;
        let ask = || client.query_raw(&fetch, std::iter::empty::<i64>()).map_err(refused);
        let mut rows = ask().await?;
        loop {
            // The next rows are on their way while these are handed over.
            let (handed, next) = try_join(hand_over(rows, portions), ask()).await?;
            if handed < ROWS {
                return Ok(());
            }
            rows = next;
        }
    }
}

/// Hands rows over, and says how many: fewer than were asked for where there are no more, or no more are wanted.
async fn hand_over(rows: RowStream, portions: &mpsc::Sender<Portion>) -> Result<usize, Error> {
    pin_mut!(rows);
    let (mut portion, mut bytes, mut count) = (Vec::new(), 0, 0);
    while let Some(row) = rows.try_next().await.map_err(|it| Error::from_postgres(&it))? {
        count += 1;
        bytes += row.raw_size_bytes();
        portion.push(row);
        if bytes >= BYTES {
            bytes = 0;
            if portions.send(Portion::Rows(std::mem::take(&mut portion))).await.is_err() {
                return Ok(0);
            }
        }
    }
    if !portion.is_empty() && portions.send(Portion::Rows(portion)).await.is_err() {
        return Ok(0);
    }
    Ok(count)
}

/// Works until it has an answer; nothing when the reading ended before.
fn work<F: Fold>(mut fold: F, mut taken: mpsc::Receiver<Portion>) -> Option<Result<F::Output>> {
    loop {
        match taken.blocking_recv()? {
            Portion::End => return Some(fold.finish()),
            Portion::Rows(rows) => {
                for row in &rows {
                    let document = match row.try_get(0) {
                        Ok(text) => Document::Text(text),
                        Err(error) => return Some(Err(Error::Other(error.to_string()).into())),
                    };
                    match fold.take(document) {
                        Ok(flow) if flow.is_continue() => {}
                        Ok(_) => {
                            drop(taken);
                            return Some(fold.finish());
                        }
                        Err(fault) => return Some(Err(fault)),
                    }
                }
            }
        }
    }
}
