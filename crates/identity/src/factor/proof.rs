//! Showing again who one is, in a session that goes on: what changes second factors asks for it, so that a session which was
//! stolen is not enough.
//!
//! A member with a factor shows one; only a member without shows the password. A password that a session has set without
//! showing the one before proves nothing for a day, or until a recovery link has set another: else a stolen session
//! could choose a password, prove by it, and lock the owner out for good by a factor of its own. One that a link has set is as good as
//! the mailbox, so codes by e-mail are no second factor beside it until another one was shown beside it too.

use crate::{
    Core, Identity,
    defence::{
        attempt::{self, Account, Attempt},
        throttle::{AttemptKind, Permit},
    },
    factor::{
        Beside, FactorType, Realm, RelyingParty, Shown,
        check::{self, Verdict},
        dispatch, guard, passkey, password_state, proved,
        push::question::{self, AskedFrom, Question, Standing},
        sent,
    },
    mail,
    member::{self, Member},
    password::Match,
    session,
    telephone::Purpose,
};
use std::{net::Ipv4Addr, sync::Arc};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Millis, Result, Secret, SessionId, Violation};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Seconds after which a push service may have recovered.
const UNREACHED: i64 = 60;

/// By what a member shows who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    Password(Secret),
    Factor(Shown),
}

/// What is asked of a member who shows by a factor who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofAsked {
    /// The code that went there, most of it left out.
    SentTo(String),
    /// To answer it in one of their browsers.
    Question(Question),
}

impl Identity {
    /// Shows in a session who the member is: until when that holds. A password is no proof of a member who has a second
    /// factor.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::ProofNeeded`] for a password that
    /// is no proof; [`Code::PasswordWrong`]; [`Code::VerificationFailed`]; [`Code::Throttled`];
    /// [`Code::Unauthenticated`] when the session ends meanwhile.
    pub async fn member_prove(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        attempt: &Attempt,
        proof: &Proof,
    ) -> Result<Millis> {
        let core = &self.core;
        let (member, session) = oneself(caller)?;
        match proof {
            Proof::Password(password) => by_password(core, site, member, session, attempt, password).await?,
            Proof::Factor(shown) => by_factor(core, site, member, session, attempt, shown).await?,
        }
        Ok(core.now() + proved::LIFE)
    }

    /// Sends a code of a kind for a proof of this session, or a question to the member's browsers.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::Validation`] for one who takes no
    /// codes of the kind; [`Code::Throttled`]; [`Code::Unauthenticated`] when the session ends meanwhile;
    /// [`Code::Unavailable`] when it could not be sent.
    pub async fn member_prove_send(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        factor: FactorType,
        attempt: &Attempt,
    ) -> Result<ProofAsked> {
        let core = &self.core;
        let (id, session) = oneself(caller)?;
        let from = AskedFrom::of(attempt.address, attempt.hints.user_agent.as_deref());
        let prepared = dispatch::prepare(core, site, &id, (factor, Purpose::Proof), &from).await?;
        let put = site.write_with((core.clone(), site.clone(), id, session, prepared), |tx, input| {
            boxed!({
                let (core, site, id, session, prepared) = input;
                session::require_open(tx, &site.id, session).await?;
                let member = member::get(tx, &site.id, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
                prepared
                    .put(core, tx, site, &member, (&sent::of_session(session.as_str()), Beside::Session, None))
                    .await
            })
        });
        let letter = put.await?.ok_or_else(|| not_theirs(factor))?;
        let (sent_to, question) = letter.send(core, site).await?;
        Ok(question.map_or(ProofAsked::SentTo(sent_to), ProofAsked::Question))
    }

    /// The question of this id that this session has asked, while it waits for its answer. Nothing when it has one, or is over.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::Unavailable`] when no browser was sent it.
    pub async fn member_prove_waits(
        &self,
        site: &Site,
        caller: &Caller,
        transaction: &str,
    ) -> Result<Option<Question>> {
        let (member, session) = oneself(caller)?;
        let name = sent::of_session(session.as_str());
        Ok(match question::standing(&self.core, site, (&member, &name), transaction).await? {
            Standing::Waits(question) => Some(question),
            Standing::Unsent => return Err(unreached()),
            Standing::Approved | Standing::Denied | Standing::Over => None,
        })
    }

    /// Asks for a passkey as proof of this session, on these pages.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::Validation`] for one who has no passkey,
    /// and where browsers have none.
    pub async fn member_prove_request(
        &self,
        site: &Site,
        caller: &Caller,
        at: Option<&RelyingParty>,
    ) -> Result<passkey::Request> {
        let (member, session) = oneself(caller)?;
        let at = at.ok_or_else(|| not_theirs(FactorType::Webauthn))?;
        let for_use = passkey::Use::Proof { member: &member, session: &session };
        let asked = passkey::request_of(&self.core, &Realm::of_site(site), at, for_use, &member).await?;
        asked.ok_or_else(|| not_theirs(FactorType::Webauthn))
    }
}

/// No browser was sent a question.
pub(crate) fn unreached() -> Fault {
    Fault::because(Code::Unavailable, "None of the browsers could be reached by their push services; use another way.")
        .with("retryAfterSeconds", UNREACHED)
}

pub(crate) fn not_theirs(factor: FactorType) -> Fault {
    let why = "this is no second factor of this account";
    Fault::invalid(vec![Violation::new(factor.data_name(), "FIELD_NOT_ALLOWED", why)])
}

async fn by_password(
    core: &Arc<Core>,
    site: &Arc<Site>,
    id: MemberId,
    session: SessionId,
    attempt: &Attempt,
    password: &Secret,
) -> Result<()> {
    // Before the hash: whether the password is right is not told, and the right one is no failed sign-in.
    if has_factor(site, &id).await? {
        return Err(not_by_password());
    }
    let (permit, stored) = compare_password(core, site, &id, attempt, password).await?;
    let proved =
        site.write_with((core.clone(), site.clone(), id, session, stored), |tx, (core, site, id, session, stored)| {
            boxed!({
                session::require_open(tx, &site.id, session).await?;
                let member = member::get(tx, &site.id, id).await?.filter(|it| it.password_hash == *stored);
                if member.ok_or_else(|| Fault::new(Code::PasswordWrong))?.must_reset {
                    return Err(Fault::new(Code::PasswordReset));
                }
                guard::lock(tx, &site.id, id).await?;
                if guard::generation(tx, &site.id, id).await?.is_some() {
                    return Err(not_by_password());
                }
                if password_state::was_set_lately(tx, &site.id, id, core.now()).await? {
                    let why =
                        "The password was changed lately; use a recovery link to set one, or come back after a day.";
                    return Err(Fault::because(Code::ProofNeeded, why));
                }
                // There is no factor that it would have to be more than the mailbox beside.
                password_state::trust_password(tx, &site.id, id).await?;
                proved::record(tx, &site.id, session, core.now()).await
            })
        });
    proved.await?;
    core.throttle.refund(permit);
    Ok(())
}

/// Has a member show the password that they are about to change. One who has a second factor has lately shown it in this
/// session as well; for the others it is a proof ([`Identity::member_prove`]), so that the new password is as good as the old.
///
/// # Errors
/// As [`Identity::member_prove`]; [`Code::ProofNeeded`] also before the password is looked at, where the factor is missing.
pub(crate) async fn before_password_change(
    core: &Arc<Core>,
    site: &Arc<Site>,
    caller: &Caller,
    attempt: &Attempt,
    old: &Secret,
) -> Result<()> {
    let (member, session) = oneself(caller)?;
    if !has_factor(site, &member).await? {
        return by_password(core, site, member, session, attempt, old).await;
    }
    require_proved(core, site, &session).await?;
    let (permit, _) = compare_password(core, site, &member, attempt, old).await?;
    core.throttle.refund(permit);
    Ok(())
}

/// Compares a password with the member's, counted as a sign-in: what was counted, and the hash that it was compared with.
pub(crate) async fn compare_password(
    core: &Arc<Core>,
    site: &Arc<Site>,
    id: &MemberId,
    attempt: &Attempt,
    password: &Secret,
) -> Result<(Permit, Option<String>)> {
    let member = member::find(site, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
    let email = Email::parse(&member.email).ok_or_else(|| Fault::new(Code::PasswordWrong))?;
    let permit = attempt::sign_in(core, site, attempt, Account::Member(&email)).await?;
    let share = core.passwords.share(attempt.address, site.id.as_str(), email.folded());
    let stored = member.password_hash;
    match core.passwords.permit(share).await?.check(password, stored.as_deref()).await? {
        Match::Wrong => Err(Fault::new(Code::PasswordWrong)),
        _ => Ok((permit, stored)),
    }
}

async fn has_factor(site: &Site, member: &MemberId) -> Result<bool> {
    let (id, member) = (site.id.clone(), member.clone());
    let read = site.read(ReaderPool::Point, move |tx| boxed!(guard::generation(tx, &id, &member).await));
    Ok(read.await?.is_some())
}

pub(crate) fn not_by_password() -> Fault {
    Fault::because(Code::ProofNeeded, "A code of a second factor is needed, not the password.")
}

async fn by_factor(
    core: &Arc<Core>,
    site: &Arc<Site>,
    id: MemberId,
    session: SessionId,
    attempt: &Attempt,
    shown: &Shown,
) -> Result<()> {
    let address = attempt.address;
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, address, "")?;
    let sent = sent::of_session(session.as_str());
    let for_use = passkey::Use::Proof { member: &id, session: &session };
    let compared = check::compare(core, &Realm::of_site(site), &id, shown, Some(&sent), for_use).await?;
    let proved = site.write_with(
        (core.clone(), site.clone(), id, session, compared),
        move |tx, (core, site, id, session, compared)| {
            boxed!({
                session::require_open(tx, &site.id, session).await?;
                let member = member::get(tx, &site.id, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
                // Not an error, so that the count is kept.
                match check::count(core, tx, site, &member, compared, (address, Beside::Session)).await? {
                    Verdict::Refused(fault) => Ok(Err(fault)),
                    Verdict::Right => Ok(Ok(proved::record(tx, &site.id, session, core.now()).await?)),
                }
            })
        },
    );
    proved.await??;
    core.throttle.refund(permit);
    dispatch::shown(core, site, shown.factor(), address);
    mail::deliver_soon(core, &site.id).await;
    Ok(())
}

/// The member and the session of a caller with a member's whole right: what a member lets an application of others do is
/// never this.
///
/// # Errors
/// [`Code::Forbidden`] for all others.
pub(crate) fn oneself(caller: &Caller) -> Result<(MemberId, SessionId)> {
    match caller {
        Caller::Member { id, session, .. } => Ok((id.clone(), session.clone())),
        _ => Err(Fault::new(Code::Forbidden)),
    }
}

/// Counts a change that a member wants to make, who has lately shown in this session who they are: each writes to them. What
/// others send is not counted, so that a session which was stolen uses up nothing; the change itself decides by [`require`].
///
/// # Errors
/// [`Code::ProofNeeded`]; [`Code::Throttled`].
pub(crate) async fn count_change(core: &Core, site: &Site, member: &MemberId, session: &SessionId) -> Result<()> {
    require_proved(core, site, session).await?;
    let (anywhere, now) = (Ipv4Addr::UNSPECIFIED.into(), core.now());
    core.throttle.attempt(AttemptKind::FactorChange, now, &site.id, anywhere, member.as_str()).map(drop)
}

/// # Errors
/// [`Code::ProofNeeded`] unless the member has lately shown in this session who they are.
pub(crate) async fn require_proved(core: &Core, site: &Site, session: &SessionId) -> Result<()> {
    let (id, session, now) = (site.id.clone(), session.clone(), core.now());
    let proved = site.read(ReaderPool::Point, move |tx| boxed!(proved::until(tx, &id, &session, now).await));
    proved.await?.map(drop).ok_or_else(|| Fault::new(Code::ProofNeeded))
}

/// The member, if they have lately shown in this session who they are; locks their guard.
///
/// # Errors
/// [`Code::ProofNeeded`]; [`Code::Unauthenticated`] when the session has ended.
pub(crate) async fn require(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &MemberId,
    session: &SessionId,
) -> Result<Member> {
    session::require_open(tx, &site.id, session).await?;
    if proved::until(tx, &site.id, session, core.now()).await?.is_none() {
        return Err(Fault::new(Code::ProofNeeded));
    }
    guard::lock(tx, &site.id, member).await?;
    member::get(tx, &site.id, member).await?.ok_or_else(|| Fault::new(Code::NotFound))
}
