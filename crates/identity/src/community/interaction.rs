//! What members do to each other: they follow, block and report.

use crate::{
    Core, Identity,
    community::{
        check::{at_most, is_own, own_id},
        relation::{
            self, Interaction, NewRelation, PAGE, Related, Relation, RelationFilter, RelationPage, RelationQuery,
            VisibleTo,
        },
        visibility,
    },
    log,
    member::{Member, Status, row},
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, EntryKind, EventActor, Fault, MemberId, Result};
use stoa_store::{ReaderPool, Site, boxed};

/// From which side interactions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Those that a member made.
    Of,
    /// Those that others made to a member.
    To,
}

impl Side {
    /// Where the others stand.
    fn other(self) -> &'static str {
        match self {
            Self::Of => "target",
            Self::To => "holder",
        }
    }

    fn filter(self, member: &MemberId) -> RelationFilter {
        let member = vec![member.as_str().to_owned()];
        match self {
            Self::Of => RelationFilter::of(member),
            Self::To => RelationFilter::to(member),
        }
    }
}

/// What a member is to do to another.
#[derive(Debug, Clone)]
pub(crate) struct NewInteraction {
    pub what: Interaction,
    pub other: MemberId,
    pub doc: Map<String, Value>,
}

impl Identity {
    /// The calling member follows, blocks or reports another. Following again changes nothing.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::SelfBlock`]; [`Code::NotFound`];
    /// [`Code::BlockedByMember`] for a follower when one of the two has blocked the other;
    /// [`Code::AlreadyExists`] for a second block or report.
    pub async fn interaction_create(
        &self,
        site: &Site,
        caller: &Caller,
        what: Interaction,
        other: &str,
    ) -> Result<Option<Relation>> {
        make(&self.core, site, caller, NewInteraction { what, other: MemberId::from(other), doc: Map::new() }).await
    }

    /// Takes back what the calling member did to another.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::NotFound`] when there is no such interaction.
    pub async fn interaction_delete(&self, site: &Site, caller: &Caller, what: Interaction, other: &str) -> Result<()> {
        let now = self.core.now();
        site.write_with((site.id.clone(), own_id(caller)?.clone(), other.to_owned()), move |tx, (site, own, other)| {
            boxed!({
                let gone = relation::drop(tx, site, what.name(), own.as_str(), other).await?;
                let gone = gone.ok_or_else(|| Fault::new(Code::NotFound))?;
                log::relations(tx, site, (what.rows().1, &EventActor::member(own), now), vec![gone]).await
            })
        })
        .await
    }

    /// A page of a member's interactions: of one's own, of those of members who show themselves, or of any member's for
    /// operators of the site. `None` names the calling member.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::CursorInvalid`]; as [`Identity::member_see`].
    pub async fn interaction_list(
        &self,
        site: &Site,
        caller: &Caller,
        (what, side): (Interaction, Side),
        whose: Option<&str>,
        (limit, cursor): (u32, &str),
    ) -> Result<RelationPage> {
        let id = check_readable(site, caller, (what, side), whose).await?;
        // Members may see both ends of their own interactions, also when they may not see the other member.
        let shown = VisibleTo::to(caller, side.other()).filter(|_| !is_own(caller, &id));
        relation::list(site, what.name(), &side.filter(&id).shown(shown), limit, cursor).await
    }

    /// Which of these a member follows, and which of them follow the member.
    ///
    /// # Errors
    /// As [`Identity::interaction_list`]; [`Code::Validation`].
    pub async fn connections(
        &self,
        site: &Site,
        caller: &Caller,
        whose: Option<&str>,
        others: &[String],
    ) -> Result<Related> {
        at_most(others, "connectedMemberIds", "ids")?;
        let id = check_readable(site, caller, (Interaction::Follow, Side::To), whose).await?;
        relation::related(site, Interaction::Follow.name(), id.as_str(), others).await
    }

    /// Whom a member blocks and then, for operators of the site, who blocks them: a page of both.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::CursorInvalid`].
    pub async fn block_list(
        &self,
        site: &Site,
        caller: &Caller,
        whose: &str,
        (limit, cursor): (u32, &str),
    ) -> Result<RelationPage> {
        let id = check_readable(site, caller, (Interaction::Block, Side::Of), Some(whose)).await?;
        let (after, limit) = (relation::read_cursor(cursor)?, limit.clamp(1, PAGE) as usize);
        let (is_staff, site_id, kind) = (caller.is_editor(), site.id.clone(), Interaction::Block.name());
        let read = site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let (blocking, blocked) = (Side::Of.filter(&id), Side::To.filter(&id));
                // No member blocks themselves, so a keyset tells in which of the two lists it is.
                let is_behind = after.as_ref().is_some_and(|it| it.holder != id.as_str());
                let after = after.as_ref();
                let mut found = match is_behind {
                    true => Vec::new(),
                    false => {
                        let query = RelationQuery { kind, filter: &blocking, after, limit: limit + 1 };
                        relation::page(tx, &site_id, query).await?
                    }
                };
                if is_staff && found.len() <= limit {
                    let (after, rest) = (after.filter(|_| is_behind), limit + 1 - found.len());
                    let query = RelationQuery { kind, filter: &blocked, after, limit: rest };
                    found.extend(relation::page(tx, &site_id, query).await?);
                }
                Ok(found)
            })
        });
        Ok(RelationPage::cut(read.await?, limit))
    }
}

/// What [`Identity::interaction_create`] does.
pub(crate) async fn make(
    core: &Arc<Core>,
    site: &Site,
    caller: &Caller,
    new: NewInteraction,
) -> Result<Option<Relation>> {
    let own = own_id(caller)?.clone();
    if own == new.other {
        return Err(Fault::new(Code::SelfBlock));
    }
    site.write_with(
        (core.clone(), site.id.clone(), own, new),
        |tx, (core, site, own, NewInteraction { what, other, doc })| {
            boxed!({
                // Only visible members can be followed. Others may be known from what they wrote, so they can be blocked
                // and reported.
                let is_there =
                    |it: &Member| it.status == Status::Active && (it.is_public || *what != Interaction::Follow);
                let found = row::get(tx, site, other).await?.filter(is_there);
                found.ok_or_else(|| Fault::new(Code::NotFound))?;
                let (actor, own, other) = (EventActor::member(own), own.as_str(), other.as_str());
                let (follow, block) = (Interaction::Follow.name(), Interaction::Block.name());
                match what {
                    Interaction::Follow => {
                        let blocks = relation::has(tx, site, block, own, other).await?;
                        if blocks || relation::has(tx, site, block, other, own).await? {
                            return Err(Fault::new(Code::BlockedByMember));
                        }
                    }
                    Interaction::Block => {
                        let mut gone = Vec::new();
                        gone.extend(relation::drop(tx, site, follow, own, other).await?);
                        gone.extend(relation::drop(tx, site, follow, other, own).await?);
                        log::relations(tx, site, (Interaction::Follow.rows().1, &actor, core.now()), gone).await?;
                    }
                    Interaction::Report => {}
                }
                let is_first = *what == Interaction::Report && !relation::has_any(tx, site, what.name(), other).await?;
                let new = NewRelation { kind: what.name(), holder: own, target: other, doc: doc.clone() };
                let made = relation::put(core, tx, site, new).await?;
                if made.is_none() && *what != Interaction::Follow {
                    return Err(Fault::new(Code::AlreadyExists));
                }
                let told = made.iter().map(Relation::ids).collect();
                log::relations(tx, site, (what.rows().0, &actor, core.now()), told).await?;
                if is_first {
                    let entry = log::PeopleEntry { kind: EntryKind::FirstReported, actor, now: core.now() };
                    entry.put_ids(tx, site, vec![other.to_owned()]).await?;
                }
                Ok(made)
            })
        },
    )
    .await
}

/// The member whose interactions are asked for, if the caller may see them.
async fn check_readable(
    site: &Site,
    caller: &Caller,
    (what, side): (Interaction, Side),
    whose: Option<&str>,
) -> Result<MemberId> {
    let id = match whose {
        Some(id) => MemberId::from(id),
        None => own_id(caller)?.clone(),
    };
    match (what, side) {
        _ if caller.is_editor() => {}
        (Interaction::Follow, _) => visibility::check_seen(site, caller, &id).await?,
        // Only operators of the site may see who blocks or reports a member.
        (Interaction::Block | Interaction::Report, Side::Of) if is_own(caller, &id) => {}
        (Interaction::Block | Interaction::Report, _) => return Err(Fault::new(Code::Forbidden)),
    }
    Ok(id)
}
