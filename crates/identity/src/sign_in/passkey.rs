//! Passkeys at a sign-in (decision 50): in the place of address and password, and as second factor.
//!
//! A passkey that its authenticator has unlocked for the person is both factors. Where it stands in the place of a password nothing is
//! asked of the server before, so nothing tells which accounts there are.

use crate::{
    Core, Identity,
    defence::{attempt::Attempt, throttle::AttemptKind},
    factor::{
        FactorType,
        passkey::{self, Presented, RelyingParty, Request, Use, Verified},
    },
    mail, member,
    policy::{self, SecondFactorPolicy},
    sign_in::{
        advance,
        challenge::Challenge,
        outcome::{ChallengeData, Origin, Outcome, SecondFactor},
    },
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

impl Identity {
    /// The outcome as a call answers it that was sent to this relying party: a sign-in that asks for a passkey has the challenge
    /// for one. Where no passkey can be shown none is asked for.
    ///
    /// # Errors
    /// What the engine answers.
    pub async fn outcome_at(&self, site: &Site, outcome: Outcome, at: Option<&RelyingParty>) -> Result<Outcome> {
        let Outcome::MfaChallenge { mut challenge, state_token, asked: mut wanted, mut data } = outcome else {
            return Ok(outcome);
        };
        match at {
            Some(at) if wanted == FactorType::Webauthn => {
                data = Some(ChallengeData::Passkey(asked(&self.core, site, at, &challenge).await?));
            }
            Some(_) => {}
            None => {
                challenge.factors.retain(|it| *it != FactorType::Webauthn);
                if wanted == FactorType::Webauthn {
                    wanted = challenge.factors.first().copied().unwrap_or(FactorType::RecoveryCode);
                }
            }
        }
        Ok(Outcome::MfaChallenge { challenge, state_token, asked: wanted, data })
    }
}

/// Signs in whoever has the passkey that was shown, in a flow of this name. An attempt counts for its network until it succeeds.
///
/// # Errors
/// [`Code::VerificationFailed`] whatever is wrong with the passkey; [`Code::Throttled`]; [`Code::MemberBlocked`];
/// [`Code::PasswordReset`].
pub(crate) async fn sign_in(
    core: &Arc<Core>,
    site: &Arc<Site>,
    attempt: &Attempt,
    presented: &Presented,
    flow: &str,
) -> Result<Outcome> {
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, attempt.address, "")?;
    let verified = passkey::verify(core, site, presented, Use::FirstFactor { flow }).await?.ok_or_else(wrong)?;
    let input = (core.clone(), site.clone(), attempt.clone(), verified);
    let signed_in = site.write_with(input, |tx, (core, site, attempt, verified)| {
        // Not an error, so that the challenge is used up and the audit log kept.
        boxed!(sign_in_with(core, tx, site, attempt, verified).await)
    });
    let signed_in = signed_in.await?;
    mail::deliver_soon(core, &site.id).await;
    let outcome = signed_in?;
    core.throttle.refund(permit);
    Ok(advance::send_after(core, site, outcome).await)
}

/// The inner error refuses the passkey and keeps what was written.
async fn sign_in_with(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    attempt: &Attempt,
    verified: &Verified,
) -> Result<Result<Outcome>> {
    let Some(member) = member::get(tx, &site.id, verified.member()).await? else { return Ok(Err(wrong())) };
    if !passkey::take(core, tx, &site.id, verified, attempt.address).await? {
        return Ok(Err(wrong()));
    }
    // The browser is none in which the member need not be asked: nothing was asked for that it could be spared.
    let second = SecondFactor::Shown { remembers: false };
    let origin = Origin { visitor: attempt.visitor.as_ref(), address: Some(attempt.address), second, app: None };
    advance::kept(advance::advance(core, tx, site, member, origin).await)
}

/// The challenge for a passkey of the member whose sign-in waits.
pub(crate) async fn asked(core: &Core, site: &Site, at: &RelyingParty, challenge: &Challenge) -> Result<Request> {
    let (id, of) = (site.id.clone(), challenge.member.clone());
    let read = site.read(ReaderPool::Point, move |tx| boxed!(passkey::descriptors(tx, &id, &of).await));
    let allowed = read.await?;
    Ok(passkey::request(core, &site.id, at, for_challenge(challenge), allowed))
}

/// What a challenge is for that goes with a sign-in which waits.
pub(crate) fn for_challenge(challenge: &Challenge) -> Use<'_> {
    Use::SecondFactor { member: &challenge.member, generation: challenge.generation }
}

/// Whether the sign-in page of a site asks for passkeys: members may add some, or have some of before.
pub(crate) async fn is_offered(site: &Site) -> Result<bool> {
    let id = site.id.clone();
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            if policy::read(tx, &id).await?.second_factor != SecondFactorPolicy::Off {
                return Ok(true);
            }
            let sql = "select 1 from stoa.passkey where site = $1 limit 1";
            Ok(tx.row(sql, &params![&id], |_| Ok(())).await?.is_some())
        })
    });
    read.await
}

fn wrong() -> Fault {
    Fault::new(Code::VerificationFailed)
}
