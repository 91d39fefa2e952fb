//! The second factors that an account has, of either realm, inside a transaction: what is enrolled, confirmed, renamed and removed.
//! Who may do it, what it ends and who is told is for the callers: `enrol` for members, `sign_in::operator_factor` for those who run
//! sites.

use crate::{
    Core,
    factor::{
        FactorType, MOST, guard,
        passkey::{self, NewPasskey, Passkey},
        push,
        realm::Realm,
        recovery_code,
        row::{self, Factor},
        secret, totp,
    },
};
use stoa_kernel::{Code, Fault, MemberId, Millis, Result, Secret, SiteId, Violation};
use stoa_store::Tx;

/// How long a factor waits for its first code.
const WAITS: Millis = 15 * 60_000;
/// Characters of a factor's name.
const LONGEST_NAME: usize = 100;
pub(crate) const NAME: &str = "Authenticator";

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
    /// Of a browser: its push service knows it no more, so that it has to be enrolled again.
    pub needs_enrolment: bool,
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

impl Enrolment {
    /// What an account with this address sets up; the authenticator shows it with the name of the site.
    pub(crate) fn of(factor: Factor, secret: Secret, site: &str, account: &str) -> Self {
        let uri = Secret::new(totp::uri(site, account, secret.expose()));
        let Factor { id, name, created, .. } = factor;
        Self { id, name, secret, uri, expires: created + WAITS }
    }
}

impl From<Passkey> for MemberFactor {
    fn from(passkey: Passkey) -> Self {
        let Passkey { id, name, created, used, is_backed_up, .. } = passkey;
        let factor = FactorType::Webauthn;
        Self { id, factor, name, created, used, is_backed_up: Some(is_backed_up), needs_enrolment: false }
    }
}

impl From<Factor> for MemberFactor {
    fn from(factor: Factor) -> Self {
        let kind = factor.factor();
        let Factor { id, name, created, used, ended, .. } = factor;
        Self { id, factor: kind, name, created, used, is_backed_up: None, needs_enrolment: ended.is_some() }
    }
}

/// Those that count, the oldest first.
pub(crate) async fn list(tx: &mut Tx<'_>, realm: &SiteId, member: &MemberId) -> Result<Vec<MemberFactor>> {
    let factors = row::of_member(tx, realm, member).await?;
    let factors = factors.into_iter().filter(|it| it.confirmed.is_some()).map(MemberFactor::from);
    let passkeys = passkey::of_member(tx, realm, member).await?.into_iter().map(MemberFactor::from);
    let mut all: Vec<_> = factors.chain(passkeys).collect();
    all.sort_by_key(|it| it.created);
    Ok(all)
}

/// An authenticator that waits for its first code, and its secret.
///
/// # Errors
/// What sealing answers.
pub(crate) fn new_authenticator(
    core: &Core,
    realm: &SiteId,
    member: &MemberId,
    name: String,
) -> Result<(Factor, Secret)> {
    let (id, secret) = (core.world().uuid(), totp::new_secret(core.world()));
    let sealed = secret::seal(core, realm, member, &id, &secret)?;
    Ok((Factor::new((id, name), sealed, core.now()), Secret::new(secret)))
}

/// Writes a factor down of which no code was shown yet, in the place of any other such one.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn begin(tx: &mut Tx<'_>, realm: &SiteId, member: &MemberId, factor: &Factor) -> Result<()> {
    row::begin(tx, realm, member, factor).await
}

/// The step of time of an authenticator's first code, beside the transaction in which it counts.
///
/// # Errors
/// [`Code::NotFound`] for one that doesn't wait; [`Code::VerificationFailed`] for a wrong code.
pub(crate) async fn first_step(
    core: &Core,
    realm: &Realm<'_>,
    member: &MemberId,
    id: &str,
    code: &Secret,
) -> Result<i64> {
    let all = secret::of_member(core, realm, member).await?;
    let waiting = all.into_iter().find(|(it, _)| it.id == id && waits(core, it));
    let (_, secret) = waiting.ok_or_else(|| Fault::new(Code::NotFound))?;
    let typed: String = code.expose().chars().filter(|it| !it.is_whitespace()).collect();
    let step = totp::step_of(secret.expose(), &typed, core.now(), 0);
    step.ok_or_else(|| Fault::new(Code::VerificationFailed))
}

/// One that waits for its first code.
///
/// # Errors
/// [`Code::NotFound`] where it doesn't, or not any more.
pub(super) async fn waiting(
    core: &Core,
    tx: &mut Tx<'_>,
    realm: &SiteId,
    member: &MemberId,
    id: &str,
) -> Result<Factor> {
    let all = row::of_member(tx, realm, member).await?;
    all.into_iter().find(|it| it.id == id && waits(core, it)).ok_or_else(|| Fault::new(Code::NotFound))
}

/// The first code of a factor was shown: it counts, in the place of those that are named, and with the first factor recovery codes are
/// made.
///
/// # Errors
/// [`Code::NotFound`] for one that doesn't wait (any more); [`Code::TooMany`].
pub(crate) async fn confirm(
    core: &Core,
    tx: &mut Tx<'_>,
    realm: &SiteId,
    member: &MemberId,
    (id, step): (&str, i64),
    replaced: &[String],
) -> Result<Enrolled> {
    let gone = || Fault::new(Code::NotFound);
    let wanted = waiting(core, tx, realm, member, id).await?.factor();
    has_room(tx, realm, member, wanted, replaced).await?;
    let is_first = guard::generation(tx, realm, member).await?.is_none();
    for same in replaced {
        row::remove(tx, realm, member, same).await?;
    }
    if !row::confirm(tx, realm, member, id, (step, core.now())).await? {
        return Err(gone());
    }
    let recovery_codes = first_codes(core, tx, realm, member, is_first).await?;
    let factor = row::of_member(tx, realm, member).await?.into_iter().find(|it| it.id == id).ok_or_else(gone)?;
    Ok(Enrolled { factor: factor.into(), recovery_codes })
}

/// The same of a passkey.
///
/// # Errors
/// [`Code::VerificationFailed`] when its challenge was used, or the realm has one of the same credential; [`Code::TooMany`].
pub(crate) async fn add_passkey(
    core: &Core,
    tx: &mut Tx<'_>,
    realm: &SiteId,
    member: &MemberId,
    new: (&NewPasskey, &str),
) -> Result<Enrolled> {
    has_room(tx, realm, member, FactorType::Webauthn, &[]).await?;
    let is_first = guard::generation(tx, realm, member).await?.is_none();
    let kept = passkey::insert(core, tx, realm, member, new).await?;
    let kept = kept.ok_or_else(|| Fault::new(Code::VerificationFailed))?;
    let recovery_codes = first_codes(core, tx, realm, member, is_first).await?;
    Ok(Enrolled { factor: kept.into(), recovery_codes })
}

async fn first_codes(
    core: &Core,
    tx: &mut Tx<'_>,
    realm: &SiteId,
    member: &MemberId,
    is_first: bool,
) -> Result<Option<Vec<String>>> {
    Ok(match is_first {
        true => Some(recovery_code::renew(core, tx, realm, member).await?),
        false => None,
    })
}

/// Removes a factor that counts, and with the last one the recovery codes: of which kind it was.
///
/// # Errors
/// [`Code::NotFound`].
pub(crate) async fn remove(tx: &mut Tx<'_>, realm: &SiteId, member: &MemberId, id: &str) -> Result<FactorType> {
    let kind = row::kind_of(id);
    let is_removed = match kind {
        FactorType::Webauthn => passkey::remove(tx, realm, member, id).await?,
        _ => row::remove(tx, realm, member, id).await?,
    };
    if !is_removed {
        return Err(Fault::new(Code::NotFound));
    }
    if guard::generation(tx, realm, member).await?.is_none() {
        recovery_code::remove(tx, realm, member).await?;
    }
    Ok(kind)
}

/// Removes all, and the recovery codes: how many there were, recovery codes not counted. Locks the guard.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn remove_all(tx: &mut Tx<'_>, realm: &SiteId, member: &MemberId) -> Result<u64> {
    guard::lock(tx, realm, member).await?;
    let count = row::remove_all(tx, realm, member).await? + passkey::remove_all(tx, realm, member).await?;
    recovery_code::remove(tx, realm, member).await?;
    Ok(count)
}

/// Gives an authenticator or a passkey another name.
///
/// # Errors
/// [`Code::NotFound`].
pub(crate) async fn rename(
    tx: &mut Tx<'_>,
    realm: &SiteId,
    member: &MemberId,
    (id, name): (&str, &str),
) -> Result<MemberFactor> {
    let gone = || Fault::new(Code::NotFound);
    let is_renamed = match row::kind_of(id) {
        FactorType::Webauthn => passkey::rename(tx, realm, member, (id, name)).await?,
        _ => row::rename(tx, realm, member, (id, name)).await?,
    };
    if !is_renamed {
        return Err(gone());
    }
    list(tx, realm, member).await?.into_iter().find(|it| it.id == id).ok_or_else(gone)
}

/// New recovery codes in the place of those before.
///
/// # Errors
/// [`Code::NotFound`] for an account without factors.
pub(crate) async fn renew_codes(
    core: &Core,
    tx: &mut Tx<'_>,
    realm: &SiteId,
    member: &MemberId,
) -> Result<Vec<String>> {
    if guard::generation(tx, realm, member).await?.is_none() {
        return Err(Fault::new(Code::NotFound));
    }
    recovery_code::renew(core, tx, realm, member).await
}

/// # Errors
/// [`Code::TooMany`] for an account whose factors of this kind are as many as can be, those not counted that are replaced.
pub(crate) async fn has_room(
    tx: &mut Tx<'_>,
    realm: &SiteId,
    member: &MemberId,
    wanted: FactorType,
    replaced: &[String],
) -> Result<()> {
    let (count, most) = match wanted {
        FactorType::Webauthn => (passkey::count(tx, realm, member).await?, passkey::MOST),
        _ => {
            let all = row::of_member(tx, realm, member).await?;
            let counts = |it: &&Factor| it.confirmed.is_some() && it.factor() == wanted && !replaced.contains(&it.id);
            let most = match wanted {
                FactorType::Totp => MOST,
                FactorType::Push => push::MOST,
                _ => 1,
            };
            (all.iter().filter(counts).count(), most)
        }
    };
    if count < most { Ok(()) } else { Err(Fault::new(Code::TooMany)) }
}

/// How many recovery codes are left.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn codes_left(tx: &mut Tx<'_>, realm: &SiteId, member: &MemberId) -> Result<i64> {
    recovery_code::left(tx, realm, member).await
}

fn waits(core: &Core, factor: &Factor) -> bool {
    factor.confirmed.is_none() && core.now() < factor.created + WAITS
}

/// A name as a member may give it, or the usual one.
///
/// # Errors
/// [`Code::Validation`].
pub(crate) fn checked_name(name: Option<&str>, usual: &str) -> Result<String> {
    let name = name.map(str::trim).filter(|it| !it.is_empty()).unwrap_or(usual);
    let wrong = |rule, why: String| Err(Fault::invalid(vec![Violation::new("name", rule, why)]));
    match name {
        it if it.chars().count() > LONGEST_NAME => wrong("MAX_LENGTH", format!("at most {LONGEST_NAME} characters")),
        it if it.chars().any(char::is_control) => wrong("FORMAT", "a name has no control characters".to_owned()),
        it => Ok(it.to_owned()),
    }
}

/// Another name of a factor with this id.
///
/// # Errors
/// [`Code::Validation`] for the name, and for codes that are sent, which have none.
pub(crate) fn new_name(id: &str, name: &str) -> Result<String> {
    let kind = row::kind_of(id);
    if kind.is_sent() || kind == FactorType::Password {
        let why = "codes that are sent, and the password, have no name";
        return Err(Fault::invalid(vec![Violation::new("name", "FIELD_NOT_ALLOWED", why)]));
    }
    if name.trim().is_empty() {
        return Err(Fault::invalid(vec![Violation::new("name", "REQUIRED_FIELD", "is required")]));
    }
    checked_name(Some(name), NAME)
}
