//! Whether what somebody brings is a passkey: each step of chapters 7.1 and 7.2 of Web Authentication Level 3 that is left without attestation.

use super::{
    authenticator_data::{self, AuthenticatorData},
    challenge::{Challenge, Use},
    cose::PublicKey,
    presented::{Presented, PresentedNew},
    row::{self, Passkey, Shown},
    transport::Transport,
};
use crate::{Core, audit, browser::RelyingParty, factor::realm::Realm};
use ring::digest::{SHA256, digest};
use std::net::IpAddr;
use stoa_kernel::{MemberId, Result, SiteId};
use stoa_store::{ReaderPool, Tx, boxed};

/// A passkey of which everything was right but what is counted: that is for [`take`].
#[derive(Debug, Clone)]
pub(crate) struct Verified {
    passkey: Passkey,
    challenge: Challenge,
    counter: i64,
    is_backed_up: bool,
}

impl Verified {
    /// Whose it is.
    pub(crate) fn member(&self) -> &MemberId {
        &self.passkey.member
    }

    /// The host that it was made for.
    pub(crate) fn relying_party(&self) -> &str {
        &self.passkey.relying_party
    }
}

/// Checks what is shown, beside the transaction in which it counts. None, whatever is wrong: no passkey of the site, or of another
/// member than the one who is asked, another signature, a challenge that is over or for something else.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn verify(
    core: &Core,
    realm: &Realm<'_>,
    presented: &Presented,
    for_use: Use<'_>,
) -> Result<Option<Verified>> {
    if !presented.challenge.is_for(core, &realm.id, for_use) {
        return Ok(None);
    }
    let (id, credential) = (realm.id.clone(), presented.credential.clone());
    let read = realm.database.read(ReaderPool::Point, move |tx| boxed!(row::find(tx, &id, &credential).await));
    let Some(passkey) = read.await? else { return Ok(None) };
    Ok(check(&realm.id, presented, for_use, passkey))
}

fn check(site: &SiteId, presented: &Presented, for_use: Use<'_>, passkey: Passkey) -> Option<Verified> {
    let is_of_member = match for_use.member() {
        Some(member) => passkey.member == *member,
        None => presented.user_handle.is_some(),
    };
    let is_user = presented.user_handle.as_ref().is_none_or(|it| *it == passkey.user_handle(site));
    let data = AuthenticatorData::parse(&presented.authenticator_data)?;
    let is_sound = is_of_member
        && is_user
        && passkey.relying_party == presented.relying_party.id()
        && is_of(&data, &presented.relying_party)
        && data.credential.is_none()
        && data.is_backup_eligible == passkey.is_backup_eligible;
    if !is_sound {
        return None;
    }
    let hash = digest(&SHA256, &presented.client_data);
    let message = [presented.authenticator_data.as_slice(), hash.as_ref()].concat();
    let is_signed = PublicKey::parse(&passkey.public_key)?.has_signed(&message, &presented.signature);
    let (counter, is_backed_up) = (i64::from(data.counter), data.is_backed_up);
    is_signed.then(|| Verified { passkey, challenge: presented.challenge.clone(), counter, is_backed_up })
}

/// Whether somebody has shown to an authenticator who they are, on pages of this one.
fn is_of(data: &AuthenticatorData<'_>, at: &RelyingParty) -> bool {
    data.is_user_verified && data.relying_party == at.hash()
}

/// What a passkey that is shown comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Right,
    Wrong,
    /// Its counter has not grown: there is a copy of it.
    Copied,
}

/// Uses the challenge up inside a transaction, and notes what the passkey has counted. It counts neither a second time, nor
/// after it was removed, nor when its counter has not grown. The transaction is to be kept in each case.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn take(core: &Core, tx: &mut Tx<'_>, site: &SiteId, verified: &Verified) -> Result<Taken> {
    let Verified { passkey, challenge, counter, is_backed_up } = verified;
    let now = core.now();
    if now >= challenge.expires() || !challenge.take(tx, site).await? {
        return Ok(Taken::Wrong);
    }
    let shown = Shown { counter: *counter, is_backed_up: *is_backed_up, at: now };
    if row::advance(tx, site, passkey, shown).await? {
        return Ok(Taken::Right);
    }
    let is_there = row::find(tx, site, &passkey.credential).await?.is_some_and(|it| it.id == passkey.id);
    Ok(if is_there { Taken::Copied } else { Taken::Wrong })
}

/// The same of a member: whether it counts. Of a copy the audit log says so.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn take_of_member(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    verified: &Verified,
    address: IpAddr,
) -> Result<bool> {
    let taken = take(core, tx, site, verified).await?;
    if taken == Taken::Copied {
        let entry = audit::Entry::by_oneself(verified.member(), audit::Event::PasskeyCopied);
        audit::record(core, tx, site, entry.at_address(Some(address))).await?;
    }
    Ok(taken == Taken::Right)
}

/// A new passkey of which everything was right but that its challenge was not used before: that is for [`insert`].
#[derive(Debug, Clone)]
pub(crate) struct NewPasskey {
    credential: Vec<u8>,
    relying_party: RelyingParty,
    public_key: Vec<u8>,
    counter: i64,
    is_backup_eligible: bool,
    is_backed_up: bool,
    transports: Vec<Transport>,
    challenge: Challenge,
}

/// Checks a new passkey. None, whatever is wrong.
pub(crate) fn verify_new(core: &Core, site: &SiteId, presented: &PresentedNew, for_use: Use<'_>) -> Option<NewPasskey> {
    let data = AuthenticatorData::parse(authenticator_data::of_attestation(&presented.attestation)?)?;
    let credential = data.credential.as_ref()?;
    let is_sound = presented.challenge.is_for(core, site, for_use)
        && is_of(&data, &presented.relying_party)
        && credential.id == presented.credential;
    is_sound.then(|| NewPasskey {
        credential: credential.id.to_vec(),
        relying_party: presented.relying_party.clone(),
        public_key: credential.public_key.to_vec(),
        counter: i64::from(data.counter),
        is_backup_eligible: data.is_backup_eligible,
        is_backed_up: data.is_backed_up,
        transports: presented.transports.clone(),
        challenge: presented.challenge.clone(),
    })
}

/// Writes a new passkey down inside a transaction. None when its challenge was used, or the site has one of the same credential.
///
/// # Errors
/// What the engine answers.
pub(crate) async fn insert(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (new, name): (&NewPasskey, &str),
) -> Result<Option<Passkey>> {
    let now = core.now();
    let passkey = Passkey {
        id: format!("{}{}", row::PREFIX, core.world().uuid()),
        member: member.clone(),
        credential: new.credential.clone(),
        relying_party: new.relying_party.id().to_owned(),
        name: name.to_owned(),
        public_key: new.public_key.clone(),
        counter: new.counter,
        is_backup_eligible: new.is_backup_eligible,
        is_backed_up: new.is_backed_up,
        transports: new.transports.clone(),
        created: now,
        used: None,
    };
    let is_in_time = now < new.challenge.expires() && new.challenge.take(tx, site).await?;
    Ok(if is_in_time && row::insert(tx, site, &passkey).await? { Some(passkey) } else { None })
}
