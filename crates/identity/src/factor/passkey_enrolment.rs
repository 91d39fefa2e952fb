//! How members come by passkeys: in a session in which they have lately shown who they are, or on the way of a sign-in at a site that
//! requires a second factor.

use crate::{
    Core, Identity,
    factor::{
        FactorType,
        draft::SealedCodes,
        enrol::{self, Change, Enrolled, MemberFactor},
        guard,
        passkey::{self, Creation, NewPasskey, PresentedNew, RelyingParty, Use},
        proof, recovery_code,
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
        let at = at.ok_or_else(|| {
            let why = "Browsers have passkeys only at a host name, with TLS or on localhost.";
            Fault::because(Code::Forbidden, why)
        })?;
        proof::count_change(core, site, &member, &session).await?;
        let begun = site.write_with(
            (core.clone(), site.clone(), member, session, at.clone()),
            |tx, (core, site, member, session, at)| {
                boxed!({
                    let person = enrol::may_enrol(core, tx, site, member, session).await?;
                    enrol::may_add(tx, &site.id, member, FactorType::Webauthn).await?;
                    let present = passkey::descriptors(tx, &site.id, member, at).await?;
                    let for_use = Use::Enrolment { member, session };
                    Ok(passkey::creation(core, site, at, for_use, &person, present))
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
        let name = enrol::checked_name(name, PASSKEY_NAME)?;
        proof::count_change(core, site, &member, &session).await?;
        let for_use = Use::Enrolment { member: &member, session: &session };
        let new = presented.and_then(|it| passkey::verify_new(core, &site.id, it, for_use));
        let new = new.ok_or_else(|| Fault::new(Code::VerificationFailed))?;
        let enrolled = site.write_with(
            (core.clone(), site.clone(), member, session, (new, name)),
            move |tx, (core, site, member, session, (new, name))| {
                boxed!({
                    let person = enrol::may_enrol(core, tx, site, member, session).await?;
                    enrol::may_add(tx, &site.id, member, FactorType::Webauthn).await?;
                    let is_first = guard::generation(tx, &site.id, member).await?.is_none();
                    let kept = passkey::insert(core, tx, &site.id, member, (new, name.as_str())).await?;
                    let kept = kept.ok_or_else(|| Fault::new(Code::VerificationFailed))?;
                    let recovery_codes = match is_first {
                        true => Some(recovery_code::renew(core, tx, &site.id, member).await?),
                        false => None,
                    };
                    let change = Change { session: Some(session), address, is_passkey: true };
                    enrol::count_from_now(core, tx, &site.id, &person, change).await?;
                    Ok(Enrolled { factor: MemberFactor::from(kept), recovery_codes })
                })
            },
        );
        let enrolled = enrolled.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(enrolled)
    }
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
