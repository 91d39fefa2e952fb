//! What a member can show as second factor at this moment.

use crate::{
    factor::{FactorType, guard, row},
    member::Member,
};
use stoa_kernel::{MemberId, Result, SiteId};
use stoa_store::Tx;

/// In the order in which it is offered; recovery codes are always named, also when all were used.
///
/// A code by e-mail is none while nobody has shown that the address is the member's, and none beside a password that a link
/// to the address has set: both would prove the same mailbox (decision 46).
pub(crate) async fn offered(tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<Vec<FactorType>> {
    let factors = row::of_member(tx, site, &member.id).await?;
    let has = |factor| factors.iter().any(|it| it.confirmed.is_some() && it.factor() == factor);
    let takes_mail =
        has(FactorType::Email) && member.email_verified && !guard::is_password_by_link(tx, site, &member.id).await?;
    let all = [
        has(FactorType::Totp).then_some(FactorType::Totp),
        takes_mail.then_some(FactorType::Email),
        Some(FactorType::RecoveryCode),
    ];
    Ok(all.into_iter().flatten().collect())
}

/// Whether a member has an authenticator that counts: what a site requires is one of those.
pub(crate) async fn has_authenticator(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<bool> {
    let factors = row::of_member(tx, site, member).await?;
    Ok(factors.iter().any(|it| it.confirmed.is_some() && it.factor() == FactorType::Totp))
}
