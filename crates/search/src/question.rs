//! What is searched for, and which items answer it, best first.
//!
//! Ranks are whole numbers: first how many of the words an item holds, then the sum of their impacts, each times how
//! rare the word is, then the older row. How rare it is comes from live items alone, so segments can't show.

mod best;
mod check;
mod highlight;
mod likeness;
mod places;
mod reads;
mod suggest;

pub use highlight::{Extent, Fragment};
pub use reads::Reads;
pub use suggest::{Alternative, Doubts, Suggestion, Suggestions};

use crate::list::Posting;
use crate::lists::Lists;
use crate::varint::Damaged;
use crate::words::{Form, Word, pairs, words};
use best::{ARRAY_BYTES, Best, Found};
use likeness::{distance, first};
use std::cmp::{Ordering, Reverse};
use std::fmt;

/// The longest expression, in characters (docs/protocol/content.md §19).
pub const MAX_CHARACTERS: usize = 100;
/// The most words of an expression.
pub const MAX_WORDS: usize = 16;
/// The most words that a word with errors stands for, where all items are seen.
const MAX_LIKE: usize = 50;

/// So many lists are put in order rather than into an array of all rows.
const FEW: usize = 64;

/// Bytes of a posting that is put in order, with what that takes.
const SORTED_BYTES: usize = 24;

/// Bytes of a found item on its way through [`Question::ask`], where it is up to four times at once.
const FOUND_BYTES: usize = 64;

/// How the words of an expression are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// An item holds one of them.
    Or,
    /// An item holds them all.
    And,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub mode: Mode,
    /// Every word may have errors: one up to 5 letters, two above. `word~` says so of one.
    pub fuzzy: bool,
    /// The bits of the fields to search; 255 for all.
    pub fields: u8,
    /// Rare words count more, and a word with errors stands for the [`MAX_LIKE`] likest ones. Both count items that the
    /// caller may not see, so where each sees only what is theirs this is false.
    pub rarity: bool,
}

/// Why an expression isn't searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has so many characters.
    Characters(usize),
    /// It has so many words.
    Words(usize),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Characters(n) => write!(f, "the expression has {n} characters, the most is {MAX_CHARACTERS}"),
            Self::Words(n) => write!(f, "the expression has {n} words, the most is {MAX_WORDS}"),
        }
    }
}

impl std::error::Error for Refused {}

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct Question {
    asked: Vec<Asked>,
    options: Options,
}

/// One word of it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Exact(Vec<String>),
    /// Words that begin so: `word*`, and a single character of a script without spaces.
    Prefix(Vec<String>),
    Fuzzy(Vec<String>),
    /// Text without spaces, of two characters or more: an item must hold all its pairs.
    Run(String),
}

/// An item that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub rid: u64,
    /// How many of the words it holds.
    pub words: u32,
    pub score: u32,
}

impl Hit {
    /// The same item with one more word.
    fn with(self, impact: u8, factor: u32) -> Self {
        Self { words: self.words + 1, score: self.score + u32::from(impact) * factor, ..self }
    }

    /// The better hit has the lesser key.
    fn key(&self) -> (Reverse<u32>, Reverse<u32>, u64) {
        (Reverse(self.words), Reverse(self.score), self.rid)
    }
}

impl Question {
    /// Reads an expression; none if it is blank, which asks for every item. One of signs alone asks for none.
    pub fn parse(expression: &str, options: Options) -> Result<Option<Self>, Refused> {
        let characters = expression.chars().count();
        if characters > MAX_CHARACTERS {
            return Err(Refused::Characters(characters));
        }
        if expression.trim().is_empty() {
            return Ok(None);
        }
        let mut asked: Vec<Asked> = Vec::new();
        for word in words(expression) {
            let it = read_word(&word, &expression[word.range.end..], options.fuzzy);
            if !asked.contains(&it) {
                asked.push(it);
            }
        }
        if asked.len() > MAX_WORDS {
            return Err(Refused::Words(asked.len()));
        }
        Ok(Some(Self { asked, options }))
    }

    /// The items that answer, of segments in which each item is live once at most. Their lists hold at least what
    /// [`Self::reads`] says.
    pub fn ask<L: AsRef<Lists>>(&self, segments: &[L]) -> Result<Hits, Damaged> {
        Ok(self.ask_until(segments, &|| false)?.unwrap_or_default())
    }

    /// The same, and nothing once `is_over` says so: it is asked before each list.
    pub fn ask_until<L: AsRef<Lists>>(
        &self,
        segments: &[L],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Hits>, Damaged> {
        let live: usize = segments.iter().map(|it| it.as_ref().live()).sum();
        let index = self.index(segments, is_over);
        let (mut hits, mut is_first) = (Vec::<Hit>::new(), true);
        for asked in &self.asked {
            let found = index.find(asked)?;
            if is_over() {
                return Ok(None);
            }
            let factor = if self.options.rarity { rarity(live, found.len()) } else { 16 };
            hits = match self.options.mode {
                Mode::And if !is_first => both(&hits, &found, factor),
                Mode::And | Mode::Or => either(&hits, &found, factor, live),
            };
            is_first = false;
        }
        Ok(Some(Hits { rest: hits, next: 0, is_backward: false }))
    }

    fn index<'s, L: AsRef<Lists>>(&self, segments: &'s [L], is_over: &'s dyn Fn() -> bool) -> Index<'s, L> {
        let most_like = if self.options.rarity { MAX_LIKE } else { usize::MAX };
        Index { segments, fields: self.options.fields, most_like, is_over }
    }

    /// Bytes that [`Self::ask`] works with at most, beside these lists.
    pub fn working_bytes<L: AsRef<Lists>>(segments: &[L]) -> usize {
        let segments = || segments.iter().map(AsRef::as_ref);
        let postings: usize = segments().map(Lists::count_all).sum();
        let live: usize = segments().map(Lists::live).sum();
        FOUND_BYTES * postings.min(live) + ARRAY_BYTES.min(8 * postings)
    }
}

fn read_word(word: &Word, rest: &str, fuzzy: bool) -> Asked {
    match &word.form {
        Form::Run(run) if run.chars().nth(1).is_some() => Asked::Run(run.clone()),
        Form::Run(one) => Asked::Prefix(vec![one.clone()]),
        Form::Whole { spellings, .. } => {
            let spellings = spellings.clone();
            match rest.chars().next() {
                Some('*') => Asked::Prefix(spellings),
                Some('~') => Asked::Fuzzy(spellings),
                _ if fuzzy => Asked::Fuzzy(spellings),
                _ => Asked::Exact(spellings),
            }
        }
    }
}

struct Index<'s, L> {
    segments: &'s [L],
    fields: u8,
    /// The most words that a word with errors stands for.
    most_like: usize,
    is_over: &'s dyn Fn() -> bool,
}

/// A term of a segment that a word stands for, with its errors.
type Term<'s> = (&'s Lists, &'s str, usize);

impl<L: AsRef<Lists>> Index<'_, L> {
    fn find(&self, asked: &Asked) -> Result<Found, Damaged> {
        match asked {
            Asked::Exact(terms) => self.join(&self.in_all(terms.iter().map(|it| (it.as_str(), 0)))),
            Asked::Prefix(prefixes) => self.join(&self.beginning_with(prefixes)),
            Asked::Fuzzy(terms) => self.join(&self.in_all(self.like(terms)?)),
            Asked::Run(run) => self.find_all(&pairs(run)),
        }
    }

    /// How many items are live in all lists, hidden ones too.
    fn live(&self) -> usize {
        self.lists().map(Lists::live_items).sum()
    }

    fn lists(&self) -> impl Iterator<Item = &Lists> {
        self.segments.iter().map(AsRef::as_ref)
    }

    fn in_all<'t>(&'t self, terms: impl IntoIterator<Item = (&'t str, usize)>) -> Vec<Term<'t>> {
        let terms = terms.into_iter();
        terms.flat_map(|(term, errors)| self.lists().map(move |it| (it, term, errors))).collect()
    }

    fn beginning_with<'t>(&'t self, prefixes: &'t [String]) -> Vec<Term<'t>> {
        let each = self.lists().flat_map(|it| prefixes.iter().map(move |prefix| (it, prefix)));
        each.flat_map(|(it, prefix)| it.terms_with(prefix).map(move |term| (it, term, 0))).collect()
    }

    /// The words most like these: fewest errors first, then in the order of their bytes, live ones only.
    fn like<'t>(&'t self, terms: &'t [String]) -> Result<Vec<(&'t str, usize)>, Damaged> {
        let mut like: Vec<(&str, usize)> = Vec::new();
        for term in terms {
            let others = self.lists().flat_map(|it| it.terms_with(first(term)));
            like.extend(others.filter_map(|other| Some((other, distance(term, other)?))));
        }
        like.sort_unstable();
        like.dedup_by_key(|it| it.0);
        like.sort_by_key(|it| it.1);
        let mut live = Vec::new();
        for it in like {
            if live.len() == self.most_like || (self.is_over)() {
                break;
            }
            if self.is_live(it.0)? {
                live.push(it);
            }
        }
        Ok(live)
    }

    /// Whether a live item holds a term in a field that is searched.
    fn is_live(&self, term: &str) -> Result<bool, Damaged> {
        Ok(self.lists().flat_map(|it| self.postings(it, term)).next().transpose()?.is_some())
    }

    /// The items that hold one of the terms.
    fn join(&self, terms: &[Term<'_>]) -> Result<Found, Damaged> {
        let impact = |impact: u8, errors: usize| (usize::from(impact) * (3 - errors) / 3).max(1) as u8;
        let count = terms.iter().map(|(it, term, _)| it.count(term)).sum();
        // More than so many would be more bytes than [`Question::working_bytes`] tells of.
        if terms.len() <= FEW && count <= FOUND_BYTES / SORTED_BYTES * self.live() {
            let mut found = Vec::with_capacity(count);
            for &(lists, term, errors) in terms {
                if (self.is_over)() {
                    break;
                }
                lists.each(term, self.fields, |it| found.push((it.rid, impact(it.impact, errors))))?;
            }
            // Runs in order, of which most stand one behind another: the stable sort finds them.
            found.sort_by_key(|&(rid, impact)| (rid, Reverse(impact)));
            found.dedup_by_key(|it| it.0);
            return Ok(found);
        }
        let firsts = terms.iter().filter_map(|(it, term, _)| it.postings(term).next());
        let first = firsts.map(|it| it.map(|it| it.rid)).try_fold(u64::MAX, |least, it| it.map(|it| it.min(least)))?;
        let mut best = Best::new(count, first);
        for &(lists, term, errors) in terms {
            if (self.is_over)() {
                break;
            }
            lists.each(term, self.fields, |it| best.put(it.rid, impact(it.impact, errors)))?;
        }
        Ok(best.found())
    }

    fn postings(&self, lists: &Lists, term: &str) -> impl Iterator<Item = Result<Posting, Damaged>> {
        let fields = self.fields;
        lists.postings(term).filter(move |it| it.is_err() || it.is_ok_and(|it| it.fields & fields != 0))
    }

    /// Items with all pairs; the impact is the least one.
    fn find_all(&self, pairs: &[String]) -> Result<Found, Damaged> {
        let mut each = pairs.iter().map(|pair| self.join(&self.in_all([(pair.as_str(), 0)])));
        let mut all = each.next().transpose()?.unwrap_or_default();
        for found in each {
            let mut found = found?.into_iter().peekable();
            all.retain_mut(|it| {
                while found.next_if(|other| other.0 < it.0).is_some() {}
                let same = found.next_if(|other| other.0 == it.0);
                it.1 = it.1.min(same.map_or(0, |it| it.1));
                it.1 > 0
            });
        }
        Ok(all)
    }
}

/// 16 for a word that all items hold, and 16 more for each time that half as many do.
fn rarity(live: usize, holding: usize) -> u32 {
    log16(live.max(holding).max(1) as u64 * 16 / holding.max(1) as u64) - 64 + 16
}

/// 16 times the logarithm to base 2 of a number from 1 to 2^59, straight between powers of two.
fn log16(number: u64) -> u32 {
    let whole = number.ilog2();
    let fraction = (number << 4 >> whole) as u32 & 15;
    16 * whole + fraction
}

/// Adds a word to hits, of so many items at most; both are in ascending order of rows.
fn either(mut hits: &[Hit], found: &[(u64, u8)], factor: u32, items: usize) -> Vec<Hit> {
    let mut all = Vec::with_capacity((hits.len() + found.len()).min(items));
    for &(rid, impact) in found {
        while let [before, rest @ ..] = hits
            && before.rid < rid
        {
            all.push(*before);
            hits = rest;
        }
        let same = hits.split_first().filter(|(it, _)| it.rid == rid);
        let (hit, rest) = same.map_or((Hit { rid, words: 0, score: 0 }, hits), |(it, rest)| (*it, rest));
        all.push(hit.with(impact, factor));
        hits = rest;
    }
    all.extend(hits);
    all
}

/// The hits that hold one more word as well.
fn both(hits: &[Hit], mut found: &[(u64, u8)], factor: u32) -> Vec<Hit> {
    let mut all = Vec::with_capacity(hits.len().min(found.len()));
    for hit in hits {
        while let [(rid, _), rest @ ..] = found
            && *rid < hit.rid
        {
            found = rest;
        }
        if let [(rid, impact), rest @ ..] = found
            && *rid == hit.rid
        {
            all.push(hit.with(*impact, factor));
            found = rest;
        }
    }
    all
}

/// Hits in the order of their rank, put in order only as far as they are taken.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    rest: Vec<Hit>,
    next: usize,
    /// Whether they come against the order.
    is_backward: bool,
}

impl Hits {
    /// Those that stand behind a place in the order, or before it and the nearest first; none was taken yet.
    ///
    /// `place`: a hit as it was when it was met; it is among them if it `is_included`.
    #[must_use]
    pub fn beyond(mut self, place: &Hit, is_backward: bool, is_included: bool) -> Self {
        self.is_backward = is_backward;
        self.rest.retain(|it| match it.key().cmp(&place.key()) {
            Ordering::Equal => is_included,
            order => (order == Ordering::Less) == is_backward,
        });
        self
    }

    /// The rows of all of them, in no order.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.rest.iter().map(|it| it.rid)
    }

    /// How many there are, with those that were taken.
    pub fn count(&self) -> usize {
        self.rest.len()
    }

    /// The next best ones, `most` of them if there are so many; empty at the end. Who filters them asks for four
    /// times as many each time.
    pub fn take(&mut self, most: usize) -> &[Hit] {
        let rest = &mut self.rest[self.next..];
        let most = most.min(rest.len());
        let is_backward = self.is_backward;
        let compare = |a: &Hit, b: &Hit| if is_backward { b.key().cmp(&a.key()) } else { a.key().cmp(&b.key()) };
        if most < rest.len() {
            rest.select_nth_unstable_by(most, compare);
        }
        rest[..most].sort_unstable_by(compare);
        let from = self.next;
        self.next += most;
        &self.rest[from..self.next]
    }
}

#[cfg(test)]
mod tests;
