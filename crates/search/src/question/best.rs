//! The best impact of a word in each item, over the many lists of the terms that it stands for.

/// How many bytes of an array there may be for a posting: rows are mostly near each other.
const SPREAD: usize = 8;
/// The longest array.
pub(super) const ARRAY_BYTES: usize = 1 << 26;
/// Postings outside of the array that are kept before each item is kept once.
const MANY: usize = 1 << 16;

/// Items in ascending order of rows, with a word's impact.
pub(super) type Found = Vec<(u64, u8)>;

/// Collects postings. Most are put into an array of a byte for each row, which is many times faster than sorting.
pub(super) struct Best {
    /// The row of the array's first byte.
    first: u64,
    array: Vec<u8>,
    /// How much of the array is used.
    used: usize,
    others: Found,
    /// How many of them are kept before each item is kept once.
    most_others: usize,
}

impl Best {
    /// For so many postings, most of them from that row on.
    pub fn new(postings: usize, first: u64) -> Self {
        let length = if postings < 1_000 { 0 } else { (postings * SPREAD).min(ARRAY_BYTES) };
        Self { first, array: vec![0; length], used: 0, others: Vec::new(), most_others: MANY }
    }

    #[inline]
    pub fn put(&mut self, rid: u64, impact: u8) {
        let at = usize::try_from(rid.wrapping_sub(self.first)).unwrap_or(usize::MAX);
        match self.array.get_mut(at) {
            Some(best) => {
                *best = impact.max(*best);
                self.used = self.used.max(at + 1);
            }
            None => {
                if self.others.len() >= self.most_others {
                    self.keep_each_once();
                    self.most_others = MANY.max(2 * self.others.len());
                }
                self.others.push((rid, impact));
            }
        }
    }

    fn keep_each_once(&mut self) {
        self.others.sort_unstable_by_key(|&(rid, impact)| (rid, std::cmp::Reverse(impact)));
        self.others.dedup_by_key(|it| it.0);
    }

    pub fn found(mut self) -> Found {
        self.keep_each_once();
        let after = self.others.split_off(self.others.partition_point(|it| it.0 < self.first));
        let mut found = self.others;
        let array = self.array[..self.used].iter().enumerate().filter(|it| *it.1 > 0);
        found.reserve_exact(array.clone().count() + after.len());
        found.extend(array.map(|(at, &impact)| (self.first + at as u64, impact)));
        found.extend(after);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn array_and_sorting_find_the_same(
            postings in prop::collection::vec((prop_oneof![1..20_000u64, any::<u64>()], 1..=255u8), 0..3_000),
            expected in 0..3_000usize,
            first in prop_oneof![1..20_000u64, any::<u64>()],
        ) {
            let (mut best, mut plain) = (Best::new(expected, first), BTreeMap::<u64, u8>::new());
            for (rid, impact) in postings {
                best.put(rid, impact);
                plain.entry(rid).and_modify(|it| *it = impact.max(*it)).or_insert(impact);
            }
            prop_assert_eq!(best.found(), plain.into_iter().collect::<Vec<_>>());
        }
    }
}
