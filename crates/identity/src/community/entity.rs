//! Entities: objects around members that are read whole by their id.

use crate::{
    Core,
    community::{
        kind::{Kind, PARTS},
        relation::without_nul,
    },
    log::PeopleEntry,
    member::{Filter, Operand, validator},
};
use serde_json::{Map, Value, json};
use stoa_kernel::{
    Caller, Code, EntryKind, EventActor, Fault, Millis, Result, SiteId, Violation, date::iso_from_millis,
};
use stoa_sql::params;
use stoa_store::{Row, Site, Tx, TxFuture, boxed};

/// Most bytes of one entity as JSON text.
const MAX_BYTES: usize = 128 * 1024;
/// Entities that one order may name.
const ORDERED: usize = 500;

/// A entity as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    pub id: String,
    pub doc: Map<String, Value>,
    pub position: i64,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
}

impl Entity {
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

/// Where in the order of its kind an entity is moved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    First,
    Last,
    /// Behind the entity with this id.
    After(String),
}

/// What entities can be filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityField {
    Id,
    Created,
    Updated,
    /// A member that holds text.
    Text(&'static str),
    /// A member that holds true or false.
    Flag(&'static str),
}

impl EntityField {
    /// The value of a member, if it has one.
    pub(crate) fn read(self, doc: &Map<String, Value>) -> Option<Operand> {
        match self {
            Self::Text(name) => doc.get(name)?.as_str().map(|it| Operand::Text(it.to_owned())),
            Self::Flag(name) => doc.get(name)?.as_bool().map(|it| Operand::Number(it.into())),
            Self::Id | Self::Created | Self::Updated => None,
        }
    }
}

/// Which entities are meant.
pub type EntityFilter = Filter<EntityField>;

impl EntityFilter {
    /// Those with one of these ids.
    pub fn ids(ids: Vec<String>) -> Self {
        Self::Any(ids.into_iter().map(|it| Self::equal(EntityField::Id, Operand::Text(it))).collect())
    }

    pub(crate) fn finds(&self, entity: &Entity) -> bool {
        self.fits(&|field| match field {
            EntityField::Id => Some(Operand::Text(entity.id.clone())),
            EntityField::Created => Some(Operand::Number(entity.created)),
            EntityField::Updated => Some(Operand::Number(entity.updated)),
            EntityField::Text(_) | EntityField::Flag(_) => field.read(&entity.doc),
        })
    }
}

impl Kind {
    /// Reads the members that this kind has; others are left out, null stays and removes.
    ///
    /// # Errors
    /// [`Code::Validation`].
    pub fn parse(&self, value: &Value, is_new: bool) -> Result<Map<String, Value>> {
        let is_missing = |name: &&&str| value.get(**name).is_none_or(|it| it.is_null() || it == "");
        let required = self.required.iter().filter(|_| is_new && value.is_object());
        let missing = required
            .filter(is_missing)
            .map(|it| Violation::new(format!("{}.{it}", self.wire), "REQUIRED_FIELD", "is required"));
        let missing: Vec<Violation> = missing.collect();
        let doc = match validator::object(value, self.wire, self.members) {
            Ok(doc) if missing.is_empty() => doc,
            read => return Err(Fault::invalid(read.err().into_iter().flatten().chain(missing).collect())),
        };
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

/// An entity that is to be made.
#[derive(Debug, Clone)]
pub(crate) struct NewEntity {
    pub id: String,
    pub doc: Map<String, Value>,
}

/// Makes an entity; the caller of this checks the permission.
///
/// # Errors
/// [`Code::AlreadyExists`]; [`Code::TooMany`].
pub(crate) async fn create(
    core: &Core,
    site: &Site,
    caller: &Caller,
    kind: &'static Kind,
    new: NewEntity,
) -> Result<Entity> {
    let by = Change::by(core, caller);
    site.write_with((site.id.clone(), new, by), move |tx, (site, new, by)| {
        boxed!(insert(tx, site, kind, new.clone(), by).await)
    })
    .await
}

/// Who changes entities, and when.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    actor: EventActor,
    pub now: Millis,
}

impl Change {
    pub(crate) fn by(core: &Core, caller: &Caller) -> Self {
        Self { actor: EventActor::of(caller), now: core.now() }
    }

    /// A row of the log, for what has such rows.
    async fn tell(&self, tx: &mut Tx<'_>, site: &SiteId, kind: Option<EntryKind>, id: &str) -> Result<()> {
        let Some(kind) = kind else { return Ok(()) };
        let entry = PeopleEntry { kind, actor: self.actor.clone(), now: self.now };
        entry.put_ids(tx, site, vec![id.to_owned()]).await
    }
}

/// A change of an entity.
#[derive(Debug, Clone)]
pub(crate) struct EntityChange {
    pub id: String,
    /// The revision that it was made from, if it says so.
    pub revision: Option<i64>,
    /// The members that it sets; null removes one.
    pub doc: Map<String, Value>,
}

/// Merges a change into an entity.
///
/// # Errors
/// [`Code::NotFound`]; [`Code::RevisionOld`] when the change was made from another revision;
/// [`Code::Validation`] when what stays as it was made would change.
pub(crate) async fn change(
    core: &Core,
    site: &Site,
    caller: &Caller,
    kind: &'static Kind,
    change: EntityChange,
) -> Result<Entity> {
    let by = Change::by(core, caller);
    site.write_with((site.id.clone(), change, by), move |tx, (site, change, by)| {
        boxed!({
            let entity = get(tx, site, kind, &change.id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
            merge(tx, site, kind, entity, change, by).await
        })
    })
    .await
}

/// Merges a change into the entity as it is now.
///
/// # Errors
/// As [`change`].
pub(crate) async fn merge(
    tx: &mut Tx<'_>,
    site: &SiteId,
    kind: &Kind,
    mut entity: Entity,
    change: &EntityChange,
    by: &Change,
) -> Result<Entity> {
    check_revision(&entity, change.revision)?;
    for (name, value) in &change.doc {
        if kind.fixed.contains(&name.as_str()) && entity.doc.get(name) != Some(value) {
            let field = format!("{}.{name}", kind.wire);
            let violation = Violation::new(field, "FIELD_NOT_ALLOWED", "stays as it was made");
            return Err(Fault::invalid(vec![violation]));
        }
        match value {
            Value::Null => entity.doc.remove(name),
            value => entity.doc.insert(name.clone(), value.clone()),
        };
    }
    (entity.revision, entity.updated) = (entity.revision + 1, by.now);
    let sql = "update stoa.member_noun set doc = $1, revision = $2, updated = $3 \
               where site = $4 and kind = $5 and id = $6";
    let text = Value::Object(entity.doc.clone()).to_string();
    tx.send(sql, params![text, entity.revision, by.now, site, kind.name, &entity.id]).await?;
    by.tell(tx, site, kind.rows.map(|it| it.updated), &entity.id).await?;
    Ok(entity)
}

fn check_revision(entity: &Entity, revision: Option<i64>) -> Result<()> {
    match revision {
        Some(it) if it != entity.revision => Err(revision_old(entity.revision)),
        _ => Ok(()),
    }
}

/// A change was made from another revision than the current one.
pub(crate) fn revision_old(current: i64) -> Fault {
    Fault::new(Code::RevisionOld).with("revision", current.to_string())
}

/// Refuses to delete an entity of this id, in the transaction that would.
pub(crate) type DeletionCheck = for<'t, 'c> fn(&'t mut Tx<'c>, &'t SiteId, &'t str) -> TxFuture<'t, ()>;

/// Deletes an entity, its parts and the relations to it. What goes with it has no rows of its own in the log.
///
/// # Errors
/// [`Code::NotFound`]; [`Code::RevisionOld`]; what the check refuses it with.
pub(crate) async fn delete(
    core: &Core,
    site: &Site,
    caller: &Caller,
    kind: &'static Kind,
    (id, revision): (&str, Option<i64>),
    check: DeletionCheck,
) -> Result<()> {
    let by = Change::by(core, caller);
    site.write_with((site.id.clone(), id.to_owned(), by), move |tx, (site, id, by)| {
        boxed!({
            let entity = get(tx, site, kind, id).await?.ok_or_else(|| Fault::new(Code::NotFound))?;
            check_revision(&entity, revision)?;
            check(tx, site, id).await?;
            let parts = PARTS.iter().filter(|it| it.part_of.as_ref().is_some_and(|it| it.whole.name == kind.name));
            for name in parts.map(|it| it.name).chain([kind.name]) {
                let sql = "delete from stoa.member_noun where site = $1 and kind = $2 and id = $3";
                tx.send(sql, params![site, name, id]).await?;
            }
            let sql = "delete from stoa.member_tie where site = $1 and kind = $2 and target = $3";
            tx.send(sql, params![site, kind.name, id]).await?;
            by.tell(tx, site, kind.rows.map(|it| it.deleted), id).await
        })
    })
    .await
}

/// Puts entities in the given order, before all others, and answers all of them.
///
/// # Errors
/// [`Code::NotFound`] when one of them is not there; [`Code::TooMany`].
pub(crate) async fn order(site: &Site, kind: &'static Kind, ids: Vec<String>) -> Result<Vec<Entity>> {
    if ids.len() > ORDERED {
        return Err(Fault::new(Code::TooMany));
    }
    site.write_with((site.id.clone(), ids), move |tx, (site, ids)| {
        boxed!({
            let mut entities = all(tx, site, kind).await?;
            if ids.iter().any(|id| !entities.iter().any(|it| it.id == *id)) {
                return Err(Fault::new(Code::NotFound));
            }
            let rank = |it: &Entity| ids.iter().position(|id| *id == it.id).unwrap_or(usize::MAX);
            entities.sort_by_key(|it| (rank(it), it.position));
            number(tx, site, kind, entities).await
        })
    })
    .await
}

/// Moves one entity among those of its kind.
///
/// # Errors
/// [`Code::NotFound`] when it, or the one that it is to stand behind, is not there.
pub(crate) async fn reorder(site: &Site, kind: &'static Kind, id: &str, to: Position) -> Result<()> {
    site.write_with((site.id.clone(), id.to_owned(), to), move |tx, (site, id, to)| {
        boxed!({
            let mut entities = all(tx, site, kind).await?;
            let find = |entities: &[Entity], id: &str| {
                entities.iter().position(|it| it.id == id).ok_or_else(|| Fault::new(Code::NotFound))
            };
            let from = find(&entities, id)?;
            let moved = entities.remove(from);
            let index = match to {
                Position::First => 0,
                Position::Last => entities.len(),
                Position::After(other) => find(&entities, other)? + 1,
            };
            entities.insert(index, moved);
            number(tx, site, kind, entities).await.map(drop)
        })
    })
    .await
}

/// Puts an entity behind all others of its kind.
///
/// # Errors
/// [`Code::AlreadyExists`]; [`Code::TooMany`].
pub(crate) async fn insert(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind, new: NewEntity, by: &Change) -> Result<Entity> {
    let (NewEntity { id, doc }, now) = (new, by.now);
    if kind.most < i64::MAX && count(tx, site, kind).await? >= kind.most {
        return Err(Fault::new(Code::TooMany));
    }
    let sql = "select coalesce(max(position), 0) from stoa.member_noun where site = $1 and kind = $2";
    let last: i64 = tx.row(sql, &params![site, kind.name], |row| row.get(0)).await?.unwrap_or(0);
    let entity = Entity { id, doc, position: last + 1, revision: 1, created: now, updated: now };
    let sql = "insert into stoa.member_noun (site, kind, id, doc, position, revision, created, updated) \
               values ($1, $2, $3, $4, $5, 1, $6, $6) on conflict do nothing";
    let text = Value::Object(entity.doc.clone()).to_string();
    match tx.execute(sql, &params![site, kind.name, &entity.id, text, entity.position, now]).await? {
        0 => return Err(Fault::new(Code::AlreadyExists)),
        _ => by.tell(tx, site, kind.rows.map(|it| it.created), &entity.id).await?,
    }
    Ok(entity)
}

/// Writes the positions of entities as they stand in the list.
async fn number(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind, mut entities: Vec<Entity>) -> Result<Vec<Entity>> {
    for (n, entity) in entities.iter_mut().enumerate() {
        let position = n as i64 + 1;
        if entity.position != position {
            entity.position = position;
            let sql = "update stoa.member_noun set position = $1 where site = $2 and kind = $3 and id = $4";
            tx.send(sql, params![position, site, kind.name, &entity.id]).await?;
        }
    }
    Ok(entities)
}

const SELECT: &str = "select id, doc, position, revision, created, updated from stoa.member_noun";

fn read(row: &Row<'_>) -> Result<Entity, stoa_store::Error> {
    Ok(Entity {
        id: row.get(0)?,
        doc: serde_json::from_str(row.text(1)?).unwrap_or_default(),
        position: row.get(2)?,
        revision: row.get(3)?,
        created: row.get(4)?,
        updated: row.get(5)?,
    })
}

pub(crate) async fn get(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind, id: &str) -> Result<Option<Entity>> {
    if id.contains('\0') {
        return Ok(None);
    }
    let sql = format!("{SELECT} where site = $1 and kind = $2 and id = $3");
    Ok(tx.row(&sql, &params![site, kind.name, id], read).await?)
}

/// Those of a kind that have one of these ids.
pub(crate) async fn some(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind, ids: &[String]) -> Result<Vec<Entity>> {
    let is_one = tx.dialect().any_of("id", "$3");
    let sql = format!("{SELECT} where site = $1 and kind = $2 and {is_one}");
    Ok(tx.rows(&sql, &params![site, kind.name, without_nul(ids)], read).await?)
}

/// All entities of a kind, in their order.
pub(crate) async fn all(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind) -> Result<Vec<Entity>> {
    let sql = format!("{SELECT} where site = $1 and kind = $2 order by position, id");
    Ok(tx.rows(&sql, &params![site, kind.name], read).await?)
}

async fn count(tx: &mut Tx<'_>, site: &SiteId, kind: &Kind) -> Result<i64> {
    let sql = "select count(*) from stoa.member_noun where site = $1 and kind = $2";
    Ok(tx.row(sql, &params![site, kind.name], |row| row.get(0)).await?.unwrap_or(0))
}
