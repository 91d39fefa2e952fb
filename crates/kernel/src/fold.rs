//! One case folding for the whole product: Unicode simple folding (C + S of CaseFolding.txt).
//!
//! `startsWith`, `endsWith` and `contains` compare by it; e-mail addresses don't ([`crate::Email::fold`]). SQLite calls
//! this very function; PostgreSQL has the same mapping as a SQL function, and a test compares all code points.

use std::borrow::Cow;

/// Folds every character by the simple mapping; the count of characters never changes.
pub fn fold(text: &str) -> Cow<'_, str> {
    let Some(first) = text.char_indices().find(|&(_, c)| fold_char(c) != c) else {
        return Cow::Borrowed(text);
    };
    let mut folded = String::with_capacity(text.len() + 4);
    folded.push_str(&text[..first.0]);
    folded.extend(text[first.0..].chars().map(fold_char));
    Cow::Owned(folded)
}

/// The simple case folding of one character.
pub fn fold_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    unicode_case_mapping::case_folded(c).and_then(|it| char::from_u32(it.get())).unwrap_or(c)
}

/// Every character that folding changes, with what it becomes, in code point order.
///
/// Letters with two cases are in the first two planes of Unicode only; looking through the fifteen others
/// as well would cost every start of a program a good part of its time.
pub fn folding_pairs() -> impl Iterator<Item = (char, char)> {
    ('\0'..'\u{20000}').map(|c| (c, fold_char(c))).filter(|(from, to)| from != to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_cases() {
        assert_eq!(fold("Straße"), "straße");
        assert_eq!(fold("ΣΑΣ"), "σασ");
        assert_eq!(fold("ς"), "σ", "final sigma folds to sigma");
        assert_eq!(fold("İ"), "İ", "dotted capital I has no simple folding");
        assert_eq!(fold("I"), "i");
        assert_eq!(fold("\u{1e9e}"), "ß", "capital sharp s folds to sharp s");
        assert!(matches!(fold("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn characters_beyond_the_pairs_are_not_folded() {
        assert!(('\u{20000}'..=char::MAX).all(|it| fold_char(it) == it));
    }

    #[test]
    fn folding_twice_changes_nothing() {
        assert!(folding_pairs().all(|(_, to)| fold_char(to) == to));
    }
}
