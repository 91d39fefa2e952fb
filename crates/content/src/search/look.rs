//! Which collections are searched, and how: looked for at the beginning, when the log tells of a definition, and now and
//! then, for what no row tells.

use super::{
    indexer::{Indexer, Known, Stop},
    layout::Layout,
    merge::KEPT,
    row::Index,
    state,
};
use crate::collection::stored;
use std::{collections::HashMap, sync::Arc};
use stoa_kernel::{
    Result, SiteId,
    clock::{Millis, elapsing},
};
use stoa_sql::{Table, params};
use stoa_store::{ReaderPool, Tx, boxed};

/// What becomes of the index of a collection.
enum Change {
    /// It is begun anew, with these fields.
    Begin(String),
    SwitchOff,
    Forget,
}

impl Indexer {
    /// Looks at all collections, and begins with the indexes that aren't what they should be.
    pub(super) async fn look(&mut self) -> Result<(), Stop> {
        let (site, now) = (self.site.id.clone(), self.content.state.world.now());
        let read = self.site.read(ReaderPool::Point, move |tx| {
            boxed!({
                let (all, states) = (stored::all_live(tx, &site).await?, state::all(tx, &site).await?);
                Ok((all, states, with_old_dead(tx, &site, now).await?))
            })
        });
        let (all, mut states, with_old_dead) = read.await?;
        let mut known = HashMap::with_capacity(all.len());
        for stored in all {
            let index = Index { site: self.site.id.clone(), collection: stored.number };
            let layout = Layout::of(&stored.definition);
            let fields = layout.text();
            let state = states.remove(&stored.number);
            if stored.definition.search_off {
                if state.is_none_or(|it| it.is_on) {
                    self.change(&index, Change::SwitchOff).await?;
                }
                continue;
            }
            let built = match state {
                Some(state) if state.is_on && state.is_of(&fields) => state.built,
                _ => {
                    self.change(&index, Change::Begin(fields)).await?;
                    0
                }
            };
            let table = Table { site: self.site.number, number: stored.number };
            known.insert(stored.id, Known { index, table, layout: Arc::new(layout), built });
        }
        for collection in states.into_keys() {
            let index = Index { site: self.site.id.clone(), collection };
            self.change(&index, Change::Forget).await?;
        }
        self.unmerged.extend(with_old_dead);
        if self.looked.is_none() {
            // Another may have been cut off before it merged.
            self.unmerged.extend(known.values().map(|it| it.index.collection));
        }
        self.resting.retain(|rests, _| known.values().any(|it| it.index.collection == *rests));
        self.known = known;
        self.looked = Some(elapsing());
        Ok(())
    }

    async fn change(&mut self, index: &Index, change: Change) -> Result<(), Stop> {
        let changed = self.held.write_with((index.clone(), change), |tx, (index, change)| {
            boxed!(match change {
                Change::Begin(fields) => index.begin_anew(tx, fields).await,
                Change::SwitchOff => index.switch_off(tx).await,
                Change::Forget => index.forget(tx).await,
            })
        });
        self.has_waste = true;
        self.sizes.remove(&index.collection);
        changed.await?.ok_or(Stop::Lost)
    }
}

/// The collections with words of items that went too long ago.
async fn with_old_dead(tx: &mut Tx<'_>, site: &SiteId, now: Millis) -> Result<Vec<i64>> {
    let sql = "select distinct collection from stoa.search_segment where site = $1 and state = 'LIVE' and died <= $2";
    Ok(tx.rows(sql, &params![site, now - KEPT], |row| row.get(0)).await?)
}
