//! What keeps the indexes of a site's collections, for as long as it holds the lease of their consumer: what it knows, and
//! how it writes. What it does is in `turn`, `look` and `merge`.

use super::{
    layout::Layout,
    row::Index,
    state::build_anew,
    write::{NewSegment, Piece, Publication, together},
};
use crate::Content;
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, atomic::AtomicBool},
};
use stoa_kernel::{Code, Fault, Millis, Result, clock::elapsing};
use stoa_search::rows::Rows;
use stoa_sql::Table;
use stoa_store::{Held, Site, boxed, outbox::Position};
use tokio::sync::OwnedSemaphorePermit;

/// Why the work ends.
#[derive(Debug)]
pub(super) enum Stop {
    /// The lease is another's by now.
    Lost,
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A collection that is searched.
#[derive(Clone)]
pub(super) struct Known {
    pub index: Index,
    pub table: Table,
    pub layout: Arc<Layout>,
    /// The last row that was read, or [`super::state::WHOLE`].
    pub built: i64,
}

/// Segments that are to be seen at once, and what changes with them.
#[derive(Default)]
pub(super) struct Made {
    /// None is without items.
    pub segments: Vec<NewSegment>,
    pub dead: Vec<(i64, Rows)>,
    /// How far the index is built with it, if that changes.
    pub built: Option<i64>,
}

/// An index and segments of it that are being written.
pub(super) type Writing = Arc<(Index, Vec<NewSegment>)>;
/// Those that they have by now.
pub(super) type Numbers = Vec<Option<i64>>;

/// How long a collection is left alone.
pub(super) struct Rest {
    /// By the clock that only goes forward.
    until: Millis,
    pause: Millis,
}

const FIRST_REST: Millis = 5_000;
const LONGEST_REST: Millis = 10 * 60_000;

pub(super) struct Indexer {
    pub content: Content,
    pub site: Arc<Site>,
    pub held: Held,
    /// Behind the last row of the log that was dealt with.
    pub position: Position,
    /// The collections that are searched, by id.
    pub known: HashMap<String, Known>,
    /// Numbers of those whose segments may be merged.
    pub unmerged: BTreeSet<i64>,
    /// The collection that was merged last.
    pub merged_last: i64,
    /// Bytes of the lists of segments, which never change, by collection and number.
    pub sizes: HashMap<i64, HashMap<i64, u64>>,
    /// Whether there may be segments that no question reads.
    pub has_waste: bool,
    /// Whether some were deleted whose bytes the engine may still have.
    pub has_erased: Arc<AtomicBool>,
    /// How many segments were published since the last turn of merging.
    pub published: usize,
    /// Collections that were met by a fault and wait.
    pub resting: HashMap<i64, Rest>,
    /// When the log was read last, by the clock that only goes forward.
    pub followed: Option<Millis>,
    /// Whether there was more of it.
    pub has_unread: bool,
    /// When all collections were looked at last, by the clock that only goes forward; nothing if they are to be.
    pub looked: Option<Millis>,
}

impl Indexer {
    pub(super) fn new(content: Content, held: Held) -> Self {
        Self {
            content,
            site: held.site().clone(),
            position: held.position(),
            held,
            known: HashMap::new(),
            unmerged: BTreeSet::new(),
            merged_last: 0,
            sizes: HashMap::new(),
            has_waste: true,
            // The one that held the lease before may have ended between the two.
            has_erased: Arc::new(AtomicBool::new(true)),
            published: 0,
            resting: HashMap::new(),
            followed: None,
            has_unread: false,
            looked: None,
        }
    }

    /// A place among those who make segments on this node, when one is free.
    pub(super) async fn place(&self) -> Result<OwnedSemaphorePermit> {
        self.content.state.index_places.clone().acquire_owned().await.map_err(Fault::internal)
    }

    /// Writes segments, and lets them be seen.
    pub(super) async fn publish(&self, index: Index, made: Made) -> Result<(), Stop> {
        let Made { segments, dead, built } = made;
        let (mut pieces, mut numbers) = (together(&segments), vec![None; segments.len()]);
        let (last, segments) = (pieces.pop().unwrap_or_default(), Arc::new((index, segments)));
        // Most are written and published in one transaction.
        for piece in pieces {
            numbers = self.put(&segments, numbers, piece).await?;
        }
        let publication = Publication { dead, now: self.content.state.world.now(), ..Publication::default() };
        let input = (segments, numbers, last, publication);
        let published = self.held.write_with(input, move |tx, (it, numbers, last, publication)| {
            boxed!({
                let (index, segments) = &**it;
                let numbers = index.put_piece(tx, segments, numbers.clone(), last).await?;
                let numbers: Vec<i64> = numbers.into_iter().flatten().collect();
                index.publish(tx, &numbers, publication).await?;
                match built {
                    Some(it) => index.note_built(tx, it).await,
                    None => Ok(()),
                }
            })
        });
        published.await?.ok_or(Stop::Lost)
    }

    /// Writes a piece of segments that aren't seen yet; answers their numbers.
    pub(super) async fn put(&self, segments: &Writing, numbers: Numbers, piece: Piece) -> Result<Numbers, Stop> {
        let put = self.held.write_with((Arc::clone(segments), numbers, piece), |tx, (it, numbers, piece)| {
            boxed!(it.0.put_piece(tx, &it.1, numbers.clone(), piece).await)
        });
        put.await?.ok_or(Stop::Lost)
    }

    /// Has an index built anew in which something was found damaged.
    pub(super) async fn healed<T: Default>(&mut self, collection: i64, done: Result<T, Stop>) -> Result<T, Stop> {
        match done {
            Err(Stop::Fault(fault)) if fault.code() == Code::Internal => {
                tracing::warn!(site = %self.site.id, collection, "an index of words is built anew: {fault:?}");
                self.build_anew(Some(collection)).await?;
                Ok(T::default())
            }
            it => it,
        }
    }

    /// Lets a collection rest whose index can't be worked on now, so that the others' are, and their waste is swept.
    /// Nothing if it rests.
    pub(super) fn rested<T>(&mut self, collection: i64, done: Result<T, Stop>) -> Result<Option<T>, Stop> {
        let fault = match done {
            Ok(it) => {
                self.resting.remove(&collection);
                return Ok(Some(it));
            }
            Err(Stop::Lost) => return Err(Stop::Lost),
            Err(Stop::Fault(fault)) => fault,
        };
        // What was being written is swept before it is tried again: it would fill the disk.
        self.has_waste = true;
        let pause = self.resting.get(&collection).map_or(FIRST_REST, |it| LONGEST_REST.min(2 * it.pause));
        tracing::warn!(site = %self.site.id, collection, "an index of words is left alone for {pause} ms: {fault:?}");
        self.resting.insert(collection, Rest { until: elapsing() + pause, pause });
        Ok(None)
    }

    pub(super) fn rests(&self, collection: i64) -> bool {
        self.resting.get(&collection).is_some_and(|it| elapsing() < it.until)
    }

    /// Has the index of a collection, or of all, built anew: the next turn begins with it.
    pub(super) async fn build_anew(&mut self, collection: Option<i64>) -> Result<(), Stop> {
        let marked =
            self.held.write_with(self.site.id.clone(), move |tx, site| boxed!(build_anew(tx, site, collection).await));
        marked.await?.ok_or(Stop::Lost)?;
        self.looked = None;
        // Numbers of segments that were swept are given again.
        self.sizes.clear();
        Ok(())
    }
}
