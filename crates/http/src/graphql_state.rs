//! What GraphQL keeps between requests: its limits, and schemas that were made, so that a request makes none as a rule.

use quick_cache::{Weighter, sync::Cache};
use std::sync::Arc;
use stoa_content::{KnownCollections, KnownKey};
use stoa_graphql::{CollectionType, FieldKind, FieldType, GraphqlLimits, Rights, SiteSchema};
use stoa_kernel::{Fault, Result, SiteId};

/// What GraphQL needs beside content.
#[derive(Default)]
pub struct Graphql {
    pub(crate) limits: Arc<GraphqlLimits>,
    pub(crate) schemas: Schemas,
}

impl Graphql {
    pub fn new(limits: GraphqlLimits) -> Self {
        Self { schemas: Schemas::new(limits.graphql_schema_bytes), limits: Arc::new(limits) }
    }
}

/// Schemas by site, definitions, and rights of the caller. Where they change there is another key, and the old one is
/// pushed out in time.
pub struct Schemas {
    cache: Cache<Key, Arc<SiteSchema>, BySize>,
}

type Key = (SiteId, KnownKey);

/// A schema counts as its text.
#[derive(Clone)]
struct BySize;

impl Weighter<Key, Arc<SiteSchema>> for BySize {
    fn weight(&self, _: &Key, schema: &Arc<SiteSchema>) -> u64 {
        schema.text().len() as u64
    }
}

/// About the size of a small schema: how many there is room for at first.
const SMALL: usize = 4_096;

impl Schemas {
    /// Room for schemas whose texts have so many bytes together.
    pub fn new(bytes: usize) -> Self {
        Self { cache: Cache::with_weighter(bytes / SMALL, bytes as u64, BySize) }
    }

    /// The schema of what a caller may know of; the first who asks makes it, off the threads that answer requests, and
    /// the others wait for that.
    ///
    /// # Errors
    /// A schema that breaks the language's rules: a fault of the server.
    pub(crate) async fn of(&self, site: &SiteId, known: KnownCollections) -> Result<Arc<SiteSchema>> {
        let key = (site.clone(), known.key());
        self.cache.get_or_insert_async(&key, make(known)).await
    }
}

impl Default for Schemas {
    fn default() -> Self {
        Self::new(GraphqlLimits::default().graphql_schema_bytes)
    }
}

async fn make(known: KnownCollections) -> Result<Arc<SiteSchema>> {
    let made = tokio::task::spawn_blocking(move || SiteSchema::build(&types(&known)));
    let made = made.await.map_err(Fault::internal)?;
    Ok(Arc::new(made.map_err(Fault::internal)?))
}

/// The collections that a caller may know of, as a schema is made of them.
fn types(known: &KnownCollections) -> Vec<CollectionType> {
    let kind = |kind: &str, target: Option<&str>| match (kind, target) {
        ("REFERENCE", Some(target)) => FieldKind::Single(target.to_owned()),
        ("MULTI_REFERENCE", Some(target)) => FieldKind::Multi(target.to_owned()),
        ("NUMBER", _) => FieldKind::Number,
        ("BOOLEAN", _) => FieldKind::Boolean,
        ("DATETIME", _) => FieldKind::DateTime,
        ("ARRAY_STRING", _) => FieldKind::Texts,
        (
            "TEXT" | "URL" | "EMAIL" | "SLUG" | "LANGUAGE" | "RICH_TEXT" | "IMAGE" | "DOCUMENT" | "VIDEO" | "AUDIO"
            | "DATE" | "TIME",
            _,
        ) => FieldKind::Text,
        _ => FieldKind::Any,
    };
    let collection = |it: stoa_content::KnownCollection<'_>| CollectionType {
        id: it.id.to_owned(),
        rights: Rights {
            read: it.rights.read,
            insert: it.rights.insert,
            update: it.rights.update,
            remove: it.rights.remove,
        },
        fields: it
            .fields
            .iter()
            .map(|it| FieldType { key: it.key.to_owned(), kind: kind(it.kind, it.target) })
            .collect(),
    };
    known.iter().map(collection).collect()
}
