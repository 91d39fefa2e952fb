//! Patterns that managers of collections write, for texts that any caller may send.
//!
//! They are written for JavaScript and tested as `RegExp.test` does: anywhere in the text unless they are
//! anchored. They run in time linear in the text, so look-around and back-references are refused, and
//! their size is bounded. `\d` and `\w` mean what they mean in JavaScript: ASCII.

use regex::{Regex, RegexBuilder};

/// Bytes of one compiled pattern, and of what matching keeps for it.
const SIZE: usize = 128 * 1024;
/// Bytes of a text that a pattern is tried on; a longer one doesn't fit it.
pub(super) const TEXT: usize = 10_000;

/// The pattern ready for use, or nothing if it can't be.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(&ascii_classes(pattern)).size_limit(SIZE).dfa_size_limit(SIZE).nest_limit(50).build().ok()
}

/// Whether a text fits.
pub(super) fn fits(pattern: &Regex, text: &str) -> bool {
    text.len() <= TEXT && pattern.is_match(text)
}

fn ascii_classes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('d') => out.push_str("[0-9]"),
            Some('D') => out.push_str("[^0-9]"),
            Some('w') => out.push_str("[0-9A-Za-z_]"),
            Some('W') => out.push_str("[^0-9A-Za-z_]"),
            Some(it) => out.extend(['\\', it]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_javascript() {
        for (pattern, text, wants) in [
            (r"^\d{3}$", "123", true),
            (r"^\d{3}$", "١٢٣", false),
            (r"\w+", "!x!", true),
            (r"^[\w-]+$", "a_b-C9", true),
            (r"^[\w-]+$", "ä", false),
            (r"^\W\D$", "ä😀", true),
            (r"^a\/b\.c$", "a/b.c", true),
            (r"^.$", "😀", true),
            (r"^\u00e4$", "ä", true),
            (r"(?i)^STRASSE$", "straße", false),
            (r"(?<year>\d{4})", "in 2026", true),
            ("", "anything", true),
        ] {
            assert_eq!(fits(&compile(pattern).expect(pattern), text), wants, "{pattern} on {text}");
        }
    }

    #[test]
    fn patterns_that_are_not_linear_or_too_large_are_refused() {
        for pattern in [r"(?=a)b", r"(a)\1", "(", "[z-a]", r"(\w{1000}){1000}", "a{100000}", &"(".repeat(200)] {
            assert!(compile(pattern).is_none(), "{pattern}");
        }
        // What takes others a lifetime is answered at once, and no text is endless.
        let hard = compile("^(a+)+$").expect("a pattern");
        assert!(!fits(&hard, &format!("{}b", "a".repeat(9_000))));
        assert!(!fits(&hard, &"a".repeat(TEXT + 1)));
    }
}
