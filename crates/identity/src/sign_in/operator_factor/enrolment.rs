//! The sign-in of somebody who runs a site that requires a second factor of them, and who has none: as `sign_in::enrolment` for
//! members, with the account in the catalogue. Its address needs no code first: the account came to be by a link to it, or is that of
//! the first owner.

use super::{
    Known,
    ask::{self, Asked, Cleared},
    person_of, proof, still_waits,
    tell::{self, Told},
};
use crate::{
    Core, audit,
    factor::{self, Draft, NewCodes, SealedCodes, passkey},
    mail::FactorChange,
    policy,
    sign_in::{
        challenge::{self, Challenge},
        enrolment::{New, Waiting},
    },
};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// How an enrolment that was asked for begins.
#[derive(Debug, Clone)]
pub(crate) enum Begun {
    /// To be set up, under this account.
    Draft { draft: Draft, account: String },
    /// Nothing is required any more.
    Cleared(Cleared),
}

/// Goes on without a factor, if the site lets the person put it off. `None` when the sign-in is over: they have another password
/// or a factor by now, or it waited too long.
///
/// # Errors
/// [`Code::PasswordWrong`] for one who does not run the site any more.
pub(crate) async fn put_off(core: &Core, site: &Site, challenge: Challenge) -> Result<Option<Asked>> {
    let Some(known) = without_factor(core, &challenge).await? else { return Ok(None) };
    match policy::of_site(site).await?.operator_factor_due(known.created) {
        Some(due) if due <= core.now() => Ok(Some(Asked::Enrolment { challenge, until: None })),
        _ => cleared(core, site, &challenge, known).await.map(|it| Some(Asked::Cleared(it))),
    }
}

/// Begins to set up an authenticator. `None` as for [`put_off`].
///
/// # Errors
/// As for [`put_off`].
pub(crate) async fn begin(core: &Core, site: &Site, challenge: &Challenge) -> Result<Option<Begun>> {
    let Some(known) = without_factor(core, challenge).await? else { return Ok(None) };
    if policy::of_site(site).await?.operator_factor_due(known.created).is_none() {
        return cleared(core, site, challenge, known).await.map(|it| Some(Begun::Cleared(it)));
    }
    let draft = Draft::draw(core, &factor::operators(), &challenge.member)?;
    Ok(Some(Begun::Draft { draft, account: known.email }))
}

/// Recovery codes that are shown once the factor of a sign-in counts, and the challenge with which the sign-in then ends.
pub(crate) struct Prepared {
    pub challenge: Challenge,
    pub codes: SealedCodes,
    new: NewCodes,
}

/// Prepares what [`confirm`] has count. The flow, which is kept elsewhere, stores it before: of many at once one goes on, and codes that
/// count are shown whatever stops in between.
///
/// # Errors
/// What sealing answers.
pub(crate) fn prepare(core: &Core, waiting: &Waiting) -> Result<Prepared> {
    let (new, codes) = SealedCodes::draw(core, &factor::operators(), &waiting.challenge.member)?;
    let (generation, until) = (waiting.challenge.generation + 1, core.now() + challenge::ENROLMENT);
    Ok(Prepared { challenge: Challenge { generation, until, ..waiting.challenge.clone() }, codes, new })
}

/// Has a factor that was shown for the first time count from now on, and the codes with it: whether it does. It doesn't as for
/// [`put_off`].
///
/// # Errors
/// [`Code::VerificationFailed`] for a passkey that there is already.
pub(crate) async fn confirm(
    core: &Arc<Core>,
    site: &Site,
    waiting: Waiting,
    new: New,
    prepared: &Prepared,
) -> Result<bool> {
    let (core, site, codes) = (core.clone(), site.id.clone(), prepared.new.clone());
    let change = match &new {
        New::Authenticator { .. } => FactorChange::Added,
        New::Passkey(_) => FactorChange::PasskeyAdded,
    };
    let work = async move {
        let kept =
            core.store().catalog().write_with(
                (core.clone(), waiting.challenge.clone(), new, codes),
                |tx, (core, challenge, new, codes)| boxed!(keep(core, tx, challenge, new, codes).await),
            );
        let Some(known) = kept.await? else { return Ok(false) };
        let operator = ask::operator_of(&waiting.challenge, known);
        let added = (audit::Event::FactorAdded, Some(change));
        tell::tell(&core, &site, &operator, Told::changed(added, Some(waiting.address))).await;
        Ok(true)
    };
    tell::to_its_end(work).await
}

async fn keep(
    core: &Core,
    tx: &mut Tx<'_>,
    challenge: &Challenge,
    new: &New,
    codes: &NewCodes,
) -> Result<Option<Known>> {
    let (realm, person) = (factor::operators(), &challenge.member);
    let Some(known) = still_waits(tx, challenge, core.now()).await? else { return Ok(None) };
    // Of many at once one acts.
    let locked = factor::locked_generation(tx, &realm, person).await?;
    if locked != challenge.generation || factor::generation(tx, &realm, person).await?.is_some() {
        return Ok(None);
    }
    match new {
        New::Authenticator { draft, step } => draft.store(core, tx, &realm, person, *step).await?,
        New::Passkey(new) => {
            let kept = passkey::insert(core, tx, &realm, person, (new, factor::PASSKEY_NAME)).await?;
            kept.ok_or_else(|| Fault::new(Code::VerificationFailed))?;
        }
    }
    codes.put(tx, &realm, person).await?;
    proof::end_sign_ins(tx, &person_of(challenge), None).await?;
    Ok(Some(known))
}

/// Signs in who has set up a factor and kept the recovery codes. `None` when the factor is gone, the password another one, or it
/// took too long: then the factor is asked for as at any sign-in.
///
/// # Errors
/// As for [`put_off`].
pub(crate) async fn finish(core: &Core, site: &Site, challenge: Challenge) -> Result<Option<Cleared>> {
    let Some(known) = waits(core, &challenge).await? else { return Ok(None) };
    if known.generation != Some(challenge.generation) {
        return Ok(None);
    }
    let operator = ask::operator_of(&challenge, known);
    ask::cleared(core, site, operator, Some(challenge.generation)).await.map(Some)
}

async fn cleared(core: &Core, site: &Site, challenge: &Challenge, known: Known) -> Result<Cleared> {
    ask::cleared(core, site, ask::operator_of(challenge, known), None).await
}

async fn waits(core: &Core, challenge: &Challenge) -> Result<Option<Known>> {
    let (challenge, now) = (challenge.clone(), core.now());
    let read = core.store().catalog().read(ReaderPool::Point, move |tx| boxed!(still_waits(tx, &challenge, now).await));
    read.await
}

async fn without_factor(core: &Core, challenge: &Challenge) -> Result<Option<Known>> {
    Ok(waits(core, challenge).await?.filter(|it| it.generation.is_none()))
}
