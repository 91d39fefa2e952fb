//! What our messages say, a file a language. Adding a language is a file here and a line below.
//!
//! `{site}`, `{code}`, `{email}`, `{name}`, `{device}`, `{scopes}` and `{time}` stand for what the message is about.

mod ar;
mod de;
mod en;
mod es;
mod fr;
mod he;
mod ja;
mod language;

pub(super) use language::{Language, ScopeWords, Words};

/// English comes first: it stands in for what is missing.
const LANGUAGES: [&Language; 7] = [&en::TEXT, &ar::TEXT, &de::TEXT, &es::TEXT, &fr::TEXT, &he::TEXT, &ja::TEXT];

/// The tags of all languages.
pub(super) fn tags() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().map(|it| it.tag)
}

/// The language of a tag: exactly, or without region; English for others.
pub(super) fn language(tag: &str) -> &'static Language {
    find(tag).unwrap_or(LANGUAGES[0])
}

pub(super) fn find(tag: &str) -> Option<&'static Language> {
    let primary = tag.split(['-', '_']).next().unwrap_or_default();
    LANGUAGES.into_iter().find(|it| it.tag.eq_ignore_ascii_case(primary))
}
