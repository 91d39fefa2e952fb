//! A set of rows: which items a segment was made of, and which of them are dead.
//!
//! In memory an ascending array, stored as the distances between its rows.

use crate::list::PART_BYTES;
use crate::varint::{Damaged, next_row, put_number};

/// The most bytes of a number below 2^63.
const ROW_BYTES: usize = 9;

/// Rows, each 1 to `i64::MAX`, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows(Vec<u64>);

impl Rows {
    /// A set of rows in any order, the same one more than once.
    ///
    /// # Panics
    /// If a row is 0 or above `i64::MAX`.
    pub fn new(mut rids: Vec<u64>) -> Self {
        rids.sort_unstable();
        rids.dedup();
        let allowed = 1..=i64::MAX as u64;
        assert!(rids.first().is_none_or(|it| allowed.contains(it)), "a row is at least 1");
        assert!(rids.last().is_none_or(|it| allowed.contains(it)), "a row is below 2^63");
        Self(rids)
    }

    /// These rows and those of others, each an ascending run: they are merged.
    #[must_use]
    pub fn and<'r>(&self, others: impl IntoIterator<Item = (&'r Rows, &'r Rows)>) -> Self {
        let mut all = self.0.clone();
        all.extend(others.into_iter().flat_map(|(rows, without)| rows.without(without)));
        // The stable one merges ascending runs, in a time that grows with their number's logarithm.
        all.sort();
        all.dedup();
        Self(all)
    }

    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    pub fn first(&self) -> Option<u64> {
        self.0.first().copied()
    }

    pub fn last(&self) -> Option<u64> {
        self.0.last().copied()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, rid: u64) -> bool {
        self.0.binary_search(&rid).is_ok()
    }

    /// Adds those of `rids` that `allowed` has; says how many are new.
    pub fn add_if(&mut self, rids: &Rows, allowed: &Rows) -> usize {
        let new: Vec<_> = rids.0.iter().copied().filter(|&it| allowed.contains(it) && !self.contains(it)).collect();
        self.0.extend_from_slice(&new);
        if !new.is_empty() {
            self.0.sort_unstable(); // Two ascending runs, which the sort merges.
        }
        new.len()
    }

    /// Its rows that `others` hasn't.
    pub fn without<'r>(&'r self, others: &'r Rows) -> impl Iterator<Item = u64> + 'r {
        let mut others = Following::new(others);
        self.0.iter().copied().filter(move |&it| !others.has(it))
    }

    /// All of it as one part, however long.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for &rid in &self.0 {
            put_number(&mut bytes, rid - before);
            before = rid;
        }
        bytes
    }

    /// Its parts, each of at most [`PART_BYTES`] bytes and readable alone, with how many rows it has.
    pub fn encode(&self) -> Vec<(u32, Vec<u8>)> {
        let mut parts: Vec<(u32, Vec<u8>)> = Vec::new();
        let mut before = 0;
        for &rid in &self.0 {
            if parts.last().is_none_or(|(_, bytes)| bytes.len() + ROW_BYTES > PART_BYTES) {
                parts.push((0, Vec::new()));
                before = 0;
            }
            let (count, bytes) = parts.last_mut().expect("one was pushed");
            put_number(bytes, rid - before);
            (*count, before) = (*count + 1, rid);
        }
        parts
    }

    /// The set that the parts hold, which ascend from one to the next.
    pub fn decode<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> Result<Self, Damaged> {
        let mut rids = Vec::new();
        for bytes in parts {
            let (mut at, mut before) = (0, 0);
            while at < bytes.len() {
                let (rid, length) = next_row(&bytes[at..], before).ok_or(Damaged { at })?;
                if rids.last().is_some_and(|&last| last >= rid) {
                    return Err(Damaged { at });
                }
                rids.push(rid);
                (at, before) = (at + length, rid);
            }
        }
        Ok(Self(rids))
    }
}

/// Asks a set for rows in ascending order, which is cheaper than one by one.
#[derive(Clone, Debug)]
pub(crate) struct Following<'r> {
    rest: &'r [u64],
}

impl<'r> Following<'r> {
    pub fn new(rows: &'r Rows) -> Self {
        Self { rest: &rows.0 }
    }

    /// Whether the set has a row, which isn't before the one asked last.
    pub fn has(&mut self, rid: u64) -> bool {
        if self.rest.first().is_some_and(|&it| it < rid) {
            self.rest = &self.rest[self.rest.partition_point(|&it| it < rid)..];
        }
        self.rest.first() == Some(&rid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(parts: &[(u32, Vec<u8>)]) -> Result<Rows, Damaged> {
        Rows::decode(parts.iter().map(|it| &it.1[..]))
    }

    #[test]
    fn many_rows_are_cut_into_parts() {
        let rows = Rows::new((1..=50_000).map(|it| it * 1_000).collect());
        let parts = rows.encode();
        assert_eq!(parts.len(), 4, "2 bytes each");
        assert!(parts.iter().all(|it| it.1.len() <= PART_BYTES));
        assert_eq!(parts.iter().map(|it| it.0).sum::<u32>(), 50_000);
        assert_eq!(decode(&parts), Ok(rows));
        let swapped = [parts[1].clone(), parts[0].clone()];
        assert_eq!(decode(&swapped), Err(Damaged { at: 0 }));
    }

    #[test]
    fn damaged_sets_are_refused() {
        for (bytes, at) in [(&[0][..], 0), (&[1, 0], 1), (&[1, 0x80], 1), (&[0x81, 0], 0), (&[255; 12], 0)] {
            assert_eq!(Rows::decode([bytes]), Err(Damaged { at }), "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

        #[test]
        fn any_bytes_are_damaged_or_a_set(bytes in prop::collection::vec(prop_oneof![0..3u8, any::<u8>()], 0..40)) {
            if let Ok(rows) = Rows::decode([&bytes[..]]) {
                prop_assert_eq!(rows.to_bytes(), bytes);
            }
        }

        #[test]
        fn sets_are_what_a_plain_reading_says(
            all in prop::collection::vec(1..60u64, 0..40),
            some in prop::collection::vec(1..60u64, 0..40),
        ) {
            let (rows, others) = (Rows::new(all.clone()), Rows::new(some.clone()));
            let mut without: Vec<_> = all.iter().copied().filter(|it| !some.contains(it)).collect();
            without.sort_unstable();
            without.dedup();
            prop_assert_eq!(rows.without(&others).collect::<Vec<_>>(), without.clone());
            prop_assert_eq!(others.and([(&rows, &others)]), Rows::new([all.clone(), some.clone()].concat()));
            prop_assert_eq!(Rows::default().and([(&rows, &others), (&rows, &others)]).0, without.clone());
            let mut dead = Rows::default();
            let new = dead.add_if(&others, &rows);
            prop_assert_eq!((new, dead.len()), (rows.len() - without.len(), new));
            prop_assert_eq!(dead.add_if(&others, &rows), 0);
            prop_assert_eq!(Rows::decode([&rows.to_bytes()[..]]), Ok(rows.clone()));
            prop_assert_eq!(decode(&rows.encode()), Ok(rows));
        }
    }
}
