//! How members come to be and show who they are: registration, login, sign-on.

use crate::{
    Core, Identity, audit,
    community::setting::Privacy,
    defence::{
        attempt::{self, Account, Attempt},
        captcha, device,
        throttle::{AttemptKind, Permit},
    },
    factor,
    mail::{self, notice},
    member::{self, Member, Move, Status, access::MemberWrite, profile::Profile, row},
    password::{Match, Share},
    policy,
    provider::link,
    session::{self, SessionSelector},
    sign_in::{
        advance,
        enrolment::{self, CallOrigin},
        new_password::{self, Person},
        origin::{Origin, SecondFactor},
        outcome::Outcome,
    },
};
use serde_json::Value;
use std::{net::Ipv4Addr, sync::Arc};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Result, Secret, SessionId, SiteId, Violation, VisitorId};
use stoa_store::{Site, Tx, boxed};

/// What `register` reads. Absent members of the request are empty.
#[derive(Debug, Clone)]
pub struct Registration {
    pub email: String,
    pub password: Secret,
    pub profile: Value,
}

/// What `sign-on` reads: a member whom an app has recognised.
#[derive(Debug, Clone)]
pub struct SignOn {
    pub email: String,
    pub profile: Value,
    /// The app has seen that the address belongs to the person.
    pub verify_email: bool,
}

impl Identity {
    /// Makes an account and says what comes next (docs/protocol/identity.md §6, §11).
    ///
    /// # Errors
    /// [`Code::Validation`] for the address (with `data.type` EMAIL), password and profile;
    /// [`Code::CaptchaMissing`], [`Code::CaptchaInvalid`], [`Code::Unavailable`] when the site's captcha
    /// provider is; [`Code::EmailTaken`]; [`Code::Throttled`].
    pub async fn member_register(
        &self,
        site: &Arc<Site>,
        attempt: &Attempt,
        registration: &Registration,
    ) -> Result<Outcome> {
        let outcome = register(&self.core, site, attempt, registration).await?;
        enrolment::for_call(&self.core, site, outcome, CallOrigin::of(attempt)).await
    }

    /// Signs a member in by password. An unknown address costs and answers the same as a wrong password.
    ///
    /// # Errors
    /// [`Code::EmailInvalid`], [`Code::CaptchaMissing`], [`Code::CaptchaInvalid`], [`Code::Unavailable`] when the
    /// site's captcha provider is, [`Code::PasswordWrong`], [`Code::PasswordReset`] when the password was right,
    /// [`Code::MemberBlocked`], [`Code::Throttled`]; never [`Code::Validation`] (docs/protocol/identity.md §21.11).
    pub async fn member_login(
        &self,
        site: &Arc<Site>,
        attempt: &Attempt,
        email: &str,
        password: &Secret,
    ) -> Result<Outcome> {
        let outcome = login(&self.core, site, attempt, email, password).await?;
        enrolment::for_call(&self.core, site, outcome, CallOrigin::of(attempt)).await
    }

    /// Makes or updates a member whom an app vouches for; no credentials (docs/protocol/identity.md §6, sign-on).
    /// The app's word counts as approval. The first time that an app vouches for an address which has not been proven,
    /// the account's password is dropped, its sessions end and a message tells so, whatever the app says of the address:
    /// the password may have been set by another person, who was there first. One that is set afterwards, in a session
    /// begun so, stays.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app; [`Code::Validation`]; [`Code::MemberBlocked`].
    pub async fn member_sign_on(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        visitor: Option<&VisitorId>,
        sign_on: &SignOn,
    ) -> Result<(Member, Secret)> {
        let core = &self.core;
        let write = MemberWrite::vouching(caller)?;
        let (email, profile) = check_identity(&sign_on.email, &sign_on.profile);
        let (Some(email), Ok(profile)) = (email.as_ref().ok(), profile.as_ref()) else {
            return Err(Fault::invalid(email.err().into_iter().chain(profile.err().into_iter().flatten()).collect()));
        };
        let known = member::find_by_email(site, email).await?.filter(|it| may_be_anothers(it, email));
        let vouched = Vouched {
            app: caller.clone(),
            write,
            email: email.clone(),
            profile: profile.clone(),
            visitor: visitor.cloned(),
            is_verified: sign_on.verify_email,
        };
        let is_mail_due = known.is_some();
        let expected = known.map(|it| SessionSelector::Member(it.id));
        let input = (core.clone(), site.clone(), vouched);
        let signed_on = session::end_in(core, site, expected, input, |tx, (core, site, vouched)| {
            boxed!(sign_on_in(core, tx, site, vouched).await)
        });
        let signed_on = signed_on.await?;
        if is_mail_due {
            mail::deliver_soon(core, &site.id).await;
        }
        match signed_on {
            Outcome::Success { member, session_token } => Ok((member, session_token)),
            _ => Err(Fault::internal("a member vouched for by an app was not active")),
        }
    }

    /// Makes a member set a new password by a recovery link before the next sign-in, because this one may
    /// be known to others: all sessions end.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`].
    pub async fn password_refuse(&self, site: &Arc<Site>, caller: &Caller, id: &MemberId) -> Result<()> {
        let core = &self.core;
        let write = MemberWrite::privileged(caller)?;
        let all = SessionSelector::Member(id.clone());
        let input = (core.clone(), site.id.clone(), write, caller.clone(), id.clone());
        session::end_in(core, site, Some(all), input, |tx, (core, site, write, caller, id)| {
            boxed!({
                let member = row::get(tx, site, id).await?.filter(Member::is_there);
                let mut member = member.ok_or_else(|| Fault::new(Code::NotFound))?;
                member.must_reset = true;
                link::drop_unsure(tx, site, &mut member, core.now()).await?;
                row::write_password(tx, write, site, &member).await?;
                let entry = audit::Entry::by(caller, audit::Event::PasswordRefused, id);
                audit::record(core, tx, site, entry).await?;
                let ended = SessionSelector::Member(id.clone()).end(tx, site, core.now()).await?;
                device::forget(tx, site, id, core.now()).await?;
                Ok(((), ended))
            })
        })
        .await
    }
}

/// What [`Identity::member_register`] does.
pub(crate) async fn register(
    core: &Arc<Core>,
    site: &Arc<Site>,
    attempt: &Attempt,
    registration: &Registration,
) -> Result<Outcome> {
    let (email, profile) = check_registration(core, site, registration).await?;
    captcha::require(core, site, attempt).await?;
    let throttle = &core.throttle;
    let kind = AttemptKind::Registration;
    let _attempted = throttle.attempt(kind, core.now(), &site.id, attempt.address, email.folded())?;
    let share = core.passwords.share(attempt.address, site.id.as_str(), email.folded());
    new_password::require_unleaked(core, share, &registration.password, "password").await?;
    let permit = core.passwords.permit(share).await?;
    if member::find_by_email(site, &email).await?.is_some() {
        return Err(Fault::new(Code::EmailTaken));
    }
    let hash = permit.hash(&registration.password, core.world()).await?;
    drop(permit);
    let address = attempt.address;
    let advanced = site
        .write_with(
            (core.clone(), site.clone(), attempt.visitor.clone(), email, hash, profile),
            move |tx, (core, site, visitor, email, hash, profile)| {
                boxed!({
                    let policy = policy::read(tx, &site.id).await?;
                    let (id, now) = (MemberId::from(core.world().uuid()), core.now());
                    let mut member = Member::new(id, email.as_str(), profile.clone(), now);
                    member.password_hash = Some(hash.clone());
                    Privacy::read(tx, &site.id).await?.begin(&mut member);
                    member.pending_email = policy.require_email_verification;
                    member.pending_fields = !policy.missing_fields(&member.profile).is_empty();
                    member.pending_approval = policy.require_owner_approval;
                    if !member.pending_email && !member.pending_fields && !member.pending_approval {
                        member.status = Status::Active;
                    }
                    if !row::insert(tx, &MemberWrite::registering(), &site.id, &mut member, email).await? {
                        return Err(Fault::new(Code::EmailTaken));
                    }
                    let entry = audit::Entry::by_oneself(&member.id, audit::Event::Registered);
                    audit::record(core, tx, &site.id, entry.at_address(Some(address))).await?;
                    let origin = Origin { visitor: visitor.as_ref(), address: Some(address), ..Origin::default() };
                    advance::advance(core, tx, site, member, origin).await
                })
            },
        )
        .await?;
    Ok(advance::send_after(core, site, advanced).await)
}

/// What [`Identity::member_login`] does.
pub(crate) async fn login(
    core: &Arc<Core>,
    site: &Arc<Site>,
    attempt: &Attempt,
    email: &str,
    password: &Secret,
) -> Result<Outcome> {
    let email = Email::parse(email).ok_or_else(|| Fault::new(Code::EmailInvalid))?;
    captcha::require(core, site, attempt).await?;
    let attempted = attempt::sign_in(core, site, attempt, Account::Member(&email)).await?;
    let share = core.passwords.share(attempt.address, site.id.as_str(), email.folded());
    let permit = core.passwords.permit(share).await?;
    let found = member::find_by_email(site, &email).await?;
    let stored = found.as_ref().and_then(|it| it.password_hash.clone());
    let matched = permit.check(password, stored.as_deref()).await?;
    let Some(member) = found.filter(|_| matched != Match::Wrong) else {
        return Err(Fault::new(Code::PasswordWrong));
    };
    let fresh = match matched {
        Match::RightButCheap => Some(permit.hash(password, core.world()).await?),
        Match::Right | Match::Wrong => None,
    };
    drop(permit);
    let advanced = site
        .write_with(
            (core.clone(), site.clone(), attempt.clone(), member.id, stored, fresh),
            move |tx, (core, site, attempt, id, stored, fresh)| {
                boxed!({
                    let now_there = row::get(tx, &site.id, id).await?;
                    // The password was changed or the account deleted while this one was checked.
                    let Some(mut member) = now_there.filter(|it| it.password_hash == *stored) else {
                        return Err(Fault::new(Code::PasswordWrong));
                    };
                    if let Some(fresh) = fresh {
                        member.password_hash = Some(fresh.clone());
                        row::write_password(tx, &MemberWrite::shown_to_be(id), &site.id, &member).await?;
                    }
                    let (visitor, address) = (attempt.visitor.as_ref(), Some(attempt.address));
                    let second = SecondFactor::of_browser(attempt.hints.cookie.as_deref());
                    let origin = Origin { visitor, address, second, ..Origin::default() };
                    advance::advance(core, tx, site, member, origin).await
                })
            },
        )
        .await?;
    // A member who still waits for a code was sent a message, so that attempt counts. One of whom a second factor is asked
    // was sent nothing, and attempts at that are counted by themselves.
    if matches!(advanced, Outcome::Success { .. } | Outcome::MfaChallenge { .. } | Outcome::RequireEnrolment { .. }) {
        core.throttle.refund(attempted);
    }
    Ok(advance::send_after(core, site, advanced).await)
}

/// A member for whom an app vouches.
struct Vouched {
    app: Caller,
    write: MemberWrite,
    email: Email,
    profile: Profile,
    visitor: Option<VisitorId>,
    /// The app has seen that the address belongs to the person.
    is_verified: bool,
}

/// What [`Identity::member_sign_on`] writes, and the sessions that it ends.
async fn sign_on_in(core: &Core, tx: &mut Tx<'_>, site: &Site, vouched: &Vouched) -> Result<(Outcome, Vec<SessionId>)> {
    let write = &vouched.write;
    let now = core.now();
    let (mut member, is_new) = match row::by_email(tx, &site.id, &vouched.email).await? {
        Some(member) => (member, false),
        None => {
            let id = MemberId::from(core.world().uuid());
            (Member::new(id, vouched.email.as_str(), Profile::default(), now), true)
        }
    };
    let before = member.clone();
    member.profile.merge(vouched.profile.clone());
    member.fits_beside(&before.profile, "profile")?;
    match is_new {
        true => Privacy::read(tx, &site.id).await?.begin(&mut member),
        false if member.asks_to_be_public() => Privacy::read(tx, &site.id).await?.hold(&mut member),
        false => {}
    }
    let (mut ended, mut noted) = (Vec::new(), is_new.then_some(audit::Event::Created));
    let is_first = is_first_word(&member, &vouched.email);
    if may_be_anothers(&member, &vouched.email) {
        noted = Some(audit::Event::PasswordDropped);
        (member.password_hash, member.must_reset) = (None, false);
        ended = SessionSelector::Member(member.id.clone()).end(tx, &site.id, now).await?;
        device::forget(tx, &site.id, &member.id, now).await?;
        // Who set the password may have added them.
        factor::drop_all(core, tx, &site.id, &vouched.app, &member.id).await?;
        notice::password_dropped(core, tx, &site.id, &member).await?;
    }
    if is_first {
        // Others may have made the account by a provider that let them name this address.
        link::drop_since(tx, &site.id, &mut member, 0).await?;
    }
    member.email_verified |= vouched.is_verified;
    Move::Vouch.apply(&mut member);
    if is_new {
        if !row::insert(tx, write, &site.id, &mut member, &vouched.email).await? {
            return Err(Fault::new(Code::EmailTaken));
        }
    } else if member != before {
        // Most who are signed on are known and as they were: no index of theirs is written.
        row::write_password(tx, write, &site.id, &member).await?;
        row::update(tx, write, &site.id, &mut member, now).await?;
    }
    if is_first {
        row::record_vouched(tx, write, &site.id, &mut member, &vouched.email).await?;
    }
    if let Some(event) = noted {
        audit::record(core, tx, &site.id, audit::Entry::by(&vouched.app, event, &member.id)).await?;
    }
    // A password that is refused stays so; it isn't what they are signed on by.
    member.must_reset = false;
    let origin = Origin { visitor: vouched.visitor.as_ref(), app: Some(&vouched.app), ..Origin::default() };
    let outcome = advance::advance(core, tx, site, member, origin).await?;
    Ok((outcome, ended))
}

/// Counts a hash that is made for an account which the caller has shown to be theirs.
///
/// # Errors
/// [`Code::Throttled`].
pub(crate) fn password_attempt(core: &Core, site: &SiteId, account: &str) -> Result<()> {
    password_permit(core, site, account).map(drop)
}

/// The same where it may come to nothing and is given back.
pub(crate) fn password_permit(core: &Core, site: &SiteId, account: &str) -> Result<Permit> {
    let anywhere = Ipv4Addr::UNSPECIFIED.into();
    core.throttle.attempt(AttemptKind::Password, core.now(), site, anywhere, account)
}

/// Hashes a new password; the caller has checked it with [`new_password::violation_for`] and counted it. `field` is the
/// JSON path it came from.
///
/// # Errors
/// [`Code::Validation`] for one that is known from a leak; [`Code::Throttled`] when too many wait for a hash.
pub(crate) async fn hash_password(core: &Core, share: Share, password: &Secret, field: &str) -> Result<String> {
    new_password::require_unleaked(core, share, password, field).await?;
    core.passwords.permit(share).await?.hash(password, core.world()).await
}

async fn check_registration(core: &Core, site: &Site, registration: &Registration) -> Result<(Email, Profile)> {
    let (email, profile) = check_identity(&registration.email, &registration.profile);
    let password = match registration.password.expose() {
        "" => Some(Violation::new("password", "REQUIRED_FIELD", "a password is needed")),
        _ => {
            let person = Person { email: &registration.email, profile: profile.as_ref().ok() };
            new_password::violation_for(core, site, person, &registration.password, "password").await?
        }
    };
    match (email, password, profile) {
        (Ok(email), None, Ok(profile)) => Ok((email, profile)),
        (email, password, profile) => {
            let first = email.err().into_iter().chain(password);
            Err(Fault::invalid(first.chain(profile.err().into_iter().flatten()).collect()))
        }
    }
}

fn check_identity(email: &str, profile: &Value) -> (Result<Email, Violation>, Result<Profile, Vec<Violation>>) {
    let email = Email::parse(email).ok_or_else(|| {
        Violation::new("loginId.email", "FORMAT", "the email address is not valid").with("type", "EMAIL")
    });
    (email, Profile::parse(profile, "profile"))
}

/// Whether an app vouches for an address for the first time, and no one has proven it.
fn is_first_word(member: &Member, email: &Email) -> bool {
    !member.email_verified && member.vouched_email.as_deref() != Some(email.folded())
}

/// Whether another person than the owner of the address may have set the password.
fn may_be_anothers(member: &Member, email: &Email) -> bool {
    member.has_password() && is_first_word(member, email)
}
