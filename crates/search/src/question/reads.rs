//! Which stored terms a question reads, so that a store gives it those alone.

use super::{
    Asked, Question,
    likeness::{distance, first},
};
use crate::words::pairs;

/// What to read of the lists of each segment, all of it in the order of the terms' bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// The lists of these terms.
    pub terms: Vec<String>,
    /// The lists of all terms that begin so.
    pub prefixes: Vec<String>,
    /// The lists of those terms that begin so and that [`Question::is_like`] is true of.
    pub like: Vec<String>,
}

impl Question {
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        for asked in &self.asked {
            match asked {
                Asked::Exact(terms) => reads.terms.extend_from_slice(terms),
                Asked::Run(run) => reads.terms.extend(pairs(run)),
                Asked::Prefix(prefixes) => reads.prefixes.extend_from_slice(prefixes),
                Asked::Fuzzy(terms) => reads.like.extend(terms.iter().map(|it| first(it).to_owned())),
            }
        }
        for list in [&mut reads.terms, &mut reads.prefixes, &mut reads.like] {
            list.sort_unstable();
            list.dedup();
        }
        reads
    }

    /// Whether a term is near enough to a word with errors.
    pub fn is_like(&self, term: &str) -> bool {
        self.asked
            .iter()
            .any(|it| matches!(it, Asked::Fuzzy(words) if words.iter().any(|it| distance(it, term).is_some())))
    }
}
