//! What is answered in a browser that was asked by Web Push. The one that has the token got it encrypted for that browser, within two
//! minutes: no session is needed. A question is answered once; a number that is not the one which is shown at the sign-in denies.

use crate::{
    Core, Identity, audit,
    defence::throttle::AttemptKind,
    factor::{
        guard,
        push::question::{self, AskedFor, PushQuestion},
    },
    mail::{self, Message, notice},
    member,
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Fault, Result, TokenHash};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// What a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushAnswer {
    /// The two digits that are shown where somebody signs in.
    Number(u8),
    Denied,
}

impl Identity {
    /// What a browser is asked by this token.
    ///
    /// # Errors
    /// [`Code::NotFound`] when there is no such question, or it is over or answered; [`Code::Throttled`] for networks that ask for
    /// many of those.
    pub async fn push_question(&self, site: &Arc<Site>, token: &str, address: IpAddr) -> Result<PushQuestion> {
        let core = &self.core;
        let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, address, "")?;
        let question = find(core, site, TokenHash::of(token)).await?;
        core.throttle.refund(permit);
        Ok(question)
    }

    /// Answers it, once. A wrong number denies it. Two denials within an hour pause questions to the member's browsers; each is told to
    /// the member and to the audit log.
    ///
    /// # Errors
    /// As [`Identity::push_question`]; [`Code::VerificationFailed`] for a wrong number.
    pub async fn push_answer(&self, site: &Arc<Site>, token: &str, answer: PushAnswer, address: IpAddr) -> Result<()> {
        let core = &self.core;
        let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, address, "")?;
        let hash = TokenHash::of(token);
        let question = find(core, site, hash.clone()).await?;
        let answered =
            site.write_with((core.clone(), site.clone(), question, hash), move |tx, (core, site, question, hash)| {
                boxed!(answer_in(core, tx, site, (question, hash), answer, address).await)
            });
        let is_approved = answered.await?.ok_or_else(|| Fault::new(Code::NotFound))?;
        match answer {
            PushAnswer::Number(_) if !is_approved => {
                mail::deliver_soon(core, &site.id).await;
                Err(Fault::new(Code::VerificationFailed))
            }
            PushAnswer::Number(_) => {
                core.throttle.refund(permit);
                Ok(())
            }
            PushAnswer::Denied => {
                core.throttle.refund(permit);
                mail::deliver_soon(core, &site.id).await;
                Ok(())
            }
        }
    }
}

async fn find(core: &Core, site: &Site, hash: TokenHash) -> Result<PushQuestion> {
    let (id, now) = (site.id.clone(), core.now());
    let read = site.read(ReaderPool::Point, move |tx| boxed!(question::by_token(tx, &id, &hash, now).await));
    read.await?.ok_or_else(|| Fault::new(Code::NotFound))
}

/// Whether it is approved; nothing when it was answered before, or is over.
async fn answer_in(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    (asked, hash): (&PushQuestion, &TokenHash),
    answer: PushAnswer,
    address: IpAddr,
) -> Result<Option<bool>> {
    let (member, now) = (&asked.member, core.now());
    guard::lock(tx, &site.id, member).await?;
    // Once more, now that nothing of the member's factors changes.
    if question::by_token(tx, &site.id, hash, now).await?.is_none() {
        return Ok(None);
    }
    let number = match answer {
        PushAnswer::Number(number) => Some(i64::from(number)),
        PushAnswer::Denied => None,
    };
    let answered = question::answer(tx, &site.id, (member, hash), number, now).await?;
    if answered == Some(false) {
        let how = if number.is_some() { "wrong number" } else { "denied" };
        let device = asked.device.as_deref().unwrap_or("an unknown browser");
        let why = format!("{how}; {} asked from {device} at {}", asked.asked_for.name(), asked.address);
        let entry = audit::Entry::by_oneself(member, audit::Event::PushDenied);
        audit::record(core, tx, &site.id, entry.at_address(Some(address)).with_detail(&why)).await?;
        if let Some(person) = member::get(tx, &site.id, member).await? {
            let is_change = asked.asked_for == AskedFor::Change;
            let (device, address) = (asked.device.clone(), asked.address.clone());
            let message = Message::PushDenied { is_change, device, address, at: now };
            notice::send(core, tx, &site.id, &person, message).await?;
        }
    }
    Ok(answered)
}
