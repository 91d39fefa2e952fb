//! Which words of the items on a page answer, beside the items ([decision 43](../../../../decisions/0043-highlights-and-suggestions.md)).
//!
//! They are looked for in what the page shows and in nothing else, so what permissions, a projection, a language or a hook
//! leave out of an answer is not in its highlights.

use crate::{
    page::Page,
    search::{Asked, Layout},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, value::RawValue};
use std::sync::Arc;
use stoa_kernel::{Code, Fault, Result};
use stoa_query::wire;
use stoa_search::question::{Extent, Fragment};
use stoa_store::{ReaderPool, Site, boxed};

/// Puts highlights beside items.
pub(super) struct Highlighting {
    /// Nothing where all items are wanted.
    asked: Option<Arc<Asked>>,
    /// The fields in which words are marked; all that are searched where none is named.
    fields: Vec<String>,
    extent: Extent,
}

impl Highlighting {
    /// `within`: the fields that are searched, all where none is named; `shown`: those that the page has, likewise.
    ///
    /// # Errors
    /// WDE0147 for a field whose words aren't searched, or that isn't shown.
    pub fn resolve(
        highlight: wire::Highlight,
        layout: &Layout,
        within: Vec<String>,
        shown: &[String],
        asked: Option<Arc<Asked>>,
    ) -> Result<Self> {
        let wire::Highlight { fields, max_length, max_fragments } = highlight;
        let is_among = |name: &String, names: &[String]| names.is_empty() || names.contains(name);
        for name in &fields {
            let is_searched = layout.bit(name).is_some() && is_among(name, &within);
            let wrong = match is_searched {
                true if is_among(name, shown) => continue,
                true => "is left out of the items by search.fields",
                false => "is no field whose words are searched",
            };
            let text = format!("search.highlight.fields: {name} {wrong}.");
            return Err(Fault::because(Code::FieldInvalid, text).with("propertyName", name.as_str()));
        }
        let fields = if fields.is_empty() { within } else { fields };
        Ok(Self { asked, fields, extent: Extent { characters: max_length, fragments: max_fragments } })
    }

    /// Gives each element of a page its highlights, in the caller's turn among scans: words take time. `most`: bytes of
    /// the page with them.
    ///
    /// # Errors
    /// WDE0109 when the page is larger then; WDE0028 when the time of a read is over.
    pub async fn put(self, page: &mut Page, site: &Site, pool: ReaderPool, most: usize) -> Result<()> {
        if page.elements.is_empty() {
            return Ok(());
        }
        let elements = format!("[{}]", std::mem::take(&mut page.elements));
        let highlighted = site.read(pool, move |tx| {
            boxed!(tx.compute(move |deadline| self.beside(&elements, most, &|| deadline.is_over())).await)
        });
        page.elements = highlighted.await?;
        Ok(())
    }

    fn beside(&self, elements: &str, most: usize, is_over: &dyn Fn() -> bool) -> Result<String> {
        let all: Vec<&RawValue> = serde_json::from_str(elements).map_err(Fault::internal)?;
        let mut out = String::with_capacity(elements.len());
        for element in all {
            if is_over() {
                return Err(Fault::new(Code::TimeLimit));
            }
            let Some(members) = element.get().strip_suffix('}') else { continue };
            out.push_str(if out.is_empty() { "" } else { "," });
            out.extend([members, ",\"highlights\":", &self.of(element)?, "}"]);
            if out.len() > most {
                let text =
                    format!("The items of the page and their highlights are larger than {most} bytes; ask for fewer.");
                return Err(Fault::because(Code::PayloadTooLarge, text));
            }
        }
        Ok(out)
    }

    /// The highlights of an element, as JSON text.
    fn of(&self, element: &RawValue) -> Result<String> {
        let Some(asked) = &self.asked else { return Ok("[]".to_owned()) };
        let Shown { data } = serde_json::from_str(element.get()).map_err(Fault::internal)?;
        let texts = asked.layout.named_texts(&self.fields, &data);
        let each = texts.iter().map(|(field_name, text)| {
            let fragments = asked.question.fragments(text, self.extent);
            let fragments = fragments.iter().map(|it| ShownFragment::of(it, text)).collect();
            FieldHighlight { field_name, fragments }
        });
        let highlights: Vec<_> = each.filter(|it| !it.fragments.is_empty()).collect();
        serde_json::to_string(&highlights).map_err(Fault::internal)
    }
}

/// An element of a page, as far as it is read here. A hook may have put anything into its data.
#[derive(Deserialize)]
struct Shown {
    #[serde(deserialize_with = "members")]
    data: Map<String, Json>,
}

fn members<'d, D: serde::Deserializer<'d>>(data: D) -> Result<Map<String, Json>, D::Error> {
    Ok(match Json::deserialize(data)? {
        Json::Object(it) => it,
        _ => Map::new(),
    })
}

/// What answers in a field.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FieldHighlight<'t> {
    field_name: &'t str,
    fragments: Vec<ShownFragment<'t>>,
}

/// A piece of a text. Joined, the texts of its parts are the piece.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownFragment<'t> {
    parts: Vec<Part<'t>>,
    has_text_before: bool,
    has_text_after: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'t> {
    text: &'t str,
    is_match: bool,
}

impl<'t> ShownFragment<'t> {
    fn of(fragment: &Fragment, text: &'t str) -> Self {
        let parts = fragment.parts(text).into_iter().map(|(text, is_match)| Part { text, is_match }).collect();
        let Fragment { range, .. } = fragment;
        Self { parts, has_text_before: range.start > 0, has_text_after: range.end < text.len() }
    }
}
