//! The password as second factor (decision 61): of a member whom an identity provider has shown, and of nobody who has signed in by the
//! password itself. It is no factor of those that a site requires, and it has no recovery codes: a recovery link sets another password.

use crate::{
    factor::{FactorType, held::MemberFactor, row},
    member::{self, Member},
};
use stoa_kernel::{MemberId, Millis, Result, SiteId};
use stoa_sql::params;
use stoa_store::Tx;

const NAME: &str = "Password";

/// Whether a member who was shown by an identity provider is asked for the password.
pub(crate) async fn is_asked(tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<bool> {
    Ok(member.has_password() && since(tx, site, &member.id).await?.is_some())
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
pub(super) async fn can_add(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<bool> {
    Ok(member::get(tx, site, member).await?.is_some_and(|it| can_be(&it)))
}

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
