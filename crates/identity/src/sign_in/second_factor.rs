//! The second factor of a sign-in (docs/protocol/identity.md §6, MFA verify).

use crate::{
    Core, Identity,
    defence::throttle::AttemptKind,
    factor::{self, FactorType, Shown, Verdict},
    mail, member,
    password::Fingerprint,
    sign_in::{
        advance,
        challenge::Challenge,
        outcome::{Origin, Outcome, SecondFactor},
        pending::{self, PendingAuthentication},
    },
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Fault, Result, Secret};
use stoa_store::{Site, Tx, boxed};

/// What `verify` sends.
#[derive(Debug, Clone)]
pub struct SubmittedFactor {
    pub factor: FactorType,
    /// Without one the factor is only chosen.
    pub code: Option<Secret>,
    /// Whether the member isn't to be asked again in the browser where the sign-in ends.
    pub remembers: bool,
}

impl Identity {
    /// Goes on with a sign-in that waits for a second factor (`POST /v2/{factorType}/verify`). Without a code it answers
    /// the challenge for the factor, under another state token.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] for a token that is unknown, of another site, too old or finished, or whose member has
    /// another password or other factors by now; [`Code::VerificationFailed`] for a code that is wrong or was used;
    /// [`Code::Throttled`]; [`Code::MemberBlocked`]; [`Code::PasswordReset`].
    pub async fn factor_verify(
        &self,
        site: &Arc<Site>,
        state_token: &str,
        submitted: SubmittedFactor,
        address: IpAddr,
    ) -> Result<Outcome> {
        let core = &self.core;
        let gone = || Fault::new(Code::StateTokenInvalid);
        let Some(PendingAuthentication::SecondFactor { challenge, .. }) = pending::read(core, &site.id, state_token)
        else {
            return Err(gone());
        };
        let SubmittedFactor { factor, code, remembers } = submitted;
        match code {
            None => pending::ask(core, &site.id, challenge, factor),
            Some(code) => {
                let answer = FactorAnswer { challenge, shown: Shown { factor, code }, remembers, address };
                verify(core, site, answer).await?.ok_or_else(gone)
            }
        }
    }
}

/// What a person shows who is asked for a second factor.
#[derive(Debug, Clone)]
pub(crate) struct FactorAnswer {
    pub challenge: Challenge,
    pub shown: Shown,
    pub remembers: bool,
    pub address: IpAddr,
}

/// Checks a second factor, and goes on with the sign-in that waited for it. `None` when that is over.
///
/// # Errors
/// As [`Identity::factor_verify`].
pub(crate) async fn verify(core: &Arc<Core>, site: &Arc<Site>, answer: FactorAnswer) -> Result<Option<Outcome>> {
    if core.now() >= answer.challenge.until {
        return Ok(None);
    }
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, answer.address, "")?;
    let compared = factor::compare(core, site, &answer.challenge.member, &answer.shown).await?;
    let verified = site.write_with((core.clone(), site.clone(), answer, compared), |tx, input| {
        boxed!({
            let (core, site, answer, compared) = input;
            // Not an error, so that the count of attempts is kept.
            verify_in(core, tx, site, answer, compared).await
        })
    });
    let verified = verified.await??;
    if verified.is_some() {
        core.throttle.refund(permit);
    }
    mail::deliver_soon(core, &site.id).await;
    Ok(verified)
}

/// The inner error refuses what was shown and keeps what was written.
async fn verify_in(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    answer: &FactorAnswer,
    compared: &factor::Compared,
) -> Result<Result<Option<Outcome>>> {
    let FactorAnswer { challenge, remembers, address, .. } = answer;
    let Some(member) = member::get(tx, &site.id, &challenge.member).await? else { return Ok(Ok(None)) };
    let is_same = Fingerprint::of(member.password_hash.as_deref()) == challenge.password
        && factor::generation(tx, &site.id, &member.id).await? == Some(challenge.generation);
    if !is_same {
        return Ok(Ok(None));
    }
    if let Verdict::Refused(fault) = factor::count(core, tx, site, &member, compared, *address).await? {
        return Ok(Err(fault));
    }
    let second = SecondFactor::Shown { remembers: *remembers };
    let origin = Origin { visitor: challenge.visitor.as_ref(), address: Some(*address), second, app: None };
    match advance::advance(core, tx, site, member, origin).await {
        Ok(outcome) => Ok(Ok(Some(outcome))),
        Err(fault) if matches!(fault.code(), Code::MemberBlocked | Code::PasswordReset) => {
            Ok(Err(Fault::new(fault.code())))
        }
        Err(fault) => Err(fault),
    }
}
