//! Passkeys at a sign-in (decision 50): in the place of address and password, and as second factor.
//!
//! A passkey that its authenticator has unlocked for the person is both factors. Where it stands in the place of a password nothing is
//! asked of the server before, so nothing tells which accounts there are.

use crate::{
    Core, Identity, audit,
    defence::{attempt::Attempt, throttle::AttemptKind},
    factor::{
        self, FactorType, Realm,
        passkey::{self, Presented, RelyingParty, Request, Use, Verified},
    },
    member,
    policy::{self, SecondFactorPolicy},
    sign_in::{
        advance,
        challenge::Challenge,
        origin::{Origin, SecondFactor},
        outcome::{ChallengeData, Outcome},
    },
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

impl Identity {
    /// The outcome as a call answers it that was sent to this relying party: a sign-in that asks for a passkey has the challenge
    /// for one. Where no passkey can be shown none is asked for. One that needs a factor to be set up names passkeys where there are some.
    ///
    /// # Errors
    /// What the engine answers.
    pub async fn outcome_at(&self, site: &Site, outcome: Outcome, at: Option<&RelyingParty>) -> Result<Outcome> {
        let (mut challenge, state_token, mut wanted, mut data) = match outcome {
            Outcome::MfaChallenge { challenge, state_token, asked, data } => (challenge, state_token, asked, data),
            Outcome::RequireEnrolment { challenge, until, url, .. } => {
                return Ok(Outcome::RequireEnrolment { challenge, until, url, takes_passkey: at.is_some() });
            }
            outcome => return Ok(outcome),
        };
        let can_show = challenge.factors.contains(&FactorType::Webauthn);
        let request = match at {
            Some(at) if can_show => asked(&self.core, &Realm::of_site(site), at, &challenge).await?,
            _ => None,
        };
        match request {
            Some(request) if wanted == FactorType::Webauthn => data = Some(ChallengeData::Passkey(request)),
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

/// Signs in the member whose passkey was shown, in a flow of this name; nothing was shown where it hasn't the form of one. An attempt
/// counts for its network until it succeeds.
///
/// # Errors
/// [`Code::VerificationFailed`] whatever is wrong with the passkey; [`Code::Throttled`]; [`Code::MemberBlocked`];
/// [`Code::PasswordReset`].
pub(crate) async fn sign_in(
    core: &Arc<Core>,
    site: &Arc<Site>,
    attempt: &Attempt,
    presented: Option<&Presented>,
    flow: &str,
) -> Result<Outcome> {
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, attempt.address, "")?;
    let (presented, realm) = (presented.ok_or_else(wrong)?, Realm::of_site(site));
    let verified = passkey::verify(core, &realm, presented, Use::FirstFactor { flow }).await?.ok_or_else(wrong)?;
    let input = (core.clone(), site.clone(), attempt.clone(), verified);
    let signed_in = site.write_with(input, |tx, (core, site, attempt, verified)| {
        // Not an error, so that the challenge is used up and the audit log kept.
        boxed!(sign_in_with(core, tx, site, attempt, verified).await)
    });
    let outcome = signed_in.await??;
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
    if !passkey::take_of_member(core, tx, &site.id, verified, attempt.address).await? {
        return Ok(Err(wrong()));
    }
    // A new password doesn't end this way in, so the log tells it from the others.
    let entry = audit::Entry::by_oneself(&member.id, audit::Event::PasskeyUsed);
    audit::record(core, tx, &site.id, entry.at_address(Some(attempt.address))).await?;
    // The browser is none in which the member need not be asked: nothing was asked for that it could be spared.
    let is_authenticator = factor::is_of_pages(core, verified.relying_party());
    let second = SecondFactor::Shown { remembers: false, is_authenticator };
    let origin =
        Origin { visitor: attempt.visitor.as_ref(), address: Some(attempt.address), second, ..Origin::default() };
    advance::kept(advance::advance(core, tx, site, member, origin).await)
}

/// The challenge for a passkey of the member whose sign-in waits. None where the member has none of these pages.
pub(crate) async fn asked(
    core: &Core,
    realm: &Realm<'_>,
    at: &RelyingParty,
    challenge: &Challenge,
) -> Result<Option<Request>> {
    passkey::request_of(core, realm, at, for_challenge(challenge), &challenge.member).await
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
