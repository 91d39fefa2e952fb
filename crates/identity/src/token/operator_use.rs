//! When sessions of people who run sites were last used: by their cookie, and by the access tokens made of it. One that is
//! shown after it was left alone for too long ends.

use crate::Core;
use stoa_kernel::{Millis, Result, SessionId};
use stoa_sql::params;
use stoa_store::{Store, boxed};

/// The last use is recorded at most this often.
const USE_STEP: Millis = 60_000;

/// Whether a session is still open, which is shown and was last used at `used`. Its use is recorded where that was done
/// a while ago. One that was left alone for too long ends, so that no later value of the setting and no other node opens
/// it again. What is asked for doesn't fail when nothing can be written.
pub(crate) async fn show(core: &Core, session: &SessionId, used: Millis) -> bool {
    let now = core.now();
    let idle_since = now - core.config().operator_idle;
    let is_open = used > idle_since;
    if is_open && now - used < USE_STEP {
        return true;
    }
    // Of many at once the first one writes, and one that was used meanwhile doesn't end.
    let (sql, before) = match is_open {
        true => (
            "update stoa.person_session set used = $1 \
             where id = $2 and ended is null and coalesce(used, created) <= $3",
            now - USE_STEP,
        ),
        false => (
            "update stoa.person_session set ended = $1 \
             where id = $2 and ended is null and coalesce(used, created) <= $3",
            idle_since,
        ),
    };
    let written = core.store().catalog().append_with(session.clone(), move |tx, id| {
        boxed!({
            tx.send(sql, params![now, id, before]).await?;
            Ok(())
        })
    });
    if let Err(fault) = written.await {
        tracing::warn!("the use of a session of somebody who runs sites was not written down: {fault:?}");
    }
    is_open
}

/// Counts sessions of which no use is on record from now on. Those of earlier versions have none, and who works in one
/// while the server is upgraded stays signed in.
pub(crate) async fn count_from_now(store: &Store, now: Millis) -> Result<()> {
    let written = store.catalog().append(move |tx| {
        boxed!({
            let sql = "update stoa.person_session set used = $1 where used is null and ended is null";
            tx.send(sql, params![now]).await?;
            Ok(())
        })
    });
    written.await
}
