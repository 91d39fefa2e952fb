//! What members have beside their account: roles, badges, custom fields, followers, blocks, reports,
//! abouts, and how much of it others see (docs/protocol/identity.md §17).
//!
//! Two tables carry all of it. An *entity* is an object that is read whole by its id ([`entity`]); a *relation*
//! joins a member to another member or to an entity ([`relation`]). What a kind of entity may hold, and who reads it,
//! is a line of [`kind`]. Relations are of two sorts: operators of the site assign roles and badges
//! ([`Assignable`]), members follow, block and report each other ([`Interaction`]).

mod about;
mod assignment;
pub(crate) mod check;
mod definition;
pub mod entity;
mod field;
mod interaction;
pub mod kind;
pub(crate) mod relation;
pub(crate) mod report;
mod role;
pub(crate) mod setting;
mod tag;
mod visibility;

pub use assignment::Assignable;
pub use entity::{Entity, EntityField, EntityFilter, Position};
pub use field::Applications;
pub use interaction::Side;
pub use kind::Kind;
pub use relation::{Interaction, PAGE, Related, Relation, RelationField, RelationFilter, RelationPage};
pub use report::ReportedMember;
pub use role::AssignedRole;
pub use tag::TagUpdate;
