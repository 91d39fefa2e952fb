//! One move for all members that a filter finds.
//!
//! They are gone through by cursor and moved in pieces, so however many they are, nobody waits for the
//! writer. Whoever asks is answered when all is done. Work that is cut off can be asked for again: who has
//! moved is left out.

use crate::{
    Core, Identity, mail,
    member::{self, Audience, Member, MemberFilter, MemberQuery, Move, Window, list},
    token::revocation,
};
use std::sync::Arc;
use stoa_kernel::{Caller, Fault, MemberId, Result, SessionId};
use stoa_sql::params;
use stoa_store::{Lane, Site, boxed};

/// Members that one look finds, and that one transaction moves.
const PAGE: u32 = 250;
const PIECE: usize = 25;

impl Identity {
    /// Makes a move with every member that a filter finds now; those whom it would not change stay as they
    /// are. Goes on when the caller no longer waits. Answers how many moved.
    ///
    /// # Errors
    /// [`stoa_kernel::Code::Forbidden`] unless the caller is an app or owner.
    pub async fn members_move(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        filter: MemberFilter,
        step: Move,
    ) -> Result<usize> {
        let core = &self.core;
        step.allow_for_all(caller)?;
        let (me, site, caller) = (core.clone(), site.clone(), caller.clone());
        let work = tokio::spawn(async move { move_all(&me, &site, &caller, filter, step).await });
        work.await.unwrap_or_else(|it| Err(Fault::internal(format!("a move of members ended: {it}"))))
    }
}

async fn move_all(core: &Arc<Core>, site: &Site, caller: &Caller, filter: MemberFilter, step: Move) -> Result<usize> {
    let mut query = MemberQuery { filter, limit: PAGE, window: Window::After(String::new()), ..MemberQuery::default() };
    let mut moved = 0;
    loop {
        let page = list::find(site, Audience::Staff, &query).await?;
        let ids: Vec<_> = page.members.into_iter().filter(|it| changes(step, it)).map(|it| it.id).collect();
        for piece in ids.chunks(PIECE) {
            moved += move_piece(core, site, caller, piece.to_vec(), step).await?;
        }
        mail::soon(core, &site.id).await;
        match page.next {
            Some(next) => query.window = Window::After(next),
            None => return Ok(moved),
        }
    }
}

/// Moves some members in one transaction; sessions that end are refused before it, as in
/// [`Identity::member_move`].
async fn move_piece(core: &Arc<Core>, site: &Site, caller: &Caller, ids: Vec<MemberId>, step: Move) -> Result<usize> {
    let before = if step.closes() { sessions_of(site, &ids).await? } else { Vec::new() };
    revocation::revoke(core, &before).await?;
    let (me, site_id, caller) = (core.clone(), site.id.clone(), caller.clone());
    let (moved, mut ended) = site
        .write(move |tx| {
            let (me, site, caller, ids) = (me.clone(), site_id.clone(), caller.clone(), ids.clone());
            boxed!({
                let (mut moved, mut ended) = (0, Vec::new());
                for id in &ids {
                    let Some(member) = member::get(tx, &site, id).await? else { continue };
                    if changes(step, &member) {
                        let (_, over) = member::make_move_in(&me, tx, &site, &caller, member, step).await?;
                        ended.extend(over);
                        moved += 1;
                    }
                }
                Ok((moved, ended))
            })
        })
        .await?;
    ended.retain(|it| !before.contains(it));
    revocation::revoke(core, &ended).await?;
    Ok(moved)
}

async fn sessions_of(site: &Site, members: &[MemberId]) -> Result<Vec<SessionId>> {
    let (id, members) = (site.id.clone(), members.iter().map(|it| it.as_str().to_owned()).collect::<Vec<_>>());
    site.read(Lane::Point, move |tx| {
        boxed!({
            let any = tx.dialect().any_of("member", "$2");
            let sql = format!("select id from stoa.session where site = $1 and {any} and ended is null");
            Ok(tx.rows(&sql, &params![&id, members], |row| Ok(SessionId::from(row.text(0)?))).await?)
        })
    })
    .await
}

fn changes(step: Move, member: &Member) -> bool {
    let mut after = member.clone();
    step.apply(&mut after) && after != *member
}
