//! The effects that answer with an outcome: each is one operation of identity.

use crate::{
    Core, DeviceHints, SignIn,
    browser::Browser,
    defence::attempt::{self, Account, Attempt},
    flow::{
        problem,
        record::Record,
        state::{Effect, Outcome, PasswordReason},
        wire::{FlowKind, ProfileInput},
    },
    mail::{self, Wish},
    member::profile::Profile,
    operator::{self, Operator},
    password, session,
    sign_in::{
        invitation,
        login::{self, Registration},
        outcome::{self, Origin},
        recovery, stage, verification,
    },
    token::opaque,
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Code, Email, Fault, MemberId, Result, Role, Secret};
use stoa_store::{Site, boxed};

/// Who was granted a session.
pub(super) enum Grant {
    /// A member, by the `sessionToken` of the finished sign-in.
    Member(Secret),
    Operator(Operator, Role),
}

type Came = (Outcome, Option<Grant>);

/// Carries an effect out. What the person can do something about is an outcome, not an error.
pub(crate) async fn run(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    effect: Effect,
    browser: &Browser,
) -> Result<Came> {
    match run_inner(core, site, record, effect, browser).await {
        Ok(came) => Ok(came),
        Err(fault) => Ok((Outcome::Refused(problem::of(fault)?), None)),
    }
}

async fn run_inner(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    effect: Effect,
    browser: &Browser,
) -> Result<Came> {
    let is_owner = matches!(record.kind, FlowKind::OwnerSetup | FlowKind::OwnerSignIn);
    let captcha = match &effect {
        Effect::CheckPassword { captcha, .. } | Effect::Register { captcha, .. } => captcha.clone(),
        _ => None,
    };
    let attempt = Attempt {
        address: browser.address,
        visitor: record.context.authorization.as_ref().and_then(|it| it.visitor.clone()),
        hints: DeviceHints { cookie: browser.device.clone(), user_agent: browser.user_agent.clone() },
        captcha,
    };
    match effect {
        Effect::CheckPassword { email, password, .. } if is_owner => {
            let tried = attempt::sign_in(core, site, &attempt, Account::Operator(&email)).await?;
            let session = operator::sign_in(core, &site.id, &email, &password).await?;
            core.throttle.refund(tried);
            Ok((Outcome::Granted, Some(Grant::Operator(session.operator, session.role))))
        }
        Effect::CheckPassword { email, password, .. } => {
            let signed = login::login(core, site, &attempt, email.as_str(), &password).await?;
            outcome_of(core, site, record, signed).await
        }
        Effect::Register { email, password, .. } if is_owner => {
            accept_invite(core, record, Some(&email), &password).await
        }
        Effect::Register { email, password, profile, .. } => {
            let email = email.as_str().to_owned();
            let registration = Registration { email, password, profile: profile_json(profile, browser) };
            let signed = login::register(core, site, &attempt, &registration).await?;
            outcome_of(core, site, record, signed).await
        }
        Effect::CheckCode { code, .. } => {
            match verification::check_hash(core, site, record.hash.clone(), &code, attempt.address).await {
                Ok(signed) => outcome_of(core, site, record, signed).await,
                Err(fault) if fault.code() == Code::StateTokenInvalid => {
                    Ok((Outcome::Refused(problem::wrong_code()), None))
                }
                Err(fault) => Err(fault),
            }
        }
        Effect::SendCode { .. } => match verification::resend_hash(core, site, record.hash.clone()).await {
            Ok(_) => Ok((Outcome::Sent, None)),
            Err(fault) if fault.code() == Code::StateTokenInvalid => {
                Ok((Outcome::Refused(problem::wrong_code()), None))
            }
            Err(fault) => Err(fault),
        },
        Effect::Complete { member, password, profile } => {
            let told = Profile::parse(&profile_json(profile, browser), "profile").map_err(Fault::invalid)?;
            match stage::complete(core, site, &member, &password, told, attempt.visitor, attempt.address).await? {
                Some(signed) => outcome_of(core, site, record, signed).await,
                None => Ok((Outcome::Outdated, None)),
            }
        }
        Effect::CheckApproval { member, password } => {
            check_approval(core, site, record, &member, password, attempt).await
        }
        Effect::SendRecovery { email } => {
            // Under a name that isn't the server's own, which whoever asks may have made up, this server's
            // addresses were allowed as if they were of that name.
            let is_own_name = browser.base_url == *mail::url(core);
            let return_url = record.context.return_url.clone().filter(|_| is_own_name);
            let language = browser.language.clone();
            recovery::ask(core, site, browser.address, &email, Wish { language, return_url }).await?;
            Ok((Outcome::Sent, None))
        }
        Effect::SetPassword { reason: PasswordReason::OwnerSetup, password } => {
            accept_invite(core, record, None, &password).await
        }
        Effect::SetPassword { reason: PasswordReason::Recovery, password } => {
            let link = record.context.link.as_deref().unwrap_or_default();
            let signed =
                recovery::finish_hash(core, site, &opaque::hash_from_hex(link), &password, attempt.address).await?;
            outcome_of(core, site, record, signed).await
        }
        Effect::EndSession => {
            if let Some(session) = session::of_browser(core, site, browser).await? {
                session::end(core, site, &session.id).await?;
            }
            if let Some(session) = operator::session_of_browser(core, site, browser).await? {
                operator::end_session(core, &session).await?;
            }
            Ok((Outcome::SignedOut, None))
        }
        Effect::OpenSession | Effect::Finish(_) => Err(Fault::internal("the conductor ends flows itself")),
    }
}

async fn outcome_of(core: &Core, site: &Arc<Site>, record: &Record, signed: SignIn) -> Result<Came> {
    Ok(match signed {
        SignIn::Success { session_token, .. } => (Outcome::Granted, Some(Grant::Member(session_token))),
        SignIn::RequireEmailVerification { member, state_token } => {
            verification::adopt(core, site, &state_token, &record.hash).await?;
            (Outcome::MustVerify { member: member.id, email: member.email }, None)
        }
        SignIn::RequireMissingFields { member, fields, .. } => {
            let password = password::digest(member.password_hash.as_deref());
            (Outcome::MustTell { member: member.id, email: member.email, fields, password }, None)
        }
        SignIn::StatusCheck { .. } => return Err(Fault::internal("a flow's code did not sign anybody in")),
        SignIn::RequireOwnerApproval { member } => {
            let password = password::digest(member.password_hash.as_deref());
            (Outcome::MustWait { member: member.id, email: member.email, password }, None)
        }
    })
}

/// The person has shown who they are; they come in as soon as the owner has agreed, unless the
/// password has changed since.
async fn check_approval(
    core: &Arc<Core>,
    site: &Arc<Site>,
    record: &Record,
    member: &MemberId,
    password: String,
    attempt: Attempt,
) -> Result<Came> {
    let (me, place, id) = (core.clone(), site.clone(), member.clone());
    let advanced = site
        .write(move |tx| {
            let (me, site, id, visitor) = (me.clone(), place.clone(), id.clone(), attempt.visitor.clone());
            let password = password.clone();
            boxed!({
                let member = crate::member::get(tx, &site.id, &id).await?;
                let member = member.ok_or_else(|| Fault::new(Code::MemberBlocked))?;
                if password::digest(member.password_hash.as_deref()) != password {
                    return Ok(None);
                }
                let origin = Origin { visitor: visitor.as_ref(), address: Some(attempt.address), app: None };
                outcome::advance(&me, tx, &site, member, origin).await.map(Some)
            })
        })
        .await?;
    let Some(advanced) = advanced else { return Ok((Outcome::Outdated, None)) };
    match outcome::send_after(core, site, advanced).await {
        SignIn::RequireOwnerApproval { .. } => Ok((Outcome::Unchanged, None)),
        signed => outcome_of(core, site, record, signed).await,
    }
}

async fn accept_invite(core: &Core, record: &Record, email: Option<&Email>, password: &Secret) -> Result<Came> {
    let link = opaque::hash_from_hex(record.context.link.as_deref().unwrap_or_default());
    let (person, role) = invitation::accept_hash(core, &link, email, password).await?;
    Ok((Outcome::Granted, Some(Grant::Operator(person, role))))
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
