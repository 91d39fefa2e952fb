//! What one node withdraws, no node grants any more: levels, roles, keys, clients, sessions.
//!
//! Nodes on one PostgreSQL keep in memory what lets a request through. A node that takes something away commits it
//! and then calls [`Withdrawals::announce`] before it answers. That draws a number from a sequence, and waits until
//! each other node has said that it has forgotten what it read before the number, or can't grant anything:
//!
//! - A node grants only while it holds a lease ([`Withdrawals::held`]), by its own clock that never stands still.
//! - It renews the lease every [`PERIOD`], in a statement that says how much it has seen and answers the newest
//!   numbers. The lease is extended only once what those numbers stand for is forgotten, to [`LEASE`] after the
//!   moment in which the statement was *sent*. So a lease that was extended without a number ends at most
//!   [`LEASE`] after the number was drawn, and [`WAIT`] after that moment no node is left to wait for.
//! - A node whose row did not change in that time is gone, and its row is deleted, so that the next withdrawal does not
//!   wait for it. Should it come back, its row is a new one, which others may not have seen yet: the renewal that
//!   makes a row extends no lease.
//!
//! Nothing is notified inside a transaction and nothing is kept in the database's session, so that it works behind a
//! pooler. A node that crashes between the commit and the announcement has answered nothing; what nodes read again
//! from time to time ends its grants.
//!
//! On SQLite one process has the data to itself, and all of this is nothing but a number that changes
//! ([`Withdrawals::watch`]).

use crate::{
    Error, TxFuture,
    postgres::{OwnConnection, Postgres},
};
use parking_lot::Mutex;
use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};
use stoa_kernel::{
    Code, Fault, Result,
    clock::{Millis, elapsing},
};
use tokio::sync::{Notify, OwnedMutexGuard, watch};

/// Between two renewals of a lease.
const PERIOD: Duration = Duration::from_millis(100);
/// How long a lease holds.
const LEASE: Millis = 2_000;
/// How long a withdrawal waits for a node that says nothing: a lease, and something for clocks that run unevenly.
const WAIT: Millis = LEASE + 100;
/// The row of a node that says nothing for so long stands for no lease. Shorter than [`WAIT`] by what a look takes.
const SILENCE: Millis = LEASE + 50;
/// Between two looks at what other nodes have seen.
const LOOK: Duration = Duration::from_millis(20);
/// How long such a look may take.
const LOOK_LIMIT: Duration = Duration::from_millis(500);
/// A request waits so long for the lease of its node.
const RENEWAL_LIMIT: Duration = Duration::from_secs(2);
/// A database that takes longer to answer is given up, and connected to again.
const ANSWER: Duration = Duration::from_secs(2);

/// What is withdrawn, by who keeps it in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Sessions, keys, clients and roles.
    Identity,
    /// Definitions of collections, their levels and special permissions.
    Content,
}

const AREAS: [Area; 2] = [Area::Identity, Area::Content];

/// What an area keeps in memory.
pub trait Memory: Send + Sync + 'static {
    /// Forgets what was read before this call, or reads it again.
    fn forget(&self) -> TxFuture<'_, ()>;
}

/// The withdrawals of all nodes that share a database. See the head of this file.
pub struct Withdrawals {
    nodes: Option<Nodes>,
    told: Told,
}

/// Counts what was withdrawn, for those who must look again at what they grant over a long time.
type Told = Arc<watch::Sender<u64>>;

struct Nodes {
    told: Told,
    pool: Arc<Postgres>,
    id: String,
    memories: Mutex<Vec<(Area, Weak<dyn Memory>)>>,
    /// When the lease ends, as [`elapsing`] counts.
    until: AtomicI64,
    renewed: Notify,
    leaving: Notify,
    has_left: AtomicBool,
    /// Held while the lease is renewed from time to time.
    running: Arc<tokio::sync::Mutex<()>>,
}

impl Withdrawals {
    /// Of a directory that one process has to itself.
    pub(crate) fn alone() -> Arc<Self> {
        Arc::new(Self { nodes: None, told: Told::default() })
    }

    /// Of a node among others, which begins to hold a lease.
    pub(crate) fn among_nodes(pool: Arc<Postgres>, id: String) -> Arc<Self> {
        let (running, told) = (Arc::new(tokio::sync::Mutex::new(())), Told::default());
        let all = Arc::new(Self {
            told: told.clone(),
            nodes: Some(Nodes {
                told,
                pool,
                id,
                memories: Mutex::default(),
                until: AtomicI64::new(Millis::MIN),
                renewed: Notify::new(),
                leaving: Notify::new(),
                has_left: AtomicBool::new(false),
                running: running.clone(),
            }),
        });
        if let Ok(guard) = running.try_lock_owned() {
            tokio::spawn(keep(Arc::downgrade(&all), guard));
        }
        all
    }

    /// Names what must be forgotten when another node withdraws something, before it lets any request through. What
    /// it read until now is forgotten once: it may have been withdrawn since.
    ///
    /// # Errors
    /// What forgetting answers.
    pub async fn remember(&self, area: Area, memory: &Arc<impl Memory>) -> Result<()> {
        let Some(nodes) = &self.nodes else { return Ok(()) };
        let weak: Weak<dyn Memory> = Arc::downgrade(memory) as _;
        nodes.memories.lock().push((area, weak));
        memory.forget().await
    }

    /// Tells of withdrawals, on this node as on others, on SQLite as well: a number that has changed once what this node
    /// kept in memory is forgotten, and before a withdrawal is acknowledged. What was granted under an older number is
    /// to be asked for again before it is used.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.told.subscribe()
    }

    /// Whether this node holds its lease at this moment. Whoever grants over a long time asks for this first and for the
    /// number of [`Self::watch`] after it: while the lease was held, no withdrawal was acknowledged without that number.
    pub fn is_held(&self) -> bool {
        self.nodes.as_ref().is_none_or(Nodes::is_held)
    }

    /// Says on this node alone that something was withdrawn, by whoever it was.
    pub(crate) fn look_again(&self) {
        tell(&self.told);
    }

    /// Answers once this node holds its lease: what is granted by memory is granted after this.
    ///
    /// # Errors
    /// [`Code::Unavailable`] when the node doesn't get it back soon.
    pub async fn held(&self) -> Result<()> {
        match &self.nodes {
            Some(nodes) if !nodes.is_held() => nodes.wait().await,
            _ => Ok(()),
        }
    }

    /// Answers once no node grants by what it read before: called after the commit of what withdraws something,
    /// before that is acknowledged. This node has forgotten it by itself.
    ///
    /// # Errors
    /// What the engine says. The withdrawal is durable by then.
    pub async fn announce(&self, area: Area) -> Result<()> {
        tell(&self.told);
        match &self.nodes {
            Some(nodes) => Ok(nodes.announce(area).await?),
            None => Ok(()),
        }
    }

    /// Grants nothing from now on, and lets no other node wait for this one.
    pub(crate) async fn leave(&self) {
        self.stop();
        let Some(nodes) = &self.nodes else { return };
        drop(nodes.running.lock().await);
        // Without an answer the others wait for the end of the lease, once.
        let _ = tokio::time::timeout(ANSWER, nodes.delete_own()).await;
    }

    /// Grants nothing from now on. Other nodes wait for the end of the lease, once.
    pub(crate) fn stop(&self) {
        let Some(nodes) = &self.nodes else { return };
        nodes.has_left.store(true, Ordering::SeqCst);
        nodes.leaving.notify_one();
    }
}

fn tell(told: &Told) {
    told.send_modify(|it| *it = it.wrapping_add(1));
}

/// Renews the lease for as long as the node lives. `_running` is free once that is over.
async fn keep(all: Weak<Withdrawals>, _running: OwnedMutexGuard<()>) {
    let (mut client, mut seen) = (None, [0; AREAS.len()]);
    loop {
        let Some(all) = all.upgrade() else { return };
        let Some(nodes) = &all.nodes else { return };
        // Never given up half way: the row would be made again behind the one who deletes it.
        if nodes.has_left.load(Ordering::SeqCst) {
            return;
        }
        nodes.take_turn(&mut client, &mut seen).await;
    }
}

const RENEW: &str = "insert into stoa.node as node (id, beat, seen_identity, seen_content) values ($1, 1, $2, $3) \
    on conflict (id) do update set beat = node.beat + 1, seen_identity = excluded.seen_identity, \
    seen_content = excluded.seen_content returning beat, \
    (select last_value from stoa.withdrawal_identity), (select last_value from stoa.withdrawal_content)";

impl Nodes {
    /// One renewal, and the time until the next one.
    async fn take_turn(&self, client: &mut Option<OwnConnection>, seen: &mut [i64; AREAS.len()]) {
        let failed = match tokio::time::timeout(ANSWER, self.renew(client, seen)).await {
            Ok(Ok(true)) => None,
            // There is something to tell the others.
            Ok(Ok(false)) => return,
            Ok(Err(fault)) => Some(format!("{fault:?}")),
            Err(_) => Some("the database does not answer".to_owned()),
        };
        if let Some(why) = failed {
            tracing::debug!("the lease of this node can't be renewed: {why}");
            *client = None;
        }
        let _ = tokio::time::timeout(PERIOD, self.leaving.notified()).await;
    }

    /// Whether there is nothing that the others must be told at once.
    async fn renew(&self, client: &mut Option<OwnConnection>, seen: &mut [i64; AREAS.len()]) -> Result<bool> {
        let client = match client {
            Some(client) => client,
            // Not one of the pool: requests that have them all, or wait for one, must not hold up the lease.
            None => client.insert(self.pool.own_connection().await?),
        };
        let sent = elapsing();
        let row = client.0.query_one(RENEW, &[&self.id, &seen[0], &seen[1]]).await;
        let row = row.map_err(|it| Error::from_postgres(&it))?;
        let newest: [i64; AREAS.len()] = [row.get(1), row.get(2)];
        let is_new = row.get::<_, i64>(0) == 1;
        let is_current = newest == *seen && !is_new;
        for (n, area) in AREAS.into_iter().enumerate() {
            if newest[n] != seen[n] {
                self.forget(area).await?;
                seen[n] = newest[n];
            }
        }
        if !is_new {
            self.until.fetch_max(sent + LEASE, Ordering::SeqCst);
            self.renewed.notify_waiters();
        }
        Ok(is_current)
    }

    async fn forget(&self, area: Area) -> Result<()> {
        let concerned: Vec<_> = {
            let mut memories = self.memories.lock();
            memories.retain(|it| it.1.strong_count() > 0);
            memories.iter().filter(|it| it.0 == area).filter_map(|it| it.1.upgrade()).collect()
        };
        for memory in concerned {
            memory.forget().await?;
        }
        tell(&self.told);
        Ok(())
    }

    fn is_held(&self) -> bool {
        elapsing() < self.until.load(Ordering::SeqCst) && !self.has_left.load(Ordering::SeqCst)
    }

    async fn wait(&self) -> Result<()> {
        let renewed = async {
            loop {
                let renewed = self.renewed.notified();
                if self.is_held() {
                    return;
                }
                renewed.await;
            }
        };
        tokio::time::timeout(RENEWAL_LIMIT, renewed)
            .await
            .map_err(|_| Fault::because(Code::Unavailable, "this node has lost touch with the others"))
    }

    /// Waits for the others without holding a connection: they need theirs to forget, and so does this node while
    /// others wait for it.
    async fn announce(&self, area: Area) -> Result<(), Error> {
        let (draw, behind) = match area {
            Area::Identity => ("select nextval('stoa.withdrawal_identity')", "seen_identity"),
            Area::Content => ("select nextval('stoa.withdrawal_content')", "seen_content"),
        };
        let client = self.pool.shared_client().await?;
        let statement = client.prepare_cached(draw).await.map_err(|it| Error::from_postgres(&it))?;
        let drawn = client.query_one(&statement, &[]).await.map_err(|it| Error::from_postgres(&it))?;
        drop(client);
        let (number, end): (i64, _) = (drawn.get(0), elapsing() + WAIT);
        let behind = format!("select id, beat from stoa.node where id <> $1 and {behind} < $2");
        // Those who were behind at the first look, and when that was.
        let mut first: Option<(Vec<(String, i64)>, Millis)> = None;
        loop {
            // A database that doesn't answer holds this up no longer than a node that doesn't: whichever node is behind
            // can't renew its lease either, or hears of the number when it does.
            match tokio::time::timeout(LOOK_LIMIT, self.behind(&behind, number)).await {
                Ok(Ok(nodes)) if nodes.is_empty() => return Ok(()),
                Ok(Ok(nodes)) => {
                    first.get_or_insert_with(|| (nodes, elapsing()));
                }
                Ok(Err(error)) => tracing::debug!("what other nodes have seen can't be read: {error:?}"),
                Err(_) => tracing::debug!("what other nodes have seen can't be read in time"),
            }
            if elapsing() > end {
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        // A row stands for a lease for as long as one that was extended before the look can last. Those that stay are
        // waited for by the next withdrawal again.
        if let Some((nodes, _)) = first.filter(|it| elapsing() - it.1 > SILENCE) {
            match tokio::time::timeout(LOOK_LIMIT, self.delete(&nodes)).await {
                Ok(Ok(())) => {}
                failed => tracing::debug!("nodes that are gone can't be deleted: {failed:?}"),
            }
        }
        Ok(())
    }

    /// Other nodes that have not seen a number, with their beats.
    async fn behind(&self, sql: &str, number: i64) -> Result<Vec<(String, i64)>, Error> {
        let client = self.pool.shared_client().await?;
        let statement = client.prepare_cached(sql).await.map_err(|it| Error::from_postgres(&it))?;
        let rows = client.query(&statement, &[&self.id, &number]).await.map_err(|it| Error::from_postgres(&it))?;
        Ok(rows.iter().map(|it| (it.get(0), it.get(1))).collect())
    }

    async fn delete(&self, nodes: &[(String, i64)]) -> Result<(), Error> {
        let client = self.pool.shared_client().await?;
        for (id, beat) in nodes {
            let sql = "delete from stoa.node where id = $1 and beat = $2";
            client.execute(sql, &[id, beat]).await.map_err(|it| Error::from_postgres(&it))?;
        }
        Ok(())
    }

    async fn delete_own(&self) -> Result<(), Error> {
        let client = self.pool.shared_client().await?;
        let deleted = client.execute("delete from stoa.node where id = $1", &[&self.id]).await;
        deleted.map(drop).map_err(|it| Error::from_postgres(&it))
    }
}
