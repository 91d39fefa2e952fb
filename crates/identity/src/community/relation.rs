//! Who may tie what: roles, badges, followers, blocks, reports; and the nouns that only some may change.

use super::{
    Kind, Noun, kind, noun,
    noun::Place,
    tie::{self, Tie, TieFilter, TieKind, Ties},
};
use crate::{
    Identity,
    member::{self, Status},
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use stoa_kernel::{Caller, Code, Fault, MemberId, Result, Violation};
use stoa_sql::params;
use stoa_store::{Lane, Site, boxed};

/// Members that one call may name.
const AT_ONCE: usize = 100;

fn allow(caller: &Caller) -> Result<()> {
    if caller.is_privileged() { Ok(()) } else { Err(Fault::new(Code::Forbidden)) }
}

fn own_id(caller: &Caller) -> Result<&MemberId> {
    match caller {
        Caller::Member { id, .. } => Ok(id),
        _ => Err(Fault::new(Code::Forbidden)),
    }
}

fn few(ids: &[String], field: &str) -> Result<()> {
    let rule = match ids.len() {
        0 => "MIN_SIZE",
        1..=AT_ONCE => return Ok(()),
        _ => "MAX_SIZE",
    };
    Err(Fault::invalid(vec![
        Violation::new(field, rule, format!("1 to {AT_ONCE} are expected")).with("threshold", AT_ONCE),
    ]))
}

/// Tags that badges of members get and lose, public and private ones.
#[derive(Debug, Clone)]
pub struct Retag([(&'static str, Tags, Tags); 2]);

type Tags = BTreeSet<String>;

impl Retag {
    /// Most tags of a list.
    const MOST: usize = 100;

    /// Reads `assignTags` and `unassignTags` of a request; a list of anything but texts counts as none.
    pub fn parse(object: &Value) -> Self {
        let tags = |what: &str, list: &str| tag_ids(&object[what][list]["tagIds"]);
        Self(["tags", "privateTags"].map(|list| (list, tags("assignTags", list), tags("unassignTags", list))))
    }

    fn apply(&self, mut doc: Map<String, Value>) -> Map<String, Value> {
        let tags = doc.entry("tags").or_insert_with(|| json!({}));
        for (list, added, gone) in &self.0 {
            let now = tag_ids(&tags[list]["tagIds"]);
            let now: Vec<&String> = now.union(added).filter(|it| !gone.contains(*it)).take(Self::MOST).collect();
            tags[*list] = json!({ "tagIds": now });
        }
        doc
    }
}

fn tag_ids(list: &Value) -> Tags {
    match list {
        Value::String(one) => Tags::from([one.clone()]),
        Value::Array(list) => {
            list.iter().map(|it| it.as_str().map(str::to_owned)).collect::<Option<_>>().unwrap_or_default()
        }
        _ => Tags::new(),
    }
}

impl Identity {
    /// Makes a noun of a kind that those who run the site define.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`]; [`Code::AlreadyExists`]; [`Code::TooMany`].
    pub async fn definition_create(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        object: &Value,
    ) -> Result<Noun> {
        allow(caller)?;
        let mut doc = kind.parse(object, true)?;
        doc.retain(|_, it| !it.is_null());
        let id = match kind.name {
            "role" => doc.get("roleKey").and_then(Value::as_str).unwrap_or_default().to_owned(),
            "application" => doc.get("customFieldId").and_then(Value::as_str).unwrap_or_default().to_owned(),
            _ => self.world().uuid(),
        };
        if kind.name == "field" {
            let name = doc.get("name").and_then(Value::as_str).unwrap_or_default().to_lowercase();
            let key: String = name.chars().map(|it| if it.is_alphanumeric() { it } else { '-' }).collect();
            doc.entry("key").or_insert_with(|| json!(format!("custom.{key}")));
            doc.entry("fieldOrigin").or_insert_with(|| json!("CUSTOM"));
            doc.entry("defaultPrivacy").or_insert_with(|| json!("PRIVATE"));
            doc.entry("fieldType").or_insert_with(|| json!("TEXT"));
            doc.entry("section").or_insert_with(|| json!("GENERAL"));
        }
        if kind.name == "application" {
            let field = self.noun_get(site, &kind::FIELD, &id).await?;
            doc.insert("customFieldKey".to_owned(), json!(field.text("key")));
        }
        self.noun_insert(site, kind, &id, doc).await
    }

    /// Changes one.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::Validation`]; [`Code::NotFound`]; [`Code::RevisionOld`].
    pub async fn definition_update(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        object: &Value,
    ) -> Result<Noun> {
        allow(caller)?;
        let change = kind.parse(object, false)?;
        self.noun_update(site, kind, id, noun::revision_in(object)?, change).await
    }

    /// Deletes one and what was tied to it.
    ///
    /// # Errors
    /// As for update.
    pub async fn definition_delete(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        revision: Option<i64>,
    ) -> Result<()> {
        allow(caller)?;
        self.noun_delete(site, kind, id, revision).await?;
        if kind.name == "field" {
            match self.noun_delete(site, &kind::APPLICATION, id, None).await {
                Err(fault) if fault.code() == Code::NotFound => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// Puts them in an order.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`].
    pub async fn definition_order(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        ids: Vec<String>,
    ) -> Result<Vec<Noun>> {
        allow(caller)?;
        self.noun_order(site, kind, ids).await
    }

    /// Moves one among its kind.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`].
    pub async fn definition_move(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        id: &str,
        to: Place,
    ) -> Result<()> {
        allow(caller)?;
        self.noun_move(site, kind, id, to).await
    }

    /// Gives members a role or badge; who has it already keeps it. Answers the new ties.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`] for the role, badge or one of the members: nothing is given.
    pub async fn grant(
        &self,
        site: &Site,
        caller: &Caller,
        what: TieKind,
        target: &str,
        members: &[String],
        doc: Map<String, Value>,
    ) -> Result<Vec<Tie>> {
        allow(caller)?;
        few(members, "memberIds")?;
        let kind = if what == TieKind::Role { &kind::ROLE } else { &kind::BADGE };
        let (me, site_id, target, members) = (self.clone(), site.id.clone(), target.to_owned(), members.to_vec());
        site.write(move |tx| {
            let (me, site, target) = (me.clone(), site_id.clone(), target.clone());
            let (members, doc) = (members.clone(), doc.clone());
            boxed!({
                noun::get(tx, &site, kind, &target).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
                let mut made = Vec::new();
                for id in members {
                    let id = MemberId::from(id);
                    let found = member::get(tx, &site, &id).await?.filter(|it| it.status != Status::Deleted);
                    found.ok_or_else(|| Fault::new(Code::NotFound).with("memberId", id.as_str()))?;
                    made.extend(tie::put(&me, tx, &site, what, (id.as_str(), &target), doc.clone()).await?);
                }
                Ok(made)
            })
        })
        .await
    }

    /// Takes a role or badge from members.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn withdraw(
        &self,
        site: &Site,
        caller: &Caller,
        what: TieKind,
        target: &str,
        members: &[String],
    ) -> Result<()> {
        allow(caller)?;
        few(members, "memberIds")?;
        let (site_id, target, members) = (site.id.clone(), target.to_owned(), members.to_vec());
        site.write(move |tx| {
            let (site, target, members) = (site_id.clone(), target.clone(), members.clone());
            boxed!({
                for id in members {
                    tie::drop(tx, &site, what, &id, &target).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// Takes ties by their own ids; answers for each whether it was there.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn tie_delete(&self, site: &Site, caller: &Caller, what: TieKind, ids: &[String]) -> Result<Vec<bool>> {
        allow(caller)?;
        few(ids, "badgeAssignmentIds")?;
        let (site_id, ids) = (site.id.clone(), ids.to_vec());
        site.write(move |tx| {
            let (site, ids) = (site_id.clone(), ids.clone());
            boxed!({
                let mut gone = Vec::with_capacity(ids.len());
                for id in ids {
                    let sql = "delete from stoa.member_tie where site = $1 and kind = $2 and id = $3";
                    gone.push(tx.execute(sql, &params![&site, what.name(), id]).await? > 0);
                }
                Ok(gone)
            })
        })
        .await
    }

    /// Changes the tags of badges that members have, by the ids of the ties; answers for each whether it was there.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn retag(&self, site: &Site, caller: &Caller, ids: &[String], with: &Retag) -> Result<Vec<bool>> {
        allow(caller)?;
        let (site_id, ids, with) = (site.id.clone(), ids.to_vec(), with.clone());
        site.write(move |tx| {
            let (site, ids, with) = (site_id.clone(), ids.clone(), with.clone());
            boxed!({
                let mut found = Vec::with_capacity(ids.len());
                for id in ids {
                    let tie = tie::get(tx, &site, TieKind::Badge, &id).await?;
                    found.push(tie.is_some());
                    if let Some(tie) = tie {
                        tie::write(tx, &site, TieKind::Badge, &id, with.apply(tie.doc)).await?;
                    }
                }
                Ok(found)
            })
        })
        .await
    }

    /// Changes the tags of all badges that members have and a filter finds, in pieces.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn retag_all(&self, site: &Site, caller: &Caller, filter: &TieFilter, with: &Retag) -> Result<()> {
        allow(caller)?;
        let mut after = None;
        loop {
            let (site_id, filter, with) = (site.id.clone(), filter.clone(), with.clone());
            let write = site.write(move |tx| {
                let (site, filter, with, after) = (site_id.clone(), filter.clone(), with.clone(), after.clone());
                boxed!({
                    let ties = tie::page(tx, &site, TieKind::Badge, &filter, after.as_ref(), tie::AT_ONCE).await?;
                    let last = ties.last().filter(|_| ties.len() == tie::AT_ONCE).map(Tie::place);
                    for tie in ties {
                        tie::write(tx, &site, TieKind::Badge, &tie.id, with.apply(tie.doc)).await?;
                    }
                    Ok(last)
                })
            });
            after = write.await?;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Ties the calling member to another: follows, blocks or reports them.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::SelfBlock`]; [`Code::NotFound`];
    /// [`Code::BlockedByMember`] for a follower when one of the two has blocked the other;
    /// [`Code::AlreadyExists`] for a second block or report.
    pub async fn member_tie(
        &self,
        site: &Site,
        caller: &Caller,
        what: TieKind,
        other: &str,
        doc: Map<String, Value>,
    ) -> Result<Option<Tie>> {
        let own = own_id(caller)?.clone();
        if own.as_str() == other {
            return Err(Fault::new(Code::SelfBlock));
        }
        let (me, site_id, other) = (self.clone(), site.id.clone(), MemberId::from(other));
        site.write(move |tx| {
            let (me, site, own, other) = (me.clone(), site_id.clone(), own.clone(), other.clone());
            let doc = doc.clone();
            boxed!({
                let found = member::get(tx, &site, &other).await?.filter(|it| it.status == Status::Active);
                found.ok_or_else(|| Fault::new(Code::NotFound))?;
                let (own, other) = (own.as_str(), other.as_str());
                match what {
                    TieKind::Follow => {
                        let blocks = tie::has(tx, &site, TieKind::Block, own, other).await?;
                        if blocks || tie::has(tx, &site, TieKind::Block, other, own).await? {
                            return Err(Fault::new(Code::BlockedByMember));
                        }
                    }
                    TieKind::Block => {
                        tie::drop(tx, &site, TieKind::Follow, own, other).await?;
                        tie::drop(tx, &site, TieKind::Follow, other, own).await?;
                    }
                    _ => {}
                }
                let made = tie::put(&me, tx, &site, what, (own, other), doc).await?;
                match (made, what) {
                    (None, TieKind::Follow) => Ok(None),
                    (None, _) => Err(Fault::new(Code::AlreadyExists)),
                    (made, _) => Ok(made),
                }
            })
        })
        .await
    }

    /// Loosens what the calling member tied.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller is a member; [`Code::NotFound`] when there is no such tie.
    pub async fn member_untie(&self, site: &Site, caller: &Caller, what: TieKind, other: &str) -> Result<()> {
        let (own, site_id, other) = (own_id(caller)?.clone(), site.id.clone(), other.to_owned());
        let gone = site
            .write(move |tx| {
                let (own, site, other) = (own.clone(), site_id.clone(), other.clone());
                boxed!(tie::drop(tx, &site, what, own.as_str(), &other).await)
            })
            .await?;
        if gone { Ok(()) } else { Err(Fault::new(Code::NotFound)) }
    }

    /// Members who were reported, by id, each with how often and when last; those behind `after`.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn reported_members(
        &self,
        site: &Site,
        caller: &Caller,
        after: &str,
        limit: u32,
    ) -> Result<Vec<(String, i64, i64)>> {
        allow(caller)?;
        let (site_id, after) = (site.id.clone(), after.to_owned());
        site.read(Lane::Scan, move |tx| {
            boxed!({
                let sql = "select target, count(*), max(created) from stoa.member_tie \
                           where site = $1 and kind = 'report' and target > $2 group by target order by target limit $3";
                let read = |row: &stoa_store::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
                Ok(tx.rows(sql, &params![&site_id, after, limit.clamp(1, 100)], read).await?)
            })
        })
        .await
    }

    /// Forgets every report on a member.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn reports_delete(&self, site: &Site, caller: &Caller, member: &str) -> Result<()> {
        allow(caller)?;
        let (site_id, member) = (site.id.clone(), member.to_owned());
        site.write(move |tx| {
            let (site, member) = (site_id.clone(), member.clone());
            boxed!({
                let sql = "delete from stoa.member_tie where site = $1 and kind = 'report' and target = $2";
                tx.send(sql, params![&site, member]).await?;
                Ok(())
            })
        })
        .await
    }

    /// Ties of a member as the caller may see them: one's own, those of members who show themselves, or
    /// all for those who run the site. `None` names the calling member.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; as [`Identity::member_see`].
    pub async fn member_ties(
        &self,
        site: &Site,
        caller: &Caller,
        what: TieKind,
        whose: Option<&str>,
        side: fn(Vec<String>) -> TieFilter,
        (limit, cursor): (u32, &str),
    ) -> Result<Ties> {
        let id = self.whose(site, caller, what, whose).await?;
        self.tie_list(site, what, &side(vec![id.as_str().to_owned()]), limit, cursor).await
    }

    /// All roles of a member; who may see them is as for [`Identity::member_ties`].
    ///
    /// # Errors
    /// As [`Identity::member_see`].
    pub async fn member_roles(&self, site: &Site, caller: &Caller, whose: &str) -> Result<Vec<Tie>> {
        let id = self.whose(site, caller, TieKind::Role, Some(whose)).await?;
        self.tie_all(site, TieKind::Role, &TieFilter::of(vec![id.as_str().to_owned()])).await
    }

    /// Which of these a member follows, and which of them follow the member.
    ///
    /// # Errors
    /// As [`Identity::member_ties`]; [`Code::Validation`].
    pub async fn member_connections(
        &self,
        site: &Site,
        caller: &Caller,
        whose: Option<&str>,
        others: &[String],
    ) -> Result<(HashSet<String>, HashSet<String>)> {
        let id = self.whose(site, caller, TieKind::Follow, whose).await?;
        self.tie_between(site, TieKind::Follow, id.as_str(), others).await
    }

    /// Whom a member blocks and then, for those who run the site, who blocks them: a page of both.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::CursorInvalid`].
    pub async fn member_blocks(
        &self,
        site: &Site,
        caller: &Caller,
        whose: &str,
        (limit, cursor): (u32, &str),
    ) -> Result<Ties> {
        let id = self.whose(site, caller, TieKind::Block, Some(whose)).await?.as_str().to_owned();
        let (after, limit) = (tie::read_cursor(cursor)?, limit.clamp(1, tie::PAGE) as usize);
        let (is_staff, site_id) = (caller.is_editor(), site.id.clone());
        let read = site.read(Lane::Scan, move |tx| {
            let (blocking, blocked) = (TieFilter::of(vec![id.clone()]), TieFilter::to(vec![id.clone()]));
            boxed!({
                // Nobody blocks themselves, so a place tells which of the two lists it is in.
                let is_behind = after.as_ref().is_some_and(|it| it.0 != id);
                let (first, second) = if is_behind { (None, after.as_ref()) } else { (after.as_ref(), None) };
                let mut ties = match is_behind {
                    true => Vec::new(),
                    false => tie::page(tx, &site_id, TieKind::Block, &blocking, first, limit + 1).await?,
                };
                if is_staff && ties.len() <= limit {
                    let rest = limit + 1 - ties.len();
                    ties.extend(tie::page(tx, &site_id, TieKind::Block, &blocked, second, rest).await?);
                }
                Ok(ties)
            })
        });
        Ok(Ties::cut(read.await?, limit))
    }

    /// The member that a call is about, if the caller may see such ties of theirs.
    async fn whose(&self, site: &Site, caller: &Caller, what: TieKind, whose: Option<&str>) -> Result<MemberId> {
        let id = match whose {
            Some(id) => MemberId::from(id),
            None => own_id(caller)?.clone(),
        };
        let is_self = matches!(caller, Caller::Member { id: own, .. } if *own == id);
        if !is_self && !caller.is_editor() {
            if matches!(what, TieKind::Block | TieKind::Report) {
                return Err(Fault::new(Code::Forbidden));
            }
            self.member_see(site, caller, &id).await?;
        }
        Ok(id)
    }

    /// Writes what a member tells of themselves: makes it, or changes it.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for other members' texts; [`Code::Validation`]; [`Code::AlreadyExists`];
    /// [`Code::NotFound`]; [`Code::RevisionOld`].
    pub async fn about_write(&self, site: &Site, caller: &Caller, id: Option<&str>, object: &Value) -> Result<Noun> {
        let named = object.get("memberId").and_then(Value::as_str);
        let whose = match (id.or(named), caller) {
            (Some(whose), it) if it.is_privileged() => whose.to_owned(),
            (whose, Caller::Member { id: own, .. }) if whose.is_none_or(|it| it == own.as_str()) => {
                own.as_str().to_owned()
            }
            _ => return Err(Fault::new(Code::Forbidden)),
        };
        let mut doc = kind::ABOUT.parse(object, id.is_none())?;
        doc.insert("memberId".to_owned(), json!(whose));
        match id {
            Some(_) => self.noun_update(site, &kind::ABOUT, &whose, noun::revision_in(object)?, doc).await,
            None => self.noun_insert(site, &kind::ABOUT, &whose, doc).await,
        }
    }

    /// What a member tells of themselves, if the caller may see the member.
    ///
    /// # Errors
    /// As [`Identity::member_see`]; [`Code::NotFound`].
    pub async fn about_get(&self, site: &Site, caller: &Caller, id: &str) -> Result<Noun> {
        let is_self = matches!(caller, Caller::Member { id: own, .. } if own.as_str() == id);
        if !is_self && !caller.is_editor() {
            self.member_see(site, caller, &MemberId::from(id)).await?;
        }
        self.noun_get(site, &kind::ABOUT, id).await
    }

    /// What these members tell of themselves, of those whom the caller may see.
    ///
    /// # Errors
    /// None of its own.
    pub async fn about_list(&self, site: &Site, caller: &Caller, ids: &[String]) -> Result<Vec<Noun>> {
        let seen = self.members_seen(site, caller, ids).await?;
        let (site_id, wanted) = (site.id.clone(), seen.iter().cloned().collect::<Vec<_>>());
        let read = site.read(Lane::Scan, move |tx| boxed!(noun::some(tx, &site_id, &kind::ABOUT, &wanted).await));
        let found: HashMap<String, Noun> = read.await?.into_iter().map(|it| (it.id.clone(), it)).collect();
        Ok(ids.iter().filter_map(|it| found.get(it).cloned()).collect())
    }

    /// Whether a member has blocked another.
    pub(crate) async fn is_blocked_by(&self, site: &Site, member: &MemberId, other: &MemberId) -> Result<bool> {
        let (site_id, member, other) = (site.id.clone(), member.clone(), other.clone());
        site.read(Lane::Point, move |tx| {
            boxed!(tie::has(tx, &site_id, TieKind::Block, member.as_str(), other.as_str()).await)
        })
        .await
    }

    /// Takes back what a member told of themselves.
    ///
    /// # Errors
    /// As [`Identity::about_write`].
    pub async fn about_delete(&self, site: &Site, caller: &Caller, id: &str) -> Result<()> {
        if !matches!(caller, Caller::Member { id: own, .. } if own.as_str() == id) {
            allow(caller)?;
        }
        self.noun_delete(site, &kind::ABOUT, id, None).await
    }
}
