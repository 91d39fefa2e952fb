//! What a member can show as second factor at this moment.

use crate::{
    Core, Identity,
    browser::RelyingParty,
    factor::{Beside, FactorType, guard, passkey, password, password_state, push, row},
    mail,
    member::Member,
};
use stoa_kernel::{MemberId, Result, SiteId};
use stoa_store::Tx;
use url::{Host, Url};

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
/// to the address has set, in a session while it is doubted, or beside a provider whose account the mailbox may open: both
/// would prove the same mailbox (decision 46). One by telephone is none while the server sends no such codes (decision 49).
/// Browsers are none while their push services know none of them, and while they are asked nothing because questions were
/// denied (decision 59).
pub(crate) async fn offered(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    beside: Beside,
) -> Result<Vec<FactorType>> {
    let factors = row::of_member(tx, site, &member.id).await?;
    let is_one = |factor| factors.iter().any(|it| it.confirmed.is_some() && it.factor() == factor);
    let takes_mail = is_one(FactorType::Email)
        && member.email_verified
        && beside.takes_mail(password_state::is_doubted(tx, site, &member.id).await?);
    let has_passkey = passkey::count(tx, site, &member.id).await? > 0;
    let is_asked = factors.iter().any(row::Factor::is_standing_browser)
        && !push::question::is_paused(tx, site, &member.id, core.now()).await?;
    let is_shown = |factor: &FactorType| match *factor {
        FactorType::RecoveryCode => true,
        FactorType::Webauthn => has_passkey,
        FactorType::Email => takes_mail,
        FactorType::Push => is_asked,
        // Beside a password it shows nothing: who is asked for it, `password::is_asked` says.
        FactorType::Password => false,
        factor => is_one(factor) && has(core, factor),
    };
    Ok(FactorType::ALL.into_iter().filter(is_shown).collect())
}

/// Whether a member is asked for a second factor in one way of signing in or another.
pub(crate) async fn is_asked_for_any(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<bool> {
    Ok(guard::generation(tx, site, member).await?.is_some() || password::since(tx, site, member).await?.is_some())
}

/// Whether a member has an authenticator that counts, or a passkey that can be shown: what a site requires is one of those.
pub(crate) async fn has_authenticator(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &MemberId) -> Result<bool> {
    let factors = row::of_member(tx, site, member).await?;
    if factors.iter().any(|it| it.confirmed.is_some() && it.factor() == FactorType::Totp) {
        return Ok(true);
    }
    Ok(passkey::of_member(tx, site, member).await?.iter().any(|it| is_of_pages(core, &it.relying_party)))
}

/// Whether a passkey of this host can be shown on the account pages. One of another can be shown nowhere.
pub(crate) fn is_of_pages(core: &Core, host: &str) -> bool {
    let url = mail::url(core);
    RelyingParty::of(&url).map_or_else(|| is_this_machine(&url), |pages| pages.is_host(host))
}

/// Whether the pages are at a number of loopback: then they have no one host, but each name by which this machine is asked.
fn is_this_machine(url: &str) -> bool {
    match Url::parse(url).ok().as_ref().and_then(Url::host) {
        Some(Host::Ipv4(it)) => it.is_loopback(),
        Some(Host::Ipv6(it)) => it.is_loopback(),
        Some(Host::Domain(_)) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_this_machine;

    #[test]
    fn pages_of_this_machine_are_at_a_number_of_loopback() {
        for here in ["http://127.0.0.1:4400", "http://[::1]:4400", "https://127.1.2.3"] {
            assert!(is_this_machine(here), "{here}");
        }
        for elsewhere in
            ["https://192.0.2.1", "http://[2001:db8::1]", "http://www.example.org", "http://localhost:4400", ""]
        {
            assert!(!is_this_machine(elsewhere), "{elsewhere}");
        }
    }
}
