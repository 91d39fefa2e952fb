//! Segments are made one of several, and what no question reads any more is deleted.

use super::{
    indexer::{Indexer, Stop},
    read::ROW_BYTES,
    row::{Index, StoredSegment},
    write::{NewSegment, Publication, fits, together},
};
use std::{
    collections::{BTreeSet, HashMap},
    future::Future,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};
use stoa_kernel::{Code, Fault, Millis, Result, clock::elapsing};
use stoa_search::{
    Damaged,
    lists::{ITEMS, Lists, Row},
    merging::{self, Merge, Size},
    rows::Rows,
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
/// The same where it failed.
const RECLAIMED_AGAIN: Millis = 10 * 60_000;

/// Bytes of lists that a merge holds of all its segments, beside the longest list of one term: it reads them in one scan,
/// and every scan waits its turn among those of visitors.
const WINDOW: usize = 4_000_000;
/// Rows that one statement reads of a segment at least and at most.
const ROWS: std::ops::RangeInclusive<usize> = 16..=4_096;
/// What a row is taken to have before one was read.
const USUAL_ROW: usize = 1_024;

/// How often a merge reads again what the server had no place for, so that what it has done isn't lost, and the time between.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_secs(1);

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
                // What it wrote is swept before another one writes.
                None => return Ok(true),
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
        let share = WINDOW / sources.len().max(1);
        let mut rows = Unwritten::default();
        while has_items && sources.iter().any(|it| !it.place.is_over || !it.rows.is_empty()) {
            let places: Vec<Place> = sources.iter().map(|it| it.place.clone()).collect();
            let filled = patiently(PAUSE, || {
                let (read, mut places) = (index.clone(), places.clone());
                self.site.read(ReaderPool::Scan, move |tx| {
                    boxed!({
                        let mut all = Vec::with_capacity(places.len());
                        for mut it in places.drain(..) {
                            let rows = it.read_on(tx, &read, share).await?;
                            all.push((it, rows));
                        }
                        Ok(all)
                    })
                })
            });
            for (source, (place, rows)) in sources.iter_mut().zip(filled.await?) {
                source.place = place;
                source.rows.extend(rows);
            }
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
        let items = patiently(PAUSE, || {
            let (read, segments) = (index.clone(), chosen.to_vec());
            self.site.read(ReaderPool::Scan, move |tx| {
                boxed!({
                    let mut all = Vec::with_capacity(segments.len());
                    for it in &segments {
                        all.push(read.items(tx, it).await?);
                    }
                    Ok(all)
                })
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
        self.has_erased.fetch_or(self.has_waste, Relaxed);
        Ok(self.has_waste)
    }

    /// Has the bytes of deleted lists go, every two hours on each node, beside everything else: a table is for all sites.
    pub(super) fn reclaim(&mut self) {
        let (now, last) = (elapsing(), &self.content.state.index_reclaimed);
        let before = last.load(Relaxed);
        let is_due = self.has_erased.load(Relaxed) && !self.has_waste && (before == 0 || now - before >= RECLAIMED);
        if !is_due || last.compare_exchange(before, now, Relaxed, Relaxed).is_err() {
            return;
        }
        self.has_erased.store(false, Relaxed);
        let (site, content, has_erased) = (self.site.clone(), self.content.clone(), self.has_erased.clone());
        tokio::spawn(async move {
            for table in ["stoa.search_list", "stoa.search_segment"] {
                if let Err(fault) = site.reclaim(table).await {
                    tracing::warn!("the place of words that went could not be given to others: {fault:?}");
                    has_erased.store(true, Relaxed);
                    content.state.index_reclaimed.store(now - RECLAIMED + RECLAIMED_AGAIN, Relaxed);
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

/// Reads, and again where others have all places or the engine is busy.
async fn patiently<T, R: Future<Output = Result<T>>>(pause: Duration, read: impl Fn() -> R) -> Result<T> {
    for _ in 1..TRIES {
        match read().await {
            Err(it) if matches!(it.code(), Code::Unavailable | Code::Throttled) => tokio::time::sleep(pause).await,
            it => return it,
        }
    }
    read().await
}

/// A segment that is merged.
struct Source {
    place: Place,
    dead: Arc<Rows>,
    /// Rows that were read and not merged yet.
    rows: Vec<Row>,
}

impl Source {
    fn new(segment: StoredSegment) -> Self {
        let dead = Arc::new(segment.dead.clone());
        // Behind the list of the items.
        let last = (ITEMS.to_owned(), u32::MAX);
        let place = Place { segment: Arc::new(segment), first: None, bytes: 0, count: 0, is_over: false, last };
        Self { place, dead, rows: Vec::new() }
    }

    /// The lists of the terms before one, or of all; they aren't held any longer.
    fn take_before(&mut self, term: Option<&str>) -> Result<Lists, Damaged> {
        let count = term.map_or(self.rows.len(), |term| self.rows.partition_point(|it| it.term.as_str() < term));
        let taken: Vec<Row> = self.rows.drain(..count).collect();
        self.place.bytes -= taken.iter().map(size).sum::<usize>();
        self.place.count -= taken.len();
        self.place.first = self.rows.first().map(|it| it.term.clone());
        Lists::new(self.place.segment.items, self.dead.clone(), taken)
    }
}

/// How far a segment was read.
#[derive(Clone)]
struct Place {
    segment: Arc<StoredSegment>,
    /// The term of the first row that is held, and the bytes and the number of all those.
    first: Option<String>,
    bytes: usize,
    count: usize,
    /// Whether there are no others.
    is_over: bool,
    /// The term and the number of the row that was read last.
    last: (String, u32),
}

impl Place {
    /// Reads on until so many bytes are held and the whole list of a term, or all.
    async fn read_on(&mut self, tx: &mut Tx<'_>, index: &Index, bytes: usize) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        while !self.is_over && (self.bytes < bytes || !self.has_whole()) {
            let most = self.rows_to_read(bytes);
            let next = index.rows_behind(tx, &self.segment, (&self.last.0, self.last.1), most).await?;
            self.is_over = next.len() < most;
            self.first = self.first.take().or_else(|| next.first().map(|it| it.term.clone()));
            self.last = next.last().map_or_else(|| self.last.clone(), |it| (it.term.clone(), it.number));
            self.bytes += next.iter().map(size).sum::<usize>();
            self.count += next.len();
            rows.extend(next);
        }
        Ok(rows)
    }

    fn has_whole(&self) -> bool {
        self.first.as_ref().is_some_and(|it| *it != self.last.0)
    }

    /// About as many as fill up these bytes.
    fn rows_to_read(&self, bytes: usize) -> usize {
        let usual = self.bytes.checked_div(self.count).map_or(USUAL_ROW, |it| it.max(1));
        (bytes.saturating_sub(self.bytes) / usual).clamp(*ROWS.start(), *ROWS.end())
    }
}

fn size(row: &Row) -> usize {
    ROW_BYTES + row.term.len() + row.part.bytes.len()
}

/// The lists of the terms that were read whole in all sources.
fn take(sources: &mut [Source]) -> Result<Vec<Lists>, Damaged> {
    let unfinished = sources.iter().filter(|it| !it.place.is_over).filter_map(|it| it.rows.last());
    let first = unfinished.map(|it| it.term.clone()).min();
    sources.iter_mut().map(|it| it.take_before(first.as_deref())).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use stoa_search::list::Part;

    fn row(term: usize, bytes: usize) -> Row {
        Row { term: format!("t{term:05}"), number: 0, part: Part { count: 1, bytes: vec![0; bytes] } }
    }

    fn segment(items: usize) -> StoredSegment {
        let (language, dead) = (String::new(), Rows::default());
        StoredSegment { number: 1, language, level: 0, version: VERSION, items, first: 1, last: 9, dead, died: None }
    }

    #[tokio::test]
    async fn merges_outlast_a_crowd_but_not_a_fault() {
        let tried = AtomicUsize::new(0);
        let (crowd, count) = (Code::Throttled, || tried.fetch_add(1, Relaxed));
        let read = patiently(Duration::ZERO, async || match count() {
            0..9 => Err(Fault::new(crowd)),
            9..18 => Err(Fault::new(Code::Unavailable)),
            it => Ok(it),
        });
        assert_eq!(read.await.unwrap(), 18);
        for (code, tries) in [(Code::Internal, 1), (Code::Unavailable, TRIES)] {
            tried.store(0, Relaxed);
            let failed: Result<()> =
                patiently(Duration::ZERO, async || Err(Fault::new(if count() < TRIES { code } else { crowd }))).await;
            assert_eq!((failed.unwrap_err().code(), tried.load(Relaxed)), (code, tries));
        }
    }

    #[test]
    fn windows_are_of_bytes_not_of_rows() {
        let share = WINDOW / 8;
        let mut source = Source::new(segment(1));
        assert_eq!(source.place.rows_to_read(share), share / USUAL_ROW, "before any was read");
        // As if so many rows of a size had been read.
        let mut held = |count: usize, bytes: usize| {
            source.rows = (0..count).map(|it| row(it, bytes)).collect();
            source.place.count = count;
            source.place.bytes = source.rows.iter().map(size).sum();
            source.place.rows_to_read(share)
        };
        assert_eq!(held(100, 0), share / (ROW_BYTES + 6) - 100, "short lists: thousands at once");
        assert_eq!(held(15, 30_000), *ROWS.start(), "long ones: few");
        assert_eq!(held(4_000, 1_000), *ROWS.start());
    }

    #[test]
    fn what_is_taken_is_held_no_longer() {
        let mut source = Source::new(segment(1));
        source.rows = (0..10).map(|it| row(it, 20)).collect();
        source.place.count = 10;
        source.place.bytes = source.rows.iter().map(size).sum();
        source.place.last = ("t00009".to_owned(), 0);
        let mut sources = [source];
        let terms = |lists: &[Lists]| lists[0].terms_with("").count();
        assert_eq!(terms(&take(&mut sources).unwrap()), 9, "the last may go on");
        let place = &sources[0].place;
        assert_eq!((place.count, place.bytes, place.first.as_deref()), (1, size(&row(9, 20)), Some("t00009")));
        assert!(!place.has_whole());
        sources[0].place.is_over = true;
        assert_eq!(terms(&take(&mut sources).unwrap()), 1);
        assert_eq!((sources[0].place.count, sources[0].place.bytes), (0, 0));
    }
}
