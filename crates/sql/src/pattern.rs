//! Patterns of `$matches` (docs/protocol/content.md §4.1): literals, and runs of separators.
//!
//! A pattern is kept as JSON text, a list of `{"literal":"…"}` and `{"run":"…"}`: SQLite hands it to
//! [`matches`], PostgreSQL reads what [`regex`] makes of it. Folding is the caller's business.

use serde::{Deserialize, Serialize};

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Exactly this text.
    Literal(String),
    /// One or more of these characters.
    Run(String),
}

/// The text form of a pattern.
pub fn print(parts: &[Part]) -> String {
    serde_json::to_string(parts).unwrap_or_default()
}

/// Whether the whole text fits the pattern. A text that isn't a pattern fits nothing.
pub fn matches(text: &str, pattern: &str) -> bool {
    serde_json::from_str::<Vec<Part>>(pattern).is_ok_and(|it| fits(text, &it))
}

/// Whether the whole text fits the parts, whichever way they can be laid over it.
pub fn fits(text: &str, parts: &[Part]) -> bool {
    // The positions in the text that the parts so far can have reached, in ascending order.
    let mut reached = vec![0];
    for part in parts {
        let mut next = Vec::new();
        for at in reached {
            match part {
                Part::Literal(it) if text[at..].starts_with(it.as_str()) => next.push(at + it.len()),
                Part::Literal(_) => {}
                Part::Run(separators) => {
                    let run = text[at..].chars().take_while(|&c| separators.contains(c));
                    next.extend(run.scan(at, |end, c| {
                        *end += c.len_utf8();
                        Some(*end)
                    }));
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        reached = next;
    }
    reached.last() == Some(&text.len())
}

/// The same pattern as a regular expression of PostgreSQL.
pub fn regex(parts: &[Part]) -> String {
    let mut regex = String::from("^");
    for part in parts {
        match part {
            Part::Literal(it) => it.chars().for_each(|c| escape(&mut regex, c)),
            // An empty class isn't allowed; nothing fits it, and nothing follows the end of a text.
            Part::Run(separators) if separators.is_empty() => regex.push_str("$(?=x)"),
            Part::Run(separators) => {
                regex.push('[');
                separators.chars().for_each(|c| escape(&mut regex, c));
                regex.push_str("]+");
            }
        }
    }
    regex.push('$');
    regex
}

/// A backslash takes the meaning from punctuation and gives one to letters and digits.
fn escape(regex: &mut String, c: char) {
    if c.is_ascii_punctuation() {
        regex.push('\\');
    }
    regex.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts_only() {
        let parts = [Part::Literal("hello".into()), Part::Run(" -".into()), Part::Literal("world".into())];
        for (text, fit) in [
            ("hello world", true),
            ("hello - world", true),
            ("helloworld", false),
            ("hello world!", false),
            ("a hello world", false),
            ("", false),
        ] {
            assert_eq!(fits(text, &parts), fit, "{text}");
            assert_eq!(matches(text, &print(&parts)), fit, "{text}");
        }
        assert!(fits("", &[]));
    }

    #[test]
    fn run_gives_back_what_the_next_literal_needs() {
        let parts = [Part::Literal("a".into()), Part::Run("-".into()), Part::Literal("-b".into())];
        assert!(fits("a---b", &parts));
        assert!(fits("a--b", &parts));
        assert!(!fits("a-b", &parts));
    }
}
