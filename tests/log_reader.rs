//! A reader of a log that tells all it sees, and the judge of that.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use stoa_kernel::{Result, SiteId};
use stoa_store::{
    Held, TxFuture, Worker, boxed,
    outbox::{Entry, Position, RESTORED, Read},
};

/// What readers on all nodes saw, in the order in which they said so.
#[derive(Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<Event>>>);

enum Event {
    /// A lease was taken at this place.
    Taken(SiteId, Position),
    Read(Entry),
    /// The place moved.
    Moved {
        site: SiteId,
        from: Position,
        to: Position,
    },
    Gap(SiteId),
}

/// Works for consumers by reading.
pub struct Reader(Journal);

impl Reader {
    pub fn new(journal: Journal) -> Self {
        Self(journal)
    }

    async fn read(&self, held: Held) -> Result<()> {
        let site = held.site().id.clone();
        let (mut news, mut place) = (held.news(), held.position());
        self.0.push(Event::Taken(site.clone(), place));
        while held.is_held() {
            let batch = match held.read(place, &[], 3).await? {
                Read::Batch(batch) => batch,
                Read::Gap(_) => {
                    self.0.push(Event::Gap(site.clone()));
                    return Ok(());
                }
            };
            for entry in batch.entries {
                self.0.push(Event::Read(entry));
            }
            if batch.end != place {
                if !held.advance(batch.end).await? {
                    return Ok(());
                }
                self.0.push(Event::Moved { site: site.clone(), from: place, to: batch.end });
                place = batch.end;
            } else {
                news.wait(Duration::from_millis(50)).await;
            }
        }
        Ok(())
    }
}

impl Worker for Reader {
    fn work<'w>(&'w self, held: Held) -> TxFuture<'w, ()> {
        boxed!(self.read(held).await)
    }
}

impl Journal {
    fn push(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }

    /// How many rows of writers were seen, each counted once.
    pub fn distinct(&self) -> usize {
        let events = self.0.lock().unwrap();
        let written = events.iter().filter_map(|it| if let Event::Read(it) = it { Some(it) } else { None });
        let ids = written.filter(|it| it.kind != RESTORED).map(Entry::id);
        ids.collect::<BTreeSet<_>>().len()
    }

    /// Whether the consumer of a site saw what its writers committed, each in its order, and nothing else.
    pub fn check(&self, site: &SiteId, wanted: &BTreeMap<usize, Vec<String>>) -> Result<(), String> {
        let events = self.0.lock().unwrap();
        let (mut rows, mut last, mut moves) = (Vec::new(), Position::default(), Vec::new());
        let mut seen: BTreeSet<Position> = BTreeSet::new();
        for event in events.iter() {
            match event {
                Event::Gap(of) if of == site => return Err("a gap".to_owned()),
                Event::Moved { site: of, from, to } if of == site => moves.push((*from, *to)),
                Event::Read(entry) if entry.site == *site && seen.insert(entry.position()) => {
                    if entry.position() <= last {
                        return Err(format!("{} was seen for the first time behind {last:?}", entry.payload));
                    }
                    last = entry.position();
                    rows.push(entry);
                }
                _ => {}
            }
        }
        // The place moved from where it was: what was dealt with under one lease is dealt with under no other.
        moves.sort_unstable();
        if let Some(overlap) = moves.windows(2).find(|it| it[1].0 < it[0].1) {
            return Err(format!("the place moved twice over the same rows: {overlap:?}"));
        }
        let starts: Vec<Position> = events
            .iter()
            .filter_map(|it| if let Event::Taken(of, at) = it { (of == site).then_some(*at) } else { None })
            .collect();
        if starts.is_empty() {
            return Err("no node worked for it".to_owned());
        }
        let numbers: BTreeSet<i64> = rows.iter().map(|it| it.sequence).collect();
        if numbers.len() != rows.len() {
            return Err("two rows have one number".to_owned());
        }
        let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for row in rows.iter().filter(|it| it.kind != RESTORED) {
            let writer = row.payload.split(' ').nth(1).and_then(|it| it.parse().ok());
            let writer = writer.ok_or_else(|| format!("no writer wrote {}", row.payload))?;
            found.entry(writer).or_default().push(row.payload.clone());
        }
        if found != *wanted {
            return Err(format!("committed: {wanted:?}\nseen: {found:?}"));
        }
        Ok(())
    }
}
