//! The steps of an index's life that a row takes: asked for, adopted, moved along the diagram.

use crate::{
    Content,
    collection::{
        access::{ManageAccess, Manager},
        save,
        stored::{StoredCollection, live},
    },
    fault,
    index::consent,
    limits::ContentLimits,
    log::CollectionEntry,
    schema::{
        encrypted,
        index::{self, Index, IndexDefinition, Source, Status, Why},
        level::Level,
    },
};
use std::sync::Arc;
use stoa_kernel::{Code, EntryKind, Fault, Result, SiteId, clock::Millis};
use stoa_sql::{Table, params};
use stoa_store::{Site, Tx, boxed};

const INSERT: &str = "insert into stoa.content_index (site, collection, number, id, name, definition, source, status, \
                      why, attempts, used, created, updated) \
                      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11, $12) on conflict do nothing";

/// An index that is to be made.
pub(crate) struct IndexRequest {
    /// Who asks for it.
    pub manager: Manager,
    pub name: String,
    pub definition: IndexDefinition,
    pub source: Source,
    pub why: Option<Why>,
}

/// Writes the row of an index that is to be built, and wakes the builder.
///
/// # Errors
/// WDE0025, WDE0027, WDE0160 when the collection has as many as it may have, WDE0164 when the name is taken or there is
/// one of the same fields, WDE0119 for an encrypted field.
pub(crate) async fn request(content: &Content, site: &Arc<Site>, id: &str, request: IndexRequest) -> Result<Index> {
    let state = &content.state;
    let creation = Creation {
        site: site.clone(),
        collection: id.to_owned(),
        request,
        ids: [state.world.uuid(), state.world.uuid()],
        limits: state.limits.clone(),
        now: state.world.now(),
    };
    let made = site.write_with(creation, |tx, creation| boxed!(creation.run(tx).await)).await?;
    state.schema_cache.forget(&site.id, id);
    state.build_queue.add(site);
    Ok(made)
}

/// Where an index goes, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transition {
    pub next: Status,
    pub now: Millis,
}

/// Moves an index along an arrow of the diagram, if its row still has the status it was seen with.
pub(crate) async fn transition(
    tx: &mut Tx<'_>,
    site: &Site,
    collection: i64,
    index: &Index,
    change: Transition,
    _access: &ManageAccess,
) -> Result<()> {
    let Transition { next, now } = change;
    if !index.status.leads_to(next) {
        let (from, to) = (index.status.name(), next.name());
        return Err(Fault::internal(format!("an index does not go from {from} to {to}")));
    }
    let sql = "update stoa.content_index set status = $1, updated = $2 \
               where site = $3 and collection = $4 and number = $5 and status = $6";
    let row = params![next.name(), now, &site.id, collection, index.number, index.status.name()];
    tx.send(sql, row).await?;
    Ok(())
}

/// Writes the row of an index of a collection; 0 if there is one of this name.
pub(crate) async fn write_row(
    tx: &mut Tx<'_>,
    site: &SiteId,
    collection: i64,
    index: &Index,
    now: Millis,
) -> Result<u64> {
    let definition = serde_json::to_string(&index.definition).map_err(Fault::internal)?;
    let why = index.why.as_ref().map(serde_json::to_string).transpose().map_err(Fault::internal)?;
    let Index { number, id, name, .. } = index;
    let (source, status) = (index.source.name(), index.status.name());
    let row = params![site, collection, *number, id, name, definition, source, status, why, now, now, now];
    Ok(tx.execute(INSERT, &row).await?)
}

/// How many indexes of a kind count against the limit of a collection.
pub(crate) fn count(stored: &StoredCollection, unique: bool) -> usize {
    stored.indexes.iter().filter(|it| it.takes_slot(unique)).count()
}

/// How many indexes of a kind a collection may have.
pub(crate) fn most(limits: &ContentLimits, unique: bool) -> usize {
    if unique { limits.unique_indexes } else { limits.regular_indexes }
}

/// A request on its way into a row.
struct Creation {
    site: Arc<Site>,
    collection: String,
    request: IndexRequest,
    /// The index's, and that of the one beside it that leads with the owner.
    ids: [String; 2],
    limits: ContentLimits,
    now: Millis,
}

impl Creation {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Index> {
        let (request, missing) = (&self.request, || fault::collection_not_found(&self.collection));
        let stored = live(tx, &self.site.id, &self.collection).await?.ok_or_else(missing)?;
        let access = request.manager.indexes(&stored.id, &stored.definition)?;
        if stored.indexes.iter().any(|it| it.name == request.name && it.status != Status::Dropping)
            || index::is_system(&request.name)
        {
            return Err(fault::index_exists(&format!("There is an index {}.", request.name)));
        }
        self.check_count(&stored)?;
        encrypted::check_index(&stored.definition, &request.definition)?;
        let same = |it: &&Index| it.definition == request.definition && it.status != Status::Dropping;
        match stored.indexes.iter().find(same) {
            Some(it) if it.source == Source::Auto && request.source == Source::User => {
                self.adopt(tx, &stored, it, &access).await
            }
            Some(it) => Err(fault::index_exists(&format!("The index {} is of the same fields.", it.name))),
            None => {
                let made = self.insert(tx, &stored, &access).await?;
                self.lead_by_owner(tx, &stored, &made, &access).await?;
                Ok(made)
            }
        }
    }

    /// Where members read what they own, a page in the order of a manager's index needs one more that leads with the
    /// owner: without it the engine walks past what others own, or sorts all that one owner has.
    async fn lead_by_owner(
        &self,
        tx: &mut Tx<'_>,
        stored: &StoredCollection,
        beside: &Index,
        access: &ManageAccess,
    ) -> Result<()> {
        let is_read_by_owners = stored.definition.levels.item_read == Level::SiteMemberAuthor;
        let definition = beside.definition.led_by_owner();
        let is_there = |it: &Index| it.status != Status::Dropping && it.definition.covers(&definition);
        let auto = stored.indexes.iter().filter(|it| it.source == Source::Auto).count();
        if beside.source == Source::Auto
            || !is_read_by_owners
            || stored.indexes.iter().chain([beside]).any(is_there)
            || auto >= self.limits.auto_indexes
            || !consent::is_on(tx, &self.site.id, &self.limits).await?
            || self.is_too_large(tx, stored).await?
        {
            return Ok(());
        }
        let taken = |name: &str| stored.indexes.iter().chain([beside]).any(|it| it.name == name);
        let Some(name) = consent::names(&definition).find(|it| !taken(it)) else { return Ok(()) };
        let (id, number, source) = (self.ids[1].clone(), beside.number + 1, Source::Auto);
        self.write(tx, stored, &Index { id, number, name, definition, source, ..beside.clone() }, access).await?;
        Ok(())
    }

    /// Whether writes would wait too long for an index that no one asked for.
    async fn is_too_large(&self, tx: &mut Tx<'_>, stored: &StoredCollection) -> Result<bool> {
        if self.site.builds_online() {
            return Ok(false);
        }
        let table = Table { site: self.site.number, number: stored.number };
        let sql = format!("select 1 from {} limit 1 offset $1", tx.dialect().table(table));
        Ok(tx.row(&sql, &params![self.limits.auto_index.items], |_| Ok(())).await?.is_some())
    }

    fn check_count(&self, stored: &StoredCollection) -> Result<()> {
        if self.request.source == Source::Auto {
            let auto = stored.indexes.iter().filter(|it| it.source == Source::Auto).count();
            return match auto < self.limits.auto_indexes {
                true => Ok(()),
                false => Err(Fault::new(Code::IndexLimit)),
            };
        }
        let unique = self.request.definition.unique;
        let most = most(&self.limits, unique);
        if count(stored, unique) < most {
            return Ok(());
        }
        let kind = if unique { "unique" } else { "regular" };
        let text = format!("A collection has at most {most} {kind} indexes; a failed one counts until it is dropped.");
        Err(Fault::because(Code::IndexLimit, text).with("collectionName", stored.id.as_str()))
    }

    async fn insert(&self, tx: &mut Tx<'_>, stored: &StoredCollection, access: &ManageAccess) -> Result<Index> {
        let request = &self.request;
        let index = Index {
            id: self.ids[0].clone(),
            number: stored.indexes.iter().map(|it| it.number).max().unwrap_or(0) + 1,
            name: request.name.clone(),
            definition: request.definition.clone(),
            source: request.source,
            status: Status::Building,
            failure: None,
            why: request.why.clone(),
            used: self.now,
        };
        match self.write(tx, stored, &index, access).await? {
            0 => Err(fault::index_exists(&format!("There is an index {}.", request.name))),
            _ => Ok(index),
        }
    }

    /// Writes the row of an index; 0 if there is one of this name.
    async fn write(
        &self,
        tx: &mut Tx<'_>,
        stored: &StoredCollection,
        index: &Index,
        access: &ManageAccess,
    ) -> Result<u64> {
        let written = write_row(tx, &self.site.id, stored.number, index, self.now).await?;
        if written > 0 {
            self.tell(tx, EntryKind::IndexCreated, stored, index, access).await?;
        }
        Ok(written)
    }

    async fn tell(
        &self,
        tx: &mut Tx<'_>,
        kind: EntryKind,
        stored: &StoredCollection,
        index: &Index,
        access: &ManageAccess,
    ) -> Result<()> {
        let entry = CollectionEntry { kind, collection: &stored.id, actor: save::actor(access), now: self.now };
        entry.put_with(tx, &self.site.id, &[("index", index.view())]).await
    }

    /// An index that the server made becomes one that a manager wants to keep.
    async fn adopt(
        &self,
        tx: &mut Tx<'_>,
        stored: &StoredCollection,
        index: &Index,
        access: &ManageAccess,
    ) -> Result<Index> {
        let sql = "update stoa.content_index set source = $1, name = $2, why = null, updated = $3 \
                   where site = $4 and collection = $5 and number = $6";
        let (source, name) = (Source::User, &self.request.name);
        let row = params![source.name(), name, self.now, &self.site.id, stored.number, index.number];
        tx.send(sql, row).await?;
        let adopted = Index { source, name: name.clone(), why: None, ..index.clone() };
        self.tell(tx, EntryKind::IndexChanged, stored, &adopted, access).await?;
        Ok(adopted)
    }
}
