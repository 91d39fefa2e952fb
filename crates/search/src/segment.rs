//! A segment: lists of the terms of some items, and which of those items have changed since.
//!
//! A segment's lists never change. An item that is written again goes into a newer segment and is dead in the older
//! one, so that it is live in one segment at most; merging leaves dead ones out.

use crate::document::{Entry, FieldText, terms};
use crate::list::{Part, Posting, encode};
use crate::lists::{ITEMS, Lists, Row};
use crate::rows::Rows;
use crate::varint::Damaged;
use crate::words::VERSION;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// A whole segment, as the job that builds the index has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The version of the words in it, [`VERSION`] where it was made by this program.
    version: u16,
    /// The items that it was made of.
    items: Rows,
    lists: Lists,
}

/// Why segments can't be merged: the index is to be built anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotMerge {
    /// They have words of different versions.
    Versions,
    /// An item of this row is live in two of them.
    Twice(u64),
    Damaged(Damaged),
}

/// Collects items for a [`Segment`].
#[derive(Default)]
pub struct Builder {
    items: HashSet<u64>,
    lists: HashMap<String, Vec<Posting>>,
}

impl Builder {
    /// Adds an item, or replaces the one of that row.
    ///
    /// # Panics
    /// If the row is 0 or above `i64::MAX`, or a field has no bit.
    pub fn put(&mut self, rid: u64, fields: &[FieldText<'_>]) {
        assert!((1..=i64::MAX as u64).contains(&rid), "a row is 1 to 2^63 - 1, not {rid}");
        assert!(fields.iter().all(|it| it.bit > 0), "a field has a bit");
        if !self.items.insert(rid) {
            self.lists.values_mut().for_each(|it| it.retain(|it| it.rid != rid));
        }
        for (term, Entry { impact, fields }) in terms(fields) {
            self.lists.entry(term).or_default().push(Posting { rid, impact, fields });
        }
    }

    pub fn build(self) -> Segment {
        let rows = Rows::new(self.items.into_iter().collect());
        let lists = self.lists.into_iter().filter(|it| !it.1.is_empty()).map(|(term, mut list)| {
            // Mostly they are in order.
            list.sort_by_key(|it| it.rid);
            (term, encode(list))
        });
        let mut lists: Vec<_> = lists.collect();
        lists.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Segment::whole(VERSION, rows, lists)
    }
}

impl AsRef<Lists> for Segment {
    fn as_ref(&self) -> &Lists {
        &self.lists
    }
}

impl AsRef<Lists> for Lists {
    fn as_ref(&self) -> &Lists {
        self
    }
}

impl Segment {
    fn whole(version: u16, items: Rows, terms: Vec<(String, Vec<Part>)>) -> Self {
        let lists = Lists { terms, ..Lists::of_items(items.len(), Rows::default()) };
        Self { version, items, lists }
    }

    /// A segment whose lists are written one by one.
    pub fn of_items(version: u16, items: Rows) -> Self {
        Self::whole(version, items, Vec::new())
    }

    /// A segment from all rows that were stored of it, in any order, and the parts of its dead rows.
    pub fn read<'b>(version: u16, dead: impl IntoIterator<Item = &'b [u8]>, rows: Vec<Row>) -> Result<Self, Damaged> {
        let mut items: Vec<_> = rows.iter().filter(|it| it.term == ITEMS).collect();
        items.sort_unstable_by_key(|it| it.number);
        let items = Rows::decode(items.iter().map(|it| &it.part.bytes[..]))?;
        let dead = Rows::decode(dead)?;
        if dead.without(&items).next().is_some() {
            return Err(Damaged { at: 0 });
        }
        Ok(Self { version, lists: Lists::new(items.len(), dead, rows)?, items })
    }

    /// All rows to store of it: its items and its lists, in the order of the terms' bytes.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        let items = self.items.encode().into_iter().map(|(count, bytes)| Part { count, bytes });
        let items = (0..).zip(items).map(|(number, part)| Row { term: ITEMS.into(), number, part });
        let lists = self.lists.terms.iter().flat_map(|(term, parts)| {
            (0..).zip(parts).map(|(number, part)| Row { term: term.clone(), number, part: part.clone() })
        });
        items.chain(lists)
    }

    pub fn version(&self) -> u16 {
        self.version
    }

    /// The items that it was made of.
    pub fn items(&self) -> &Rows {
        &self.items
    }

    /// Those of its items that were written again or removed since.
    pub fn dead(&self) -> &Rows {
        &self.lists.dead
    }

    /// How many items are live in it.
    pub fn live(&self) -> usize {
        self.lists.live()
    }

    /// Marks items as written again or removed; says how many of them were live here.
    pub fn bury(&mut self, rids: &Rows) -> usize {
        Arc::make_mut(&mut self.lists.dead).add_if(rids, &self.items)
    }

    /// One segment with what is live in some; it equals one that is built of those items.
    pub fn merge(segments: &[Segment]) -> Result<Segment, CannotMerge> {
        let version = segments.first().map_or(VERSION, |it| it.version);
        if segments.iter().any(|it| it.version != version) {
            return Err(CannotMerge::Versions);
        }
        let items = merged_items(segments.iter().map(|it| (&it.items, &*it.lists.dead)))?;
        Ok(Segment::whole(version, items, merged_lists(segments)?))
    }
}

/// The live items of some segments: what each was made of, and what of it is dead.
///
/// # Errors
/// If one is live twice.
pub fn merged_items<'s>(segments: impl IntoIterator<Item = (&'s Rows, &'s Rows)>) -> Result<Rows, CannotMerge> {
    let mut items: Vec<u64> = segments.into_iter().flat_map(|(items, dead)| items.without(dead)).collect();
    ascending(&mut items, |&it| it)?;
    Ok(Rows::new(items))
}

/// The lists of all terms of some segments, without dead items, in the order of the terms' bytes. Who merges them a part
/// of the terms at a time needs no more memory than that takes.
///
/// # Errors
/// If they are damaged, or an item is live twice.
pub fn merged_lists<L: AsRef<Lists>>(segments: &[L]) -> Result<Vec<(String, Vec<Part>)>, CannotMerge> {
    let mut names: Vec<&str> = segments.iter().flat_map(|it| it.as_ref().terms_with("")).collect();
    names.sort_unstable();
    names.dedup();
    let mut lists = Vec::new();
    for term in names {
        let postings = segments.iter().flat_map(|it| it.as_ref().postings(term)).collect::<Result<Vec<_>, _>>();
        let mut postings = postings.map_err(CannotMerge::Damaged)?;
        ascending(&mut postings, |it| it.rid)?;
        if !postings.is_empty() {
            lists.push((term.to_owned(), encode(postings)));
        }
    }
    Ok(lists)
}

/// Puts rows in order.
fn ascending<T>(all: &mut [T], rid: impl Fn(&T) -> u64) -> Result<(), CannotMerge> {
    all.sort_unstable_by_key(&rid);
    match all.windows(2).find(|it| rid(&it[0]) == rid(&it[1])) {
        Some(twice) => Err(CannotMerge::Twice(rid(&twice[0]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::decode;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn put(builder: &mut Builder, rid: u64, text: &str) {
        builder.put(rid, &[FieldText { bit: 1, is_display: true, text }]);
    }

    #[test]
    fn dead_items_are_not_found() {
        let mut builder = Builder::default();
        put(&mut builder, 3, "red car");
        put(&mut builder, 9, "red");
        let mut segment = builder.build();
        let buried = [vec![3, 4], vec![3]].map(|rids| segment.bury(&Rows::new(rids)));
        let lists: &Lists = segment.as_ref();
        let red: Vec<_> = lists.postings("red").map(|it| it.expect("sound").rid).collect();
        assert_eq!((buried, red, lists.postings("car").count(), segment.live()), ([1, 0], vec![9], 0, 1));
        assert_eq!(lists.terms_with("r").collect::<Vec<_>>(), ["red"]);
    }

    #[test]
    fn versions_are_not_mixed() {
        let mut other = Builder::default().build();
        other.version += 1;
        assert_eq!(Segment::merge(&[Builder::default().build(), other]), Err(CannotMerge::Versions));
    }

    #[test]
    fn an_item_is_live_once() {
        let mut builder = Builder::default();
        put(&mut builder, 7, "red");
        let segment = builder.build();
        assert_eq!(Segment::merge(&[segment.clone(), segment]), Err(CannotMerge::Twice(7)));
    }

    #[test]
    fn only_its_items_are_dead() {
        let dead = Rows::new(vec![7]).encode();
        let read = Segment::read(VERSION, dead.iter().map(|it| &it.1[..]), Vec::new());
        assert_eq!(read, Err(Damaged { at: 0 }));
    }

    /// What is read of what is stored.
    fn stored(segment: &Segment) -> Segment {
        let dead = segment.dead().encode();
        let rows: Vec<_> = segment.rows().collect();
        for it in rows.iter().filter(|it| it.term != ITEMS) {
            assert_eq!(decode(&it.part.bytes).count(), it.part.count as usize);
        }
        let read = Segment::read(segment.version(), dead.iter().map(|it| &it.1[..]), rows).expect("sound");
        assert_eq!(&read, segment);
        read
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
                    segments.iter_mut().for_each(|it| { it.bury(&Rows::new(vec![rid])); });
                    items.remove(&rid);
                    if let Some(text) = text {
                        put(&mut builder, rid, &text);
                        items.insert(rid, text);
                    }
                }
                segments.push(builder.build());
            }
            let segments: Vec<_> = segments.iter().map(stored).collect();
            let mut anew = Builder::default();
            items.iter().for_each(|(&rid, text)| put(&mut anew, rid, text));
            let anew = anew.build();
            prop_assert_eq!(Segment::merge(&segments), Ok(anew.clone()));
            let halves = segments.split_at(segments.len() / 2);
            let steps = [halves.0, halves.1].map(|it| Segment::merge(it).expect("sound"));
            prop_assert_eq!(Segment::merge(&steps), Ok(anew));
        }

        #[test]
        fn damaged_rows_never_panic(
            bytes in prop::collection::vec(prop::collection::vec(prop_oneof![0..3u8, any::<u8>()], 0..12), 1..5),
            dead in prop::collection::vec(0..4u8, 0..4),
        ) {
            let rows = (0..).zip(&bytes).map(|(at, bytes)| Row {
                term: ["", "a", "a", "b"][at as usize].into(),
                number: u32::from(at == 2),
                part: Part { count: u32::MAX, bytes: bytes.clone() },
            });
            let Ok(read) = Segment::read(VERSION, [&dead[..]], rows.collect()) else { return Ok(()) };
            let _ = Segment::merge(&[read.clone(), read]).map(|it| it.rows().count());
        }
    }
}
