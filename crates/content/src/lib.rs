//! Collections and their items: what may be stored, by whom, and how it is read again.
//!
//! Operations are methods of [`Content`], a noun and then a verb, each for one site and one caller. A
//! request passes [`rule`] before anything is read or written, and what a rule lets through becomes a
//! [`stoa_query::Scope`] inside the statement, never a filter on its answer. Nothing here knows HTTP or
//! how a caller was recognised.

mod bulk;
mod cache;
mod collection;
mod collection_change;
mod cursor;
mod definition;
mod event;
pub mod field;
mod include;
mod index;
mod index_auto;
mod index_build;
mod index_change;
mod index_unique;
mod item;
pub mod item_event;
mod limits;
mod ownership;
mod patch;
mod permission;
mod plugin;
mod read;
mod reference;
mod reference_call;
mod reference_filter;
mod reference_link;
mod reference_pair;
mod reference_query;
mod reference_write;
mod request;
mod rule;
mod rules;
mod sealed;
mod sealed_field;
mod sent;
mod shape;
mod sweep;
mod texts;
pub mod transfer;
mod write;

pub use bulk::{Action, Outcome};
pub use collection::{Collection, CollectionList, ListOptions};
pub use cursor::Cursors;
pub use index::Why;
pub use index_auto::AutoIndex;
pub use index_change::IndexList;
pub use item::{Item, Saved};
pub use item_event::ItemEvent;
pub use limits::Limits;
pub use read::Page;
pub use reference_call::ItemReference;
pub use request::{GetRequest, Request, json};
pub use rule::{Access, Grants, Level, Levels, Operation};

use std::sync::Arc;
use stoa_kernel::World;

/// The content of all sites of this process. Cheap to clone: clones share what they know of schemas.
#[derive(Clone)]
pub struct Content(Arc<Inner>);

struct Inner {
    world: World,
    limits: Limits,
    cache: cache::SchemaCache,
    cursors: cursor::Keys,
    sealing: sealed::Keys,
    noted: ownership::Noted,
    index_work: index_build::Work,
    noticed: index_auto::Noticed,
    running: sweep::Running,
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

    fn sealing_keys(&self) -> &sealed::Keys {
        &self.0.sealing
    }

    fn running(&self) -> &sweep::Running {
        &self.0.running
    }

    fn cache(&self) -> &cache::SchemaCache {
        &self.0.cache
    }

    fn noticed(&self) -> &index_auto::Noticed {
        &self.0.noticed
    }

    fn index_work(&self) -> &index_build::Work {
        &self.0.index_work
    }
}
