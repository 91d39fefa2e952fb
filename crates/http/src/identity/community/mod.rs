//! What members have beside their account (docs/protocol/identity.md §17), one file an entity.

pub mod about;
pub mod assignment;
pub mod badge;
pub mod block;
pub mod field;
pub mod follow;
pub mod privacy;
pub mod report;
pub mod role;

use super::{
    api_call::{Answer, answer},
    cursor::FilteredPage,
    filter::{self, Listed},
};
use serde_json::{Value, json};
use stoa_identity::{
    community::{Entity, EntityField, Kind, PAGE, RelationPage},
    member::Filter,
};
use stoa_kernel::Result;

fn one(kind: &Kind, entity: &Entity) -> Answer {
    answer(kind.wire, entity.to_json())
}

fn many<'a>(entities: impl IntoIterator<Item = &'a Entity>) -> Vec<Value> {
    entities.into_iter().map(Entity::to_json).collect()
}

/// What stands on a page of a whole list.
fn page<T>(all: &[T], (limit, offset): (u32, u32)) -> &[T] {
    let rest = all.get(offset as usize..).unwrap_or_default();
    &rest[..rest.len().min(limit as usize)]
}

fn offsets(count: usize, offset: u32, total: usize) -> Value {
    json!({ "count": count, "offset": offset, "total": total, "tooManyToCount": false })
}

fn cursors(count: usize, next: Option<&str>) -> Value {
    json!({ "count": count, "hasNext": next.is_some(), "cursors": { "next": next } })
}

fn cursors_of(relations: &RelationPage) -> Value {
    cursors(relations.items.len(), relations.next.as_deref())
}

/// The same for what a filter found.
fn filtered_cursors(asked: &FilteredPage, relations: &RelationPage) -> Value {
    cursors(relations.items.len(), asked.next(relations.next.as_deref()).as_deref())
}

/// The members whom a filter names by their ids, in its order; `None` where it asks for nothing.
///
/// # Errors
/// [`stoa_kernel::Code::Validation`]; [`stoa_kernel::Code::NotSupported`] for a filter that finds members otherwise than by naming them.
fn named_members(things: &Listed<EntityField>, sent: &Value) -> Result<Option<Vec<String>>> {
    let filter = filter::read(things, sent, "query.filter")?;
    if filter == Filter::default() {
        return Ok(None);
    }
    let why = || format!("{} are found by the ids of members", things.things);
    filter.named(EntityField::Id).map(Some).ok_or_else(|| filter::unsupported("query.filter", why()))
}
