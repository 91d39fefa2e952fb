//! Tags of languages as they are written (RFC 5646, BCP 47).

/// A tag that is well-formed: `de`, `fr-CA`, `zh-Hant-TW`, `x-house`. Whether there is such a language is not asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageTag(String);

/// Tags that were registered before there was a form (RFC 5646, section 2.1, `irregular`), in small letters.
const IRREGULAR: [&str; 17] = [
    "en-gb-oed",
    "i-ami",
    "i-bnn",
    "i-default",
    "i-enochian",
    "i-hak",
    "i-klingon",
    "i-lux",
    "i-mingo",
    "i-navajo",
    "i-pwn",
    "i-tao",
    "i-tay",
    "i-tsu",
    "sgn-be-fr",
    "sgn-be-nl",
    "sgn-ch-de",
];

impl LanguageTag {
    /// A text, if it has the form of a tag in letters of any case.
    pub fn parse(text: &str) -> Option<Self> {
        let is_tag = is_regular(text) || IRREGULAR.iter().any(|it| it.eq_ignore_ascii_case(text));
        is_tag.then(|| Self(text.to_owned()))
    }

    /// The longest tag that is looked up, in bytes; few have more than 35 (RFC 5646, section 4.4.1).
    pub const MOST_LOOKED_UP: usize = 64;

    /// The tag in small letters, and those that stand in for it, the nearest first (RFC 4647, section 3.4): `zh-hant-tw`,
    /// `zh-hant`, `zh`. Those of more than [`Self::MOST_LOOKED_UP`] bytes are left out.
    pub fn lookup(&self) -> Vec<String> {
        let (tag, mut tags) = (self.0.to_ascii_lowercase(), Vec::new());
        let mut end = tag.len();
        loop {
            if end <= Self::MOST_LOOKED_UP {
                tags.push(tag[..end].to_owned());
            }
            let Some(mut shorter) = tag[..end].rfind('-') else { return tags };
            // A single letter says what follows it.
            while let Some(single) = tag[..shorter].rfind('-').filter(|it| shorter - it == 2) {
                shorter = single;
            }
            if shorter <= 1 {
                return tags;
            }
            end = shorter;
        }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// ```text
/// language ["-" script] ["-" region] *("-" variant) *("-" extension) ["-" private], or private alone
/// ```
fn is_regular(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    if !parts.iter().all(|it| (1..=8).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_alphanumeric())) {
        return false;
    }
    let (parts, private) = match parts.iter().position(|it| it.eq_ignore_ascii_case("x")) {
        Some(at) => parts.split_at(at),
        None => (&parts[..], &[][..]),
    };
    let has_private = private.len() >= 2;
    if !private.is_empty() && !has_private {
        return false;
    }
    let Some((language, rest)) = parts.split_first() else { return has_private };
    is_letters(language, 2..=8) && is_rest(rest, language.len() <= 3)
}

/// What stands behind the language.
fn is_rest(parts: &[&str], may_extend: bool) -> bool {
    let extended = parts.iter().take(3).take_while(|it| may_extend && is_letters(it, 3..=3)).count();
    let parts = behind(behind(&parts[extended..], is_script), is_region);
    let variants = parts.iter().take_while(|it| is_variant(it)).count();
    is_extensions(&parts[variants..])
}

/// Each a single letter or digit with what belongs to it, parts of two characters and more.
fn is_extensions(parts: &[&str]) -> bool {
    let is_mark = |it: &str| it.len() == 1;
    let mut lone = false;
    for (n, part) in parts.iter().enumerate() {
        if n == 0 && !is_mark(part) || lone && is_mark(part) {
            return false;
        }
        lone = is_mark(part);
    }
    !lone
}

fn is_letters(part: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&part.len()) && part.bytes().all(|it| it.is_ascii_alphabetic())
}

fn is_script(part: &str) -> bool {
    is_letters(part, 4..=4)
}

fn is_region(part: &str) -> bool {
    is_letters(part, 2..=2) || part.len() == 3 && part.bytes().all(|it| it.is_ascii_digit())
}

fn is_variant(part: &str) -> bool {
    part.len() >= 5 || part.len() == 4 && part.starts_with(|it: char| it.is_ascii_digit())
}

/// Without the first part, if it is such a one.
fn behind<'p>(parts: &'p [&'p str], is_such: fn(&str) -> bool) -> &'p [&'p str] {
    match parts.split_first() {
        Some((first, rest)) if is_such(first) => rest,
        _ => parts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_a_form() {
        for good in [
            "de",
            "DE",
            "fr-CA",
            "zh-Hant-TW",
            "es-419",
            "zh-cmn-Hans-CN",
            "zh-yue",
            "sl-rozaj-biske",
            "de-CH-1996",
            "hy-Latn-IT-arevela",
            "de-DE-u-co-phonebk",
            "en-a-myext-b-another",
            "x-whatever",
            "de-CH-x-phonebk",
            "qaa",
            "abcde",
            "i-klingon",
            "sgn-BE-FR",
            "en-GB-oed",
        ] {
            assert_eq!(LanguageTag::parse(good).as_ref().map(LanguageTag::as_str), Some(good));
        }
        for bad in [
            "",
            " ",
            "d",
            "7",
            "12",
            "de_DE",
            "-de",
            "de-",
            "de--CH",
            "german!",
            "de ",
            "déjà",
            "abcdefghi",
            "de-abcdefghi",
            "de-a",
            "de-u",
            "de-u-x-a",
            "x",
            "de-x",
            "i-nothing",
            "de-419-DE",
            "ar-a-b-c",
            "de-1",
        ] {
            assert_eq!(LanguageTag::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn shorter_tags_stand_in() {
        for (tag, wants) in [
            ("de", &["de"][..]),
            ("fr-CA", &["fr-ca", "fr"]),
            ("zh-Hant-TW", &["zh-hant-tw", "zh-hant", "zh"]),
            ("de-a-bcd-x-house", &["de-a-bcd-x-house", "de-a-bcd", "de"]),
            ("x-house", &["x-house"]),
            ("i-klingon", &["i-klingon"]),
        ] {
            assert_eq!(LanguageTag::parse(tag).expect("a tag").lookup(), wants, "{tag}");
        }
        let long = format!("de{}", "-abcde".repeat(20_000));
        assert!(LanguageTag::parse(&long).is_none_or(|it| it.lookup().iter().all(|it| it.len() <= 64)));
    }
}
