//! Recovery of an account by a link to its address (docs/protocol/identity.md §8).
//!
//! A request is answered alike, and as fast, whether or not the address is known. A link works once, for one
//! hour, for one member; using it proves the address, sets the password and ends all sessions.

use crate::{
    Core, Identity, audit, client,
    defence::{attempt, device, throttle::AttemptKind},
    factor::{self, PasswordSet},
    mail::{self, LinkOptions, Message, Task, enqueue, notice},
    member::{self, Member, Move, Status, access::MemberWrite},
    provider::link as link_of_provider,
    session::{self, SessionSelector},
    sign_in::{
        advance,
        enrolment::{self, CallOrigin},
        link, login,
        new_password::{self, Person},
        origin::Origin,
        outcome::Outcome,
    },
    token::{self, Kind},
};
use serde_json::Value;
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{
    Caller, ClientId, Code, Email, Fault, MemberId, Millis, Result, Secret, SiteId, TokenHash, Violation,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Life of a link.
const LIFE: Millis = 60 * 60_000;
/// Links for one member within [`LIFE`].
const MOST: i64 = 5;
const PURPOSE: &str = "recovery";
/// Bounds of what is said of a link (docs/protocol/identity.md §8).
const RETURN_URL: usize = 1_000;
const CLIENT: usize = 100;

impl Identity {
    /// Sends a recovery link to an address, if it is a member's (`POST /v1/send-email`). `from` is the
    /// network address that asks; too many from one are dropped with the same answer.
    ///
    /// # Errors
    /// What is wrong with the request itself, whether or not the address is known: [`Code::Validation`],
    /// [`Code::ClientUnknown`], [`Code::RedirectRefused`].
    pub async fn recovery_send(&self, site: &Arc<Site>, caller: &Caller, from: IpAddr, body: &Value) -> Result<()> {
        let core = &self.core;
        let text = body.get("email").and_then(Value::as_str).unwrap_or_default();
        let email = Email::parse(text).ok_or_else(|| {
            let rule = if text.is_empty() { "REQUIRED_FIELD" } else { "FORMAT" };
            let violation = Violation::new("email", rule, "the email address is not valid");
            Fault::invalid(vec![violation.with("type", "EMAIL")])
        })?;
        let options = link_options(core, site, caller, body, "").await?;
        ask(core, site, from, &email, options).await
    }

    /// Sends a link to a member whom an app names (`POST /v1/activation-email`).
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`]; [`Code::Throttled`].
    pub async fn activation_send(&self, site: &Arc<Site>, caller: &Caller, body: &Value) -> Result<()> {
        let core = &self.core;
        let write = MemberWrite::privileged(caller)?;
        let id = body.get("identityId").and_then(Value::as_str).unwrap_or_default();
        if id.is_empty() {
            return Err(Fault::invalid(vec![Violation::new("identityId", "REQUIRED_FIELD", "is required")]));
        }
        let options = link_options(core, site, caller, &body["emailOptions"], "emailOptions.").await?;
        let member = member::find(site, &MemberId::from(id)).await?.filter(can_recover);
        let member = member.ok_or_else(|| Fault::new(Code::NotFound))?;
        send_activation_to(core, site, write, member, options).await
    }

    /// Sets a new password with a link's token and signs in (`POST /v1/recover`).
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when the token is unknown, used or expired; [`Code::Validation`] for the
    /// password, which leaves the link usable; [`Code::MemberBlocked`]; [`Code::Throttled`].
    pub async fn recovery_finish(
        &self,
        site: &Arc<Site>,
        link: &str,
        password: &Secret,
        from: CallOrigin<'_>,
    ) -> Result<Outcome> {
        let core = &self.core;
        if token::site_number(Kind::Link, link) != Some(site.number) {
            return Err(Fault::new(Code::LinkInvalid));
        }
        let outcome = finish(core, site, &TokenHash::of(link).to_vec(), password, from.address).await?;
        enrolment::for_call(core, site, outcome, from).await
    }
}

/// What a recovery link leads to, without using it: the member's address, and where to go afterwards.
///
/// # Errors
/// [`Code::LinkInvalid`].
pub(crate) async fn look_up(core: &Core, site: &Arc<Site>, link: &str) -> Result<(String, Option<String>)> {
    let gone = || Fault::new(Code::LinkInvalid);
    if token::site_number(Kind::Link, link) != Some(site.number) {
        return Err(gone());
    }
    let (id, key, now) = (site.id.clone(), TokenHash::of(link).to_vec(), core.now());
    let known = site.read(ReaderPool::Point, move |tx| boxed!(find(tx, id.as_str(), &key, now).await)).await?;
    let (member, return_url) = known.ok_or_else(gone)?;
    let member = member::find(site, &member).await?.filter(can_recover).ok_or_else(gone)?;
    Ok((member.email, return_url))
}

pub(crate) async fn finish(
    core: &Arc<Core>,
    site: &Arc<Site>,
    link: &[u8],
    password: &Secret,
    address: IpAddr,
) -> Result<Outcome> {
    let gone = || Fault::new(Code::LinkInvalid);
    if let Some(violation) = new_password::violation(core, password, "password") {
        return Err(Fault::invalid(vec![violation]));
    }
    let (id, key, now) = (site.id.clone(), link.to_vec(), core.now());
    let known = site.read(ReaderPool::Point, move |tx| boxed!(find(tx, id.as_str(), &key, now).await)).await?;
    let (member, _) = known.ok_or_else(gone)?;
    let chosen_by = member::find(site, &member).await?.ok_or_else(gone)?;
    let person = Person { email: &chosen_by.email, profile: Some(&chosen_by.profile) };
    if let Some(violation) = new_password::violation_for(core, site, person, password, "password").await? {
        return Err(Fault::invalid(vec![violation]));
    }
    login::password_attempt(core, &site.id, member.as_str())?;
    let share = core.passwords.share(address, site.id.as_str(), member.as_str());
    let hash = login::hash_password(core, share, password, "password").await?;
    let input = (core.clone(), site.clone(), link.to_vec(), hash);
    let advanced = session::end_in(
        core,
        site,
        Some(SessionSelector::Member(member)),
        input,
        move |tx, (core, site, key, hash)| {
            boxed!({
                let now = core.now();
                let (id, _) = find(tx, site.id.as_str(), key, now).await?.ok_or_else(gone)?;
                // This link and every other one of the member is over.
                links_end(tx, &site.id, &id, now).await?;
                let member = member::get(tx, &site.id, &id).await?.filter(can_recover);
                let mut member = member.ok_or_else(gone)?;
                // A member who had no password until now does not wonder who changed it.
                let is_change = member.password_hash.is_some();
                (member.password_hash, member.must_reset) = (Some(hash.clone()), false);
                match member.email_verified {
                    // Others may have made the account by a provider that let them name this address.
                    false => link_of_provider::drop_since(tx, &site.id, &mut member, 0).await?,
                    true => link_of_provider::drop_unsure(tx, &site.id, &mut member, now).await?,
                }
                Move::Verify.apply(&mut member);
                let write = MemberWrite::shown_to_be(&id);
                member::write_password(tx, &write, &site.id, &member).await?;
                member::update(tx, &write, &site.id, &mut member, now).await?;
                if is_change {
                    notice::password_changed(core, tx, &site.id, &member).await?;
                }
                factor::password_was_set(core, tx, &site.id, &id, PasswordSet::ByLink).await?;
                let entry = audit::Entry::by_oneself(&id, audit::Event::PasswordChanged);
                audit::record(core, tx, &site.id, entry).await?;
                let ended = SessionSelector::Member(id.clone()).end(tx, &site.id, now).await?;
                device::forget(tx, &site.id, &id, now).await?;
                let origin = Origin { address: Some(address), ..Default::default() };
                let advanced = advance::advance(core, tx, site, member, origin).await?;
                Ok((advanced, ended))
            })
        },
    )
    .await?;
    attempt::unlock(core, site, &chosen_by);
    mail::deliver_soon(core, &site.id).await;
    Ok(advanced)
}

/// Records that a link was asked for.
pub(crate) async fn ask(
    core: &Arc<Core>,
    site: &Arc<Site>,
    from: IpAddr,
    email: &Email,
    options: LinkOptions,
) -> Result<()> {
    ask_for(core, site, from, Task::Recovery { email: email.as_str().to_owned(), options }).await
}

/// Records that a link was asked for, whether or not the address is known: one statement, always. What
/// is asked for too often, or while too many others wait, is dropped.
pub(super) async fn ask_for(core: &Arc<Core>, site: &Arc<Site>, from: IpAddr, task: Task) -> Result<()> {
    let permit = core.throttle.attempt(AttemptKind::Recovery, core.now(), &site.id, from, "");
    if permit.is_err() || !core.mail_queue.recovery_begin() {
        tracing::debug!("a recovery link was not sent: too many are asked for");
        return Ok(());
    }
    let queued = site
        .append_with((core.clone(), site.id.clone(), task), |tx, (core, site, task)| {
            boxed!(enqueue(core, tx, site, None, task).await)
        })
        .await;
    if queued.is_err() {
        core.mail_queue.recovery_end();
    }
    mail::schedule(core, &site.id);
    queued
}

/// Answers [`Task::Recovery`]: a link, if the address is that of a member who can sign in.
pub(crate) async fn answer(
    core: &Arc<Core>,
    site: &Arc<Site>,
    task: String,
    email: String,
    options: LinkOptions,
) -> Result<()> {
    let email = Email::parse(&email).ok_or_else(|| Fault::internal("an address was not kept as it was"))?;
    let link = token::opaque(core.world(), Kind::Link, site.number);
    let answered = site
        .write_with(
            (core.clone(), site.clone(), task, email, link, options),
            |tx, (core, site, task, email, link, options)| {
                boxed!({
                    if !mail::done(tx, &site.id, task).await? {
                        return Ok(());
                    }
                    let Some(member) = member::by_email(tx, &site.id, email).await?.filter(can_recover) else {
                        return Ok(());
                    };
                    if !may_have_another(tx, site, &member.id, core.now()).await? {
                        return Ok(());
                    }
                    let link = insert(core, tx, site, &member, NewLink { link, options }).await?;
                    let (to, message) = (&member.email, Message::Recovery { link });
                    notice::send_to(core, tx, &site.id, &member, to, options.language.as_deref(), message).await
                })
            },
        )
        .await;
    core.mail_queue.recovery_end();
    answered
}

async fn send_activation_to(
    core: &Arc<Core>,
    site: &Arc<Site>,
    write: MemberWrite,
    member: Member,
    options: LinkOptions,
) -> Result<()> {
    let link = token::opaque(core.world(), Kind::Link, site.number);
    site.write_with(
        (core.clone(), site.clone(), write, member.id, link, options),
        |tx, (core, site, write, id, link, options)| {
            boxed!({
                if !may_have_another(tx, site, id, core.now()).await? {
                    return Err(Fault::new(Code::Throttled));
                }
                // As they are now: what was read before the transaction may have changed.
                let member = member::get(tx, &site.id, id).await?.filter(can_recover);
                let mut member = member.ok_or_else(|| Fault::new(Code::NotFound))?;
                // The first language that is named for the member is kept for all later messages.
                if let (None, Some(tag)) = (member.profile.text("language"), options.language.as_deref()) {
                    member.profile.0.insert("language".to_owned(), tag.into());
                    member::update(tx, write, &site.id, &mut member, core.now()).await?;
                }
                let link = insert(core, tx, site, &member, NewLink { link, options }).await?;
                let (to, message) = (&member.email, Message::Activation { link });
                notice::send_to(core, tx, &site.id, &member, to, options.language.as_deref(), message).await
            })
        },
    )
    .await?;
    mail::deliver_soon(core, &site.id).await;
    Ok(())
}

/// What an object of a request says of a link; `path` is where it stands in the request. A link leads to the
/// server's own address, whatever name it was asked under: that name may be made up.
async fn link_options(core: &Core, site: &Site, caller: &Caller, sent: &Value, path: &str) -> Result<LinkOptions> {
    let mut wrong = Vec::new();
    let mut text = |value: &Value, name: &str, most: usize| match value {
        Value::Null => None,
        Value::String(it) if it.is_empty() => None,
        Value::String(it) if it.chars().count() <= most => Some(it.clone()),
        Value::String(_) => {
            let why = format!("at most {most} characters");
            wrong.push(Violation::new(format!("{path}{name}"), "MAX_LENGTH", why));
            None
        }
        _ => {
            wrong.push(Violation::new(format!("{path}{name}"), "FORMAT", "text is expected"));
            None
        }
    };
    let language = text(&sent["language"], "language", mail::LONGEST_TAG);
    let url = text(&sent["redirect"]["url"], "redirect.url", RETURN_URL);
    let client = text(&sent["redirect"]["clientId"], "redirect.clientId", CLIENT);
    if !matches!(sent["redirect"], Value::Null | Value::Object(_)) {
        wrong.push(Violation::new(format!("{path}redirect"), "FORMAT", "an object is expected"));
    }
    if language.as_deref().is_some_and(|it| !mail::is_tag(it)) {
        wrong.push(Violation::new(format!("{path}language"), "FORMAT", "a language like en or pt-BR is expected"));
    }
    if !wrong.is_empty() {
        return Err(Fault::invalid(wrong));
    }
    let own = match caller.bare() {
        Caller::Visitor { client, .. } | Caller::Member { client, .. } => client.clone(),
        Caller::User { .. } | Caller::App { .. } | Caller::Scoped(_) => None,
    };
    let client = match client.map(ClientId::from).or(own) {
        Some(id) => Some(client::of_site(core, site, &id).await?),
        None => None,
    };
    let return_url = client::return_url(client.as_deref(), url.as_deref(), &mail::url(core))?;
    Ok(LinkOptions { language, return_url })
}

/// Ends every recovery link of a member: one was used, or the address that they were sent to is another's now.
pub(crate) async fn links_end(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<()> {
    link::end(tx, site, member, PURPOSE, now).await
}

/// Members who could sign in with a new password.
fn can_recover(member: &Member) -> bool {
    matches!(member.status, Status::Active | Status::Pending) && !member.email.is_empty()
}

/// Whether a member did not get too many links lately.
async fn may_have_another(tx: &mut Tx<'_>, site: &Site, member: &MemberId, now: Millis) -> Result<bool> {
    let sql = "select count(*) from stoa.link where site = $1 and member = $2 and created > $3 and purpose = $4";
    let values = params![&site.id, member, now - LIFE, PURPOSE];
    let recent: Option<i64> = tx.row(sql, &values, |row| row.get(0)).await?;
    Ok(recent.unwrap_or(0) < MOST)
}

/// A link, and what was asked of it.
struct NewLink<'a> {
    link: &'a Secret,
    options: &'a LinkOptions,
}

/// Writes a link down and answers its address.
async fn insert(core: &Core, tx: &mut Tx<'_>, site: &Site, member: &Member, new: NewLink<'_>) -> Result<String> {
    let NewLink { link, options } = new;
    let now = core.now();
    let sql = "insert into stoa.link (site, hash, purpose, member, return_url, created, expires) \
               values ($1, $2, $3, $4, $5, $6, $7)";
    let hash = TokenHash::of(link.expose());
    tx.send(sql, params![&site.id, hash, PURPOSE, &member.id, options.return_url.clone(), now, now + LIFE]).await?;
    Ok(format!("{}/_api/account/v1/recover?token={}", mail::url(core), link.expose()))
}

async fn find(tx: &mut Tx<'_>, site: &str, hash: &[u8], now: Millis) -> Result<Option<(MemberId, Option<String>)>> {
    let sql = "select member, return_url from stoa.link \
               where site = $1 and hash = $2 and purpose = $3 and used is null and expires > $4";
    let values = params![site, hash.to_vec(), PURPOSE, now];
    Ok(tx.row(sql, &values, |row| Ok((MemberId::from(row.text(0)?), row.get(1)?))).await?)
}
