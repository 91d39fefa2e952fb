//! Schemas that were made, so that a request makes none as a rule.

use super::types;
use quick_cache::{Weighter, sync::Cache};
use std::sync::Arc;
use stoa_content::{KnownCollections, KnownKey};
use stoa_graphql::SiteSchema;
use stoa_kernel::{Fault, Result, SiteId};

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
    pub(super) async fn of(&self, site: &SiteId, known: KnownCollections) -> Result<Arc<SiteSchema>> {
        let key = (site.clone(), known.key());
        self.cache.get_or_insert_async(&key, make(known)).await
    }
}

impl Default for Schemas {
    fn default() -> Self {
        Self::new(stoa_graphql::GraphqlLimits::default().graphql_schema_bytes)
    }
}

async fn make(known: KnownCollections) -> Result<Arc<SiteSchema>> {
    let made = tokio::task::spawn_blocking(move || SiteSchema::build(&types(&known)));
    let made = made.await.map_err(Fault::internal)?;
    Ok(Arc::new(made.map_err(Fault::internal)?))
}
