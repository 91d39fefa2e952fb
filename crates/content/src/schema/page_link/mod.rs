//! Page links: fields whose values are addresses of pages, calculated from the other fields of an item (decision 39).
//!
//! ```text
//! definition ── PageLinks::of ──▶ patterns ┬─ put ──▶ documents as they are shown and told to others
//!                                          └─ settle ──▶ items on their way into the store
//! ```
//!
//! A link is no part of the stored document, so another pattern counts for all items at once. With the plugin
//! EDITABLE_PAGE_LINK and `isPersisted` it is stored when the item is written, and stays while other fields change;
//! items from before have the calculated one until they are written. Patterns are read once, with the definition;
//! documents aren't parsed: the texts of the members that a link needs are taken out of them.

mod check;
mod pattern;
mod urlize;

pub(crate) use check::check;

use crate::{
    fault::{Faults, invalid},
    schema::{
        definition::Definition,
        field::{self, Field},
        plugin::{self, EDITABLE_PAGE_LINK, URLIZED},
    },
};
use pattern::Pattern;
use serde_json::{Map, Value as Json};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::ControlFlow,
    sync::Arc,
};
use stoa_kernel::Result;
use stoa_query::{
    CanonicalItem,
    item::{self, Edit, members},
    schema::Kind,
};
use stoa_sql::json::quoted;
use urlize::{Style, is_path, urlize};

/// The page links of a collection that are calculated. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageLinks(Arc<Links>);

#[derive(Debug, Default)]
struct Links {
    links: Vec<PageLink>,
    /// The names that are looked for in documents, as they stand in canonical text: of the links and of what they name.
    names: HashSet<String>,
}

#[derive(Debug)]
struct PageLink {
    key: String,
    /// As it stands in canonical text.
    quoted: String,
    pattern: Pattern,
    style: Style,
    rule: Rule,
}

/// What is stored of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Nothing.
    Calculated,
    /// What it came to when the item was first written.
    Persisted,
    /// The same, until a writer sets another.
    Mutable,
}

/// Members of a document by their names, both as they stand in it.
type Found<'d> = HashMap<&'d str, &'d str>;

/// Who writes an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkWriter {
    /// A caller, who sets links that are mutable.
    Caller,
    /// An import, which has links as they were exported.
    Import,
    /// The other collection of a pair, from which an item comes with its links.
    Pair,
}

impl PageLinks {
    /// Those of a definition. One that can't be calculated, in a definition of an older version, is left out: it is what is
    /// stored.
    pub(crate) fn of(definition: &Definition) -> Self {
        let links = definition.fields.iter().filter_map(|it| PageLink::of(definition, it));
        let links: Vec<_> = links.collect();
        let names = links.iter().flat_map(|it| it.pattern.fields().chain([it.quoted.as_str()]));
        let names = names.map(str::to_owned).collect();
        Self(Arc::new(Links { names, links }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.links.is_empty()
    }

    /// What queries and patches must know of these fields.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (String, Kind)> {
        self.0.links.iter().map(|it| (it.key.clone(), Kind::Calculated { is_mutable: it.rule == Rule::Mutable }))
    }

    /// Two of the same shape make the same links of an item.
    pub(crate) fn shape(&self) -> String {
        format!("{:?}", self.0.links)
    }

    /// The document with its links. It must be canonical, and so is the answer.
    pub(crate) fn put<'d>(&self, document: impl Into<Cow<'d, str>>) -> Cow<'d, str> {
        let document = document.into();
        if self.is_empty() {
            return document;
        }
        let found = self.found(&document);
        let mut out = String::with_capacity(document.len() + self.0.links.len() * 64);
        out.push('{');
        members(&document).filter(|it| !self.has(it.0)).for_each(|(name, value)| append(name, value, &mut out));
        let mut left = MOST_BYTES_OF_ITEM;
        for link in &self.0.links {
            if let Some(it) = within(link.shown(&found), &mut left) {
                append(&link.quoted, &format!("\"{it}\""), &mut out);
            }
        }
        out.push('}');
        Cow::Owned(out)
    }

    /// The document without its links: for callers to whom they would tell what they may not read.
    pub(crate) fn without(&self, document: String) -> String {
        self.0.links.iter().fold(document, |document, it| item::without(&document, &it.key).unwrap_or(document))
    }

    /// An item as it is stored, by what it was `before`, if that makes it another.
    ///
    /// # Errors
    /// WDE0075 for a link that a writer sets and that is no path.
    pub(crate) fn settle(
        &self,
        id: &str,
        item: &CanonicalItem,
        before: Option<&str>,
        writer: LinkWriter,
    ) -> Result<Option<CanonicalItem>> {
        if self.is_empty() {
            return Ok(None);
        }
        let (data, id) = (item.data(), quoted(id));
        let mut found = self.found(&data);
        found.insert(ID, &id);
        let before = before.map(|it| self.found(it)).unwrap_or_default();
        let (mut put, mut faults, mut left) = (Map::new(), Faults::default(), MOST_BYTES_OF_ITEM);
        for link in &self.0.links {
            let value = faults.take(link.stored(&found, &before, writer)).flatten();
            put.extend(within(value, &mut left).map(|it| (link.key.clone(), Json::String(it))));
        }
        faults.refuse()?;
        let mut settled = item.clone();
        settled.edit(|name, _| Ok(if self.has(name) { Edit::Drop } else { Edit::Keep }))?;
        if put.is_empty() { Ok(Some(settled)) } else { settled.with(&put).map(Some) }
    }

    /// An item without the links that writers don't set, for what is compared with what is there.
    pub(crate) fn strip(&self, item: &CanonicalItem) -> Result<CanonicalItem> {
        let is_set = |name: &str| !self.0.links.iter().any(|it| it.quoted == name && it.rule != Rule::Mutable);
        let mut stripped = item.clone();
        stripped.edit(|name, _| Ok(if is_set(name) { Edit::Keep } else { Edit::Drop }))?;
        Ok(stripped)
    }

    /// Whether a field is one of the links.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.0.links.iter().any(|it| it.key == key)
    }

    fn found<'d>(&self, document: &'d str) -> Found<'d> {
        members(document).filter(|it| self.0.names.contains(it.0)).collect()
    }

    /// Whether a member of this name, as it stands in canonical text, is one of the links.
    fn has(&self, quoted: &str) -> bool {
        self.0.names.contains(quoted) && self.0.links.iter().any(|it| it.quoted == quoted)
    }
}

/// Bytes of all links of an item together: those that pass it aren't made. Pages and rows of the log don't grow by more.
const MOST_BYTES_OF_ITEM: usize = 4096;

/// A link, if there is room for it.
fn within<T: AsRef<str>>(link: Option<T>, left: &mut usize) -> Option<T> {
    let link = link?;
    *left = left.checked_sub(link.as_ref().len())?;
    Some(link)
}

/// The name of an item's id, as it stands in canonical text.
const ID: &str = "\"_id\"";

impl PageLink {
    /// The link that a field is; nothing for a field whose values aren't calculated, or can't be.
    fn of(definition: &Definition, field: &Field) -> Option<Self> {
        let (calculator, options) = field::calculator(field).filter(|_| !field::is_encrypted(field))?;
        let pattern = check::pattern(definition, options.get("pattern")?.as_str()?).ok()?;
        let (key, style) = (field::key(field).to_owned(), style(definition, calculator, options));
        let (pattern, rule) = (pattern.with_names(quoted), rule(definition, field));
        Some(Self { quoted: quoted(&key), key, pattern, style, rule })
    }

    /// The link as it is shown: what is stored, or what it comes to.
    fn shown<'d>(&self, found: &Found<'d>) -> Option<Cow<'d, str>> {
        let stored = || found.get(self.quoted.as_str()).copied().and_then(path).map(Cow::Borrowed);
        let calculated = || self.calculated(found).map(Cow::Owned);
        if self.rule == Rule::Calculated { calculated() } else { stored().or_else(calculated) }
    }

    /// What is stored of the link with an item. What isn't sent stays as it is, unseen too while the plugin is away; null and
    /// the empty text have it calculated again.
    fn stored(&self, found: &Found<'_>, before: &Found<'_>, writer: LinkWriter) -> Result<Option<String>> {
        let old = before.get(self.quoted.as_str()).copied();
        let kept = old.and_then(path).map(str::to_owned);
        let sent = found.get(self.quoted.as_str()).copied();
        if self.rule == Rule::Calculated {
            let moved = sent.filter(|_| writer == LinkWriter::Pair).and_then(path);
            return Ok(moved.map(str::to_owned).or(kept));
        }
        let is_set = self.rule == Rule::Mutable || writer != LinkWriter::Caller;
        // What an item from before the plugin was shown with is no link that somebody chose.
        let is_shown =
            |it: &str| kept.is_none() && path(it).is_some_and(|it| self.calculated(before).as_deref() == Some(it));
        match sent.filter(|it| is_set && !is_shown(it)) {
            None => Ok(kept.or_else(|| self.calculated(found))),
            Some("null" | "\"\"") => Ok(self.calculated(found)),
            Some(sent) => match path(sent) {
                Some(it) => Ok(Some(it.to_owned())),
                // From before the field was a link: read, changed and sent back, or from the other collection.
                None if old == Some(sent) || writer == LinkWriter::Pair => Ok(self.calculated(found)),
                None => {
                    Err(invalid(&self.key, "must be a path like /products/red-shoes, with other characters encoded"))
                }
            },
        }
    }

    /// What the link comes to by the members of a document; nothing where one of them has no value for a path.
    fn calculated(&self, found: &Found<'_>) -> Option<String> {
        self.pattern.path(|name, path| match found.get(name).copied().and_then(written) {
            Some(it) => {
                urlize(&it, self.style, path);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        })
    }
}

/// What the plugin URLIZED says of all links, or else the link's own calculator.
fn style(definition: &Definition, calculator: &str, options: &Map<String, Json>) -> Style {
    if let Some(plugin) = definition.plugin(URLIZED) {
        // ORIGINAL unless it says otherwise.
        return match plugin::option(plugin, "format").and_then(Json::as_str) {
            Some("PLAIN") => Style::Encoded,
            _ => Style::Lowercase,
        };
    }
    match calculator {
        "fieldsPattern" if options.get("lowercase") == Some(&Json::Bool(true)) => Style::Lowercase,
        "fieldsPattern" => Style::Hyphenated,
        _ => Style::Encoded,
    }
}

/// What is stored of a link. One that is `readOnly` or `immutable` isn't set by writers.
fn rule(definition: &Definition, field: &Field) -> Rule {
    let plugin = definition.plugin(EDITABLE_PAGE_LINK);
    let says = |name: &str| plugin.and_then(|it| plugin::option(it, name)) == Some(&Json::Bool(true));
    let is = |name: &str| field.get(name) == Some(&Json::Bool(true));
    match says("isPersisted") {
        false => Rule::Calculated,
        true if says("isMutable") && !is("readOnly") && !is("immutable") => Rule::Mutable,
        true => Rule::Persisted,
    }
}

/// A value as it stands in a path before it is encoded: a text that isn't blank, a number, true or false, or a time.
fn written(value: &str) -> Option<Cow<'_, str>> {
    match value.as_bytes().first()? {
        b'"' => {
            let text = match text(value) {
                Some(it) => Cow::Borrowed(it),
                None => Cow::Owned(serde_json::from_str::<String>(value).ok()?),
            };
            Some(text).filter(|it| !it.trim().is_empty())
        }
        b'{' => value.strip_prefix("{\"$date\":\"")?.strip_suffix("\"}").map(Cow::Borrowed),
        b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(value)),
    }
}

/// The path that a stored or sent value is. The field may have held other texts before it was a link.
fn path(value: &str) -> Option<&str> {
    text(value).filter(|it| is_path(it))
}

/// A JSON string without its quotes, where nothing in it is escaped.
fn text(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"').filter(|it| !it.contains('\\'))
}

fn append(name: &str, value: &str, out: &mut String) {
    out.extend([if out.len() > 1 { "," } else { "" }, name, ":", value]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ContentLimits;
    use serde_json::json;

    fn links(pattern: &str, plugins: Json, lowercase: bool) -> PageLinks {
        let definition = json!({
            "id": "c", "dataPermissions": {}, "plugins": plugins,
            "fields": [
                { "key": "title", "type": "TEXT" }, { "key": "n", "type": "NUMBER" }, { "key": "on", "type": "BOOLEAN" },
                { "key": "when", "type": "DATETIME" }, { "key": "q\"", "type": "TEXT" },
                { "key": "link", "type": "PAGE_LINK", "typeMetadata": { "pageLink": { "calculator": {
                    "fieldsPattern": { "pattern": pattern, "lowercase": lowercase } } } } },
            ],
        });
        let definition = Definition::parse(&definition, None, &ContentLimits::default()).expect("a definition");
        check(None, &definition, &[]).expect("a definition with a link");
        PageLinks::of(&definition)
    }

    fn shown(links: &PageLinks, members: &str) -> Json {
        let document = format!("{{\"_id\":\"a\"{members}}}");
        let shown: Json = serde_json::from_str(&links.put(document.as_str())).expect("JSON");
        shown["link"].clone()
    }

    #[test]
    fn links_are_made_of_the_values_of_a_document() {
        let of = |pattern: &str, members: &str| shown(&links(pattern, json!([]), true), members);
        for (pattern, members, expected) in [
            ("/p/{title}", r#","title":"Red Shoes""#, json!("/p/red-shoes")),
            ("/p/{title}", r#","title":"a\"\\b\nc""#, json!("/p/a%22%5Cb-c")),
            ("/p/{title}", r#","title":"Grün""#, json!("/p/gr%C3%BCn")),
            ("/p/{q\"}", r#","q\"":"x""#, json!("/p/x")),
            ("/{_id}/{n}/{on}", r#","n":-1.5,"on":true"#, json!("/a/-1.5/true")),
            ("/{n}", r#","n":1e+21"#, json!("/1e%2B21")),
            ("/{when}", r#","when":{"$date":"2024-03-05T06:07:08.009Z"}"#, json!("/2024-03-05t06%3A07%3A08.009z")),
            ("/all", "", json!("/all")),
            ("/p/{title}", "", Json::Null),
            ("/p/{title}", r#","title":null"#, Json::Null),
            ("/p/{title}", r#","title":"""#, Json::Null),
            ("/p/{title}", r#","title":" \t\u3000""#, Json::Null),
            ("/p/{title}", r#","title":["x"]"#, Json::Null),
            ("/p/{title}", r#","title":{"x":1}"#, Json::Null),
            ("/p/{title}", r#","title":"..""#, Json::Null),
            ("/p/{title}/{n}", r#","title":"x""#, Json::Null),
            ("/p/{title}", r#","link":"/stored""#, Json::Null),
            ("/p/{title}", r#","link":"/stored","title":"x""#, json!("/p/x")),
        ] {
            assert_eq!(of(pattern, members), expected, "{pattern} {members}");
        }
    }

    #[test]
    fn the_plugin_says_how_all_links_are_made() {
        let plugin = |format: Json| json!([{ "type": "URLIZED", "urlizedOptions": format }]);
        for (plugins, lowercase, expected) in [
            (json!([]), false, "/p/Red-Shoes"),
            (json!([]), true, "/p/red-shoes"),
            (plugin(json!({ "format": "PLAIN" })), true, "/p/Red%20Shoes"),
            (plugin(json!({ "format": "ORIGINAL" })), false, "/p/red-shoes"),
            (plugin(json!({ "format": "UNKNOWN_FORMAT" })), false, "/p/red-shoes"),
            (plugin(Json::Null), false, "/p/red-shoes"),
        ] {
            let links = links("/p/{title}", plugins.clone(), lowercase);
            assert_eq!(shown(&links, r#","title":"Red Shoes""#), expected, "{plugins}");
        }
    }

    #[test]
    fn stored_links_stay_and_others_are_none() {
        let persisted = json!([{ "type": "EDITABLE_PAGE_LINK", "editablePageLinkOptions": { "isPersisted": true } }]);
        let links = links("/p/{title}", persisted, true);
        for (members, expected) in [
            (r#","title":"x","link":"/old""#, "/old"),
            (r#","title":"x","link":null"#, "/p/x"),
            (r#","title":"x","link":"""#, "/p/x"),
            (r#","title":"x","link":"//evil.example""#, "/p/x"),
            (r#","title":"x","link":"javascript:alert(1)""#, "/p/x"),
            (r#","title":"x","link":["/old"]"#, "/p/x"),
            (r#","title":"x""#, "/p/x"),
        ] {
            assert_eq!(shown(&links, members), expected, "{members}");
        }
        assert_eq!(links.without(r#"{"_id":"a","link":"/old"}"#.to_owned()), r#"{"_id":"a"}"#);
    }
}
