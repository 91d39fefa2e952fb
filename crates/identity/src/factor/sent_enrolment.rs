//! How members come to take codes that are sent: to their address, or to a number of a telephone. What confirms them is in
//! `enrol`.

use crate::{
    Core, Identity,
    defence::throttle::AttemptKind,
    factor::{
        FactorType,
        dispatch::{self, Letter, ToPhone},
        enrol, mailbox, offer, proof,
        row::{self, Factor},
        secret,
        sent::{LIFE, Sent},
        totp,
    },
    telephone::{self, PhoneNumber, Purpose},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Fault, MemberId, Millis, Result, SessionId, Violation};
use stoa_store::{Site, boxed};

const EMAIL_NAME: &str = "E-mail";

/// Codes that wait for the first one, which was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentEnrolment {
    pub id: String,
    pub name: String,
    /// Where it was sent, most of it left out.
    pub sent_to: String,
    /// Of the code; another is sent by beginning again.
    pub expires: Millis,
}

impl Identity {
    /// Begins to take codes by e-mail as second factor: sends the first one, which is shown to [`Identity::factor_confirm`]. To
    /// begin again sends another.
    ///
    /// # Errors
    /// As [`Identity::factor_begin`]; [`stoa_kernel::Code::TooMany`] for one who takes them; [`stoa_kernel::Code::Validation`] for one
    /// who has no password and signs in by the same mailbox.
    pub async fn factor_begin_email(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        address: IpAddr,
    ) -> Result<SentEnrolment> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        proof::count_change(core, site, &member, &session).await?;
        let _sent = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, address, "")?;
        let id = row::email_id(&member);
        // Shown nowhere: every factor has a secret.
        let factor = pending(core, site, &member, (id, EMAIL_NAME.to_owned()), &totp::new_secret(core.world()))?;
        let (factor, letter) = begin(core, site, (member, session), factor, None).await?;
        let (sent_to, _) = letter.send(core, site).await?;
        Ok(waiting(factor, sent_to))
    }

    /// Begins to take codes at a number of a telephone, by text message or by call: the first one is sent, and shown to
    /// [`Identity::factor_confirm`].
    ///
    /// # Errors
    /// As [`Identity::factor_begin`]; [`stoa_kernel::Code::Forbidden`] where the site's members add no numbers;
    /// [`stoa_kernel::Code::Validation`] for a kind that the server doesn't have, and for a number
    /// that is none, that the server sends no codes to, or that the provider refuses; [`stoa_kernel::Code::TooMany`] for one who
    /// has a number of the kind; [`stoa_kernel::Code::Unavailable`] when the code could not be sent.
    pub async fn factor_begin_phone(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        (factor, number): (FactorType, &str),
        address: IpAddr,
    ) -> Result<SentEnrolment> {
        let core = &self.core;
        let (member, session) = proof::oneself(caller)?;
        if factor.channel().is_none() || !offer::has(core, factor) {
            return Err(invalid("type", "INVALID_ENUM_VALUE", "this factor is not built"));
        }
        let number = PhoneNumber::parse(number);
        let number = number.ok_or_else(|| invalid("phone", "FORMAT", "+ and the digits of a number are expected"))?;
        let prefix = core.telephone.as_ref().and_then(|it| it.prefix_of(&number));
        if prefix.is_none() {
            return Err(invalid("phone", "VALIDATION", "this server sends no codes to numbers that begin so"));
        }
        proof::count_change(core, site, &member, &session).await?;
        let _sent = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, address, "")?;
        let leave = dispatch::leave(core, site, address)?;
        let id = row::phone_id(factor, &core.world().uuid());
        let factor = pending(core, site, &member, (id, number.mask()), number.as_str())?;
        let to = ToPhone { number, purpose: Purpose::First, leave };
        let (factor, letter) = begin(core, site, (member, session), factor, Some(to)).await?;
        let sent_to = letter.sent_to.clone();
        match letter.deliver(core, site).await? {
            Ok(()) => Ok(waiting(factor, sent_to)),
            Err(undelivered) if undelivered.is_refused => {
                Err(invalid("phone", "VALIDATION", "the telephone provider does not take this number"))
            }
            Err(_) => Err(telephone::unsent()),
        }
    }
}

/// A factor of which no code was shown yet, with what is sealed in it.
pub(super) fn pending(
    core: &Core,
    site: &Site,
    member: &MemberId,
    (id, name): (String, String),
    sealed: &str,
) -> Result<Factor> {
    let sealed = secret::seal(core, &site.id, member, &id, sealed)?;
    Ok(Factor::new((id, name), sealed, core.now()))
}

/// Writes a factor down and its first code, which goes to the number, or to the member's address.
async fn begin(
    core: &Arc<Core>,
    site: &Arc<Site>,
    (member, session): (MemberId, SessionId),
    factor: Factor,
    to: Option<ToPhone>,
) -> Result<(Factor, Letter)> {
    let begun = site.write_with((core.clone(), site.clone(), member, session, factor, to), |tx, input| {
        boxed!({
            let (core, site, member, session, factor, to) = input;
            let person = enrol::may_enrol(core, tx, site, member, session).await?;
            enrol::may_add(tx, &site.id, member, factor.factor(), &[]).await?;
            if factor.factor() == FactorType::Email && !mailbox::can_be(tx, &site.id, &person).await? {
                let why = "it takes a password, or an identity provider that knows the member by another address";
                return Err(invalid("type", "VALIDATION", why));
            }
            row::begin(tx, &site.id, member, factor).await?;
            let sent = Sent::first(&person, factor);
            let letter = match to {
                Some(to) => dispatch::by_phone(core, tx, &site.id, &person, (factor.factor(), &sent, to)).await?,
                None => dispatch::by_mail(core, tx, &site.id, &person, &sent).await?,
            };
            Ok((factor.clone(), letter))
        })
    });
    begun.await
}

fn waiting(factor: Factor, sent_to: String) -> SentEnrolment {
    SentEnrolment { id: factor.id, name: factor.name, sent_to, expires: factor.created + LIFE }
}

fn invalid(field: &str, rule: &'static str, why: &str) -> Fault {
    Fault::invalid(vec![Violation::new(field, rule, why)])
}
