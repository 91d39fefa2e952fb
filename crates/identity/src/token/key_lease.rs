//! Which node replaces keys that are too old: one at a time (decision 56).
//!
//! Two at once do no harm, for example where clocks differ by more than a lease: a lease saves work, and that is all it does.

use crate::Core;
use std::sync::Arc;
use stoa_kernel::{Millis, Result, limit::DAY};
use stoa_sql::params;
use stoa_store::boxed;

/// How long a node that says nothing is believed to be at work.
const LIFE: Millis = 10 * 60_000;
/// Between the first look of any node and the first rotation by age. Nodes of an earlier version don't read keys while they
/// run: until then they have been replaced.
const FIRST_WAIT: Millis = 7 * DAY;
/// Without a look for so long, nodes of an earlier version may have run again: the first wait starts over.
const PAUSE: Millis = DAY;

/// What is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyTask {
    /// Keys that sign tokens.
    Tokens,
    /// Keys that seal what must be read again.
    Seal,
}

impl KeyTask {
    fn name(self) -> &'static str {
        match self {
            Self::Tokens => "TOKENS",
            Self::Seal => "SEAL",
        }
    }
}

/// The turn of this node. Let go of by [`KeyLease::end`], else it ends by itself.
pub struct KeyLease {
    core: Arc<Core>,
    task: KeyTask,
    holder: String,
}

impl KeyLease {
    /// How often to say that the work goes on, in milliseconds.
    pub const RENEWAL: Millis = LIFE / 5;

    /// Says that the work goes on, and answers whether it is still this node's.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn renew(&self) -> Result<bool> {
        let until = self.core.now() + LIFE;
        self.put("update stoa.key_upkeep set held_until = $1 where task = $2 and holder = $3", Some(until)).await
    }

    /// Lets go of it.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn end(self) -> Result<()> {
        let sql = "update stoa.key_upkeep set held_until = $1, holder = null where task = $2 and holder = $3";
        self.put(sql, None).await.map(|_| ())
    }

    async fn put(&self, sql: &'static str, until: Option<Millis>) -> Result<bool> {
        let task = self.task.name();
        let written = self.core.store().catalog().write_with(self.holder.clone(), move |tx, holder| {
            boxed!(Ok(tx.execute(sql, &params![until, task, holder]).await? == 1))
        });
        written.await
    }
}

/// Says that this node looks for keys that are too old, whether or not there are any.
pub(crate) async fn look(core: &Core, task: KeyTask) -> Result<()> {
    let now = core.now();
    let written = core.store().catalog().append_with((), move |tx, ()| {
        boxed!({
            // One that began in the future is of a node whose clock was wrong.
            let sql = "insert into stoa.key_upkeep (task, since, seen) values ($1, $2, $2) on conflict (task) do update \
                       set since = case when key_upkeep.seen < $3 or key_upkeep.since > $2 then $2 else key_upkeep.since end, \
                       seen = $2";
            tx.send(sql, params![task.name(), now, now - PAUSE]).await?;
            Ok(())
        })
    });
    written.await
}

/// Takes the lease, unless another node has it or the first wait isn't over. [`look`] comes before.
pub(crate) async fn claim(core: &Arc<Core>, task: KeyTask) -> Result<Option<KeyLease>> {
    let holder = format!("{}/{}", core.store().node(), core.world().uuid());
    let now = core.now();
    let written = core.store().catalog().write_with(holder.clone(), move |tx, holder| {
        boxed!({
            // A lease that ends later than any does is of a node whose clock was wrong.
            let sql = "update stoa.key_upkeep set holder = $1, held_until = $2 where task = $3 and since <= $4 \
                       and (held_until is null or held_until <= $5 or held_until > $6)";
            let row = params![holder, now + LIFE, task.name(), now - FIRST_WAIT, now, now + 2 * LIFE];
            Ok(tx.execute(sql, &row).await? == 1)
        })
    });
    Ok(written.await?.then(|| KeyLease { core: core.clone(), task, holder }))
}
