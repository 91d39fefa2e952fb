//! What those who run the site give to members: roles and badges.

use crate::{
    Core, Identity,
    community::{
        Kind, TieFilter, at_most, decides, few,
        kind::{self, Readers},
        noun, privacy,
        tie::{self, Shown, Tie, Ties},
    },
    member::{self, Status},
};
use serde_json::{Map, Value};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, MemberId, Result};
use stoa_sql::{Writer, params};
use stoa_store::{Lane, Row, Site, boxed};

/// Most bytes of the tags of a badge that a member has, as JSON text.
const TAGS_BYTES: usize = 8_192;

/// What members can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    Role,
    Badge,
}

impl Granted {
    /// What it is a noun of; ties to it bear the same name.
    pub fn kind(self) -> &'static Kind {
        match self {
            Self::Role => &kind::ROLE,
            Self::Badge => &kind::BADGE,
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
    pub async fn grant(
        &self,
        site: &Site,
        caller: &Caller,
        what: Granted,
        target: &str,
        members: &[String],
    ) -> Result<()> {
        grant_with(&self.core, site, caller, what, (target, members), Map::new()).await.map(drop)
    }

    /// Gives a member a badge that bears tags.
    ///
    /// # Errors
    /// As [`Identity::grant`]; [`Code::AlreadyExists`] when the member has it.
    pub async fn badge_assign(
        &self,
        site: &Site,
        caller: &Caller,
        badge: &str,
        member: &str,
        tags: &Value,
    ) -> Result<Tie> {
        let core = &self.core;
        let is_fit = tags.is_object() && tags.to_string().len() <= TAGS_BYTES;
        let doc = is_fit.then(|| ("tags".to_owned(), tags.clone())).into_iter().collect();
        let made = grant_with(core, site, caller, Granted::Badge, (badge, &[member.to_owned()]), doc).await?;
        made.into_iter().next().ok_or_else(|| Fault::new(Code::AlreadyExists))
    }

    /// Takes a role or badge from members.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn withdraw(
        &self,
        site: &Site,
        caller: &Caller,
        what: Granted,
        target: &str,
        members: &[String],
    ) -> Result<()> {
        decides(caller)?;
        few(members, "memberIds")?;
        let (site_id, target, members) = (site.id.clone(), target.to_owned(), members.to_vec());
        site.write(move |tx| {
            let (site, target, members) = (site_id.clone(), target.clone(), members.clone());
            boxed!({
                for id in members {
                    tie::drop(tx, &site, what.kind().name, &id, &target).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// Takes badges from members by the ids of the ties; answers for each whether it was there.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn badge_unassign(&self, site: &Site, caller: &Caller, ids: &[String]) -> Result<Vec<bool>> {
        decides(caller)?;
        few(ids, "badgeAssignmentIds")?;
        let (site_id, ids) = (site.id.clone(), ids.to_vec());
        site.write(move |tx| {
            let (site, ids) = (site_id.clone(), ids.clone());
            boxed!({
                let mut gone = Vec::with_capacity(ids.len());
                for id in ids {
                    let sql = "delete from stoa.member_tie where site = $1 and kind = $2 and id = $3";
                    gone.push(tx.execute(sql, &params![&site, kind::BADGE.name, id]).await? > 0);
                }
                Ok(gone)
            })
        })
        .await
    }

    /// A page of who has what, of the roles or badges that a filter finds.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::CursorInvalid`].
    pub async fn granted_list(
        &self,
        site: &Site,
        caller: &Caller,
        what: Granted,
        filter: &TieFilter,
        (limit, cursor): (u32, &str),
    ) -> Result<Ties> {
        privacy::admit(site, caller, what.readers()).await?;
        let filter = filter.clone().shown(Shown::to(caller, "holder"));
        let mut found = tie::list(site, what.kind().name, &filter, limit, cursor).await?;
        if !caller.is_editor() {
            found.ties.iter_mut().filter_map(|it| it.doc.get_mut("tags")?.as_object_mut()).for_each(|it| {
                it.remove("privateTags");
            });
        }
        Ok(found)
    }

    /// A page of the members who have a role or badge.
    ///
    /// # Errors
    /// As [`Identity::granted_list`]; [`Code::NotFound`].
    pub async fn granted_to(
        &self,
        site: &Site,
        caller: &Caller,
        what: Granted,
        target: &str,
        (limit, cursor): (u32, &str),
    ) -> Result<Ties> {
        privacy::admit(site, caller, what.readers()).await?;
        noun::find(site, caller, what.kind(), target).await?;
        let filter = TieFilter::to(vec![target.to_owned()]).shown(Shown::to(caller, "holder"));
        tie::list(site, what.kind().name, &filter, limit, cursor).await
    }

    /// The roles or badges of each of these members, by their ids. `field` is where the request names the members.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`].
    pub async fn granted_of(
        &self,
        site: &Site,
        caller: &Caller,
        what: Granted,
        members: Vec<String>,
        field: &str,
    ) -> Result<Vec<(String, Vec<String>)>> {
        granted_of(site, caller, what, members, field).await
    }

    /// How many members have each of the roles or badges, in their order.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn granted_counts(&self, site: &Site, caller: &Caller, what: Granted) -> Result<Vec<(String, i64)>> {
        privacy::admit(site, caller, what.readers()).await?;
        let (site_id, shown) = (site.id.clone(), Shown::to(caller, "holder"));
        site.read(Lane::Scan, move |tx| {
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

async fn grant_with(
    core: &Arc<Core>,
    site: &Site,
    caller: &Caller,
    what: Granted,
    (target, members): (&str, &[String]),
    doc: Map<String, Value>,
) -> Result<Vec<Tie>> {
    decides(caller)?;
    few(members, "memberIds")?;
    let (me, site_id, target, members) = (core.clone(), site.id.clone(), target.to_owned(), members.to_vec());
    site.write(move |tx| {
        let (me, site, target) = (me.clone(), site_id.clone(), target.clone());
        let (members, doc, kind) = (members.clone(), doc.clone(), what.kind());
        boxed!({
            noun::get(tx, &site, kind, &target).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
            let mut made = Vec::new();
            for id in members {
                let id = MemberId::from(id);
                let found = member::get(tx, &site, &id).await?.filter(|it| it.status != Status::Deleted);
                found.ok_or_else(|| Fault::new(Code::NotFound).with("memberId", id.as_str()))?;
                made.extend(tie::put(&me, tx, &site, kind.name, (id.as_str(), &target), doc.clone()).await?);
            }
            Ok(made)
        })
    })
    .await
}

/// What [`Identity::granted_of`] does.
pub(crate) async fn granted_of(
    site: &Site,
    caller: &Caller,
    what: Granted,
    members: Vec<String>,
    field: &str,
) -> Result<Vec<(String, Vec<String>)>> {
    privacy::admit(site, caller, what.readers()).await?;
    at_most(&members, field, "members")?;
    let filter = TieFilter::of(members.clone()).shown(Shown::to(caller, "holder"));
    let ties = tie::all_of(site, what.kind().name, &filter).await?;
    let of = |id: &str| ties.iter().filter(|it| it.holder == id).map(|it| it.target.clone()).collect();
    Ok(members.into_iter().map(|id| (id.clone(), of(&id))).collect())
}
