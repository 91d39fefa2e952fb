//! One case folding for the whole product: Unicode simple folding (C + S of CaseFolding.txt).
//!
//! `startsWith`, `endsWith`, `contains` and e-mail addresses compare by it. SQLite calls this very
//! function; PostgreSQL has the same mapping as a SQL function, and a test compares all code points.

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
pub fn folding_pairs() -> impl Iterator<Item = (char, char)> {
    (0..=0x10_ffff_u32).filter_map(char::from_u32).map(|c| (c, fold_char(c))).filter(|(from, to)| from != to)
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
    fn folding_twice_changes_nothing() {
        assert!(folding_pairs().all(|(_, to)| fold_char(to) == to));
    }
}
