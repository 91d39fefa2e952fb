//! The password as second factor (decision 61): of a member whom an identity provider has shown, and of nobody who has signed in by the
//! password itself. It is no factor of those that a site requires, and it has no recovery codes: a recovery link sets another password.

use crate::{
    Core,
    factor::{FactorType, FirstFactor, guard, held::MemberFactor, password_state, row},
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
    let Some(password) = password_state::of_member(tx, site, &member.id).await? else { return Ok(false) };
    if guard::generation(tx, site, &member.id).await?.is_none() {
        return Ok(password.chosen.is_some());
    }
    let stands_in = !first.takes(FactorType::Email) && member.email_verified;
    let stands_in = stands_in && row::confirmed(tx, site, &member.id, FactorType::Email).await?.is_some();
    Ok(password.is_sure(core.now()) && (password.chosen.is_some() || stands_in))
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
    Ok(password_state::of_member(tx, site, member).await?.and_then(|it| it.chosen))
}
