//! Codes of six digits that prove an e-mail address (docs/protocol/identity.md §7).
//!
//! A code belongs to one state token (or flow) and one address, lives ten minutes and works once, also
//! when it comes many times at once. Wrong codes are counted for the state token and for the member,
//! messages for the member, so neither guessing nor flooding a mailbox gets far.

use crate::{
    Core,
    defence::code_limit,
    factor::FirstFactor,
    mail::{self, Message, notice},
    member::{self, Member, Status},
    token::{self, Kind},
};
use std::sync::Arc;
use stoa_kernel::{Code, Email, Fault, MemberId, Millis, Result, Secret, TokenHash, VisitorId};
use stoa_sql::params;
use stoa_store::{Row, Site, Tx, boxed};

/// Life of a code.
const CODE_LIFE: Millis = 10 * 60_000;
/// Seconds after which a page offers to send another code.
pub const RESEND_AFTER_SECONDS: u32 = 30;
/// Life of a state token: within it codes can be sent again.
const TOKEN_LIFE: Millis = 60 * 60_000;
/// Wrong codes for one state token.
pub(super) const TOKEN_ATTEMPTS: i64 = 10;

/// A stored verification.
pub(super) struct Stored {
    pub(super) member: MemberId,
    email_folded: String,
    pub(super) visitor: Option<VisitorId>,
    pub(super) code_hash: Vec<u8>,
    pub(super) code_expires: Millis,
    pub(super) attempts: i64,
    /// What the sign-in rests on that waits for it; none when it is for the address alone.
    pub(super) first: Option<FirstFactor>,
}

/// What a code is sent for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Use<'a> {
    /// A sign-in that waits for it, of this visitor, and what it rests on.
    SignIn(Option<&'a VisitorId>, FirstFactor),
    /// The address alone.
    Address,
}

/// Starts a verification inside a transaction: the `stateToken`; the code goes into the queue.
///
/// # Errors
/// [`Code::Throttled`] when the member got too many messages.
pub(super) async fn start(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    member: &Member,
    for_use: Use<'_>,
) -> Result<Secret> {
    let now = core.now();
    code_limit::allow_message(tx, &site.id, &member.id, now).await?;
    let (visitor, signs_in) = match for_use {
        Use::SignIn(visitor, first) => (visitor, number_of(first)),
        Use::Address => (None, 0),
    };
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

/// Sends another code for the same state token; the old one ends.
///
/// # Errors
/// [`Code::StateTokenInvalid`]; [`Code::Throttled`]; [`Code::MemberBlocked`].
pub(crate) async fn resend(core: &Arc<Core>, site: &Arc<Site>, hash: TokenHash) -> Result<Member> {
    let member = site
        .write_with((core.clone(), site.clone(), hash), move |tx, (core, site, hash)| {
            boxed!({
                let (stored, now) = (find(tx, site, hash, core.now()).await?, core.now());
                let Some((stored, member)) = still_valid(tx, site, stored).await? else {
                    return Err(Fault::new(Code::StateTokenInvalid));
                };
                if !matches!(member.status, Status::Pending | Status::Active) {
                    return Err(Fault::new(Code::MemberBlocked));
                }
                code_limit::allow_message(tx, &site.id, &stored.member, now).await?;
                let code = core.world().six_digits();
                let sql = "update stoa.verification set code_hash = $1, code_expires = $2, messages = messages + 1 \
                           where site = $3 and hash = $4";
                let values = params![code_hash(&member.id, &code), now + CODE_LIFE, &site.id, hash];
                tx.send(sql, values).await?;
                notice::send(core, tx, &site.id, &member, Message::Verification { code }).await?;
                Ok(member)
            })
        })
        .await?;
    mail::deliver_soon(core, &site.id).await;
    Ok(member)
}

/// Gives a verification to a flow: from now on the flow's token stands for it, the state token ends.
pub(crate) async fn adopt(core: &Core, site: &Site, state_token: &Secret, flow: &TokenHash) -> Result<()> {
    let unknown = TokenHash::of(&core.world().token::<32>());
    site.write_with(
        (site.id.clone(), TokenHash::of(state_token.expose()), flow.clone(), unknown),
        |tx, (site, from, to, unknown)| {
            boxed!({
                // What the flow had before ends, but its wrong codes and messages still count for the member.
                let sql = "update stoa.verification set hash = $1, code_expires = 0 where site = $2 and hash = $3";
                tx.send(sql, params![unknown, site, to]).await?;
                let sql = "update stoa.verification set hash = $1 where site = $2 and hash = $3";
                tx.send(sql, params![to, site, from]).await?;
                Ok(())
            })
        },
    )
    .await
}

pub(super) async fn find(tx: &mut Tx<'_>, site: &Site, hash: &TokenHash, now: Millis) -> Result<Option<Stored>> {
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
            first: first_of(row.get(6)?),
        })
    };
    Ok(tx.row(sql, &params![&site.id, hash, now], read).await?)
}

/// The member, when the address is still the one that the code was sent to.
pub(super) async fn still_valid(
    tx: &mut Tx<'_>,
    site: &Site,
    stored: Option<Stored>,
) -> Result<Option<(Stored, Member)>> {
    let Some(stored) = stored else { return Ok(None) };
    let member = member::get(tx, &site.id, &stored.member).await?;
    Ok(member.filter(|it| folded(it) == stored.email_folded).map(|it| (stored, it)))
}

/// A first factor as `signs_in` has it, where 0 says that no sign-in waits.
fn number_of(first: FirstFactor) -> i64 {
    match first {
        FirstFactor::Own => 1,
        FirstFactor::Provider => 2,
        FirstFactor::ProviderOfMailbox => 3,
    }
}

fn first_of(number: i64) -> Option<FirstFactor> {
    [FirstFactor::Own, FirstFactor::Provider, FirstFactor::ProviderOfMailbox]
        .into_iter()
        .find(|it| number_of(*it) == number)
}

fn folded(member: &Member) -> String {
    Email::fold(&member.email)
}

pub(super) fn code_hash(member: &MemberId, code: &str) -> TokenHash {
    TokenHash::of(&format!("{member}:{code}"))
}
