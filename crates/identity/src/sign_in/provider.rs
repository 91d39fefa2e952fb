//! Signing in by an identity provider (decision 61): whom of the members a provider means, and what comes next for them.
//!
//! A member is known by the connection and the subject there. An account that merely has the address which the provider names is linked
//! only once its password was shown, or where both sides have shown the address to be theirs and the site says that this is enough: else
//! who makes an account with the address of others waits in it for them, or takes theirs by a provider that lets people name any. By an
//! address for which the provider does not vouch no account is found at all.

use crate::{
    Core, audit,
    community::setting::Privacy,
    defence::{attempt::Attempt, throttle::AttemptKind},
    factor::{self, FirstFactor},
    mail::{self, FactorChange},
    member::{self, Member, Status, access::MemberWrite, profile::Profile, row},
    policy,
    provider::{Once, ProviderFailure, ProviderPerson, connection, link},
    sign_in::{
        advance,
        origin::{Origin, SecondFactor},
        outcome::Outcome,
    },
};
use serde_json::{Map, Value};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Code, Email, Fault, MemberId, Result, SiteId};
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Tries of a transaction whose address another one takes at the same moment.
const TRIES: usize = 3;

/// What a provider's word comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Recognised {
    /// A member, and how the sign-in goes on.
    Outcome(Box<Outcome>),
    /// The same of one whom the word of both sides links once all is shown that their sign-in asks for.
    Links(Box<Outcome>),
    /// An account has the address that the provider names: its password is to be shown.
    MustLink {
        email: String,
    },
    Failed(ProviderFailure),
}

/// Goes on with a sign-in by what a provider has said, which counts once.
///
/// # Errors
/// [`Code::StateTokenInvalid`] for what was used or is too old; [`Code::Throttled`] where it would make an account;
/// [`Code::MemberBlocked`]; [`Code::PasswordReset`]; [`Code::EmailTaken`] for an address that is kept for another member.
pub(crate) async fn sign_in(
    core: &Arc<Core>,
    site: &Arc<Site>,
    attempt: &Attempt,
    person: &ProviderPerson,
    once: Option<&Once>,
) -> Result<Recognised> {
    if core.now() >= person.until {
        return Err(Fault::new(Code::StateTokenInvalid));
    }
    if !is_known(site, person).await? {
        let account = person.email.as_deref().and_then(Email::parse);
        let account = account.as_ref().map_or("", |it| it.folded());
        let kind = AttemptKind::Registration;
        let _attempted = core.throttle.attempt(kind, core.now(), &site.id, attempt.address, account)?;
    }
    for tried in 1.. {
        let input = (core.clone(), site.clone(), attempt.clone(), person.clone(), once.cloned());
        let recognised = site.write_with(input, |tx, (core, site, attempt, person, once)| {
            boxed!(recognise(core, tx, site, (attempt, person), once.as_ref()).await)
        });
        match recognised.await {
            // Another sign-in of the same person was as quick: now there is a member.
            Err(fault) if fault.code() == Code::EmailTaken && tried < TRIES => {}
            Err(fault) => return Err(fault),
            Ok(Recognised::Outcome(outcome)) => {
                mail::deliver_soon(core, &site.id).await;
                return Ok(Recognised::Outcome(Box::new(advance::send_after(core, site, *outcome).await)));
            }
            Ok(Recognised::Links(outcome)) => {
                mail::deliver_soon(core, &site.id).await;
                return Ok(Recognised::Links(Box::new(advance::send_after(core, site, *outcome).await)));
            }
            Ok(other) => return Ok(other),
        }
    }
    Err(Fault::new(Code::EmailTaken))
}

/// Whether the provider means a member, or names an address that one has.
async fn is_known(site: &Site, person: &ProviderPerson) -> Result<bool> {
    let (id, person) = (site.id.clone(), person.clone());
    let read = site.read(ReaderPool::Point, move |tx| {
        boxed!({
            if link::find(tx, &id, &person.provider.id, &person.subject).await?.is_some() {
                return Ok(true);
            }
            match person.email.as_deref().and_then(Email::parse) {
                Some(email) => Ok(member::by_email(tx, &id, &email).await?.is_some()),
                None => Ok(true),
            }
        })
    });
    read.await
}

async fn recognise(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    (attempt, person): (&Attempt, &ProviderPerson),
    once: Option<&Once>,
) -> Result<Recognised> {
    let failed = |reason| Ok(Recognised::Failed(reason));
    if let Some(once) = once
        && !link::take(tx, &site.id, once).await?
    {
        return Err(Fault::new(Code::StateTokenInvalid));
    }
    let connection = connection::get(tx, &site.id, &person.provider.id).await?.filter(|it| it.is_enabled);
    let Some(connection) = connection else { return failed(ProviderFailure::Refused) };
    if let Some((id, linked_as)) = link::find(tx, &site.id, &person.provider.id, &person.subject).await?
        && let Some(member) = member::get(tx, &site.id, &id).await?.filter(Member::is_there)
    {
        link::used(tx, &site.id, person, core.now()).await?;
        let first = FirstFactor::of_provider([person.email.as_deref(), linked_as.as_deref()], &member);
        return Ok(Recognised::Outcome(Box::new(go_on(core, tx, site, member, (attempt, first)).await?)));
    }
    let Some(email) = person.email.as_deref().and_then(Email::parse) else { return failed(ProviderFailure::NoEmail) };
    // The account is found or made by the address that the provider names.
    let of_address = FirstFactor::ProviderOfMailbox;
    match member::by_email(tx, &site.id, &email).await? {
        // Anybody can name the address of others where the provider does not ask whose it is.
        Some(_) if !person.is_verified => failed(ProviderFailure::NoEmail),
        // Another person of the same provider is tied to the account.
        Some(member) if member.connections.iter().any(|it| it.0 == person.provider.id) => {
            failed(ProviderFailure::Refused)
        }
        Some(member) if connection.links_by_email && member.email_verified => {
            let mut outcome = go_on(core, tx, site, member, (attempt, of_address)).await?;
            if let Outcome::Success { member, .. } = &mut outcome {
                link_now(core, tx, &site.id, member, (person, attempt.address)).await?;
                return Ok(Recognised::Outcome(Box::new(outcome)));
            }
            Ok(Recognised::Links(Box::new(outcome)))
        }
        Some(member) => Ok(Recognised::MustLink { email: member.email }),
        // Nor does the site say whether it has an account of an address that is not vouched for.
        None if !connection.creates_members && !person.is_verified => failed(ProviderFailure::NoEmail),
        None if !connection.creates_members => failed(ProviderFailure::NoAccount),
        None => {
            let member = register(core, tx, site, (attempt, person), &email).await?;
            Ok(Recognised::Outcome(Box::new(go_on(core, tx, site, member, (attempt, of_address)).await?)))
        }
    }
}

/// Makes the member whom a provider has shown. One whose address it does not vouch for shows it before anything else.
async fn register(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    (attempt, person): (&Attempt, &ProviderPerson),
    email: &Email,
) -> Result<Member> {
    let policy = policy::read(tx, &site.id).await?;
    let (id, now) = (MemberId::from(core.world().uuid()), core.now());
    let mut member = Member::new(id, email.as_str(), profile(person), now);
    Privacy::read(tx, &site.id).await?.begin(&mut member);
    member.email_verified = person.is_verified;
    member.pending_email = !person.is_verified;
    member.pending_fields = !policy.missing_fields(&member.profile).is_empty();
    member.pending_approval = policy.require_owner_approval;
    if !member.pending_email && !member.pending_fields && !member.pending_approval {
        member.status = Status::Active;
    }
    if !row::insert(tx, &MemberWrite::registering(), &site.id, &mut member, email).await? {
        return Err(Fault::new(Code::EmailTaken));
    }
    let entry = audit::Entry::by_oneself(&member.id, audit::Event::Registered);
    audit::record(core, tx, &site.id, entry.at_address(Some(attempt.address))).await?;
    if !link::insert(core, tx, &site.id, &mut member, (person, attempt.address)).await? {
        return Err(Fault::new(Code::EmailTaken));
    }
    Ok(member)
}

fn profile(person: &ProviderPerson) -> Profile {
    let given = [("firstName", &person.first_name), ("lastName", &person.last_name), ("language", &person.language)];
    let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::String(value.clone()?))));
    // What has another form than profiles take is left out: nobody typed it here.
    Profile::parse(&Value::Object(given.collect::<Map<_, _>>()), "profile").unwrap_or_default()
}

async fn go_on(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: Member,
    (attempt, first): (&Attempt, FirstFactor),
) -> Result<Outcome> {
    let entry = audit::Entry::by_oneself(&member.id, audit::Event::ConnectionUsed);
    audit::record(core, tx, &site.id, entry.at_address(Some(attempt.address))).await?;
    let (visitor, address) = (attempt.visitor.as_ref(), Some(attempt.address));
    let second = SecondFactor::of_browser(attempt.hints.cookie.as_deref());
    let origin = Origin { visitor, address, second, first, ..Origin::default() };
    advance::advance(core, tx, site, member, origin).await
}

/// Links a member who has signed in with whom a provider has shown before: nothing where the member has another address, or one of the
/// two is linked by now. Nor where a session has set the password lately, and nothing was shown since that its thief need not have: the
/// link would outlive the session.
pub(crate) async fn link_after(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &MemberId,
    (person, address): (&ProviderPerson, IpAddr),
) -> Result<()> {
    let connection = connection::get(tx, site, &person.provider.id).await?.filter(|it| it.is_enabled);
    let member = member::get(tx, site, member).await?;
    let (Some(mut member), Some(_)) = (member, connection) else { return Ok(()) };
    let named = person.email.as_deref().and_then(Email::parse);
    let is_same =
        Email::parse(&member.email).is_some_and(|it| named.is_some_and(|named| named.folded() == it.folded()));
    if is_same && !factor::was_set_lately(tx, site, &member.id, core.now()).await? {
        link_now(core, tx, site, &mut member, (person, address)).await?;
    }
    Ok(())
}

async fn link_now(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &mut Member,
    (person, address): (&ProviderPerson, IpAddr),
) -> Result<()> {
    if link::insert(core, tx, site, member, (person, address)).await? {
        factor::tell_change(core, tx, site, member, FactorChange::ProviderAdded).await?;
    }
    Ok(())
}
