//! Owners decide about new members by the link that they were sent; no studio is needed.
//!
//! The owner must still be one when the link is used. Opening one uses nothing up, because mail programs open links;
//! the first decision ends all links about the member.

use crate::{
    Core, Identity, audit,
    mail::{self, Message, notice},
    member::{self, Member, Move, Status, access::MemberWrite},
    operator,
    sign_in::approval_request::{LIFE, PURPOSE, approved, end_links, full_name, waits},
    token::{self, Kind},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{
    Code, Fault, MemberId, Millis, Result, Role, Secret, SiteId, TokenHash, UserId, date::iso_from_millis,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, Tx, boxed};

/// A token that names a waiting member to apps. Its holder may be the member, so it decides nothing.
const NAME: &str = "approval-name";
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
pub struct ApprovalRequest {
    pub site_name: String,
    pub member: Member,
}

impl ApprovalRequest {
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

/// A valid link: the member it is about, and the owner it was sent to.
struct ApprovalLink {
    member: MemberId,
    operator: UserId,
}

impl Identity {
    /// What a link is about, without using it.
    ///
    /// # Errors
    /// [`Code::LinkInvalid`] when it is unknown, used, expired, of another site, or its owner is none any more.
    pub async fn approval_get(&self, site: &Arc<Site>, link: &str) -> Result<ApprovalRequest> {
        let core = &self.core;
        let found = find_link(core, site, link).await?;
        let member = member::find(site, &found.member).await?.filter(waits);
        let member = member.ok_or_else(|| Fault::new(Code::LinkInvalid))?;
        Ok(ApprovalRequest { site_name: site.name(), member })
    }

    /// Uses a link: of any number of decisions at the same time, by any owners, one counts.
    ///
    /// # Errors
    /// As [`Identity::approval_get`].
    pub async fn approval_decide(&self, site: &Arc<Site>, link: &str, decision: Decision) -> Result<ApprovalRequest> {
        let core = &self.core;
        find_link(core, site, link).await?;
        let member = site
            .write_with((core.clone(), site.clone(), TokenHash::of(link).to_vec()), move |tx, (core, site, hash)| {
                boxed!({
                    let gone = || Fault::new(Code::LinkInvalid);
                    let link = find(tx, &site.id, hash, core.now()).await?.ok_or_else(gone)?;
                    let member = member::get(tx, &site.id, &link.member).await?.filter(waits);
                    let mut member = member.ok_or_else(gone)?;
                    let step = if decision == Decision::Approve { Move::Approve } else { Move::Block };
                    if !step.apply(&mut member) {
                        return Err(gone());
                    }
                    let (event, actor) = (audit::Event::Moved(step), audit::Actor::Operator(&link.operator));
                    let entry = audit::Entry { event, actor, member: Some(&member.id), address: None, detail: None };
                    audit::record(core, tx, &site.id, entry).await?;
                    let write = MemberWrite::by_approval_link(&member.id, &link.operator);
                    member::update(tx, &write, &site.id, &mut member, core.now()).await?;
                    match decision {
                        Decision::Approve => approved(core, tx, &site.id, &member).await?,
                        Decision::Decline => {
                            end_links(tx, &site.id, &member.id, core.now()).await?;
                            notice::send(core, tx, &site.id, &member, Message::Declined).await?;
                        }
                    }
                    Ok(member)
                })
            })
            .await?;
        mail::deliver_soon(core, &site.id).await;
        tracing::info!(site = %site.id, member = %member.id, ?decision, "an owner decided about a member");
        Ok(ApprovalRequest { site_name: site.name(), member })
    }

    /// A token that names this member to an app that may approve members. It works once; the ones before it
    /// don't any more.
    pub async fn approval_token(&self, site: &Site, member: &MemberId) -> Result<Secret> {
        let core = &self.core;
        let token = token::opaque(core.world(), Kind::Approval, site.number);
        let now = core.now();
        site.append_with(
            (site.id.clone(), member.clone(), TokenHash::of(token.expose())),
            move |tx, (site, member, hash)| {
                boxed!({
                    let sql = "delete from stoa.link where site = $1 and member = $2 and purpose = $3";
                    tx.send(sql, params![site, member, NAME]).await?;
                    let sql = "insert into stoa.link (site, hash, purpose, member, created, expires) \
                           values ($1, $2, $3, $4, $5, $6)";
                    tx.send(sql, params![site, hash, NAME, member, now, now + LIFE]).await?;
                    Ok(())
                })
            },
        )
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

async fn find_link(core: &Core, site: &Arc<Site>, link: &str) -> Result<ApprovalLink> {
    let gone = || Fault::new(Code::LinkInvalid);
    if token::site_number(Kind::Approval, link) != Some(site.number) {
        return Err(gone());
    }
    let (id, hash, now) = (site.id.clone(), TokenHash::of(link).to_vec(), core.now());
    let found = site.read(ReaderPool::Point, move |tx| boxed!(find(tx, &id, &hash, now).await)).await?;
    let found = found.ok_or_else(gone)?;
    match operator::role_at(core, &found.operator, &site.id).await? {
        Some(Role::Owner) => Ok(found),
        _ => Err(gone()),
    }
}

async fn find(tx: &mut Tx<'_>, site: &SiteId, hash: &[u8], now: Millis) -> Result<Option<ApprovalLink>> {
    let sql = "select member, person from stoa.link where site = $1 and hash = $2 and purpose = $3 \
               and used is null and expires > $4 and person is not null";
    let values = params![site, hash.to_vec(), PURPOSE, now];
    let read = tx.row(sql, &values, |row| {
        Ok(ApprovalLink { member: MemberId::from(row.text(0)?), operator: UserId::from(row.text(1)?) })
    });
    Ok(read.await?)
}
