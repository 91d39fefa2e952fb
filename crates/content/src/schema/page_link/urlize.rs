//! Text as a part of a path, and what a path of a page link is (docs/page-links.md).

use std::fmt::Write as _;
use stoa_kernel::fold::fold_char;

/// The longest page link, in bytes: beyond it browsers and proxies refuse addresses.
pub(crate) const MOST_BYTES: usize = 2048;

/// What is done with a value before it is percent-encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Nothing.
    Encoded,
    /// Each run of spaces, tabs and line feeds becomes a hyphen.
    Hyphenated,
    /// The same, in lower-case letters.
    Lowercase,
}

/// Appends a value to a path, as far as it is allowed to grow.
///
/// What is appended is ASCII: letters, digits, `-`, `.`, `_`, `~`, and everything else as the percent-encoded bytes of
/// its UTF-8. Separators are those that the client looks an item up by (`$matches`, docs/protocol/content.md §4.1), and a
/// letter is lowered where case folding takes both for the same, so that an item is found by what its link says.
pub(super) fn urlize(value: &str, style: Style, path: &mut String) {
    let mut is_separated = false;
    for character in value.chars() {
        if path.len() > MOST_BYTES {
            return;
        }
        if style != Style::Encoded && matches!(character, ' ' | '\t' | '\n') {
            if !is_separated {
                path.push('-');
            }
            is_separated = true;
            continue;
        }
        is_separated = false;
        encode(if style == Style::Lowercase { lower(character) } else { character }, path);
    }
}

/// The lower-case form of a letter, where that is one character and folds alike: `İ` has no such form.
fn lower(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(it), None) if fold_char(it) == fold_char(character) => it,
        _ => character,
    }
}

fn encode(character: char, path: &mut String) {
    if is_unreserved(character) {
        return path.push(character);
    }
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        // Writing to a text can't fail.
        let _ = write!(path, "%{byte:02X}");
    }
}

/// The characters that stand for themselves in every part of a URI (RFC 3986, section 2.3).
fn is_unreserved(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~')
}

/// Whether a text is a path as page links have it: parts after a slash each, none of them empty or one that leads
/// elsewhere, of percent-encoded UTF-8 without what isn't seen, and within the length.
pub(super) fn is_path(text: &str) -> bool {
    let Some(parts) = text.strip_prefix('/') else { return false };
    text.len() <= MOST_BYTES && parts.split('/').all(|it| is_encoded(it) && !it.is_empty() && !leads_elsewhere(it))
}

/// Whether a part of a path is `.` or `..` to those who resolve addresses, percent-encoded or not.
pub(super) fn leads_elsewhere(part: &str) -> bool {
    // No such part is longer than `%2e%2e`.
    part.len() <= 6 && matches!(part.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}

fn is_encoded(part: &str) -> bool {
    let mut decoded = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || rest.next().and_then(|it| char::from(it).to_digit(16)).and_then(|it| u8::try_from(it).ok());
        match byte {
            b'%' => match (digit(), digit()) {
                (Some(high), Some(low)) => decoded.push(high * 16 + low),
                _ => return false,
            },
            it if is_unreserved(char::from(it)) => decoded.push(it),
            _ => return false,
        }
    }
    std::str::from_utf8(&decoded).is_ok_and(|it| !it.chars().any(|it| it.is_control() || is_bidi(it)))
}

/// Characters that change the direction in which others are shown.
pub(super) fn is_bidi(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urlized(value: &str, style: Style) -> String {
        let mut path = String::new();
        urlize(value, style, &mut path);
        path
    }

    /// What percent-encoding was made of.
    fn decoded(path: &str) -> String {
        let (mut bytes, mut rest) = (Vec::new(), path);
        while let Some(first) = rest.bytes().next() {
            let (byte, length) = match first {
                b'%' => (u8::from_str_radix(&rest[1..3], 16).expect("two digits"), 3),
                it => (it, 1),
            };
            bytes.push(byte);
            rest = &rest[length..];
        }
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn values_become_parts_of_paths() {
        for (value, lowercase, hyphenated, encoded) in [
            ("Red Shoes", "red-shoes", "Red-Shoes", "Red%20Shoes"),
            ("a \t\n b", "a-b", "a-b", "a%20%09%0A%20b"),
            (" a ", "-a-", "-a-", "%20a%20"),
            ("a - b", "a---b", "a---b", "a%20-%20b"),
            ("a-b_c.d~e", "a-b_c.d~e", "a-b_c.d~e", "a-b_c.d~e"),
            ("Straße", "stra%C3%9Fe", "Stra%C3%9Fe", "Stra%C3%9Fe"),
            ("\u{1e9e}", "%C3%9F", "%E1%BA%9E", "%E1%BA%9E"),
            ("İstanbul", "%C4%B0stanbul", "%C4%B0stanbul", "%C4%B0stanbul"),
            ("ΟΔΟΣ", "%CE%BF%CE%B4%CE%BF%CF%83", "%CE%9F%CE%94%CE%9F%CE%A3", "%CE%9F%CE%94%CE%9F%CE%A3"),
            ("東京", "%E6%9D%B1%E4%BA%AC", "%E6%9D%B1%E4%BA%AC", "%E6%9D%B1%E4%BA%AC"),
            ("שלום", "%D7%A9%D7%9C%D7%95%D7%9D", "%D7%A9%D7%9C%D7%95%D7%9D", "%D7%A9%D7%9C%D7%95%D7%9D"),
            ("a/b\\c", "a%2Fb%5Cc", "a%2Fb%5Cc", "a%2Fb%5Cc"),
            (
                "a?b#c&d=e+f%41",
                "a%3Fb%23c%26d%3De%2Bf%2541",
                "a%3Fb%23c%26d%3De%2Bf%2541",
                "a%3Fb%23c%26d%3De%2Bf%2541",
            ),
            ("\r\u{1}\u{202e}", "%0D%01%E2%80%AE", "%0D%01%E2%80%AE", "%0D%01%E2%80%AE"),
            ("\u{a0}\u{3000}", "%C2%A0%E3%80%80", "%C2%A0%E3%80%80", "%C2%A0%E3%80%80"),
            ("\"<>'()*!", "%22%3C%3E%27%28%29%2A%21", "%22%3C%3E%27%28%29%2A%21", "%22%3C%3E%27%28%29%2A%21"),
            ("😀", "%F0%9F%98%80", "%F0%9F%98%80", "%F0%9F%98%80"),
            ("", "", "", ""),
        ] {
            for (style, expected) in
                [(Style::Lowercase, lowercase), (Style::Hyphenated, hyphenated), (Style::Encoded, encoded)]
            {
                assert_eq!(urlized(value, style), expected, "{value:?} {style:?}");
            }
        }
    }

    #[test]
    fn every_character_is_encoded_comes_back_and_keeps_its_fold() {
        for character in
            ('\u{1}'..=char::MAX).step_by(if cfg!(debug_assertions) { 31 } else { 1 }).chain('\u{1}'..'\u{3000}')
        {
            let value = format!("a{character}b");
            for style in [Style::Lowercase, Style::Hyphenated, Style::Encoded] {
                let once = urlized(&value, style);
                assert!(once.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._~%".contains(&it)), "{value:?}");
                let back = decoded(&once);
                assert_eq!(urlized(&back, style), once, "{value:?} {style:?} the second time");
                match (style, character) {
                    (Style::Encoded, _) => assert_eq!(back, value),
                    (_, ' ' | '\t' | '\n') => assert_eq!(back, "a-b"),
                    _ => assert_eq!(stoa_kernel::fold::fold(&back), stoa_kernel::fold::fold(&value)),
                }
            }
        }
    }

    #[test]
    fn work_ends_with_the_length() {
        for value in ["東".repeat(100_000), " a".repeat(100_000), "x".repeat(100_000)] {
            for style in [Style::Lowercase, Style::Hyphenated, Style::Encoded] {
                let length = urlized(&value, style).len();
                assert!((MOST_BYTES + 1..MOST_BYTES + 13).contains(&length), "{length}");
            }
        }
    }

    #[test]
    fn paths_are_told_from_what_only_looks_like_one() {
        let longest = format!("/{}", "a".repeat(MOST_BYTES - 1));
        for path in ["/a", "/a/b-c", "/%C3%9F/x.y", "/...", "/.a", "/a..", "/%2e%2e%2e", &longest] {
            assert!(is_path(path), "{path}");
        }
        let too_long = format!("{longest}a");
        for text in [
            "",
            "a",
            "/",
            "//a",
            "/a/",
            "/a//b",
            "/.",
            "/..",
            "/a/../b",
            "/%2e",
            "/%2E%2e/a",
            "/.%2e",
            "/a b",
            "/a?b",
            "/a#b",
            "/ä",
            "/a%",
            "/a%2",
            "/a%2g",
            "/a\\b",
            "/a\u{202e}",
            "https://example.com/a",
            "/%FF",
            "/%C3",
            "/%00",
            "/a%0D%0Ab",
            "/%E2%80%AEa",
            "javascript:alert(1)",
            "/a:b",
            &too_long,
        ] {
            assert!(!is_path(text), "{text}");
        }
    }
}
