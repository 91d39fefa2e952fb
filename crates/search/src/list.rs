//! Which items hold a word: a list of postings in bytes, in parts that can be read alone.
//!
//! A posting is the distance to the item before it (a varint, the first from 0), a byte of impact and a byte of
//! fields: 2.5 to 4 bytes in all where items are many.

use crate::varint::{Damaged, next_row, put_number};

/// The most bytes of a part: what both engines read as one row without much waste.
pub const PART_BYTES: usize = 32 * 1024;

/// The most bytes of one posting: nine of a number below 2^63, impact, fields.
const POSTING_BYTES: usize = 11;

/// That an item holds a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The item's row, 1 to `i64::MAX`.
    pub rid: u64,
    /// How much the word matters in the item, 1 to 255.
    pub impact: u8,
    /// A bit for each field that holds the word; at least one.
    pub fields: u8,
}

/// A piece of a list, of at most [`PART_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its postings, never 0.
    pub count: u32,
    pub bytes: Vec<u8>,
}

impl Part {
    /// Its postings, or a bound of them where it is damaged.
    pub(crate) fn most(&self) -> usize {
        (self.count as usize).min(self.bytes.len())
    }
}

/// The parts of a list.
///
/// # Panics
/// If the postings aren't in ascending order of items, or one is outside the bounds of [`Posting`].
pub fn encode(postings: impl IntoIterator<Item = Posting>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut before = 0;
    for it in postings {
        assert!(it.rid > before && it.rid <= i64::MAX as u64, "postings ascend: {} after {before}", it.rid);
        assert!(it.impact > 0 && it.fields > 0, "a posting has an impact and a field");
        if parts.last().is_none_or(|part| part.bytes.len() + POSTING_BYTES > PART_BYTES) {
            parts.push(Part { count: 0, bytes: Vec::new() });
            before = 0;
        }
        let part = parts.last_mut().expect("one was pushed");
        put_number(&mut part.bytes, it.rid - before);
        part.bytes.extend([it.impact, it.fields]);
        part.count += 1;
        before = it.rid;
    }
    parts
}

/// The postings of a part, in ascending order of items. Ends after the first error.
pub fn decode(part: &[u8]) -> Postings<'_> {
    Postings { bytes: part, at: 0, before: 0 }
}

/// See [`decode`].
#[derive(Clone, Debug)]
pub struct Postings<'p> {
    bytes: &'p [u8],
    at: usize,
    before: u64,
}

impl Iterator for Postings<'_> {
    type Item = Result<Posting, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let posting = self.read().ok_or(Damaged { at: self.at });
        if posting.is_err() {
            self.at = self.bytes.len();
        }
        Some(posting)
    }
}

impl Postings<'_> {
    #[inline]
    fn read(&mut self) -> Option<Posting> {
        let rest = &self.bytes[self.at..];
        let (rid, length) = next_row(rest, self.before)?;
        let (&impact, &fields) = (rest.get(length)?, rest.get(length + 1)?);
        if impact == 0 || fields == 0 {
            return None;
        }
        self.at += length + 2;
        self.before = rid;
        Some(Posting { rid, impact, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(parts: &[Part]) -> Result<Vec<Posting>, Damaged> {
        parts.iter().flat_map(|it| decode(&it.bytes)).collect()
    }

    #[test]
    fn lists_are_cut_into_parts_that_stand_alone() {
        let postings: Vec<_> = (1..=40_000).map(|it| Posting { rid: it * 1_000, impact: 7, fields: 3 }).collect();
        let parts = encode(postings.iter().copied());
        assert_eq!(parts.len(), 5, "4 bytes each");
        assert!(parts.iter().all(|it| it.bytes.len() <= PART_BYTES));
        assert_eq!(parts.iter().map(|it| it.count).sum::<u32>(), 40_000);
        let second = decode(&parts[1].bytes).next().expect("a posting").expect("sound");
        assert_eq!(second, postings[parts[0].count as usize]);
        assert_eq!(all(&parts), Ok(postings));
        assert!(encode([]).is_empty());
    }

    #[test]
    fn largest_rid_fits() {
        let largest = Posting { rid: i64::MAX as u64, impact: 255, fields: 255 };
        let parts = encode([largest]);
        assert_eq!(parts[0].bytes.len(), POSTING_BYTES);
        assert_eq!(all(&parts), Ok(vec![largest]));
    }

    #[test]
    fn damaged_lists_are_refused() {
        for (bytes, at) in [
            (&[0, 1, 1][..], 0),                                                   // The same item again.
            (&[1, 0, 1], 0),                                                       // No impact.
            (&[1, 1, 0], 0),                                                       // No field.
            (&[1, 1], 0),                                                          // Cut off.
            (&[0x81, 0x00, 1, 1], 0),                                              // Not the shortest form.
            (&[5, 1, 1, 0x80], 3),                                                 // Cut off in a number.
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 1], 0), // Beyond the largest.
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 1, 1, 1, 1], 11),
        ] {
            let read: Result<Vec<_>, _> = decode(bytes).collect();
            assert_eq!(read, Err(Damaged { at }), "{bytes:?}");
        }
    }

    fn postings() -> impl Strategy<Value = Vec<Posting>> {
        let distance = prop_oneof![1..4u64, 1..100_000u64, 1..1u64 << 50];
        prop::collection::vec((distance, 1..=255u8, 1..=255u8), 0..200).prop_map(|all| {
            all.into_iter()
                .scan(0, |rid, (distance, impact, fields)| {
                    *rid += distance;
                    Some(Posting { rid: *rid, impact, fields })
                })
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn what_is_encoded_is_decoded(postings in postings()) {
            prop_assert_eq!(all(&encode(postings.iter().copied())), Ok(postings));
        }

        #[test]
        fn any_bytes_are_damaged_or_a_list(bytes in prop::collection::vec(prop_oneof![0..3u8, any::<u8>()], 0..60)) {
            if let Ok(read) = decode(&bytes).collect::<Result<Vec<_>, _>>() {
                let again = encode(read);
                prop_assert_eq!(again.first().map(|it| &it.bytes[..]).unwrap_or_default(), &bytes[..]);
            }
        }

        #[test]
        fn lists_with_a_changed_byte_never_panic(postings in postings(), at in any::<prop::sample::Index>(), byte: u8) {
            let Some(mut part) = encode(postings).into_iter().next() else { return Ok(()) };
            let at = at.index(part.bytes.len());
            part.bytes[at] = byte;
            let rids: Vec<_> = decode(&part.bytes).map_while(Result::ok).map(|it| it.rid).collect();
            prop_assert!(rids.is_sorted_by(|a, b| a < b));
        }
    }
}
