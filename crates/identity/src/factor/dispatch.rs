//! How a code that a member asks for gets to them, in three steps: what has to be known before the transaction ([`prepare`]), what
//! is written in it ([`Prepared::put`]), and the sending once it is kept ([`Letter::send`]). Mail waits in a queue; a telephone is
//! sent one message, which the request waits for. Browsers are sent a question in the background.

use crate::{
    Core,
    defence::throttle::AttemptKind,
    factor::{
        Beside, FactorType, browsers, offer,
        push::question::{self, AskedFor, AskedFrom, Put, Question, Reason},
        row::{self, Factor},
        secret,
        sent::{self, Sent},
    },
    mail::{self, Message, notice},
    member::Member,
    telephone::{self, PhoneNumber, Purpose, Undelivered},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Email, Fault, MemberId, Millis, Result, Secret, SiteId, Violation};
use stoa_outbound::Leave;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// A code that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    factor: FactorType,
    /// The id of the factor and its number; nothing for mail.
    phone: Option<(String, ToPhone)>,
    /// The browsers that are asked, by whom, and for what; nothing for codes.
    browsers: Option<(Vec<browsers::Browser>, AskedFrom, AskedFor)>,
}

/// A number that is sent a code.
#[derive(Debug, Clone)]
pub(super) struct ToPhone {
    pub number: PhoneNumber,
    pub purpose: Purpose,
    pub leave: Arc<Leave>,
}

/// A code that is written down.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    /// Where it goes, most of it left out; of a question the digits that are to be typed there.
    pub sent_to: String,
    /// What browsers are asked; nothing of a code.
    question: Option<Question>,
    outgoing: Outgoing,
}

/// By what it goes.
#[derive(Debug, Clone)]
enum Outgoing {
    Mail,
    Phone(telephone::Outgoing),
    Browsers(browsers::Outgoing),
}

/// Counts for its network that a code is asked for, and reads where one of the kind goes.
///
/// # Errors
/// [`stoa_kernel::Code::Throttled`]; [`stoa_kernel::Code::Unavailable`] while nothing goes to telephones.
pub(crate) async fn prepare(
    core: &Core,
    site: &Site,
    member: &MemberId,
    (factor, purpose): (FactorType, Purpose),
    from: &AskedFrom,
) -> Result<Prepared> {
    let address = from.address;
    let _asked = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, address, "")?;
    let phone = match (factor.channel(), &core.telephone) {
        (Some(channel), Some(telephone)) if telephone.has(channel) => phone(core, site, member, factor).await?,
        _ => None,
    };
    let phone = match phone {
        None => None,
        Some((id, number)) => {
            let leave = leave(core, site, address)?;
            Some((id, ToPhone { number, purpose, leave }))
        }
    };
    let browsers = match factor {
        FactorType::Push => Some((browsers::standing(core, site, member).await?, from.clone(), AskedFor::of(purpose))),
        _ => None,
    };
    Ok(Prepared { factor, phone, browsers })
}

/// Leave to send a code to a telephone, counted for its network.
///
/// # Errors
/// As [`prepare`].
pub(super) fn leave(core: &Core, site: &Site, address: IpAddr) -> Result<Arc<Leave>> {
    let leave = core.telephone.as_ref().ok_or_else(telephone::unsent)?.leave(core, site)?;
    let _counted = core.throttle.attempt(AttemptKind::Telephone, core.now(), &site.id, address, "")?;
    Ok(leave)
}

/// What was counted for a network ([`leave`]) does not count once a code that signs in, or proves in a session, was shown there.
/// First codes stay counted: who has numbers that earn can show those.
pub(crate) fn shown(core: &Core, site: &Site, factor: FactorType, address: IpAddr) {
    if factor.channel().is_some() {
        core.throttle.give_back_telephone(&site.id, address);
    }
}

/// The factor of a kind that counts, and its number.
async fn phone(
    core: &Core,
    site: &Site,
    member: &MemberId,
    factor: FactorType,
) -> Result<Option<(String, PhoneNumber)>> {
    let (id, who) = (site.id.clone(), member.clone());
    let found = site.read(ReaderPool::Point, move |tx| boxed!(row::confirmed(tx, &id, &who, factor).await));
    let Some(Factor { id, sealed, .. }) = found.await? else { return Ok(None) };
    let number = secret::open(core, &site.id, member, &id, &sealed).await?;
    let number = number.as_ref().and_then(|it| PhoneNumber::parse(it.expose()));
    let lost = || Fault::internal(format!("site {}: the number of factor {id} doesn't open", site.id));
    number.map(|it| Some((id.clone(), it))).ok_or_else(lost)
}

impl Prepared {
    /// Writes a code down under a name, inside a transaction; nothing when the member can't be sent one of the kind. `begun` is when
    /// the sign-in began that asks for it beside `beside`; nothing of a proof.
    ///
    /// # Errors
    /// [`denied`] for a question of a sign-in since which one was denied; [`stoa_kernel::Code::Throttled`] when too many were sent; [`stoa_kernel::Code::Unavailable`] for a number that may not be
    /// sent codes any more.
    pub(crate) async fn put(
        &self,
        core: &Core,
        tx: &mut Tx<'_>,
        site: &Site,
        member: &Member,
        (name, beside, begun): (&str, Beside, Option<Millis>),
    ) -> Result<Option<Letter>> {
        if let Some((browsers, from, asked_for)) = &self.browsers {
            let reason = Reason { asked_for: *asked_for, begun };
            return to_browsers(core, tx, site, (member, name), (browsers, from, reason)).await;
        }
        let site = &site.id;
        let is_offered = offer::offered(core, tx, site, member, beside).await?.contains(&self.factor);
        let factor = row::confirmed(tx, site, &member.id, self.factor).await?.filter(|_| is_offered);
        let Some(factor) = factor else { return Ok(None) };
        let sent = Sent::of(member, &factor, name);
        match &self.phone {
            None if self.factor == FactorType::Email => by_mail(core, tx, site, member, &sent).await.map(Some),
            // Another number may have been added since.
            Some((id, phone)) if *id == factor.id => {
                by_phone(core, tx, site, member, (self.factor, &sent, phone)).await.map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Writes down a code that goes to the member's address.
pub(super) async fn by_mail(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    sent: &Sent,
) -> Result<Letter> {
    let code = sent::put(core, tx, site, sent).await?;
    notice::send(core, tx, site, member, Message::SecondFactor { code }).await?;
    let sent_to = Email::parse(&member.email).map_or_else(|| "***".to_owned(), |it| it.hint());
    Ok(Letter { sent_to, question: None, outgoing: Outgoing::Mail })
}

/// Writes down a code that goes to a number.
///
/// # Errors
/// As [`Prepared::put`].
pub(super) async fn by_phone(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    (factor, sent, to): (FactorType, &Sent, &ToPhone),
) -> Result<Letter> {
    let ToPhone { number, purpose, leave } = to;
    let prefix = core.telephone.as_ref().and_then(|it| it.prefix_of(number));
    let (Some(prefix), Some(channel)) = (prefix, factor.channel()) else { return Err(telephone::unreachable()) };
    let code = sent::put(core, tx, site, sent).await?;
    let message = telephone::Message { member: &member.id, number, prefix, purpose: *purpose };
    telephone::allow(core, tx, site, message).await?;
    let language = member.profile.text("language").map(str::to_owned);
    let (number, leave, code) = (number.clone(), leave.clone(), Secret::new(code));
    let sent_to = number.mask();
    let outgoing = telephone::Outgoing { channel, number, leave, code, language };
    Ok(Letter { sent_to, question: None, outgoing: Outgoing::Phone(outgoing) })
}

/// Writes down a question that goes to those of these browsers that are there still; nothing when none is.
///
/// # Errors
/// As [`Prepared::put`].
async fn to_browsers(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    (member, name): (&Member, &str),
    (browsers, from, reason): (&[browsers::Browser], &AskedFrom, Reason),
) -> Result<Option<Letter>> {
    let all = row::of_member(tx, &site.id, &member.id).await?;
    let is_there = |(id, _): &&browsers::Browser| all.iter().any(|it| it.id == *id && it.is_standing_browser());
    let browsers: Vec<_> = browsers.iter().filter(is_there).cloned().collect();
    if browsers.is_empty() {
        return Ok(None);
    }
    let (question, token) = match question::put(core, tx, site, (&member.id, name), (from, reason)).await? {
        Put::Asked(question, token) => (question, token),
        Put::Denied => return Err(denied()),
    };
    let language = member.profile.text("language").map(str::to_owned);
    let (member, asked_for, expires) = (member.id.clone(), reason.asked_for, question.expires);
    let outgoing = browsers::Outgoing { browsers, member, token, asked_for, expires, language };
    let sent_to = question.number.clone();
    Ok(Some(Letter { sent_to, question: Some(question), outgoing: Outgoing::Browsers(outgoing) }))
}

const PUSH_DENIED: &str = "PUSH_DENIED";

/// What a sign-in is answered that asks browsers after a denial.
fn denied() -> Fault {
    let why = "a question was denied since this sign-in began; it asks no browser any more";
    let mut violation = Violation::new("factorType", "VALIDATION", why);
    violation.rule_name = Some(PUSH_DENIED);
    Fault::invalid(vec![violation])
}

/// Whether a sign-in asks no browser any more because a question was denied.
pub(crate) fn is_denied(fault: &Fault) -> bool {
    fault.violations().iter().any(|it| it.rule_name == Some(PUSH_DENIED))
}

impl Letter {
    /// Sends what was written down: where it went, and what browsers are asked.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Unavailable`] when it is not on its way to a telephone. One of which the provider told nothing may
    /// arrive, so that is no error: the code counts.
    pub(crate) async fn send(self, core: &Arc<Core>, site: &Arc<Site>) -> Result<(String, Option<Question>)> {
        let (sent_to, question) = (self.sent_to.clone(), self.question.clone());
        let told = |it: Undelivered| if it.is_refused { telephone::unreachable() } else { telephone::unsent() };
        self.deliver(core, site).await?.map(|()| (sent_to, question)).map_err(told)
    }

    /// The same, with why a telephone got nothing.
    pub(super) async fn deliver(self, core: &Arc<Core>, site: &Arc<Site>) -> Result<Result<(), Undelivered>> {
        match (self.outgoing, &core.telephone) {
            (Outgoing::Phone(outgoing), Some(telephone)) => telephone.send(core, site, &outgoing).await,
            (Outgoing::Phone(_), None) => Err(telephone::unsent()),
            (Outgoing::Browsers(outgoing), _) => {
                browsers::ask(core, site, outgoing);
                Ok(Ok(()))
            }
            (Outgoing::Mail, _) => {
                mail::deliver_soon(core, &site.id).await;
                Ok(Ok(()))
            }
        }
    }
}
