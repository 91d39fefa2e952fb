//! Browsers in which a member is not asked for a second factor again for a while.
//!
//! A browser is known by its random cookie (`defence::device`), of which the hash with the member is kept: the cookie is worth
//! nothing for another member, and the table nothing without cookies. All of a member's end with their password, with a
//! change of their factors and when their sessions are ended.

use crate::Core;
use stoa_kernel::{MemberId, Millis, Result, SiteId, TokenHash};
use stoa_sql::params;
use stoa_store::Tx;

/// For how long.
pub(crate) const DAYS: u32 = 30;
const LIFE: Millis = DAYS as Millis * 24 * 60 * 60_000;
/// Browsers of a member; the oldest go first.
const MOST: i64 = 20;

/// Remembers the browser with this cookie.
pub(crate) async fn remember(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    cookie: &str,
) -> Result<()> {
    let now = core.now();
    let sql = "insert into stoa.remembered_browser (site, hash, member, created, expires) values ($1, $2, $3, $4, $5) \
               on conflict (site, hash) do update set created = excluded.created, expires = excluded.expires";
    tx.send(sql, params![site, hash(member, cookie), member, now, now + LIFE]).await?;
    let sql = "delete from stoa.remembered_browser where site = $1 and member = $2 and hash not in \
               (select hash from stoa.remembered_browser where site = $1 and member = $2 \
               order by created desc, hash limit $3)";
    tx.send(sql, params![site, member, MOST]).await?;
    Ok(())
}

pub(crate) async fn is_remembered(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    cookie: &str,
) -> Result<bool> {
    let sql = "select 1 from stoa.remembered_browser where site = $1 and hash = $2 and expires > $3";
    Ok(tx.row(sql, &params![site, hash(member, cookie), core.now()], |_| Ok(())).await?.is_some())
}

/// Forgets all of a member, and those that a sign-in on its way would add. Answers how many there were.
pub(super) async fn forget(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<u64> {
    let mut count = 0;
    for sql in [
        "delete from stoa.remembered_browser where site = $1 and member = $2",
        "update stoa.session_token set remembers = 0 where site = $1 and member = $2 and remembers <> 0",
        "update stoa.redirect_session set remembers = 0 where site = $1 and member = $2 and remembers <> 0",
    ] {
        count += tx.execute(sql, &params![site, member]).await?;
    }
    Ok(count)
}

/// How many there are.
pub(super) async fn count(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<i64> {
    let sql = "select count(*) from stoa.remembered_browser where site = $1 and member = $2 and expires > $3";
    Ok(tx.row(sql, &params![site, member, now], |row| row.get(0)).await?.unwrap_or_default())
}

fn hash(member: &MemberId, cookie: &str) -> TokenHash {
    TokenHash::of(&format!("remembered {member} {cookie}"))
}
