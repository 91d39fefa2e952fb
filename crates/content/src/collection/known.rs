//! All collections of a site at one moment, and what a caller may know of them: what a schema of their items is made of.
//!
//! As single definitions are ([`crate::collection::cache`]), they are kept in memory, forgotten when one changes, and read
//! again after [`LIFE`](crate::collection::cache::LIFE) at the latest.

use crate::{
    Content,
    collection::stored::{self, StoredCollection},
    schema::{
        field::{self, Field},
        level::{Access, Operation, Reach},
    },
};
use std::sync::Arc;
use stoa_kernel::{Caller, Result, clock::Millis};
use stoa_store::{ReaderPool, Site, boxed};

/// The collections of a site that are not deleted, the oldest first.
pub(crate) struct Definitions {
    collections: Vec<StoredCollection>,
    version: Arc<[Version]>,
}

/// What of a collection changes whenever its definition does: its number, its revision, when it changed.
type Version = (i64, i64, Millis);

/// What a caller may know of a site's collections.
pub struct KnownCollections {
    definitions: Arc<Definitions>,
    /// By the places of the collections; nothing for those that the caller may not know of.
    rights: Vec<Option<ItemRights>>,
}

/// Tells the same definitions with the same rights from others. Two callers with one key may share what is made of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KnownKey {
    version: Arc<[Version]>,
    rights: Box<[Option<ItemRights>]>,
}

/// A collection that a caller may know of.
pub struct KnownCollection<'k> {
    pub id: &'k str,
    pub rights: ItemRights,
    /// The declared fields, in the order in which they were declared.
    pub fields: Vec<KnownField<'k>>,
}

/// What a caller may do with at least some items of a collection. Which items is decided with each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ItemRights {
    pub read: bool,
    pub insert: bool,
    pub update: bool,
    pub remove: bool,
}

/// A declared field.
#[derive(Debug, Clone, Copy)]
pub struct KnownField<'k> {
    pub key: &'k str,
    /// The name of its type (docs/protocol/content.md §6.3).
    pub kind: &'k str,
    /// The id of the collection that a reference leads to.
    pub target: Option<&'k str>,
}

impl Content {
    /// The collections of a site, as far as the caller may know of them: as [`Content::collection_list`] shows them.
    ///
    /// # Errors
    /// None of its own.
    pub async fn collections_known(&self, site: &Site, caller: &Caller) -> Result<KnownCollections> {
        let definitions = load(self, site).await?;
        let rights = definitions.collections.iter().map(|it| rights(it, caller)).collect();
        Ok(KnownCollections { definitions, rights })
    }
}

impl KnownCollections {
    pub fn key(&self) -> KnownKey {
        KnownKey { version: self.definitions.version.clone(), rights: self.rights.as_slice().into() }
    }

    /// The oldest first.
    pub fn iter(&self) -> impl Iterator<Item = KnownCollection<'_>> {
        let known = self.definitions.collections.iter().zip(&self.rights);
        known.filter_map(|(it, rights)| {
            let fields = it.definition.fields.iter().map(known_field).collect();
            Some(KnownCollection { id: &it.id, rights: (*rights)?, fields })
        })
    }
}

fn rights(collection: &StoredCollection, caller: &Caller) -> Option<ItemRights> {
    let access = Access {
        levels: collection.definition.levels,
        grants: collection.grants.grants(caller),
        reach: Reach::of(caller, &collection.id),
    };
    let may = |operation| access.allow(caller, operation);
    access.may_know(caller).then(|| ItemRights {
        // Who owns nothing finds nothing, and is not refused.
        read: access.scope(caller, Operation::Read).is_some(),
        insert: may(Operation::Insert),
        update: may(Operation::Update),
        remove: may(Operation::Remove),
    })
}

fn known_field(field: &Field) -> KnownField<'_> {
    KnownField { key: field::key(field), kind: field::kind(field), target: field::target_id(field) }
}

/// From memory as a rule.
async fn load(content: &Content, site: &Site) -> Result<Arc<Definitions>> {
    let (cache, now) = (&content.state.schema_cache, content.state.world.now());
    if let Some(known) = cache.all(&site.id, now) {
        return Ok(known);
    }
    // Of many requests that find nothing, one reads for all.
    let _turn = cache.turn_to_read(&site.id).await;
    if let Some(known) = cache.all(&site.id, now) {
        return Ok(known);
    }
    let (ticket, id) = (cache.ticket(), site.id.clone());
    let collections = site.read(ReaderPool::Point, move |tx| boxed!(stored::all_live(tx, &id).await)).await?;
    let version = collections.iter().map(|it| (it.number, it.revision, it.updated)).collect();
    let definitions = Arc::new(Definitions { collections, version });
    cache.keep_all(&ticket, &site.id, definitions.clone(), now);
    Ok(definitions)
}
