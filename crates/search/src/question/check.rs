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
        let searched = fields.iter().filter(|it| it.bit & self.options.fields != 0);
        let found: Vec<Stored> = searched.flat_map(|it| words(it.text)).map(Stored::new).collect();
        let mut held = self.asked.iter().map(|asked| found.iter().any(|it| it.is(asked)));
        match self.options.mode {
            Mode::Or => held.any(|it| it),
            Mode::And => !self.asked.is_empty() && held.all(|it| it),
        }
    }
}

/// A word of an item with its terms.
struct Stored {
    word: Word,
    terms: Vec<String>,
}

impl Stored {
    fn new(word: Word) -> Self {
        Self { terms: word.terms(), word }
    }

    fn is(&self, asked: &Asked) -> bool {
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
