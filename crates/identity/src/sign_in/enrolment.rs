//! The sign-in of a member of whom the site requires a second factor, and who has none that does (decision 44): no authenticator. A
//! code by e-mail is shown before any of it (decision 46).
//!
//! `advance` answers what `pending::enrolment` makes. On the account pages it goes on here: the member puts it off while the site lets them
//! ([`put_off`]), or begins ([`begin`]), shows a first code ([`first_step`], [`confirm`]), keeps the recovery codes and is signed
//! in ([`finish`]). Calls have no place for any of it ([`for_call`]): what may be put off is, and else the answer names the pages.

use crate::{
    Core,
    defence::{attempt::Attempt, throttle::AttemptKind},
    factor::{
        self, Draft, PasswordSet, SealedCodes,
        passkey::{self, NewPasskey, PresentedNew},
    },
    mail,
    member::{self, Member, Status},
    password::Fingerprint,
    policy::{self, SecondFactorPolicy},
    sign_in::{
        advance,
        challenge::{self, Challenge},
        code::{self, Use},
        origin::SecondFactor,
        outcome::Outcome,
    },
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{ClientId, Code, Fault, MemberId, Result, Secret, SiteId};
use stoa_store::{Site, Tx, boxed};

/// A sign-in that waits, and where it is gone on with.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub challenge: Challenge,
    pub address: IpAddr,
}

impl Waiting {
    /// What was shown before.
    fn second(&self) -> SecondFactor<'static> {
        match self.challenge.has_shown {
            true => SecondFactor::Shown { remembers: self.challenge.remembers, is_authenticator: false },
            false => SecondFactor::Nothing,
        }
    }
}

/// How an enrolment that was asked for begins.
#[derive(Debug, Clone)]
pub(crate) enum Begun {
    /// To be set up, under this account.
    Draft { draft: Draft, account: String },
    /// The member has to show first that the address is theirs, or nothing is required of them any more.
    Outcome(Box<Outcome>),
}

/// What the first code comes to.
#[derive(Debug, Clone)]
pub(crate) enum Confirmed {
    /// It counts from now on. The sign-in ends by [`finish`].
    Kept { challenge: Challenge, codes: SealedCodes },
    /// The site's members add none any more, or this one can't sign in; nothing was kept.
    Outcome(Box<Outcome>),
}

/// Where a call comes from that signs in.
#[derive(Debug, Clone, Copy)]
pub struct CallOrigin<'a> {
    pub address: IpAddr,
    /// The front end whose visitor token it has: the one whose pages it is sent to where a member sets a factor up.
    pub client: Option<&'a ClientId>,
    /// What its browser says it is.
    pub user_agent: Option<&'a str>,
}

impl<'a> CallOrigin<'a> {
    pub(crate) fn of(attempt: &'a Attempt) -> Self {
        let user_agent = attempt.hints.user_agent.as_deref();
        Self { address: attempt.address, client: attempt.client.as_ref(), user_agent }
    }
}

impl From<IpAddr> for CallOrigin<'_> {
    /// Of no front end.
    fn from(address: IpAddr) -> Self {
        Self { address, client: None, user_agent: None }
    }
}

/// The outcome as a call answers it.
///
/// # Errors
/// [`Code::StateTokenInvalid`] when the member's password or factors change meanwhile; those of a sign-in.
pub(crate) async fn for_call(
    core: &Arc<Core>,
    site: &Arc<Site>,
    outcome: Outcome,
    CallOrigin { address, client, .. }: CallOrigin<'_>,
) -> Result<Outcome> {
    let outcome = match outcome {
        Outcome::RequireEnrolment { challenge, until: Some(_), .. } => {
            let put_off = put_off(core, site, Waiting { challenge, address }).await?;
            put_off.ok_or_else(|| Fault::new(Code::StateTokenInvalid))?
        }
        other => other,
    };
    match outcome {
        Outcome::RequireEnrolment { challenge, until, takes_passkey, .. } => {
            let url = Some(mail::sign_in_url(core, site, client).await?);
            Ok(Outcome::RequireEnrolment { challenge, until, url, takes_passkey })
        }
        other => Ok(other),
    }
}

/// Goes on with the sign-in without a factor, if the site lets the member put it off. `None` when the sign-in is over: the
/// member has another password or a factor by now, or it waited too long.
///
/// # Errors
/// [`Code::MemberBlocked`]; [`Code::PasswordReset`].
pub(crate) async fn put_off(core: &Arc<Core>, site: &Arc<Site>, waiting: Waiting) -> Result<Option<Outcome>> {
    let advanced = site.write_with((core.clone(), site.clone(), waiting), |tx, (core, site, waiting)| {
        boxed!({
            let Some(member) = still_waits(core, tx, site, waiting).await? else { return Ok(None) };
            let Challenge { has_shown, remembers, .. } = waiting.challenge;
            let put_off = SecondFactor::PutOff { has_shown, remembers };
            go_on(core, tx, site, member, waiting, put_off).await.map(Some)
        })
    });
    sent(core, site, advanced.await?).await
}

/// Begins to set up an authenticator. Who has not shown that the address is theirs, or whose password a session has set
/// lately, shows a code that is sent to the address first: who registers the address of others, or steals a session, keeps
/// its owner out by no factor. `None` as for [`put_off`].
///
/// # Errors
/// [`Code::Throttled`] when the member got too many messages; [`Code::MemberBlocked`]; [`Code::PasswordReset`].
pub(crate) async fn begin(core: &Arc<Core>, site: &Arc<Site>, waiting: Waiting) -> Result<Option<Begun>> {
    let begun = site.write_with((core.clone(), site.clone(), waiting), |tx, (core, site, waiting)| {
        boxed!({
            let Some(member) = still_waits(core, tx, site, waiting).await? else { return Ok(None) };
            if !is_asked(tx, site, &member).await? {
                let outcome = go_on(core, tx, site, member, waiting, waiting.second()).await?;
                return Ok(Some(Begun::Outcome(Box::new(outcome))));
            }
            if !has_shown_address(core, tx, site, waiting, &member).await? {
                let Challenge { visitor, first, .. } = &waiting.challenge;
                let for_use = Use::SignIn(visitor.as_ref(), *first);
                let state_token = code::start(core, tx, site, &member, for_use).await?;
                let outcome = Outcome::RequireEmailVerification { member, state_token };
                return Ok(Some(Begun::Outcome(Box::new(outcome))));
            }
            let draft = Draft::draw(core, &site.id, &member.id)?;
            Ok(Some(Begun::Draft { draft, account: member.email }))
        })
    });
    let begun = begun.await?;
    if matches!(begun, Some(Begun::Outcome(_))) {
        mail::deliver_soon(core, &site.id).await;
    }
    Ok(begun)
}

/// The step of time of an authenticator's first code, in the realm of the site's members or of those who run it. `None` when
/// it is another member's or its key is gone.
///
/// # Errors
/// [`Code::VerificationFailed`] for a wrong code; [`Code::Throttled`].
pub(crate) async fn first_step(
    core: &Core,
    (site, realm): (&Site, &SiteId),
    waiting: &Waiting,
    draft: &Draft,
    code: &Secret,
) -> Result<Option<i64>> {
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, waiting.address, "")?;
    let step = draft.step_of(core, realm, &waiting.challenge.member, code).await?;
    core.throttle.refund(permit);
    Ok(step)
}

/// A factor that is new, and was shown for the first time.
#[derive(Debug, Clone)]
pub(crate) enum New {
    /// Its first code was of this step of time.
    Authenticator {
        draft: Draft,
        step: i64,
    },
    Passkey(NewPasskey),
}

/// Checks a passkey that was made on the way of a sign-in.
///
/// # Errors
/// [`Code::VerificationFailed`] whatever is wrong with it; [`Code::Throttled`].
pub(crate) fn new_passkey(
    core: &Core,
    (site, realm): (&Site, &SiteId),
    waiting: &Waiting,
    presented: Option<&PresentedNew>,
) -> Result<NewPasskey> {
    let Challenge { member, generation, .. } = &waiting.challenge;
    let for_use = passkey::Use::SignInEnrolment { member, generation: *generation };
    factor::check_new_passkey(core, (&site.id, realm), presented, for_use, waiting.address)
}

/// Has a factor that was shown for the first time count from now on, also when the site has come to let its members choose.
/// Inside the transaction in which the sign-in stores the recovery codes, so that they are shown whatever stops in between.
/// `None` as for [`put_off`].
///
/// # Errors
/// [`Code::VerificationFailed`] for a passkey that there is already; [`Code::MemberBlocked`]; [`Code::PasswordReset`].
pub(crate) async fn confirm(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    waiting: &Waiting,
    new: &New,
) -> Result<Option<Confirmed>> {
    let Some(member) = still_waits(core, tx, site, waiting).await? else { return Ok(None) };
    let is_off = policy::read(tx, &site.id).await?.second_factor == SecondFactorPolicy::Off;
    if is_off || !can_sign_in(&member) {
        let outcome = go_on(core, tx, site, member, waiting, waiting.second()).await?;
        return Ok(Some(Confirmed::Outcome(Box::new(outcome))));
    }
    // The address may have become another one since it was set up.
    if !has_shown_address(core, tx, site, waiting, &member).await? {
        return Ok(None);
    }
    let codes = match new {
        New::Authenticator { draft, step } => draft.keep(core, tx, &site.id, &member, (*step, waiting.address)).await?,
        New::Passkey(new) => {
            let kept = factor::keep_passkey(core, tx, &site.id, &member, (new, waiting.address)).await?;
            kept.ok_or_else(|| Fault::new(Code::VerificationFailed))?
        }
    };
    if waiting.challenge.first.is_own() {
        factor::trust_password(tx, &site.id, &member.id).await?;
    } else if !waiting.challenge.has_shown {
        // While there was no factor nothing was kept of how the password was set.
        factor::password_was_set(core, tx, &site.id, &member.id, PasswordSet::Unseen).await?;
    }
    let generation = factor::generation(tx, &site.id, &member.id).await?.unwrap_or_default();
    let challenge = Challenge { generation, until: core.now() + challenge::ENROLMENT, ..waiting.challenge.clone() };
    Ok(Some(Confirmed::Kept { challenge, codes }))
}

/// Signs in who has set up a factor and kept the recovery codes. `None` when the factor is gone, the password another one, or
/// it took too long: then the member is asked for the factor as at any sign-in.
///
/// # Errors
/// [`Code::MemberBlocked`]; [`Code::PasswordReset`].
pub(crate) async fn finish(core: &Arc<Core>, site: &Arc<Site>, waiting: Waiting) -> Result<Option<Outcome>> {
    let advanced = site.write_with((core.clone(), site.clone(), waiting), |tx, (core, site, waiting)| {
        boxed!({
            let Some(member) = with_password(core, tx, site, waiting).await? else { return Ok(None) };
            if factor::generation(tx, &site.id, &member.id).await? != Some(waiting.challenge.generation) {
                return Ok(None);
            }
            let shown = SecondFactor::Shown { remembers: waiting.challenge.remembers, is_authenticator: false };
            go_on(core, tx, site, member, waiting, shown).await.map(Some)
        })
    });
    sent(core, site, advanced.await?).await
}

/// Whether the site requires a second factor of a member now, who has none that does: a session of theirs, which may be of before, makes no
/// session of another client.
pub(crate) async fn is_due(core: &Core, tx: &mut Tx<'_>, site: &Site, member: &MemberId) -> Result<bool> {
    let policy = policy::read(tx, &site.id).await?;
    if policy.second_factor != SecondFactorPolicy::Required
        || factor::has_authenticator(core, tx, &site.id, member).await?
    {
        return Ok(false);
    }
    let Some(member) = member::get(tx, &site.id, member).await? else { return Ok(false) };
    Ok(policy.factor_due(tx, &site.id, &member).await?.is_some_and(|due| due <= core.now()))
}

async fn sent(core: &Arc<Core>, site: &Arc<Site>, outcome: Option<Outcome>) -> Result<Option<Outcome>> {
    match outcome {
        Some(outcome) => Ok(Some(advance::send_after(core, site, outcome).await)),
        None => Ok(None),
    }
}

async fn go_on(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: Member,
    waiting: &Waiting,
    second: SecondFactor<'_>,
) -> Result<Outcome> {
    advance::advance(core, tx, site, member, waiting.challenge.origin(waiting.address, second)).await
}

/// The member, when the sign-in still waits for one without an authenticator; locks their guard, so that of many at once one acts.
async fn still_waits(core: &Core, tx: &mut Tx<'_>, site: &Site, waiting: &Waiting) -> Result<Option<Member>> {
    let Some(member) = with_password(core, tx, site, waiting).await? else { return Ok(None) };
    let challenge = &waiting.challenge;
    let is_same = factor::locked_generation(tx, &site.id, &member.id).await? == challenge.generation
        && !factor::has_authenticator(core, tx, &site.id, &member.id).await?
        && (challenge.has_shown || factor::generation(tx, &site.id, &member.id).await?.is_none());
    Ok(is_same.then_some(member))
}

/// The member, when the password that was shown is theirs still.
async fn with_password(core: &Core, tx: &mut Tx<'_>, site: &Site, waiting: &Waiting) -> Result<Option<Member>> {
    let challenge = &waiting.challenge;
    if core.now() >= challenge.until {
        return Ok(None);
    }
    let member = member::get(tx, &site.id, &challenge.member).await?;
    Ok(member.filter(|it| Fingerprint::of(it.password_hash.as_deref()) == challenge.password))
}

/// Whether the site requires a factor still, of one who may sign in still.
async fn is_asked(tx: &mut Tx<'_>, site: &Site, member: &Member) -> Result<bool> {
    Ok(can_sign_in(member) && policy::read(tx, &site.id).await?.factor_due(tx, &site.id, member).await?.is_some())
}

fn can_sign_in(member: &Member) -> bool {
    member.status == Status::Active && !member.must_reset
}

/// Whether the member who signs in has shown that the address is theirs: in this sign-in, or before it and has a password of which there
/// is no doubt. Another address ends the sign-in.
async fn has_shown_address(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    waiting: &Waiting,
    member: &Member,
) -> Result<bool> {
    let is_sure =
        waiting.challenge.has_shown_address || !factor::was_set_lately(tx, &site.id, &member.id, core.now()).await?;
    Ok(member.email_verified && is_sure)
}
