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
    log::{self, PeopleEntry},
};
use serde_json::{Map, Value, json};
use stoa_kernel::{
    Caller, Code, EntryKind, EventActor, Fault, MemberId, Millis, Result, SiteId, date::iso_from_millis,
};
use stoa_sql::{Writer, params};
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

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

impl ReportedMember {
    fn read(row: &Row<'_>) -> Result<Self, stoa_store::Error> {
        Ok(Self { id: row.get(0)?, count: row.get(1)?, last: row.get(2)? })
    }

    /// As the reports API shows it.
    pub fn to_json(&self) -> Value {
        json!({
            "reportedMemberId": self.id, "reportCount": self.count.to_string(), "reviewed": false,
            "lastReportDate": iso_from_millis(self.last),
        })
    }
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
        site.read(ReaderPool::Scan, move |tx| boxed!(Ok(tx.rows(&text, &values, ReportedMember::read).await?))).await
    }

    /// Forgets every report on a member. The log tells of each report, and at the end of the member.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn reports_delete(&self, site: &Site, caller: &Caller, member: &str) -> Result<()> {
        check_owner(caller)?;
        if member.contains('\0') {
            return Ok(());
        }
        let removal = Removal { member: member.to_owned(), actor: EventActor::of(caller), now: self.core.now() };
        loop {
            let is_last = site.write_with((site.id.clone(), removal.clone()), |tx, (site, it)| {
                boxed!(it.remove_some(tx, site).await)
            });
            if is_last.await? {
                return Ok(());
            }
        }
    }
}

/// Reports that are removed in one transaction, and told in one row.
const PIECE: i64 = 1_000;

/// The removal of all reports on a member.
#[derive(Clone)]
struct Removal {
    member: String,
    actor: EventActor,
    now: Millis,
}

impl Removal {
    /// Removes a piece of them, and answers whether none is left; with the last one the member is reported no more.
    async fn remove_some(&self, tx: &mut Tx<'_>, site: &SiteId) -> Result<bool> {
        let kind = Interaction::Report.name();
        let gone = relation::drop_some_to(tx, site, kind, &self.member, PIECE).await?;
        if gone.is_empty() {
            return Ok(true);
        }
        log::relations(tx, site, (Interaction::Report.rows().1, &self.actor, self.now), gone).await?;
        if relation::has_any(tx, site, kind, &self.member).await? {
            return Ok(false);
        }
        let entry = PeopleEntry { kind: EntryKind::ReportsDeleted, actor: self.actor.clone(), now: self.now };
        entry.put_ids(tx, site, vec![self.member.clone()]).await?;
        Ok(true)
    }
}

/// The members with these ids who are reported.
pub(crate) async fn reported_some(tx: &mut Tx<'_>, site: &SiteId, ids: Vec<String>) -> Result<Vec<ReportedMember>> {
    let is_one = tx.dialect().any_of("target", "$3");
    let sql = format!(
        "select target, count(*), max(created) from stoa.member_tie where site = $1 and kind = $2 and {is_one} \
         group by target"
    );
    Ok(tx.rows(&sql, &params![site, Interaction::Report.name(), ids], ReportedMember::read).await?)
}
