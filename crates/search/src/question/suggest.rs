//! Other words that may be meant, where few items hold those that were asked for.
//!
//! They are words of the index, so they are for those who may read all of its items.

use super::{Asked, Index, MAX_CHARACTERS, Question, likeness::errors, read_word};
use crate::lists::Lists;
use crate::varint::Damaged;
use crate::words::words;
use std::cmp::Reverse;
use std::ops::Range;

/// The most items that hold a word for which others are looked for.
pub(super) const FEW: usize = 5;
/// Where some items hold a word: how many times as many hold another one for it to be told.
pub(super) const TIMES: usize = 20;
/// The most words that are told for one.
pub(super) const MAX_ALTERNATIVES: usize = 3;

/// The words of an expression that few items hold.
#[derive(Clone, Debug)]
pub struct Doubts {
    expression: String,
    /// What reads the lists of all words that may be meant.
    question: Question,
    /// Of each of its words, how many items hold it.
    held: Vec<usize>,
    /// Where its words stand in the expression, with the sign behind them, and which they are.
    places: Vec<(Range<usize>, usize)>,
}

/// What may be meant by an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// The expression with the likeliest words in place of some of its own; nothing where there are none, and where it
    /// would be too long.
    pub expression: Option<String>,
    /// Its words for which there are others, in their order.
    pub words: Vec<Suggestion>,
}

/// What may be meant by a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The word as it was typed.
    pub word: String,
    /// The likeliest first: fewest errors, then most items, then in the order of their bytes. Never empty.
    pub alternatives: Vec<Alternative>,
}

/// A word of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// As it is stored, folded.
    pub word: String,
    /// How many items hold it.
    pub items: usize,
}

impl Question {
    /// How many items hold each word as it is spelled, or a word that begins so where that is what is asked; nothing once
    /// `is_over` says so. The lists are those of [`Self::reads`].
    ///
    /// # Errors
    /// As for [`Self::ask`].
    pub fn held_until<L: AsRef<Lists>>(
        &self,
        segments: &[L],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<usize>>, Damaged> {
        let index = self.index(segments, is_over);
        let mut held = Vec::with_capacity(self.asked.len());
        for asked in &self.asked {
            held.push(match asked {
                Asked::Fuzzy(terms) => index.find(&Asked::Exact(terms.clone()))?.len(),
                // Pairs of characters aren't the words of a text.
                Asked::Run(_) => usize::MAX,
                asked => index.find(asked)?.len(),
            });
            if is_over() {
                return Ok(None);
            }
        }
        Ok(Some(held))
    }

    /// The words for which others are looked for, given what [`Self::held_until`] says; nothing where there are none.
    /// `expression`: what was read.
    pub fn doubts(&self, expression: &str, held: &[usize]) -> Option<Doubts> {
        let (mut asked, mut counts, mut numbers) = (Vec::new(), Vec::new(), vec![None; self.asked.len()]);
        for (n, (it, &held)) in self.asked.iter().zip(held).enumerate() {
            let (Asked::Exact(terms) | Asked::Prefix(terms) | Asked::Fuzzy(terms)) = it else { continue };
            if held <= FEW && terms.iter().any(|it| errors(it) > 0) {
                numbers[n] = Some(asked.len());
                asked.push(Asked::Fuzzy(terms.clone()));
                counts.push(held);
            }
        }
        let mut places = Vec::new();
        for word in words(expression) {
            let rest = &expression[word.range.end..];
            let it = read_word(&word, rest, self.options.fuzzy);
            let number = self.asked.iter().position(|asked| *asked == it).and_then(|n| numbers[n]);
            let end = word.range.end + usize::from(rest.starts_with(['*', '~']));
            places.extend(number.map(|number| (word.range.start..end, number)));
        }
        let question = Self { asked, options: self.options };
        (!places.is_empty()).then(|| Doubts { expression: expression.to_owned(), question, held: counts, places })
    }
}

impl Doubts {
    /// What says which lists are read for [`Self::suggestions_until`].
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// What may be meant; nothing once `is_over` says so.
    ///
    /// # Errors
    /// As for [`Question::ask`].
    pub fn suggestions_until<L: AsRef<Lists>>(
        &self,
        segments: &[L],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Option<Suggestions>, Damaged> {
        let index = Index { most_like: usize::MAX, ..self.question.index(segments, is_over) };
        let mut alternatives = Vec::with_capacity(self.held.len());
        for (asked, &held) in self.question.asked.iter().zip(&self.held) {
            let Asked::Fuzzy(terms) = asked else { continue };
            alternatives.push(index.alternatives(terms, held)?);
            if is_over() {
                return Ok(None);
            }
        }
        Ok(Some(self.told(&alternatives)))
    }

    /// `alternatives`: those of each word.
    fn told(&self, alternatives: &[Vec<Alternative>]) -> Suggestions {
        let (mut expression, mut end, mut told) = (String::new(), 0, vec![false; alternatives.len()]);
        let mut words = Vec::new();
        for (range, number) in &self.places {
            let Some(likeliest) = alternatives[*number].first() else { continue };
            expression.extend([&self.expression[end..range.start], &likeliest.word]);
            end = range.end;
            if !std::mem::replace(&mut told[*number], true) {
                let word = self.expression[range.clone()].trim_end_matches(['*', '~']).to_owned();
                words.push(Suggestion { word, alternatives: alternatives[*number].clone() });
            }
        }
        expression.push_str(&self.expression[end..]);
        let is_told = !words.is_empty() && expression.chars().count() <= MAX_CHARACTERS;
        Suggestions { expression: is_told.then_some(expression), words }
    }
}

impl<L: AsRef<Lists>> Index<'_, L> {
    /// The words that may be meant by one with these spellings, which so many items hold.
    fn alternatives(&self, spellings: &[String], held: usize) -> Result<Vec<Alternative>, Damaged> {
        let mut found = Vec::new();
        for (term, distance) in self.like(spellings)? {
            let mut items = 0;
            for posting in self.lists().flat_map(|it| self.postings(it, term)) {
                posting?;
                items += 1;
            }
            if distance > 0 && items >= (TIMES * held).max(1) {
                found.push((distance, Alternative { word: term.to_owned(), items }));
            }
            if (self.is_over)() {
                break;
            }
        }
        found.sort_by(|(a, one), (b, other)| {
            (a, Reverse(one.items), &one.word).cmp(&(b, Reverse(other.items), &other.word))
        });
        found.truncate(MAX_ALTERNATIVES);
        Ok(found.into_iter().map(|it| it.1).collect())
    }
}
