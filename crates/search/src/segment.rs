//! A segment: lists of the terms of some items, and which of those items have changed since.
//!
//! A segment's lists never change. An item that is written again goes into a newer segment and is dead in the older
//! one, so that it is live in one segment at most; merging leaves dead ones out.

use crate::document::{Entry, FieldText, terms};
use crate::list::{Damaged, Part, Posting, decode, encode};
use crate::words::VERSION;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The version of the words in it, [`VERSION`] where it was made by this program.
    pub version: u16,
    /// The items that it was made of, by row.
    docs: BTreeSet<u64>,
    /// Those of them that were written again or removed since.
    dead: BTreeSet<u64>,
    lists: BTreeMap<String, Vec<Part>>,
}

/// The two segments have words of different versions, or a list is damaged: the index is to be built anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotMerge {
    Versions,
    Damaged(Damaged),
}

/// Collects items for a [`Segment`].
#[derive(Default)]
pub struct Builder {
    items: BTreeMap<u64, BTreeMap<String, Entry>>,
}

impl Builder {
    /// Adds an item, or replaces the one of that row.
    ///
    /// # Panics
    /// If the row is 0 or above `i64::MAX`, or a field has no bit.
    pub fn put(&mut self, rid: u64, fields: &[FieldText<'_>]) {
        assert!((1..=i64::MAX as u64).contains(&rid), "a row is 1 to 2^63 - 1, not {rid}");
        assert!(fields.iter().all(|it| it.bit > 0), "a field has a bit");
        self.items.insert(rid, terms(fields));
    }

    pub fn build(self) -> Segment {
        let docs = self.items.keys().copied().collect();
        let mut lists: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        for (rid, terms) in self.items {
            for (term, Entry { impact, fields }) in terms {
                lists.entry(term).or_default().push(Posting { rid, impact, fields });
            }
        }
        let lists = lists.into_iter().map(|(term, list)| (term, encode(list))).collect();
        Segment { version: VERSION, docs, dead: BTreeSet::new(), lists }
    }
}

impl Segment {
    /// Marks an item as written again or removed; says whether it was live here.
    pub fn bury(&mut self, rid: u64) -> bool {
        self.docs.contains(&rid) && self.dead.insert(rid)
    }

    /// How many items are live in it.
    pub fn live(&self) -> usize {
        self.docs.len() - self.dead.len()
    }

    pub fn is_live(&self, rid: u64) -> bool {
        self.docs.contains(&rid) && !self.dead.contains(&rid)
    }

    /// Its terms in the order of their bytes, those of dead items too.
    pub fn terms_from<'s>(&'s self, first: &str) -> impl Iterator<Item = &'s str> {
        self.lists.range(first.to_owned()..).map(|(term, _)| term.as_str())
    }

    /// The live postings of a term, in ascending order of items.
    pub fn postings(&self, term: &str) -> impl Iterator<Item = Result<Posting, Damaged>> {
        let parts = self.lists.get(term).map(Vec::as_slice).unwrap_or_default();
        let all = parts.iter().flat_map(|it| decode(&it.bytes));
        all.filter(|it| it.is_err() || it.is_ok_and(|posting| self.is_live(posting.rid)))
    }

    /// One segment with what is live in some; it equals one that is built of those items.
    pub fn merge(segments: &[Segment]) -> Result<Segment, CannotMerge> {
        let version = segments.first().map_or(VERSION, |it| it.version);
        if segments.iter().any(|it| it.version != version) {
            return Err(CannotMerge::Versions);
        }
        let docs = segments.iter().flat_map(|it| it.docs.difference(&it.dead).copied()).collect();
        let names: BTreeSet<&String> = segments.iter().flat_map(|it| it.lists.keys()).collect();
        let mut lists = BTreeMap::new();
        for term in names {
            let postings = segments.iter().flat_map(|it| it.postings(term)).collect::<Result<Vec<_>, _>>();
            let mut postings = postings.map_err(CannotMerge::Damaged)?;
            postings.sort_unstable_by_key(|it| it.rid);
            if !postings.is_empty() {
                lists.insert(term.clone(), encode(postings));
            }
        }
        Ok(Segment { version, docs, dead: BTreeSet::new(), lists })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(builder: &mut Builder, rid: u64, text: &str) {
        builder.put(rid, &[FieldText { bit: 1, is_display: true, text }]);
    }

    #[test]
    fn dead_items_are_not_found() {
        let mut builder = Builder::default();
        put(&mut builder, 3, "red car");
        put(&mut builder, 9, "red");
        let mut segment = builder.build();
        assert!(segment.bury(3) && !segment.bury(3) && !segment.bury(4));
        let red: Vec<_> = segment.postings("red").map(|it| it.expect("sound").rid).collect();
        assert_eq!((red, segment.postings("car").count(), segment.live()), (vec![9], 0, 1));
        assert_eq!(segment.terms_from("d").collect::<Vec<_>>(), ["red"]);
    }

    #[test]
    fn versions_are_not_mixed() {
        let mut other = Builder::default().build();
        other.version += 1;
        assert_eq!(Segment::merge(&[Builder::default().build(), other]), Err(CannotMerge::Versions));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        /// A change is a row with its new text, or none if it is removed.
        #[test]
        fn merged_segments_equal_one_that_is_built_anew(
            batches in prop::collection::vec(
                prop::collection::vec((1..20u64, prop::option::of("[a-d]( [a-d]{1,2}){0,4}")), 1..12), 1..9),
        ) {
            let mut segments: Vec<Segment> = Vec::new();
            let mut items: BTreeMap<u64, String> = BTreeMap::new();
            for batch in batches {
                let last: BTreeMap<_, _> = batch.into_iter().collect();
                let mut builder = Builder::default();
                for (rid, text) in last {
                    segments.iter_mut().for_each(|it| { it.bury(rid); });
                    items.remove(&rid);
                    if let Some(text) = text {
                        put(&mut builder, rid, &text);
                        items.insert(rid, text);
                    }
                }
                segments.push(builder.build());
            }
            let mut anew = Builder::default();
            items.iter().for_each(|(&rid, text)| put(&mut anew, rid, text));
            let anew = anew.build();
            prop_assert_eq!(Segment::merge(&segments), Ok(anew.clone()));
            let halves = segments.split_at(segments.len() / 2);
            let steps = [halves.0, halves.1].map(|it| Segment::merge(it).expect("sound"));
            prop_assert_eq!(Segment::merge(&steps), Ok(anew));
        }
    }
}
