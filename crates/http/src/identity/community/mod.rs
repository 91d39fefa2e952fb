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

use super::api_call::{Answer, answer, strings};
use serde_json::{Value, json};
use stoa_identity::community::{Entity, Kind, PAGE, RelationPage};
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

/// The strings that a filter wants in a field: one, `$eq` or `$in`.
fn wanted(filter: &Value, name: &str) -> Result<Vec<String>> {
    let wanted = &filter[name];
    strings(wanted.get("$in").or(wanted.get("$eq")).unwrap_or(wanted), name)
}
