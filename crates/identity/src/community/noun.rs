//! Nouns: objects around members that are read whole by their id.

use crate::{
    Core, Identity,
    community::{Kind, kind::PARTS, privacy, tie::without_nul},
    member::profile,
};
use serde_json::{Map, Value, json};
use stoa_kernel::{Caller, Code, Fault, Millis, Result, SiteId, Violation, clock::iso_from_millis};
use stoa_sql::params;
use stoa_store::{Lane, Row, Site, Tx, boxed};

/// Most bytes of one noun as JSON text.
const MAX_BYTES: usize = 128 * 1024;
/// Nouns that one order may name.
const ORDERED: usize = 500;

/// A noun as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Noun {
    pub id: String,
    pub doc: Map<String, Value>,
    pub position: i64,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
}

impl Noun {
    pub fn to_json(&self) -> Value {
        let mut object = self.doc.clone();
        object.insert("id".to_owned(), json!(self.id));
        object.insert("revision".to_owned(), json!(self.revision.to_string()));
        object.insert("createdDate".to_owned(), json!(iso_from_millis(self.created)));
        object.insert("updatedDate".to_owned(), json!(iso_from_millis(self.updated)));
        Value::Object(object)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.doc.get(name)?.as_str()
    }
}

/// Where a noun is moved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    First,
    Last,
    /// Behind the noun with this id.
    After(String),
}

/// Which nouns are meant: those that have one of the named values in each of the named members.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NounFilter(Vec<(String, Vec<Value>)>);

impl NounFilter {
    /// Reads a filter of the wire: a value, `$eq` or `$in` for each member. What is no object finds everything.
    pub fn parse(filter: &Value) -> Self {
        let values = |wanted: &Value| {
            let one = wanted.get("$eq").unwrap_or(wanted).clone();
            wanted["$in"].as_array().into_iter().flatten().cloned().chain([one]).collect()
        };
        Self(filter.as_object().into_iter().flatten().map(|(name, it)| (name.clone(), values(it))).collect())
    }

    /// Those with one of these ids.
    pub fn ids(ids: Vec<String>) -> Self {
        Self(vec![("id".to_owned(), ids.into_iter().map(Value::String).collect())])
    }

    fn fits(&self, noun: &Noun) -> bool {
        self.0.iter().all(|(name, values)| match name.as_str() {
            "id" => values.iter().any(|it| it == noun.id.as_str()),
            name => values.contains(noun.doc.get(name).unwrap_or(&Value::Null)),
        })
    }
}

impl Kind {
    /// Reads the members that this kind has; others are left out, null stays as the wish to remove.
    ///
    /// # Errors
    /// [`Code::Validation`].
    pub fn parse(&self, value: &Value, is_new: bool) -> Result<Map<String, Value>> {
        let doc = profile::object(value, self.wire, self.members).map_err(Fault::invalid)?;
        let is_missing = |name: &&&str| doc.get(**name).is_none_or(|it| it.is_null() || it == "");
        let missing: Vec<Violation> = match is_new {
            false => Vec::new(),
            true => self
                .required
                .iter()
                .filter(is_missing)
                .map(|it| Violation::new(format!("{}.{it}", self.wire), "REQUIRED_FIELD", "is required"))
                .collect(),
        };
        if !missing.is_empty() {
            return Err(Fault::invalid(missing));
        }
        if Value::Object(doc.clone()).to_string().len() > MAX_BYTES {
            return Err(Fault::invalid(vec![Violation::new(self.wire, "MAX_LENGTH", "it is too large")]));
        }
        Ok(doc)
    }
}

/// The revision that a change was made from, when the request names one.
///
/// # Errors
/// [`Code::Validation`].
pub fn revision_in(object: &Value) -> Result<Option<i64>> {
    match object.get("revision") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.parse::<i64>().is_ok() => Ok(text.parse().ok()),
        Some(Value::Number(number)) if number.is_i64() => Ok(number.as_i64()),
        Some(_) => Err(Fault::invalid(vec![Violation::new("revision", "FORMAT", "a whole number is expected")])),
    }
}

impl Identity {
    /// A noun.
    ///
    /// # Errors
    /// [`Code::Forbidden`]; [`Code::NotFound`].
    pub async fn noun_get(&self, site: &Site, caller: &Caller, kind: &'static Kind, id: &str) -> Result<Noun> {
        find(site, caller, kind, id).await
    }

    /// All nouns that a filter finds, in their order. A site has few of a kind.
    ///
    /// # Errors
    /// [`Code::Forbidden`].
    pub async fn noun_list(
        &self,
        site: &Site,
        caller: &Caller,
        kind: &'static Kind,
        filter: &NounFilter,
    ) -> Result<Vec<Noun>> {
        privacy::admit(site, caller, kind.read).await?;
        let site_id = site.id.clone();
        let mut found = site.read(Lane::Scan, move |tx| boxed!(all(tx, &site_id, kind).await)).await?;
        found.retain(|it| filter.fits(it) && kind.shows(it, caller));
        Ok(found)
    }
}

/// What [`Identity::noun_get`] does.
pub(crate) async fn find(site: &Site, caller: &Caller, kind: &'static Kind, id: &str) -> Result<Noun> {
    privacy::admit(site, caller, kind.read).await?;
    let (site_id, id) = (site.id.clone(), id.to_owned());
    let found = site.read(Lane::Point, move |tx| boxed!(get(tx, &site_id, kind, &id).await)).await?;
    found.filter(|it| kind.shows(it, caller)).ok_or_else(|| Fault::new(Code::NotFound))
}

/// Makes a noun; the caller of this checks who asks.
///
/// # Errors
/// [`Code::AlreadyExists`]; [`Code::TooMany`].
pub(crate) async fn create(
    core: &Core,
    site: &Site,
    kind: &'static Kind,
    id: &str,
    doc: Map<String, Value>,
) -> Result<Noun> {
    let (site_id, id, now) = (site.id.clone(), id.to_owned(), core.now());
    site.write(move |tx| {
        let (site, id, doc) = (site_id.clone(), id.clone(), doc.clone());
        boxed!(insert(tx, &site, kind, id, doc, now).await)
    })
    .await
}

/// Merges what `change` has into a noun; null removes a member.
///
/// # Errors
/// [`Code::NotFound`]; [`Code::RevisionOld`] when `revision` is not the current one;
/// [`Code::Validation`] when what stays as it was made would change.
pub(crate) async fn change(
    core: &Core,
    site: &Site,
    kind: &'static Kind,
    id: &str,
    revision: Option<i64>,
    change: Map<String, Value>,
) -> Result<Noun> {
    let (site_id, id, now) = (site.id.clone(), id.to_owned(), core.now());
    site.write(move |tx| {
        let (site, id, change) = (site_id.clone(), id.clone(), change.clone());
        boxed!({
            let mut noun = get(tx, &site, kind, &id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
            if revision.is_some_and(|it| it != noun.revision) {
                return Err(Fault::new(Code::RevisionOld).with("revision", noun.revision.to_string()));
            }
            for (name, value) in change {
                if kind.fixed.contains(&name.as_str()) && noun.doc.get(&name) != Some(&value) {
                    let field = format!("{}.{name}", kind.wire);
                    let violation = Violation::new(field, "FIELD_NOT_ALLOWED", "stays as it was made");
                    return Err(Fault::invalid(vec![violation]));
                }
                match value {
                    Value::Null => noun.doc.remove(&name),
                    value => noun.doc.insert(name, value),
                };
            }
            (noun.revision, noun.updated) = (noun.revision + 1, now);
            let sql = "update stoa.member_noun set doc = $1, revision = $2, updated = $3 \
                       where site = $4 and kind = $5 and id = $6";
            let text = Value::Object(noun.doc.clone()).to_string();
            tx.send(sql, params![text, noun.revision, now, &site, kind.name, &noun.id]).await?;
            Ok(noun)
        })
    })
    .await
}

/// Deletes a noun, its parts and the ties to it.
///
/// # Errors
/// [`Code::NotFound`]; [`Code::RevisionOld`].
pub(crate) async fn delete(site: &Site, kind: &'static Kind, id: &str, revision: Option<i64>) -> Result<()> {
    let (site_id, id) = (site.id.clone(), id.to_owned());
    site.write(move |tx| {
        let (site, id) = (site_id.clone(), id.clone());
        boxed!({
            let noun = get(tx, &site, kind, &id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
            if revision.is_some_and(|it| it != noun.revision) {
                return Err(Fault::new(Code::RevisionOld).with("revision", noun.revision.to_string()));
            }
            let parts = PARTS.iter().filter(|it| it.part_of.as_ref().is_some_and(|it| it.whole.name == kind.name));
            for name in parts.map(|it| it.name).chain([kind.name]) {
                let sql = "delete from stoa.member_noun where site = $1 and kind = $2 and id = $3";
                tx.send(sql, params![&site, name, &id]).await?;
            }
            let sql = "delete from stoa.member_tie where site = $1 and kind = $2 and target = $3";
            tx.send(sql, params![&site, kind.name, &id]).await?;
            Ok(())
        })
    })
    .await
}

/// Puts nouns in the given order, before all others, and answers all of them.
///
/// # Errors
/// [`Code::NotFound`] when one of them is not there; [`Code::TooMany`].
pub(crate) async fn order(site: &Site, kind: &'static Kind, ids: Vec<String>) -> Result<Vec<Noun>> {
    if ids.len() > ORDERED {
        return Err(Fault::new(Code::TooMany));
    }
    let site_id = site.id.clone();
    site.write(move |tx| {
        let (site, ids) = (site_id.clone(), ids.clone());
        boxed!({
            let mut nouns = all(tx, &site, kind).await?;
            if ids.iter().any(|id| !nouns.iter().any(|it| it.id == *id)) {
                return Err(Fault::new(Code::NotFound));
            }
            let place = |it: &Noun| ids.iter().position(|id| *id == it.id).unwrap_or(usize::MAX);
            nouns.sort_by_key(|it| (place(it), it.position));
            number(tx, &site, kind, nouns).await
        })
    })
    .await
}

/// Moves one noun among those of its kind.
///
/// # Errors
/// [`Code::NotFound`] when it, or the one that it is to stand behind, is not there.
pub(crate) async fn place(site: &Site, kind: &'static Kind, id: &str, to: Place) -> Result<()> {
    let (site_id, id) = (site.id.clone(), id.to_owned());
    site.write(move |tx| {
        let (site, id, to) = (site_id.clone(), id.clone(), to.clone());
        boxed!({
            let mut nouns = all(tx, &site, kind).await?;
            let find = |nouns: &[Noun], id: &str| {
                nouns.iter().position(|it| it.id == id).ok_or_else(|| Fault::new(Code::NotFound))
            };
            let from = find(&nouns, &id)?;
            let moved = nouns.remove(from);
            let place = match &to {
                Place::First => 0,
                Place::Last => nouns.len(),
                Place::After(other) => find(&nouns, other)? + 1,
            };
            nouns.insert(place, moved);
            number(tx, &site, kind, nouns).await.map(drop)
        })
    })
    .await
}

/// Puts a noun behind all others of its kind.
///
/// # Errors
/// [`Code::AlreadyExists`]; [`Code::TooMany`].
pub(crate) async fn insert(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &Kind,
    id: String,
    doc: Map<String, Value>,
    now: Millis,
) -> Result<Noun> {
    if kind.most < i64::MAX && count(tx, site, kind).await? >= kind.most {
        return Err(Fault::new(Code::TooMany));
    }
    let sql = "select coalesce(max(position), 0) from stoa.member_noun where site = $1 and kind = $2";
    let last: i64 = tx.row(sql, &params![site, kind.name], |row| row.get(0)).await?.unwrap_or(0);
    let noun = Noun { id, doc, position: last + 1, revision: 1, created: now, updated: now };
    let sql = "insert into stoa.member_noun (site, kind, id, doc, position, revision, created, updated) \
               values ($1, $2, $3, $4, $5, 1, $6, $6) on conflict do nothing";
    let text = Value::Object(noun.doc.clone()).to_string();
    match tx.execute(sql, &params![site, kind.name, &noun.id, text, noun.position, now]).await? {
        0 => Err(Fault::new(Code::AlreadyExists)),
        _ => Ok(noun),
    }
}

/// Writes the places of nouns as they stand in the list.
async fn number(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind, mut nouns: Vec<Noun>) -> Result<Vec<Noun>> {
    for (n, noun) in nouns.iter_mut().enumerate() {
        let position = n as i64 + 1;
        if noun.position != position {
            noun.position = position;
            let sql = "update stoa.member_noun set position = $1 where site = $2 and kind = $3 and id = $4";
            tx.send(sql, params![position, site, kind.name, &noun.id]).await?;
        }
    }
    Ok(nouns)
}

const SELECT: &str = "select id, doc, position, revision, created, updated from stoa.member_noun";

fn read(row: &Row<'_>) -> Result<Noun, stoa_store::Error> {
    Ok(Noun {
        id: row.get(0)?,
        doc: serde_json::from_str(row.text(1)?).unwrap_or_default(),
        position: row.get(2)?,
        revision: row.get(3)?,
        created: row.get(4)?,
        updated: row.get(5)?,
    })
}

pub(crate) async fn get(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind, id: &str) -> Result<Option<Noun>> {
    if id.contains('\0') {
        return Ok(None);
    }
    let sql = format!("{SELECT} where site = $1 and kind = $2 and id = $3");
    Ok(tx.row(&sql, &params![site, kind.name, id], read).await?)
}

/// Those of a kind that have one of these ids.
pub(crate) async fn some(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind, ids: &[String]) -> Result<Vec<Noun>> {
    let is_one = tx.dialect().any_of("id", "$3");
    let sql = format!("{SELECT} where site = $1 and kind = $2 and {is_one}");
    Ok(tx.rows(&sql, &params![site, kind.name, without_nul(ids)], read).await?)
}

/// All nouns of a kind, in their order.
pub(crate) async fn all(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind) -> Result<Vec<Noun>> {
    let sql = format!("{SELECT} where site = $1 and kind = $2 order by position, id");
    Ok(tx.rows(&sql, &params![site, kind.name], read).await?)
}

async fn count(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind) -> Result<i64> {
    let sql = "select count(*) from stoa.member_noun where site = $1 and kind = $2";
    Ok(tx.row(sql, &params![site, kind.name], |row| row.get(0)).await?.unwrap_or(0))
}
