//! Verification of e-mail addresses by a six-digit code (identity.md 7).
//!
//! A code belongs to one state token (or flow) and one address, lives ten minutes and works once, also
//! when many try it at the same time. Wrong codes are counted for the state token and for the member,
//! messages for the member, so neither guessing nor flooding a mailbox gets far.

use crate::{
    Core, Identity, SignIn,
    mail::{self, Message, notice},
    member::{self, Member, Move, Status, access::MemberWrite},
    sign_in::{
        approval,
        outcome::{self, Origin},
    },
    token::{self, Kind},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, Secret, TokenHash, VisitorId};
use stoa_sql::params;
use stoa_store::{Row, Site, Tx, boxed};

/// Life of a code.
pub const CODE_LIFE: Millis = 10 * 60_000;
/// Seconds after which a page offers to send another code.
pub const RESEND_AFTER_SECONDS: u32 = 30;
/// Life of a state token: within it codes can be sent anew.
const TOKEN_LIFE: Millis = 60 * 60_000;
/// Wrong codes for one state token.
const TOKEN_ATTEMPTS: i64 = 10;
/// Wrong codes and messages for one member within [`WINDOW`].
const MEMBER_ATTEMPTS: i64 = 20;
const MEMBER_MESSAGES: i64 = 10;
const WINDOW: Millis = 60 * 60_000;

/// A stored verification.
struct Stored {
    member: MemberId,
    email_folded: String,
    visitor: Option<VisitorId>,
    code_hash: Vec<u8>,
    code_expires: Millis,
    attempts: i64,
    /// It belongs to a sign-in: whoever began it has shown a first factor.
    signs_in: bool,
}

/// What a check found. Not an error, so that the count of attempts is kept.
enum Check {
    Right(Box<SignIn>),
    Refused(Fault),
}

/// Starts the verification that a sign-in waits for, inside its transaction: the `stateToken`; the code
/// goes into the queue.
///
/// # Errors
/// [`Code::Throttled`] when the member got too many messages.
pub(crate) async fn start(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &Member,
    visitor: Option<&VisitorId>,
) -> Result<Secret> {
    insert(core, tx, site, member, visitor, true).await
}

async fn insert(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &Member,
    visitor: Option<&VisitorId>,
    signs_in: bool,
) -> Result<Secret> {
    let now = core.now();
    allow_message(tx, site, &member.id, now).await?;
    let (state_token, code) = (token::opaque(core.world(), Kind::State, site.number), core.world().six_digits());
    let sql = "insert into stoa.verification (site, hash, member, email_folded, visitor, code_hash, code_expires, \
               attempts, messages, created, expires, signs_in) values ($1, $2, $3, $4, $5, $6, $7, 0, 1, $8, $9, $10)";
    let values = params![
        &site.id,
        TokenHash::of(state_token.expose()),
        &member.id,
        folded(member),
        visitor,
        code_hash(&member.id, &code),
        now + CODE_LIFE,
        now,
        now + TOKEN_LIFE,
        signs_in
    ];
    tx.send(sql, values).await?;
    notice::send(core, tx, &site.id, member, Message::Verification { code }).await?;
    Ok(state_token)
}

impl Identity {
    /// Checks a code and goes on with the sign-in that waited for it (`POST /v1/auth/verify`). A code that
    /// no sign-in waited for ([`Identity::verification_start`]) proves the address and signs nobody in:
    /// [`SignIn::StatusCheck`].
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`] when the token is unknown, finished or too old;
    /// [`Code::VerificationFailed`] when the code is wrong or expired; [`Code::Throttled`] after too
    /// many wrong ones; [`Code::MemberBlocked`].
    pub async fn verification_check(
        &self,
        site: &Arc<Site>,
        state_token: &str,
        code: &str,
        address: IpAddr,
    ) -> Result<SignIn> {
        let core = &self.core;
        let is_ours = token::site_number(Kind::State, state_token) == Some(site.number);
        if !is_ours {
            return Err(Fault::new(Code::StateTokenInvalid));
        }
        check_hash(core, site, TokenHash::of(state_token), code, address).await
    }

    /// Sends another code for the same state token (`POST /v1/auth/resend`); the old one ends.
    ///
    /// # Errors
    /// [`Code::StateTokenInvalid`]; [`Code::Throttled`] when the member got too many messages;
    /// [`Code::MemberBlocked`].
    pub async fn verification_resend(&self, site: &Arc<Site>, state_token: &str) -> Result<SignIn> {
        let core = &self.core;
        if token::site_number(Kind::State, state_token) != Some(site.number) {
            return Err(Fault::new(Code::StateTokenInvalid));
        }
        let member = resend_hash(core, site, TokenHash::of(state_token)).await?;
        Ok(SignIn::RequireEmailVerification { member, state_token: Secret::new(state_token) })
    }

    /// Sends a code to a member's address (`POST /v1/start`). Answers the state token that goes with
    /// it, called `verificationId` on the wire.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is the member, an app or an owner; [`Code::NotFound`];
    /// [`Code::Throttled`].
    pub async fn verification_start(&self, site: &Arc<Site>, caller: &Caller, id: &MemberId) -> Result<Secret> {
        let core = &self.core;
        let is_self = matches!(caller, Caller::Member { id: it, .. } if it == id);
        if !is_self && !caller.is_privileged() {
            return Err(Fault::new(Code::Forbidden));
        }
        let (me, place, id) = (core.clone(), site.clone(), id.clone());
        let state_token = site
            .write(move |tx| {
                let (me, site, id) = (me.clone(), place.clone(), id.clone());
                boxed!({
                    let member = member::get(tx, &site.id, &id).await?.filter(|it| !it.email.is_empty());
                    let member = member.ok_or_else(|| Fault::new(Code::NotFound))?;
                    insert(&me, tx, &site, &member, None, false).await
                })
            })
            .await?;
        mail::soon(core, &site.id).await;
        Ok(state_token)
    }
}

pub(crate) async fn check_hash(
    core: &Arc<Core>,
    site: &Arc<Site>,
    hash: TokenHash,
    code: &str,
    address: IpAddr,
) -> Result<SignIn> {
    let (me, place, code) = (core.clone(), site.clone(), code.to_owned());
    let check = site
        .write(move |tx| {
            let (me, site, hash, code) = (me.clone(), place.clone(), hash.clone(), code.clone());
            boxed!(check(&me, tx, &site, &hash, &code, address).await)
        })
        .await?;
    match check {
        Check::Right(advanced) => {
            // Also for the notice about an account in use.
            mail::soon(core, &site.id).await;
            Ok(*advanced)
        }
        Check::Refused(fault) => Err(fault),
    }
}

pub(crate) async fn resend_hash(core: &Arc<Core>, site: &Arc<Site>, hash: TokenHash) -> Result<Member> {
    let (me, place) = (core.clone(), site.clone());
    let member = site
        .write(move |tx| {
            let (me, site, hash) = (me.clone(), place.clone(), hash.clone());
            boxed!({
                let (stored, now) = (find(tx, &site, &hash, me.now()).await?, me.now());
                let Some((stored, member)) = still_valid(tx, &site, stored).await? else {
                    return Err(Fault::new(Code::StateTokenInvalid));
                };
                if !matches!(member.status, Status::Pending | Status::Active) {
                    return Err(Fault::new(Code::MemberBlocked));
                }
                allow_message(tx, &site, &stored.member, now).await?;
                let code = me.world().six_digits();
                let sql = "update stoa.verification set code_hash = $1, code_expires = $2, messages = messages + 1 \
                           where site = $3 and hash = $4";
                let values = params![code_hash(&member.id, &code), now + CODE_LIFE, &site.id, &hash];
                tx.send(sql, values).await?;
                notice::send(&me, tx, &site.id, &member, Message::Verification { code }).await?;
                Ok(member)
            })
        })
        .await?;
    mail::soon(core, &site.id).await;
    Ok(member)
}

/// Gives a verification to a flow: from now on the flow's token stands for it, the state token ends.
pub(crate) async fn adopt(core: &Core, site: &Site, state_token: &Secret, flow: &TokenHash) -> Result<()> {
    let (id, from, to) = (site.id.clone(), TokenHash::of(state_token.expose()), flow.clone());
    let nobody = TokenHash::of(&core.world().token::<32>());
    site.write(move |tx| {
        let (id, from, to, nobody) = (id.clone(), from.clone(), to.clone(), nobody.clone());
        boxed!({
            // What the flow had before ends, but its wrong codes and messages still count for the member.
            let sql = "update stoa.verification set hash = $1, code_expires = 0 where site = $2 and hash = $3";
            tx.send(sql, params![&nobody, &id, &to]).await?;
            let sql = "update stoa.verification set hash = $1 where site = $2 and hash = $3";
            tx.send(sql, params![&to, &id, &from]).await?;
            Ok(())
        })
    })
    .await
}

async fn check(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    hash: &TokenHash,
    code: &str,
    address: IpAddr,
) -> Result<Check> {
    let now = core.now();
    let stored = find(tx, site, hash, now).await?;
    let Some((stored, mut member)) = still_valid(tx, site, stored).await? else {
        return Ok(Check::Refused(Fault::new(Code::StateTokenInvalid)));
    };
    let recent = recent(tx, site, &stored.member, "attempts", now).await?;
    if stored.attempts >= TOKEN_ATTEMPTS || recent.sum >= MEMBER_ATTEMPTS {
        return Ok(Check::Refused(recent.throttled(now)));
    }
    if stored.code_expires <= now || stored.code_hash != code_hash(&stored.member, code).to_vec() {
        let sql = "update stoa.verification set attempts = attempts + 1 where site = $1 and hash = $2";
        tx.send(sql, params![&site.id, hash]).await?;
        return Ok(Check::Refused(Fault::new(Code::VerificationFailed)));
    }
    // The right code ends every other code of the member as well.
    let sql = "delete from stoa.verification where site = $1 and member = $2";
    tx.send(sql, params![&site.id, &stored.member]).await?;
    let was_active = member.status == Status::Active;
    if !Move::Verify.apply(&mut member) {
        return Ok(Check::Refused(Fault::new(Code::MemberBlocked)));
    }
    member::update(tx, &MemberWrite::shown_to_be(&stored.member), &site.id, &mut member, now).await?;
    if was_active {
        notice::email_verified(core, tx, &site.id, &member).await?;
    }
    if !stored.signs_in {
        if matches!(member.status, Status::Blocked | Status::Offline) {
            return Ok(Check::Refused(Fault::new(Code::MemberBlocked)));
        }
        if member.status == Status::Pending && member.pending_approval && !member.pending_fields {
            approval::request(core, tx, &site.id, &member).await?;
        }
        return Ok(Check::Right(Box::new(SignIn::StatusCheck { member })));
    }
    let origin = Origin { visitor: stored.visitor.as_ref(), address: Some(address), app: None };
    match outcome::advance(core, tx, site, member, origin).await {
        Ok(advanced) => Ok(Check::Right(Box::new(advanced))),
        Err(fault) if matches!(fault.code(), Code::MemberBlocked | Code::PasswordReset) => {
            Ok(Check::Refused(Fault::new(fault.code())))
        }
        Err(fault) => Err(fault),
    }
}

async fn find(tx: &mut Tx<'_>, site: &Site, hash: &TokenHash, now: Millis) -> Result<Option<Stored>> {
    let sql = "select member, email_folded, visitor, code_hash, code_expires, attempts, signs_in \
               from stoa.verification \
               where site = $1 and hash = $2 and expires > $3";
    let read = |row: &Row<'_>| {
        let visitor: Option<String> = row.get(2)?;
        Ok(Stored {
            member: MemberId::from(row.text(0)?),
            email_folded: row.get(1)?,
            visitor: visitor.map(VisitorId::from),
            code_hash: row.get(3)?,
            code_expires: row.get(4)?,
            attempts: row.get(5)?,
            signs_in: row.get(6)?,
        })
    };
    Ok(tx.row(sql, &params![&site.id, hash, now], read).await?)
}

/// The member, when the address is still the one that the code was sent to.
async fn still_valid(tx: &mut Tx<'_>, site: &Site, stored: Option<Stored>) -> Result<Option<(Stored, Member)>> {
    let Some(stored) = stored else { return Ok(None) };
    let member = member::get(tx, &site.id, &stored.member).await?;
    Ok(member.filter(|it| folded(it) == stored.email_folded).map(|it| (stored, it)))
}

async fn allow_message(tx: &mut Tx<'_>, site: &Site, member: &MemberId, now: Millis) -> Result<()> {
    let recent = recent(tx, site, member, "messages", now).await?;
    if recent.sum >= MEMBER_MESSAGES { Err(recent.throttled(now)) } else { Ok(()) }
}

/// A count over the member's verifications of the last hour.
struct Recent {
    sum: i64,
    /// When the first of them was made that counts.
    since: Millis,
}

impl Recent {
    /// Comes again when the first of them has gone out of the hour.
    fn throttled(&self, now: Millis) -> Fault {
        let wait = (self.since + WINDOW - now).clamp(1_000, WINDOW);
        Fault::new(Code::Throttled).with("retryAfterSeconds", (wait + 999) / 1_000)
    }
}

async fn recent(tx: &mut Tx<'_>, site: &Site, member: &MemberId, count: &'static str, now: Millis) -> Result<Recent> {
    // The sum of bigint is a decimal on one of the engines, so it is made here.
    let sql =
        format!("select {count}, created from stoa.verification where site = $1 and member = $2 and created > $3");
    let read = |row: &Row<'_>| Ok((row.get::<i64>(0)?, row.get::<Millis>(1)?));
    let counts = tx.rows(&sql, &params![&site.id, member, now - WINDOW], read).await?;
    let since = counts.iter().filter(|it| it.0 > 0).map(|it| it.1).min().unwrap_or(now);
    Ok(Recent { sum: counts.iter().map(|it| it.0).sum(), since })
}

fn folded(member: &Member) -> String {
    stoa_kernel::fold::fold(member.email.trim()).into_owned()
}

fn code_hash(member: &MemberId, code: &str) -> TokenHash {
    TokenHash::of(&format!("{member}:{code}"))
}
