//! What is searched for, and which items answer it, best first.
//!
//! Ranks are whole numbers: first how many of the words an item holds, then the sum of their impacts, each times how
//! rare the word is, then the older row. How rare it is comes from live items alone, so segments can't show.

use crate::list::Damaged;
use crate::segment::Segment;
use crate::words::{Form, Word, pairs, words};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

/// The longest expression, in characters (docs/protocol/content.md §19).
pub const MAX_CHARACTERS: usize = 100;
/// The most words of an expression.
pub const MAX_WORDS: usize = 16;
/// The most words that a word with errors stands for.
const MAX_LIKE: usize = 50;

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
    /// Rare words count more. How rare a word is counts items that the caller may not see, so where each sees only
    /// what is theirs this is false.
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
    /// Pairs that an item must all hold.
    Run(Vec<String>),
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

    /// The items that answer, of segments in which each item is live once at most.
    pub fn ask(&self, segments: &[Segment]) -> Result<Hits, Damaged> {
        let live: usize = segments.iter().map(Segment::live).sum();
        let mut hits: Vec<Hit> = Vec::new();
        for asked in &self.asked {
            let found = Lists { segments, fields: self.options.fields }.find(asked)?;
            let factor = if self.options.rarity { rarity(live, found.len()) } else { 16 };
            hits = add(&hits, &found, factor);
        }
        if self.options.mode == Mode::And {
            hits.retain(|it| it.words as usize == self.asked.len());
        }
        Ok(Hits { rest: hits, next: 0 })
    }
}

fn read_word(word: &Word, rest: &str, fuzzy: bool) -> Asked {
    match &word.form {
        Form::Run(run) if run.chars().nth(1).is_some() => Asked::Run(pairs(run)),
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

/// Items in ascending order of rows, with a word's impact.
type Found = Vec<(u64, u8)>;

struct Lists<'s> {
    segments: &'s [Segment],
    fields: u8,
}

impl Lists<'_> {
    fn find(&self, asked: &Asked) -> Result<Found, Damaged> {
        let mut found = Found::new();
        match asked {
            Asked::Exact(terms) => terms.iter().try_for_each(|it| self.collect(it, 0, &mut found).map(drop))?,
            Asked::Prefix(prefixes) => {
                for prefix in prefixes {
                    for segment in self.segments {
                        for term in segment.terms_from(prefix).take_while(|it| it.starts_with(prefix.as_str())) {
                            self.collect_of(segment, term, 0, &mut found)?;
                        }
                    }
                }
            }
            Asked::Fuzzy(terms) => self.collect_like(terms, &mut found)?,
            Asked::Run(pairs) => return self.find_all(pairs),
        }
        found.sort_unstable_by_key(|&(rid, impact)| (rid, Reverse(impact)));
        found.dedup_by_key(|it| it.0);
        Ok(found)
    }

    /// Items with all pairs; the impact is the least one.
    fn find_all(&self, pairs: &[String]) -> Result<Found, Damaged> {
        let mut all: Option<BTreeMap<u64, u8>> = None;
        for pair in pairs {
            let found: BTreeMap<u64, u8> = self.find(&Asked::Exact(vec![pair.clone()]))?.into_iter().collect();
            all = Some(match all {
                None => found,
                Some(all) => all.into_iter().filter_map(|(k, v)| Some((k, v.min(*found.get(&k)?)))).collect(),
            });
        }
        Ok(all.unwrap_or_default().into_iter().collect())
    }

    /// The words most like these: fewest errors first, then in the order of their bytes, live ones only.
    fn collect_like(&self, terms: &[String], found: &mut Found) -> Result<(), Damaged> {
        let mut like: BTreeMap<&str, usize> = BTreeMap::new();
        for term in terms {
            let first: String = term.chars().take(1).collect();
            let most = errors(term);
            for segment in self.segments {
                for other in segment.terms_from(&first).take_while(|it| it.starts_with(&first)) {
                    let distance = strsim::osa_distance(term, other);
                    if distance <= most {
                        like.entry(other).and_modify(|it| *it = distance.min(*it)).or_insert(distance);
                    }
                }
            }
        }
        let mut like: Vec<_> = like.into_iter().map(|(term, distance)| (distance, term)).collect();
        like.sort_unstable();
        let mut taken = 0;
        for (distance, term) in like {
            taken += usize::from(self.collect(term, distance, found)?);
            if taken == MAX_LIKE {
                break;
            }
        }
        Ok(())
    }

    /// Adds a term's items; says whether there are any.
    fn collect(&self, term: &str, errors: usize, found: &mut Found) -> Result<bool, Damaged> {
        let before = found.len();
        self.segments.iter().try_for_each(|it| self.collect_of(it, term, errors, found))?;
        Ok(found.len() > before)
    }

    fn collect_of(&self, segment: &Segment, term: &str, errors: usize, found: &mut Found) -> Result<(), Damaged> {
        for posting in segment.postings(term) {
            let posting = posting?;
            if posting.fields & self.fields != 0 {
                let impact = usize::from(posting.impact) * (3 - errors) / 3;
                found.push((posting.rid, impact.max(1) as u8));
            }
        }
        Ok(())
    }
}

/// How many errors a word may have: none in a single letter and in numbers, where another one is another thing.
fn errors(term: &str) -> usize {
    match term.chars().count() {
        _ if term.starts_with(|c: char| c.is_ascii_digit()) => 0,
        0..=1 => 0,
        2..=5 => 1,
        _ => 2,
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

/// Adds a word to hits; both are in ascending order of rows.
fn add(hits: &[Hit], found: &[(u64, u8)], factor: u32) -> Vec<Hit> {
    let mut all = Vec::with_capacity(hits.len().max(found.len()));
    let mut hits = hits.iter().copied().peekable();
    for &(rid, impact) in found {
        while let Some(before) = hits.next_if(|it| it.rid < rid) {
            all.push(before);
        }
        let same = hits.next_if(|it| it.rid == rid).unwrap_or(Hit { rid, words: 0, score: 0 });
        all.push(Hit { rid, words: same.words + 1, score: same.score + u32::from(impact) * factor });
    }
    all.extend(hits);
    all
}

/// Hits in the order of their rank, put in order only as far as they are taken.
#[derive(Clone, Debug)]
pub struct Hits {
    rest: Vec<Hit>,
    next: usize,
}

impl Hits {
    /// How many there are, with those that were taken.
    pub fn count(&self) -> usize {
        self.rest.len()
    }

    /// The next best ones, `most` of them if there are so many; empty at the end. Who filters them asks for four
    /// times as many each time.
    pub fn take(&mut self, most: usize) -> &[Hit] {
        let rest = &mut self.rest[self.next..];
        let most = most.min(rest.len());
        if most < rest.len() {
            rest.select_nth_unstable_by_key(most, Hit::key);
        }
        rest[..most].sort_unstable_by_key(Hit::key);
        let from = self.next;
        self.next += most;
        &self.rest[from..self.next]
    }
}

#[cfg(test)]
mod tests;
