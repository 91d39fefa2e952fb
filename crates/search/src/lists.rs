//! The lists of a segment's terms, as they are stored and as a question reads them.
//!
//! A question reads a few terms of a segment: [`Lists`] holds those that were read, and answers for them as if it held all.

use crate::list::{Part, Posting, decode};
use crate::rows::{Following, Rows};
use crate::varint::Damaged;
use std::sync::Arc;

/// The term of the list of a segment's items, whose parts are those of [`Rows`]. It is no word's.
pub const ITEMS: &str = "";

/// A stored part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// A term, or [`ITEMS`].
    pub term: String,
    /// Its number in the list, from 0.
    pub number: u32,
    pub part: Part,
}

/// Lists of some or all terms of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// How many items the segment was made of.
    pub(crate) items: usize,
    /// Those that were written again or removed since.
    pub(crate) dead: Arc<Rows>,
    /// Those that are found in lists of another language.
    pub(crate) hidden: Arc<Rows>,
    /// Whether its items are counted in other lists.
    pub(crate) is_translation: bool,
    /// In the order of the terms' bytes.
    pub(crate) terms: Vec<(String, Vec<Part>)>,
}

impl Lists {
    /// The lists in stored rows, in any order.
    ///
    /// # Errors
    /// If a part of a list is missing, or there twice. What is inside of a part is checked when it is read.
    pub fn new(items: usize, dead: impl Into<Arc<Rows>>, mut rows: Vec<Row>) -> Result<Self, Damaged> {
        rows.retain(|it| it.term != ITEMS);
        rows.sort_by(|a, b| (&a.term, a.number).cmp(&(&b.term, b.number)));
        let mut terms: Vec<(String, Vec<Part>)> = Vec::new();
        for Row { term, number, part } in rows {
            if terms.last().is_none_or(|it| it.0 != term) {
                terms.push((term, Vec::new()));
            }
            let parts = &mut terms.last_mut().expect("one was pushed").1;
            if parts.len() != number as usize {
                return Err(Damaged { at: 0 });
            }
            parts.push(part);
        }
        Ok(Self { terms, ..Self::of_items(items, dead) })
    }

    /// Lists without terms.
    pub(crate) fn of_items(items: usize, dead: impl Into<Arc<Rows>>) -> Self {
        Self { items, dead: dead.into(), ..Self::default() }
    }

    /// The same where each item is asked for in one language. Lists of a language have the items that are translated into
    /// it; they aren't found in the lists of languages that come behind it, nor in those of the primary text, which has all
    /// items.
    #[must_use]
    pub fn in_language(self, is_translation: bool, hidden: Arc<Rows>) -> Self {
        Self { is_translation, hidden, ..self }
    }

    /// Whether no item is found in them, whatever is hidden.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How many items of the segment are live, but for those that other lists count.
    pub fn live(&self) -> usize {
        if self.is_translation { 0 } else { self.live_items() }
    }

    /// How many items of the segment are live, whichever lists count them.
    pub(crate) fn live_items(&self) -> usize {
        self.items.saturating_sub(self.dead.len())
    }

    /// Its terms in the order of their bytes, those of dead items too, from the first that begins so to the last.
    pub fn terms_with<'l>(&'l self, prefix: &'l str) -> impl Iterator<Item = &'l str> {
        let from = self.terms.partition_point(|it| it.0.as_str() < prefix);
        let terms = self.terms[from..].iter().map(|it| it.0.as_str());
        terms.take_while(move |it| it.starts_with(prefix))
    }

    /// The live postings of a term, in ascending order of items.
    pub fn postings(&self, term: &str) -> impl Iterator<Item = Result<Posting, Damaged>> {
        let (mut dead, mut hidden) = (Following::new(&self.dead), Following::new(&self.hidden));
        let mut before = 0;
        let all = self.parts(term).iter().flat_map(|it| decode(&it.bytes)).map(move |it| {
            let posting = it?;
            let ascends = std::mem::replace(&mut before, posting.rid) < posting.rid;
            if ascends { Ok(posting) } else { Err(Damaged { at: 0 }) }
        });
        all.filter(move |it| it.is_err() || it.is_ok_and(|it| !dead.has(it.rid) && !hidden.has(it.rid)))
    }

    /// Hands on the same, of those in fields of these bits: several times as fast where they are many.
    pub(crate) fn each(&self, term: &str, fields: u8, mut then: impl FnMut(Posting)) -> Result<(), Damaged> {
        let (mut dead, mut hidden) = (Following::new(&self.dead), Following::new(&self.hidden));
        let is_whole = self.dead.is_empty() && self.hidden.is_empty();
        let mut before = 0;
        for part in self.parts(term) {
            for posting in decode(&part.bytes) {
                let posting = posting?;
                if std::mem::replace(&mut before, posting.rid) >= posting.rid {
                    return Err(Damaged { at: 0 });
                }
                if posting.fields & fields != 0 && (is_whole || !dead.has(posting.rid) && !hidden.has(posting.rid)) {
                    then(posting);
                }
            }
        }
        Ok(())
    }

    /// How many postings of a term there are, dead ones too. Of lists that are damaged it may be wrong.
    pub(crate) fn count(&self, term: &str) -> usize {
        self.parts(term).iter().map(Part::most).sum()
    }

    /// The same of all terms.
    pub(crate) fn count_all(&self) -> usize {
        self.terms.iter().flat_map(|it| &it.1).map(Part::most).sum()
    }

    fn parts(&self, term: &str) -> &[Part] {
        let at = self.terms.binary_search_by(|it| it.0.as_str().cmp(term));
        at.map(|at| &self.terms[at].1[..]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::encode;

    fn row(term: &str, number: u32, rid: u64) -> Row {
        let part = encode([Posting { rid, impact: 9, fields: 1 }]).remove(0);
        Row { term: term.into(), number, part }
    }

    #[test]
    fn parts_are_put_in_order() {
        let lists =
            Lists::new(3, Rows::new(vec![2]), vec![row("b", 0, 5), row("a", 1, 2), row("a", 0, 1), row("a", 2, 7)]);
        let lists = lists.expect("sound");
        let rids: Result<Vec<_>, _> = lists.postings("a").map(|it| it.map(|it| it.rid)).collect();
        assert_eq!((rids, lists.live(), lists.count("a")), (Ok(vec![1, 7]), 2, 3));
        assert_eq!(lists.terms_with("").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(lists.terms_with("ab").count() + lists.postings("c").count(), 0);
    }

    #[test]
    fn items_are_found_in_one_language() {
        let lists = |rids: &[u64]| {
            let rows = rids.iter().map(|rid| row("a", 0, *rid)).take(1).collect();
            Lists::new(rids.len(), Rows::default(), rows).expect("sound")
        };
        let primary = lists(&[7, 8]).in_language(false, Arc::new(Rows::new(vec![7])));
        let translated = lists(&[7]).in_language(true, Arc::default());
        assert_eq!((primary.live(), translated.live()), (2, 0), "an item counts once");
        assert_eq!((primary.postings("a").count(), translated.postings("a").count()), (0, 1));
    }

    #[test]
    fn lists_with_holes_are_refused() {
        for rows in [vec![row("a", 1, 1)], vec![row("a", 0, 1), row("a", 0, 2)], vec![row("a", 0, 1), row("a", 2, 2)]] {
            assert_eq!(Lists::new(2, Rows::default(), rows), Err(Damaged { at: 0 }));
        }
    }

    #[test]
    fn parts_that_do_not_ascend_are_refused() {
        let lists = Lists::new(2, Rows::default(), vec![row("a", 0, 4), row("a", 1, 4)]).expect("whole");
        let read: Vec<_> = lists.postings("a").collect();
        assert_eq!(read, [Ok(Posting { rid: 4, impact: 9, fields: 1 }), Err(Damaged { at: 0 })]);
    }
}
