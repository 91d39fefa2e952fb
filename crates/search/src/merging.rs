//! Which segments are merged next, so that a question reads few of them and dead items don't stay.

/// So many segments of a level become one of the next.
pub const FAN: usize = 8;
/// Bytes of lists from which on a segment isn't merged with others: a merge holds so many times [`FAN`] at most.
pub const LARGE: u64 = 8_000_000;
/// A segment is made anew without its dead items when they are more than one in so many.
const DEAD: usize = 4;

/// What is known of a segment without reading its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub level: i64,
    pub items: usize,
    pub dead: usize,
    /// Bytes of its lists.
    pub bytes: u64,
}

/// Segments to merge into one, of this level. One alone is made anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Their places in what was given.
    pub segments: Vec<usize>,
    pub level: i64,
}

/// The next merge, if one is due: small segments first, as they are the most, and then those with many dead items.
pub fn next(sizes: &[Size]) -> Option<Merge> {
    full_level(sizes).or_else(|| mostly_dead(sizes))
}

fn full_level(sizes: &[Size]) -> Option<Merge> {
    let is_small = |it: &&Size| it.bytes < LARGE;
    let mut levels: Vec<i64> = sizes.iter().filter(is_small).map(|it| it.level).collect();
    levels.sort_unstable();
    let level = levels.chunk_by(|a, b| a == b).find(|same| same.len() >= FAN)?[0];
    let segments =
        (0..sizes.len()).filter(|&at| sizes[at].level == level && sizes[at].bytes < LARGE).take(FAN).collect();
    Some(Merge { segments, level: level.saturating_add(1) })
}

fn mostly_dead(sizes: &[Size]) -> Option<Merge> {
    let at = sizes.iter().position(|it| it.dead > 0 && it.dead > it.items / DEAD)?;
    Some(Merge { segments: vec![at], level: sizes[at].level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(level: i64, items: usize, dead: usize) -> Size {
        Size { level, items, dead, bytes: items as u64 }
    }

    #[test]
    fn eight_of_a_level_become_one_of_the_next() {
        let mut sizes = vec![size(1, 80, 0); 8];
        sizes.extend([size(0, 10, 9); 7]);
        assert_eq!(next(&sizes), Some(Merge { segments: (0..8).collect(), level: 2 }));
        sizes.push(size(0, 10, 0));
        assert_eq!(next(&sizes), Some(Merge { segments: (8..16).collect(), level: 1 }), "small ones first");
        assert_eq!(next(&[size(0, 9, 0); 7]), None);
    }

    #[test]
    fn large_segments_are_not_merged_with_others() {
        let large = Size { bytes: LARGE, ..size(2, 80, 0) };
        let mut sizes = vec![large; 20];
        assert_eq!(next(&sizes), None);
        sizes.extend([size(2, 80, 0); 8]);
        assert_eq!(next(&sizes), Some(Merge { segments: (20..28).collect(), level: 3 }));
        let dead = Size { dead: 60, ..large };
        assert_eq!(next(&[dead]), Some(Merge { segments: vec![0], level: 2 }), "one alone is made anew");
    }

    #[test]
    fn dead_items_do_not_stay() {
        assert_eq!(next(&[size(3, 100, 25), size(3, 100, 26)]), Some(Merge { segments: vec![1], level: 3 }));
        assert_eq!(next(&[size(0, 1, 1)]), Some(Merge { segments: vec![0], level: 0 }));
        assert_eq!(next(&[size(0, 0, 0)]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// Merges end, and leave few segments with few dead items.
        #[test]
        fn merging_comes_to_an_end(given in prop::collection::vec((0..4i64, 1..50usize, 0..50usize), 0..60)) {
            let mut sizes: Vec<_> = given.into_iter().map(|(level, items, dead)| size(level, items, dead.min(items))).collect();
            let mut steps = 0;
            while let Some(Merge { segments, level }) = next(&sizes) {
                let live = segments.iter().map(|&at| sizes[at].items - sizes[at].dead).sum();
                segments.iter().rev().for_each(|&at| { sizes.remove(at); });
                sizes.push(size(level, live, 0));
                steps += 1;
                prop_assert!(steps < 200);
            }
            for level in 0..10 {
                prop_assert!(sizes.iter().filter(|it| it.level == level).count() < FAN);
            }
            prop_assert!(sizes.iter().all(|it| it.dead * DEAD < it.items + DEAD * DEAD));
        }
    }
}
