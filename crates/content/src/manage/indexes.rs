//! Indexes as they are asked for: made, dropped and listed. The work itself is in [`crate::index::build`].

use crate::{
    Content, RequestContext,
    collection::{
        self, access,
        stored::{StoredCollection, live},
    },
    drafts::Drafts,
    fault,
    index::step::{self, IndexRequest, Transition},
    schema::index::{self, Index, Source, Status},
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result};
use stoa_store::{ReaderPool, Site, boxed};

/// One page of indexes as wire objects.
pub struct IndexList {
    pub indexes: Vec<Value>,
    pub offset: usize,
    pub total: usize,
}

impl Content {
    /// Begins to make an index; it is built in the background. One that the server made by itself and that
    /// is just so becomes the caller's.
    ///
    /// # Errors
    /// WDE0027 without the right to manage collections, WDE0025, WDE0160 when the collection has as many as
    /// it may have, WDE0164 when the name is taken or there is one of the same fields, and what
    /// [`index::parse`] refuses.
    pub async fn index_create(&self, site: &Arc<Site>, caller: &Caller, id: &str, object: &Value) -> Result<Value> {
        let manager = access::manager_of(caller, id)?;
        let collection = collection::load(self, site, id).await?;
        manager.indexes(id, &collection.definition)?;
        let (name, definition) = index::parse(object, &collection.schema, self.limits())?;
        let request = IndexRequest { manager, name, definition, source: Source::User, why: None };
        let made = step::request(self, site, id, request).await?;
        Ok(made.view())
    }

    /// Begins to drop an index: no query uses it any more, and it is removed in the background.
    ///
    /// # Errors
    /// WDE0027, WDE0025, WDE0176 when there is none of this name, WDE0075 for a system index.
    pub async fn index_drop(&self, site: &Arc<Site>, caller: &Caller, id: &str, name: &str) -> Result<()> {
        let manager = access::manager_of(caller, id)?;
        manager.indexes(id, &collection::load(self, site, id).await?.definition)?;
        if index::is_system(name) {
            return Err(Fault::because(Code::RequestInvalid, format!("The index {name} belongs to the system.")));
        }
        if name.contains('\0') {
            return Err(fault::index_not_found(name));
        }
        let now = self.state.world.now();
        let input = (site.clone(), manager, id.to_owned(), name.to_owned());
        let dropped = site.write_with(input, move |tx, (site, manager, id, name)| {
            boxed!({
                let stored = live(tx, &site.id, id).await?.ok_or_else(|| fault::collection_not_found(id))?;
                let access = manager.indexes(id, &stored.definition)?;
                let is_named = |it: &&Index| it.name == *name && it.status != Status::Dropping;
                let found = stored.indexes.iter().find(is_named).ok_or_else(|| fault::index_not_found(name))?;
                let change = Transition { next: Status::Dropping, now };
                step::transition(tx, site, stored.number, found, change, &access).await
            })
        });
        dropped.await?;
        self.state.schema_cache.forget(&site.id, id);
        self.state.build_queue.add(site);
        Ok(())
    }

    /// A page of a collection's indexes: those of the system first, then the oldest first.
    ///
    /// # Errors
    /// WDE0027, WDE0025.
    pub async fn index_list(
        &self,
        site: &Arc<Site>,
        caller: &Caller,
        id: &str,
        offset: usize,
        limit: Option<usize>,
    ) -> Result<IndexList> {
        let stored = stored(RequestContext::new(self, site, caller, Drafts::Included), id).await?;
        let all: Vec<_> = index::system_views().chain(stored.indexes.iter().map(Index::view)).collect();
        let total = all.len();
        Ok(IndexList { indexes: all.into_iter().skip(offset).take(limit.unwrap_or(100)).collect(), offset, total })
    }

    /// How many more indexes the collection may have.
    ///
    /// # Errors
    /// WDE0027, WDE0025.
    pub async fn index_available(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        let stored = stored(RequestContext::new(self, site, caller, Drafts::Included), id).await?;
        let left = |unique: bool| step::most(self.limits(), unique).saturating_sub(step::count(&stored, unique));
        let (regular, unique) = (left(false), left(true));
        // A regular index may always have three fields, so none are left for one field only.
        Ok(json!({ "regular1Field": 0, "regular3Field": regular, "unique1Field": unique, "total": regular + unique }))
    }
}

/// A collection with its indexes as they are now, not as they were when the definition was last read.
async fn stored(context: RequestContext<'_>, id: &str) -> Result<StoredCollection> {
    access::manager(context.caller)?.definition(id)?;
    if id.is_empty() || id.contains('\0') {
        return Err(fault::collection_not_found(id));
    }
    let (site_id, name) = (context.site.id.clone(), id.to_owned());
    let stored = context.site.read(ReaderPool::Point, move |tx| boxed!(live(tx, &site_id, &name).await)).await?;
    stored.ok_or_else(|| fault::collection_not_found(id))
}
