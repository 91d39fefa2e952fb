//! Ties: what joins a member to another member or to a noun, by one statement either way.

use super::Noun;
use crate::Identity;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value};
use stoa_kernel::{Code, Fault, Millis, Result, SiteId};
use stoa_sql::{Writer, params};
use stoa_store::{Lane, Row, Site, Tx, boxed};

/// Ties on a page.
pub const PAGE: u32 = 100;
/// Ties of one kind that one holder may have.
const MOST: i64 = 5_000;

/// What a tie means. `role`, `badge` are named like the noun that they lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieKind {
    Role,
    Badge,
    Follow,
    Block,
    Report,
}

impl TieKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Badge => "badge",
            Self::Follow => "follow",
            Self::Block => "block",
            Self::Report => "report",
        }
    }
}

/// One tie.
#[derive(Debug, Clone, PartialEq)]
pub struct Tie {
    pub id: String,
    pub holder: String,
    pub target: String,
    pub doc: Map<String, Value>,
    pub created: Millis,
}

/// A page of ties and what leads to the next one.
#[derive(Debug, Default)]
pub struct Ties {
    pub ties: Vec<Tie>,
    pub next: Option<String>,
}

/// From which side a list of ties is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// All of a kind.
    All,
    /// Those that these hold.
    Of(Vec<String>),
    /// Those that lead to these.
    To(Vec<String>),
}

const SELECT: &str = "select id, holder, target, doc, created from stoa.member_tie";

fn read(row: &Row<'_>) -> Result<Tie, stoa_store::Error> {
    Ok(Tie {
        id: row.get(0)?,
        holder: row.get(1)?,
        target: row.get(2)?,
        doc: serde_json::from_str(row.text(3)?).unwrap_or_default(),
        created: row.get(4)?,
    })
}

/// Ties a holder to a target; `None` when they are tied already.
///
/// # Errors
/// [`Code::TooMany`].
pub(crate) async fn put(
    me: &Identity,
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: TieKind,
    (holder, target): (&str, &str),
    doc: Map<String, Value>,
) -> Result<Option<Tie>> {
    let sql = "select count(*) from stoa.member_tie where site = $1 and kind = $2 and holder = $3";
    let count: i64 = tx.row(sql, &params![site, kind.name(), holder], |row| row.get(0)).await?.unwrap_or(0);
    if count >= MOST {
        return Err(Fault::new(Code::TooMany));
    }
    let (holder, target) = (holder.to_owned(), target.to_owned());
    let tie = Tie { id: me.world().uuid(), holder, target, doc, created: me.now() };
    let sql = "insert into stoa.member_tie (site, kind, holder, target, id, doc, created) \
               values ($1, $2, $3, $4, $5, $6, $7) on conflict (site, kind, holder, target) do nothing";
    let text = Value::Object(tie.doc.clone()).to_string();
    let values = params![site, kind.name(), &tie.holder, &tie.target, &tie.id, text, tie.created];
    Ok((tx.execute(sql, &values).await? == 1).then_some(tie))
}

pub(crate) async fn drop(tx: &mut Tx<'_>, site: &SiteId, kind: TieKind, holder: &str, target: &str) -> Result<bool> {
    let sql = "delete from stoa.member_tie where site = $1 and kind = $2 and holder = $3 and target = $4";
    Ok(tx.execute(sql, &params![site, kind.name(), holder, target]).await? > 0)
}

pub(crate) async fn has(tx: &mut Tx<'_>, site: &SiteId, kind: TieKind, holder: &str, target: &str) -> Result<bool> {
    let sql = "select 1 from stoa.member_tie where site = $1 and kind = $2 and holder = $3 and target = $4";
    Ok(tx.row(sql, &params![site, kind.name(), holder, target], |_| Ok(())).await?.is_some())
}

impl Identity {
    /// A page of ties, ordered by holder and target; `cursor` as the page before gave it, or empty.
    ///
    /// # Errors
    /// [`Code::CursorInvalid`].
    pub async fn tie_list(&self, site: &Site, kind: TieKind, side: &Side, limit: u32, cursor: &str) -> Result<Ties> {
        let after = read_cursor(cursor)?;
        let (site_id, side, limit) = (site.id.clone(), side.clone(), limit.clamp(1, 1_000));
        let has_nul = |list: &[String]| list.iter().any(|it| it.contains('\0'));
        if matches!(&side, Side::Of(it) | Side::To(it) if it.is_empty() || has_nul(it)) {
            return Ok(Ties::default());
        }
        site.read(Lane::Scan, move |tx| {
            boxed!({
                let dialect = tx.dialect();
                let mut sql = Writer::new(dialect);
                sql.push(SELECT).push(" where site = ").bind(&site_id).push(" and kind = ").bind(kind.name());
                if let Side::Of(list) | Side::To(list) = &side {
                    let column = if matches!(side, Side::Of(_)) { "holder" } else { "target" };
                    let place = sql.param(list.clone());
                    sql.push(" and ").push(&dialect.any_of(column, &place));
                }
                if let Some((holder, target)) = after {
                    sql.push(" and (holder > ").bind(holder.clone()).push(" or (holder = ").bind(holder);
                    sql.push(" and target > ").bind(target).push("))");
                }
                sql.push(" order by holder, target limit ").bind(limit + 1);
                let (text, values) = sql.finish();
                let mut ties = tx.rows(&text, &values, read).await?;
                let has_more = ties.len() > limit as usize;
                ties.truncate(limit as usize);
                let next = ties.last().filter(|_| has_more).map(|it| write_cursor(&it.holder, &it.target));
                Ok(Ties { ties, next })
            })
        })
        .await
    }

    /// How many ties lead to each of these, in their order. One statement for each, so few are asked.
    pub async fn tie_counts(&self, site: &Site, kind: TieKind, nouns: &[Noun]) -> Result<Vec<(String, i64)>> {
        let (site_id, ids) = (site.id.clone(), nouns.iter().map(|it| it.id.clone()).collect::<Vec<_>>());
        site.read(Lane::Scan, move |tx| {
            boxed!({
                let sql = "select target, count(*) from stoa.member_tie where site = $1 and kind = $2 group by target";
                let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<i64>(1)?));
                let counts = tx.rows(sql, &params![&site_id, kind.name()], read).await?;
                let count = |id: &String| counts.iter().find(|it| it.0 == *id).map_or(0, |it| it.1);
                Ok(ids.iter().map(|it| (it.clone(), count(it))).collect())
            })
        })
        .await
    }
}

fn write_cursor(holder: &str, target: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{holder}\n{target}"))
}

/// What a cursor says is only a place in a list that the caller may read anyway.
fn read_cursor(cursor: &str) -> Result<Option<(String, String)>> {
    if cursor.is_empty() {
        return Ok(None);
    }
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (holder, target) = text.split_once('\n').filter(|_| !text.contains('\0'))?;
        Some((holder.to_owned(), target.to_owned()))
    };
    read().map(Some).ok_or_else(|| Fault::new(Code::CursorInvalid))
}
