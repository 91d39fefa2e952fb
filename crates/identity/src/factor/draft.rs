//! An authenticator that is set up on the way of a sign-in. Until its first code was right nothing of it is stored but in
//! that sign-in, encrypted: who knows a password alone fills no table, and meets no other sign-in.

use crate::{
    Core,
    factor::{
        enrol::{self, Change},
        guard, held, recovery_code,
        row::{self, Factor},
        secret, totp,
    },
    member::Member,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use stoa_kernel::{Code, Fault, MemberId, Result, Secret, SiteId};
use stoa_store::Tx;

/// What [`SealedCodes`] are encrypted for, in the place of a factor's id.
const CODES: &str = "recovery codes";

/// Recovery codes that the sign-in in which they were made shows until its member has kept them: encrypted, in base64url.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedCodes(String);

impl SealedCodes {
    fn seal(core: &Core, site: &SiteId, member: &MemberId, codes: &[String]) -> Result<Self> {
        let sealed = secret::seal(core, site, member, CODES, &codes.join(" "))?;
        Ok(Self(URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// New ones that don't count yet: in the clear as well, for [`NewCodes::put`].
    ///
    /// # Errors
    /// What sealing answers.
    pub(crate) fn draw(core: &Core, realm: &SiteId, member: &MemberId) -> Result<(NewCodes, Self)> {
        let codes = recovery_code::draw(core.world());
        let sealed = Self::seal(core, realm, member, &codes)?;
        Ok((NewCodes(codes), sealed))
    }

    /// New ones with a factor that counts from now on; the member is told of both. Those of one who had some end.
    pub(super) async fn renew(
        core: &Core,
        tx: &mut Tx<'_>,
        site: &SiteId,
        person: &Member,
        (change, had_codes): (Change<'_>, bool),
    ) -> Result<Self> {
        let codes = recovery_code::renew(core, tx, site, &person.id).await?;
        enrol::count_from_now(core, tx, site, person, change).await?;
        if had_codes {
            enrol::tell_of_new_codes(core, tx, site, person, change.address).await?;
        }
        Self::seal(core, site, &person.id, &codes)
    }

    /// As they are shown; none when they are another member's or their key is gone.
    pub(crate) async fn open(&self, core: &Core, site: &SiteId, member: &MemberId) -> Result<Vec<String>> {
        let Ok(sealed) = URL_SAFE_NO_PAD.decode(&self.0) else { return Ok(Vec::new()) };
        let opened = secret::open(core, site, member, CODES, &sealed).await?;
        Ok(opened.iter().flat_map(|it| it.expose().split(' ')).map(str::to_owned).collect())
    }
}

/// Recovery codes that were drawn and don't count yet.
#[derive(Clone)]
pub(crate) struct NewCodes(Vec<String>);

impl NewCodes {
    /// Puts them in the place of all that the account had.
    ///
    /// # Errors
    /// What the engine answers.
    pub(crate) async fn put(&self, tx: &mut Tx<'_>, realm: &SiteId, member: &MemberId) -> Result<()> {
        recovery_code::replace(tx, realm, member, &self.0).await
    }
}

/// An authenticator without a code so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    id: String,
    /// The secret, encrypted for site, member and factor, in base64url.
    sealed: String,
}

/// What an authenticator is set up with.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// In base32, for typing.
    pub(crate) secret: Secret,
    /// The same as a QR code holds it.
    pub(crate) uri: Secret,
}

impl Draft {
    /// A new one.
    pub(crate) fn draw(core: &Core, site: &SiteId, member: &MemberId) -> Result<Self> {
        let (id, secret) = (core.world().uuid(), totp::new_secret(core.world()));
        let sealed = URL_SAFE_NO_PAD.encode(secret::seal(core, site, member, &id, &secret)?);
        Ok(Self { id, sealed })
    }

    /// What its member sets up, under the account's address with the name of the site; nothing when it is another member's or its
    /// key is gone.
    pub(crate) async fn setup(
        &self,
        core: &Core,
        (realm, member): (&SiteId, &MemberId),
        site_name: &str,
        account: &str,
    ) -> Result<Option<Setup>> {
        let secret = self.open(core, realm, member).await?;
        Ok(secret.map(|it| Setup { uri: Secret::new(totp::uri(site_name, account, it.expose())), secret: it }))
    }

    /// The step of time of its first code.
    ///
    /// # Errors
    /// [`Code::VerificationFailed`] for a wrong code.
    pub(crate) async fn step_of(
        &self,
        core: &Core,
        site: &SiteId,
        member: &MemberId,
        code: &Secret,
    ) -> Result<Option<i64>> {
        let Some(secret) = self.open(core, site, member).await? else { return Ok(None) };
        let typed: String = code.expose().chars().filter(|it| !it.is_whitespace()).collect();
        let step = totp::step_of(secret.expose(), &typed, core.now(), 0);
        step.map(Some).ok_or_else(|| Fault::new(Code::VerificationFailed))
    }

    /// Has it count from now on, inside a transaction in which the member has no other authenticator: the recovery
    /// codes, for the sign-in to show. Those of a member who takes codes by e-mail end, and the member is told.
    pub(crate) async fn keep(
        &self,
        core: &Core,
        tx: &mut Tx<'_>,
        site: &SiteId,
        person: &Member,
        (step, address): (i64, IpAddr),
    ) -> Result<SealedCodes> {
        let had_codes = guard::generation(tx, site, &person.id).await?.is_some();
        self.store(core, tx, site, &person.id, step).await?;
        SealedCodes::renew(core, tx, site, person, (Change { session: None, address, is_passkey: false }, had_codes))
            .await
    }

    /// Writes it down as a factor of which a first code was shown, of this step of time.
    ///
    /// # Errors
    /// What the engine answers.
    pub(crate) async fn store(
        &self,
        core: &Core,
        tx: &mut Tx<'_>,
        realm: &SiteId,
        member: &MemberId,
        step: i64,
    ) -> Result<()> {
        let (id, now) = (self.id.clone(), core.now());
        let sealed = URL_SAFE_NO_PAD.decode(&self.sealed).map_err(Fault::internal)?;
        let name = held::NAME.to_owned();
        let factor = Factor::new((id, name), sealed, now);
        row::begin(tx, realm, member, &factor).await?;
        row::confirm(tx, realm, member, &factor.id, (step, now)).await.map(drop)
    }

    async fn open(&self, core: &Core, site: &SiteId, member: &MemberId) -> Result<Option<Secret>> {
        let Ok(sealed) = URL_SAFE_NO_PAD.decode(&self.sealed) else { return Ok(None) };
        secret::open(core, site, member, &self.id, &sealed).await
    }
}
