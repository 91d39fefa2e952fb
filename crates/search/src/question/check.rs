//! Whether an item answers, by its texts as they are now.
//!
//! The index may be older than an item, and pairs of characters don't say whether they are neighbours. So the items
//! of a page are read before they are shown.

use super::{Asked, Mode, Question, likeness::distance};
use crate::document::FieldText;
use crate::words::{Form, Word, words};

impl Question {
    /// Whether an item with these texts answers.
    pub fn is_answered_by(&self, fields: &[FieldText<'_>]) -> bool {
        let mut missing: Vec<&Asked> = self.asked.iter().collect();
        // Most items answer by their first words, so no more of them are kept than one field's.
        for field in fields.iter().filter(|it| it.bit & self.options.fields != 0) {
            for word in words(field.text).into_iter().map(Stored::new) {
                missing.retain(|asked| !word.is(asked));
                let is_answered = match self.options.mode {
                    Mode::Or => missing.len() < self.asked.len(),
                    Mode::And => missing.is_empty() && !self.asked.is_empty(),
                };
                if is_answered {
                    return true;
                }
            }
        }
        false
    }
}

/// A word of an item with its terms.
pub(super) struct Stored {
    pub(super) word: Word,
    terms: Vec<String>,
}

impl Stored {
    pub(super) fn new(word: Word) -> Self {
        Self { terms: word.terms(), word }
    }

    pub(super) fn is(&self, asked: &Asked) -> bool {
        let any = |fits: &dyn Fn(&str, &str) -> bool, asked: &[String]| {
            self.terms.iter().any(|term| asked.iter().any(|it| fits(it, term)))
        };
        match asked {
            Asked::Exact(terms) => any(&|asked, term| asked == term, terms),
            Asked::Prefix(prefixes) => any(&|asked, term| term.starts_with(asked), prefixes),
            Asked::Fuzzy(terms) => any(&|asked, term| distance(asked, term).is_some(), terms),
            Asked::Run(run) => matches!(&self.word.form, Form::Run(it) if it.contains(run.as_str())),
        }
    }
}
