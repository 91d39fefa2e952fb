//! The language that a call reads or writes in (docs/protocol/content.md §3.0, §21.10).

use serde_json::{Map, Value};
use stoa_kernel::LanguageTag;

/// The language of a call; nothing for the primary text. What isn't the tag of a language is refused with the other
/// options.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Language<'a>(Option<&'a str>);

impl<'a> Language<'a> {
    pub(crate) fn of(members: &'a Map<String, Value>) -> Self {
        Self(members.get("language").and_then(Value::as_str))
    }

    pub(crate) fn of_tag(tag: Option<&'a LanguageTag>) -> Self {
        Self(tag.map(LanguageTag::as_str))
    }

    /// The tag as it was sent.
    pub(crate) fn tag(self) -> Option<LanguageTag> {
        self.0.and_then(LanguageTag::parse)
    }
}
