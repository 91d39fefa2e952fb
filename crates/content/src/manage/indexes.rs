//! Indexes as they are asked for: made, dropped and listed. The work itself is in [`crate::index::build`].

use crate::{
    Content, Limits,
    collection::{Stored, live, missing},
    schema::{
        encrypted,
        index::{self, Definition, Index, Source, Status, Why},
        level,
    },
};
use serde_json::{Value, json};
use std::sync::Arc;
use stoa_kernel::{Caller, Code, Fault, Result, clock::Millis};
use stoa_sql::params;
use stoa_store::{Site, Tx, boxed};

const INSERT: &str = "insert into stoa.content_index (site, collection, number, id, name, definition, source, status, \
                      why, attempts, used, created, updated) \
                      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11, $12) on conflict do nothing";

/// One page of indexes as wire objects.
pub struct IndexList {
    pub indexes: Vec<Value>,
    pub offset: usize,
    pub total: usize,
}

/// An index that is to be made.
#[derive(Clone)]
pub(crate) struct Wish {
    pub name: String,
    pub definition: Definition,
    pub source: Source,
    pub why: Option<Why>,
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
        level::may_manage(caller)?;
        let (name, definition) = index::parse(object, &self.collection(site, id).await?.schema, self.limits())?;
        let wish = Wish { name, definition, source: Source::User, why: None };
        let made = self.index_wish(site, id, wish).await?;
        Ok(made.view())
    }

    /// Begins to drop an index: no query uses it any more, and it is removed in the background.
    ///
    /// # Errors
    /// WDE0027, WDE0025, WDE0176 when there is none of this name, WDE0075 for a system index.
    pub async fn index_drop(&self, site: &Arc<Site>, caller: &Caller, id: &str, name: &str) -> Result<()> {
        level::may_manage(caller)?;
        self.collection(site, id).await?;
        if index::is_system(name) {
            return Err(Fault::because(Code::RequestInvalid, format!("The index {name} belongs to the system.")));
        }
        if name.contains('\0') {
            return Err(index::missing(name));
        }
        let (place, key, name, now) = (site.clone(), id.to_owned(), name.to_owned(), self.world().now());
        site.write(move |tx| {
            let (site, id, name) = (place.clone(), key.clone(), name.clone());
            boxed!({
                let stored = live(tx, &site.id, &id).await?.ok_or_else(|| missing(&id))?;
                let is_it = |it: &&Index| it.name == name && it.status != Status::Dropping;
                let found = stored.indexes.iter().find(is_it).ok_or_else(|| index::missing(&name))?;
                step(tx, &site, stored.number, found, Status::Dropping, now).await
            })
        })
        .await?;
        self.cache().forget(&site.id, id);
        self.index_work().add(site);
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
        let stored = self.index_rows(site, caller, id).await?;
        let all: Vec<_> = index::system_views().chain(stored.indexes.iter().map(Index::view)).collect();
        let total = all.len();
        Ok(IndexList { indexes: all.into_iter().skip(offset).take(limit.unwrap_or(100)).collect(), offset, total })
    }

    /// How many more indexes the collection may have.
    ///
    /// # Errors
    /// WDE0027, WDE0025.
    pub async fn index_available(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Value> {
        let stored = self.index_rows(site, caller, id).await?;
        let left = |unique: bool| most(self.limits(), unique).saturating_sub(count(&stored, unique));
        let (regular, unique) = (left(false), left(true));
        // A regular index may always have three fields, so none are left for one field only.
        Ok(json!({ "regular1Field": 0, "regular3Field": regular, "unique1Field": unique, "total": regular + unique }))
    }

    /// As they are now, not as they were when the definition was last read.
    async fn index_rows(&self, site: &Arc<Site>, caller: &Caller, id: &str) -> Result<Stored> {
        level::may_manage(caller)?;
        if id.is_empty() || id.contains('\0') {
            return Err(missing(id));
        }
        let (place, key) = (site.clone(), id.to_owned());
        let stored = site.read(stoa_store::Lane::Point, move |tx| boxed!(live(tx, &place.id, &key).await)).await?;
        stored.ok_or_else(|| missing(id))
    }

    /// Writes the row of an index that is to be built, and wakes the builder.
    pub(crate) async fn index_wish(&self, site: &Arc<Site>, id: &str, wish: Wish) -> Result<Index> {
        let (place, key, now, new_id) = (site.clone(), id.to_owned(), self.world().now(), self.world().uuid());
        let limits = self.limits().clone();
        let made = site
            .write(move |tx| {
                let (site, id, wish, new_id, limits) =
                    (place.clone(), key.clone(), wish.clone(), new_id.clone(), limits.clone());
                boxed!({
                    let stored = live(tx, &site.id, &id).await?.ok_or_else(|| missing(&id))?;
                    if stored.indexes.iter().any(|it| it.name == wish.name && it.status != Status::Dropping)
                        || index::is_system(&wish.name)
                    {
                        return Err(taken(&format!("There is an index {}.", wish.name)));
                    }
                    check_places(&stored, &wish, &limits)?;
                    encrypted::check_index(&stored.definition, &wish.definition)?;
                    let same = |it: &&Index| it.definition == wish.definition && it.status != Status::Dropping;
                    match stored.indexes.iter().find(same) {
                        Some(it) if it.source == Source::Auto && wish.source == Source::User => {
                            return adopt(tx, &site, &stored, it, &wish, now).await;
                        }
                        Some(it) => return Err(taken(&format!("The index {} is of the same fields.", it.name))),
                        None => {}
                    }
                    insert(tx, &site, &stored, wish, new_id, now).await
                })
            })
            .await?;
        self.cache().forget(&site.id, id);
        self.index_work().add(site);
        Ok(made)
    }
}

async fn insert(tx: &mut Tx<'_>, site: &Site, stored: &Stored, wish: Wish, id: String, now: Millis) -> Result<Index> {
    let number = stored.indexes.iter().map(|it| it.number).max().unwrap_or(0) + 1;
    let index = Index {
        id,
        number,
        name: wish.name,
        definition: wish.definition,
        source: wish.source,
        status: Status::Building,
        failure: None,
        why: wish.why,
        used: now,
    };
    let definition = serde_json::to_string(&index.definition).map_err(Fault::internal)?;
    let why = index.why.as_ref().map(serde_json::to_string).transpose().map_err(Fault::internal)?;
    let row = params![
        &site.id,
        stored.number,
        number,
        &index.id,
        &index.name,
        definition,
        index.source.name(),
        index.status.name(),
        why,
        now,
        now,
        now
    ];
    match tx.execute(INSERT, &row).await? {
        0 => Err(taken(&format!("There is an index {}.", index.name))),
        _ => Ok(index),
    }
}

/// An index that the server made becomes one that somebody wants to keep.
async fn adopt(tx: &mut Tx<'_>, site: &Site, stored: &Stored, it: &Index, wish: &Wish, now: Millis) -> Result<Index> {
    let sql = "update stoa.content_index set source = $1, name = $2, why = null, updated = $3 \
               where site = $4 and collection = $5 and number = $6";
    let row = params![Source::User.name(), &wish.name, now, &site.id, stored.number, it.number];
    tx.send(sql, row).await?;
    Ok(Index { source: Source::User, name: wish.name.clone(), why: None, ..it.clone() })
}

/// Moves an index along an arrow of the diagram, if it still stands where it was seen.
pub(crate) async fn step(
    tx: &mut Tx<'_>,
    site: &Site,
    collection: i64,
    index: &Index,
    next: Status,
    now: Millis,
) -> Result<()> {
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

fn check_places(stored: &Stored, wish: &Wish, limits: &Limits) -> Result<()> {
    if wish.source == Source::Auto {
        let auto = stored.indexes.iter().filter(|it| it.source == Source::Auto).count();
        return match auto < limits.auto_indexes {
            true => Ok(()),
            false => Err(Fault::new(Code::IndexLimit)),
        };
    }
    let (unique, most) = (wish.definition.unique, most(limits, wish.definition.unique));
    if count(stored, unique) < most {
        return Ok(());
    }
    let kind = if unique { "unique" } else { "regular" };
    let text = format!("A collection has at most {most} {kind} indexes; a failed one counts until it is dropped.");
    Err(Fault::because(Code::IndexLimit, text).with("collectionName", stored.id.as_str()))
}

fn count(stored: &Stored, unique: bool) -> usize {
    stored.indexes.iter().filter(|it| it.takes_place(unique)).count()
}

fn most(limits: &Limits, unique: bool) -> usize {
    if unique { limits.unique_indexes } else { limits.regular_indexes }
}

fn taken(text: &str) -> Fault {
    Fault::because(Code::IndexExists, text)
}
