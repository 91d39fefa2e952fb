//! Who may tie what: roles, badges, followers, blocks, reports; and the nouns that only some may change.

use super::{
    Kind, Noun, kind, noun,
    tie::{self, Side, Tie, TieKind, Ties},
};
use crate::{
    Identity,
    member::{self, Status},
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Caller, Code, Fault, MemberId, Result, Violation};
use stoa_sql::params;
use stoa_store::{Site, boxed};

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

    /// Changes what ties hold, by their own ids; answers for each whether it was there.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn tie_change(
        &self,
        site: &Site,
        caller: &Caller,
        what: TieKind,
        ids: &[String],
        change: fn(&mut Map<String, Value>, &Value),
        with: &Value,
    ) -> Result<Vec<bool>> {
        allow(caller)?;
        let (site_id, ids, with) = (site.id.clone(), ids.to_vec(), with.clone());
        site.write(move |tx| {
            let (site, ids, with) = (site_id.clone(), ids.clone(), with.clone());
            boxed!({
                let mut found = Vec::with_capacity(ids.len());
                for id in ids {
                    let sql = "select doc from stoa.member_tie where site = $1 and kind = $2 and id = $3";
                    let doc: Option<String> = tx.row(sql, &params![&site, what.name(), &id], |row| row.get(0)).await?;
                    found.push(doc.is_some());
                    let Some(doc) = doc else { continue };
                    let mut doc: Map<String, Value> = serde_json::from_str(&doc).unwrap_or_default();
                    change(&mut doc, &with);
                    let sql = "update stoa.member_tie set doc = $1 where site = $2 and kind = $3 and id = $4";
                    tx.send(sql, params![Value::Object(doc).to_string(), &site, what.name(), &id]).await?;
                }
                Ok(found)
            })
        })
        .await
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
        site.read(stoa_store::Lane::Scan, move |tx| {
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
        side: fn(Vec<String>) -> Side,
        (limit, cursor): (u32, &str),
    ) -> Result<Ties> {
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
        self.tie_list(site, what, &side(vec![id.as_str().to_owned()]), limit, cursor).await
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

    /// Whether a member has blocked another.
    pub(crate) async fn is_blocked_by(&self, site: &Site, member: &MemberId, other: &MemberId) -> Result<bool> {
        let (site_id, member, other) = (site.id.clone(), member.clone(), other.clone());
        site.read(stoa_store::Lane::Point, move |tx| {
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
