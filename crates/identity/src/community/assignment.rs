//! What operators of the site give to members: roles and badges.

use crate::{
    Core, Identity,
    community::{
        check::{at_most, check_count, check_owner},
        definition, entity,
        kind::{self, Kind, Readers},
        relation::{self, NewRelation, Relation, RelationFilter, RelationPage, VisibleTo},
        tag, visibility,
    },
    log,
    member::{Status, row},
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, EntryKind, EventActor, Fault, MemberId, Result};
use stoa_sql::Writer;
use stoa_store::{ReaderPool, Row, Site, boxed};

/// What members can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignable {
    Role,
    Badge,
}

impl Assignable {
    /// What it is an entity of; relations to it bear the same name.
    pub fn kind(self) -> &'static Kind {
        match self {
            Self::Role => &kind::ROLE,
            Self::Badge => &kind::BADGE,
        }
    }

    /// The kinds of rows by which the log tells of one that is given or taken. Of roles it doesn't tell.
    fn rows(self) -> (Option<EntryKind>, Option<EntryKind>) {
        match self {
            Self::Role => (None, None),
            Self::Badge => (Some(EntryKind::BadgeAssigned), Some(EntryKind::BadgeUnassigned)),
        }
    }

    /// Who reads which members have it.
    pub(crate) fn readers(self) -> Readers {
        match self {
            Self::Role => Readers::Staff,
            Self::Badge => Readers::Members,
        }
    }
}

impl Identity {
    /// Gives members a role or badge; who has it already keeps it.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`] for the role, badge or one of the members: nothing is given.
    pub async fn assign(
        &self,
        site: &Site,
        caller: &Caller,
        what: Assignable,
        target: &str,
        members: &[String],
    ) -> Result<()> {
        let new = NewAssignments { what, target: target.to_owned(), members: members.to_vec(), doc: Map::new() };
        assign(&self.core, site, caller, new).await.map(drop)
    }

    /// Gives a member a badge that bears tags.
    ///
    /// # Errors
    /// As [`Identity::assign`]; [`Code::Validation`] for tags that are no object of lists of texts, or too large;
    /// [`Code::AlreadyExists`] when the member has it.
    pub async fn badge_assign(
        &self,
        site: &Site,
        caller: &Caller,
        badge: &str,
        member: &str,
        tags: &Value,
    ) -> Result<Relation> {
        let core = &self.core;
        check_owner(caller)?;
        let wrong = tag::violations(tags, "badgeAssignment.tags");
        if !wrong.is_empty() {
            return Err(Fault::invalid(wrong));
        }
        let doc = (!tags.is_null()).then(|| ("tags".to_owned(), tags.clone())).into_iter().collect();
        let (target, members) = (badge.to_owned(), vec![member.to_owned()]);
        let made = assign(core, site, caller, NewAssignments { what: Assignable::Badge, target, members, doc }).await?;
        made.into_iter().next().ok_or_else(|| Fault::new(Code::AlreadyExists))
    }

    /// Takes a role or badge from members.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn unassign(
        &self,
        site: &Site,
        caller: &Caller,
        what: Assignable,
        target: &str,
        members: &[String],
    ) -> Result<()> {
        check_owner(caller)?;
        check_count(members, "memberIds")?;
        let (actor, now) = (EventActor::of(caller), self.core.now());
        site.write_with(
            (site.id.clone(), target.to_owned(), members.to_vec(), actor),
            move |tx, (site, target, members, actor)| {
                boxed!({
                    let mut gone = Vec::new();
                    for id in members {
                        gone.extend(relation::drop(tx, site, what.kind().name, id, target).await?);
                    }
                    log::relations(tx, site, (what.rows().1, actor, now), gone).await
                })
            },
        )
        .await
    }

    /// Takes badges from members by the ids of the relations; answers for each whether it was there.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn badge_unassign(&self, site: &Site, caller: &Caller, ids: &[String]) -> Result<Vec<bool>> {
        check_owner(caller)?;
        check_count(ids, "badgeAssignmentIds")?;
        let (actor, now) = (EventActor::of(caller), self.core.now());
        site.write_with((site.id.clone(), ids.to_vec(), actor), move |tx, (site, ids, actor)| {
            boxed!({
                let (mut was_there, mut gone) = (Vec::with_capacity(ids.len()), Vec::new());
                for id in ids {
                    let dropped = relation::drop_by_id(tx, site, kind::BADGE.name, id).await?;
                    was_there.push(dropped.is_some());
                    gone.extend(dropped);
                }
                log::relations(tx, site, (Assignable::Badge.rows().1, actor, now), gone).await?;
                Ok(was_there)
            })
        })
        .await
    }

    /// A page of who has what, of the roles or badges that a filter finds.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::CursorInvalid`].
    pub async fn assignment_list(
        &self,
        site: &Site,
        caller: &Caller,
        what: Assignable,
        filter: &RelationFilter,
        (limit, cursor): (u32, &str),
    ) -> Result<RelationPage> {
        visibility::check_readers(site, caller, what.readers()).await?;
        let filter = filter.clone().shown(VisibleTo::to(caller, "holder"));
        let mut found = relation::list(site, what.kind().name, &filter, limit, cursor).await?;
        if !caller.is_editor() {
            found.items.iter_mut().filter_map(|it| it.doc.get_mut("tags")?.as_object_mut()).for_each(|it| {
                it.remove("privateTags");
            });
        }
        Ok(found)
    }

    /// A page of the members who have a role or badge.
    ///
    /// # Errors
    /// As [`Identity::assignment_list`]; [`Code::NotFound`].
    pub async fn assignee_list(
        &self,
        site: &Site,
        caller: &Caller,
        what: Assignable,
        target: &str,
        (limit, cursor): (u32, &str),
    ) -> Result<RelationPage> {
        visibility::check_readers(site, caller, what.readers()).await?;
        definition::find(site, caller, what.kind(), target).await?;
        let filter = RelationFilter::to(vec![target.to_owned()]).shown(VisibleTo::to(caller, "holder"));
        relation::list(site, what.kind().name, &filter, limit, cursor).await
    }

    /// The roles or badges of each of these members, by their ids. `field` is where the request names the members.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`].
    pub async fn assignments_of(
        &self,
        site: &Site,
        caller: &Caller,
        what: Assignable,
        members: Vec<String>,
        field: &str,
    ) -> Result<Vec<(String, Vec<String>)>> {
        assignments_of(site, caller, what, members, field).await
    }

    /// How many members have each of the roles or badges, in their order.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn assignment_counts(
        &self,
        site: &Site,
        caller: &Caller,
        what: Assignable,
    ) -> Result<Vec<(String, i64)>> {
        visibility::check_readers(site, caller, what.readers()).await?;
        let (site_id, shown) = (site.id.clone(), VisibleTo::to(caller, "holder"));
        site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let mut sql = Writer::new(tx.dialect());
                sql.push("select n.id, (select count(*) from stoa.member_tie t");
                sql.push(" where t.site = n.site and t.kind = n.kind and t.target = n.id");
                if let Some(shown) = shown {
                    shown.write(&mut sql, "t");
                }
                sql.push(") from stoa.member_noun n where n.site = ").bind(&site_id);
                sql.push(" and n.kind = ").bind(what.kind().name).push(" order by n.position, n.id");
                let (text, values) = sql.finish();
                let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                Ok(tx.rows(&text, &values, read).await?)
            })
        })
        .await
    }
}

/// What members are to be given.
#[derive(Debug, Clone)]
struct NewAssignments {
    what: Assignable,
    target: String,
    members: Vec<String>,
    /// What each of the relations holds.
    doc: Map<String, Value>,
}

async fn assign(core: &Arc<Core>, site: &Site, caller: &Caller, new: NewAssignments) -> Result<Vec<Relation>> {
    check_owner(caller)?;
    check_count(&new.members, "memberIds")?;
    site.write_with(
        (core.clone(), site.id.clone(), EventActor::of(caller), new),
        |tx, (core, site, actor, NewAssignments { what, target, members, doc })| {
            boxed!({
                let kind = what.kind();
                entity::get(tx, site, kind, target).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
                let mut made = Vec::new();
                for id in members {
                    let found = row::get(tx, site, &MemberId::from(id.as_str())).await?;
                    let found = found.filter(|it| it.status != Status::Deleted);
                    found.ok_or_else(|| Fault::new(Code::NotFound).with("memberId", id.as_str()))?;
                    let new = NewRelation { kind: kind.name, holder: id, target, doc: doc.clone() };
                    made.extend(relation::put(core, tx, site, new).await?);
                }
                let told = made.iter().map(Relation::ids).collect();
                log::relations(tx, site, (what.rows().0, actor, core.now()), told).await?;
                Ok(made)
            })
        },
    )
    .await
}

/// What [`Identity::assignments_of`] does.
pub(crate) async fn assignments_of(
    site: &Site,
    caller: &Caller,
    what: Assignable,
    members: Vec<String>,
    field: &str,
) -> Result<Vec<(String, Vec<String>)>> {
    visibility::check_readers(site, caller, what.readers()).await?;
    at_most(&members, field, "members")?;
    let filter = RelationFilter::of(members.clone()).shown(VisibleTo::to(caller, "holder"));
    let relations = relation::all_of(site, what.kind().name, &filter).await?;
    let of = |id: &str| relations.iter().filter(|it| it.holder == id).map(|it| it.target.clone()).collect();
    Ok(members.into_iter().map(|id| (id.clone(), of(&id))).collect())
}
