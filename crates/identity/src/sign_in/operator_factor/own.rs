//! What those who run sites do with their own second factors, in a session in which they have lately shown who they are; and that
//! those who run the installation take them all away.

use super::{
    KINDS, known, proof,
    tell::{self, Told},
};
use crate::{
    Core, Identity, audit,
    defence::throttle::AttemptKind,
    factor::{
        self, Enrolled, Enrolment, Factor, FactorType, MemberFactor, PASSKEY_NAME, Realm, RelyingParty, held,
        passkey::{self, Account, Creation, NewPasskey, PresentedNew, Use},
    },
    mail::FactorChange,
    operator::{self, OperatorSession, manage},
    policy::{self, OperatorFactorPolicy},
    token::revocation,
};
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};
use stoa_kernel::{Caller, Code, Email, Fault, MemberId, Millis, Result, Secret, SessionId, SiteId};
use stoa_store::{ReaderPool, Tx, boxed};

const LAST: &str =
    "This site requires a second factor of those who run it: add another one before the last is removed.";

/// What a person who runs sites has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorFactorList {
    /// Of the site of the session.
    pub policy: OperatorFactorPolicy,
    /// The kinds that can be added.
    pub addable: Vec<FactorType>,
    pub factors: Vec<MemberFactor>,
    pub recovery_codes_left: i64,
    /// Until when this session may change any of it; nothing when the person has to show first who they are.
    pub proved_until: Option<Millis>,
}

/// What changes.
#[derive(Debug, Clone)]
enum Change {
    Begin(Factor),
    /// By its first code, of this step of time.
    Confirm(String, i64),
    AddPasskey(NewPasskey, String),
    Remove {
        id: String,
        /// Whether one has to stay.
        is_required: bool,
    },
    Rename(String, String),
    RenewCodes,
}

/// What came of it.
#[derive(Debug)]
enum Changed {
    Nothing,
    Enrolled(Enrolled),
    Renamed(MemberFactor),
    Codes(Vec<String>),
}

impl Change {
    /// What the audit log is told, and the person.
    fn told(&self) -> Option<(audit::Event, Option<FactorChange>)> {
        Some(match self {
            Self::Begin(_) => return None,
            Self::Confirm(..) => (audit::Event::FactorAdded, Some(FactorChange::Added)),
            Self::AddPasskey(..) => (audit::Event::FactorAdded, Some(FactorChange::PasskeyAdded)),
            Self::Remove { .. } => (audit::Event::FactorRemoved, Some(FactorChange::Removed)),
            // A name protects nothing.
            Self::Rename(..) => (audit::Event::FactorRenamed, None),
            Self::RenewCodes => (audit::Event::RecoveryCodesRenewed, Some(FactorChange::RecoveryCodesRenewed)),
        })
    }

    /// Makes it, inside a transaction of the catalogue.
    async fn apply(&self, core: &Core, tx: &mut Tx<'_>, realm: &SiteId, person: &MemberId) -> Result<Changed> {
        Ok(match self {
            Self::Begin(factor) => {
                held::has_room(tx, realm, person, FactorType::Totp, &[]).await?;
                held::begin(tx, realm, person, factor).await?;
                Changed::Nothing
            }
            Self::Confirm(id, step) => {
                Changed::Enrolled(held::confirm(core, tx, realm, person, (id.as_str(), *step), &[]).await?)
            }
            Self::AddPasskey(new, name) => {
                Changed::Enrolled(held::add_passkey(core, tx, realm, person, (new, name.as_str())).await?)
            }
            Self::Remove { id, is_required } => {
                held::remove(tx, realm, person, id).await?;
                if *is_required && factor::generation(tx, realm, person).await?.is_none() {
                    return Err(Fault::because(Code::Forbidden, LAST));
                }
                Changed::Nothing
            }
            Self::Rename(id, name) => {
                Changed::Renamed(held::rename(tx, realm, person, (id.as_str(), name.as_str())).await?)
            }
            Self::RenewCodes => Changed::Codes(held::renew_codes(core, tx, realm, person).await?),
        })
    }

    /// Whether sign-ins that wait for a factor and what was proven in other sessions rest on it.
    fn ends_sign_ins(&self) -> bool {
        !matches!(self, Self::Begin(_) | Self::Rename(..))
    }
}

impl Identity {
    /// What the person of a session has enrolled.
    ///
    /// # Errors
    /// What the catalogue answers.
    pub async fn operator_factor_list(&self, session: &OperatorSession) -> Result<OperatorFactorList> {
        let (core, person, id) = (&self.core, factor::person(&session.operator.id), session.id.clone());
        let policy = policy::of_site(&*core.store().site(&session.site).await?).await?.operator_second_factor;
        let (realm, now) = (factor::operators(), core.now());
        let read = core.store().catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                Ok(OperatorFactorList {
                    policy,
                    addable: KINDS.into_iter().filter(|it| *it != FactorType::RecoveryCode).collect(),
                    factors: held::list(tx, &realm, &person).await?,
                    recovery_codes_left: held::codes_left(tx, &realm, &person).await?,
                    proved_until: proof::until(tx, &id, now).await?,
                })
            })
        });
        read.await
    }

    /// Begins to enrol an authenticator: it counts once a code of it was shown ([`Identity::operator_factor_confirm`]).
    ///
    /// # Errors
    /// [`Code::ProofNeeded`]; [`Code::TooMany`]; [`Code::Throttled`]; [`Code::Validation`] for the name.
    pub async fn operator_factor_begin(&self, session: &OperatorSession, name: Option<&str>) -> Result<Enrolment> {
        let (core, person) = (&self.core, factor::person(&session.operator.id));
        let name = held::checked_name(name, held::NAME)?;
        count_change(core, session).await?;
        let site = core.store().site(&session.site).await?;
        let (factor, secret) = held::new_authenticator(core, &factor::operators(), &person, name)?;
        change(core, session, Change::Begin(factor.clone()), None).await?;
        Ok(Enrolment::of(factor, secret, &site.name(), &session.operator.email))
    }

    /// Takes the first code of an authenticator: from now on it is asked for. Sign-ins that wait for a factor end, and what was proven
    /// in other sessions. With the first factor the answer has the recovery codes.
    ///
    /// # Errors
    /// As [`Identity::operator_factor_begin`]; [`Code::NotFound`] for one that doesn't wait (any more);
    /// [`Code::VerificationFailed`] for a wrong code.
    pub async fn operator_factor_confirm(
        &self,
        session: &OperatorSession,
        id: &str,
        code: &Secret,
        from: IpAddr,
    ) -> Result<Enrolled> {
        let (core, person) = (&self.core, factor::person(&session.operator.id));
        count_change(core, session).await?;
        let step = held::first_step(core, &Realm::of_operators(core), &person, id, code).await?;
        enrolled(change(core, session, Change::Confirm(id.to_owned(), step), Some(from)).await?)
    }

    /// Begins to add a passkey: what the browser is asked. Nothing is stored before it was brought
    /// ([`Identity::operator_passkey_confirm`]).
    ///
    /// # Errors
    /// As [`Identity::operator_factor_begin`]; [`Code::Forbidden`] on pages where browsers have no passkeys.
    pub async fn operator_passkey_begin(
        &self,
        session: &OperatorSession,
        at: Option<&RelyingParty>,
    ) -> Result<Creation> {
        let (core, person) = (&self.core, factor::person(&session.operator.id));
        let at = at.ok_or_else(factor::no_passkeys)?;
        count_change(core, session).await?;
        let site_name = core.store().site(&session.site).await?.name();
        let realm = factor::operators();
        let (of, pages) = (person.clone(), at.clone());
        let read = core.store().catalog().read(ReaderPool::Point, move |tx| {
            boxed!({
                let realm = factor::operators();
                held::has_room(tx, &realm, &of, FactorType::Webauthn, &[]).await?;
                passkey::descriptors(tx, &realm, &of, &pages).await
            })
        });
        let present = read.await?;
        let account = Account { realm: &realm, site_name: &site_name, id: &person, email: &session.operator.email };
        let for_use = Use::Enrolment { member: &person, session: &session.id };
        Ok(passkey::creation(core, at, for_use, account, present))
    }

    /// Takes a new passkey: from now on it is asked for. As [`Identity::operator_factor_confirm`].
    ///
    /// # Errors
    /// As [`Identity::operator_factor_begin`]; [`Code::VerificationFailed`] for one that is none (`presented` is nothing for what has
    /// another form), that answers no challenge of this session, or that there is already.
    pub async fn operator_passkey_confirm(
        &self,
        session: &OperatorSession,
        (presented, name): (Option<&PresentedNew>, Option<&str>),
        from: IpAddr,
    ) -> Result<Enrolled> {
        let (core, person) = (&self.core, factor::person(&session.operator.id));
        let name = held::checked_name(name, PASSKEY_NAME)?;
        count_change(core, session).await?;
        let for_use = Use::Enrolment { member: &person, session: &session.id };
        let realms = (&session.site, &factor::operators());
        let new = factor::check_new_passkey(core, realms, presented, for_use, from)?;
        enrolled(change(core, session, Change::AddPasskey(new, name), Some(from)).await?)
    }

    /// Gives an authenticator or a passkey another name.
    ///
    /// # Errors
    /// [`Code::ProofNeeded`]; [`Code::Validation`] for the name; [`Code::NotFound`]; [`Code::Throttled`].
    pub async fn operator_factor_rename(
        &self,
        session: &OperatorSession,
        (id, name): (&str, &str),
        from: IpAddr,
    ) -> Result<MemberFactor> {
        let core = &self.core;
        let name = held::new_name(id, name)?;
        count_change(core, session).await?;
        match change(core, session, Change::Rename(id.to_owned(), name), Some(from)).await? {
            Changed::Renamed(factor) => Ok(factor),
            _ => Err(unexpected()),
        }
    }

    /// Removes a factor. With the last one the recovery codes go, and the password alone signs in.
    ///
    /// # Errors
    /// [`Code::ProofNeeded`]; [`Code::Forbidden`] for the last one where the site of the session requires one by now;
    /// [`Code::NotFound`]; [`Code::Throttled`].
    pub async fn operator_factor_remove(&self, session: &OperatorSession, id: &str, from: IpAddr) -> Result<()> {
        let core = &self.core;
        count_change(core, session).await?;
        let (person, site) = (factor::person(&session.operator.id), core.store().site(&session.site).await?);
        let read = core.store().catalog().read(ReaderPool::Point, move |tx| boxed!(known(tx, &person).await));
        let created = read.await?.map(|it| it.created).unwrap_or_default();
        let due = policy::of_site(&site).await?.operator_factor_due(created);
        let is_required = due.is_some_and(|it| it <= core.now());
        let removal = Change::Remove { id: id.to_owned(), is_required };
        change(core, session, removal, Some(from)).await.map(drop)
    }

    /// Makes new recovery codes; those before are worth nothing from now on.
    ///
    /// # Errors
    /// [`Code::ProofNeeded`]; [`Code::NotFound`] for one who has no factor; [`Code::Throttled`].
    pub async fn operator_recovery_codes_renew(&self, session: &OperatorSession, from: IpAddr) -> Result<Vec<String>> {
        count_change(&self.core, session).await?;
        match change(&self.core, session, Change::RenewCodes, Some(from)).await? {
            Changed::Codes(codes) => Ok(codes),
            _ => Err(unexpected()),
        }
    }

    /// Takes all second factors of a person away who has lost them, and ends their sessions at all sites; they are told. Answers how many
    /// there were, recovery codes not counted. For those who run the installation, `by` whom it is done: no route leads here.
    ///
    /// # Errors
    /// [`Code::NotFound`] for a person who has no role at the site.
    pub async fn operator_factors_reset(&self, site: &SiteId, by: &Caller, email: &Email) -> Result<u64> {
        let (core, site, by, email) = (self.core.clone(), site.clone(), by.clone(), email.clone());
        tell::to_its_end(async move { reset(&core, &site, by, &email).await }).await
    }
}

async fn reset(core: &Arc<Core>, site: &SiteId, by: Caller, email: &Email) -> Result<u64> {
    let known = operator::find_by_email(core, email).await?.map(|it| it.operator);
    let gone = || Fault::because(Code::NotFound, "no person with this address runs the site");
    let operator = known.ok_or_else(gone)?;
    operator::role_at(core, &operator.id, site).await?.ok_or_else(gone)?;
    let reset = core.store().catalog().write_with(
        (operator.id.clone(), core.now(), revocation::end(core)),
        |tx, (id, now, end)| {
            boxed!({
                let count = held::remove_all(tx, &factor::operators(), &factor::person(id)).await?;
                proof::end_sign_ins(tx, id, None).await?;
                Ok((count, manage::end_sessions(tx, id, None, *now, *end).await?))
            })
        },
    );
    let (count, ended): (u64, Vec<SessionId>) = reset.await?;
    let announced = revocation::announce_sessions(core, &ended).await;
    if count > 0 {
        tell::tell(core, site, &operator, Told::reset(by)).await;
    }
    // They are gone and told of, also where other nodes could not be waited for.
    announced.map(|()| count)
}

/// Counts a change that a person wants to make, who has lately shown in this session who they are: each writes to them. What others
/// send is not counted, so that a session which was stolen uses up nothing; the change itself decides in its transaction.
async fn count_change(core: &Core, session: &OperatorSession) -> Result<()> {
    proof::require(core, &session.id).await?;
    let (anywhere, person) = (Ipv4Addr::UNSPECIFIED.into(), session.operator.id.as_str());
    core.throttle.attempt(AttemptKind::FactorChange, core.now(), &factor::operators(), anywhere, person).map(drop)
}

/// Makes a change in one transaction with the proof that allows it, and tells of it.
async fn change(core: &Arc<Core>, session: &OperatorSession, change: Change, from: Option<IpAddr>) -> Result<Changed> {
    let (core, session) = (core.clone(), session.clone());
    tell::to_its_end(async move { apply(&core, &session, change, from).await }).await
}

async fn apply(core: &Arc<Core>, session: &OperatorSession, change: Change, from: Option<IpAddr>) -> Result<Changed> {
    let told = change.told();
    let changed =
        core.store().catalog().write_with((core.clone(), session.clone(), change), |tx, (core, session, change)| {
            boxed!({
                let (realm, person) = (factor::operators(), factor::person(&session.operator.id));
                factor::locked_generation(tx, &realm, &person).await?;
                if proof::until(tx, &session.id, core.now()).await?.is_none() {
                    return Err(Fault::new(Code::ProofNeeded));
                }
                let changed = change.apply(core, tx, &realm, &person).await?;
                if change.ends_sign_ins() {
                    proof::end_sign_ins(tx, &session.operator.id, Some(&session.id)).await?;
                }
                Ok(changed)
            })
        });
    let changed = changed.await?;
    if let Some(told) = told {
        tell::tell(core, &session.site, &session.operator, Told::changed(told, from)).await;
    }
    Ok(changed)
}

fn enrolled(changed: Changed) -> Result<Enrolled> {
    match changed {
        Changed::Enrolled(enrolled) => Ok(enrolled),
        _ => Err(unexpected()),
    }
}

fn unexpected() -> Fault {
    Fault::internal("a change of factors resulted in another one")
}
