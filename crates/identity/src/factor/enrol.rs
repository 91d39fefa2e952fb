//! How members come by second factors and lose them. All of it is a member's own, in a session in which they have lately shown
//! who they are (`proof`), but for the reset by those who run the site.

use crate::{
    Core, Identity, audit,
    factor::{
        FactorType, MOST, guard, notice, offer,
        passkey::{self, Passkey},
        proof, recovery_code, remembered,
        row::{self, Factor},
        secret,
        sent::{self, Sent},
        totp,
    },
    mail::{self, FactorChange},
    member::{self, Member, access::MemberWrite},
    policy::{self, SecondFactorPolicy},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, Secret, SessionId, SiteId, Violation};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// How long a factor waits for its first code.
const WAITS: Millis = 15 * 60_000;
/// Characters of a factor's name.
const LONGEST_NAME: usize = 100;
pub(super) const NAME: &str = "Authenticator";
const LAST: &str = "This site requires an authenticator or a passkey: add another one before the last is removed.";

/// A factor as its member sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberFactor {
    pub id: String,
    pub factor: FactorType,
    pub name: String,
    pub created: Millis,
    pub used: Option<Millis>,
    /// Of a passkey: whether copies of it are on other devices.
    pub is_backed_up: Option<bool>,
}

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

/// A factor that waits for its first code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrolment {
    pub id: String,
    pub name: String,
    /// In base32, for typing.
    pub secret: Secret,
    /// The same as a QR code holds it.
    pub uri: Secret,
    pub expires: Millis,
}

/// A factor that counts from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrolled {
    pub factor: MemberFactor,
    /// With the first one: shown this once.
    pub recovery_codes: Option<Vec<String>>,
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
                let factors = row::of_member(tx, &id, &member).await?;
                let factors = factors.into_iter().filter(|it| it.confirmed.is_some()).map(shown);
                let passkeys = passkey::of_member(tx, &id, &member).await?.into_iter().map(MemberFactor::from);
                let mut factors: Vec<_> = factors.chain(passkeys).collect();
                factors.sort_by_key(|it| it.created);
                let policy = policy::read(tx, &id).await?;
                let is_addable = |it: &FactorType| match policy.second_factor {
                    SecondFactorPolicy::Off => false,
                    _ => it.channel().is_none() || policy.second_factor_by_telephone,
                };
                Ok(FactorList {
                    policy: policy.second_factor,
                    addable: kinds.into_iter().filter(is_addable).collect(),
                    factors,
                    recovery_codes_left: recovery_code::left(tx, &id, &member).await?,
                    remembered_browsers: remembered::count(tx, &id, &member, now).await?,
                    proved_until: proof::until(tx, &id, &session, now).await?,
                })
            })
        });
        read.await
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
        let name = checked_name(name, NAME)?;
        proof::count_change(core, site, &member, &session).await?;
        let email = member::find(site, &member).await?.ok_or_else(|| Fault::new(Code::NotFound))?.email;
        let (id, secret, now) = (core.world().uuid(), totp::new_secret(core.world()), core.now());
        let sealed = secret::seal(core, &site.id, &member, &id, &secret)?;
        let factor = Factor {
            id: id.clone(),
            name: name.clone(),
            sealed,
            created: now,
            confirmed: None,
            used: None,
            last_step: 0,
        };
        let begun = site.write_with((core.clone(), site.clone(), member, session, factor), |tx, input| {
            boxed!({
                let (core, site, member, session, factor) = input;
                may_enrol(core, tx, site, member, session).await?;
                may_add(tx, &site.id, member, FactorType::Totp).await?;
                row::begin(tx, &site.id, member, factor).await
            })
        });
        begun.await?;
        let uri = totp::uri(&site.name(), &email, &secret);
        Ok(Enrolment { id, name, secret: Secret::new(secret), uri: Secret::new(uri), expires: now + WAITS })
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
                    let all = row::of_member(tx, &site.id, member).await?;
                    let waiting = all.iter().find(|it| it.id == *id && waits(core, it));
                    let waiting = waiting.ok_or_else(|| Fault::new(Code::NotFound))?;
                    may_add(tx, &site.id, member, waiting.factor()).await?;
                    let step = match first {
                        FirstCode::Step(step) => *step,
                        FirstCode::Sent(code) => {
                            let sent = Sent::first(&person, waiting);
                            if !sent::take(tx, &site.id, &sent, code, core.now()).await? {
                                // Not an error of the transaction, so that the count is kept.
                                return Ok(Err(Fault::new(Code::VerificationFailed)));
                            }
                            0
                        }
                    };
                    let is_first = guard::generation(tx, &site.id, member).await?.is_none();
                    if !row::confirm(tx, &site.id, member, id, (step, core.now())).await? {
                        return Err(Fault::new(Code::NotFound));
                    }
                    let recovery_codes = match is_first {
                        true => Some(recovery_code::renew(core, tx, &site.id, member).await?),
                        false => None,
                    };
                    let change = Change { session: Some(session), address, is_passkey: false };
                    count_from_now(core, tx, &site.id, &person, change).await?;
                    let factor = row::of_member(tx, &site.id, member).await?.into_iter().find(|it| it.id == *id);
                    let factor = factor.ok_or_else(|| Fault::new(Code::NotFound))?;
                    Ok(Ok(Enrolled { factor: shown(factor), recovery_codes }))
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
                    let kind = row::kind_of(id);
                    let is_removed = match kind {
                        FactorType::Webauthn => passkey::remove(tx, &site.id, member, id).await?,
                        _ => row::remove(tx, &site.id, member, id).await?,
                    };
                    if !is_removed {
                        return Err(Fault::new(Code::NotFound));
                    }
                    let may_be_required = matches!(kind, FactorType::Totp | FactorType::Webauthn);
                    if may_be_required && !offer::has_authenticator(tx, &site.id, member).await? {
                        let due = policy::read(tx, &site.id).await?.factor_due(tx, &site.id, &person).await?;
                        if due.is_some_and(|it| it <= core.now()) {
                            return Err(Fault::because(Code::Forbidden, LAST));
                        }
                    }
                    if guard::generation(tx, &site.id, member).await?.is_none() {
                        recovery_code::remove(tx, &site.id, member).await?;
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

    /// Gives an authenticator or a passkey of the calling member another name.
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
        let kind = row::kind_of(id);
        if kind.is_sent() {
            let why = "codes that are sent have no name";
            return Err(Fault::invalid(vec![Violation::new("name", "FIELD_NOT_ALLOWED", why)]));
        }
        if name.trim().is_empty() {
            return Err(Fault::invalid(vec![Violation::new("name", "REQUIRED_FIELD", "is required")]));
        }
        let name = checked_name(Some(name), NAME)?;
        proof::count_change(core, site, &member, &session).await?;
        let renamed = site.write_with(
            (core.clone(), site.clone(), member, session, (id.to_owned(), name)),
            move |tx, (core, site, member, session, (id, name))| {
                boxed!({
                    proof::require(core, tx, site, member, session).await?;
                    let (id, name) = (id.as_str(), name.as_str());
                    let is_renamed = match kind {
                        FactorType::Webauthn => passkey::rename(tx, &site.id, member, (id, name)).await?,
                        _ => row::rename(tx, &site.id, member, (id, name)).await?,
                    };
                    if !is_renamed {
                        return Err(Fault::new(Code::NotFound));
                    }
                    let entry = audit::Entry::by_oneself(member, audit::Event::FactorRenamed);
                    audit::record(core, tx, &site.id, entry.at_address(Some(address))).await?;
                    let passkeys = passkey::of_member(tx, &site.id, member).await?.into_iter().map(MemberFactor::from);
                    let others = row::of_member(tx, &site.id, member).await?.into_iter().map(shown);
                    let found = passkeys.chain(others).find(|it| it.id == id);
                    found.ok_or_else(|| Fault::new(Code::NotFound))
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
                if guard::generation(tx, &site.id, member).await?.is_none() {
                    return Err(Fault::new(Code::NotFound));
                }
                let codes = recovery_code::renew(core, tx, &site.id, member).await?;
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

    /// Takes all second factors of a member away, who has lost them; the member is told. Answers how many there were,
    /// recovery codes not counted.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`] for an unknown member.
    pub async fn factors_reset(&self, site: &Arc<Site>, caller: &Caller, id: &MemberId) -> Result<u64> {
        let core = &self.core;
        MemberWrite::privileged(caller)?;
        let reset = site.write_with(
            (core.clone(), site.clone(), caller.clone(), id.clone()),
            |tx, (core, site, caller, id)| {
                boxed!({
                    let person = member::get(tx, &site.id, id).await?.filter(Member::is_there);
                    let person = person.ok_or_else(|| Fault::new(Code::NotFound))?;
                    let count = drop_all(core, tx, &site.id, caller, id).await?;
                    if count > 0 {
                        notice::changed(core, tx, &site.id, &person, FactorChange::Removed).await?;
                    }
                    Ok(count)
                })
            },
        );
        let count = reset.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(count)
    }
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
    let count = row::remove_all(tx, site, member).await? + passkey::remove_all(tx, site, member).await?;
    recovery_code::remove(tx, site, member).await?;
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

/// What a factor brings that counts from now on: sign-ins that wait end, the audit log and the member are told. Who adds one has
/// shown who they are, so the password is as good as theirs.
pub(super) async fn count_from_now(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    person: &Member,
    change: Change<'_>,
) -> Result<()> {
    guard::end_sign_ins(tx, site, &person.id, change.session).await?;
    guard::trust_password(tx, site, &person.id).await?;
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
/// [`Code::TooMany`] for a member whose factors of this kind are as many as can be; [`Code::Forbidden`] for numbers where the
/// site's members add none.
pub(super) async fn may_add(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, wanted: FactorType) -> Result<()> {
    if wanted.channel().is_some() && !policy::read(tx, site).await?.second_factor_by_telephone {
        return Err(Fault::because(Code::Forbidden, "Members of this site can not add a number."));
    }
    let (count, most) = match wanted {
        FactorType::Webauthn => (passkey::count(tx, site, member).await?, passkey::MOST),
        _ => {
            let all = row::of_member(tx, site, member).await?;
            let confirmed = all.iter().filter(|it| it.confirmed.is_some() && it.factor() == wanted).count();
            (confirmed, if wanted == FactorType::Totp { MOST } else { 1 })
        }
    };
    if count < most { Ok(()) } else { Err(Fault::new(Code::TooMany)) }
}

fn waits(core: &Core, factor: &Factor) -> bool {
    factor.confirmed.is_none() && core.now() < factor.created + WAITS
}

/// What confirms a factor that waits.
#[derive(Debug, Clone)]
enum FirstCode {
    /// A code of the authenticator, of this step of time.
    Step(i64),
    /// What may have been sent.
    Sent(Secret),
}

/// # Errors
/// [`Code::NotFound`] for an authenticator that doesn't wait; [`Code::VerificationFailed`] for a wrong code of one.
async fn first_code(core: &Core, site: &Site, member: &MemberId, id: &str, code: &Secret) -> Result<FirstCode> {
    if row::kind_of(id) != FactorType::Totp {
        return Ok(FirstCode::Sent(code.clone()));
    }
    let all = secret::of_member(core, site, member).await?;
    let waiting = all.into_iter().find(|(it, _)| it.id == id && waits(core, it));
    let (_, secret) = waiting.ok_or_else(|| Fault::new(Code::NotFound))?;
    let typed: String = code.expose().chars().filter(|it| !it.is_whitespace()).collect();
    let step = totp::step_of(secret.expose(), &typed, core.now(), 0);
    step.map(FirstCode::Step).ok_or_else(|| Fault::new(Code::VerificationFailed))
}

fn shown(factor: Factor) -> MemberFactor {
    let kind = factor.factor();
    let Factor { id, name, created, used, .. } = factor;
    MemberFactor { id, factor: kind, name, created, used, is_backed_up: None }
}

impl From<Passkey> for MemberFactor {
    fn from(passkey: Passkey) -> Self {
        let Passkey { id, name, created, used, is_backed_up, .. } = passkey;
        Self { id, factor: FactorType::Webauthn, name, created, used, is_backed_up: Some(is_backed_up) }
    }
}

/// A name as a member may give it, or the usual one.
pub(super) fn checked_name(name: Option<&str>, usual: &str) -> Result<String> {
    let name = name.map(str::trim).filter(|it| !it.is_empty()).unwrap_or(usual);
    let wrong = |rule, why: String| Err(Fault::invalid(vec![Violation::new("name", rule, why)]));
    match name {
        it if it.chars().count() > LONGEST_NAME => wrong("MAX_LENGTH", format!("at most {LONGEST_NAME} characters")),
        it if it.chars().any(char::is_control) => wrong("FORMAT", "a name has no control characters".to_owned()),
        it => Ok(it.to_owned()),
    }
}
