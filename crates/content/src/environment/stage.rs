//! Tables that a copy fills, which no request knows of.

use super::{
    fence::{Fence, lost},
    snapshot::Snapshot,
    swap::{State, Swap},
};
use crate::{
    Content,
    collection::{
        Collection,
        statements::Row,
        stored::{self, StoredCollection, hidden_id},
    },
    index::step::write_row,
    manage::making::free_number,
    schema::index::{Index, Source, Status},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use stoa_kernel::{Fault, Millis, Result};
use stoa_query::compile;
use stoa_sql::{Table, Value, params};
use stoa_store::{Tx, boxed};

/// A table that is filled for a collection.
#[derive(Clone)]
pub(super) struct Staged {
    pub swap: Swap,
    pub collection: Arc<Collection>,
}

/// Makes the tables of a copy and fills them; counts the items that are written.
///
/// # Errors
/// What the engine says; UNAVAILABLE when another worker has the copy by now.
pub(super) async fn stage(
    content: &Content,
    fence: &Fence,
    copy: &str,
    mut snapshot: Snapshot,
    items: &AtomicU64,
) -> Result<Vec<Staged>> {
    let (target, mut staged) = (&fence.target, Vec::with_capacity(snapshot.collections.len()));
    for taken in std::mem::take(&mut snapshot.collections) {
        let making = Making {
            fence: fence.clone(),
            copy: copy.to_owned(),
            ids: taken.indexes.iter().map(|_| content.state.world.uuid()).collect(),
            taken,
            now: content.state.world.now(),
        };
        staged.push(target.write_alone_with(making, |tx, making| boxed!(making.run(tx).await)).await?);
    }
    for piece in snapshot.pieces()? {
        let (position, rows) = piece?;
        let Some(it) = staged.get(position).cloned() else { return Err(Fault::internal("an item of no collection")) };
        let count = rows.len() as u64;
        target
            .append_with((target.id.clone(), it, rows), |tx, (site, it, rows)| {
                boxed!({
                    if !it.swap.is_there(tx, site).await? {
                        return Err(lost());
                    }
                    put(tx, &it.collection, rows).await
                })
            })
            .await?;
        items.fetch_add(count, Relaxed);
    }
    Ok(staged)
}

async fn put(tx: &mut Tx<'_>, collection: &Collection, rows: &[Row]) -> Result<()> {
    let values: Vec<&[Value]> = rows.iter().map(Row::values).collect();
    let written = tx.insert_rows(collection.statements.insert_rows(false, true, &values)).await?;
    match written.iter().all(|it| *it) {
        true => Ok(()),
        false => Err(Fault::internal("an item was there before it was copied")),
    }
}

struct Making {
    fence: Fence,
    copy: String,
    taken: StoredCollection,
    /// New ids of its indexes.
    ids: Vec<String>,
    now: Millis,
}

impl Making {
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Staged> {
        self.fence.check(tx).await?;
        let target = &self.fence.target;
        let (site, taken, now) = (&target.id, &self.taken, self.now);
        let number = free_number(tx, site).await?;
        let table = Table { site: target.number, number };
        let hidden = StoredCollection { number, id: hidden_id(number), indexes: Vec::new(), ..taken.clone() };
        let definition = serde_json::to_string(&taken.definition).map_err(Fault::internal)?;
        let sql = "insert into stoa.collection (site, number, id, definition, revision, created, updated, deleted) \
                   values ($1, $2, $3, $4, 1, $5, $6, $7)";
        let row = params![site, number, &hidden.id, definition, taken.created, now, now.max(1)];
        tx.execute(sql, &row).await?;
        for statement in tx.dialect().create_items_table(table) {
            tx.batch(&statement).await?;
        }
        for index in self.indexes(tx).await? {
            // Nothing is in the table yet.
            for statement in compile::index(tx.dialect(), table, &index.spec(), false) {
                tx.batch(&statement).await?;
            }
            write_row(tx, site, number, &index, now).await?;
        }
        let (copy, collection) = (self.copy.clone(), taken.id.clone());
        let swap = Swap { copy, collection, state: State::Staged, staged: number, replaced: None, changed: now };
        swap.insert(tx, site).await?;
        Ok(Staged { swap, collection: Arc::new(Collection::new(target, hidden)) })
    }

    /// The indexes that managers made where the items come from, and those that the server made by itself where they go.
    async fn indexes(&self, tx: &mut Tx<'_>) -> Result<Vec<Index>> {
        let there = stored::live(tx, &self.fence.target.id, &self.taken.id).await?;
        let is = |index: &Index, source: Source| index.status == Status::Active && index.source == source;
        let managers = self.taken.indexes.iter().filter(|it| is(it, Source::User));
        let own = there.iter().flat_map(|it| &it.indexes).filter(|it| is(it, Source::Auto));
        let mut all: Vec<Index> = Vec::new();
        for index in managers.zip(&self.ids).map(|(it, id)| Index { id: id.clone(), ..it.clone() }).chain(own.cloned())
        {
            let is_known = all.iter().any(|it| it.name == index.name || it.definition == index.definition);
            if !is_known {
                let number = all.len() as i64 + 1;
                all.push(Index { number, used: self.now, ..index });
            }
        }
        Ok(all)
    }
}
