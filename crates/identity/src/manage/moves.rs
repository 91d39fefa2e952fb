//! Moves of a member between statuses, and what each of them ends and tells.

use crate::{
    Core, Identity, audit,
    defence::device,
    mail,
    member::{Member, Move, Status, access::MemberWrite, row},
    session::{self, SessionSelector},
    sign_in::{approval, approval_request},
};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result, SessionId, SiteId};
use stoa_store::{Site, Tx, boxed};

impl Identity {
    /// Makes a move of the table in `status` with a member.
    ///
    /// # Errors
    /// [`Code::Forbidden`] when the caller may not make it; [`Code::NotFound`] when there is no such
    /// member; [`Code::AlreadyExists`] when the member's status does not know the move.
    pub async fn member_move(&self, site: &Site, caller: &Caller, id: &MemberId, step: Move) -> Result<Member> {
        make_move(&self.core, site, caller, id, step).await
    }

    /// Approves a member who waits for it, or lifts a block.
    ///
    /// # Errors
    /// As [`Identity::member_move`].
    pub async fn member_approve(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        make_move(&self.core, site, caller, id, Move::Approve).await
    }

    /// Blocks a member: every token and session is refused from now on.
    ///
    /// # Errors
    /// As [`Identity::member_move`].
    pub async fn member_block(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        make_move(&self.core, site, caller, id, Move::Block).await
    }

    /// Lets a blocked member sign in again; the ended sessions stay ended.
    ///
    /// # Errors
    /// As [`Identity::member_move`].
    pub async fn member_unblock(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<Member> {
        make_move(&self.core, site, caller, id, Move::Unblock).await
    }

    /// Deletes a member: sessions end, address, password and profile are forgotten, the id stays known.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app, an owner or the member; [`Code::NotFound`].
    pub async fn member_delete(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<()> {
        make_move(&self.core, site, caller, id, Move::Delete).await.map(drop)
    }

    /// Approves the waiting member whom a token names.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is an app or owner; [`Code::LinkInvalid`] when the token is unknown,
    /// used, expired or of another site, or the member does not wait any more.
    pub async fn approval_by_token(&self, site: &Site, caller: &Caller, token: &str) -> Result<Member> {
        let core = &self.core;
        let write = MemberWrite::privileged(caller)?;
        let hash = approval::token_hash(site, token)?;
        let approved = site.write_with(
            (core.clone(), write, site.id.clone(), caller.clone(), hash),
            |tx, (core, write, site, caller, hash)| {
                boxed!({
                    let member = approval::use_token(core, tx, site, hash).await?;
                    let actor = audit::Actor::Caller(caller);
                    let made = MadeMove { actor, member, step: Move::Approve };
                    Ok(make_move_in(core, tx, write, site, made).await?.0)
                })
            },
        );
        let member = approved.await?;
        mail::deliver_soon(core, &site.id).await;
        Ok(member)
    }
}

async fn make_move(core: &Arc<Core>, site: &Site, caller: &Caller, id: &MemberId, step: Move) -> Result<Member> {
    let write = MemberWrite::moving(caller, id, step)?;
    let missing = || Fault::new(Code::NotFound);
    let mut after = row::find(site, id).await?.filter(Member::is_there).ok_or_else(missing)?;
    if !step.apply(&mut after) {
        return Err(invalid_move());
    }
    let all = ends_sessions(&after).then(|| SessionSelector::Member(id.clone()));
    let input = (core.clone(), write, site.id.clone(), id.clone(), caller.clone());
    let member = session::end_in(core, site, all, input, move |tx, (core, write, site, id, caller)| {
        boxed!({
            let member = row::get(tx, site, id).await?.filter(Member::is_there).ok_or_else(missing)?;
            let actor = audit::Actor::Caller(caller);
            make_move_in(core, tx, write, site, MadeMove { actor, member, step }).await
        })
    })
    .await?;
    mail::deliver_soon(core, &site.id).await;
    Ok(member)
}

/// A move that is made with a member, as the transaction found them.
pub(super) struct MadeMove<'a> {
    pub actor: audit::Actor<'a>,
    pub member: Member,
    pub step: Move,
}

/// What a move writes: the member after it, and the sessions that ended.
pub(super) async fn make_move_in(
    core: &Core,
    tx: &mut Tx<'_>,
    write: &MemberWrite,
    site: &SiteId,
    made: MadeMove<'_>,
) -> Result<(Member, Vec<SessionId>)> {
    let MadeMove { actor, mut member, step } = made;
    let (waited, now) = (member.pending_approval, core.now());
    if !step.apply(&mut member) {
        return Err(invalid_move());
    }
    if !member.is_there() {
        row::forget(tx, write, site, &mut member).await?;
        audit::forget(tx, site, &member.id).await?;
    }
    row::update(tx, write, site, &mut member, now).await?;
    row::write_password(tx, write, site, &member).await?;
    let ended = match ends_sessions(&member) {
        true => {
            let ended = SessionSelector::Member(member.id.clone()).end(tx, site, now).await?;
            device::forget(tx, site, &member.id, now).await?;
            ended
        }
        false => Vec::new(),
    };
    if waited && step == Move::Approve {
        approval_request::approved(core, tx, site, &member).await?;
    }
    let entry =
        audit::Entry { event: audit::Event::Moved(step), actor, member: Some(&member.id), address: None, detail: None };
    audit::record(core, tx, site, entry).await?;
    Ok((member, ended))
}

fn invalid_move() -> Fault {
    Fault::because(Code::AlreadyExists, "the member's status does not allow this")
}

/// Whether a move to where the member is now ends sessions. Who is pending has none, but perhaps a sign-in
/// that waits for a code, and an approval doesn't take it away.
fn ends_sessions(member: &Member) -> bool {
    matches!(member.status, Status::Blocked | Status::Offline | Status::Deleted)
}
