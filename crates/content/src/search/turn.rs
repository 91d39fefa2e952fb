//! The indexes of a site's collections are kept a little at a time.
//!
//! ```text
//! log ─▶ what was touched ─▶ rows as they are now ─▶ a segment, written in pieces ─▶ published ─▶ the place moves
//! ```
//!
//! Whatever is cut off between two transactions is done again: a batch is read again until the place has moved, and
//! leaves the same index; a segment that wasn't published is swept. An index that is to be built reads the table in the
//! order of rows. It has nothing of rows behind those that were read, so the log is followed for the others alone.

use super::{
    indexer::{Indexer, Known, Made, Stop},
    row::Index,
    rows::{Found, GROUP, GROUP_BYTES, NEXT, Which, found, groups, segments_of},
    state::WHOLE,
    touched::{Items, KINDS, Touched},
};
use std::time::Duration;
use stoa_kernel::{Millis, Result, clock::elapsing};
use stoa_search::rows::Rows;
use stoa_store::{
    ReaderPool, boxed,
    outbox::{Position, Read},
};
use tokio::time::sleep;

/// Rows of the log that are read at once.
const ENTRIES: usize = 1_000;
/// Items that are looked up at once.
const ITEMS: usize = 1_000;
/// What follows on a row within this time is dealt with together: a segment for each item would cost as much as ten.
pub(super) const GATHERING: Millis = 200;
/// Segments that are published before some are merged, while there is more to read: what was written is found before it is
/// found sooner.
const UNMERGED: usize = 24;
/// How long is merged at once, beside the merge that has begun.
const MERGING: Millis = 500;
/// How often is looked for what no row of the log tells.
const LOOK: Millis = 60_000;

impl Indexer {
    /// A little of all that is to be done; whether there is more.
    pub(super) async fn turn(&mut self) -> Result<bool, Stop> {
        if self.looked.is_none_or(|it| elapsing() - it >= LOOK) {
            self.look().await?;
        }
        let is_gathering = !self.has_unread && self.followed.is_some_and(|it| elapsing() - it < GATHERING);
        let has_more = !is_gathering && self.follow().await?;
        let is_building = self.build().await?;
        let waits = (has_more || is_building) && self.published < UNMERGED;
        let is_merging = waits || self.merge_published().await?;
        let is_sweeping = self.sweep().await?;
        self.reclaim();
        let is_looking = self.looked.is_none();
        let is_busy = has_more || is_building || is_merging || is_sweeping || is_looking;
        if is_gathering && !is_busy {
            sleep(Duration::from_millis(GATHERING.unsigned_abs())).await;
        }
        Ok(is_busy || is_gathering)
    }

    /// Merges as often as segments were published: each language gets one, and they become fewer as fast as they become
    /// more. What is left after a while waits, so that the log is read between. Whether there was a merge.
    async fn merge_published(&mut self) -> Result<bool, Stop> {
        let (since, mut has_merged) = (elapsing(), false);
        loop {
            if !self.merge().await? {
                self.published = 0;
                break;
            }
            has_merged = true;
            self.published = self.published.saturating_sub(1);
            if self.published == 0 || elapsing() - since >= MERGING {
                break;
            }
        }
        Ok(has_merged)
    }

    /// Deals with the next rows of the log.
    async fn follow(&mut self) -> Result<bool, Stop> {
        self.has_unread = false;
        let batch = match self.held.read(self.position, &KINDS, ENTRIES).await? {
            Read::Batch(batch) => batch,
            // What was not read is unknown.
            Read::Gap(gap) => {
                self.build_anew(None).await?;
                self.advance(gap.oldest).await?;
                self.has_unread = true;
                return Ok(true);
            }
        };
        self.followed = Some(elapsing());
        if batch.end == self.position {
            return Ok(false);
        }
        let touched = match Touched::by(&batch.entries) {
            Ok(it) => it,
            // What it tells is unknown, and it would be met again each time.
            Err(fault) => {
                tracing::warn!(site = %self.site.id, "the indexes of words are built anew: {fault:?}");
                self.build_anew(None).await?;
                Touched::default()
            }
        };
        if touched.is_restored {
            self.build_anew(None).await?;
        } else if touched.has_definitions {
            self.look().await?;
        }
        for id in &touched.anew {
            let collection = self.known.get(id).map(|it| it.index.collection);
            if collection.is_some() {
                self.build_anew(collection).await?;
            }
        }
        for (id, items) in touched.items {
            if let Some(it) = self.known.get(&id).cloned() {
                let done = self.take_up(&it, items).await;
                self.healed(it.index.collection, done).await?;
            }
        }
        self.advance(batch.end).await?;
        self.has_unread = !batch.is_last;
        Ok(self.has_unread)
    }

    async fn advance(&mut self, position: Position) -> Result<(), Stop> {
        if !self.held.advance(position).await? {
            return Err(Stop::Lost);
        }
        self.position = position;
        Ok(())
    }

    /// Brings what the index has of some items to what they are now.
    async fn take_up(&mut self, known: &Known, items: Items) -> Result<(), Stop> {
        let ids: Vec<String> = items.ids.into_iter().collect();
        let rids: Vec<i64> = items.rids.into_iter().filter(|it| (1..=known.built).contains(it)).collect();
        let mut there = Vec::new();
        for ids in ids.chunks(ITEMS) {
            there.extend(found(&self.site, known, Which::Ids(ids.to_vec())).await?);
        }
        // SQLite gives the highest row again, so that another item may be in one that went.
        for rids in rids.chunks(ITEMS) {
            there.extend(found(&self.site, known, Which::Rows(rids.to_vec())).await?);
        }
        there.retain(|it| it.rid.cast_signed() <= known.built);
        there.sort_unstable_by_key(|it| it.rid);
        there.dedup_by_key(|it| it.rid);

        let mut touched: Vec<u64> = rids.iter().map(|it| it.unsigned_abs()).collect();
        let mut groups = groups(&there);
        if groups.is_empty() && !touched.is_empty() {
            groups.push(&[]);
        }
        for group in groups {
            // What went goes with the first of them.
            touched.extend(group.iter().map(|it| it.rid));
            let rids = Rows::new(std::mem::take(&mut touched));
            let _place = self.place().await?;
            let segments = segments_of(&self.site, known, group).await?;
            let dead = self.buried(&known.index, rids).await?;
            self.published += segments.len();
            self.publish(known.index.clone(), Made { segments, dead, ..Made::default() }).await?;
            self.unmerged.insert(known.index.collection);
        }
        Ok(())
    }

    /// Reads some more of a collection whose index isn't whole.
    async fn build(&mut self) -> Result<bool, Stop> {
        let unbuilt = self.known.iter().filter(|it| it.1.built < WHOLE && !self.rests(it.1.index.collection));
        // The one of which least is read, so that short ones are soon whole.
        let next = unbuilt.min_by_key(|it| it.1.built);
        let Some((id, known)) = next.map(|(id, known)| (id.clone(), known.clone())) else { return Ok(false) };
        let built = self.build_next(&known).await;
        if let (Some(built), Some(it)) = (self.rested(known.index.collection, built)?, self.known.get_mut(&id)) {
            it.built = built;
        }
        Ok(true)
    }

    /// Reads the next rows of a collection; answers how far it is.
    async fn build_next(&mut self, known: &Known) -> Result<i64, Stop> {
        let (mut there, mut bytes) = (Vec::<Found>::new(), 0);
        while there.len() < GROUP && bytes <= GROUP_BYTES {
            let last = there.last().map_or(known.built, |it| it.rid.cast_signed());
            let next = found(&self.site, known, Which::Behind(last)).await?;
            let is_last = next.len() < NEXT;
            bytes += next.iter().map(|it| it.size).sum::<usize>();
            there.extend(next);
            if is_last {
                break;
            }
        }
        let _place = self.place().await?;
        let (segments, built) = match groups(&there).first() {
            Some(group) => {
                let last = group.last().map_or(known.built, |it| it.rid.cast_signed());
                (segments_of(&self.site, known, group).await?, last)
            }
            None => (Vec::new(), WHOLE),
        };
        self.published += segments.len();
        let made = Made { segments, built: Some(built), ..Made::default() };
        self.publish(known.index.clone(), made).await?;
        self.unmerged.insert(known.index.collection);
        Ok(built)
    }

    async fn buried(&self, index: &Index, rids: Rows) -> Result<Vec<(i64, Rows)>> {
        let index = index.clone();
        self.site.read(ReaderPool::Scan, move |tx| boxed!(index.buried(tx, &rids).await)).await
    }
}
