//! Which worker may change an environment by a copy: the last one that took a copy up.
//!
//! A process can be paused anywhere, for minutes, and go on after another has taken up its copy and ended it. What the
//! catalogue told it was true when it asked. So the name of the worker is in the environment as well, and each transaction
//! that changes what requests see, or what can be undone, looks for its own name there.

use std::sync::Arc;
use stoa_kernel::{Code, Fault, Millis, Result};
use stoa_sql::params;
use stoa_store::{CopyRecord, Site, Store, Tx, boxed};

const TAKEN_UP: &str = "TAKEN_UP";

/// The environment that a copy goes to, and the worker's name in it.
#[derive(Clone)]
pub(super) struct Fence {
    pub target: Arc<Site>,
    runner: String,
}

impl Fence {
    /// Shuts out every worker before this one.
    ///
    /// # Errors
    /// UNAVAILABLE when another has taken up the copy.
    pub(super) async fn raise(store: &Store, target: &Arc<Site>, copy: &CopyRecord, now: Millis) -> Result<Self> {
        let fence = Self { target: target.clone(), runner: copy.runner.clone() };
        let written = target.write_alone_with(fence.clone(), |tx, fence| {
            boxed!({
                let sql = "insert into stoa.environment_worker (site, runner) values ($1, $2) \
                           on conflict (site) do update set runner = excluded.runner";
                tx.execute(sql, &params![&fence.target.id, &fence.runner]).await?;
                Ok(())
            })
        });
        written.await?;
        // Asked once it is written: one that takes up the copy after this puts its name in the place of this one.
        if store.copy_touch(copy, 0, now).await? { Ok(fence) } else { Err(lost()) }
    }

    /// To be asked in each transaction of the worker, before it changes something.
    ///
    /// # Errors
    /// UNAVAILABLE when there is another worker since.
    pub(super) async fn check(&self, tx: &mut Tx<'_>) -> Result<()> {
        let sql = "select 1 from stoa.environment_worker where site = $1 and runner = $2";
        match tx.row(sql, &params![&self.target.id, &self.runner], |_| Ok(())).await? {
            Some(()) => Ok(()),
            None => Err(lost()),
        }
    }
}

/// Another worker has taken up the copy.
pub(super) fn lost() -> Fault {
    Fault::because(Code::Unavailable, "The copy was taken up by another worker.").with("reason", TAKEN_UP)
}

/// Whether a worker ended because there is another. How the copy ends is not for it to say.
pub(super) fn is_lost(fault: &Fault) -> bool {
    fault.data().get("reason").is_some_and(|it| it == TAKEN_UP)
}
