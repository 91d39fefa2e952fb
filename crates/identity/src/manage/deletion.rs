//! Members who want their account to be deleted (decision 47). It goes after the days that the site's policy says; until then the
//! member can't sign in, all that they had is kept, and the link in the message that they get keeps the account.
//!
//! Whether an account is kept or goes is decided by its row alone: what keeps it finds a deletion that waits and is not
//! due yet, what deletes it finds one that is due.

use crate::{
    Core, Identity, audit, factor,
    mail::{self, Message, notice},
    manage::{
        email_change,
        moves::{self, MadeMove},
    },
    member::{self, Deletion, Member, Move, access::MemberWrite, status},
    policy,
    session::{self, SessionSelector},
    sign_in::link,
    token::{self, Kind},
};
use std::{net::IpAddr, sync::Arc};
use stoa_kernel::{Caller, Code, Fault, MemberId, Millis, Result, Secret, SessionId, SiteId, TokenHash, Violation};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// Members whom one read finds; each goes in a transaction of its own.
const PIECE: u32 = 100;

/// What became of a member's wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The account goes at this time, and can be kept until then.
    Waits(Millis),
    /// The site keeps no account that its member wants to be deleted: it is gone.
    Gone,
}

impl Identity {
    /// Has the calling member's account deleted after the days of the policy. The member has lately shown in this session who
    /// they are ([`Identity::member_prove`]). All their sessions end, and a link to keep the account goes to their address.
    /// `from` is the network address that asks, `told` the days that the member was told, if they were.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member with their whole right; [`Code::ProofNeeded`];
    /// [`Code::Validation`] when the member was told other days than those of the policy; [`Code::Throttled`];
    /// [`Code::Unauthenticated`] when the session ends meanwhile.
    pub async fn deletion_ask(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        from: IpAddr,
        told: Option<u64>,
    ) -> Result<Wish> {
        let core = &self.core;
        let (id, session) = factor::oneself(caller)?;
        factor::count_change(core, site, &id, &session).await?;
        // Sessions are withdrawn before they end: what is refused here ends none.
        require_told(self.policy(site).await?.deletion_days(), told)?;
        let all = SessionSelector::Member(id.clone());
        let link = token::opaque(core.world(), Kind::Keep, site.number);
        let asking = Asking { id, session, link, from, told };
        let input = (core.clone(), site.clone(), caller.clone(), asking);
        let wish = session::end_in(core, site, Some(all), input, |tx, (core, site, caller, asking)| {
            boxed!(ask_in(core, tx, site, caller, asking).await)
        });
        let wish = wish.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(wish)
    }

    /// The member whom a link is about, and what waits, without using it.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when it is unknown, used, over or of another site, or the account is kept or gone already.
    pub async fn deletion_get(&self, site: &Site, link: &str) -> Result<(Member, Deletion)> {
        let (id, hash, now) = (site.id.clone(), link_hash(site, link)?, self.core.now());
        site.read(ReaderPool::Point, move |tx| boxed!(find(tx, &id, &hash, now).await)).await
    }

    /// Uses a link: the account stays. Whether its member can sign in is as before.
    ///
    /// # Errors
    /// As [`Identity::deletion_get`].
    pub async fn deletion_undo(&self, site: &Arc<Site>, link: &str, from: IpAddr) -> Result<Member> {
        let core = &self.core;
        // What is no link takes no turn at the writer.
        self.deletion_get(site, link).await?;
        let hash = link_hash(site, link)?;
        let kept = site.write_with((core.clone(), site.id.clone(), hash), move |tx, (core, site, hash)| {
            boxed!({
                let (member, _) = find(tx, site, hash, core.now()).await?;
                keep_in(core, tx, site, member, Keeper::Oneself(from)).await
            })
        });
        let kept = kept.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(kept)
    }

    /// Those who run the site keep an account that is to be deleted.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::NotFound`]; [`Code::AlreadyExists`] where no
    /// deletion waits, or it is due.
    pub async fn deletion_undo_for(&self, site: &Arc<Site>, caller: &Caller, id: &MemberId) -> Result<Member> {
        let core = &self.core;
        let write = MemberWrite::privileged(caller)?;
        let asked = (caller.clone(), write, id.clone());
        let kept = site.write_with((core.clone(), site.id.clone(), asked), |tx, (core, site, (caller, write, id))| {
            boxed!({
                let member = member::get(tx, site, id).await?.filter(Member::is_there);
                let member = member.ok_or_else(|| Fault::new(Code::NotFound))?;
                if member.deletion.is_none_or(|it| it.due <= core.now()) {
                    return Err(Fault::because(Code::AlreadyExists, "no deletion of this member waits"));
                }
                keep_in(core, tx, site, member, Keeper::Owner(write, caller)).await
            })
        });
        let kept = kept.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(kept)
    }
}

/// Deletes the members of a site whose time has come. Cut off or done by several nodes at once, each of them goes once.
/// Who can't be deleted holds up no other: it is logged, and tried again the next time.
pub(crate) async fn finish(core: &Arc<Core>, site: &Site) -> Result<()> {
    let mut after = None;
    loop {
        let due = due(core, site, after.take()).await?;
        after = due.last().cloned();
        let count = due.len();
        for (_, id) in due {
            if let Err(fault) = finish_one(core, site, id.clone()).await {
                tracing::warn!(site = %site.id, member = %id, "a member was not deleted who wanted to be: {fault:?}");
            }
        }
        if count < PIECE as usize {
            return Ok(());
        }
    }
}

/// A member and when they go.
type Due = (Millis, MemberId);

/// The next whose time has come, in order.
async fn due(core: &Core, site: &Site, after: Option<Due>) -> Result<Vec<Due>> {
    let (id, now) = (site.id.clone(), core.now());
    let (last, last_id) = after.unwrap_or_else(|| (Millis::MIN, MemberId::from("")));
    let found = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let sql = "select deletion_due, id from stoa.member where site = $1 and deletion_due is not null \
                       and deletion_due <= $2 and (deletion_due > $3 or (deletion_due = $3 and id > $4)) \
                       order by deletion_due, id limit $5";
            let values = params![&id, now, last, &last_id, PIECE];
            Ok(tx.rows(sql, &values, |row| Ok((row.get(0)?, MemberId::from(row.text(1)?)))).await?)
        })
    });
    found.await
}

async fn finish_one(core: &Arc<Core>, site: &Site, id: MemberId) -> Result<()> {
    let all = SessionSelector::Member(id.clone());
    let input = (core.clone(), site.id.clone(), id);
    session::end_in(core, site, Some(all), input, |tx, (core, site, id)| {
        boxed!({
            let member = member::get(tx, site, id).await?;
            let is_due = |it: &Member| it.deletion.is_some_and(|it| it.due <= core.now());
            let Some(member) = member.filter(is_due) else { return Ok(((), Vec::new())) };
            let made = MadeMove { actor: audit::Actor::Member(id), member, step: Move::Delete };
            Ok(((), moves::make_move_in(core, tx, &MemberWrite::shown_to_be(id), site, made).await?.1))
        })
    })
    .await
}

/// A member who asks to be deleted.
struct Asking {
    id: MemberId,
    session: SessionId,
    /// With which they keep the account.
    link: Secret,
    from: IpAddr,
    /// The days that they were told.
    told: Option<u64>,
}

/// What [`Identity::deletion_ask`] writes, and the sessions that end.
async fn ask_in(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &Site,
    caller: &Caller,
    asking: &Asking,
) -> Result<(Wish, Vec<SessionId>)> {
    let Asking { id, session, link, from, told } = asking;
    let (write, now) = (MemberWrite::shown_to_be(id), core.now());
    let mut member = factor::require(core, tx, site, id, session).await?;
    let policy = policy::read(tx, &site.id).await?;
    require_told(policy.deletion_days(), *told)?;
    // Who took the account by another address can't end it before the link to the address before has.
    let undo_until = email_change::undo_until(tx, &site.id, id, now).await?;
    let wait = policy.deletion_wait().max(undo_until.map_or(0, |it| it - now));
    if wait == 0 {
        let made = MadeMove { actor: audit::Actor::Caller(caller), member, step: Move::Delete };
        return Ok((Wish::Gone, moves::make_move_in(core, tx, &write, &site.id, made).await?.1));
    }
    let due = now + wait;
    if !status::leave(&mut member, due) {
        return Err(Fault::new(Code::Unauthenticated));
    }
    member::update(tx, &write, &site.id, &mut member, now).await?;
    link::end(tx, &site.id, id, link::DELETION, now).await?;
    let sql = "insert into stoa.link (site, hash, purpose, member, created, expires) values ($1, $2, $3, $4, $5, $6)";
    tx.send(sql, params![&site.id, TokenHash::of(link.expose()), link::DELETION, id, now, due]).await?;
    // Behind `#` it stays in the browser: no proxy, log or other site reads it, and what fetches it uses up nothing.
    let link = format!("{}/account/keep#{}", mail::url(core), link.expose());
    notice::send(core, tx, &site.id, &member, Message::DeletionWaits { link, due }).await?;
    let entry = audit::Entry::by_oneself(id, audit::Event::DeletionAsked).at_address(Some(*from));
    audit::record(core, tx, &site.id, entry).await?;
    Ok((Wish::Waits(due), SessionSelector::Member(id.clone()).end(tx, &site.id, now).await?))
}

/// The days of which the member was told are those of the policy.
fn require_told(days: u32, told: Option<u64>) -> Result<()> {
    if told.is_none_or(|it| it == u64::from(days)) {
        return Ok(());
    }
    let why = format!("an account of this site goes after {days} days");
    Err(Fault::invalid(vec![Violation::new("deletionDays", "OTHER", why)]))
}

/// Who keeps an account.
enum Keeper<'a> {
    /// The member, from this network address.
    Oneself(IpAddr),
    Owner(&'a MemberWrite, &'a Caller),
}

async fn keep_in(
    core: &Core,
    tx: &mut Tx<'_>,
    site: &SiteId,
    mut member: Member,
    keeper: Keeper<'_>,
) -> Result<Member> {
    if !status::keep(&mut member) {
        return Err(Fault::internal("an account was kept that was not to go"));
    }
    let now = core.now();
    match keeper {
        Keeper::Oneself(_) => {
            let write = MemberWrite::shown_to_be(&member.id);
            member::update(tx, &write, site, &mut member, now).await?;
        }
        Keeper::Owner(write, _) => member::update(tx, write, site, &mut member, now).await?,
    }
    link::end(tx, site, &member.id, link::DELETION, now).await?;
    let entry = match keeper {
        Keeper::Oneself(from) => {
            audit::Entry::by_oneself(&member.id, audit::Event::DeletionUndone).at_address(Some(from))
        }
        Keeper::Owner(_, caller) => audit::Entry::by(caller, audit::Event::DeletionUndone, &member.id),
    };
    audit::record(core, tx, site, entry).await?;
    notice::send(core, tx, site, &member, Message::DeletionUndone { at: now }).await?;
    Ok(member)
}

/// The hash of a link of this site.
///
/// # Errors
/// [`Code::LinkInvalid`].
fn link_hash(site: &Site, link: &str) -> Result<TokenHash> {
    let is_ours = token::site_number(Kind::Keep, link) == Some(site.number);
    if is_ours { Ok(TokenHash::of(link)) } else { Err(Fault::new(Code::LinkInvalid)) }
}

/// The member whom a link keeps, if it is not too late.
async fn find(tx: &mut Tx<'_>, site: &SiteId, hash: &TokenHash, now: Millis) -> Result<(Member, Deletion)> {
    let gone = || Fault::new(Code::LinkInvalid);
    let sql =
        "select member from stoa.link where site = $1 and hash = $2 and purpose = $3 and used is null and expires > $4";
    let values = params![site, hash, link::DELETION, now];
    let named = tx.row(sql, &values, |row| Ok(MemberId::from(row.text(0)?))).await?;
    let id = named.ok_or_else(gone)?;
    let member = member::get(tx, site, &id).await?.ok_or_else(gone)?;
    let waits = member.deletion.filter(|it| it.due > now).ok_or_else(gone)?;
    Ok((member, waits))
}
