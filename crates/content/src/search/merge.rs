//! Segments are made one of several, and what no question reads any more is deleted.

use super::{
    indexer::{Indexer, Stop},
    read::WINDOW,
    row::{Index, StoredSegment},
    write::{NewSegment, Publication, fits, together},
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, atomic::Ordering::Relaxed},
};
use stoa_kernel::{Fault, Millis, Result, clock::elapsing};
use stoa_search::{
    Damaged,
    lists::{ITEMS, Lists, Row},
    merging::{self, Merge, Size},
    segment::{CannotMerge, Segment, merged_items, merged_lists},
    words::VERSION,
};
use stoa_sql::params;
use stoa_store::{ReaderPool, Tx, boxed};

/// How long words of items that went stay at most before their segment is made anew. They leave the disk within a day,
/// and a large segment takes a while.
pub(super) const KEPT: Millis = 20 * 60 * 60_000;

/// How often the place of deleted lists is given to others, where that isn't done as they are deleted.
const RECLAIMED: Millis = 2 * 60 * 60_000;

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
        let _place = self.place().await?;
        self.merge_into_one(index, chosen, level).await?;
        Ok(true)
    }

    /// Makes one segment of several, some of their terms after the other: it holds no more of their lists than that.
    async fn merge_into_one(&mut self, index: &Index, chosen: Vec<StoredSegment>, level: i64) -> Result<(), Stop> {
        let replaced: Vec<i64> = chosen.iter().map(|it| it.number).collect();
        let new = self.begun(index, &chosen, level).await?;
        let has_items = !new.segment.items().is_empty();
        let pieces = together(std::slice::from_ref(&new));
        let (writing, mut numbers) = (Arc::new((index.clone(), vec![new])), vec![None]);
        for piece in pieces {
            numbers = self.put(&writing, numbers, piece).await?;
        }
        let mut sources: Vec<Source> = chosen.into_iter().map(Source::new).collect();
        let mut rows = Unwritten::default();
        while has_items && sources.iter().any(|it| !it.is_over || !it.rows.is_empty()) {
            let read = index.clone();
            let filled = self.site.read(ReaderPool::Scan, move |tx| {
                boxed!({
                    for it in &mut sources {
                        it.fill(tx, &read).await?;
                    }
                    Ok(sources)
                })
            });
            sources = filled.await?;
            let lists = take(&mut sources).map_err(|it| index.damaged(it))?;
            let merged = tokio::task::spawn_blocking(move || merged_lists(&lists)).await.map_err(Fault::internal)?;
            for (term, parts) in merged.map_err(cannot_merge)? {
                for (number, part) in (0..).zip(parts) {
                    if let Some(full) = rows.push(Row { term: term.clone(), number, part }) {
                        numbers = self.put(&writing, numbers, vec![(0, full)]).await?;
                    }
                }
            }
        }
        if !rows.is_empty() {
            numbers = self.put(&writing, numbers, vec![(0, rows.take())]).await?;
        }
        self.publish_merged(index, numbers.into_iter().flatten().collect(), replaced).await
    }

    /// The segment that some become, without its lists.
    async fn begun(&self, index: &Index, chosen: &[StoredSegment], level: i64) -> Result<NewSegment, Stop> {
        let version = chosen.first().map_or(VERSION, |it| it.version);
        if chosen.iter().any(|it| it.version != version) {
            return Err(cannot_merge(CannotMerge::Versions).into());
        }
        let (read, segments) = (index.clone(), chosen.to_vec());
        let items = self.site.read(ReaderPool::Scan, move |tx| {
            boxed!({
                let mut all = Vec::with_capacity(segments.len());
                for it in &segments {
                    all.push(read.items(tx, it).await?);
                }
                Ok(all)
            })
        });
        let items = items.await?;
        let items =
            merged_items(items.iter().zip(chosen).map(|(items, it)| (items, &it.dead))).map_err(cannot_merge)?;
        let language = chosen.first().map(|it| it.language.clone()).unwrap_or_default();
        Ok(NewSegment { segment: Segment::of_items(version, items), level, language })
    }

    async fn publish_merged(&self, index: &Index, numbers: Vec<i64>, replaced: Vec<i64>) -> Result<(), Stop> {
        let publication = Publication { replaced, now: self.content.state.world.now(), ..Publication::default() };
        let published = self.held.write_with((index.clone(), numbers, publication), |tx, (index, numbers, it)| {
            boxed!(index.publish(tx, numbers, it).await)
        });
        published.await?.ok_or(Stop::Lost)
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
        self.has_erased |= self.has_waste;
        Ok(self.has_waste)
    }

    /// Has the bytes of deleted lists go, every two hours on each node, beside everything else: a table is for all sites.
    pub(super) fn reclaim(&mut self) {
        let (now, last) = (elapsing(), &self.content.state.index_reclaimed);
        let before = last.load(Relaxed);
        let is_due = self.has_erased && !self.has_waste && (before == 0 || now - before >= RECLAIMED);
        if !is_due || last.compare_exchange(before, now, Relaxed, Relaxed).is_err() {
            return;
        }
        self.has_erased = false;
        let site = self.site.clone();
        tokio::spawn(async move {
            for table in ["stoa.search_list", "stoa.search_segment"] {
                if let Err(fault) = site.reclaim(table).await {
                    tracing::warn!("the place of words that went could not be given to others: {fault:?}");
                }
            }
        });
    }
}

/// Rows that wait until they fill a transaction.
#[derive(Default)]
struct Unwritten {
    rows: Vec<Row>,
    bytes: usize,
}

impl Unwritten {
    /// Adds one; answers those before it, if they are enough.
    fn push(&mut self, row: Row) -> Option<Vec<Row>> {
        let is_full = !fits(self.rows.len() + 1, self.bytes + row.part.bytes.len());
        let full = is_full.then(|| self.take());
        self.bytes += row.part.bytes.len();
        self.rows.push(row);
        full
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn take(&mut self) -> Vec<Row> {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }
}

/// A segment that is merged, as far as it was read.
struct Source {
    segment: StoredSegment,
    /// Rows that were read and not merged yet.
    rows: Vec<Row>,
    /// Whether they are the last ones.
    is_over: bool,
    /// The term and the number of the row that was read last.
    last: (String, u32),
}

impl Source {
    fn new(segment: StoredSegment) -> Self {
        // Behind the list of the items.
        Self { segment, rows: Vec::new(), is_over: false, last: (ITEMS.to_owned(), u32::MAX) }
    }

    /// Reads on until it has the whole list of a term, or the end.
    async fn fill(&mut self, tx: &mut Tx<'_>, index: &Index) -> Result<()> {
        let has_whole = |rows: &[Row]| rows.first().zip(rows.last()).is_some_and(|(a, b)| a.term != b.term);
        while !self.is_over && !has_whole(&self.rows) {
            let next = index.rows_behind(tx, &self.segment, (&self.last.0, self.last.1)).await?;
            self.is_over = next.len() < WINDOW;
            self.last = next.last().map_or_else(|| self.last.clone(), |it| (it.term.clone(), it.number));
            self.rows.extend(next);
        }
        Ok(())
    }
}

/// The lists of the terms that were read whole in all sources.
fn take(sources: &mut [Source]) -> Result<Vec<Lists>, Damaged> {
    let unfinished = sources.iter().filter(|it| !it.is_over).filter_map(|it| it.rows.last());
    let first = unfinished.map(|it| it.term.clone()).min();
    let whole = |it: &mut Source| {
        let count = first.as_ref().map_or(it.rows.len(), |first| it.rows.partition_point(|it| it.term < *first));
        Lists::new(it.segment.items, it.segment.dead.clone(), it.rows.drain(..count).collect())
    };
    sources.iter_mut().map(whole).collect()
}

fn cannot_merge(why: CannotMerge) -> Fault {
    Fault::internal(format!("segments can't be merged: {why:?}"))
}

/// The next merge, of segments of one language: for few segments, and then for the words of what went long ago.
///
/// `sizes`: the bytes of their lists by number.
fn due(segments: &[StoredSegment], sizes: &HashMap<i64, u64>, now: Millis) -> Option<Merge> {
    let bytes = |it: &StoredSegment| sizes.get(&it.number).copied().unwrap_or_default();
    let size = |it: &StoredSegment| Size { level: it.level, items: it.items, dead: it.dead.len(), bytes: bytes(it) };
    let languages: BTreeSet<&str> = segments.iter().map(|it| it.language.as_str()).collect();
    let mut next = languages.into_iter().filter_map(|language| {
        let places: Vec<usize> = (0..segments.len()).filter(|at| segments[*at].language == language).collect();
        let sizes: Vec<Size> = places.iter().map(|at| size(&segments[*at])).collect();
        let Merge { segments, level } = merging::next(&sizes)?;
        Some(Merge { segments: segments.into_iter().map(|at| places[at]).collect(), level })
    });
    next.next().or_else(|| {
        let at = segments.iter().position(|it| it.died.is_some_and(|died| now - died >= KEPT))?;
        Some(Merge { segments: vec![at], level: segments[at].level })
    })
}
