//! The effects that have a result: each is one operation of identity.

use crate::{
    Core, DeviceHints,
    browser::Browser,
    defence::{
        attempt::{self, Account, Attempt},
        device::{self, Device},
    },
    factor::{
        self, AskedFrom, FactorType, FirstFactor, Shown, Standing,
        passkey::{Presented, PresentedNew},
        remembered,
    },
    flow::{
        by_provider, page, problem,
        record::{self, Record},
        state::{Effect, EffectResult, Opened, PasskeyAnswer, PasswordReason, SentTo, SignedMember, State, Unanswered},
        view::Visit,
        wire::ProfileInput,
    },
    mail::{self, LinkOptions},
    member::{self, profile::Profile},
    oauth::consent,
    operator,
    password::Fingerprint,
    session::{self, NewSession, RedeemedToken, Session},
    sign_in::{
        advance,
        challenge::Challenge,
        code,
        enrolment::{self, Begun, Confirmed, New, Waiting},
        invitation,
        login::{self, Registration},
        operator_factor::{
            Cleared,
            ask::{self, Asked},
            enrolment as operator_enrolment,
        },
        operator_recovery,
        origin::{Origin, SecondFactor},
        outcome::Outcome,
        passkey,
        provider::{self, Recognised},
        recovery,
        resume::{self, MissingFields},
        second_factor::{self, SentCode},
        verification,
    },
    token::{Kind, opaque},
};
use serde_json::{Map, Value};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Email, Fault, MemberId, Millis, Result, Secret, SiteId};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Carries an effect out. What the person can do something about is a result, not an error.
pub(super) async fn run(core: &Arc<Core>, visit: Visit<'_>, record: &Record, effect: Effect) -> Result<EffectResult> {
    match run_inner(core, visit, record, effect).await {
        Ok(result) => Ok(result),
        Err(fault) => Ok(EffectResult::Refused(problem::of(fault)?)),
    }
}

async fn run_inner(core: &Arc<Core>, visit: Visit<'_>, record: &Record, effect: Effect) -> Result<EffectResult> {
    let Visit { site, browser, token, .. } = visit;
    let is_owner = record.kind.is_of_operators();
    let captcha = match &effect {
        Effect::CheckPassword { captcha, .. }
        | Effect::Register { captcha, .. }
        | Effect::LinkProvider { captcha, .. } => captcha.clone(),
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
            operator_result(ask::ask(core, site, session.operator, session.role).await?)
        }
        Effect::CheckPassword { email, password, .. } => {
            let signed = login::login(core, site, &attempt, email.as_str(), &password).await?;
            sign_in_result(core, site, record, signed).await
        }
        Effect::Register { email, password, .. } if is_owner => {
            accept_invite(core, site, record, Some(&email), (&password, attempt.address)).await
        }
        Effect::Register { email, password, profile, .. } => {
            let email = email.as_str().to_owned();
            let registration = Registration { email, password, profile: profile_json(profile, browser) };
            let signed = login::register(core, site, &attempt, &registration).await?;
            sign_in_result(core, site, record, signed).await
        }
        Effect::AskProvider { id } => by_provider::ask(core, site, &id, record, (token, browser)).await,
        Effect::CheckProvider { person } => match provider::sign_in(core, site, &attempt, &person, None).await {
            Ok(Recognised::Outcome(outcome)) => sign_in_result(core, site, record, *outcome).await,
            Ok(Recognised::Links(outcome)) => {
                by_provider::keep(site, record, &person, &outcome).await?;
                sign_in_result(core, site, record, *outcome).await
            }
            Ok(Recognised::MustLink { email }) => Ok(EffectResult::MustLink { email }),
            Ok(Recognised::Failed(reason)) => Ok(EffectResult::ProviderFailed { provider: person.provider, reason }),
            Err(fault) if fault.code() == Code::StateTokenInvalid => Ok(EffectResult::Outdated),
            Err(fault) => Err(fault),
        },
        Effect::LinkProvider { person, email, password, .. } => {
            let signed = login::login(core, site, &attempt, email.as_str(), &password).await?;
            by_provider::keep(site, record, &person, &signed).await?;
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
            let name = sent_name(record, &challenge);
            let from = AskedFrom::of(attempt.address, attempt.hints.user_agent.as_deref());
            let to_send = second_factor::ToSend { challenge, factor, name, from };
            match second_factor::send_code(core, site, to_send).await {
                Ok(Some(SentCode { challenge, to, .. })) => {
                    Ok(EffectResult::CodeSent { challenge, sent: SentTo { factor, to } })
                }
                Ok(None) => Ok(EffectResult::Outdated),
                // They were turned off: the sign-in begins again.
                Err(fault) if fault.code() == Code::Validation => Ok(EffectResult::Outdated),
                // There are other ways, which the page shows.
                Err(fault) if fault.code() == Code::Unavailable => {
                    Ok(EffectResult::Refused(problem::unavailable(&fault)))
                }
                Err(fault) => Err(fault),
            }
        }
        Effect::CheckFactor { challenge, factor, code, .. } if is_owner => {
            let shown = Shown::Code { factor, code };
            cleared_or_outdated(ask::verify(core, site, challenge, &shown, attempt.address).await?)
        }
        Effect::AskPush { challenge, remembers } => {
            let from = AskedFrom::of(attempt.address, attempt.hints.user_agent.as_deref());
            ask_push(core, site, record, (challenge, remembers), from).await
        }
        Effect::CheckPush { challenge, question, remembers } => {
            let shown = match second_factor::standing(core, site, &challenge, &question.id).await? {
                Standing::Waits(_) => return Ok(EffectResult::Unchanged),
                Standing::Denied => return Ok(EffectResult::Unapproved { why: Unanswered::Denied }),
                Standing::Unsent => return Ok(EffectResult::Unapproved { why: Unanswered::Unsent }),
                Standing::Over => return Ok(EffectResult::Unapproved { why: Unanswered::Late }),
                Standing::Approved => Shown::Push { transaction: question.id },
            };
            let answer = second_factor::FactorAnswer {
                challenge,
                shown,
                remembers,
                address: attempt.address,
                hints: attempt.hints,
            };
            match second_factor::verify(core, site, answer).await {
                // Another page of the flow was as quick.
                Err(fault) if fault.code() == Code::VerificationFailed => {
                    Ok(EffectResult::Unapproved { why: Unanswered::Late })
                }
                verified => sign_in_or_outdated(core, site, record, verified?).await,
            }
        }
        Effect::CheckFactor { challenge, factor, code, remembers } => {
            let shown = Shown::Code { factor, code };
            let answer = second_factor::FactorAnswer {
                challenge,
                shown,
                remembers,
                address: attempt.address,
                hints: attempt.hints,
            };
            sign_in_or_outdated(core, site, record, second_factor::verify(core, site, answer).await?).await
        }
        Effect::CheckPasskey { challenge, answer, remembers } => {
            let checked = check_passkey(core, site, record, (challenge, answer, remembers), (attempt, browser)).await;
            passkey_result(checked)
        }
        Effect::PutOffFactor { challenge } if is_owner => {
            match operator_enrolment::put_off(core, site, challenge).await? {
                Some(asked) => operator_result(asked),
                None => Ok(EffectResult::Outdated),
            }
        }
        Effect::PutOffFactor { challenge } => {
            let waiting = Waiting { challenge, address: attempt.address };
            sign_in_or_outdated(core, site, record, enrolment::put_off(core, site, waiting).await?).await
        }
        Effect::BeginFactor { challenge } if is_owner => {
            use operator_enrolment::Begun;
            match operator_enrolment::begin(core, site, &challenge).await? {
                Some(Begun::Draft { draft, account }) => Ok(EffectResult::Drafted { draft, account }),
                Some(Begun::Cleared(cleared)) => Ok(EffectResult::Operator(cleared)),
                None => Ok(EffectResult::Outdated),
            }
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
            let realm = realm_of(site, record);
            match enrolment::first_step(core, (site, &realm), &waiting, &draft, &code).await? {
                Some(step) => confirm_factor(core, site, record, waiting, New::Authenticator { draft, step }).await,
                None => Ok(EffectResult::Outdated),
            }
        }
        Effect::ConfirmPasskey { challenge, answer } => {
            let waiting = Waiting { challenge, address: attempt.address };
            passkey_result(confirm_passkey(core, site, record, waiting, (&answer, browser)).await)
        }
        Effect::FinishFactor { challenge } if is_owner => {
            cleared_or_outdated(operator_enrolment::finish(core, site, challenge).await?)
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
            accept_invite(core, site, record, None, (&password, attempt.address)).await
        }
        Effect::SetPassword { reason: PasswordReason::OwnerRecovery, password } => {
            let link = opaque::hash_from_hex(record.context.link.as_deref().unwrap_or_default());
            let (operator, role) = operator_recovery::finish(core, site, &link, &password, attempt.address).await?;
            operator_result(ask::ask(core, site, operator, role).await?)
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
        Effect::OpenForConsent(token) => open_for_consent(core, site, record, token, browser).await,
        Effect::CheckSigned(signed) => match is_signed(core, site, &signed, browser).await? {
            true => Ok(EffectResult::Unchanged),
            false => Ok(EffectResult::Outdated),
        },
        Effect::Agree(signed) => match is_signed(core, site, &signed, browser).await? {
            true => Ok(EffectResult::Agreed),
            false => Ok(EffectResult::Outdated),
        },
        Effect::OpenSession(_) | Effect::Finish(_) => Err(Fault::internal("the conductor ends flows itself")),
    }
}

/// Opens the session of a finished sign-in inside a transaction, in the browser that the device stands for; nothing when its
/// `sessionToken` is good no more.
pub(super) async fn open_session(
    core: &Arc<Core>,
    tx: &mut Tx<'_>,
    site: &Site,
    (record, token): (&Record, &Secret),
    (device, from): (&Device, IpAddr),
) -> Result<Option<(Session, Secret)>> {
    let Some(taken) = session::redeem_token(core, tx, site, token.expose()).await? else { return Ok(None) };
    let RedeemedToken { member, visitor, remembers, .. } = taken;
    let new = NewSession { member: member.clone(), client: None, root: None, visitor, scopes: None };
    let (session, cookie) = session::create(core, tx, site, Kind::Cookie, &new).await?;
    device::record_seen(core, tx, site, &session.id, &member, device).await?;
    if let Some(person) = record.link.as_ref().and_then(|it| it.person_of(&member, core.now())) {
        provider::link_after(core, tx, &site.id, &member, (person, from)).await?;
    }
    if remembers {
        remembered::remember(core, tx, &site.id, &member, device.secret()).await?;
    }
    Ok(Some((session, cookie)))
}

/// Signs a member in for whom a client of others waits. From then on the flow asks them, whatever becomes of this request.
async fn open_for_consent(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    token: Secret,
    browser: &Browser,
) -> Result<EffectResult> {
    let device = Device::of(core, browser, false);
    let input = (core.clone(), site.clone(), record.clone(), token, device, browser.address);
    let opened = site.write_with(input, |tx, input| {
        boxed!({
            let (core, site, record, token, device, from) = input;
            let gone = || Fault::new(Code::StateTokenInvalid);
            let request = record.context.authorization.as_ref().ok_or_else(gone)?;
            let opened = open_session(core, tx, site, (record, token), (device, *from)).await?;
            let (session, cookie) = opened.ok_or_else(gone)?;
            let member = member::get(tx, &site.id, &session.member).await?.ok_or_else(gone)?;
            let signed = SignedMember { session: session.id, member: member.id, account: member.email };
            if !record::advance(tx, site, record, &State::Consent(signed.clone())).await? {
                return Err(gone());
            }
            let has_agreed = consent::covers(tx, &site.id, request, &signed.member).await?;
            let opened = Opened { signed, cookie, device: Secret::new(device.secret()) };
            Ok(match has_agreed && !request.asks_always() {
                true => EffectResult::HasAgreed(opened),
                false => EffectResult::MustAgree(opened),
            })
        })
    });
    let opened = opened.await?;
    mail::deliver_soon(core, &site.id).await;
    Ok(opened)
}

/// Whether the member who is asked is the one who is signed in in this browser, with the second factor that is due.
async fn is_signed(core: &Arc<Core>, site: &Arc<Site>, signed: &SignedMember, browser: &Browser) -> Result<bool> {
    let session = session::of_browser(core, site, browser).await?;
    if !session.is_some_and(|it| it.id == signed.session && it.member == signed.member) {
        return Ok(false);
    }
    let (core, of, member) = (core.clone(), site.clone(), signed.member.clone());
    let is_due =
        site.read(ReaderPool::Point, move |tx| boxed!(enrolment::is_due(&core, tx, &of, &member).await)).await?;
    Ok(!is_due)
}

/// The name of the flow, so that what two of its pages send for is one code, or one question.
fn sent_name(record: &Record, challenge: &Challenge) -> String {
    challenge.mailed.clone().unwrap_or_else(|| format!("flow {}", opaque::hex(&record.hash)))
}

/// Asks the member's browsers. Where they can't be there are other ways, which the page shows.
async fn ask_push(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    (challenge, remembers): (Challenge, bool),
    from: AskedFrom,
) -> Result<EffectResult> {
    let name = sent_name(record, &challenge);
    let left = challenge.until - core.now();
    let to_send = second_factor::ToSend { challenge, factor: FactorType::Push, name, from };
    match second_factor::send_code(core, site, to_send).await {
        Ok(Some(SentCode { challenge, question: Some(question), .. })) => {
            Ok(EffectResult::Asked { challenge, question, remembers })
        }
        Ok(_) => Ok(EffectResult::Outdated),
        Err(fault) if factor::is_denied(&fault) => Ok(EffectResult::Unapproved { why: Unanswered::Denied }),
        Err(fault) if fault.code() == Code::Validation => Ok(EffectResult::Unapproved { why: Unanswered::Unavailable }),
        Err(fault) if fault.code() == Code::Throttled && is_longer(&fault, left) => {
            Ok(EffectResult::Unapproved { why: Unanswered::Limited })
        }
        Err(fault) if matches!(fault.code(), Code::Throttled | Code::Unavailable) => {
            Ok(EffectResult::Refused(problem::unasked(&fault)))
        }
        Err(fault) => Err(fault),
    }
}

/// Whether a refusal lasts longer than so many milliseconds.
fn is_longer(fault: &Fault, left: Millis) -> bool {
    fault.data().get("retryAfterSeconds").and_then(Value::as_i64).is_some_and(|it| it.saturating_mul(1_000) > left)
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
    if record.kind.is_of_operators() {
        return confirm_operator_factor(core, site, record, waiting, new).await;
    }
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

/// The same of somebody who runs the site, whose factors are kept elsewhere than the flow. So the flow shows the codes first, and goes
/// back where they don't come to count.
async fn confirm_operator_factor(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    waiting: Waiting,
    new: New,
) -> Result<EffectResult> {
    let prepared = operator_enrolment::prepare(core, &waiting)?;
    let (challenge, codes) = (prepared.challenge.clone(), prepared.codes.clone());
    let shows = State::KeepCodes { challenge: challenge.clone(), codes: codes.clone() };
    if !store(site, record.clone(), shows).await? {
        return Ok(EffectResult::Outdated);
    }
    let confirmed = operator_enrolment::confirm(core, site, waiting, new, &prepared).await;
    let before = match &confirmed {
        Ok(true) => return Ok(EffectResult::Enrolled { challenge, codes }),
        Ok(false) => State::SignIn { email: None },
        Err(_) => record.state.clone(),
    };
    store(site, Record { revision: record.revision + 1, ..record.clone() }, before).await?;
    confirmed.map(|_| EffectResult::Outdated)
}

/// Stores where a flow stands: whether it had not moved on meanwhile.
async fn store(site: &Arc<Site>, record: Record, state: State) -> Result<bool> {
    let stored = site.write_with((site.clone(), record, state), |tx, (site, record, state)| {
        boxed!(record::advance(tx, site, record, state).await)
    });
    stored.await
}

/// How the sign-in of somebody who runs the site goes on.
fn operator_result(asked: Asked) -> Result<EffectResult> {
    Ok(match asked {
        Asked::Cleared(cleared) => EffectResult::Operator(cleared),
        Asked::Factor(challenge) => EffectResult::OperatorFactor(challenge),
        Asked::Enrolment { challenge, until } => EffectResult::OperatorEnrolment { challenge, until },
    })
}

fn cleared_or_outdated(cleared: Option<Cleared>) -> Result<EffectResult> {
    Ok(cleared.map_or(EffectResult::Outdated, EffectResult::Operator))
}

/// The id of those whose factors a flow is about.
fn realm_of(site: &Site, record: &Record) -> SiteId {
    if record.kind.is_of_operators() { factor::operators() } else { site.id.clone() }
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
    let Some(challenge) = challenge else {
        let signed = passkey::sign_in(core, site, &attempt, presented.as_ref(), &page::flow_name(record)).await?;
        return sign_in_result(core, site, record, signed).await;
    };
    let (shown, address) = (Shown::Passkey(presented), attempt.address);
    if record.kind.is_of_operators() {
        return cleared_or_outdated(ask::verify(core, site, challenge, &shown, address).await?);
    }
    let answer = second_factor::FactorAnswer { challenge, shown, remembers, address, hints: attempt.hints };
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
    let new = enrolment::new_passkey(core, (site, &realm_of(site, record)), &waiting, presented.as_ref())?;
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
                    // What was shown first is not known any more, so it is the least; and who has a second factor by now begins again.
                    if !member.pending_approval && factor::is_asked_for_any(tx, &site.id, &member.id).await? {
                        return Ok(None);
                    }
                    let (visitor, address) = (attempt.visitor.as_ref(), Some(attempt.address));
                    let second = SecondFactor::of_browser(attempt.hints.cookie.as_deref());
                    let first = FirstFactor::ProviderOfMailbox;
                    let origin = Origin { visitor, address, second, first, ..Origin::default() };
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
    core: &Arc<Core>,
    site: &Site,
    record: &Record,
    email: Option<&Email>,
    (password, from): (&Secret, IpAddr),
) -> Result<EffectResult> {
    let link = opaque::hash_from_hex(record.context.link.as_deref().unwrap_or_default());
    let (operator, role) = invitation::accept_hash(core, &link, email, password, from).await?;
    operator_result(ask::ask(core, site, operator, role).await?)
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
