//! What members do to each other: they follow, block and report.

use crate::{
    Core, Identity,
    community::{
        TieFilter, at_most, is_own, own_id, privacy,
        tie::{self, PAGE, Shown, Tie, Ties},
    },
    member::{self, Member, Status},
};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result};
use stoa_store::{Lane, Site, boxed};

/// What one member does to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bond {
    Follow,
    Block,
    Report,
}

impl Bond {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::Block => "block",
            Self::Report => "report",
        }
    }
}

/// From which side bonds are read.
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

    fn filter(self, member: &MemberId) -> TieFilter {
        let member = vec![member.as_str().to_owned()];
        match self {
            Self::Of => TieFilter::of(member),
            Self::To => TieFilter::to(member),
        }
    }
}

impl Identity {
    /// Ties the calling member to another: follows, blocks or reports them. Following again changes nothing.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::SelfBlock`]; [`Code::NotFound`];
    /// [`Code::BlockedByMember`] for a follower when one of the two has blocked the other;
    /// [`Code::AlreadyExists`] for a second block or report.
    pub async fn bond_make(
        &self,
        site: &Site,
        caller: &Caller,
        what: Bond,
        other: &str,
        doc: Map<String, Value>,
    ) -> Result<Option<Tie>> {
        make(&self.core, site, caller, what, other, doc).await
    }

    /// Loosens what the calling member tied.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::NotFound`] when there is no such tie.
    pub async fn bond_drop(&self, site: &Site, caller: &Caller, what: Bond, other: &str) -> Result<()> {
        let (own, site_id, other) = (own_id(caller)?.clone(), site.id.clone(), other.to_owned());
        let gone = site
            .write(move |tx| {
                let (own, site, other) = (own.clone(), site_id.clone(), other.clone());
                boxed!(tie::drop(tx, &site, what.name(), own.as_str(), &other).await)
            })
            .await?;
        if gone { Ok(()) } else { Err(Fault::new(Code::NotFound)) }
    }

    /// A page of a member's bonds: of one's own, of those of members who show themselves, or of anybody's for those
    /// who run the site. `None` names the calling member.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::CursorInvalid`]; as [`Identity::member_see`].
    pub async fn bond_list(
        &self,
        site: &Site,
        caller: &Caller,
        (what, side): (Bond, Side),
        whose: Option<&str>,
        (limit, cursor): (u32, &str),
    ) -> Result<Ties> {
        let id = bonds_of(site, caller, (what, side), whose).await?;
        // What one tied, and who tied one, one may know whoever it is.
        let shown = Shown::to(caller, side.other()).filter(|_| !is_own(caller, &id));
        tie::list(site, what.name(), &side.filter(&id).shown(shown), limit, cursor).await
    }

    /// Which of these a member follows, and which of them follow the member.
    ///
    /// # Errors
    /// As [`Identity::bond_list`]; [`Code::Validation`].
    pub async fn connections(
        &self,
        site: &Site,
        caller: &Caller,
        whose: Option<&str>,
        others: &[String],
    ) -> Result<(HashSet<String>, HashSet<String>)> {
        at_most(others, "connectedMemberIds", "ids")?;
        let id = bonds_of(site, caller, (Bond::Follow, Side::To), whose).await?;
        tie::is_tied(site, Bond::Follow.name(), id.as_str(), others).await
    }

    /// Whom a member blocks and then, for those who run the site, who blocks them: a page of both.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::CursorInvalid`].
    pub async fn block_list(
        &self,
        site: &Site,
        caller: &Caller,
        whose: &str,
        (limit, cursor): (u32, &str),
    ) -> Result<Ties> {
        let id = bonds_of(site, caller, (Bond::Block, Side::Of), Some(whose)).await?;
        let (after, limit) = (tie::read_cursor(cursor)?, limit.clamp(1, PAGE) as usize);
        let (is_staff, site_id, kind) = (caller.is_editor(), site.id.clone(), Bond::Block.name());
        let read = site.read(Lane::Scan, move |tx| {
            let (blocking, blocked, after) = (Side::Of.filter(&id), Side::To.filter(&id), after.clone());
            // Nobody blocks themselves, so a place tells in which of the two lists it is.
            let is_behind = after.as_ref().is_some_and(|it| it.0 != id.as_str());
            boxed!({
                let after = after.as_ref();
                let mut ties = match is_behind {
                    true => Vec::new(),
                    false => tie::page(tx, &site_id, kind, &blocking, after, limit + 1).await?,
                };
                if is_staff && ties.len() <= limit {
                    let rest = limit + 1 - ties.len();
                    let after = after.filter(|_| is_behind);
                    ties.extend(tie::page(tx, &site_id, kind, &blocked, after, rest).await?);
                }
                Ok(ties)
            })
        });
        Ok(Ties::cut(read.await?, limit))
    }
}

/// What [`Identity::bond_make`] does.
pub(crate) async fn make(
    core: &Arc<Core>,
    site: &Site,
    caller: &Caller,
    what: Bond,
    other: &str,
    doc: Map<String, Value>,
) -> Result<Option<Tie>> {
    let own = own_id(caller)?.clone();
    if own.as_str() == other {
        return Err(Fault::new(Code::SelfBlock));
    }
    let (me, site_id, other) = (core.clone(), site.id.clone(), MemberId::from(other));
    site.write(move |tx| {
        let (me, site, own, other) = (me.clone(), site_id.clone(), own.clone(), other.clone());
        let doc = doc.clone();
        boxed!({
            // Nobody follows whom they can't see. Whom to block or report, what they wrote elsewhere may say.
            let is_there = |it: &Member| it.status == Status::Active && (it.is_public || what != Bond::Follow);
            let found = member::get(tx, &site, &other).await?.filter(is_there);
            found.ok_or_else(|| Fault::new(Code::NotFound))?;
            let (own, other) = (own.as_str(), other.as_str());
            let (follow, block) = (Bond::Follow.name(), Bond::Block.name());
            match what {
                Bond::Follow => {
                    let blocks = tie::has(tx, &site, block, own, other).await?;
                    if blocks || tie::has(tx, &site, block, other, own).await? {
                        return Err(Fault::new(Code::BlockedByMember));
                    }
                }
                Bond::Block => {
                    tie::drop(tx, &site, follow, own, other).await?;
                    tie::drop(tx, &site, follow, other, own).await?;
                }
                Bond::Report => {}
            }
            match (tie::put(&me, tx, &site, what.name(), (own, other), doc).await?, what) {
                (None, Bond::Block | Bond::Report) => Err(Fault::new(Code::AlreadyExists)),
                (made, _) => Ok(made),
            }
        })
    })
    .await
}

/// The member whose bonds are asked for, if the caller may see them.
async fn bonds_of(site: &Site, caller: &Caller, (what, side): (Bond, Side), whose: Option<&str>) -> Result<MemberId> {
    let id = match whose {
        Some(id) => MemberId::from(id),
        None => own_id(caller)?.clone(),
    };
    match (what, side) {
        _ if caller.is_editor() => {}
        (Bond::Follow, _) => privacy::check_seen(site, caller, &id).await?,
        // Who blocks or reports them, only those who run the site are told.
        (Bond::Block | Bond::Report, Side::Of) if is_own(caller, &id) => {}
        (Bond::Block | Bond::Report, _) => return Err(Fault::new(Code::Forbidden)),
    }
    Ok(id)
}

/// Whether a member has blocked another.
pub(crate) async fn is_blocked_by(site: &Site, member: &MemberId, other: &MemberId) -> Result<bool> {
    let (site_id, member, other) = (site.id.clone(), member.clone(), other.clone());
    site.read(Lane::Point, move |tx| {
        boxed!(tie::has(tx, &site_id, Bond::Block.name(), member.as_str(), other.as_str()).await)
    })
    .await
}
