//! The effects that answer with an outcome: each is one operation of identity.

use crate::flow::{
    Browser, problem,
    record::Record,
    state::{Effect, Outcome, PasswordReason},
    wire::{FlowKind, ProfileInput},
};
use crate::{
    Identity, Marks, SignIn,
    defence::attempt::{Account, Attempt},
    member::{Registration, profile::Profile},
    operator::Person,
    password,
    sign_in::{outcome::Origin, recovery::Wish},
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Code, Email, Fault, MemberId, Result, Role, Secret};
use stoa_store::{Site, boxed};

/// Who was granted a session.
pub(super) enum Grant {
    /// A member, by the `sessionToken` of the finished sign-in.
    Member(Secret),
    Person(Person, Role),
}

type Came = (Outcome, Option<Grant>);

impl Identity {
    /// Carries an effect out. What the person can do something about is an outcome, not an error.
    pub(super) async fn flow_effect(
        &self,
        site: &Arc<Site>,
        record: &Record,
        effect: Effect,
        browser: &Browser,
    ) -> Result<Came> {
        match self.flow_effect_inner(site, record, effect, browser).await {
            Ok(came) => Ok(came),
            Err(fault) => Ok((Outcome::Refused(problem::of(fault)?), None)),
        }
    }

    async fn flow_effect_inner(
        &self,
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
            marks: Marks { cookie: browser.device.clone(), user_agent: browser.user_agent.clone() },
            captcha,
        };
        match effect {
            Effect::CheckPassword { email, password, .. } if is_owner => {
                let tried = self.sign_in_attempt(site, &attempt, Account::Person(&email)).await?;
                let session = self.person_sign_in(&site.id, &email, &password).await?;
                self.core.throttle.refund(tried);
                Ok((Outcome::Granted, Some(Grant::Person(session.person, session.role))))
            }
            Effect::CheckPassword { email, password, .. } => {
                let signed = self.member_login(site, &attempt, email.as_str(), &password).await?;
                self.flow_signed(site, record, signed).await
            }
            Effect::Register { email, password, .. } if is_owner => {
                self.flow_accept_invite(record, Some(&email), &password).await
            }
            Effect::Register { email, password, profile, .. } => {
                let email = email.as_str().to_owned();
                let registration = Registration { email, password, profile: profile_json(profile, browser) };
                let signed = self.member_register(site, &attempt, &registration).await?;
                self.flow_signed(site, record, signed).await
            }
            Effect::CheckCode { code, .. } => {
                match self.verification_check_hash(site, record.hash.clone(), &code, attempt.address).await {
                    Ok(signed) => self.flow_signed(site, record, signed).await,
                    Err(fault) if fault.code() == Code::StateTokenInvalid => {
                        Ok((Outcome::Refused(problem::wrong_code()), None))
                    }
                    Err(fault) => Err(fault),
                }
            }
            Effect::SendCode { .. } => match self.verification_resend_hash(site, record.hash.clone()).await {
                Ok(_) => Ok((Outcome::Sent, None)),
                Err(fault) if fault.code() == Code::StateTokenInvalid => {
                    Ok((Outcome::Refused(problem::wrong_code()), None))
                }
                Err(fault) => Err(fault),
            },
            Effect::Complete { member, password, profile } => {
                let told = Profile::parse(&profile_json(profile, browser), "profile").map_err(Fault::invalid)?;
                match self.member_complete(site, &member, &password, told, attempt.visitor, attempt.address).await? {
                    Some(signed) => self.flow_signed(site, record, signed).await,
                    None => Ok((Outcome::Outdated, None)),
                }
            }
            Effect::CheckApproval { member, password } => {
                self.flow_check_approval(site, record, &member, password, attempt).await
            }
            Effect::SendRecovery { email } => {
                // Under a name that isn't the server's own, which whoever asks may have made up, this server's
                // addresses were allowed as if they were of that name.
                let is_own_name = browser.base_url == *self.url();
                let return_url = record.context.return_url.clone().filter(|_| is_own_name);
                let language = browser.language.clone();
                self.recovery_ask(site, browser.address, &email, Wish { language, return_url }).await?;
                Ok((Outcome::Sent, None))
            }
            Effect::SetPassword { reason: PasswordReason::OwnerSetup, password } => {
                self.flow_accept_invite(record, None, &password).await
            }
            Effect::SetPassword { reason: PasswordReason::Recovery, password } => {
                let link = record.context.link.as_deref().unwrap_or_default();
                let signed = self
                    .recovery_finish_hash(site, &crate::operator::invite::bytes(link), &password, attempt.address)
                    .await?;
                self.flow_signed(site, record, signed).await
            }
            Effect::EndSession => {
                if let Some(session) = browser.session(self, site).await? {
                    self.session_end(site, &session.id).await?;
                }
                if let Some(session) = browser.person(self, site).await? {
                    self.person_session_end(&session).await?;
                }
                Ok((Outcome::SignedOut, None))
            }
            Effect::OpenSession | Effect::Finish(_) => Err(Fault::internal("the conductor ends flows itself")),
        }
    }

    async fn flow_signed(&self, site: &Arc<Site>, record: &Record, signed: SignIn) -> Result<Came> {
        Ok(match signed {
            SignIn::Success { session_token, .. } => (Outcome::Granted, Some(Grant::Member(session_token))),
            SignIn::RequireEmailVerification { member, state_token } => {
                self.verification_adopt(site, &state_token, &record.hash).await?;
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
    async fn flow_check_approval(
        &self,
        site: &Arc<Site>,
        record: &Record,
        member: &MemberId,
        password: String,
        attempt: Attempt,
    ) -> Result<Came> {
        let (me, place, id) = (self.clone(), site.clone(), member.clone());
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
                    me.sign_in_advance(tx, &site, member, origin).await.map(Some)
                })
            })
            .await?;
        let Some(advanced) = advanced else { return Ok((Outcome::Outdated, None)) };
        match self.send_after(site, advanced).await {
            SignIn::RequireOwnerApproval { .. } => Ok((Outcome::Unchanged, None)),
            signed => self.flow_signed(site, record, signed).await,
        }
    }

    async fn flow_accept_invite(&self, record: &Record, email: Option<&Email>, password: &Secret) -> Result<Came> {
        let link = crate::operator::invite::bytes(record.context.link.as_deref().unwrap_or_default());
        let (person, role) = self.invite_accept_hash(&link, email, password).await?;
        Ok((Outcome::Granted, Some(Grant::Person(person, role))))
    }
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
