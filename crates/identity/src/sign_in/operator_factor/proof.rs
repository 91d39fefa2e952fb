//! Showing again who one is, in a session of somebody who runs sites: what is worth more than a session asks for it, so that one which
//! was stolen is not enough. As `factor::proof` for members: one who has a factor shows it, the others the password. It holds ten
//! minutes, in that session alone and for the access tokens that were made in it.

use super::{
    KINDS, known,
    tell::{self, Told},
};
use crate::{
    Core, Identity,
    defence::{attempt::Attempt, throttle::AttemptKind},
    factor::{self, Compared, FactorType, OperatorVerdict, Proof, Realm, RelyingParty, Shown, Verdict, passkey},
    operator::OperatorSession,
    password::Fingerprint,
    sign_in::operator_password,
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, Millis, Result, Secret, SessionId, UserId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Tx, boxed};

impl Identity {
    /// Shows in a session who the person is: until when that holds. A password is no proof of one who has a second factor.
    ///
    /// # Errors
    /// [`Code::ProofNeeded`] for a password that is no proof; [`Code::PasswordWrong`]; [`Code::VerificationFailed`];
    /// [`Code::Throttled`]; [`Code::Unauthenticated`] when the session ends meanwhile.
    pub async fn operator_prove(&self, session: &OperatorSession, attempt: &Attempt, proof: &Proof) -> Result<Millis> {
        match proof {
            Proof::Password(password) => by_password(&self.core, session, attempt, password).await?,
            Proof::Factor(shown) => by_factor(&self.core, session, attempt, shown).await?,
        }
        Ok(self.core.now() + factor::PROOF_LIFE)
    }

    /// Asks for a passkey as proof of a session, on these pages.
    ///
    /// # Errors
    /// [`Code::Validation`] for one who has no passkey, and where browsers have none.
    pub async fn operator_prove_request(
        &self,
        session: &OperatorSession,
        at: Option<&RelyingParty>,
    ) -> Result<passkey::Request> {
        let refused = || factor::not_theirs(FactorType::Webauthn);
        let (at, person) = (at.ok_or_else(refused)?, factor::person(&session.operator.id));
        let for_use = passkey::Use::Proof { member: &person, session: &session.id };
        let realm = Realm::of_operators(&self.core);
        passkey::request_of(&self.core, &realm, at, for_use, &person).await?.ok_or_else(refused)
    }
}

async fn by_password(core: &Arc<Core>, session: &OperatorSession, attempt: &Attempt, password: &Secret) -> Result<()> {
    // Before the hash: whether the password is right is not told, and the right one is no failed sign-in.
    if has_factor(core, &session.operator.id).await? {
        return Err(factor::not_by_password());
    }
    let site = core.store().site(&session.site).await?;
    let stored = operator_password::confirm(core, &site, &session.operator, attempt, password).await?;
    let proved = core.store().catalog().write_with(
        (core.clone(), session.clone(), Fingerprint::of(Some(&stored))),
        |tx, (core, session, shown)| {
            boxed!({
                let person = factor::person(&session.operator.id);
                factor::locked_generation(tx, &factor::operators(), &person).await?;
                let known = known(tx, &person).await?.filter(|it| it.password == *shown);
                if known.ok_or_else(|| Fault::new(Code::PasswordWrong))?.generation.is_some() {
                    return Err(factor::not_by_password());
                }
                record(tx, &session.id, core.now()).await
            })
        },
    );
    proved.await
}

async fn by_factor(core: &Arc<Core>, session: &OperatorSession, attempt: &Attempt, shown: &Shown) -> Result<()> {
    let (from, person) = (attempt.address, factor::person(&session.operator.id));
    if !KINDS.contains(&shown.factor()) {
        return Err(factor::not_theirs(shown.factor()));
    }
    let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &session.site, from, "")?;
    let for_use = passkey::Use::Proof { member: &person, session: &session.id };
    let compared = factor::compare(core, &Realm::of_operators(core), &person, shown, None, for_use).await?;
    let (work_core, work_session) = (core.clone(), session.clone());
    let counted = tell::to_its_end(async move { count(&work_core, &work_session, compared, from).await });
    match counted.await? {
        Verdict::Refused(fault) => Err(fault),
        Verdict::Right => {
            core.throttle.refund(permit);
            Ok(())
        }
    }
}

/// Counts what was shown, and tells of it: whether it was right.
async fn count(core: &Arc<Core>, session: &OperatorSession, compared: Compared, from: IpAddr) -> Result<Verdict> {
    let person = factor::person(&session.operator.id);
    let counted = core.store().catalog().write_with(
        (core.clone(), session.id.clone(), person, compared),
        |tx, (core, session, person, compared)| {
            boxed!({
                let counted = factor::count_operator(core, tx, &factor::operators(), person, compared).await?;
                if matches!(counted.verdict, Verdict::Right) {
                    record(tx, session, core.now()).await?;
                }
                // Not an error where it was wrong, so that the count is kept.
                Ok(counted)
            })
        },
    );
    let OperatorVerdict { verdict, told } = counted.await?;
    if let Some(event) = told {
        tell::tell(core, &session.site, &session.operator, Told::happened(event, from)).await;
    }
    Ok(verdict)
}

/// Writes down that who is in a session has shown who they are.
///
/// # Errors
/// [`Code::Unauthenticated`] when it has ended.
async fn record(tx: &mut Tx<'_>, session: &SessionId, now: Millis) -> Result<()> {
    let sql = "update stoa.person_session set proved = $1 where id = $2 and ended is null and expires > $1";
    match tx.execute(sql, &params![now, session]).await? {
        0 => Err(Fault::new(Code::Unauthenticated)),
        _ => Ok(()),
    }
}

/// Until when the proof of a session holds; nothing when it does not, or there was none.
pub(super) async fn until(tx: &mut Tx<'_>, session: &SessionId, now: Millis) -> Result<Option<Millis>> {
    let sql = "select proved from stoa.person_session where id = $1 and ended is null and proved > $2";
    let values = params![session, now - factor::PROOF_LIFE];
    let proved: Option<Millis> = tx.row(sql, &values, |row| row.get(0)).await?;
    Ok(proved.map(|it| it + factor::PROOF_LIFE))
}

/// # Errors
/// [`Code::ProofNeeded`] unless the person has lately shown in this session who they are.
pub(crate) async fn require(core: &Core, session: &SessionId) -> Result<()> {
    if holds(core, session).await? { Ok(()) } else { Err(Fault::new(Code::ProofNeeded)) }
}

/// Whether the person has lately shown in this session who they are.
///
/// # Errors
/// What the catalogue answers.
pub(crate) async fn holds(core: &Core, session: &SessionId) -> Result<bool> {
    let (session, now) = (session.clone(), core.now());
    let read = core.store().catalog().read(ReaderPool::Point, move |tx| boxed!(until(tx, &session, now).await));
    Ok(read.await?.is_some())
}

/// Requires it of a caller in person, with a second factor or without; the others are nobody in person and have nothing to show.
///
/// # Errors
/// As for [`require`].
pub(crate) async fn require_of_caller(core: &Core, caller: &Caller) -> Result<()> {
    match caller.bare() {
        Caller::User { session, .. } => require(core, session).await,
        _ => Ok(()),
    }
}

/// The same of one who has a second factor. One who has none shows the password in the request itself, or needs to show nothing.
///
/// # Errors
/// As for [`require`].
pub(crate) async fn require_of_enrolled(core: &Core, person: &UserId, session: &SessionId) -> Result<()> {
    if has_factor(core, person).await? { require(core, session).await } else { Ok(()) }
}

/// The same of a caller: those who are nobody in person have nothing to show.
///
/// # Errors
/// As for [`require`].
pub(crate) async fn require_of_enrolled_caller(core: &Core, caller: &Caller) -> Result<()> {
    match caller {
        Caller::User { id, session, .. } => require_of_enrolled(core, id, session).await,
        _ => Ok(()),
    }
}

/// Whether a person who runs sites has a second factor.
///
/// # Errors
/// What the catalogue answers.
pub(crate) async fn has_factor(core: &Core, person: &UserId) -> Result<bool> {
    let person = factor::person(person);
    let read = core
        .store()
        .catalog()
        .read(ReaderPool::Point, move |tx| boxed!(factor::generation(tx, &factor::operators(), &person).await));
    Ok(read.await?.is_some())
}

/// Ends every sign-in that waits for a factor, and what was proven in other sessions than the one that acts: what they rest on has
/// changed.
///
/// # Errors
/// What the engine answers.
pub(super) async fn end_sign_ins(tx: &mut Tx<'_>, person: &UserId, acting: Option<&SessionId>) -> Result<()> {
    factor::count_up(tx, &factor::operators(), &factor::person(person)).await?;
    let sql = "update stoa.person_session set proved = null where person = $1 and id <> $2 and proved is not null";
    tx.send(sql, params![person, acting.map_or("", SessionId::as_str)]).await?;
    Ok(())
}
