//! Segments are made one of several, and what no question reads any more is deleted.

use super::{
    indexer::{Indexer, Made, Stop},
    row::{Index, StoredSegment},
};
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
    /// The next merge that is due; whether there may be more.
    pub(super) async fn merge(&mut self) -> Result<bool, Stop> {
        let Some(&collection) = self.unmerged.first() else { return Ok(false) };
        let index = Index { site: self.site.id.clone(), collection };
        let done = self.merge_next(&index).await;
        if self.healed(collection, done).await? {
            self.has_waste = true;
        } else {
            self.unmerged.remove(&collection);
        }
        Ok(true)
    }

    async fn merge_next(&self, index: &Index) -> Result<bool, Stop> {
        let read = index.clone();
        let segments = self.site.read(ReaderPool::Point, move |tx| boxed!(read.segments(tx).await)).await?;
        let Some(Merge { segments: places, level }) = due(&segments, self.content.state.world.now()) else {
            return Ok(false);
        };
        let chosen: Vec<StoredSegment> = places.into_iter().map(|at| segments[at].clone()).collect();
        let replaced = chosen.iter().map(|it| it.number).collect();
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
fn due(segments: &[StoredSegment], now: Millis) -> Option<Merge> {
    let size = |it: &StoredSegment| Size { level: it.level, items: it.items, dead: it.dead.len() };
    merging::next(&segments.iter().map(size).collect::<Vec<_>>()).or_else(|| {
        let at = segments.iter().position(|it| it.died.is_some_and(|died| now - died >= KEPT))?;
        Some(Merge { segments: vec![at], level: segments[at].level })
    })
}
