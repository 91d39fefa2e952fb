//! What a member can show as second factor at this moment.

use crate::{
    Core, Identity,
    factor::{FactorType, guard, passkey, row},
    member::Member,
};
use stoa_kernel::{MemberId, Result, SiteId};
use stoa_store::Tx;

impl Identity {
    /// The kinds of factors that this server has: codes by telephone where its operator has set up a provider.
    pub fn factor_kinds(&self) -> Vec<FactorType> {
        FactorType::ALL.into_iter().filter(|it| has(&self.core, *it)).collect()
    }
}

/// Whether the server has a kind of factor.
pub(super) fn has(core: &Core, factor: FactorType) -> bool {
    factor.channel().is_none_or(|channel| core.telephone.as_ref().is_some_and(|it| it.has(channel)))
}

/// In the order in which it is offered; recovery codes are always named, also when all were used.
///
/// A code by e-mail is none while nobody has shown that the address is the member's, and none beside a password that a link
/// to the address has set: both would prove the same mailbox (decision 46). One by telephone is none while the server sends no such
/// codes (decision 49).
pub(crate) async fn offered(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<Vec<FactorType>> {
    let factors = row::of_member(tx, site, &member.id).await?;
    let is_one = |factor| factors.iter().any(|it| it.confirmed.is_some() && it.factor() == factor);
    let takes_mail =
        is_one(FactorType::Email) && member.email_verified && !guard::is_password_by_link(tx, site, &member.id).await?;
    let has_passkey = passkey::count(tx, site, &member.id).await? > 0;
    let is_shown = |factor: &FactorType| match *factor {
        FactorType::RecoveryCode => true,
        FactorType::Webauthn => has_passkey,
        FactorType::Email => takes_mail,
        factor => is_one(factor) && has(core, factor),
    };
    Ok(FactorType::ALL.into_iter().filter(is_shown).collect())
}

/// Whether a member has an authenticator that counts, or a passkey: what a site requires is one of those.
pub(crate) async fn has_authenticator(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<bool> {
    let factors = row::of_member(tx, site, member).await?;
    let is_one = factors.iter().any(|it| it.confirmed.is_some() && it.factor() == FactorType::Totp);
    Ok(is_one || passkey::count(tx, site, member).await? > 0)
}
