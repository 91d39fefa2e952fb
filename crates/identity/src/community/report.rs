//! Reports on members.

use crate::{
    Identity,
    community::{
        check::{check_owner, malformed},
        interaction::{self, NewInteraction},
        kind::Readers,
        relation::{self, Interaction, PAGE, Relation, RelationField, RelationFilter, RelationPage},
        visibility,
    },
    log::PeopleEntry,
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Caller, Code, EntryKind, EventActor, Fault, MemberId, Millis, Result};
use stoa_sql::{Writer, params};
use stoa_store::{ReaderPool, Row, Site, boxed};

const CATEGORIES: &[&str] = &["UNKNOWN", "SPAM", "IMPERSONATION", "HARASSMENT", "OTHER"];
/// Most characters of a description.
const DESCRIPTION: usize = 1_000;

/// A member who was reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedMember {
    pub id: String,
    pub count: i64,
    /// When the last report was made.
    pub last: Millis,
}

impl Identity {
    /// Reports a member for a reason: a category and a description.
    ///
    /// # Errors
    /// [`Code::Validation`]; as [`Identity::interaction_create`].
    pub async fn member_report(&self, site: &Site, caller: &Caller, other: &str, reason: &Value) -> Result<Relation> {
        let core = &self.core;
        let category = reason["category"].as_str().unwrap_or("UNKNOWN");
        if !CATEGORIES.contains(&category) {
            return Err(malformed("memberReport.reason.category", "there is no such category"));
        }
        let text = reason["description"].as_str().unwrap_or_default();
        if text.chars().count() > DESCRIPTION || text.contains('\0') {
            let why = format!("at most {DESCRIPTION} characters are expected");
            return Err(malformed("memberReport.reason.description", why));
        }
        let reason = json!({ "category": category, "description": text });
        let doc = Map::from_iter([("reason".to_owned(), reason)]);
        let new = NewInteraction { what: Interaction::Report, other: MemberId::from(other), doc };
        let made = interaction::make(core, site, caller, new).await?;
        made.ok_or_else(|| Fault::new(Code::AlreadyExists))
    }

    /// A page of the reports that a filter finds.
    ///
    /// # Errors
    /// [`Code::Forbidden`] unless the caller runs the site; [`Code::CursorInvalid`].
    pub async fn report_list(
        &self,
        site: &Site,
        caller: &Caller,
        filter: &RelationFilter,
        (limit, cursor): (u32, &str),
    ) -> Result<RelationPage> {
        visibility::check_readers(site, caller, Readers::Staff).await?;
        relation::list(site, Interaction::Report.name(), filter, limit, cursor).await
    }

    /// Members who were reported, by id, each with how often and when last; those of the reports that a filter finds,
    /// behind `after`.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::CursorInvalid`].
    pub async fn reported_members(
        &self,
        site: &Site,
        caller: &Caller,
        filter: &RelationFilter,
        (limit, after): (u32, &str),
    ) -> Result<Vec<ReportedMember>> {
        check_owner(caller)?;
        if after.contains('\0') {
            return Err(Fault::new(Code::CursorInvalid));
        }
        let mut sql = Writer::new(site.dialect());
        sql.push("select target, count(*), max(created) from stoa.member_tie where site = ").bind(&site.id);
        sql.push(" and kind = ").bind(Interaction::Report.name()).push(" and target > ").bind(after).push(" and ");
        filter.matching.write(&mut sql, RelationField::column);
        sql.push(" group by target order by target limit ").bind(limit.clamp(1, PAGE));
        let (text, values) = sql.finish();
        site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let read =
                    |row: &Row<'_>| Ok(ReportedMember { id: row.get(0)?, count: row.get(1)?, last: row.get(2)? });
                Ok(tx.rows(&text, &values, read).await?)
            })
        })
        .await
    }

    /// Forgets every report on a member.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn reports_delete(&self, site: &Site, caller: &Caller, member: &str) -> Result<()> {
        check_owner(caller)?;
        let entry =
            PeopleEntry { kind: EntryKind::ReportsDeleted, actor: EventActor::of(caller), now: self.core.now() };
        site.write_with((site.id.clone(), member.to_owned(), entry), |tx, (site, member, entry)| {
            boxed!({
                let sql = "delete from stoa.member_tie where site = $1 and kind = 'report' and target = $2";
                match tx.execute(sql, &params![site, member]).await? {
                    0 => Ok(()),
                    _ => entry.clone().put_ids(tx, site, vec![member.clone()]).await,
                }
            })
        })
        .await
    }
}
