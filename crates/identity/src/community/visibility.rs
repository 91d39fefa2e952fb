//! Which members a caller sees, and who reads what is around members.

use crate::{
    Identity,
    community::{
        check::is_own,
        kind::Readers,
        relation::{self, Interaction, RelationFilter, without_nul},
        setting,
    },
    member::{self, Audience, Member, MemberField, MemberFilter, MemberQuery, Operand, Paging, Status, list},
};
use std::collections::HashSet;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result};
use stoa_store::{ReaderPool, Site, boxed};

impl Identity {
    /// The audience of a caller's lists of members.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for visitors where only members see each other.
    pub async fn audience(&self, site: &Site, caller: &Caller) -> Result<Audience> {
        audience(site, caller).await
    }

    /// A member as the caller may see them: whole for themselves and operators of the site, else what
    /// members show of themselves, to those whom they have not blocked.
    ///
    /// # Errors
    /// [`Code::NotFound`] for a member whom the caller can't see; [`Code::BlockedByMember`].
    pub async fn member_see(&self, site: &Site, caller: &Caller, id: &MemberId) -> Result<(Member, Audience)> {
        see_member(site, caller, id).await
    }
}

/// What [`Identity::audience`] does.
pub(crate) async fn audience(site: &Site, caller: &Caller) -> Result<Audience> {
    if caller.is_editor() {
        return Ok(Audience::Staff);
    }
    if !caller.is_member() && setting::of_site(site).await?["publicMemberVisibility"] != "VISIBLE_TO_ALL" {
        return Err(Fault::new(Code::Forbidden));
    }
    Ok(Audience::Public)
}

/// Lets the caller pass if they read what these readers do.
///
/// # Errors
/// [`Code::Forbidden`].
pub(crate) async fn check_readers(site: &Site, caller: &Caller, readers: Readers) -> Result<()> {
    match readers {
        Readers::Everyone => Ok(()),
        Readers::Members => audience(site, caller).await.map(drop),
        Readers::Staff if caller.is_editor() => Ok(()),
        Readers::Staff => Err(Fault::new(Code::Forbidden)),
    }
}

/// Lets the caller pass if they may see a member. One's own id and those that an operator names are not
/// looked up.
///
/// # Errors
/// As [`Identity::member_see`].
pub(crate) async fn check_seen(site: &Site, caller: &Caller, id: &MemberId) -> Result<()> {
    match is_own(caller, id) || caller.is_editor() {
        true => Ok(()),
        false => see_member(site, caller, id).await.map(drop),
    }
}

/// What [`Identity::member_see`] does.
pub(crate) async fn see_member(site: &Site, caller: &Caller, id: &MemberId) -> Result<(Member, Audience)> {
    let missing = || Fault::new(Code::NotFound);
    let member = member::find(site, id).await?.filter(Member::is_there).ok_or_else(missing)?;
    if is_own(caller, &member.id) || caller.is_editor() {
        return Ok((member, Audience::Staff));
    }
    audience(site, caller).await.map_err(|it| if it.code() == Code::Forbidden { missing() } else { it })?;
    if member.status != Status::Active || !member.is_public {
        return Err(missing());
    }
    if let Caller::Member { id: own, .. } = caller
        && is_blocked_by(site, &member.id, own).await?
    {
        return Err(Fault::new(Code::BlockedByMember));
    }
    Ok((member, Audience::Public))
}

/// Those of these members whom the caller may see, as [`Identity::member_see`] has it; for oneself
/// and operators of the site no member is looked up.
pub(crate) async fn see_members(site: &Site, caller: &Caller, ids: &[String]) -> Result<HashSet<String>> {
    if caller.is_editor() {
        return Ok(ids.iter().cloned().collect());
    }
    let own = match caller {
        Caller::Member { id, .. } => Some(id.as_str()),
        _ => None,
    };
    let is_own = |id: &String| own == Some(id.as_str());
    let mut seen: HashSet<String> = ids.iter().filter(|it| is_own(it)).cloned().collect();
    let audience = match audience(site, caller).await {
        Err(fault) if fault.code() == Code::Forbidden => return Ok(seen),
        audience => audience?,
    };
    let is = |id: &String| MemberFilter::equal(MemberField::Id, Operand::Text(id.clone()));
    let others = without_nul(ids).iter().filter(|it| !is_own(it)).map(is).collect();
    let query = MemberQuery {
        filter: MemberFilter::Any(others),
        limit: ids.len() as u32,
        paging: Paging::After(String::new()),
        ..Default::default()
    };
    let shown = list::find(site, audience, &query).await?.members;
    let shown: Vec<String> = shown.into_iter().map(|it| it.id.as_str().to_owned()).collect();
    let filter = RelationFilter::new(Some(shown.clone()), Some(own.into_iter().map(str::to_owned).collect()));
    let blocks = relation::all_of(site, Interaction::Block.name(), &filter).await?;
    seen.extend(shown.into_iter().filter(|id| !blocks.iter().any(|it| it.holder == *id)));
    Ok(seen)
}

/// Whether a member has blocked another.
async fn is_blocked_by(site: &Site, member: &MemberId, other: &MemberId) -> Result<bool> {
    let (site_id, member, other) = (site.id.clone(), member.clone(), other.clone());
    site.read(ReaderPool::Point, move |tx| {
        boxed!(relation::has(tx, &site_id, Interaction::Block.name(), member.as_str(), other.as_str()).await)
    })
    .await
}
