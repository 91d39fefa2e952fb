//! Where a part of a run stands in the text: the run is folded, the text is as it was written.

use crate::words::{Form, words};
use std::ops::Range;
use unicode_normalization::char::decompose_compatible;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Characters of a text that belong together, and where what is made of them begins in the run.
type Sign = (usize, Range<usize>);

/// Where a part of the run that stands at `range` of a text is found, in bytes of the text, each time that it is; all of
/// the run where that can't be told.
pub(super) fn places(text: &str, range: &Range<usize>, run: &str, part: &str) -> Vec<Range<usize>> {
    let (read, signs) = signs(text, range);
    if read != run || part.is_empty() {
        return vec![range.clone()];
    }
    let sign_at = |at: usize| &signs[signs.partition_point(|it| it.0 <= at) - 1].1;
    let (mut places, mut from) = (Vec::new(), 0);
    while let Some(at) = run[from..].find(part).map(|it| from + it) {
        places.push(sign_at(at).start..sign_at(at + part.len() - 1).end);
        from = at + run[at..].chars().next().map_or(1, char::len_utf8);
    }
    places
}

/// What a run is made of, and the run that this makes.
fn signs(text: &str, range: &Range<usize>) -> (String, Vec<Sign>) {
    let mut signs: Vec<Sign> = Vec::new();
    for (at, c) in text[range.clone()].char_indices() {
        let from = range.start + at;
        let to = from + c.len_utf8();
        match signs.last_mut() {
            Some(last) if belongs_to_the_one_before(c) => last.1.end = to,
            _ => signs.push((0, from..to)),
        }
    }
    let mut run = String::new();
    for (from, range) in &mut signs {
        *from = run.len();
        for word in words(&text[range.clone()]) {
            if let Form::Run(it) = word.form {
                run.push_str(&it);
            }
        }
    }
    (run, signs)
}

/// Whether a piece of a text may begin or end there: not within what is read as one character, such as a letter with its
/// marks, a flag, or an emoji that is made of several.
pub(super) fn is_between_characters(text: &str, at: usize) -> bool {
    const JOINER: char = '\u{200d}';
    let is_letter_of_flag = |it: &char| matches!(it, '\u{1f1e6}'..='\u{1f1ff}');
    let (before, after) = text.split_at(at);
    let (Some(last), Some(next)) = (before.chars().next_back(), after.chars().next()) else { return true };
    // Tones of skin, and what names a region behind a flag.
    let is_part = matches!(next, JOINER | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}');
    if last == JOINER || is_part || belongs_to_the_one_before(next) {
        return false;
    }
    !is_letter_of_flag(&next) || before.chars().rev().take_while(is_letter_of_flag).count() % 2 == 0
}

/// Marks, and the later parts of a Hangul syllable.
fn belongs_to_the_one_before(c: char) -> bool {
    let mut first = None;
    decompose_compatible(c, |it| {
        first.get_or_insert(it);
    });
    let is_part = |it: char| matches!(it, '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}');
    first.is_some_and(|it| it.general_category_group() == GeneralCategoryGroup::Mark || is_part(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_runs_are_found_as_they_are_written() {
        for (text, part, expected) in [
            ("東京タワー", "京タ", vec!["京タ"]),
            ("ああああ", "ああ", vec!["ああ"; 3]),
            ("ﾀﾞｶﾀﾞ", "ダ", vec!["ﾀﾞ", "ﾀﾞ"]),
            ("か\u{3099}ぎ", "が", vec!["か\u{3099}"]),
            ("\u{1112}\u{1161}\u{11ab}글", "한", vec!["\u{1112}\u{1161}\u{11ab}"]),
            ("㍍法", "トル法", vec!["㍍法"]),
            ("東\u{200d}京", "東京", vec!["東\u{200d}京"]),
            ("東京", "大", vec![]),
        ] {
            let [word] = &words(text)[..] else { panic!("{text}") };
            let Form::Run(run) = &word.form else { panic!("{text}") };
            let found: Vec<_> = places(text, &word.range, run, part).into_iter().map(|it| &text[it]).collect();
            assert_eq!(found, expected, "{text} {part}");
        }
    }
}
