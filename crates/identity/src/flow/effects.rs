//! The effects that have a result: each is one operation of identity.

use crate::{
    Core, DeviceHints,
    browser::Browser,
    defence::{
        attempt::{self, Account, Attempt},
        throttle::AttemptKind,
    },
    factor::{
        Shown,
        passkey::{Presented, PresentedNew},
    },
    flow::{
        page, problem,
        record::{self, Record},
        state::{Effect, EffectResult, PasskeyAnswer, PasswordReason, SentTo, State},
        wire::{FlowKind, ProfileInput},
    },
    mail::{self, LinkOptions},
    member::{self, profile::Profile},
    operator,
    password::Fingerprint,
    session,
    sign_in::{
        advance,
        challenge::Challenge,
        code,
        enrolment::{self, Begun, Confirmed, New, Waiting},
        invitation,
        login::{self, Registration},
        operator_recovery,
        outcome::{Origin, Outcome, SecondFactor},
        passkey, recovery,
        resume::{self, MissingFields},
        second_factor::{self, SentCode},
        verification,
    },
    token::opaque,
};
use serde_json::{Map, Value};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Email, Fault, MemberId, Result, Secret};
use stoa_store::{Site, boxed};

/// Carries an effect out. What the person can do something about is a result, not an error.
pub(crate) async fn run(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    effect: Effect,
    browser: &Browser,
) -> Result<EffectResult> {
    match run_inner(core, site, record, effect, browser).await {
        Ok(result) => Ok(result),
        Err(fault) => Ok(EffectResult::Refused(problem::of(fault)?)),
    }
}

async fn run_inner(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    effect: Effect,
    browser: &Browser,
) -> Result<EffectResult> {
    let is_owner = matches!(record.kind, FlowKind::OwnerSetup | FlowKind::OwnerSignIn);
    let captcha = match &effect {
        Effect::CheckPassword { captcha, .. } | Effect::Register { captcha, .. } => captcha.clone(),
        _ => None,
    };
    let attempt = Attempt {
        address: browser.address,
        visitor: record.context.authorization.as_ref().and_then(|it| it.visitor.clone()),
        client: record.context.client.clone(),
        hints: DeviceHints { cookie: browser.device.clone(), user_agent: browser.user_agent.clone() },
        captcha,
    };
    match effect {
        Effect::CheckPassword { email, password, .. } if is_owner => {
            let permit = attempt::sign_in(core, site, &attempt, Account::Operator(&email)).await?;
            let session = operator::sign_in(core, &site.id, &email, &password, attempt.address).await?;
            core.throttle.refund(permit);
            Ok(EffectResult::Operator(session.operator, session.role))
        }
        Effect::CheckPassword { email, password, .. } => {
            let signed = login::login(core, site, &attempt, email.as_str(), &password).await?;
            sign_in_result(core, site, record, signed).await
        }
        Effect::Register { email, password, .. } if is_owner => {
            accept_invite(core, record, Some(&email), &password, attempt.address).await
        }
        Effect::Register { email, password, profile, .. } => {
            let email = email.as_str().to_owned();
            let registration = Registration { email, password, profile: profile_json(profile, browser) };
            let signed = login::register(core, site, &attempt, &registration).await?;
            sign_in_result(core, site, record, signed).await
        }
        Effect::CheckCode { code, .. } => {
            match verification::check(core, site, record.hash.clone(), &code, attempt.address).await {
                Ok(signed) => sign_in_result(core, site, record, signed).await,
                Err(fault) if fault.code() == Code::StateTokenInvalid => {
                    Ok(EffectResult::Refused(problem::wrong_code()))
                }
                Err(fault) => Err(fault),
            }
        }
        Effect::SendCode { .. } => match code::resend(core, site, record.hash.clone()).await {
            Ok(_) => Ok(EffectResult::Sent),
            Err(fault) if fault.code() == Code::StateTokenInvalid => Ok(EffectResult::Refused(problem::wrong_code())),
            Err(fault) => Err(fault),
        },
        Effect::Complete { member, password, profile } => {
            let profile = Profile::parse(&profile_json(profile, browser), "profile").map_err(Fault::invalid)?;
            let (visitor, address) = (attempt.visitor, attempt.address);
            let fields = MissingFields { member, password, profile, visitor, address };
            sign_in_or_outdated(core, site, record, resume::complete(core, site, fields).await?).await
        }
        Effect::CheckApproval { member, password } => {
            match check_approval(core, site, member, password, attempt).await? {
                None => Ok(EffectResult::Outdated),
                Some(Outcome::RequireOwnerApproval { .. }) => Ok(EffectResult::Unchanged),
                Some(outcome) => sign_in_result(core, site, record, outcome).await,
            }
        }
        Effect::SendFactor { challenge, factor } => {
            // The name of the flow, so that what two of its pages send for is one code.
            let name = challenge.mailed.clone().unwrap_or_else(|| format!("flow {}", opaque::hex(&record.hash)));
            let to_send = second_factor::ToSend { challenge, factor, name, address: attempt.address };
            match second_factor::send_code(core, site, to_send).await {
                Ok(Some(SentCode { challenge, to })) => {
                    Ok(EffectResult::CodeSent { challenge, sent: SentTo { factor, to } })
                }
                Ok(None) => Ok(EffectResult::Outdated),
                // They were turned off, or the address is another one that nobody has shown: the sign-in begins again.
                Err(fault) if fault.code() == Code::Validation => Ok(EffectResult::Outdated),
                // There are other ways, which the page shows.
                Err(fault) if fault.code() == Code::Unavailable => {
                    Ok(EffectResult::Refused(problem::unavailable(&fault)))
                }
                Err(fault) => Err(fault),
            }
        }
        Effect::CheckFactor { challenge, factor, code, remembers } => {
            let shown = Shown::Code { factor, code };
            let answer = second_factor::FactorAnswer { challenge, shown, remembers, address: attempt.address };
            sign_in_or_outdated(core, site, record, second_factor::verify(core, site, answer).await?).await
        }
        Effect::CheckPasskey { challenge, answer, remembers } => {
            let checked = check_passkey(core, site, record, (challenge, answer, remembers), (attempt, browser)).await;
            passkey_result(checked)
        }
        Effect::PutOffFactor { challenge } => {
            let waiting = Waiting { challenge, address: attempt.address };
            sign_in_or_outdated(core, site, record, enrolment::put_off(core, site, waiting).await?).await
        }
        Effect::BeginFactor { challenge } => {
            match enrolment::begin(core, site, Waiting { challenge, address: attempt.address }).await? {
                Some(Begun::Draft { draft, account }) => Ok(EffectResult::Drafted { draft, account }),
                Some(Begun::Outcome(outcome)) => sign_in_result(core, site, record, *outcome).await,
                None => Ok(EffectResult::Outdated),
            }
        }
        Effect::ConfirmFactor { challenge, draft, code } => {
            let waiting = Waiting { challenge, address: attempt.address };
            match enrolment::first_step(core, site, &waiting, &draft, &code).await? {
                Some(step) => confirm_factor(core, site, record, waiting, New::Authenticator { draft, step }).await,
                None => Ok(EffectResult::Outdated),
            }
        }
        Effect::ConfirmPasskey { challenge, answer } => {
            let waiting = Waiting { challenge, address: attempt.address };
            passkey_result(confirm_passkey(core, site, record, waiting, (&answer, browser)).await)
        }
        Effect::FinishFactor { challenge } => {
            let waiting = Waiting { challenge, address: attempt.address };
            sign_in_or_outdated(core, site, record, enrolment::finish(core, site, waiting).await?).await
        }
        Effect::SendRecovery { email } if is_owner => {
            operator_recovery::ask(core, site, browser.address, &email, browser.language.clone()).await?;
            Ok(EffectResult::Sent)
        }
        Effect::SendRecovery { email } => {
            // Under a name that isn't the server's own, which may be made up, this server's
            // addresses were allowed as if they were of that name.
            let is_own_name = browser.base_url == *mail::url(core);
            let return_url = record.context.return_url.clone().filter(|_| is_own_name);
            let language = browser.language.clone();
            recovery::ask(core, site, browser.address, &email, LinkOptions { language, return_url }).await?;
            Ok(EffectResult::Sent)
        }
        Effect::SetPassword { reason: PasswordReason::OwnerSetup, password } => {
            accept_invite(core, record, None, &password, attempt.address).await
        }
        Effect::SetPassword { reason: PasswordReason::OwnerRecovery, password } => {
            let link = opaque::hash_from_hex(record.context.link.as_deref().unwrap_or_default());
            let (operator, role) = operator_recovery::finish(core, site, &link, &password, attempt.address).await?;
            Ok(EffectResult::Operator(operator, role))
        }
        Effect::SetPassword { reason: PasswordReason::Recovery, password } => {
            let link = record.context.link.as_deref().unwrap_or_default();
            let signed = recovery::finish(core, site, &opaque::hash_from_hex(link), &password, attempt.address).await?;
            sign_in_result(core, site, record, signed).await
        }
        Effect::EndSession => {
            if let Some(session) = session::of_browser(core, site, browser).await? {
                session::end(core, site, &session.id).await?;
            }
            if let Some(session) = operator::session_of_browser(core, site, browser).await? {
                operator::end_session(core, &session).await?;
            }
            Ok(EffectResult::SignedOut)
        }
        Effect::OpenSession(_) | Effect::Finish(_) => Err(Fault::internal("the conductor ends flows itself")),
    }
}

/// Has a factor count from now on that was shown for the first time. What follows is stored in the transaction from which on it
/// counts: the recovery codes are shown, also when another page of the flow was as quick, the answer is lost or the program stops.
async fn confirm_factor(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    waiting: Waiting,
    new: New,
) -> Result<EffectResult> {
    let input = (core.clone(), site.clone(), record.clone(), waiting, new);
    let confirmed = site.write_with(input, move |tx, (core, site, record, waiting, new)| {
        boxed!({
            let confirmed = enrolment::confirm(core, tx, site, waiting, new).await?;
            if let Some(Confirmed::Kept { challenge, codes }) = &confirmed {
                let state = State::KeepCodes { challenge: challenge.clone(), codes: codes.clone() };
                if !record::advance(tx, site, record, &state).await? {
                    return Err(Fault::new(Code::StateTokenInvalid));
                }
            }
            Ok(confirmed)
        })
    });
    let confirmed = match confirmed.await {
        // The flow has moved on elsewhere, and nothing was kept.
        Err(fault) if fault.code() == Code::StateTokenInvalid => None,
        confirmed => confirmed?,
    };
    mail::deliver_soon(core, &site.id).await;
    match confirmed {
        Some(Confirmed::Kept { challenge, codes }) => Ok(EffectResult::Enrolled { challenge, codes }),
        Some(Confirmed::Outcome(outcome)) => sign_in_result(core, site, record, *outcome).await,
        None => Ok(EffectResult::Outdated),
    }
}

/// Takes what a passkey has signed, in the place of a password or as the second factor of a sign-in that waits.
async fn check_passkey(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    (challenge, answer, remembers): (Option<Challenge>, PasskeyAnswer, bool),
    (attempt, browser): (Attempt, &Browser),
) -> Result<EffectResult> {
    let at = browser.relying_party.as_ref();
    let presented = at.and_then(|at| Presented::read(&answer.challenge_id, &answer.credential, at));
    let Some(presented) = presented else {
        // It counts for its network as one does that has the form.
        let _wrong = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, attempt.address, "")?;
        return Err(Fault::new(Code::VerificationFailed));
    };
    let Some(challenge) = challenge else {
        let signed = passkey::sign_in(core, site, &attempt, &presented, &page::flow_name(record)).await?;
        return sign_in_result(core, site, record, signed).await;
    };
    let (shown, address) = (Shown::Passkey(presented), attempt.address);
    let answer = second_factor::FactorAnswer { challenge, shown, remembers, address };
    sign_in_or_outdated(core, site, record, second_factor::verify(core, site, answer).await?).await
}

/// Takes a passkey that was made in the place of an authenticator.
async fn confirm_passkey(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    waiting: Waiting,
    (answer, browser): (&PasskeyAnswer, &Browser),
) -> Result<EffectResult> {
    let at = browser.relying_party.as_ref();
    let presented = at.and_then(|at| PresentedNew::read(&answer.challenge_id, &answer.credential, at));
    let presented = presented.ok_or_else(|| Fault::new(Code::VerificationFailed))?;
    let new = enrolment::new_passkey(core, site, &waiting, &presented)?;
    confirm_factor(core, site, record, waiting, New::Passkey(new)).await
}

/// A passkey that is refused is no wrong code: the page has no field for one.
fn passkey_result(result: Result<EffectResult>) -> Result<EffectResult> {
    match result {
        Err(fault) if fault.code() == Code::VerificationFailed => Ok(EffectResult::Refused(problem::wrong_passkey())),
        result => result,
    }
}

/// How the sign-in goes on. The flow's token stands for a code that was sent.
async fn sign_in_result(core: &Core, site: &Arc<Site>, record: &Record, outcome: Outcome) -> Result<EffectResult> {
    match &outcome {
        Outcome::RequireEmailVerification { state_token, .. } => {
            code::adopt(core, site, state_token, &record.hash).await?;
        }
        Outcome::StatusCheck { .. } => return Err(Fault::internal("a flow's code did not sign anybody in")),
        _ => {}
    }
    Ok(EffectResult::SignIn(Box::new(outcome)))
}

/// The same of one that may be over.
async fn sign_in_or_outdated(
    core: &Core,
    site: &Arc<Site>,
    record: &Record,
    outcome: Option<Outcome>,
) -> Result<EffectResult> {
    match outcome {
        Some(outcome) => sign_in_result(core, site, record, outcome).await,
        None => Ok(EffectResult::Outdated),
    }
}

/// A member who has shown who they are goes on as soon as the owner has agreed, unless the
/// password has changed since: `None`.
async fn check_approval(
    core: &Arc<Core>,
    site: &Arc<Site>,
    member: MemberId,
    password: Fingerprint,
    attempt: Attempt,
) -> Result<Option<Outcome>> {
    let advanced = site
        .write_with(
            (core.clone(), site.clone(), member, password, attempt),
            |tx, (core, site, id, password, attempt)| {
                boxed!({
                    let member = member::get(tx, &site.id, id).await?;
                    let member = member.ok_or_else(|| Fault::new(Code::MemberBlocked))?;
                    if Fingerprint::of(member.password_hash.as_deref()) != *password {
                        return Ok(None);
                    }
                    let (visitor, address) = (attempt.visitor.as_ref(), Some(attempt.address));
                    let second = SecondFactor::of_browser(attempt.hints.cookie.as_deref());
                    let origin = Origin { visitor, address, second, app: None };
                    advance::advance(core, tx, site, member, origin).await.map(Some)
                })
            },
        )
        .await?;
    match advanced {
        Some(advanced) => Ok(Some(advance::send_after(core, site, advanced).await)),
        None => Ok(None),
    }
}

async fn accept_invite(
    core: &Core,
    record: &Record,
    email: Option<&Email>,
    password: &Secret,
    from: IpAddr,
) -> Result<EffectResult> {
    let link = opaque::hash_from_hex(record.context.link.as_deref().unwrap_or_default());
    let (operator, role) = invitation::accept_hash(core, &link, email, password, from).await?;
    Ok(EffectResult::Operator(operator, role))
}

/// The language of the browser becomes the member's.
fn profile_json(profile: ProfileInput, browser: &Browser) -> Value {
    let ProfileInput { first_name, last_name, nickname } = profile;
    let given = [
        ("firstName", first_name),
        ("lastName", last_name),
        ("nickname", nickname),
        ("language", browser.language.clone()),
    ];
    let given = given.into_iter().filter_map(|(name, value)| {
        let value = value?.trim().to_owned();
        (!value.is_empty()).then(|| (name.to_owned(), Value::String(value)))
    });
    Value::Object(given.collect::<Map<_, _>>())
}
