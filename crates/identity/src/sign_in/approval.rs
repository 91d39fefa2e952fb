//! Owners decide about new members by a link in a message; no studio is needed.
//!
//! When a member has done all they can, every owner of the site gets a link of their own. It is bound to
//! the site, to this purpose, to the member and to the owner, who must still be one when it is used. It
//! lives seven days. Looking uses nothing up, because mail programs look at links; the first decision
//! ends all links about the member.

use crate::{
    Core, Identity, audit,
    mail::{self, Message, QueuedMessage, Task, enqueue, notice},
    member::{self, Member, Move, Status, access::MemberWrite},
    operator::{self, role::role_name},
    sign_in::link,
    token::{self, Kind},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{
    Code, Fault, MemberId, Millis, Result, Role, Secret, SiteId, TokenHash, UserId, clock::iso_from_millis,
};
use stoa_sql::params;
use stoa_store::{Lane, Site, Tx, boxed};

/// Life of a link.
const LIFE: Millis = 7 * 24 * 60 * 60_000;
const PURPOSE: &str = "approval";
/// A token that names a waiting member to apps. Whoever has it may be the member, so it decides nothing.
const NAME: &str = "approval-name";
/// Owners who are told, and messages of a site within a day: sign-ups must not flood a mailbox. Those who
/// wait beyond that are in the list of pending members.
const OWNERS: i64 = 20;
const MOST_A_DAY: i64 = 200;

/// What an owner decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The member may sign in.
    Approve,
    /// The member is blocked; an owner can still let them in later.
    Decline,
}

/// A member as the owner sees them before and after the decision.
#[derive(Debug, Clone)]
pub struct Request {
    pub site_name: String,
    pub member: Member,
}

impl Request {
    /// What the page shows. `state` is PENDING, APPROVED or DECLINED.
    pub fn to_json(&self) -> Value {
        let state = match (self.member.status, self.member.pending_approval) {
            (Status::Blocked, _) => "DECLINED",
            (_, true) => "PENDING",
            (_, false) => "APPROVED",
        };
        json!({
            "siteName": self.site_name,
            "name": full_name(&self.member),
            "email": self.member.email,
            "emailVerified": self.member.email_verified,
            "createdDate": iso_from_millis(self.member.created),
            "state": state,
        })
    }
}

/// A link that was found good: about whom, and whose it is.
struct Link {
    member: MemberId,
    person: UserId,
}

/// Writes down inside a transaction that the owners are to be asked about a member, unless they were.
pub(crate) async fn request(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    let sql = "select 1 from stoa.link where site = $1 and member = $2 and purpose = $3 and expires > $4 limit 1";
    let asked = tx.row(sql, &params![site, &member.id, PURPOSE, core.now()], |_| Ok(())).await?;
    match asked {
        Some(()) => Ok(()),
        None => enqueue(core, tx, site, Some(&member.id), &Task::Approval).await,
    }
}

/// What follows inside the transaction in which somebody let a waiting member in, whichever way.
pub(crate) async fn approved(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    end_links(tx, site, &member.id, core.now()).await?;
    match member.status {
        // Who has yet to prove the address is told by what they do next.
        Status::Active => notice::send(core, tx, site, member, Message::Approved).await,
        _ => Ok(()),
    }
}

impl Identity {
    /// What a link is about, without using it.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when it is unknown, used, expired, of another site, or its owner is none any more.
    pub async fn approval_look(&self, site: &Arc<Site>, link: &str) -> Result<Request> {
        let core = &self.core;
        let found = find_link(core, site, link).await?;
        let member = member::find(site, &found.member).await?.filter(waits);
        let member = member.ok_or_else(|| Fault::new(Code::LinkInvalid))?;
        Ok(Request { site_name: site.name.clone(), member })
    }

    /// Uses a link: of any number of decisions at the same time, by whichever owner, one counts.
    ///
    /// # Errors
    /// As [`Identity::approval_look`].
    pub async fn approval_decide(&self, site: &Arc<Site>, link: &str, decision: Decision) -> Result<Request> {
        let core = &self.core;
        find_link(core, site, link).await?;
        let (me, place, hash) = (core.clone(), site.clone(), TokenHash::of(link).to_vec());
        let member = site
            .write(move |tx| {
                let (me, site, hash) = (me.clone(), place.clone(), hash.clone());
                boxed!({
                    let gone = || Fault::new(Code::LinkInvalid);
                    let link = find(tx, &site.id, &hash, me.now()).await?.ok_or_else(gone)?;
                    let member = member::get(tx, &site.id, &link.member).await?.filter(waits);
                    let mut member = member.ok_or_else(gone)?;
                    let step = if decision == Decision::Approve { Move::Approve } else { Move::Block };
                    if !step.apply(&mut member) {
                        return Err(gone());
                    }
                    let (event, actor) = (audit::Event::Moved(step), audit::Actor::Operator(&link.person));
                    let entry = audit::Entry { event, actor, member: Some(&member.id), address: None };
                    audit::note(&me, tx, &site.id, entry).await?;
                    let write = MemberWrite::by_approval_link(&member.id);
                    member::update(tx, &write, &site.id, &mut member, me.now()).await?;
                    match decision {
                        Decision::Approve => approved(&me, tx, &site.id, &member).await?,
                        Decision::Decline => {
                            end_links(tx, &site.id, &member.id, me.now()).await?;
                            notice::send(&me, tx, &site.id, &member, Message::Declined).await?;
                        }
                    }
                    Ok(member)
                })
            })
            .await?;
        mail::soon(core, &site.id).await;
        tracing::info!(site = %site.id, member = %member.id, ?decision, "an owner decided about a member");
        Ok(Request { site_name: site.name.clone(), member })
    }

    /// A token by which an app that may approve members is told of this one. It works once; the ones before it
    /// don't any more.
    pub async fn approval_token(&self, site: &Site, member: &MemberId) -> Result<Secret> {
        let core = &self.core;
        let token = token::opaque(core.world(), Kind::Approval, site.number);
        let (hash, id, member, now) = (TokenHash::of(token.expose()), site.id.clone(), member.clone(), core.now());
        site.append(move |tx| {
            let (hash, id, member) = (hash.clone(), id.clone(), member.clone());
            boxed!({
                let sql = "delete from stoa.link where site = $1 and member = $2 and purpose = $3";
                tx.send(sql, params![&id, &member, NAME]).await?;
                let sql = "insert into stoa.link (site, hash, purpose, member, created, expires) \
                           values ($1, $2, $3, $4, $5, $6)";
                tx.send(sql, params![&id, hash, NAME, &member, now, now + LIFE]).await?;
                Ok(())
            })
        })
        .await?;
        Ok(token)
    }
}

/// The hash of a token by which an app approves a member of this site.
///
/// # Errors
/// [`Code::LinkInvalid`].
pub(crate) fn token_hash(site: &Site, token: &str) -> Result<TokenHash> {
    let is_ours = token::site_number(Kind::Approval, token) == Some(site.number);
    if is_ours { Ok(TokenHash::of(token)) } else { Err(Fault::new(Code::LinkInvalid)) }
}

/// Uses a token inside a transaction: the waiting member whom it names.
///
/// # Errors
/// [`Code::LinkInvalid`] when it is unknown, used or expired, or the member does not wait any more.
pub(crate) async fn use_token(core: &Core, tx: &mut Tx<'_>, site: &SiteId, hash: &TokenHash) -> Result<Member> {
    let gone = || Fault::new(Code::LinkInvalid);
    let sql = "update stoa.link set used = $1 where site = $2 and hash = $3 and purpose = $4 \
               and used is null and expires > $1 returning member";
    let read = |row: &stoa_store::Row<'_>| Ok(MemberId::from(row.text(0)?));
    let named = tx.row(sql, &params![core.now(), site, hash, NAME], read).await?.ok_or_else(gone)?;
    member::get(tx, site, &named).await?.filter(waits).ok_or_else(gone)
}

/// Answers [`Task::Approval`]: a link and a message for each owner.
pub(crate) async fn ask(core: &Arc<Core>, site: &Arc<Site>, task: String, member: MemberId) -> Result<()> {
    let owners = owners(core, &site.id).await?;
    let url = mail::url(core);
    let links: Vec<_> = owners.iter().map(|_| token::opaque(core.world(), Kind::Approval, site.number)).collect();
    let (me, place, owners) = (core.clone(), site.clone(), Arc::new((owners, links)));
    site.write(move |tx| {
        let (me, site, owners) = (me.clone(), place.clone(), owners.clone());
        let (task, member, url) = (task.clone(), member.clone(), url.clone());
        boxed!({
            if !mail::done(tx, &site.id, &task).await? {
                return Ok(());
            }
            let member = member::get(tx, &site.id, &member).await?;
            let Some(member) = member.filter(|it| it.status == Status::Pending && it.pending_approval) else {
                return Ok(());
            };
            let now = me.now();
            let sql = "select count(*) from stoa.link where site = $1 and purpose = $2 and created > $3";
            let values = params![&site.id, PURPOSE, now - 24 * 60 * 60_000];
            let today: i64 = tx.row(sql, &values, |row| row.get(0)).await?.unwrap_or(0);
            if today >= MOST_A_DAY {
                return Ok(());
            }
            for ((person, email), link) in owners.0.iter().zip(&owners.1) {
                let sql = "insert into stoa.link (site, hash, purpose, member, person, created, expires) \
                           values ($1, $2, $3, $4, $5, $6, $7)";
                let hash = TokenHash::of(link.expose());
                let values = params![&site.id, hash, PURPOSE, &member.id, person, now, now + LIFE];
                tx.send(sql, values).await?;
                // Behind `#` it stays in the browser: no proxy, log or other site reads it.
                let link = format!("{url}/account/approve#{}", link.expose());
                let message = Message::ApprovalRequest { name: full_name(&member), email: member.email.clone(), link };
                let task =
                    Task::Message(QueuedMessage { to: email.clone(), language: None, own_language: None, message });
                enqueue(&me, tx, &site.id, Some(&member.id), &task).await?;
            }
            Ok(())
        })
    })
    .await
}

async fn find_link(core: &Core, site: &Arc<Site>, link: &str) -> Result<Link> {
    let gone = || Fault::new(Code::LinkInvalid);
    if token::site_number(Kind::Approval, link) != Some(site.number) {
        return Err(gone());
    }
    let (id, hash, now) = (site.id.clone(), TokenHash::of(link).to_vec(), core.now());
    let found = site.read(Lane::Point, move |tx| boxed!(find(tx, &id, &hash, now).await)).await?;
    let found = found.ok_or_else(gone)?;
    match operator::role_at(core, &found.person, &site.id).await? {
        Some(Role::Owner) => Ok(found),
        _ => Err(gone()),
    }
}

/// The owners of a site: id and address.
async fn owners(core: &Core, site: &SiteId) -> Result<Vec<(UserId, String)>> {
    let site = site.clone();
    let sql = "select p.id, p.email from stoa.person_role r join stoa.person p on p.id = r.person \
               where r.site = $1 and r.role = $2 order by p.created, p.id limit $3";
    core.store()
        .catalog()
        .read(Lane::Point, move |tx| {
            boxed!({
                let values = params![&site, role_name(Role::Owner), OWNERS];
                Ok(tx.rows(sql, &values, |row| Ok((UserId::from(row.text(0)?), row.get(1)?))).await?)
            })
        })
        .await
}

fn waits(member: &Member) -> bool {
    member.status == Status::Pending && member.pending_approval
}

fn full_name(member: &Member) -> String {
    let text = |name: &str| member.profile.text(name).map(str::trim).filter(|it| !it.is_empty());
    let full = [text("firstName"), text("lastName")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    match (full.is_empty(), text("nickname")) {
        (false, _) => full,
        (true, Some(nickname)) => nickname.to_owned(),
        (true, None) => member.email.clone(),
    }
}

async fn find(tx: &mut Tx<'_>, site: &SiteId, hash: &[u8], now: Millis) -> Result<Option<Link>> {
    let sql = "select member, person from stoa.link where site = $1 and hash = $2 and purpose = $3 \
               and used is null and expires > $4 and person is not null";
    let values = params![site, hash.to_vec(), PURPOSE, now];
    let read = tx
        .row(sql, &values, |row| Ok(Link { member: MemberId::from(row.text(0)?), person: UserId::from(row.text(1)?) }));
    Ok(read.await?)
}

/// Ends every link about a member: there is nothing left to decide.
async fn end_links(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<()> {
    link::end(tx, site, member, PURPOSE, now).await
}
