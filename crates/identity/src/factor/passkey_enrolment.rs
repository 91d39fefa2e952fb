//! How members come by passkeys: in a session in which they have lately shown who they are, or on the way of a sign-in at a site that
//! requires a second factor.

use crate::{
    Core, Identity,
    defence::throttle::AttemptKind,
    factor::{
        FactorType,
        draft::SealedCodes,
        enrol::{self, Change},
        guard,
        held::{self, Enrolled},
        passkey::{self, Account, Creation, NewPasskey, PresentedNew, RelyingParty, Use},
        proof,
    },
    mail,
    member::Member,
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Result, SiteId};
use stoa_store::{Site, Tx, boxed};

/// What a member's passkey is called who gives it no name.
pub const PASSKEY_NAME: &str = "Passkey";

impl Identity {
    /// Begins to add a passkey: what the browser is asked. It counts once it was brought ([`Identity::passkey_confirm`]); nothing is
    /// stored before.
    ///
    /// # Errors
    /// As [`Identity::factor_begin`]; [`Code::Forbidden`] as well on pages where browsers have no passkeys.
    pub async fn passkey_begin(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        at: Option<&RelyingParty>,
    ) -> Result<Creation> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        let at = at.ok_or_else(no_passkeys)?;
        proof::count_change(core, site, &member, &session).await?;
        let begun = site.write_with(
            (core.clone(), site.clone(), member, session, at.clone()),
            |tx, (core, site, member, session, at)| {
                boxed!({
                    let person = enrol::may_enrol(core, tx, site, member, session).await?;
                    enrol::may_add(tx, &site.id, member, FactorType::Webauthn, &[]).await?;
                    let present = passkey::descriptors(tx, &site.id, member, at).await?;
                    let for_use = Use::Enrolment { member, session };
                    let (site_name, email) = (&site.name(), &person.email);
                    let account = Account { realm: &site.id, site_name, id: member, email };
                    Ok(passkey::creation(core, at, for_use, account, present))
                })
            },
        );
        begun.await
    }

    /// Takes a new passkey: from now on it is asked for, and signs in by itself. As [`Identity::factor_confirm`].
    ///
    /// # Errors
    /// As [`Identity::factor_begin`]; [`Code::VerificationFailed`] for one that is none (`presented` is nothing for what has another
    /// form), that answers no challenge of this session, or that the site has already.
    pub async fn passkey_confirm(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        (presented, name): (Option<&PresentedNew>, Option<&str>),
        address: IpAddr,
    ) -> Result<Enrolled> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        let name = held::checked_name(name, PASSKEY_NAME)?;
        proof::count_change(core, site, &member, &session).await?;
        let for_use = Use::Enrolment { member: &member, session: &session };
        let new = checked(core, (&site.id, &site.id), presented, for_use, address)?;
        let enrolled = site.write_with(
            (core.clone(), site.clone(), member, session, (new, name)),
            move |tx, (core, site, member, session, (new, name))| {
                boxed!({
                    let person = enrol::may_enrol(core, tx, site, member, session).await?;
                    let enrolled = held::add_passkey(core, tx, &site.id, member, (new, name.as_str())).await?;
                    let change = Change { session: Some(session), address, is_passkey: true };
                    enrol::count_from_now(core, tx, &site.id, &person, change).await?;
                    Ok(enrolled)
                })
            },
        );
        let enrolled = enrolled.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(enrolled)
    }
}

/// Checks a new passkey of a realm, of which nothing is left where it hasn't the form of one. Until it is right it counts for the network
/// that it comes from, at the site where it was sent.
///
/// # Errors
/// [`Code::VerificationFailed`] whatever is wrong with it; [`Code::Throttled`].
pub(crate) fn checked(
    core: &Core,
    (site, realm): (&SiteId, &SiteId),
    presented: Option<&PresentedNew>,
    for_use: Use<'_>,
    from: IpAddr,
) -> Result<NewPasskey> {
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), site, from, "")?;
    let new = presented.and_then(|it| passkey::verify_new(core, realm, it, for_use));
    let new = new.ok_or_else(|| Fault::new(Code::VerificationFailed))?;
    core.throttle.refund(permit);
    Ok(new)
}

/// Why none is added on pages where browsers have no passkeys.
pub(crate) fn no_passkeys() -> Fault {
    let why = "Browsers have passkeys only at a host name, with TLS or on localhost.";
    Fault::because(Code::Forbidden, why)
}

/// Has a new passkey count from now on that was made on the way of a sign-in, inside a transaction in which the member has neither an
/// authenticator nor a passkey: the recovery codes, for the sign-in to show. Nothing when its challenge was used, or the site has one
/// of the same credential.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn keep(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    person: &Member,
    (new, address): (&NewPasskey, IpAddr),
) -> Result<Option<SealedCodes>> {
    let had_codes = guard::generation(tx, site, &person.id).await?.is_some();
    if passkey::insert(core, tx, site, &person.id, (new, PASSKEY_NAME)).await?.is_none() {
        return Ok(None);
    }
    let change = Change { session: None, address, is_passkey: true };
    SealedCodes::renew(core, tx, site, person, (change, had_codes)).await.map(Some)
}
