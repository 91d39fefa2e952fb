//! Segments are made one of several, and what no question reads any more is deleted.

use super::{
    indexer::{Indexer, Made, Stop},
    row::{Index, StoredSegment},
};
use std::collections::HashMap;
use stoa_kernel::{Fault, Millis, Result};
use stoa_search::{
    merging::{self, Merge, Size},
    segment::Segment,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, boxed};

/// How long words of items that went stay at most before their segment is made anew. They leave the disk within a day,
/// and a large segment takes a while.
pub(super) const KEPT: Millis = 20 * 60 * 60_000;

impl Indexer {
    /// The next merge that is due, of the collections in turn: one that is written all the time doesn't hold up the
    /// others. Whether there was one.
    pub(super) async fn merge(&mut self) -> Result<bool, Stop> {
        while let Some(collection) = self.next_unmerged() {
            let index = Index { site: self.site.id.clone(), collection };
            let done = self.merge_next(&index).await;
            let done = self.healed(collection, done).await;
            match self.rested(collection, done)? {
                Some(true) => {
                    self.merged_last = collection;
                    self.has_waste = true;
                    return Ok(true);
                }
                Some(false) => drop(self.unmerged.remove(&collection)),
                None => {}
            }
        }
        Ok(false)
    }

    fn next_unmerged(&self) -> Option<i64> {
        let awake = || self.unmerged.iter().copied().filter(|it| !self.rests(*it));
        awake().find(|it| *it > self.merged_last).or_else(|| awake().next())
    }

    async fn merge_next(&mut self, index: &Index) -> Result<bool, Stop> {
        let (read, known) = (index.clone(), self.sizes.remove(&index.collection).unwrap_or_default());
        let read = self.site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let segments = read.segments(tx).await?;
                let mut sizes = HashMap::with_capacity(segments.len());
                for it in &segments {
                    let size = match known.get(&it.number) {
                        Some(size) => *size,
                        None => read.bytes(tx, it).await?,
                    };
                    sizes.insert(it.number, size);
                }
                Ok((segments, sizes))
            })
        });
        let (segments, sizes) = read.await?;
        let due = due(&segments, &sizes, self.content.state.world.now());
        self.sizes.insert(index.collection, sizes);
        let Some(Merge { segments: places, level }) = due else { return Ok(false) };
        let chosen: Vec<StoredSegment> = places.into_iter().map(|at| segments[at].clone()).collect();
        let replaced = chosen.iter().map(|it| it.number).collect();
        let _place = self.place().await?;
        let segment = self.merged(index.clone(), chosen).await?;
        self.publish(index.clone(), Made { segment, level, dead: Vec::new(), replaced, built: None }).await?;
        Ok(true)
    }

    async fn merged(&self, index: Index, chosen: Vec<StoredSegment>) -> Result<Segment> {
        let read = self.site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let mut whole = Vec::with_capacity(chosen.len());
                for it in &chosen {
                    whole.push(index.whole(tx, it).await?);
                }
                Ok(whole)
            })
        });
        let whole = read.await?;
        let merged = tokio::task::spawn_blocking(move || Segment::merge(&whole)).await.map_err(Fault::internal)?;
        merged.map_err(|it| Fault::internal(format!("segments can't be merged: {it:?}")))
    }

    /// Deletes a piece of what no question reads; whether there may be more.
    pub(super) async fn sweep(&mut self) -> Result<bool, Stop> {
        if !self.has_waste {
            return Ok(false);
        }
        let swept = self.held.write_with(self.site.id.clone(), |tx, site| {
            boxed!({
                let sql = "select min(collection) from stoa.search_segment where site = $1 and state <> 'LIVE'";
                let left = tx.row(sql, &params![site], |row| row.get::<Option<i64>>(0)).await?;
                match left.flatten() {
                    Some(collection) => Index { site: site.clone(), collection }.sweep(tx).await,
                    None => Ok(false),
                }
            })
        });
        self.has_waste = swept.await?.ok_or(Stop::Lost)?;
        Ok(self.has_waste)
    }
}

/// The next merge: for few segments, and then for the words of what went long ago.
///
/// `sizes`: the bytes of their lists by number.
fn due(segments: &[StoredSegment], sizes: &HashMap<i64, u64>, now: Millis) -> Option<Merge> {
    let bytes = |it: &StoredSegment| sizes.get(&it.number).copied().unwrap_or_default();
    let size = |it: &StoredSegment| Size { level: it.level, items: it.items, dead: it.dead.len(), bytes: bytes(it) };
    merging::next(&segments.iter().map(size).collect::<Vec<_>>()).or_else(|| {
        let at = segments.iter().position(|it| it.died.is_some_and(|died| now - died >= KEPT))?;
        Some(Merge { segments: vec![at], level: segments[at].level })
    })
}
