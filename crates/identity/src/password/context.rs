//! Words that stand near an account, which those who guess know: its address, the person's name, the site's name and
//! hosts.

use super::{MIN_CHARS, PasswordList, common::is_common};
use stoa_kernel::{Secret, Violation, fold::fold};

/// Fewest characters of a word that counts.
const SHORTEST: usize = 3;
/// Letters beside the words from which on a password counts as a person's own.
const LETTERS: usize = 4;

/// The words around one account, folded, the longest first.
pub(crate) struct ContextWords(Vec<String>);

impl ContextWords {
    /// Each text counts as a whole and by its parts, for example an address by its name, its host and their parts.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut words = Vec::new();
        for text in texts {
            let folded = fold(text.trim()).into_owned();
            words.extend(folded.split('@').map(str::to_owned));
            words.extend(folded.split(|it: char| !it.is_alphanumeric()).map(str::to_owned));
            words.push(folded);
        }
        words.retain(|it| it.chars().count() >= SHORTEST);
        words.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        words.dedup();
        Self(words)
    }

    /// What is wrong with a password that is made of these words and little else. `field` is the JSON path it came
    /// from.
    pub(crate) fn violation(&self, password: &Secret, field: &str, own: &PasswordList) -> Option<Violation> {
        if !self.make(password.expose(), own) {
            return None;
        }
        let why = "this password is made of the address, a name, or the name or host of the site";
        let mut violation = Violation::new(field, "OTHER", why);
        violation.rule_name = Some("CONTEXT_PASSWORD");
        Some(violation)
    }

    fn make(&self, password: &str, own: &PasswordList) -> bool {
        const GAP: &str = "\n";
        let folded = fold(password.trim()).into_owned();
        let rest = self.0.iter().fold(folded.clone(), |rest, word| match rest.contains(word.as_str()) {
            // What stood around a word makes no other word.
            true => rest.replace(word.as_str(), GAP),
            false => rest,
        });
        if rest == folded {
            return false;
        }
        let rest = rest.replace(GAP, "");
        let letters = rest.chars().filter(|it| it.is_alphabetic()).count();
        letters < LETTERS && rest.chars().count() < MIN_CHARS || is_common(&rest, own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_made_of_words_around_it_is_refused() {
        let words = ContextWords::of([
            "Anna.Beispiel@mail.example.org",
            "Anna",
            "Beispiel-Li",
            "Grüner Markt",
            "www.gruener-markt.example",
        ]);
        let refused = |it: &str| words.violation(&Secret::new(it), "password", &PasswordList::default()).is_some();
        for password in [
            "anna.beispiel@mail.example.org",
            "ANNA.BEISPIEL",
            "annabeispiel",
            "anna_example_org",
            "Beispiel1990!",
            "GRÜNER MARKT",
            "grünermarkt2026",
            "www.gruener-markt.example",
            " gruener-markt",
            "annapassword",
            "beispiel11111111111",
        ] {
            assert!(refused(password), "{password}");
        }
        for password in ["correct anna battery", "hannaxk39fj2", "markthalle am fluss", "a\0b\0c\0d\0", "12345670123"] {
            assert!(!refused(password), "{password}");
        }
        let nothing = ContextWords::of(["", "  ", "a@b.co", "Li"]);
        assert!(nothing.violation(&Secret::new("libellen-flug"), "password", &PasswordList::default()).is_none());
    }
}
