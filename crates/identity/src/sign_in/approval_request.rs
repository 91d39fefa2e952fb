//! Owners are asked about new members by a link in a message; no studio is needed.
//!
//! When a member has done all they can, every owner of the site gets a link of their own. It is bound to
//! the site, to this purpose, to the member and to the owner, and lives seven days. What is done with it is in
//! `approval`.

use crate::{
    Core,
    mail::{self, Message, QueuedMessage, Task, enqueue, notice},
    member::{self, Member, Status},
    operator::owners::owners,
    sign_in::link,
    token::{self, Kind},
};
use std::sync::Arc;
use stoa_kernel::{MemberId, Millis, Result, Secret, SiteId, TokenHash, UserId};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

/// Life of a link.
pub(super) const LIFE: Millis = 7 * 24 * 60 * 60_000;
pub(super) const PURPOSE: &str = "approval";
/// Messages of a site within a day: sign-ups must not flood a mailbox. Those who wait beyond that are in the list of
/// pending members.
const MOST_A_DAY: i64 = 200;

/// Records inside a transaction that the owners are to be asked about a member, unless they were.
pub(crate) async fn request(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    let sql = "select 1 from stoa.link where site = $1 and member = $2 and purpose = $3 and expires > $4 limit 1";
    let open_link = tx.row(sql, &params![site, &member.id, PURPOSE, core.now()], |_| Ok(())).await?;
    match open_link {
        Some(()) => Ok(()),
        None => enqueue(core, tx, site, Some(&member.id), &Task::Approval).await,
    }
}

/// What follows inside the transaction in which a waiting member is let in, in any way.
pub(crate) async fn approved(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member) -> Result<()> {
    end_links(tx, site, &member.id, core.now()).await?;
    match member.status {
        // A member with an unproven address is handled at the next step of the sign-in.
        Status::Active => notice::send(core, tx, site, member, Message::Approved).await,
        _ => Ok(()),
    }
}

/// An owner, and the link with which they decide.
struct OwnerMessage {
    owner: UserId,
    email: String,
    link: Secret,
}

/// Answers [`Task::Approval`]: a link and a message for each owner.
pub(super) async fn ask(core: &Arc<Core>, site: &Arc<Site>, task: String, member: MemberId) -> Result<()> {
    let link = || token::opaque(core.world(), Kind::Approval, site.number);
    let owners = owners(core, &site.id).await?.into_iter();
    let messages: Vec<OwnerMessage> =
        owners.map(|(owner, email)| OwnerMessage { owner, email, link: link() }).collect();
    site.write_with(
        (core.clone(), site.id.clone(), task, member, messages),
        |tx, (core, site, task, member, messages)| {
            boxed!({
                if !mail::done(tx, site, task).await? {
                    return Ok(());
                }
                let Some(member) = member::get(tx, site, member).await?.filter(waits) else { return Ok(()) };
                let now = core.now();
                let sql = "select count(*) from stoa.link where site = $1 and purpose = $2 and created > $3";
                let values = params![site, PURPOSE, now - 24 * 60 * 60_000];
                let today: i64 = tx.row(sql, &values, |row| row.get(0)).await?.unwrap_or(0);
                if today >= MOST_A_DAY {
                    return Ok(());
                }
                for message in messages {
                    send_link(core, tx, site, &member, message).await?;
                }
                Ok(())
            })
        },
    )
    .await
}

async fn send_link(core: &Core, tx: &mut Tx<'_>, site: &SiteId, member: &Member, message: &OwnerMessage) -> Result<()> {
    let OwnerMessage { owner, email, link } = message;
    let now = core.now();
    let sql = "insert into stoa.link (site, hash, purpose, member, person, created, expires) \
               values ($1, $2, $3, $4, $5, $6, $7)";
    let values = params![site, TokenHash::of(link.expose()), PURPOSE, &member.id, owner, now, now + LIFE];
    tx.send(sql, values).await?;
    // Behind `#` it stays in the browser: no proxy, log or other site reads it.
    let link = format!("{}/account/approve#{}", mail::url(core), link.expose());
    let message = Message::ApprovalRequest { name: full_name(member), email: member.email.clone(), link };
    let task = Task::Message(QueuedMessage { to: email.clone(), language: None, own_language: None, message });
    enqueue(core, tx, site, Some(&member.id), &task).await
}

pub(super) fn waits(member: &Member) -> bool {
    member.status == Status::Pending && member.pending_approval
}

pub(super) fn full_name(member: &Member) -> String {
    let text = |name: &str| member.profile.text(name).map(str::trim).filter(|it| !it.is_empty());
    let full = [text("firstName"), text("lastName")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    match (full.is_empty(), text("nickname")) {
        (false, _) => full,
        (true, Some(nickname)) => nickname.to_owned(),
        (true, None) => member.email.clone(),
    }
}

/// Ends every link about a member: there is nothing left to decide.
pub(super) async fn end_links(tx: &mut Tx<'_>, site: &SiteId, member: &MemberId, now: Millis) -> Result<()> {
    link::end(tx, site, member, PURPOSE, now).await
}
