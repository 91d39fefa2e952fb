//! What is refused before its signed tokens expire: ended sessions, revoked keys and clients, by id.
//!
//! The list is in memory and its truth in the catalogue. What this node revokes counts at once, and is acknowledged
//! when the other nodes have read it ([`stoa_store::Withdrawals`]). Each reads new rows every second besides, in case
//! a node crashed in between. Rows are searched for by time with an overlap, not by a counter, because a
//! late committer would be skipped for ever (docs/hazards.md §Reading a log by seq > last). A list older
//! than two seconds isn't trusted; then each token is checked in the catalogue.

use crate::{Core, limits::LONGEST_ACCESS};
use parking_lot::RwLock;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};
use stoa_kernel::{Millis, Result, SessionId, World, limit::DAY};
use stoa_sql::params;
use stoa_store::{Area, Database, Memory, ReaderPool, Tx, TxFuture, boxed};

/// Between two refreshes of what other nodes revoked.
const PERIOD: Duration = Duration::from_secs(1);
/// A list older than this isn't trusted.
const MAX_AGE: Millis = 2_000;
/// How far back each refresh goes; every so often it reads all rows.
const OVERLAP: Millis = 60_000;
/// Rows a statement.
const CHUNK: usize = 100;
/// With what a subject begins that refuses nothing, and tells other nodes that there are new keys, to seal or to sign with.
/// They learn of it without a statement of its own.
const NEW_KEYS: &str = "sealing-keys-";
/// When what refuses a token that has no end is no longer needed.
pub(crate) const NEVER: Millis = Millis::MAX;

pub(crate) struct Revocations {
    /// Subject → when the entry is no longer needed.
    subjects: RwLock<HashMap<Box<str>, Millis>>,
    /// Goes up with every new subject: what was checked at this number needs no second check.
    generation: AtomicU64,
    /// Goes up whenever something was withdrawn, on this node or another: roles that were read before may be others.
    withdrawals: AtomicU64,
    read_at: AtomicI64,
    read_all_at: AtomicI64,
    /// Whether keys were made that this node hasn't read.
    has_new_keys: AtomicBool,
    /// Held while they are read.
    reading_keys: tokio::sync::Mutex<()>,
}

impl Revocations {
    pub(crate) async fn load(catalog: &Database, world: &World) -> Result<Self> {
        let list = Self {
            subjects: RwLock::default(),
            generation: AtomicU64::new(1),
            withdrawals: AtomicU64::new(0),
            read_at: AtomicI64::new(Millis::MIN),
            read_all_at: AtomicI64::new(Millis::MIN),
            has_new_keys: AtomicBool::new(false),
            reading_keys: tokio::sync::Mutex::default(),
        };
        list.refresh(catalog, world.now()).await?;
        // They are read after this.
        list.has_new_keys.store(false, Ordering::Release);
        Ok(list)
    }

    /// A number that changes whenever something more is refused.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A number that changes with each withdrawal, of whatever kind: taken before what may be withdrawn is read.
    pub(crate) fn withdrawals(&self) -> u64 {
        self.withdrawals.load(Ordering::Acquire)
    }

    fn withdraw(&self) {
        self.withdrawals.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn is_fresh(&self, now: Millis) -> bool {
        let age = now.saturating_sub(self.read_at.load(Ordering::Acquire));
        age <= MAX_AGE
    }

    pub(crate) fn refuses(&self, subjects: &[&str]) -> bool {
        let known = self.subjects.read();
        !known.is_empty() && subjects.iter().any(|it| known.contains_key(*it))
    }

    fn add(&self, subjects: impl IntoIterator<Item = (String, Millis)>) {
        let mut known = self.subjects.write();
        let before = known.len();
        for (subject, expires) in subjects {
            let tells_of_keys = subject.starts_with(NEW_KEYS);
            if known.insert(subject.into_boxed_str(), expires).is_none() && tells_of_keys {
                self.has_new_keys.store(true, Ordering::Release);
            }
        }
        if known.len() != before {
            self.generation.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Reads what other nodes revoked.
    async fn refresh(&self, catalog: &Database, now: Millis) -> Result<()> {
        let read_all_at = self.read_all_at.load(Ordering::Acquire);
        let is_full = now.saturating_sub(read_all_at) > OVERLAP || now < read_all_at;
        let since = if is_full { Millis::MIN } else { now - OVERLAP };
        let sql = "select subject, expires from stoa.revocation where created >= $1 and expires > $2";
        let rows: Vec<(String, Millis)> = catalog
            .read(ReaderPool::Point, move |tx| {
                boxed!(Ok(tx.rows(sql, &params![since, now], |row| Ok((row.get(0)?, row.get(1)?))).await?))
            })
            .await?;
        self.add(rows);
        self.read_at.store(now, Ordering::Release);
        if is_full {
            self.read_all_at.store(now, Ordering::Release);
            self.subjects.write().retain(|_, expires| *expires > now);
        }
        Ok(())
    }
}

/// Refuses the signed tokens of these sessions: on this node at once, on others when that is announced
/// ([`announce_all`]) or read again. Done before the sessions are ended, so that a crash in between refuses too
/// much, not too little.
pub(crate) async fn revoke(core: &Core, subjects: &[SessionId]) -> Result<()> {
    revoke_until(core, subjects, end(core)).await
}

/// The same, for tokens that live until then.
pub(crate) async fn revoke_until(core: &Core, subjects: &[SessionId], expires: Millis) -> Result<()> {
    if subjects.is_empty() {
        return Ok(());
    }
    let now = core.now();
    for chunk in subjects.chunks(CHUNK) {
        let subjects: Vec<String> = chunk.iter().map(|it| it.as_str().to_owned()).collect();
        core.revocations.add(subjects.iter().map(|it| (it.clone(), expires)));
        core.store
            .catalog()
            .append_with(subjects, move |tx, subjects| {
                boxed!({
                    for subject in subjects {
                        insert(tx, subject, now, expires).await?;
                    }
                    Ok(())
                })
            })
            .await?;
    }
    Ok(())
}

/// When a revocation made now is no longer needed: every token of now has expired by then, those of nodes
/// with other settings as well.
pub(crate) fn end(core: &Core) -> Millis {
    core.now() + LONGEST_ACCESS.max(core.config().access_life + 2 * core.config().access_grace)
}

/// Refuses a subject whose row was written by [`insert`]: on this node, and then on all others.
///
/// # Errors
/// What the engine says when the others can't be waited for. The row is durable by then.
pub(crate) async fn announce(core: &Core, subject: &str) -> Result<()> {
    core.revocations.add([(subject.to_owned(), end(core))]);
    announce_all(core).await
}

/// The same for sessions, whose rows were written by [`insert`] as well. Also for none: what ended them may have taken
/// a role away, or another node has ended them and still waits for the others.
///
/// # Errors
/// As for [`announce`].
pub(crate) async fn announce_sessions(core: &Core, sessions: &[SessionId]) -> Result<()> {
    let end = end(core);
    core.revocations.add(sessions.iter().map(|it| (it.as_str().to_owned(), end)));
    announce_all(core).await
}

/// Answers once every node refuses what was revoked before, and reads the roles of operators again.
pub(crate) async fn announce_all(core: &Core) -> Result<()> {
    core.revocations.withdraw();
    core.store.withdrawals().announce(Area::Identity).await
}

/// What this crate keeps in memory of whom it lets in, and of what it seals with.
impl Memory for Core {
    fn forget(&self) -> TxFuture<'_, ()> {
        self.revocations.withdraw();
        boxed!(refresh(self).await)
    }
}

/// Reads the keys of tokens again, after who reads them now: no older list takes the place of a newer one.
pub(crate) async fn read_signing_keys(core: &Core) -> Result<()> {
    let _turn = core.revocations.reading_keys.lock().await;
    core.keys.reload(core.store.catalog()).await
}

/// Reads what other nodes revoked, and the keys if one of them made new ones.
async fn refresh(core: &Core) -> Result<()> {
    let list = &core.revocations;
    list.refresh(core.store.catalog(), core.world.now()).await?;
    let _turn = list.reading_keys.lock().await;
    if !list.has_new_keys.swap(false, Ordering::AcqRel) {
        return Ok(());
    }
    let read = match core.keys.reload(core.store.catalog()).await {
        Ok(()) => core.ciphers.reload(core.store.catalog()).await,
        other => other,
    };
    if read.is_err() {
        list.has_new_keys.store(true, Ordering::Release);
    }
    read
}

/// Tells other nodes, in a transaction of the catalogue, that it makes new keys; [`announce_all`] follows. The row is dated
/// ahead: a node whose clock is further on than this one's by more than [`OVERLAP`] would not look back as far as now, and
/// keys sign as soon as all nodes have answered.
pub(crate) async fn tell_of_keys(core: &Core, tx: &mut Tx<'_>, rotation: &str) -> Result<()> {
    insert(tx, &format!("{NEW_KEYS}{rotation}"), core.now() + DAY, end(core)).await
}

/// Whether one of these is refused, by the list or, when that is too old, by the catalogue.
pub(crate) async fn is_revoked(core: &Core, subjects: [&str; 3]) -> Result<bool> {
    let list = &core.revocations;
    Ok(list.refuses(&subjects) || !list.is_fresh(core.now()) && is_revoked_in_catalog(core, subjects).await?)
}

/// The check in the catalogue, for when the list is too old to be trusted.
pub(crate) async fn is_revoked_in_catalog(core: &Core, subjects: [&str; 3]) -> Result<bool> {
    let [a, b, c] = subjects.map(str::to_owned);
    let sql = "select 1 from stoa.revocation where subject = $1 or subject = $2 or subject = $3";
    let found = core
        .store
        .catalog()
        .read(ReaderPool::Point, move |tx| boxed!(Ok(tx.row(sql, &params![a, b, c], |_| Ok(())).await?)))
        .await?;
    Ok(found.is_some())
}

/// Writes a revocation in a transaction of the catalogue.
pub(crate) async fn insert(tx: &mut Tx<'_>, subject: &str, now: Millis, expires: Millis) -> Result<()> {
    let sql = "insert into stoa.revocation (subject, created, expires) values ($1, $2, $3) \
               on conflict (subject) do update set created = excluded.created, expires = excluded.expires";
    tx.send(sql, params![subject, now, expires]).await?;
    Ok(())
}

/// Reads again every second for as long as the identity lives.
pub(crate) fn keep_fresh(core: &Arc<Core>) {
    let core = Arc::downgrade(core);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(PERIOD).await;
            let Some(core) = core.upgrade() else { break };
            if let Err(fault) = refresh(&core).await {
                tracing::warn!("revocations can't be read: {fault:?}");
            }
        }
    });
}
