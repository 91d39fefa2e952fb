//! Lists of members: filters and orders that an index serves, in pages by offset or by cursor.
//!
//! A query may name only what has a column. Who may see members by what they show of themselves is part of
//! the statement. [`MemberQuery::page`] and [`MemberQuery::count`] are the statements: pure, so that how the
//! engines go about them can be inspected.

use crate::{
    Identity,
    member::{
        Member,
        filter::{Filter, Operand},
        row,
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use stoa_kernel::{Code, Fault, MemberId, Millis, Result, SiteId};
use stoa_sql::{Dialect, Value, Writer};
use stoa_store::{ReaderPool, Site, boxed};

/// More members than this are not counted: a page is not to wait for its total.
const COUNTED: i64 = 1_500;

/// Whom a list is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Operators of the site: all who are there, also those whose deletion waits.
    Staff,
    /// All others: active members with a public profile.
    Public,
}

/// What members can be filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberField {
    Id,
    Email,
    Status,
    Nickname,
    Slug,
    Privacy,
    Muted,
    Created,
    Updated,
    LastLogin,
}

/// A filter on members; values are folded already where the column is.
pub type MemberFilter = Filter<MemberField>;

/// An order; the newest first by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MemberSort {
    #[default]
    Created,
    LastLogin,
    Nickname,
    Email,
}

/// Which part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Paging {
    Offset(u32),
    /// Behind what a cursor names; the first page for an empty one. In the default order only.
    After(String),
}

/// A list of members.
#[derive(Debug, Clone)]
pub struct MemberQuery {
    pub filter: MemberFilter,
    pub sort: MemberSort,
    pub is_ascending: bool,
    pub limit: u32,
    pub paging: Paging,
    /// Who reads a list for [`Audience::Public`]: those who have blocked them are not in it.
    pub viewer: Option<MemberId>,
}

impl Default for MemberQuery {
    fn default() -> Self {
        let (filter, sort) = (MemberFilter::default(), MemberSort::default());
        Self { filter, sort, is_ascending: false, limit: 50, paging: Paging::Offset(0), viewer: None }
    }
}

/// A page of members.
#[derive(Debug)]
pub struct MemberPage {
    pub members: Vec<Member>,
    /// How many there are, up to [`COUNTED`]; none for pages by cursor.
    pub total: Option<i64>,
    pub is_more_than_counted: bool,
    /// Leads to the next page, when there is one.
    pub next: Option<String>,
}

impl MemberField {
    fn column(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Email => "email_folded",
            // As `Member::shown_status` has it, but for the name of ACTIVE. `has_status` says the same in a form that an index
            // serves.
            Self::Status => {
                "case when deletion_due is null then status when deletion_kept_as = 'BLOCKED' then 'BLOCKED' \
                 else 'OFFLINE' end"
            }
            Self::Nickname => "nickname_folded",
            Self::Slug => "slug_folded",
            Self::Privacy => "privacy",
            Self::Muted => "muted",
            Self::Created => "created",
            Self::Updated => "updated",
            Self::LastLogin => "coalesce(last_login, 0)",
        }
    }
}

/// Appends the condition that a member has a status, as [`MemberField::column`] reads it.
fn has_status(field: MemberField, operand: &Operand, sql: &mut Writer<'_>) -> bool {
    let (MemberField::Status, Operand::Text(status)) = (field, operand) else { return false };
    sql.push("((status = ").bind(status.as_str()).push(" and deletion_due is null)");
    match status.as_str() {
        "BLOCKED" => {
            sql.push(" or (deletion_due is not null and deletion_kept_as = 'BLOCKED')");
        }
        "OFFLINE" => {
            sql.push(" or (deletion_due is not null and (deletion_kept_as is null or deletion_kept_as <> 'BLOCKED'))");
        }
        _ => {}
    }
    sql.push(")");
    true
}

impl MemberSort {
    /// What makes the order total differs, so that an index has all of it: addresses are unique.
    fn order(self, is_ascending: bool) -> &'static str {
        match (self, is_ascending) {
            (Self::Created, true) => "created asc, id asc",
            (Self::Created, false) => "created desc, id desc",
            (Self::LastLogin, true) => "coalesce(last_login, 0) asc, id asc",
            (Self::LastLogin, false) => "coalesce(last_login, 0) desc, id desc",
            (Self::Nickname, true) => "nickname_folded asc, created desc, id desc",
            (Self::Nickname, false) => "nickname_folded desc, created asc, id asc",
            (Self::Email, true) => "email_folded asc",
            (Self::Email, false) => "email_folded desc",
        }
    }
}

impl MemberQuery {
    /// The statement of a page: one member more than asked for tells whether there is a next one.
    ///
    /// # Errors
    /// [`Code::CursorInvalid`]; [`Code::PagingInvalid`] for a cursor with another order than the default.
    pub fn page(&self, dialect: &dyn Dialect, site: &SiteId, audience: Audience) -> Result<(String, Vec<Value>)> {
        let after = match &self.paging {
            Paging::After(_) if self.sort != MemberSort::Created || self.is_ascending => {
                return Err(Fault::because(Code::PagingInvalid, "a cursor goes with the default order"));
            }
            Paging::After(cursor) if !cursor.is_empty() => Some(read_cursor(cursor)?),
            _ => None,
        };
        let mut sql = Writer::new(dialect);
        sql.push(row::SELECT).push(" where site = ").bind(site);
        self.condition(&mut sql, audience);
        if let Some((created, id)) = after {
            sql.push(" and (created < ").bind(created).push(" or (created = ").bind(created);
            sql.push(" and id < ").bind(id).push("))");
        }
        sql.push(" order by ").push(self.sort.order(self.is_ascending)).push(" limit ").bind(self.limit + 1);
        if let Paging::Offset(offset) = self.paging {
            sql.push(" offset ").bind(offset);
        }
        Ok(sql.finish())
    }

    /// The statement of the total, up to one more than [`COUNTED`]; none for pages by cursor.
    pub fn count(&self, dialect: &dyn Dialect, site: &SiteId, audience: Audience) -> Option<(String, Vec<Value>)> {
        let Paging::Offset(_) = self.paging else { return None };
        let mut sql = Writer::new(dialect);
        sql.push("select count(*) from (select 1 as one from stoa.member where site = ").bind(site);
        self.condition(&mut sql, audience);
        sql.push(" limit ").bind(COUNTED + 1).push(") as counted");
        Some(sql.finish())
    }

    fn condition(&self, sql: &mut Writer<'_>, audience: Audience) {
        match (audience, &self.viewer) {
            (Audience::Staff, _) => {
                sql.push(" and (status <> 'DELETED' or deletion_due is not null)");
            }
            (Audience::Public, viewer) => {
                sql.push(" and privacy = 'PUBLIC' and status = 'ACTIVE'");
                if let Some(viewer) = viewer {
                    sql.push(
                        " and not exists (select 1 from stoa.member_tie as relation where relation.site = member.site",
                    );
                    sql.push(" and relation.kind = 'block' and relation.holder = member.id and relation.target = ")
                        .bind(viewer)
                        .push(")");
                }
            }
        }
        sql.push(" and ");
        self.filter.write_with(sql, MemberField::column, has_status);
    }
}

impl Identity {
    /// A page of members. Deleted members are not shown.
    ///
    /// # Errors
    /// [`Code::CursorInvalid`]; [`Code::PagingInvalid`] for a cursor with another order than the default.
    pub async fn member_query(&self, site: &Site, audience: Audience, query: &MemberQuery) -> Result<MemberPage> {
        find(site, audience, query).await
    }
}

/// What [`Identity::member_query`] does.
pub(crate) async fn find(site: &Site, audience: Audience, query: &MemberQuery) -> Result<MemberPage> {
    let page = query.page(site.dialect(), &site.id, audience)?;
    let count = query.count(site.dialect(), &site.id, audience);
    let limit = query.limit as usize;
    site.read(ReaderPool::Scan, move |tx| {
        boxed!({
            let mut members = tx.rows(&page.0, &page.1, row::from_row).await?;
            let has_more = members.len() > limit;
            members.truncate(limit);
            let next = members.last().filter(|_| has_more).map(|it| cursor(it.created, it.id.as_str()));
            let total = match &count {
                Some((text, values)) => tx.row(text, values, |row| row.get::<i64>(0)).await?,
                None => None,
            };
            let is_more_than_counted = total.is_some_and(|it| it > COUNTED);
            Ok(MemberPage { members, total: total.map(|it| it.min(COUNTED)), is_more_than_counted, next })
        })
    })
    .await
}

fn cursor(created: Millis, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{created}:{id}"))
}

/// What a cursor says is only a position in a list that the caller may read anyway.
fn read_cursor(cursor: &str) -> Result<(Millis, String)> {
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (created, id) = text.split_once(':').filter(|it| !it.1.contains('\0'))?;
        Some((created.parse().ok()?, id.to_owned()))
    };
    read().ok_or_else(|| Fault::new(Code::CursorInvalid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_comes_back_as_it_was() {
        assert_eq!(read_cursor(&cursor(12, "a:b")).ok(), Some((12, "a:b".to_owned())));
        for bad in ["%", "", "YQ", "OjE"] {
            assert!(read_cursor(bad).is_err(), "{bad}");
        }
    }
}
