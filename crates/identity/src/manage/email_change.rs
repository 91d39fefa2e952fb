//! Members who give their account another address (decision 58). A code that is sent there shows that it is theirs; the address
//! before gets a link with which it is taken back, and is kept for them as long as the link is good.
//!
//! Whether another member has the address is looked up once the code was shown, and told then alone: who asks for an address
//! learns nothing of it without reading what is sent there.

use super::edit;
use crate::{
    Core, Identity, audit,
    defence::{
        code_limit::{self, MEMBER_ATTEMPTS},
        device,
        throttle::AttemptKind,
    },
    factor,
    mail::{self, Message, notice},
    member::{self, Member, access::MemberWrite, contact, status},
    oauth::consent,
    provider,
    session::{self, SessionSelector},
    sign_in::{
        link::{self, EMAIL_CHANGE},
        recovery,
    },
    token::{self, Kind},
};
use serde_json::{Value, json};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{
    Caller, Code, Email, Fault, MemberId, Millis, Result, Secret, SessionId, SiteId, TokenHash, Violation,
    date::iso_from_millis,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// How long one is good, and its address kept.
const UNDO_LIFE: Millis = 7 * 24 * 60 * 60_000;

impl Identity {
    /// Sends a code to an address that the calling member wants: until when it is good. The member has lately shown in this
    /// session who they are ([`Identity::member_prove`]). `from` is the network address that asks. It answers alike whether or
    /// not the address is another member's.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::Validation`] for what is no address,
    /// and for the one that the account has; [`Code::ProofNeeded`]; [`Code::Throttled`]; [`Code::Unauthenticated`] when the
    /// session ends meanwhile.
    pub async fn email_change_begin(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        email: &str,
        from: IpAddr,
    ) -> Result<Millis> {
        let core = &self.core;
        let (id, session) = factor::oneself(caller)?;
        let email = edit::parse_email(email, "email")?;
        factor::count_change(core, site, &id, &session).await?;
        let _asked = core.throttle.attempt(AttemptKind::EmailChange, core.now(), &site.id, from, email.folded())?;
        let input = (core.clone(), site.clone(), id, session, email);
        let begun = site.write_with(input, |tx, (core, site, id, session, email)| {
            boxed!({
                let member = factor::require(core, tx, site, id, session).await?;
                if Email::parse(&member.email).as_ref() == Some(email) {
                    let why = "the account has this address already";
                    return Err(Fault::invalid(vec![Violation::new("email", "VALIDATION", why)]));
                }
                let code = factor::put_to_address(core, tx, &site.id, (id, session), email).await?;
                let message = Message::Verification { code };
                notice::send_to(core, tx, &site.id, &member, email.as_str(), None, message).await
            })
        });
        begun.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(core.now() + factor::CODE_LIFE)
    }

    /// Gives the calling member's account the address to which the last code of this session went. What rests on the address
    /// before ends: codes and recovery links that were sent there, sign-ins that wait, the proofs of other sessions, and the
    /// browsers in which no second factor is asked. Sessions go on.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::ProofNeeded`];
    /// [`Code::VerificationFailed`] for a code that is wrong, used or over; [`Code::EmailTaken`] where another member has the
    /// address, or can take it back; [`Code::Throttled`]; [`Code::Unauthenticated`] when the session ends meanwhile.
    pub async fn email_change_confirm(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        code: &Secret,
        from: IpAddr,
    ) -> Result<Member> {
        let core = &self.core;
        let (id, session) = factor::oneself(caller)?;
        factor::require_proved(core, site, &session).await?;
        let permit = core.throttle.attempt(AttemptKind::Factor, core.now(), &site.id, from, "")?;
        let link = token::opaque(core.world(), Kind::Undo, site.number);
        let shown = ShownCode { id, session, code: code.clone(), link, from };
        let changed = site.write_with((core.clone(), site.clone(), shown), |tx, (core, site, shown)| {
            boxed!(confirm_in(core, tx, site, shown).await)
        });
        let member = changed.await??;
        core.throttle.refund(permit);
        mail::deliver_soon(core, &site.id).await;
        Ok(member)
    }

    /// The address that a link gives back, without using it.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when it is unknown, used, over or of another site, or the account is gone.
    pub async fn email_change_get(&self, site: &Site, link: &str) -> Result<String> {
        let (id, hash, now) = (site.id.clone(), link_hash(site, link)?, self.core.now());
        let found = site.read(ReaderPool::Point, move |tx| boxed!(find(tx, &id, &hash, now).await));
        Ok(found.await?.1.email)
    }

    /// Uses a link: the account has the address again, and with it what the address could do when it was changed. All sessions
    /// end, the password must be set again by a recovery link, second factors that were added since are gone, passkeys of the
    /// seven days before too, and a deletion that waits does not come.
    ///
    /// # Errors
    /// As [`Identity::email_change_get`]; [`Code::EmailTaken`] where another member has the address.
    pub async fn email_change_undo(&self, site: &Arc<Site>, link: &str, from: IpAddr) -> Result<Member> {
        let core = &self.core;
        let (id, hash, now) = (site.id.clone(), link_hash(site, link)?, core.now());
        // What is no link takes no turn at the writer, and ends no session.
        let found = site.read(ReaderPool::Point, move |tx| boxed!(find(tx, &id, &hash, now).await)).await?;
        let all = SessionSelector::Member(found.0.id);
        let input = (core.clone(), site.id.clone(), link_hash(site, link)?);
        let undone = session::end_in(core, site, Some(all), input, move |tx, (core, site, hash)| {
            boxed!(undo_in(core, tx, site, hash, from).await)
        });
        let member = undone.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(member)
    }
}

/// A code that a member shows.
struct ShownCode {
    id: MemberId,
    session: SessionId,
    code: Secret,
    /// With which the address before is taken back.
    link: Secret,
    from: IpAddr,
}

/// The inner error refuses the code and keeps its count.
async fn confirm_in(core: &Core, tx: &mut Tx<'_>, site: &Site, shown: &ShownCode) -> Result<Result<Member>> {
    let ShownCode { id, session, code, link, from } = shown;
    let member = factor::require(core, tx, site, id, session).await?;
    let now = core.now();
    let recent = code_limit::recent(tx, &site.id, id, "attempts", now).await?;
    if recent.sum >= MEMBER_ATTEMPTS {
        return Ok(Err(recent.throttled(now)));
    }
    let Some(email) = factor::take_at_address(tx, &site.id, (id, session), code, now).await? else {
        return Ok(Err(Fault::new(Code::VerificationFailed)));
    };
    let email = Email::parse(&email).ok_or_else(|| Fault::internal("an address was not kept as it was"))?;
    // A code counts once also where it shows that the address is taken: its use is kept.
    if is_anothers(tx, &site.id, &email, id, now).await? {
        return Ok(Err(Fault::new(Code::EmailTaken)));
    }
    let (before, was_shown) = (member.email.clone(), member.email_verified);
    let member = set(core, tx, &site.id, member, &email).await?;
    factor::end_sign_ins(tx, &site.id, id, Some(session)).await?;
    tell_before(core, tx, &site.id, &member, (&before, was_shown.then_some(link))).await?;
    let entry = audit::Entry::by_oneself(id, audit::Event::EmailChanged).at_address(Some(*from));
    audit::record(core, tx, &site.id, entry).await?;
    Ok(Ok(member))
}

/// Whether another member than this one has an address, or can take it back.
async fn is_anothers(tx: &mut Tx<'_>, site: &SiteId, email: &Email, id: &MemberId, now: Millis) -> Result<bool> {
    let has_it = member::by_email(tx, site, email).await?.is_some_and(|it| it.id != *id);
    Ok(has_it || member::is_reserved(tx, site, email, Some(id), now).await?)
}

/// Gives the account an address that was shown to be the member's.
async fn set(core: &Core, tx: &mut Tx<'_>, site: &SiteId, mut member: Member, email: &Email) -> Result<Member> {
    let now = core.now();
    let before = Email::parse(&member.email);
    contact::set_login(&mut member, email);
    member.email_verified = true;
    member::update(tx, &MemberWrite::shown_to_be(&member.id), site, &mut member, now).await?;
    // Read for its own sake: who takes the address before at this moment has read that no link keeps it. Without this read
    // SERIALIZABLE lets both commit; with it one of the two is run again.
    if let Some(before) = before
        && before != *email
        && member::by_email(tx, site, &before).await?.is_some()
    {
        return Err(Fault::internal("an address was left and is still there"));
    }
    recovery::links_end(tx, site, &member.id, now).await?;
    Ok(member)
}

/// Tells the address that the account had before. One that was shown to be the member's gets a link, and is kept for them as long
/// as that is good. Any other may be a stranger's, who was named by mistake and must not be handed the account.
async fn tell_before(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    member: &Member,
    (before, link): (&str, Option<&Secret>),
) -> Result<()> {
    let (at, email) = (core.now(), hint(member));
    let until = at + UNDO_LIFE;
    let Some(link) = link else {
        return notice::send_to(core, tx, site, member, before, None, Message::EmailChanged { email, at }).await;
    };
    // Which link is the later one decides who has the account in the end. Clocks of nodes differ.
    let sql = "select max(created) from stoa.link where site = $1 and member = $2 and purpose = $3 and used is null";
    let last: Option<Option<Millis>> = tx.row(sql, &params![site, &member.id, EMAIL_CHANGE], |row| row.get(0)).await?;
    let created = last.flatten().map_or(at, |it| at.max(it + 1));
    let sql = "insert into stoa.link (site, hash, purpose, member, created, expires, email, email_folded) \
               values ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values = params![
        site,
        TokenHash::of(link.expose()),
        EMAIL_CHANGE,
        &member.id,
        created,
        until,
        before,
        Email::fold(before)
    ];
    tx.send(sql, values).await?;
    // The page tells by the token what it is to keep. Behind `#` it stays in the browser.
    let link = format!("{}/account/keep#{}", mail::url(core), link.expose());
    let message = Message::EmailChangeUndo { link, email, at, until };
    notice::send_to(core, tx, site, member, before, None, message).await
}

/// The address of an account for those at another one: most of it left out.
fn hint(member: &Member) -> String {
    Email::parse(&member.email).map_or_else(|| "***".to_owned(), |it| it.hint())
}

async fn undo_in(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    hash: &TokenHash,
    from: IpAddr,
) -> Result<(Member, Vec<SessionId>)> {
    let now = core.now();
    let (mut member, kept) = find(tx, site, hash, now).await?;
    let (id, displaced) = (member.id.clone(), member.email.clone());
    let email = Email::parse(&kept.email).ok_or_else(|| Fault::internal("an address was not kept as it was"))?;
    if is_anothers(tx, site, &email, &id, now).await? {
        return Err(Fault::new(Code::EmailTaken));
    }
    if status::keep(&mut member) {
        link::end(tx, site, &id, link::DELETION, now).await?;
        let entry = audit::Entry::by_oneself(&id, audit::Event::DeletionUndone).at_address(Some(from));
        audit::record(core, tx, site, entry).await?;
    }
    // Who takes an account adds a passkey before the address changes, and would sign in by it afterwards. An authenticator of
    // before opens nothing without the mailbox or the password.
    factor::drop_added_since(tx, site, &id, (kept.created, kept.created - UNDO_LIFE)).await?;
    provider::link::drop_since(tx, site, &mut member, kept.created - UNDO_LIFE).await?;
    consent::end_since(tx, site, &id, kept.created - UNDO_LIFE).await?;
    member.must_reset |= member.has_password();
    member::write_password(tx, &MemberWrite::shown_to_be(&id), site, &member).await?;
    let member = set(core, tx, site, member, &email).await?;
    // This one, and those of addresses that the account was given later: who took it may hold them.
    link::end_since(tx, site, &id, (EMAIL_CHANGE, kept.created), now).await?;
    let entry = audit::Entry::by_oneself(&id, audit::Event::EmailChangeUndone).at_address(Some(from));
    audit::record(core, tx, site, entry).await?;
    notice::send(core, tx, site, &member, Message::EmailChangeUndone { at: now }).await?;
    if Email::parse(&displaced) != Some(email) {
        let message = Message::EmailChanged { email: hint(&member), at: now };
        notice::send_to(core, tx, site, &member, &displaced, None, message).await?;
    }
    let ended = SessionSelector::Member(id.clone()).end(tx, site, now).await?;
    device::forget(tx, site, &id, now).await?;
    Ok((member, ended))
}

/// Until when the last link of a member is good that gives an address back: nothing where none is.
pub(super) async fn undo_until(tx: &mut Tx<'_>, site: &SiteId, id: &MemberId, now: Millis) -> Result<Option<Millis>> {
    let sql = "select max(expires) from stoa.link where site = $1 and member = $2 and purpose = $3 and used is null \
               and expires > $4";
    let until: Option<Option<Millis>> = tx.row(sql, &params![site, id, EMAIL_CHANGE, now], |row| row.get(0)).await?;
    Ok(until.flatten())
}

/// The addresses that a member can take back, the newest first, for the copy of their data.
pub(super) async fn kept(tx: &mut Tx<'_>, site: &SiteId, id: &MemberId, now: Millis) -> Result<Vec<Value>> {
    let sql = "select email, created, expires from stoa.link where site = $1 and member = $2 and purpose = $3 \
               and used is null and expires > $4 order by created desc limit 100";
    let read = |row: &Row<'_>| {
        Ok(json!({
            "email": row.text(0)?,
            "changedDate": iso_from_millis(row.get(1)?),
            "expiresDate": iso_from_millis(row.get(2)?),
        }))
    };
    Ok(tx.rows(sql, &params![site, id, EMAIL_CHANGE, now], read).await?)
}

/// The hash of a link of this site.
///
/// # Errors
/// [`Code::LinkInvalid`].
fn link_hash(site: &Site, link: &str) -> Result<TokenHash> {
    let is_ours = token::site_number(Kind::Undo, link) == Some(site.number);
    if is_ours { Ok(TokenHash::of(link)) } else { Err(Fault::new(Code::LinkInvalid)) }
}

/// An address that a member can take back.
struct Kept {
    /// As it was written.
    email: String,
    /// When the account was given another.
    created: Millis,
}

/// The member whom a link is of, and the address that it gives back.
async fn find(tx: &mut Tx<'_>, site: &SiteId, hash: &TokenHash, now: Millis) -> Result<(Member, Kept)> {
    let gone = || Fault::new(Code::LinkInvalid);
    let sql = "select member, email, created from stoa.link \
               where site = $1 and hash = $2 and purpose = $3 and used is null and expires > $4";
    let read = |row: &Row<'_>| {
        Ok((MemberId::from(row.text(0)?), Kept { email: row.text(1)?.to_owned(), created: row.get(2)? }))
    };
    let (id, kept) = tx.row(sql, &params![site, hash, EMAIL_CHANGE, now], read).await?.ok_or_else(gone)?;
    let member = member::get(tx, site, &id).await?.filter(Member::is_there).ok_or_else(gone)?;
    // One whose time has come is as good as gone.
    if member.deletion.is_some_and(|it| it.due <= now) {
        return Err(gone());
    }
    Ok((member, kept))
}
