//! The second factor of a sign-in (docs/protocol/identity.md §6, MFA verify).

use crate::{
    Core, Identity,
    defence::throttle::AttemptKind,
    factor::{self, FactorType, PasswordSet, Purpose, Shown, Verdict},
    mail,
    member::{self, Member},
    password::Fingerprint,
    sign_in::{
        advance,
        challenge::Challenge,
        enrolment::{self, CallOrigin},
        outcome::{ChallengeData, Origin, Outcome, SecondFactor},
        passkey,
        pending::{self, PendingAuthentication},
    },
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Fault, Result, Violation};
use stoa_store::{Site, Tx, boxed};

/// What `verify` sends.
#[derive(Debug, Clone)]
pub struct SubmittedFactor {
    pub factor: FactorType,
    /// Of this factor. Without it the factor is only chosen.
    pub shown: Option<Shown>,
    /// Whether the member isn't to be asked again in the browser where the sign-in ends.
    pub remembers: bool,
}

impl Identity {
    /// Goes on with a sign-in that waits for a second factor (`POST /v2/{factorType}/verify`). Without a code it answers
    /// the challenge for the factor, under another state token; for one whose codes are sent it sends one, which counts with
    /// that token.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] for a token that is unknown, of another site, too old or finished, or whose member has
    /// another password or other factors by now; [`Code::Validation`] for a factor that this sign-in does not take;
    /// [`Code::VerificationFailed`] for a code that is wrong or was used;
    /// [`Code::Throttled`]; [`Code::MemberBlocked`]; [`Code::PasswordReset`]; [`Code::Unavailable`] when no code could be sent.
    pub async fn factor_verify(
        &self,
        site: &Arc<Site>,
        state_token: &str,
        submitted: SubmittedFactor,
        from: CallOrigin<'_>,
    ) -> Result<Outcome> {
        let (core, address) = (&self.core, from.address);
        let gone = || Fault::new(Code::StateTokenInvalid);
        let Some(PendingAuthentication::SecondFactor { challenge, .. }) = pending::read(core, &site.id, state_token)
        else {
            return Err(gone());
        };
        let SubmittedFactor { factor, shown, remembers } = submitted;
        match shown {
            None if factor.is_sent() => {
                let name = challenge.mailed.clone().unwrap_or_else(|| core.world().token::<32>());
                let sent =
                    send_code(core, site, ToSend { challenge, factor, name, address }).await?.ok_or_else(gone)?;
                let hint = sent.to.chars().take(200).collect();
                pending::ask(core, &site.id, sent.challenge, factor, Some(ChallengeData::Hint(hint)))
            }
            None if challenge.factors.contains(&factor) => pending::ask(core, &site.id, challenge, factor, None),
            None => Err(not_taken()),
            Some(shown) => {
                let answer = FactorAnswer { challenge, shown, remembers, address };
                let outcome = verify(core, site, answer).await?.ok_or_else(gone)?;
                enrolment::for_call(core, site, outcome, from).await
            }
        }
    }
}

/// A code that a sign-in asks for.
#[derive(Debug, Clone)]
pub(crate) struct ToSend {
    pub challenge: Challenge,
    pub factor: FactorType,
    /// Under which it counts.
    pub name: String,
    pub address: IpAddr,
}

/// A code that is on its way.
#[derive(Debug, Clone)]
pub(crate) struct SentCode {
    /// With which it counts.
    pub challenge: Challenge,
    /// Where it went, most of it left out.
    pub to: String,
}

/// Sends a code for a sign-in that waits for a second factor; the one of its kind that was sent under the same name before ends.
/// `None` when the sign-in is over.
///
/// # Errors
/// [`Code::Validation`] when the sign-in takes no such codes; [`Code::Throttled`] when the member got too many messages, or the
/// network asks too often; [`Code::Unavailable`] when it could not be sent.
pub(crate) async fn send_code(core: &Arc<Core>, site: &Arc<Site>, to_send: ToSend) -> Result<Option<SentCode>> {
    if core.now() >= to_send.challenge.until {
        return Ok(None);
    }
    let ToSend { challenge, factor, name, address } = to_send;
    let prepared = factor::prepare(core, site, &challenge.member, (factor, Purpose::SignIn), address).await?;
    let put = site.write_with((core.clone(), site.clone(), challenge, name, prepared), |tx, input| {
        boxed!({
            let (core, site, challenge, name, prepared) = input;
            let Some(member) = still_waits(tx, site, challenge).await? else { return Ok(None) };
            let letter = prepared.put(core, tx, &site.id, &member, name).await?.ok_or_else(not_taken)?;
            Ok(Some((Challenge { mailed: Some(name.clone()), ..challenge.clone() }, letter)))
        })
    });
    let Some((challenge, letter)) = put.await? else { return Ok(None) };
    let to = letter.send(core, site).await?;
    Ok(Some(SentCode { challenge, to }))
}

fn not_taken() -> Fault {
    let why = "this sign-in does not take it; availableFactors names those that it takes";
    Fault::invalid(vec![Violation::new("factorType", "VALIDATION", why)])
}

/// The member, when password and factors are those that the challenge is of.
async fn still_waits(tx: &mut Tx<'_>, site: &Site, challenge: &Challenge) -> Result<Option<Member>> {
    let Some(member) = member::get(tx, &site.id, &challenge.member).await? else { return Ok(None) };
    let is_same = Fingerprint::of(member.password_hash.as_deref()) == challenge.password
        && factor::generation(tx, &site.id, &member.id).await? == Some(challenge.generation);
    Ok(is_same.then_some(member))
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
    let challenge = &answer.challenge;
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, answer.address, "")?;
    let (sent, for_use) = (challenge.mailed.as_deref(), passkey::for_challenge(challenge));
    let compared = factor::compare(core, site, &challenge.member, &answer.shown, sent, for_use).await?;
    let (factor, address) = (answer.shown.factor(), answer.address);
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
        factor::shown(core, site, factor, address);
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
    let Some(member) = still_waits(tx, site, challenge).await? else { return Ok(Ok(None)) };
    if let Verdict::Refused(fault) = factor::count(core, tx, site, &member, compared, *address).await? {
        return Ok(Err(fault));
    }
    // The sign-in has shown the password, and now what whoever has set it in a session need not have: a code to the address is
    // not asked for on top of it.
    factor::password_was_set(core, tx, &site.id, &member.id, PasswordSet::Confirmed).await?;
    let second = SecondFactor::Shown { remembers: *remembers };
    let origin = Origin { visitor: challenge.visitor.as_ref(), address: Some(*address), second, app: None };
    Ok(advance::kept(advance::advance(core, tx, site, member, origin).await)?.map(Some))
}
