//! One move for all members that a filter finds.
//!
//! They are gone through by cursor and moved in pieces, so however many they are, no other write waits long.
//! The caller is answered when all is done. Work that is cut off can be asked for again: who has moved is left out.

use crate::{
    Core, Identity, audit, mail,
    manage::moves::{self, MadeMove},
    member::{Audience, Member, MemberFilter, MemberQuery, Move, Paging, access::MemberWrite, list, row},
    token::revocation,
};
use std::sync::Arc;
use stoa_kernel::{Caller, Fault, MemberId, Result, SessionId};
use stoa_sql::params;
use stoa_store::{ReaderPool, Site, boxed};

/// Members that one read finds, and that one transaction moves.
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
        let work = Arc::new(Bulk { write: MemberWrite::moving_all(caller, step)?, caller: caller.clone(), step });
        let (core, site) = (core.clone(), site.clone());
        let work = tokio::spawn(async move { move_all(&core, &site, &work, filter).await });
        work.await.unwrap_or_else(|it| Err(Fault::internal(format!("a move of members ended: {it}"))))
    }
}

/// What is made with each of the members.
struct Bulk {
    write: MemberWrite,
    caller: Caller,
    step: Move,
}

async fn move_all(core: &Arc<Core>, site: &Site, bulk: &Arc<Bulk>, filter: MemberFilter) -> Result<usize> {
    let mut query = MemberQuery { filter, limit: PAGE, paging: Paging::After(String::new()), ..MemberQuery::default() };
    let mut moved = 0;
    loop {
        let page = list::find(site, Audience::Staff, &query).await?;
        let ids: Vec<_> = page.members.into_iter().filter(|it| changes(bulk.step, it)).map(|it| it.id).collect();
        for piece in ids.chunks(PIECE) {
            moved += move_piece(core, site, bulk, piece.to_vec()).await?;
        }
        mail::deliver_soon(core, &site.id).await;
        match page.next {
            Some(next) => query.paging = Paging::After(next),
            None => return Ok(moved),
        }
    }
}

/// Moves some members in one transaction; sessions that end are refused before it, as in
/// [`Identity::member_move`].
async fn move_piece(core: &Arc<Core>, site: &Site, bulk: &Arc<Bulk>, ids: Vec<MemberId>) -> Result<usize> {
    let before = if bulk.step.closes() { sessions_of(site, &ids).await? } else { Vec::new() };
    revocation::revoke(core, &before).await?;
    let moved = site.write_with((core.clone(), site.id.clone(), bulk.clone(), ids), |tx, (core, site, bulk, ids)| {
        boxed!({
            let Bulk { write, caller, step } = &**bulk;
            let (mut count, mut ended) = (0, Vec::new());
            for id in ids {
                let Some(member) = row::get(tx, site, id).await? else { continue };
                if changes(*step, &member) {
                    let made = MadeMove { actor: audit::Actor::Caller(caller), member, step: *step };
                    ended.extend(moves::make_move_in(core, tx, write, site, made).await?.1);
                    count += 1;
                }
            }
            Ok((count, ended))
        })
    });
    let (count, mut ended) = moved.await?;
    ended.retain(|it| !before.contains(it));
    revocation::revoke(core, &ended).await?;
    if bulk.step.closes() || !ended.is_empty() {
        revocation::announce_all(core).await?;
    }
    Ok(count)
}

async fn sessions_of(site: &Site, members: &[MemberId]) -> Result<Vec<SessionId>> {
    let (id, members) = (site.id.clone(), members.iter().map(|it| it.as_str().to_owned()).collect::<Vec<_>>());
    site.read(ReaderPool::Point, move |tx| {
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
