//! The second factor of a sign-in (docs/protocol/identity.md §6, MFA verify).

use crate::{
    Core, DeviceHints, Identity,
    defence::{attempt::Attempt, throttle::AttemptKind},
    factor::{self, AskedFrom, Beside, FactorType, PasswordSet, Purpose, Question, Realm, Shown, Standing, Verdict},
    mail,
    member::{self, Member},
    password::Fingerprint,
    sign_in::{
        advance,
        challenge::Challenge,
        enrolment::{self, CallOrigin},
        origin::SecondFactor,
        outcome::{ChallengeData, Outcome},
        passkey,
        pending::{self, PendingAuthentication},
    },
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Fault, Result, Secret, Violation};
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
    /// that token, and for `PUSH` it asks the member's browsers. While a question waits for its answer it is answered again.
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
            None if factor.is_sent() || factor == FactorType::Push => {
                let name = challenge.mailed.clone().unwrap_or_else(|| core.world().token::<32>());
                let to_send = ToSend { challenge, factor, name, from: AskedFrom::of(address, from.user_agent) };
                let SentCode { challenge, to, question } = send_code(core, site, to_send).await?.ok_or_else(gone)?;
                let hint = || ChallengeData::Hint(to.chars().take(200).collect());
                let data = question.map_or_else(hint, ChallengeData::Push);
                pending::ask(core, &site.id, challenge, factor, Some(data))
            }
            None if challenge.factors.contains(&factor) => pending::ask(core, &site.id, challenge, factor, None),
            None => Err(not_taken()),
            Some(shown) => {
                if let Shown::Push { transaction } = &shown {
                    match standing(core, site, &challenge, transaction).await? {
                        Standing::Waits(question) => {
                            let data = Some(ChallengeData::Push(question));
                            return pending::ask(core, &site.id, challenge, factor, data);
                        }
                        Standing::Unsent => return Err(factor::unreached()),
                        Standing::Approved | Standing::Denied | Standing::Over => {}
                    }
                }
                let hints = DeviceHints { cookie: None, user_agent: from.user_agent.map(str::to_owned) };
                let answer = FactorAnswer { challenge, shown, remembers, address, hints };
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
    pub from: AskedFrom,
}

/// A code that is on its way.
#[derive(Debug, Clone)]
pub(crate) struct SentCode {
    /// With which it counts.
    pub challenge: Challenge,
    /// Where it went, most of it left out.
    pub to: String,
    /// What the member's browsers are asked; nothing of a code.
    pub question: Option<Question>,
}

/// How a question stands that a sign-in has asked.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn standing(core: &Core, site: &Site, challenge: &Challenge, id: &str) -> Result<Standing> {
    match &challenge.mailed {
        Some(name) if core.now() < challenge.until => factor::standing(core, site, (&challenge.member, name), id).await,
        _ => Ok(Standing::Over),
    }
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
    let ToSend { challenge, factor, name, from } = to_send;
    if !challenge.first.takes(factor) {
        return Err(not_taken());
    }
    let prepared = factor::prepare(core, site, &challenge.member, (factor, Purpose::SignIn), &from).await?;
    let put = site.write_with((core.clone(), site.clone(), challenge, name, prepared), |tx, input| {
        boxed!({
            let (core, site, challenge, name, prepared) = input;
            let Some(member) = still_waits(core, tx, site, challenge).await? else { return Ok(None) };
            let letter = prepared
                .put(core, tx, site, &member, (name, Beside::First(challenge.first), Some(challenge.begun())))
                .await?
                .ok_or_else(not_taken)?;
            Ok(Some((Challenge { mailed: Some(name.clone()), ..challenge.clone() }, letter)))
        })
    });
    let Some((challenge, letter)) = put.await? else { return Ok(None) };
    let (to, question) = letter.send(core, site).await?;
    Ok(Some(SentCode { challenge, to, question }))
}

fn not_taken() -> Fault {
    let why = "this sign-in does not take it; availableFactors names those that it takes";
    Fault::invalid(vec![Violation::new("factorType", "VALIDATION", why)])
}

/// The member, when password and factors are those that the challenge is of.
async fn still_waits(core: &Core, tx: &mut Tx<'_>, site: &Site, challenge: &Challenge) -> Result<Option<Member>> {
    let Some(member) = member::get(tx, &site.id, &challenge.member).await? else { return Ok(None) };
    let generation = match factor::password_is_asked(core, tx, &site.id, &member, challenge.first).await? {
        true => Some(factor::locked_generation(tx, &site.id, &member.id).await?),
        false => factor::generation(tx, &site.id, &member.id).await?,
    };
    let is_same = Fingerprint::of(member.password_hash.as_deref()) == challenge.password
        && generation == Some(challenge.generation);
    Ok(is_same.then_some(member))
}

/// What a person shows who is asked for a second factor.
#[derive(Debug, Clone)]
pub(crate) struct FactorAnswer {
    pub challenge: Challenge,
    pub shown: Shown,
    pub remembers: bool,
    pub address: IpAddr,
    pub hints: DeviceHints,
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
    if !challenge.first.takes(answer.shown.factor()) {
        return Err(not_taken());
    }
    if let Shown::Code { factor: FactorType::Password, code } = &answer.shown {
        return verify_password(core, site, &answer, code).await;
    }
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, answer.address, "")?;
    let (sent, for_use) = (challenge.mailed.as_deref(), passkey::for_challenge(challenge));
    let compared =
        factor::compare(core, &Realm::of_site(site), &challenge.member, &answer.shown, sent, for_use).await?;
    let (factor, address) = (answer.shown.factor(), answer.address);
    let verified = site.write_with((core.clone(), site.clone(), answer, compared), |tx, input| {
        boxed!({
            let (core, site, answer, compared) = input;
            // Not an error, so that the count of attempts is kept.
            verify_in(core, tx, site, answer, compared).await
        })
    });
    let Some(outcome) = verified.await?? else { return Ok(None) };
    core.throttle.refund(permit);
    factor::shown(core, site, factor, address);
    // The member is told of it (`factor::count`).
    if factor == FactorType::RecoveryCode && matches!(outcome, Outcome::Success { .. }) {
        mail::deliver_soon(core, &site.id).await;
    }
    Ok(Some(advance::send_after(core, site, outcome).await))
}

/// The same of a password, which counts as an attempt at one and beside an identity provider alone: who has signed in by it has shown
/// nothing more.
async fn verify_password(
    core: &Arc<Core>,
    site: &Arc<Site>,
    answer: &FactorAnswer,
    password: &Secret,
) -> Result<Option<Outcome>> {
    let FactorAnswer { challenge, address, hints, .. } = answer;
    if !challenge.factors.contains(&FactorType::Password) {
        return Err(not_taken());
    }
    let wrong = || Fault::new(Code::VerificationFailed);
    let (visitor, hints) = (challenge.visitor.clone(), hints.clone());
    let attempt = Attempt { address: *address, visitor, client: None, hints, captcha: None };
    let compared = factor::compare_password(core, site, &challenge.member, &attempt, password).await;
    let (permit, stored) = match compared {
        Err(fault) if matches!(fault.code(), Code::PasswordWrong | Code::NotFound) => return Err(wrong()),
        compared => compared?,
    };
    let verified = site.write_with((core.clone(), site.clone(), answer.clone(), stored), |tx, input| {
        boxed!({
            let (core, site, answer, stored) = input;
            let FactorAnswer { challenge, remembers, address, .. } = answer;
            let Some(member) = still_waits(core, tx, site, challenge).await? else { return Ok(None) };
            let is_asked = factor::password_is_asked(core, tx, &site.id, &member, challenge.first).await?;
            if member.password_hash != *stored || !is_asked {
                return Err(Fault::new(Code::VerificationFailed));
            }
            let second = SecondFactor::Shown { remembers: *remembers, is_authenticator: false };
            let origin = challenge.origin(*address, second);
            advance::advance(core, tx, site, member, origin).await.map(Some)
        })
    });
    let Some(outcome) = verified.await? else { return Ok(None) };
    core.throttle.refund(permit);
    Ok(Some(advance::send_after(core, site, outcome).await))
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
    let Some(member) = still_waits(core, tx, site, challenge).await? else { return Ok(Ok(None)) };
    let beside = Beside::First(challenge.first);
    if let Verdict::Refused(fault) = factor::count(core, tx, site, &member, compared, (*address, beside)).await? {
        return Ok(Err(fault));
    }
    // The sign-in has shown the password, and now what whoever has set it in a session need not have: a code to the address is
    // not asked for on top of it. One that began at a provider has shown no password.
    if challenge.first.is_own() {
        factor::password_was_set(core, tx, &site.id, &member.id, PasswordSet::Confirmed).await?;
    }
    let second = SecondFactor::Shown { remembers: *remembers, is_authenticator: compared.is_authenticator(core) };
    let origin = challenge.origin(*address, second);
    Ok(advance::kept(advance::advance(core, tx, site, member, origin).await)?.map(Some))
}
