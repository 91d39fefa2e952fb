//! What an item gives to the index: its words, with how much each matters.
//!
//! Impacts are whole numbers that depend on the item alone, so no batch, order or platform changes a rank.

use crate::words::{Word, words};

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

/// The terms of an item, in the order of their bytes. A term's impact is that of the field where it matters most, and
/// an eighth of the others'.
pub fn terms(fields: &[FieldText<'_>]) -> Vec<(String, Entry)> {
    let mut found: Vec<(String, Entry)> = Vec::new();
    for field in fields {
        let words = words(field.text);
        let length = words.iter().map(|it| it.length()).sum::<usize>();
        let mut terms: Vec<String> = words.into_iter().flat_map(Word::into_terms).collect();
        terms.sort_unstable();
        for same in terms.chunk_by_mut(|a, b| a == b) {
            let impact = impact(same.len(), length, field.is_display);
            found.push((std::mem::take(&mut same[0]), Entry { impact, fields: field.bit }));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.chunk_by_mut(|a, b| a.0 == b.0).map(|same| (std::mem::take(&mut same[0].0), joined(same))).collect()
}

/// One entry for a term's entries in several fields.
fn joined(entries: &[(String, Entry)]) -> Entry {
    let impacts = || entries.iter().map(|it| u32::from(it.1.impact));
    let (best, all) = (impacts().max().unwrap_or_default(), impacts().sum::<u32>());
    let impact = (best + (all - best) / 8).min(255);
    Entry { impact: impact as u8, fields: entries.iter().fold(0, |bits, it| bits | it.1.fields) }
}

/// Grows with how often a word stands in a field, ever more slowly, and falls with the field's length in words.
fn impact(count: usize, length: usize, is_display: bool) -> u8 {
    let weight = if is_display { DISPLAY } else { ORDINARY };
    let often = 16 * count.min(1 << 16) as u32;
    let length = length.min(200) as u32;
    (weight * often / (often + 4 + 2 * length)).max(1) as u8 // At most the weight.
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
        let neu = Entry { impact: 67, fields: 2 };
        let ulm = Entry { impact: 160 + 83 / 8, fields: 3 };
        assert_eq!(all, [("neu".into(), neu), ("ulm".into(), ulm)], "110*16/26; 220*16/22, 110*32/42");
    }

    #[test]
    fn long_texts_give_less() {
        let impact_of_red = |text: &str| terms(&[field(1, false, text)])[1].1.impact;
        let short = impact_of_red("red car");
        let long = impact_of_red(&format!("red {}", "car ".repeat(150)));
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
