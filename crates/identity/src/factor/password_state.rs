//! What is known of a member's password beside its hash: how it was set decides what it proves. It is kept in the row of the guard: of
//! members without one nothing is known.

use crate::{
    Core,
    factor::{guard, proved},
};
use stoa_kernel::{MemberId, Millis, Result, SessionId, SiteId};
use stoa_sql::params;
use stoa_store::{Row, Tx};

/// How long a password proves nothing that a session has set.
const UNPROVEN: Millis = 24 * 60 * 60_000;

/// How a password was set or shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PasswordSet<'a> {
    /// In this session, perhaps without showing the one before.
    BySession(&'a SessionId),
    /// By a link to the member's address.
    ByLink,
    /// In a way that is not known: the member's first factor was set up in a sign-in that did not show it.
    Unseen,
    /// It was shown, and after it a second factor, or that the address is the member's.
    Confirmed,
}

/// The columns of a password in the guard's row.
pub(super) struct PasswordState {
    /// Since when it is asked for after an identity provider.
    pub(super) chosen: Option<Millis>,
    set_in_session: Option<Millis>,
    doubted: Option<Millis>,
}

impl PasswordState {
    /// Whether it is something that the member alone knows, as far as is known: neither a link has set it, and nothing was shown beside
    /// it since, nor a session lately.
    pub(super) fn is_sure(&self, now: Millis) -> bool {
        !self.is_doubted() && !self.was_set_lately(now)
    }

    fn is_doubted(&self) -> bool {
        self.doubted.is_some()
    }

    fn was_set_lately(&self, now: Millis) -> bool {
        self.set_in_session.is_some_and(|it| it > now - UNPROVEN)
    }
}

/// Nothing for a member without a guard.
pub(super) async fn of_member(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<Option<PasswordState>> {
    let sql =
        "select password_factor, password_set, password_doubted from stoa.factor_guard where site = $1 and member = $2";
    let read =
        |row: &Row<'_>| Ok(PasswordState { chosen: row.get(0)?, set_in_session: row.get(1)?, doubted: row.get(2)? });
    Ok(tx.row(sql, &params![site, member], read).await?)
}

/// Whether a link has set the password, or it is not known how it was set, and nothing was shown beside it since then but what the link
/// shows as well.
pub(super) async fn is_doubted(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<bool> {
    Ok(of_member(tx, site, member).await?.is_some_and(|it| it.is_doubted()))
}

/// Whether a session has set the password lately, which proves nothing then.
pub(crate) async fn was_set_lately(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<bool> {
    Ok(of_member(tx, site, member).await?.is_some_and(|it| it.was_set_lately(now)))
}

/// Notes inside the transaction of a password's change, or of showing it, what it is worth. One that is set in a session in which the
/// member has lately shown who they are gives no cause for doubt.
pub(crate) async fn password_was_set(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    how: PasswordSet<'_>,
) -> Result<()> {
    let now = core.now();
    match how {
        PasswordSet::BySession(session) => {
            let set = match proved::until(tx, site, session, now).await? {
                Some(_) => None,
                None => {
                    guard::lock(tx, site, member).await?;
                    Some(now)
                }
            };
            write(tx, site, member, (set, None)).await
        }
        PasswordSet::ByLink => write(tx, site, member, (None, Some(now))).await,
        PasswordSet::Unseen => {
            let sql = "update stoa.factor_guard set password_doubted = $1 \
                       where site = $2 and member = $3 and password_set is null and password_doubted is null";
            tx.send(sql, params![now, site, member]).await?;
            Ok(())
        }
        PasswordSet::Confirmed => {
            let sql = "update stoa.factor_guard set password_set = null \
                       where site = $1 and member = $2 and password_set is not null";
            tx.send(sql, params![site, member]).await?;
            Ok(())
        }
    }
}

/// Ends the doubt about a password: it was shown beside more than the mailbox, or there is no factor yet that it would have to be more
/// than the mailbox beside.
pub(crate) async fn trust_password(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<()> {
    let sql = "update stoa.factor_guard set password_doubted = null \
               where site = $1 and member = $2 and password_doubted is not null";
    tx.send(sql, params![site, member]).await?;
    Ok(())
}

async fn write(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (set_in_session, doubted): (Option<Millis>, Option<Millis>),
) -> Result<()> {
    let sql = "update stoa.factor_guard set password_set = $1, password_doubted = $2 where site = $3 and member = $4";
    tx.send(sql, params![set_in_session, doubted, site, member]).await?;
    Ok(())
}
