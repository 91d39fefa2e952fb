//! How members come by second factors and lose them. All of it is a member's own, in a session in which they have lately shown
//! who they are (`proof`), but for the reset by those who run the site.

use crate::{
    Core, Identity, audit,
    factor::{
        FactorType, browsers, guard,
        held::{self, Enrolled, Enrolment, MemberFactor, NAME},
        mailbox, notice, offer, passkey, password, proof, proved, push,
        realm::Realm,
        recovery_code, remembered, row,
        sent::{self, Sent},
    },
    mail::{self, FactorChange},
    member::{self, Member, access::MemberWrite},
    policy::{self, SecondFactorPolicy},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, Secret, SessionId, SiteId};
use stoa_store::{ReaderPool, Site, Tx, boxed};

const LAST: &str = "This site requires an authenticator or a passkey: add another one before the last is removed.";

/// What a member has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorList {
    /// Whether more can be enrolled.
    pub policy: SecondFactorPolicy,
    /// Of which kinds.
    pub addable: Vec<FactorType>,
    pub factors: Vec<MemberFactor>,
    pub recovery_codes_left: i64,
    /// Browsers in which the member is not asked.
    pub remembered_browsers: i64,
    /// Until when this session may change any of it; nothing when the member has to show first who they are.
    pub proved_until: Option<Millis>,
}

impl Identity {
    /// What the calling member has enrolled.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right.
    pub async fn factor_list(&self, site: &Site, caller: &Caller) -> Result<FactorList> {
        let (member, session) = proof::oneself(caller)?;
        let (id, now) = (site.id.clone(), self.core.now());
        let kinds = self.factor_kinds().into_iter().filter(|it| *it != FactorType::RecoveryCode);
        let kinds: Vec<FactorType> = kinds.collect();
        let read = site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let mut factors = held::list(tx, &id, &member).await?;
                let own = password::of_member(tx, &id, &member).await?;
                let person = member::get(tx, &id, &member).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
                let can_add_password = own.is_none() && password::can_be(&person);
                let can_add_email = mailbox::can_be(tx, &id, &person).await?;
                factors.extend(own);
                factors.sort_by_key(|it| it.created);
                let policy = policy::read(tx, &id).await?;
                let is_addable = |it: &FactorType| match policy.second_factor {
                    SecondFactorPolicy::Off => false,
                    _ if *it == FactorType::Password => can_add_password,
                    _ if *it == FactorType::Email => can_add_email,
                    _ => it.channel().is_none() || policy.second_factor_by_telephone,
                };
                Ok(FactorList {
                    policy: policy.second_factor,
                    addable: kinds.into_iter().filter(is_addable).collect(),
                    factors,
                    recovery_codes_left: recovery_code::left(tx, &id, &member).await?,
                    remembered_browsers: remembered::count(tx, &id, &member, now).await?,
                    proved_until: proved::until(tx, &id, &session, now).await?,
                })
            })
        });
        read.await
    }

    /// The public key with which browsers subscribe at a site; nothing where there is none that can be used, which the log tells.
    pub async fn push_key(&self, site: &Site) -> Option<String> {
        match push::key_of(&self.core, site).await {
            Ok(key) => Some(key.public().to_owned()),
            Err(fault) => {
                tracing::warn!(site = %site.id, "no browser can be enrolled: {fault:?}");
                None
            }
        }
    }

    /// Begins to enrol an authenticator: it counts once a code of it was shown ([`Identity::factor_confirm`]). One that was
    /// begun before and waits still goes.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right, and where the site's policy is OFF;
    /// [`Code::ProofNeeded`]; [`Code::VerificationRequired`] while nobody has shown that the member's address is theirs;
    /// [`Code::TooMany`]; [`Code::Throttled`]; [`Code::Validation`] for the name.
    pub async fn factor_begin(&self, site: &Arc<Site>, caller: &Caller, name: Option<&str>) -> Result<Enrolment> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        let name = held::checked_name(name, NAME)?;
        proof::count_change(core, site, &member, &session).await?;
        let email = member::find(site, &member).await?.ok_or_else(|| Fault::new(Code::NotFound))?.email;
        let (factor, secret) = held::new_authenticator(core, &site.id, &member, name)?;
        let begun = site.write_with((core.clone(), site.clone(), member, session, factor.clone()), |tx, input| {
            boxed!({
                let (core, site, member, session, factor) = input;
                may_enrol(core, tx, site, member, session).await?;
                may_add(tx, &site.id, member, FactorType::Totp, &[]).await?;
                held::begin(tx, &site.id, member, factor).await
            })
        });
        begun.await?;
        Ok(Enrolment::of(factor, secret, &site.name(), &email))
    }

    /// Takes the first code of a factor: from now on it is asked for. Sign-ins that wait for a factor and browsers in
    /// which the member isn't asked end. With the first factor the answer has the recovery codes.
    ///
    /// # Errors
    /// As [`Identity::factor_begin`]; [`Code::NotFound`] for one that doesn't wait (any more);
    /// [`Code::VerificationFailed`] for a wrong code.
    pub async fn factor_confirm(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        code: &Secret,
        address: IpAddr,
    ) -> Result<Enrolled> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        proof::count_change(core, site, &member, &session).await?;
        let first = first_code(core, site, &member, id, code).await?;
        let enrolled = site.write_with(
            (core.clone(), site.clone(), member, session, id.to_owned(), first),
            move |tx, (core, site, member, session, id, first)| {
                boxed!({
                    let person = may_enrol(core, tx, site, member, session).await?;
                    // Before the count, so that a second confirmation of the same finds nothing.
                    let waiting = held::waiting(core, tx, &site.id, member, id).await?;
                    may_add(tx, &site.id, member, waiting.factor(), &first.replaced).await?;
                    let step = match &first.code {
                        FirstCode::Step(step) => *step,
                        FirstCode::Sent(code) => {
                            let sent = Sent::first(&person, &waiting);
                            if !sent::take(tx, &site.id, &sent, code, core.now()).await? {
                                // Not an error of the transaction, so that the count is kept.
                                return Ok(Err(Fault::new(Code::VerificationFailed)));
                            }
                            0
                        }
                    };
                    let confirmed = (id.as_str(), step);
                    let enrolled = held::confirm(core, tx, &site.id, member, confirmed, &first.replaced).await?;
                    let change = Change { session: Some(session), address, is_passkey: false };
                    count_from_now(core, tx, &site.id, &person, change).await?;
                    Ok(Ok(enrolled))
                })
            },
        );
        let enrolled = enrolled.await??;
        mail::deliver_soon(core, &site.id).await;
        Ok(enrolled)
    }

    /// Removes a factor of the calling member. With the last one the recovery codes go, and the password alone signs in.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right, and for the last authenticator or passkey of a
    /// member of whom the site requires one; [`Code::ProofNeeded`]; [`Code::NotFound`]; [`Code::Throttled`].
    pub async fn factor_remove(&self, site: &Arc<Site>, caller: &Caller, id: &str, address: IpAddr) -> Result<()> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        proof::count_change(core, site, &member, &session).await?;
        let removed = site.write_with(
            (core.clone(), site.clone(), member, session, id.to_owned()),
            move |tx, (core, site, member, session, id)| {
                boxed!({
                    let person = proof::require(core, tx, site, member, session).await?;
                    let kind = match row::kind_of(id) {
                        FactorType::Password if password::remove(tx, &site.id, member, id).await? => {
                            FactorType::Password
                        }
                        _ => held::remove(tx, &site.id, member, id).await?,
                    };
                    let may_be_required = matches!(kind, FactorType::Totp | FactorType::Webauthn);
                    if may_be_required && !offer::has_authenticator(core, tx, &site.id, member).await? {
                        let due = policy::read(tx, &site.id).await?.factor_due(tx, &site.id, &person).await?;
                        if due.is_some_and(|it| it <= core.now()) {
                            return Err(Fault::because(Code::Forbidden, LAST));
                        }
                    }
                    guard::end_sign_ins(tx, &site.id, member, Some(session)).await?;
                    let entry = audit::Entry::by_oneself(member, audit::Event::FactorRemoved).at_address(Some(address));
                    audit::record(core, tx, &site.id, entry).await?;
                    notice::changed(core, tx, &site.id, &person, FactorChange::Removed).await
                })
            },
        );
        removed.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(())
    }

    /// Gives an authenticator, a passkey or a browser of the calling member another name.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::ProofNeeded`]; [`Code::Validation`] for
    /// the name, and for codes that are sent, which have none; [`Code::NotFound`]; [`Code::Throttled`].
    pub async fn factor_rename(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        (id, name): (&str, &str),
        address: IpAddr,
    ) -> Result<MemberFactor> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        let name = held::new_name(id, name)?;
        proof::count_change(core, site, &member, &session).await?;
        let renamed = site.write_with(
            (core.clone(), site.clone(), member, session, (id.to_owned(), name)),
            move |tx, (core, site, member, session, (id, name))| {
                boxed!({
                    proof::require(core, tx, site, member, session).await?;
                    let factor = held::rename(tx, &site.id, member, (id.as_str(), name.as_str())).await?;
                    let entry = audit::Entry::by_oneself(member, audit::Event::FactorRenamed);
                    audit::record(core, tx, &site.id, entry.at_address(Some(address))).await?;
                    Ok(factor)
                })
            },
        );
        renamed.await
    }

    /// Makes new recovery codes for the calling member; those before are worth nothing from now on.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::ProofNeeded`];
    /// [`Code::NotFound`] for one who has no factor; [`Code::Throttled`].
    pub async fn recovery_codes_renew(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        address: IpAddr,
    ) -> Result<Vec<String>> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        proof::count_change(core, site, &member, &session).await?;
        let renewed = site.write_with((core.clone(), site.clone(), member, session), move |tx, input| {
            boxed!({
                let (core, site, member, session) = input;
                let person = proof::require(core, tx, site, member, session).await?;
                let codes = held::renew_codes(core, tx, &site.id, member).await?;
                guard::end_sign_ins(tx, &site.id, member, Some(session)).await?;
                tell_of_new_codes(core, tx, &site.id, &person, address).await?;
                Ok(codes)
            })
        });
        let codes = renewed.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(codes)
    }

    /// Has the calling member asked for a factor in every browser again. It takes away only, so a session is enough.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right.
    pub async fn remembered_browsers_forget(&self, site: &Arc<Site>, caller: &Caller, address: IpAddr) -> Result<()> {
        let (member, _) = proof::oneself(caller)?;
        let forgotten =
            site.write_with((self.core.clone(), site.id.clone(), member), move |tx, (core, site, member)| {
                boxed!({
                    // Where there was none nothing is written, however often it is called.
                    if remembered::forget(tx, site, member).await? == 0 {
                        return Ok(());
                    }
                    let entry = audit::Entry::by_oneself(member, audit::Event::BrowsersForgotten);
                    audit::record(core, tx, site, entry.at_address(Some(address))).await?;
                    match member::get(tx, site, member).await? {
                        Some(person) => notice::changed(core, tx, site, &person, FactorChange::BrowsersForgotten).await,
                        None => Ok(()),
                    }
                })
            });
        forgotten.await?;
        mail::deliver_soon(&self.core, &site.id).await;
        Ok(())
    }
}

/// Takes all second factors of a member away, who has lost them; the member is told. Answers how many there were,
/// recovery codes not counted.
///
/// # Errors
/// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`] for an unknown member.
pub(crate) async fn reset(core: &Arc<Core>, site: &Arc<Site>, caller: &Caller, id: &MemberId) -> Result<u64> {
    MemberWrite::privileged(caller)?;
    let reset =
        site.write_with((core.clone(), site.clone(), caller.clone(), id.clone()), |tx, (core, site, caller, id)| {
            boxed!({
                let person = member::get(tx, &site.id, id).await?.filter(Member::is_there);
                let person = person.ok_or_else(|| Fault::new(Code::NotFound))?;
                let count = drop_all(core, tx, &site.id, caller, id).await?;
                if count > 0 {
                    notice::changed(core, tx, &site.id, &person, FactorChange::Removed).await?;
                }
                Ok(count)
            })
        });
    let count = reset.await?;
    mail::deliver_soon(core, &site.id).await;
    Ok(count)
}

/// Takes inside a transaction all second factors of a member away, and what rests on them, and writes down who did. Answers
/// how many there were, recovery codes not counted.
pub(crate) async fn drop_all(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    caller: &Caller,
    member: &MemberId,
) -> Result<u64> {
    guard::lock(tx, site, member).await?;
    let own = u64::from(password::of_member(tx, site, member).await?.is_some());
    password::drop(tx, site, member).await?;
    let count = own + held::remove_all(tx, site, member).await?;
    guard::end_sign_ins(tx, site, member, None).await?;
    if count > 0 {
        audit::record(core, tx, site, audit::Entry::by(caller, audit::Event::FactorsReset, member)).await?;
    }
    Ok(count)
}

/// Takes inside a transaction the second factors of a member away that were added at a time or later, and with the last one the
/// recovery codes. What rests on those that stay begins again. A passkey opens the account by itself, so those go that were
/// added at `passkeys_since` or later.
pub(crate) async fn drop_added_since(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (since, passkeys_since): (Millis, Millis),
) -> Result<()> {
    guard::lock(tx, site, member).await?;
    row::remove_since(tx, site, member, since).await?;
    passkey::remove_since(tx, site, member, passkeys_since).await?;
    if guard::generation(tx, site, member).await?.is_none() {
        recovery_code::remove(tx, site, member).await?;
    }
    guard::end_sign_ins(tx, site, member, None).await
}

/// Where a change of factors is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'a> {
    /// Nothing on the way of a sign-in.
    pub session: Option<&'a SessionId>,
    pub address: IpAddr,
    pub is_passkey: bool,
}

/// What a factor brings that counts from now on: sign-ins that wait end, the audit log and the member are told.
pub(super) async fn count_from_now(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    person: &Member,
    change: Change<'_>,
) -> Result<()> {
    guard::end_sign_ins(tx, site, &person.id, change.session).await?;
    let entry = audit::Entry::by_oneself(&person.id, audit::Event::FactorAdded).at_address(Some(change.address));
    audit::record(core, tx, site, entry).await?;
    let added = if change.is_passkey { FactorChange::PasskeyAdded } else { FactorChange::Added };
    notice::changed(core, tx, site, person, added).await
}

/// Tells the audit log and the member that the recovery codes of before are worth nothing.
pub(super) async fn tell_of_new_codes(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    person: &Member,
    address: IpAddr,
) -> Result<()> {
    let entry = audit::Entry::by_oneself(&person.id, audit::Event::RecoveryCodesRenewed).at_address(Some(address));
    audit::record(core, tx, site, entry).await?;
    notice::changed(core, tx, site, person, FactorChange::RecoveryCodesRenewed).await
}

/// Whether a member may enrol, in this transaction; locks their guard. One whose address nobody has shown to be theirs
/// may not: who registers another's address would keep its owner out by a factor.
pub(super) async fn may_enrol(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &MemberId,
    session: &SessionId,
) -> Result<Member> {
    let person = proof::require(core, tx, site, member, session).await?;
    if policy::read(tx, &site.id).await?.second_factor == SecondFactorPolicy::Off {
        return Err(Fault::because(Code::Forbidden, "Members of this site can not add a second factor."));
    }
    if !person.email_verified {
        return Err(Fault::new(Code::VerificationRequired));
    }
    Ok(person)
}

/// # Errors
/// [`Code::TooMany`] for a member whose factors of this kind are as many as can be, those not counted whose place the new one takes;
/// [`Code::Forbidden`] for numbers where the site's members add none.
pub(super) async fn may_add(
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    wanted: FactorType,
    replaced: &[String],
) -> Result<()> {
    if wanted.channel().is_some() && !policy::read(tx, site).await?.second_factor_by_telephone {
        return Err(Fault::because(Code::Forbidden, "Members of this site can not add a number."));
    }
    held::has_room(tx, site, member, wanted, replaced).await
}

/// What confirms a factor that waits, and whose place it takes.
#[derive(Debug, Clone)]
struct Confirmation {
    code: FirstCode,
    /// Ids of factors that are the same browser.
    replaced: Vec<String>,
}

#[derive(Debug, Clone)]
enum FirstCode {
    /// A code of the authenticator, of this step of time.
    Step(i64),
    /// What may have been sent.
    Sent(Secret),
}

/// # Errors
/// [`Code::NotFound`] for an authenticator that doesn't wait; [`Code::VerificationFailed`] for a wrong code of one.
async fn first_code(core: &Core, site: &Site, member: &MemberId, id: &str, code: &Secret) -> Result<Confirmation> {
    let kind = row::kind_of(id);
    if kind != FactorType::Totp {
        let replaced = match kind {
            FactorType::Push => browsers::same_as_factor(core, site, member, id).await?,
            _ => Vec::new(),
        };
        return Ok(Confirmation { code: FirstCode::Sent(code.clone()), replaced });
    }
    let step = held::first_step(core, &Realm::of_site(site), member, id, code).await?;
    Ok(Confirmation { code: FirstCode::Step(step), replaced: Vec::new() })
}
