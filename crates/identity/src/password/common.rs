//! Passwords that are guessed first: a list of ours, and one that the operator of the server adds.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};
use stoa_kernel::fold::fold;

/// Lists of passwords and words that were counted, of those with as many characters as a password needs: folded, one a
/// line, in the order of their bytes. Where they come from stands in `common.md`.
const LIST: &str = include_str!("common.txt");

/// Further passwords that are refused, kept as eight bytes each, so that a list may have millions of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PasswordList(Arc<[u64]>);

impl PasswordList {
    /// Reads one password a line. White space around it, empty lines and what isn't UTF-8 don't count, nor does case or
    /// a byte order mark at the beginning.
    pub fn parse(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let lines = bytes.split(|it| *it == b'\n').filter_map(|it| std::str::from_utf8(it).ok());
        let mut hashes: Vec<u64> = lines.map(str::trim).filter(|it| !it.is_empty()).map(|it| hash(&fold(it))).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes.into())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, folded: &str) -> bool {
        !self.is_empty() && self.0.binary_search(&hash(folded)).is_ok()
    }
}

/// The same in every process: the hasher has no key of its own.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Whether a password is in a list, or one character over and over.
pub(super) fn is_common(password: &str, own: &PasswordList) -> bool {
    let folded = fold(password.trim());
    let mut chars = folded.chars();
    let first = chars.next();
    has_line(LIST, &folded) || own.has(&folded) || chars.all(|it| Some(it) == first)
}

/// Whether a text of sorted lines has this one.
fn has_line(list: &str, line: &str) -> bool {
    let (bytes, mut low, mut high) = (list.as_bytes(), 0, list.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = bytes[low..middle].iter().rposition(|it| *it == b'\n').map_or(low, |at| low + at + 1);
        let end = bytes[start..high].iter().position(|it| *it == b'\n').map_or(high, |at| start + at);
        match line.as_bytes().cmp(&bytes[start..end]) {
            std::cmp::Ordering::Less => high = start,
            std::cmp::Ordering::Greater => low = (end + 1).min(high),
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::MIN_CHARS;

    #[test]
    fn password_list_is_sorted_folded_and_long_enough() {
        let lines: Vec<&str> = LIST.lines().collect();
        assert!(lines.len() > 30_000, "{}", lines.len());
        assert!(lines.is_sorted_by(|a, b| a.as_bytes() < b.as_bytes()));
        for line in &lines {
            assert!(line.chars().count() >= MIN_CHARS && fold(line.trim()) == *line, "{line:?}");
            assert!(has_line(LIST, line), "{line:?} is found");
        }
        for other in ["", "\n", "passwor", "password\n", "correct horse battery", "~~~~~~~~~", "\u{10ffff}"] {
            assert!(!has_line(LIST, other), "{other:?}");
        }
    }

    #[test]
    fn password_list_of_ones_own_is_read_by_line() {
        let own =
            PasswordList::parse("Correct Horse\r\n\n  stapler42!  \n\u{feff}x\nstapler42!\nÜberlegung".as_bytes());
        assert_eq!(own.len(), 4);
        for refused in ["correct horse", "CORRECT HORSE ", "stapler42!", "überlegung"] {
            assert!(is_common(refused, &own), "{refused}");
        }
        assert!(!is_common("correct horse battery", &own));
        let marked = PasswordList::parse("\u{feff}Horse and Cart\n".as_bytes());
        assert!(is_common("horse and cart", &marked));
        let latin = PasswordList::parse(b"caf\xe9 au lait\nhorse and cart");
        assert!(latin.len() == 1 && is_common("Horse and Cart", &latin));
        assert!(!is_common("horse and cart", &PasswordList::default()));
    }
}
