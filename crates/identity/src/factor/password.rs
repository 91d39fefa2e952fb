//! The password as second factor (decision 61): of a member whom an identity provider has shown, and of nobody who has signed in by the
//! password itself. It is no factor of those that a site requires, and it has no recovery codes: a recovery link sets another password.

use crate::{
    Core,
    factor::{FactorType, FirstFactor, guard, held::MemberFactor, row},
    member::Member,
};
use stoa_kernel::{MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::Tx;

const NAME: &str = "Password";

/// Whether a member is asked for the password beside this first factor: after a provider, where they have chosen it, and in the place of a
/// code by e-mail that would show the mailbox twice. Beside other factors one that a link has set counts no more than the mailbox, and
/// one that a session has set lately no more than that session.
pub(crate) async fn is_asked(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    first: FirstFactor,
) -> Result<bool> {
    if !first.takes(FactorType::Password) || !member.has_password() {
        return Ok(false);
    }
    let is_chosen = since(tx, site, &member.id).await?.is_some();
    if guard::generation(tx, site, &member.id).await?.is_none() {
        return Ok(is_chosen);
    }
    let stands_in = !first.takes(FactorType::Email)
        && member.email_verified
        && row::confirmed(tx, site, &member.id, FactorType::Email).await?.is_some();
    Ok((is_chosen || stands_in)
        && !guard::is_password_by_link(tx, site, &member.id).await?
        && !guard::was_set_lately(tx, site, &member.id, core.now()).await?)
}

/// Whether a member is asked for a second factor in one way of signing in or another.
pub(crate) async fn has_any(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<bool> {
    Ok(guard::generation(tx, site, member).await?.is_some() || since(tx, site, member).await?.is_some())
}

/// The factor of a member, as they see it.
pub(super) async fn of_member(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<Option<MemberFactor>> {
    let created = since(tx, site, member).await?;
    Ok(created.map(|created| MemberFactor {
        id: row::password_id(member),
        factor: FactorType::Password,
        name: NAME.to_owned(),
        created,
        used: None,
        is_backed_up: None,
        needs_enrolment: false,
    }))
}

/// Whether a member could add it.
pub(super) fn can_be(member: &Member) -> bool {
    member.has_password() && !member.connections.is_empty()
}

/// Removes it: whether the member had it.
pub(super) async fn remove(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, id: &str) -> Result<bool> {
    if id != row::password_id(member) || since(tx, site, member).await?.is_none() {
        return Ok(false);
    }
    set(tx, site, member, None).await.map(|()| true)
}

/// Removes it inside a transaction from a member who may have it: nothing is left that it would stand beside.
pub(crate) async fn drop(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<()> {
    set(tx, site, member, None).await
}

pub(super) async fn set(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, since: Option<Millis>) -> Result<()> {
    let sql = "update stoa.factor_guard set password_factor = $1 where site = $2 and member = $3";
    tx.send(sql, params![since, site, member]).await?;
    Ok(())
}

pub(super) async fn since(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<Option<Millis>> {
    let sql = "select password_factor from stoa.factor_guard where site = $1 and member = $2";
    let found: Option<Option<Millis>> = tx.row(sql, &params![site, member], |row| row.get(0)).await?;
    Ok(found.flatten())
}
