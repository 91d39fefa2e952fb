//! Relations: what joins a member to another member or to an entity, by one statement either way. Who may read and
//! write them is said by what they mean: [`super::Assignable`] and [`Interaction`], whose name is the kind here.

use crate::{Core, community::check::own_id, log::RelationIds, member::Filter};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use stoa_kernel::{Caller, Code, EntryKind, Fault, MemberId, Millis, Result, SiteId, date::iso_from_millis};
use stoa_sql::{Writer, params};
use stoa_store::{ReaderPool, Row, Site, Tx, boxed};

/// Relations on a page.
pub const PAGE: u32 = 100;
/// Relations of one kind that one holder may have.
const MOST: i64 = 5_000;
/// Relations that are read, or changed, at once.
pub(crate) const AT_ONCE: usize = 500;

/// What one member does to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interaction {
    Follow,
    Block,
    Report,
}

impl Interaction {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::Block => "block",
            Self::Report => "report",
        }
    }

    /// The kinds of rows by which the log tells of one that is made or taken back. A block is told to no one: it is
    /// between the two and this server.
    pub(crate) fn rows(self) -> (Option<EntryKind>, Option<EntryKind>) {
        match self {
            Self::Follow => (Some(EntryKind::MemberFollowed), Some(EntryKind::MemberUnfollowed)),
            Self::Block => (None, None),
            Self::Report => (Some(EntryKind::MemberReported), Some(EntryKind::ReportDeleted)),
        }
    }
}

/// One relation.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    pub id: String,
    pub holder: String,
    pub target: String,
    pub doc: Map<String, Value>,
    pub created: Millis,
}

/// Where a relation stands in the order of lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Keyset {
    pub holder: String,
    pub target: String,
}

impl Relation {
    pub(crate) fn keyset(&self) -> Keyset {
        Keyset { holder: self.holder.clone(), target: self.target.clone() }
    }

    /// What the log tells of it.
    pub(crate) fn ids(&self) -> RelationIds {
        RelationIds { id: self.id.clone(), holder: self.holder.clone(), target: self.target.clone() }
    }

    /// A badge of a member as the badges API shows it.
    pub fn assignment_json(&self) -> Value {
        let mut view = json!({
            "id": self.id, "badgeId": self.target, "memberId": self.holder,
            "createdDate": iso_from_millis(self.created), "updatedDate": iso_from_millis(self.created),
        });
        for (name, value) in &self.doc {
            view[name.as_str()] = value.clone();
        }
        view
    }

    /// A report as the reports API shows it.
    pub fn report_json(&self) -> Value {
        json!({
            "id": self.id, "reportedMemberId": self.target, "reportingMemberId": self.holder,
            "reason": self.doc.get("reason").cloned().unwrap_or_else(|| json!({ "category": "UNKNOWN" })),
            "createdDate": iso_from_millis(self.created),
        })
    }
}

/// A page of relations and what leads to the next one.
#[derive(Debug, Default)]
pub struct RelationPage {
    pub items: Vec<Relation>,
    pub next: Option<String>,
}

impl RelationPage {
    /// A page out of the relations that were found, of which one may be too many.
    pub(crate) fn cut(mut items: Vec<Relation>, limit: usize) -> Self {
        let has_more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| has_more).map(|it| write_cursor(&it.keyset()));
        Self { items, next }
    }
}

/// What relations can be filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationField {
    Id,
    Holder,
    Target,
    Created,
}

impl RelationField {
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Holder => "holder",
            Self::Target => "target",
            Self::Created => "created",
        }
    }
}

/// Which relations are meant: those whose holder and whose target are among these and that fit a filter. Without a list
/// it is any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RelationFilter {
    pub holders: Option<Vec<String>>,
    pub targets: Option<Vec<String>>,
    pub matching: Filter<RelationField>,
    pub(crate) shown: Option<VisibleTo>,
}

/// A viewer who doesn't see every member (as [`Identity::member_see`] has it).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VisibleTo {
    /// The side on which members stand, `holder` or `target`.
    pub column: &'static str,
    /// The viewing member, if the viewer is one.
    pub to: Option<MemberId>,
}

impl VisibleTo {
    /// `None` for those who see all members.
    pub(crate) fn to(caller: &Caller, column: &'static str) -> Option<Self> {
        let to = own_id(caller).ok().cloned();
        (!caller.is_editor()).then_some(Self { column, to })
    }

    /// Lets only those members through who show themselves, and haven't blocked the viewer; and the viewer.
    pub(crate) fn write(&self, sql: &mut Writer<'_>, table: &str) {
        let column = format!("{table}.{}", self.column);
        let to = self.to.as_ref().map(MemberId::as_str).unwrap_or_default().to_owned();
        sql.push(&format!(" and ({column} = ")).bind(to.clone());
        sql.push(&format!(" or exists (select 1 from stoa.member m where m.site = {table}.site and m.id = {column}"));
        sql.push(" and m.privacy = 'PUBLIC' and m.status = 'ACTIVE' and not exists (select 1 from stoa.member_tie b");
        sql.push(" where b.site = m.site and b.kind = 'block' and b.holder = m.id and b.target = ")
            .bind(to)
            .push(")))");
    }
}

impl RelationFilter {
    /// Those whose holder and whose target are among these, or are anything.
    pub fn new(holders: Option<Vec<String>>, targets: Option<Vec<String>>) -> Self {
        Self { holders, targets, ..Self::default() }
    }

    /// Those that these hold.
    pub fn of(holders: Vec<String>) -> Self {
        Self { holders: Some(holders), ..Self::default() }
    }

    /// Those that lead to these.
    pub fn to(targets: Vec<String>) -> Self {
        Self { targets: Some(targets), ..Self::default() }
    }

    /// Those that fit a filter.
    pub fn matching(matching: Filter<RelationField>) -> Self {
        Self { matching, ..Self::default() }
    }

    /// The same, as far as those members go who are shown.
    pub(crate) fn shown(self, shown: Option<VisibleTo>) -> Self {
        Self { shown, ..self }
    }
}

const SELECT: &str = "select id, holder, target, doc, created from stoa.member_tie";

fn read(row: &Row<'_>) -> Result<Relation, stoa_store::Error> {
    Ok(Relation {
        id: row.get(0)?,
        holder: row.get(1)?,
        target: row.get(2)?,
        doc: serde_json::from_str(row.text(3)?).unwrap_or_default(),
        created: row.get(4)?,
    })
}

/// A relation that is to be made.
pub(crate) struct NewRelation<'a> {
    pub kind: &'static str,
    pub holder: &'a str,
    pub target: &'a str,
    pub doc: Map<String, Value>,
}

/// Makes a relation; `None` when there is one already.
///
/// # Errors
/// [`Code::TooMany`].
pub(crate) async fn put(core: &Core, tx: &mut Tx<'_>, site: &SiteId, new: NewRelation<'_>) -> Result<Option<Relation>> {
    let NewRelation { kind, holder, target, doc } = new;
    let sql = "select count(*) from stoa.member_tie where site = $1 and kind = $2 and holder = $3";
    let count: i64 = tx.row(sql, &params![site, kind, holder], |row| row.get(0)).await?.unwrap_or(0);
    if count >= MOST {
        return Err(Fault::new(Code::TooMany));
    }
    let (holder, target) = (holder.to_owned(), target.to_owned());
    let relation = Relation { id: core.world().uuid(), holder, target, doc, created: core.now() };
    let sql = "insert into stoa.member_tie (site, kind, holder, target, id, doc, created) \
               values ($1, $2, $3, $4, $5, $6, $7) on conflict (site, kind, holder, target) do nothing";
    let text = Value::Object(relation.doc.clone()).to_string();
    let values = params![site, kind, &relation.holder, &relation.target, &relation.id, text, relation.created];
    Ok((tx.execute(sql, &values).await? == 1).then_some(relation))
}

/// Removes a relation and answers which it was, if it was there.
pub(crate) async fn drop(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &'static str,
    holder: &str,
    target: &str,
) -> Result<Option<RelationIds>> {
    if holder.contains('\0') || target.contains('\0') {
        return Ok(None);
    }
    let sql = "delete from stoa.member_tie where site = $1 and kind = $2 and holder = $3 and target = $4 \
               returning id, holder, target";
    Ok(tx.row(sql, &params![site, kind, holder, target], read_ids).await?)
}

/// The same by the relation's own id.
pub(crate) async fn drop_by_id(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &'static str,
    id: &str,
) -> Result<Option<RelationIds>> {
    if id.contains('\0') {
        return Ok(None);
    }
    let sql = "delete from stoa.member_tie where site = $1 and kind = $2 and id = $3 returning id, holder, target";
    Ok(tx.row(sql, &params![site, kind, id], read_ids).await?)
}

/// Removes relations of a kind to a target, at most so many, and answers which they were.
pub(crate) async fn drop_some_to(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &'static str,
    target: &str,
    most: i64,
) -> Result<Vec<RelationIds>> {
    let sql = "delete from stoa.member_tie where site = $1 and kind = $2 and target = $3 and id in \
               (select id from stoa.member_tie where site = $1 and kind = $2 and target = $3 order by holder limit $4) \
               returning id, holder, target";
    Ok(tx.rows(sql, &params![site, kind, target, most], read_ids).await?)
}

/// Whether a target has a relation of a kind.
pub(crate) async fn has_any(tx: &mut Tx<'_>, site: &SiteId, kind: &'static str, target: &str) -> Result<bool> {
    let sql = "select 1 from stoa.member_tie where site = $1 and kind = $2 and target = $3 limit 1";
    Ok(tx.row(sql, &params![site, kind, target], |_| Ok(())).await?.is_some())
}

fn read_ids(row: &Row<'_>) -> Result<RelationIds, stoa_store::Error> {
    Ok(RelationIds { id: row.get(0)?, holder: row.get(1)?, target: row.get(2)? })
}

pub(crate) async fn has(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &'static str,
    holder: &str,
    target: &str,
) -> Result<bool> {
    let sql = "select 1 from stoa.member_tie where site = $1 and kind = $2 and holder = $3 and target = $4";
    Ok(tx.row(sql, &params![site, kind, holder, target], |_| Ok(())).await?.is_some())
}

/// Which of these targets a holder has.
pub(crate) async fn held_of(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &'static str,
    holder: &str,
    targets: Vec<String>,
) -> Result<Vec<String>> {
    let is_one = tx.dialect().any_of("target", "$4");
    let sql = format!("select target from stoa.member_tie where site = $1 and kind = $2 and holder = $3 and {is_one}");
    Ok(tx.rows(&sql, &params![site, kind, holder, targets], |row| row.get(0)).await?)
}

/// A relation by its own id.
pub(crate) async fn get(tx: &mut Tx<'_>, site: &SiteId, kind: &'static str, id: &str) -> Result<Option<Relation>> {
    if id.contains('\0') {
        return Ok(None);
    }
    let sql = format!("{SELECT} where site = $1 and kind = $2 and id = $3");
    Ok(tx.row(&sql, &params![site, kind, id], read).await?)
}

/// Those of a kind that have one of these ids.
pub(crate) async fn some(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &'static str,
    ids: Vec<String>,
) -> Result<Vec<Relation>> {
    let is_one = tx.dialect().any_of("id", "$3");
    let sql = format!("{SELECT} where site = $1 and kind = $2 and {is_one}");
    Ok(tx.rows(&sql, &params![site, kind, ids], read).await?)
}

/// Changes what a relation holds.
pub(crate) async fn write(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &'static str,
    id: &str,
    doc: Map<String, Value>,
) -> Result<()> {
    let sql = "update stoa.member_tie set doc = $1 where site = $2 and kind = $3 and id = $4";
    Ok(tx.send(sql, params![Value::Object(doc).to_string(), site, kind, id]).await?)
}

/// Which relations of a kind are read: those of a filter after a position, in the order of holder and target.
pub(crate) struct RelationQuery<'a> {
    pub kind: &'static str,
    pub filter: &'a RelationFilter,
    pub after: Option<&'a Keyset>,
    pub limit: usize,
}

pub(crate) async fn page(tx: &mut Tx<'_>, site: &SiteId, query: RelationQuery<'_>) -> Result<Vec<Relation>> {
    let RelationQuery { kind, filter, after, limit } = query;
    let dialect = tx.dialect();
    let mut sql = Writer::new(dialect);
    sql.push(SELECT).push(" where site = ").bind(site).push(" and kind = ").bind(kind);
    for (column, list) in [("holder", &filter.holders), ("target", &filter.targets)] {
        let Some(list) = list else { continue };
        let ids = sql.param(without_nul(list));
        sql.push(" and ").push(&dialect.any_of(column, &ids));
    }
    sql.push(" and ");
    filter.matching.write(&mut sql, RelationField::column);
    if let Some(shown) = &filter.shown {
        shown.write(&mut sql, "member_tie");
    }
    if let Some(Keyset { holder, target }) = after {
        sql.push(" and (holder > ").bind(holder).push(" or (holder = ").bind(holder);
        sql.push(" and target > ").bind(target).push("))");
    }
    sql.push(" order by holder, target limit ").bind(limit as i64);
    let (text, values) = sql.finish();
    Ok(tx.rows(&text, &values, read).await?)
}

/// No id holds U+0000, and one engine refuses to look for it.
pub(crate) fn without_nul(ids: &[String]) -> Vec<String> {
    ids.iter().filter(|it| !it.contains('\0')).cloned().collect()
}

/// A page of relations, ordered by holder and target; `cursor` as the page before gave it, or empty.
///
/// # Errors
/// [`Code::CursorInvalid`].
pub(crate) async fn list(
    site: &Site,
    kind: &'static str,
    filter: &RelationFilter,
    limit: u32,
    cursor: &str,
) -> Result<RelationPage> {
    let (after, limit) = (read_cursor(cursor)?, limit.clamp(1, PAGE) as usize);
    let (site_id, filter) = (site.id.clone(), filter.clone());
    let read = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let query = RelationQuery { kind, filter: &filter, after: after.as_ref(), limit: limit + 1 };
            page(tx, &site_id, query).await
        })
    });
    Ok(RelationPage::cut(read.await?, limit))
}

/// All relations of a filter, in the order of holder and target.
pub(crate) async fn all_of(site: &Site, kind: &'static str, filter: &RelationFilter) -> Result<Vec<Relation>> {
    let mut all: Vec<Relation> = Vec::new();
    loop {
        let after = all.last().map(Relation::keyset);
        let (site_id, filter) = (site.id.clone(), filter.clone());
        let read = site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let query = RelationQuery { kind, filter: &filter, after: after.as_ref(), limit: AT_ONCE };
                page(tx, &site_id, query).await
            })
        });
        let some = read.await?;
        let is_last = some.len() < AT_ONCE;
        all.extend(some);
        if is_last {
            return Ok(all);
        }
    }
}

/// Whom of some others one holds a relation to, and which of them hold one to it.
pub struct Related {
    pub targets: HashSet<String>,
    pub holders: HashSet<String>,
}

pub(crate) async fn related(site: &Site, kind: &'static str, one: &str, others: &[String]) -> Result<Related> {
    let (site_id, one, others) = (site.id.clone(), one.to_owned(), without_nul(others));
    let found = site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let dialect = tx.dialect();
            let way = |other: &str, own: &str| {
                let is_other = dialect.any_of(other, "$4");
                format!(
                    "select '{other}', {other} from stoa.member_tie \
                     where site = $1 and kind = $2 and {own} = $3 and {is_other}"
                )
            };
            let sql = format!("{} union all {}", way("target", "holder"), way("holder", "target"));
            let read = |row: &Row<'_>| Ok((row.text(0)? == "target", row.get::<String>(1)?));
            Ok(tx.rows(&sql, &params![&site_id, kind, one, others], read).await?)
        })
    });
    let (targets, holders): (Vec<_>, Vec<_>) = found.await?.into_iter().partition(|it| it.0);
    let ids = |list: Vec<(bool, String)>| list.into_iter().map(|it| it.1).collect();
    Ok(Related { targets: ids(targets), holders: ids(holders) })
}

fn write_cursor(Keyset { holder, target }: &Keyset) -> String {
    URL_SAFE_NO_PAD.encode(format!("{holder}\n{target}"))
}

/// What a cursor says is only a position in a list that the caller may read anyway.
pub(crate) fn read_cursor(cursor: &str) -> Result<Option<Keyset>> {
    if cursor.is_empty() {
        return Ok(None);
    }
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (holder, target) = text.split_once('\n').filter(|_| !text.contains('\0'))?;
        Some(Keyset { holder: holder.to_owned(), target: target.to_owned() })
    };
    read().map(Some).ok_or_else(|| Fault::new(Code::CursorInvalid))
}
