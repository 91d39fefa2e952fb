//! How many codes by e-mail one member is sent, and how many wrong ones are taken, whatever they are for. Both are counted in the
//! rows of the codes, so they hold on all nodes and after a restart.

use stoa_kernel::{Code, Fault, MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// Wrong codes and messages for one member within [`WINDOW`].
pub(crate) const MEMBER_ATTEMPTS: i64 = 20;
const MEMBER_MESSAGES: i64 = 10;
pub(crate) const WINDOW: Millis = 60 * 60_000;

/// # Errors
/// [`Code::Throttled`] when the member got too many messages.
pub(crate) async fn allow_message(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<()> {
    let recent = recent(tx, site, member, "messages", now).await?;
    if recent.sum >= MEMBER_MESSAGES { Err(recent.throttled(now)) } else { Ok(()) }
}

/// A count over the member's verifications of the last hour.
pub(crate) struct Recent {
    pub(crate) sum: i64,
    /// When the first of them was made that counts.
    since: Millis,
}

impl Recent {
    /// Comes again when the first of them has gone out of the hour.
    pub(crate) fn throttled(&self, now: Millis) -> Fault {
        let wait = (self.since + WINDOW - now).clamp(1_000, WINDOW);
        Fault::new(Code::Throttled).with("retryAfterSeconds", (wait + 999) / 1_000)
    }
}

pub(crate) async fn recent(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    count: &'static str,
    now: Millis,
) -> Result<Recent> {
    // The sum of bigint is a decimal on one of the engines, so it is made here.
    let sql =
        format!("select {count}, created from stoa.verification where site = $1 and member = $2 and created > $3");
    let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Millis>(1)?));
    let counts = tx.rows(&sql, &params![site, member, now - WINDOW], read).await?;
    let since = counts.iter().filter(|it| it.0 > 0).map(|it| it.1).min().unwrap_or(now);
    Ok(Recent { sum: counts.iter().map(|it| it.0).sum(), since })
}
