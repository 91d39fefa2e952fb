//! A collection as it is stored and loaded (docs/protocol/content.md §6), and who may do what in it. How one
//! changes is in [`crate::manage::collections`].

pub(crate) mod access;
pub(crate) mod asker;
pub(crate) mod cache;
pub(crate) mod cipher;
pub(crate) mod field_view;
pub(crate) mod job;
pub(crate) mod known;
pub(crate) mod list;
pub(crate) mod save;
pub(crate) mod site_key;
pub(crate) mod statements;
pub(crate) mod stored;
pub(crate) mod translation;
pub(crate) mod view;

pub(crate) use cache::{load, load_existing};

use crate::{
    collection::{statements::Statements, stored::StoredCollection},
    schema::{
        definition::Definition,
        encrypted::EncryptedFields,
        index::{Index, Status},
        level::{Access, Levels, Reach},
        page_link::PageLinks,
        relation::Link,
        rules::Rules,
        special::PrincipalGrants,
        translatable::TranslatableFields,
    },
};
use parking_lot::RwLock;
use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};
use stoa_kernel::{Caller, CollectionId, clock::Millis};
use stoa_query::schema::{IndexSpec, Schema};
use stoa_sql::Table;
use stoa_store::Site;

/// A collection as operations on its items need it.
pub struct Collection {
    pub id: CollectionId,
    pub revision: i64,
    pub created: Millis,
    pub updated: Millis,
    pub definition: Definition,
    pub(crate) table: Table,
    pub(crate) grants: PrincipalGrants,
    pub(crate) indexes: Vec<Index>,
    pub(crate) schema: Schema,
    /// The fields whose values are stored encrypted.
    pub(crate) encrypted: EncryptedFields,
    /// The fields whose values are calculated.
    pub(crate) page_links: PageLinks,
    /// The fields that may have values in other languages.
    pub(crate) translatable: TranslatableFields,
    pub(crate) statements: Statements,
    /// Where the multi-reference fields find their links.
    pub(crate) links: HashMap<String, Link>,
    /// Indexes by which a page met an item with an array in one of their fields, so that the next page by
    /// them doesn't try to do without such items (`stoa_query::compile::find_scalar`).
    pub(crate) array_valued_indexes: RwLock<Vec<i64>>,
    rules: OnceLock<Rules>,
}

impl Collection {
    pub fn levels(&self) -> &Levels {
        &self.definition.levels
    }

    /// What decides on this caller's rights here.
    pub(crate) fn access(&self, caller: &Caller) -> Access {
        Access {
            levels: self.definition.levels,
            grants: self.grants.grants(caller),
            reach: Reach::of(caller, self.id.as_str()),
        }
    }

    /// Whether the caller may manage drafts of this collection, so may know of the one that has them.
    pub(crate) fn may_know_drafts(&self, caller: &Caller) -> bool {
        let id = self.id.as_str();
        let access = |drafts: &str, levels, grants: PrincipalGrants| {
            Access { levels, grants: grants.grants(caller), reach: Reach::of(caller, drafts) }.may_know(caller)
        };
        if self.definition.published_id().is_some() {
            return access(id, self.definition.levels, self.grants.clone());
        }
        // Older versions kept the plugin without its pair.
        let drafts = self.definition.drafts_id().unwrap_or(id);
        self.definition.draft_levels().is_some()
            && access(drafts, self.definition.of_drafts(id).levels, self.grants.clone().for_drafts())
    }

    /// Whether those who may read its items may follow them as well.
    pub(crate) fn is_realtime(&self) -> bool {
        self.definition.realtime
    }

    /// What items are held to, read from the definition when it is first needed.
    pub(crate) fn rules(&self) -> &Rules {
        self.rules.get_or_init(|| Rules::new(&self.definition))
    }

    pub(crate) fn new(site: &Site, stored: StoredCollection) -> Self {
        let table = Table { site: site.number, number: stored.number };
        let page_links = PageLinks::of(&stored.definition);
        let mut schema = Schema { indexes: ready(&stored.indexes), ..stored.definition.schema() };
        schema.fields.extend(page_links.kinds());
        Self {
            statements: Statements::new(site.dialect(), table, &stored.id),
            table,
            schema,
            encrypted: EncryptedFields::of(&stored.definition.fields),
            page_links,
            translatable: TranslatableFields::of(&stored.definition),
            indexes: stored.indexes,
            grants: stored.grants,
            links: HashMap::new(),
            id: stored.id.into(),
            revision: stored.revision,
            created: stored.created,
            updated: stored.updated,
            definition: stored.definition,
            array_valued_indexes: RwLock::default(),
            rules: OnceLock::new(),
        }
    }
}

/// The indexes that queries may be planned with.
fn ready(indexes: &[Index]) -> Arc<[IndexSpec]> {
    indexes.iter().filter(|it| it.status == Status::Active).map(Index::spec).collect()
}
