//! What sessions have proven: until when a member counts as shown anew in one.

use stoa_kernel::{MemberId, Millis, Result, SessionId, SiteId};
use stoa_sql::params;
use stoa_store::Tx;

/// How long a proof holds.
pub(crate) const LIFE: Millis = 10 * 60_000;

/// Until when the proof of a session holds; nothing when it does not, or there was none.
pub(super) async fn until(tx: &mut Tx<'_>, site: &SiteId, session: &SessionId, now: Millis) -> Result<Option<Millis>> {
    let sql = "select proved from stoa.session where site = $1 and id = $2 and proved > $3";
    let proved: Option<Millis> = tx.row(sql, &params![site, session, now - LIFE], |row| row.get(0)).await?;
    Ok(proved.map(|it| it + LIFE))
}

pub(super) async fn record(tx: &mut Tx<'_>, site: &SiteId, session: &SessionId, now: Millis) -> Result<()> {
    let sql = "update stoa.session set proved = $1 where site = $2 and id = $3";
    tx.send(sql, params![now, site, session]).await?;
    Ok(())
}

/// Takes it back in every session of a member but the one that acts.
pub(super) async fn withdraw(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    acting: Option<&SessionId>,
) -> Result<()> {
    let sql =
        "update stoa.session set proved = null where site = $1 and member = $2 and id <> $3 and proved is not null";
    tx.send(sql, params![site, member, acting.map_or("", SessionId::as_str)]).await?;
    Ok(())
}
