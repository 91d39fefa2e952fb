//! Collections and their items: what may be stored, by whom, and how it is read again.
//!
//! Operations are methods of [`Content`], a noun and then a verb, each for one site and one caller. A
//! request passes [`rule`] before anything is read or written, and what a rule lets through becomes a
//! [`stoa_query::Scope`] inside the statement, never a filter on its answer. Nothing here knows HTTP or
//! how a caller was recognised.

mod collection;
pub mod event;
mod index;
mod item;
mod limits;
mod manage;
mod page;
mod reference;
pub mod schema;
pub mod transfer;
mod wire;

pub use collection::{Collection, CollectionList, ListOptions};
pub use event::read::ItemEvent;
pub use index::auto::AutoIndex;
pub use item::{
    bulk::{Action, Outcome},
    calls::{Item, Saved},
    query::Page,
};
pub use limits::Limits;
pub use manage::indexes::IndexList;
pub use page::cursor::Cursors;
pub use reference::calls::ItemReference;
pub use schema::{
    index::Why,
    level::{Access, Grants, Level, Levels, Operation},
};
use std::sync::Arc;
use stoa_kernel::World;
pub use wire::request::{GetRequest, Request, json};

use collection::{cache, vault};
use index::{auto, build};
use item::{ownership, truncate};
use page::cursor;

/// The content of all sites of this process. Cheap to clone: clones share what they know of schemas.
#[derive(Clone)]
pub struct Content(Arc<Inner>);

struct Inner {
    world: World,
    limits: Limits,
    cache: cache::SchemaCache,
    cursors: cursor::Keys,
    sealing: vault::Keys,
    noted: ownership::Noted,
    index_work: build::Work,
    noticed: auto::Noticed,
    running: truncate::Running,
}

impl Content {
    pub fn new(world: World, limits: Limits) -> Self {
        Self(Arc::new(Inner {
            world,
            limits,
            cache: Default::default(),
            cursors: Default::default(),
            sealing: Default::default(),
            noted: Default::default(),
            index_work: Default::default(),
            noticed: Default::default(),
            running: Default::default(),
        }))
    }

    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    fn world(&self) -> &World {
        &self.0.world
    }

    fn cursor_keys(&self) -> &cursor::Keys {
        &self.0.cursors
    }

    fn sealing_keys(&self) -> &vault::Keys {
        &self.0.sealing
    }

    fn running(&self) -> &truncate::Running {
        &self.0.running
    }

    fn cache(&self) -> &cache::SchemaCache {
        &self.0.cache
    }

    fn noticed(&self) -> &auto::Noticed {
        &self.0.noticed
    }

    fn index_work(&self) -> &build::Work {
        &self.0.index_work
    }
}
