//! What an item gives to the index: its words, with how much each matters.
//!
//! Impacts are whole numbers that depend on the item alone, so no batch, order or platform changes a rank.

use crate::words::words;
use std::collections::BTreeMap;

/// The bit of all fields that have none of their own.
pub const OTHER_FIELDS: u8 = 1 << 7;

/// The greatest impact that one field gives, display field and others.
const DISPLAY: u32 = 220;
const ORDINARY: u32 = 110;

/// A text of an item.
#[derive(Clone, Copy, Debug)]
pub struct FieldText<'t> {
    /// The field's bit: one of seven for named fields, or [`OTHER_FIELDS`].
    pub bit: u8,
    /// The collection's display field, whose words count double.
    pub is_display: bool,
    pub text: &'t str,
}

/// What a word is in an item: see [`crate::list::Posting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub impact: u8,
    pub fields: u8,
}

/// The terms of an item. A term's impact is that of the field where it matters most, and an eighth of the others'.
pub fn terms(fields: &[FieldText<'_>]) -> BTreeMap<String, Entry> {
    let mut found: BTreeMap<String, Sums> = BTreeMap::new();
    for field in fields {
        let words = words(field.text);
        let length = words.iter().map(|it| it.length()).sum::<usize>();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for term in words.iter().flat_map(|it| it.terms()) {
            *counts.entry(term).or_default() += 1;
        }
        for (term, count) in counts {
            let sums = found.entry(term).or_default();
            let impact = impact(count, length, field.is_display);
            sums.best = sums.best.max(impact);
            sums.all = sums.all.saturating_add(impact);
            sums.fields |= field.bit;
        }
    }
    found.into_iter().map(|(term, sums)| (term, sums.entry())).collect()
}

#[derive(Default)]
struct Sums {
    best: u32,
    all: u32,
    fields: u8,
}

impl Sums {
    fn entry(&self) -> Entry {
        let impact = (self.best + (self.all - self.best) / 8).clamp(1, 255);
        Entry { impact: impact as u8, fields: self.fields }
    }
}

/// Grows with how often a word stands in a field, ever more slowly, and falls with the field's length in words.
fn impact(count: u32, length: usize, is_display: bool) -> u32 {
    let weight = if is_display { DISPLAY } else { ORDINARY };
    let often = 16 * count.min(1 << 16);
    let length = length.min(200) as u32;
    weight * often / (often + 4 + 2 * length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn field(bit: u8, is_display: bool, text: &str) -> FieldText<'_> {
        FieldText { bit, is_display, text }
    }

    #[test]
    fn display_field_counts_double_and_others_an_eighth() {
        let all = terms(&[field(1, true, "Ulm"), field(2, false, "Ulm Ulm Neu")]);
        assert_eq!(all["ulm"], Entry { impact: 160 + 83 / 8, fields: 3 }, "220*16/22, 110*32/42");
        assert_eq!(all["neu"], Entry { impact: 67, fields: 2 }, "110*16/26");
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn long_texts_give_less() {
        let short = terms(&[field(1, false, "red car")])["red"].impact;
        let long = terms(&[field(1, false, &format!("red {}", "car ".repeat(150)))])["red"].impact;
        assert!(short > long && long > 0, "{short} {long}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        #[test]
        fn impacts_fit_a_posting(texts in prop::collection::vec("[a-c ]{0,400}", 0..12)) {
            let fields: Vec<_> = texts.iter().map(|it| field(OTHER_FIELDS, true, it)).collect();
            for (term, entry) in terms(&fields) {
                prop_assert!(entry.impact > 0 && entry.fields == OTHER_FIELDS, "{term}");
            }
        }
    }
}
