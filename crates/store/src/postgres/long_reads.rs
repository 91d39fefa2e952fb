//! Reads that take long: each in its turn, on a connection of its own, ended with who asked for it.
//!
//! What the database looks at by itself costs this node nothing. What comes into one answer here keeps both busy, a core
//! each, and there the database knows no threads that step back. So its answers arrive on a thread that does: where that
//! one waits for the processor the database waits as well, once it has sent what was asked for.

use crate::{
    Error, Requester, Tx, TxFuture,
    deadline::{CancelOnDrop, Deadline},
    fold::step_back,
    line::{Line, Places},
    postgres::PgTx,
    tx::EngineTx,
};
use deadpool_postgres::{Object, Pool};
use std::{io, sync::Arc, thread, time::Duration};
use stoa_kernel::Result;
use tokio::{
    runtime::{self, Handle},
    sync::oneshot,
};
use tokio_postgres::NoTls;

/// Reads in the database at the same time of one network, of all sites: as many as there are cores, within these. Each
/// takes a core of the database, which has as many as a node or more, and one network's must not take them all several
/// times over.
const OF_ONE: (usize, usize) = (2, 6);
/// Reads into one answer: for so many cores one, which keeps two busy.
const CORES_OF_FOLD: usize = 2;
/// Places that are left for others.
const OF_OTHERS: usize = 2;
/// Reads that wait, of all and of one network.
const WAITING: (usize, usize) = (1024, 128);
/// A long read is ended after this long (docs/protocol/content.md §15).
const LIMIT: Duration = Duration::from_secs(30);

/// A line of long reads, and the connections for those whose turn it is.
pub(super) struct LongReads {
    line: Arc<Line>,
    pool: Pool,
    /// Where connections are opened whose answers come into one here.
    carrier: Option<Carrier>,
}

impl LongReads {
    /// Reads that the database does by itself, on connections of this pool.
    pub(super) fn of_database(pool: Pool, cores: usize) -> Self {
        Self { line: line(cores.clamp(OF_ONE.0, OF_ONE.1)), pool, carrier: None }
    }

    /// Reads whose rows come into one answer here, on connections of their own.
    pub(super) fn of_both(pool_of: impl FnOnce(usize) -> Result<Pool, Error>, cores: usize) -> Result<Self, Error> {
        let of_one = (cores / CORES_OF_FOLD).clamp(1, OF_ONE.1);
        Ok(Self { line: line(of_one), pool: pool_of(of_one + OF_OTHERS)?, carrier: Some(Carrier::start()?) })
    }

    pub(super) async fn run<T, F>(&self, requester: Requester, body: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t mut Tx<'_>) -> TxFuture<'t, T>,
    {
        let _turn = self.line.turn(requester).await?;
        let mut read = LongRead(Some(self.connection().await?));
        let mut tx = Tx::new(EngineTx::Postgres(PgTx::new(read.client())));
        let gone = Arc::default();
        tx.deadline = Deadline::new(Arc::clone(&gone), LIMIT);
        let _cancel = CancelOnDrop(gone);
        let result = tokio::time::timeout(LIMIT, body(&mut tx)).await;
        drop(tx);
        match result {
            Ok(result) => {
                read.0 = None;
                result
            }
            Err(_) => Err(Error::Interrupted.into()),
        }
    }

    pub(super) fn close(&self) {
        self.pool.close();
    }

    async fn connection(&self) -> Result<Object, Error> {
        let pool = self.pool.clone();
        let opened = match &self.carrier {
            Some(carrier) => carrier.run(async move { pool.get().await }).await?,
            None => pool.get().await,
        };
        opened.map_err(|it| Error::from_pool(&it))
    }
}

fn line(of_one: usize) -> Arc<Line> {
    let running = of_one + OF_OTHERS;
    Line::new(Places { running, running_of_one: of_one, waiting: WAITING.0, waiting_of_one: WAITING.1 })
}

/// A connection with a long read. When no caller waits for it any more the statement is cancelled and the
/// connection thrown away: back in the pool, the cancel might hit its next user.
struct LongRead(Option<Object>);

impl LongRead {
    fn client(&self) -> &Object {
        self.0.as_ref().expect("the connection is there until the read is over")
    }
}

impl Drop for LongRead {
    fn drop(&mut self) {
        let Some(client) = self.0.take() else { return };
        let token = client.cancel_token();
        drop(Object::take(client));
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { token.cancel_query(NoTls).await });
        }
    }
}

/// A thread that carries connections and steps back.
struct Carrier {
    handle: Handle,
    /// Ends the thread when dropped.
    _stop: oneshot::Sender<()>,
}

impl Carrier {
    fn start() -> Result<Self, Error> {
        let failed = |it: io::Error| Error::Unavailable(it.to_string());
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (handle, (stop, stopped)) = (runtime.handle().clone(), oneshot::channel());
        let carry = move || {
            step_back();
            let _ = runtime.block_on(stopped);
        };
        thread::Builder::new().name("stoa-carrier".to_owned()).spawn(carry).map_err(failed)?;
        Ok(Self { handle, _stop: stop })
    }

    /// What is spawned in there stays there: a connection that was opened, for one.
    async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, Error> {
        self.handle.spawn(work).await.map_err(|it| Error::Unavailable(it.to_string()))
    }
}
